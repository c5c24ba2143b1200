"""Meta-estimators for classifiers that may abstain.

Submodules and estimators are loaded on first use, so that ``import sklearn_reject``
costs next to nothing.
"""

from importlib import import_module

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
    "show_versions": "sklearn_reject._show_versions",
    "trusted_types": "sklearn_reject._trusted_types",
}
# What methods return. It has pages in the reference, but nobody needs to import it.
_RESULTS = {
    "AchievedBound": "sklearn_reject._estimators._risk_bounds",
    "Decisions": "sklearn_reject._estimators._base",
    "DeferralDecisions": "sklearn_reject._estimators._deferring_classifier",
    "DeferralMeasurement": "sklearn_reject._estimators._deferral_measure",
    "DeferralStage": "sklearn_reject._estimators._deferral_measure",
    "Interval": "sklearn_reject._interval",
    "OODMeasurement": "sklearn_reject._estimators._ood_measure",
}

__all__ = ["__version__", *_SUBMODULES, *_HOMES]


def __getattr__(name):
    if name in (*_SUBMODULES, *_OPTIONAL):
        return import_module(f"{__name__}.{name}")
    if name in _HOMES or name in _RESULTS:
        home = _HOMES.get(name) or _RESULTS[name]
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
