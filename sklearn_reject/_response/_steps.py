"""The pipelines around a model, and the classifiers inside searches and calibration."""

from dataclasses import dataclass
from inspect import Parameter, signature

from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

# Partial least squares are transformers, too.
_PREDICTORS = "classifier", "regressor"


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
        for number, step in enumerate(self.transformers[: self.n_fitted]):
            if _learns_from_labels(step):
                return number
        return len(self.transformers)


def find_steps(estimator):
    """Return the :class:`Steps` of an estimator, fitted or not.

    Subclasses of pipelines and of frozen estimators are models by themselves, as they
    may decide otherwise. Those of imbalanced-learn do not: they add samplers, which are
    passed over when anything is predicted.
    """
    transformers, n_fitted = [], None
    while True:
        if type(estimator) is FrozenEstimator:
            n_fitted = len(transformers) if n_fitted is None else n_fitted
            estimator = estimator.estimator
        elif _is_pipeline(estimator):
            steps = (step for _, step in estimator.steps[:-1])
            transformers += [step for step in steps if _is_transformer(step)]
            estimator = estimator.steps[-1][1]
        else:
            break
    n_fitted = len(transformers) if n_fitted is None else n_fitted
    return Steps(tuple(transformers), estimator, n_fitted)


def _is_pipeline(estimator):
    kind = type(estimator)
    if kind is Pipeline:
        return True
    return isinstance(estimator, Pipeline) and kind.__module__ == "imblearn.pipeline"


def _is_transformer(step):
    """Tell whether a step does anything to samples that are predicted."""
    return not (step is None or isinstance(step, str) or hasattr(step, "fit_resample"))


def _learns_from_labels(step):
    """Tell whether a transformer, or one inside, looks at labels when it is fitted."""
    nested = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    parts = {"": step, **nested}
    frozen = {name for name, part in parts.items() if isinstance(part, FrozenEstimator)}
    inside = tuple(f"{name}__" for name in frozen)
    return "" not in frozen and any(
        _looks_at_labels(part)
        for name, part in parts.items()
        if name not in frozen and not name.startswith(inside)
    )


def _looks_at_labels(part):
    """Tell whether a part needs labels, or uses them where there are some."""
    if isinstance(part, type) or not hasattr(part, "fit"):
        return False
    if isinstance(part, SelectorMixin):
        return not isinstance(part, VarianceThreshold)
    if hasattr(part, "__sklearn_tags__"):
        tags = get_tags(part)
        if tags.target_tags.required or tags.estimator_type in _PREDICTORS:
            return True
    # Not all say it in their tags.
    parameters = signature(part.fit).parameters
    target = parameters.get("y", parameters.get("Y"))
    return target is not None and target.default is Parameter.empty


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted classifier inside another model, and the transformers before it."""

    transformers: tuple
    model: object

    @property
    def view(self):
        """What its features depend on: equal for members that have the same ones."""
        parts = self.transformers
        if isinstance(self.model, MLPClassifier):
            parts = *parts, self.model
        return tuple(map(id, parts))

    def transform(self, X):
        """Return what reaches the classifier of what reaches the model around it."""
        for step in self.transformers:
            X = step.transform(X)
        return X


def find_members(model):
    """Return the members that a fitted model asks, in a tuple, or the model itself.

    Models and pipelines may be nested in any way. A frozen classifier that serves all
    folds of a calibration is one member.
    """
    members = {}
    for inside in _find_inside(model):
        steps = find_steps(inside)
        for member in find_members(steps.model):
            transformers = steps.transformers + member.transformers
            path = *map(id, transformers), id(member.model)
            members[path] = Member(transformers, member.model)
    return tuple(members.values()) or (Member((), model),)


def _find_inside(model):
    """Return the estimators that a fitted model of scikit-learn asks, if it asks any.

    A subclass may decide otherwise, and a search may have fitted nothing for good.
    """
    if not type(model).__module__.startswith("sklearn."):
        return ()
    if isinstance(model, CalibratedClassifierCV):
        return [fold.estimator for fold in model.calibrated_classifiers_]
    if isinstance(model, (FixedThresholdClassifier, TunedThresholdClassifierCV)):
        return [model.estimator_]
    return [model.best_estimator_] if hasattr(model, "best_estimator_") else ()
