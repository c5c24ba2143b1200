"""The fitted classifiers inside searches, calibration and tuned thresholds."""

from dataclasses import dataclass

from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier

from sklearn_reject._response._steps import find_steps


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
