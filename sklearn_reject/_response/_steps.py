"""The pipelines around a model, and the classifiers inside searches and calibration."""

from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import compress

from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

# Partial least squares are transformers, too.
_PREDICTORS = "classifier", "regressor"


_PIPELINES = "sklearn.pipeline", "imblearn.pipeline"


@dataclass(frozen=True, eq=False)
class Steps:
    """The transformers before a model inside pipelines, and the model.

    The first `n_fitted` of them are fitted whenever the estimator is, the others are
    frozen with the model.
    """

    transformers: tuple
    model: object
    n_fitted: int

    @property
    def n_blind(self):
        """How many of the transformers come before the first that learns from labels.

        What a transformer has learned from the label of a row it may tell of that row
        again, unless it is frozen: the rows are new to it then.
        """
        fitted = self.transformers[: self.n_fitted]
        learning = (k for k, step in enumerate(fitted) if _learns_from_labels(step))
        return next(learning, len(self.transformers))


def find_steps(estimator):
    """Return the :class:`Steps` of an estimator, fitted or not.

    Subclasses of pipelines and of frozen estimators are models by themselves, as they
    may decide otherwise. Those of imbalanced-learn do not: they add samplers, which are
    passed over when anything is predicted.
    """
    transformers, n_fitted = [], None
    while True:
        kind = type(estimator)
        if kind is FrozenEstimator:
            n_fitted = len(transformers) if n_fitted is None else n_fitted
            estimator = estimator.estimator
        elif isinstance(estimator, Pipeline) and kind.__module__ in _PIPELINES:
            *steps, estimator = (step for _, step in estimator.steps)
            # A text is "passthrough", and samplers leave what is predicted as it is.
            steps = [s for s in steps if s is not None and not isinstance(s, str)]
            transformers += [s for s in steps if not hasattr(s, "fit_resample")]
        else:
            n_fitted = len(transformers) if n_fitted is None else n_fitted
            return Steps(tuple(transformers), estimator, n_fitted)


def _learns_from_labels(step):
    """Tell whether a transformer, or one inside, looks at labels when it is fitted."""
    nested = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    parts = step, *nested.values()
    is_frozen = [isinstance(part, FrozenEstimator) for part in parts]
    frozen = {id(part.estimator) for part in compress(parts, is_frozen)}
    return any(_looks_at_labels(part) for part in parts if id(part) not in frozen)


def _looks_at_labels(part):
    """Tell whether a part needs labels, or uses them where there are some."""
    if isinstance(part, (type, FrozenEstimator)) or not hasattr(part, "fit"):
        return False
    if isinstance(part, SelectorMixin):
        return not isinstance(part, VarianceThreshold)
    if hasattr(part, "__sklearn_tags__"):
        tags = get_tags(part)
        if tags.target_tags.required or tags.estimator_type in _PREDICTORS:
            return True
    # Not all say it in their tags.
    parameters = signature(part.fit).parameters
    return "y" in parameters and parameters["y"].default is Parameter.empty


def find_inside(model):
    """Return the estimators that a fitted model of scikit-learn asks, if it asks any.

    A subclass may decide otherwise, and a search may have fitted nothing for good. A
    frozen classifier that serves all folds of a calibration is one.
    """
    if not type(model).__module__.startswith("sklearn."):
        return []
    if isinstance(model, CalibratedClassifierCV):
        folds = [fold.estimator for fold in model.calibrated_classifiers_]
        return list({id(estimator): estimator for estimator in folds}.values())
    if isinstance(model, (FixedThresholdClassifier, TunedThresholdClassifierCV)):
        return [model.estimator_]
    return [model.best_estimator_] if hasattr(model, "best_estimator_") else []


def find_members(estimator):
    """Return the steps of each classifier that an estimator asks in the end.

    Those are its own where there is nothing inside its model.
    """
    steps = find_steps(estimator)
    inside = find_inside(steps.model)
    return [each for one in inside for each in find_members(one)] or [steps]
