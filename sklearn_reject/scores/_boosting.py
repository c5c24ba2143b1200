"""Trees that order samples by their risk: gradient boosting of the SELE loss."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state

from sklearn_reject._curves import aurc_score
from sklearn_reject._typing import Estimator, FeaturesLike, RandomState, TaskLossLike
from sklearn_reject._validation import (
    check_count,
    check_level,
    check_number,
    check_option,
)
from sklearn_reject.losses import sele_gradient_and_curvature
from sklearn_reject.scores._features import FeatureScore
from sklearn_reject.scores._learned import weight_for
from sklearn_reject.scores._linear import split_off

# Newton steps of single samples are kept to what the logistic function can tell apart.
_LONGEST_STEP = 4.0

_LEAST_CURVATURE = 1e-3


class SELEBoosting(FeatureScore):
    """Sum of trees that minimizes the pairwise loss SELE.

    Functional gradient boosting: each tree is fitted to the Newton steps
    -gradient / curvature of the loss
    :func:`~sklearn_reject.losses.sele_loss_and_gradient` over all pairs, weighted by
    the curvature. The score only orders the samples by their risk; it is scaled to mean
    0 and standard deviation 1 on the samples learned from.

    Parameters
    ----------
    base_learner : regressor or None, default=None
        What is fitted to the steps; takes `sample_weight`. None is a
        :class:`~sklearn.tree.DecisionTreeRegressor` with at most 31 leaves of at least
        20 samples, that looks at half of the features for each split.

    n_estimators : int, default=200
        Most trees to add up.

    learning_rate : float > 0, default=0.1
        Share of each step that is made.

    features : {"auto", "input", "model_input", "response", "input+response", \
            "model_input+response"} or transformer, default="auto"
        Inputs of the score. "input" is the samples, "model_input" the inputs of the
        model inside a pipeline, "response" the probabilities, otherwise the decision
        values, otherwise the label of a classifier, or the prediction of a regressor;
        "+" joins two. Categories become codes or indicators, times numbers. "auto" is
        "input+response" if the samples can be converted to numbers, and "response" for
        text, and for sparse samples with many columns unless the learner supports them.
        A transformer is fitted on samples and losses.

    max_samples : int or None, default=20000
        Most samples that a tree is fitted to, drawn anew for each tree. None is all.

    n_iter_no_change : int or None, default=30
        Stop once that many trees in a row have not lowered the area under the
        risk-coverage curve of a validation part, and keep those up to the lowest. None
        learns `n_estimators` trees from all samples.

    refit : bool, default=True
        Whether to learn as many trees as were kept again, from all samples.

    validation_fraction : float in ]0, 1[, default=0.2
        Share of the samples in the validation part.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss of a prediction. None takes the loss of the meta-estimator around it, and
        without one "zero_one" for classifiers and "squared" for regressors.

    random_state : int, RandomState instance or None, default=None
        Source of the validation part, of the draws, and of the default trees.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    estimators_ : list of regressor
        The trees.

    areas_ : list of float
        Area on the validation part after each tree, lower is better; empty without a
        validation part, also where fewer than two samples have a loss.

    center_, scale_ : float
        Mean and standard deviation of the sum of trees on the samples learned from.

    Raises
    ------
    ValueError
        If a parameter is invalid, or no numbers can be made of the samples.

    See Also
    --------
    SELE : The same loss for linear scores.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import SELEBoosting, ConditionalRisk
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = SELEBoosting(random_state=0)
    >>> score = score.fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.7 * aurc_score(y[1200:], labels, own)
    True
    """

    name = "sele_boosting"

    only_orders = True
    learner = "base_learner"
    default_learner = DecisionTreeRegressor

    features_: Any
    estimators_: list[Any]
    areas_: list[float]
    center_: float
    scale_: float

    def __init__(
        self,
        base_learner: Estimator | None = None,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        *,
        features: FeaturesLike = "auto",
        max_samples: int | None = 20000,
        n_iter_no_change: int | None = 30,
        refit: bool = True,
        validation_fraction: float = 0.2,
        loss: TaskLossLike | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.features = features
        self.max_samples = max_samples
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.validation_fraction = validation_fraction
        self.loss = loss
        self.random_state = random_state

    def _check_options(self, classes):
        check_number(self.learning_rate, "learning_rate", open_low=True)
        check_option(self.refit, "refit", (True, False))
        check_count(self.n_estimators, "n_estimators")
        for name in ("max_samples", "n_iter_no_change"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        check_level(self.validation_fraction, "validation_fraction")
        weight_for(self._make_learner(np.random.RandomState(0)), 1, "base_learner")

    def _learn(self, predictions, targets, sample_weight, context):
        rng = check_random_state(self.random_state)
        weight = np.ones(len(targets)) if sample_weight is None else sample_weight
        self._map_ = self.make_map()
        features = self._map_.fit(predictions, targets)
        self.estimators_, self.areas_ = [], []
        if np.ptp(targets) == 0:  # any order is as good as another
            return
        samples = features, targets, weight
        task = partial(self._task, context, "fit-base-learner")
        parts = None
        if self.n_iter_no_change is not None:
            parts = split_off(targets, self.validation_fraction, rng)
        if parts is None:
            self.estimators_, _ = self._boost(
                samples, rng, self.n_estimators, task=task
            )
            return
        train, held = ([values[rows] for values in samples] for rows in parts)
        trees, self.areas_ = self._boost(train, rng, self.n_estimators, held, task)
        self.estimators_ = trees[: int(np.argmin(self.areas_)) + 1]
        if self.refit:
            self.estimators_, _ = self._boost(samples, rng, len(self.estimators_))

    def _boost(self, samples, rng, n_trees, held=None, task=nullcontext):
        """Return trees, and the areas on a part held out, which tell when to stop."""
        features, losses, weight = samples
        scores, trees, areas = np.zeros(len(losses)), [], []
        if held is not None:
            held_features, held_losses, held_weight = held
            held_scores = np.zeros(len(held_losses))
        for _ in range(n_trees):
            with task():
                tree = self._fit_tree(features, scores, losses, weight, rng)
            scores += self.learning_rate * tree.predict(features)
            trees.append(tree)
            if held is None:
                continue
            held_scores += self.learning_rate * tree.predict(held_features)
            area = aurc_score(held_scores, held_losses, sample_weight=held_weight)
            areas.append(area)
            # The last trees have not lowered the area.
            if len(areas) - 1 - int(np.argmin(areas)) >= self.n_iter_no_change:
                break
        return trees, areas

    def _fit_tree(self, features, scores, losses, weight, rng):
        """Fit one tree to the Newton steps of some samples."""
        gradient, curvature = sele_gradient_and_curvature(scores, losses, weight)
        mean = curvature.mean()
        if mean == 0:  # all scores are far apart, after steps that were too long
            mean, curvature = 1.0, np.ones_like(curvature)
        curvature = np.maximum(curvature, _LEAST_CURVATURE * mean)
        steps = np.clip(-gradient / curvature, -_LONGEST_STEP, _LONGEST_STEP)
        importance = curvature / mean
        tree = self._make_learner(rng)
        if self.max_samples is not None and self.max_samples < len(scores):
            rows = rng.choice(len(scores), self.max_samples, replace=False)
            features, steps, importance = features[rows], steps[rows], importance[rows]
        return tree.fit(features, steps, sample_weight=importance)

    def _make_learner(self, rng):
        seed = rng.randint(np.iinfo(np.int32).max)
        if self.base_learner is None:
            return DecisionTreeRegressor(
                max_leaf_nodes=31,
                min_samples_leaf=20,
                max_features=0.5,
                random_state=seed,
            )
        learner = clone(self.base_learner)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=seed)
        return learner

    def _predict(self, predictions):
        features = self._map_.transform(predictions)
        scores = np.zeros(len(predictions))
        for tree in self.estimators_:
            scores += self.learning_rate * tree.predict(features)
        return scores

    def _count_tasks(self):
        return self.n_estimators
