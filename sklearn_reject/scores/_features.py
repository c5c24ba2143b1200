"""What learned scores see: samples, responses, and which of them "auto" stands for."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import parallel_backend
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from sklearn_reject._response._network import join, row_products
from sklearn_reject._response._steps import find_steps
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import take_weight
from sklearn_reject.scores._encoding import Encoder, holds_values, is_wide, options_for
from sklearn_reject.scores._learned import LearnedScore, weight_for

# The samples, for weights of their own for each predicted label (FPV23, eq. 37).
PER_LABEL: Literal["per_label_linear"] = "per_label_linear"

_NAMES = [
    *("auto", "input", "model_input", "response"),
    *("input+response", "model_input+response"),
]

# What learns by default. With 1,000 samples the area under the risk-coverage curve of
# the forest was .98 times that of 100 rounds of boosting on twelve sets, and .85 times
# on eleven of regression, in a fifth of the time. With 9,000 samples that of few rounds
# was 1.09 and 1.00 times, in .3 of the time. Of more samples than the most, some are
# drawn. Threads that share trees of so few wait for each other most of the time.
_FOREST = {"n_estimators": 20, "min_samples_leaf": 5, "max_features": 0.5, "n_jobs": 1}
_FORESTS = ExtraTreesRegressor, ExtraTreesClassifier
_ROUNDS = {
    "max_iter": 20,
    "learning_rate": 0.3,
    "l2_regularization": 3.0,
    "early_stopping": False,
}
_FEWEST_TO_BOOST = 5_000
_MOST_TO_LEARN_FROM = 40_000


class FeatureScore(LearnedScore):
    """Base of the learned scores that have a parameter `features`.

    `features_` is what it stands for, and `_n_steps_` the number of steps before the
    model that the samples pass.
    """

    #: Whether there may be weights by label.
    has_per_label = False

    #: Parameter with what learns, None for a linear score.
    learner: str | None = None

    features_: Any

    def choose_features(
        self, estimator: Estimator, X: MatrixLike, *, is_new: bool = False
    ) -> Self:
        self._check_features()
        steps = find_steps(estimator)
        n_steps = len(steps.transformers)
        n_blind = n_steps if is_new else steps.n_blind
        self.features_, self._n_steps_ = self.features, 0
        if not isinstance(self.features, str) or self.features == "response":
            return self
        if self.features == "auto":
            # In wide sparse samples, and in text, there is little for trees to
            # learn beside the response, as benchmarks/bench_learned.py shows.
            is_too_wide = is_wide(X) and not self.make_map().encoder.keeps_sparse
            sees_samples = holds_values(X) and not is_too_wide
            self.features_ = "input+response" if sees_samples else "response"
        elif is_per_label(self.features):
            self._n_steps_ = n_blind
        elif self.features.startswith("model_input"):
            if n_blind < n_steps:
                raise ValueError(
                    f"features={self.features!r}: {steps.transformers[n_blind]!r} was "
                    "fitted with the labels that would train the score, so it leaks "
                    "these labels. Use features='auto', or a FrozenEstimator."
                )
            self._n_steps_ = n_steps
        if self._n_steps_ == 0 and self.features_ != "response":
            self.make_map().encoder.fit(X)
        return self

    def _check_features(self):
        """Raise for features that are neither a name nor a transformer."""
        names = [*_NAMES, PER_LABEL] if self.has_per_label else _NAMES
        is_name = isinstance(self.features, str)
        if self.features in names if is_name else hasattr(self.features, "transform"):
            return
        raise ValueError(
            f"features must be one of {names} or a transformer with `fit` and "
            f"`transform`, got {self.features!r}."
        )

    def _check_columns(self, X, reset):
        sees_input = isinstance(self.features_, str) and self.features_ != "response"
        if sees_input and self._n_steps_ == 0:
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _needs_outputs(self):
        return sees_outputs(self.features_)

    def make_map(self) -> Any:
        """Return an unfitted ``FeatureMap`` for what learns."""
        if self.learner is None or is_per_label(self.features_):
            options = {"one_hot": True, "keeps_sparse": True}
        else:
            learner = getattr(self, self.learner)
            options = {"one_hot": False} if learner is None else options_for(learner)
        encoder = Encoder(
            f"features={self.features_!r} cannot convert the samples to numbers",
            "Use features='response', or a transformer that can, such as the "
            "preprocessing of the classifier's pipeline.",
            random_state=self.random_state,
            **options,
        )
        return FeatureMap(self.features_, encoder)

    def _fit_learner(self, features, targets, sample_weight, *, classify):
        """Return what has learned losses, or the loss that all of them are."""
        learner, rows = getattr(self, self.learner), slice(None)
        is_ours = learner is None
        if is_ours:
            learner = self._make_default(len(targets), classify=classify)
            if len(targets) > _MOST_TO_LEARN_FROM:
                order = check_random_state(self.random_state).permutation(len(targets))
                rows = np.sort(order[:_MOST_TO_LEARN_FROM])
        weight = take_weight(sample_weight, rows)
        given = weight_for(learner, weight, self.learner)
        features, targets = features[rows], targets[rows]
        if np.ptp(targets) == 0:
            return float(targets[0])
        if is_classifier(learner):  # some take integers only
            targets = targets.astype(np.intp)
        n_threads = 1 if len(targets) <= _MOST_TO_LEARN_FROM else None
        # A cluster would be sent the samples again for each tree of a default forest.
        backend = parallel_backend("sequential") if is_ours else nullcontext()
        with threadpool_limits(n_threads, "openmp"), backend:
            return clone(learner).fit(features, targets, **given)

    def _make_default(self, n_samples, *, classify):
        """Return an unfitted learner: a forest of few samples, boosting of more."""
        kinds, options = _FORESTS, _FOREST
        if n_samples >= _FEWEST_TO_BOOST:
            kinds = HistGradientBoostingRegressor, HistGradientBoostingClassifier
            options = {"categorical_features": self._map_.codes, **_ROUNDS}
        return kinds[classify](random_state=self.random_state, **options)

    def _expect(self, learners, predictions):
        """Return the losses that learners expect, each an array or one number."""
        features = None
        if not all(isinstance(learner, float) for learner in learners):
            features = self._map_.transform(predictions)
        return [_expect(learner, features) for learner in learners]


def _expect(learner, features):
    """Return the expected loss by a fitted learner, or the loss that all have."""
    if isinstance(learner, float):
        return learner
    is_forest = type(learner) in _FORESTS and not sparse.issparse(features)
    if is_forest and learner.n_jobs == 1:
        # For one row, joblib takes twenty times as long as the trees.
        rows, trees = np.asarray(features, dtype=np.float32), learner.estimators_
        values = sum(each.tree_.predict(rows) for each in trees) / len(trees)
    elif is_classifier(learner):
        values = learner.predict_proba(features)
    else:
        values = learner.predict(features)
    if not is_classifier(learner):
        return np.ravel(values)
    return row_products(values, np.asarray(learner.classes_, dtype=np.float64))


def is_per_label(features):
    """Tell whether features are samples with weights by label."""
    return isinstance(features, str) and features == PER_LABEL


def sees_outputs(features):
    """Tell whether the response of the estimator is among features."""
    return isinstance(features, str) and features.endswith("response")


@dataclass(eq=False)
class FeatureMap:
    """Makes numeric features of :class:`Predictions`, for what learns from them."""

    features: object
    encoder: Encoder

    def fit(self, predictions, targets):
        """Return the features, float64 of shape (n_samples, n_features), having fitted.

        A transformer sees the targets; nothing else does.
        """
        self.transformer = None
        if not isinstance(self.features, str):
            self.transformer = clone(self.features).fit(predictions.X, targets)
        return self._make(predictions, self.encoder.fit)

    def transform(self, predictions):
        """Return the features, each row whatever the others are."""
        return self._make(predictions, lambda X: self.encoder.transform(X)[0])

    @property
    def codes(self):
        """The places of codes of categories, None without any."""
        return np.flatnonzero(~self.encoder.is_number).tolist() or None

    def _make(self, predictions, encode):
        X, matrices = predictions.X, []
        if self.transformer is not None:
            X = self.transformer.transform(X)
        if self.features != "response":
            matrices.append(encode(X))
        if sees_outputs(self.features):
            # In the order and type of what they may stand beside.
            matrices.append(np.ascontiguousarray(predictions.outputs, np.float64))
        return join(matrices)
