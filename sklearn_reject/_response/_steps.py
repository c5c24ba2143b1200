"""The pipelines around a model, and the classifiers inside searches and calibration."""

from inspect import Parameter, signature
from typing import NamedTuple

from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

_PIPELINES = "sklearn.pipeline", "imblearn.pipeline"


class Steps(NamedTuple):
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
    kind = type(estimator)
    if kind is FrozenEstimator:
        return find_steps(estimator.estimator)._replace(n_fitted=0)
    if not (issubclass(kind, Pipeline) and kind.__module__ in _PIPELINES):
        return Steps((), estimator, 0)
    *steps, last = [step for _, step in estimator.steps]
    # A text is "passthrough", and samplers leave what is predicted as it is.
    steps = [step for step in steps if hasattr(step, "transform")]
    inside = find_steps(last)
    transformers = *steps, *inside.transformers
    return Steps(transformers, inside.model, len(steps) + inside.n_fitted)


def _learns_from_labels(step):
    """Tell whether a transformer, or one inside, looks at labels when it is fitted."""
    parts = [step, *(step.get_params() if hasattr(step, "get_params") else {}).values()]
    frozen = {id(p.estimator) for p in parts if isinstance(p, FrozenEstimator)}
    return any(_looks_at_labels(part) for part in parts if id(part) not in frozen)


def _looks_at_labels(part):
    """Tell whether a part needs labels, or uses them where there are some."""
    if isinstance(part, (type, FrozenEstimator)) or not hasattr(part, "fit"):
        return False
    if isinstance(part, SelectorMixin):
        return not isinstance(part, VarianceThreshold)
    # Not all say it in their tags, and partial least squares are transformers, too.
    takes_y = signature(part.fit).parameters.get("y")
    if takes_y is not None and takes_y.default is Parameter.empty:
        return True
    if not hasattr(part, "__sklearn_tags__"):
        return False
    predicts = get_tags(part).estimator_type in ("classifier", "regressor")
    return predicts or get_tags(part).target_tags.required


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
