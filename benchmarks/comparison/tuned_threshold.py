"""TunedThresholdClassifierCV of scikit-learn: the F1 of nines among digits."""

from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline

from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians
from benchmarks.comparison import Measured
from sklearn_reject import ExpectedLossDecoder

PACKAGE = "scikit-learn"

_N_SPLITS = 20


def measure():
    """Yield the lines of the table."""
    contenders = {
        "theirs": TunedThresholdClassifierCV(_model(), scoring="f1"),
        "tuned": ExpectedLossDecoder(_model(), loss="f1", strategy="eum"),
        "decided": ExpectedLossDecoder(_model(), loss="f1", strategy="dta"),
    }
    found = np.array([_scores(contenders, seed) for seed in range(_N_SPLITS)])
    means = dict(zip(contenders, found.mean(axis=0), strict=True))
    theirs = f"{means['theirs']:.3f}"
    what = "F1 of the nines among held-out digits"
    yield Measured(f"{what}, threshold tuned", theirs, f"{means['tuned']:.3f}")
    yield Measured(f"{what}, decision theory here", theirs, f"{means['decided']:.3f}")
    X, y = load_digits(return_X_y=True)
    fits = {
        name: partial(contenders[name].fit, X, y == 9) for name in ("theirs", "tuned")
    }
    times = interleaved_medians(fits, 3)
    yield Measured(
        "time of fit, 1,797 digits",
        show_time(times["theirs"]),
        show_time(times["tuned"]),
    )


def _model():
    return make_pipeline(PCA(5, random_state=0), LogisticRegression())


def _scores(contenders, seed):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X, y == 9, test_size=0.5, random_state=seed, stratify=y
    )
    return [
        f1_score(y_test, each.fit(X, y).predict(X_test)) for each in contenders.values()
    ]
