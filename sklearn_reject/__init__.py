"""Meta-estimators for classifiers that may abstain.

Submodules and estimators are loaded on first use, so that ``import sklearn_reject``
costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For editors and type checkers, which cannot see what `__getattr__` finds.
    from sklearn_reject import (
        datasets,
        decoding,
        exceptions,
        losses,
        metrics,
        scores,
        selection,
        thresholds,
    )
    from sklearn_reject._estimators._base import Decisions as Decisions
    from sklearn_reject._estimators._decoder import ExpectedLossDecoder
    from sklearn_reject._estimators._deferring import (
        DeferralDecisions as DeferralDecisions,
    )
    from sklearn_reject._estimators._deferring_classifier import DeferringClassifier
    from sklearn_reject._estimators._double_score import DoubleScoreOODClassifier
    from sklearn_reject._estimators._selective_classifier import SelectiveClassifier
    from sklearn_reject._estimators._selective_regressor import SelectiveRegressor
    from sklearn_reject._estimators._targets import AchievedBound as AchievedBound
    from sklearn_reject._estimators._threshold_tuner import EnsembleThresholdTuner
    from sklearn_reject._interval import Interval as Interval
    from sklearn_reject._trusted_types import trusted_types
    from sklearn_reject.exceptions import InfeasibleTargetError
    from sklearn_reject.selection._calibrate import calibrate
    from sklearn_reject.selection._report import Report as Report
    from sklearn_reject.selection._report import ReportPart as ReportPart
    from sklearn_reject.selection._report import ReportPromise as ReportPromise

__version__ = "0.1.0"

_SUBMODULES = (
    "datasets",
    "decoding",
    "exceptions",
    "losses",
    "metrics",
    "scores",
    "selection",
    "thresholds",
)
# Submodules that need more than the package does: none asks for them unawares.
_OPTIONAL = ("dask",)
_HOMES = {
    "DeferringClassifier": "sklearn_reject._estimators._deferring_classifier",
    "DoubleScoreOODClassifier": "sklearn_reject._estimators._double_score",
    "EnsembleThresholdTuner": "sklearn_reject._estimators._threshold_tuner",
    "ExpectedLossDecoder": "sklearn_reject._estimators._decoder",
    "InfeasibleTargetError": "sklearn_reject.exceptions",
    "SelectiveClassifier": "sklearn_reject._estimators._selective_classifier",
    "SelectiveRegressor": "sklearn_reject._estimators._selective_regressor",
    "calibrate": "sklearn_reject.selection._calibrate",
    "trusted_types": "sklearn_reject._trusted_types",
}
# What methods return. It has pages in the reference, but nobody needs to import it.
_RESULTS = {
    "AchievedBound": "sklearn_reject._estimators._targets",
    "Decisions": "sklearn_reject._estimators._base",
    "DeferralDecisions": "sklearn_reject._estimators._deferring",
    "Interval": "sklearn_reject._interval",
    "Report": "sklearn_reject.selection._report",
    "ReportPart": "sklearn_reject.selection._report",
    "ReportPromise": "sklearn_reject.selection._report",
}

# Written out, as type checkers read it.
__all__ = [
    "DeferringClassifier",
    "DoubleScoreOODClassifier",
    "EnsembleThresholdTuner",
    "ExpectedLossDecoder",
    "InfeasibleTargetError",
    "SelectiveClassifier",
    "SelectiveRegressor",
    "__version__",
    "calibrate",
    "datasets",
    "decoding",
    "exceptions",
    "losses",
    "metrics",
    "scores",
    "selection",
    "thresholds",
    "trusted_types",
]


def __getattr__(name):
    if name in (*_SUBMODULES, *_OPTIONAL):
        return import_module(f"{__name__}.{name}")
    if name in _HOMES or name in _RESULTS:
        home = _HOMES.get(name) or _RESULTS[name]
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
