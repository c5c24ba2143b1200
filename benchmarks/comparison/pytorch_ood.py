"""pytorch-ood: metrics of novelty scores."""

import numpy as np

from benchmarks._peers import load_pytorch_ood
from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians
from benchmarks.comparison import Measured
from sklearn_reject.metrics import fpr_at_tpr_score, ood_auroc_score

PACKAGE = "pytorch-ood"

_N_SAMPLES = 10**5


def measure():
    """Yield the lines of the table."""
    rng = np.random.default_rng(0)
    y_true = np.where(rng.random(_N_SAMPLES) < 0.3, -1, 0)
    novelty = rng.normal(size=_N_SAMPLES) - 2.0 * y_true
    theirs = _prepare(y_true, novelty)
    values = {
        "AUROC": ood_auroc_score(y_true, novelty),
        "FPR95TPR": fpr_at_tpr_score(y_true, novelty, positive="ood"),
    }
    found = theirs()
    for name, value in values.items():
        yield Measured(f"{name}, 100,000 samples", f"{found[name]:.6f}", f"{value:.6f}")
    times = interleaved_medians(
        {"theirs": theirs, "ours": lambda: ood_auroc_score(y_true, novelty)}, 5
    )
    what = "time, 100,000 samples: all five metrics there, the AUROC here"
    yield Measured(what, show_time(times["theirs"]), show_time(times["ours"]))


def _prepare(y_true, novelty):
    import torch

    metrics = load_pytorch_ood("metrics.ood").OODMetrics
    tensors = torch.from_numpy(novelty), torch.from_numpy(y_true)
    return lambda: metrics().update(*tensors).compute()
