"""Areas under the risk-coverage curve of other packages, where they are installed.

A loader returns None without the package. Otherwise it returns a function that gets
scores and 0/1 losses, puts them into the form that the package starts from, and returns
a callable that does the work and no more.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_mapie():
    """Return how to prepare MAPIE's area under the accuracy-rejection curve."""
    try:
        from mapie.metrics.uncertainty import auarc
    except ImportError:
        return None

    def prepare(scores, errors):
        correctness, confidence = 1 - errors, -scores
        return lambda: auarc(correctness, confidence)

    return prepare


def load_torch_uncertainty():
    """Return how to prepare torch-uncertainty's area."""
    try:
        import torch

        area = _load_alone(
            "torch_uncertainty", "metrics/classification/risk_coverage.py"
        ).AURC
    except ImportError:
        return None

    def prepare(scores, errors):
        metric = area()
        metric.scores = [torch.from_numpy(-scores)]
        metric.errors = [torch.from_numpy(errors)]
        # The method of the class, as that of the instance remembers its last result.
        return lambda: area.compute(metric).item()

    return prepare


def _load_alone(package, file):
    """Import one file of a package whose other dependencies need not be there."""
    spec = find_spec(package)
    if spec is None:
        raise ImportError(f"{package} is not installed.")
    path = Path(spec.submodule_search_locations[0], file)
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_scikit_fallback():
    """Return scikit-fallback's area: gets labels and class probabilities."""
    try:
        from skfb.metrics import fallback_quality_auc_score
    except ImportError:
        return None
    return fallback_quality_auc_score


@cache
def load_pytorch_ood(module):
    """Import a module without the rest of its package, which needs torchvision."""
    spec = find_spec("pytorch_ood")
    if spec is None:
        return None
    (folder,) = spec.submodule_search_locations
    parent = module.partition(".")[0]
    for name, path in (
        ("pytorch_ood", folder),
        (f"pytorch_ood.{parent}", f"{folder}/{parent}"),
        ("pytorch_ood.utils", f"{folder}/utils"),
    ):
        sys.modules.setdefault(name, ModuleType(name)).__path__ = [path]
    return import_module(f"pytorch_ood.{module}")


LOADERS = {"MAPIE": load_mapie, "torch-uncertainty": load_torch_uncertainty}
