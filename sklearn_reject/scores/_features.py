"""What learned scores see: samples, responses, and which of them "auto" stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from sklearn_reject._response._steps import find_steps
from sklearn_reject.scores._encoding import Encoder, holds_values, is_wide
from sklearn_reject.scores._learned import LearnedScore

# The samples, for weights of their own for each predicted label (FPV23, eq. 37).
PER_LABEL: Literal["per_label_linear"] = "per_label_linear"

_NAMES = (
    "auto",
    "input",
    "model_input",
    "response",
    "input+response",
    "model_input+response",
)

# Categories that histogram gradient boosting can tell apart.
_MOST_CATEGORIES = 255

_BOOSTING = HistGradientBoostingClassifier, HistGradientBoostingRegressor


class FeatureScore(LearnedScore):
    """Base of the learned scores that have a parameter `features`.

    `features_` is what it stands for, and `_n_steps_` the number of steps before the
    model that the samples pass.
    """

    #: Whether there may be weights by label.
    has_per_label = False

    #: Parameter with what learns, None for a linear score, and its class by default.
    learner: str | None = None
    default_learner: Any = None

    def _choose_features(self, estimator, X, is_new):
        self._check_features()
        steps = find_steps(estimator)
        n_steps = len(steps.transformers)
        n_blind = n_steps if is_new else steps.n_blind
        self.features_, self._n_steps_ = self.features, 0
        if not isinstance(self.features, str) or self.features == "response":
            return
        if self.features == "auto":
            self.features_ = self._choose(X)
        elif is_per_label(self.features):
            self._n_steps_ = n_blind
        elif self.features.startswith("model_input"):
            if n_blind < n_steps:
                raise ValueError(
                    f"features={self.features!r}: the step "
                    f"{steps.transformers[n_blind]!r} was fitted with the labels of "
                    "the same samples that would train the score, so it leaks these "
                    "labels. Use features='auto', which omits this step, or a "
                    "FrozenEstimator that was fitted on other samples."
                )
            self._n_steps_ = n_steps
        if self._n_steps_ == 0 and self.features_ != "response":
            self.make_map().encode(X)

    def _choose(self, X):
        """Return what "auto" stands for.

        In sparse samples of many columns, and in text, there is little for trees to
        learn beside the response, as benchmarks/bench_learned.py shows.
        """
        self.features_ = "input+response"
        if not holds_values(X) or self.make_map().must_reduce(X):
            return "response"
        return self.features_

    def _check_features(self):
        """Raise for features that are neither a name nor a transformer."""
        names = [*_NAMES, PER_LABEL] if self.has_per_label else list(_NAMES)
        is_name = isinstance(self.features, str)
        is_known = is_name and self.features in names
        if not is_known and (is_name or not hasattr(self.features, "transform")):
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
        given = {"features": self.features_, "random_state": self.random_state}
        if self.learner is None or is_per_label(self.features_):
            return FeatureMap(one_hot=True, keeps_sparse=True, **given)
        learner, kind = getattr(self, self.learner), self.default_learner
        if learner is None:
            given |= {"one_hot": False, "keeps_sparse": False}
        else:
            tags, kind = get_tags(learner).input_tags, type(learner)
            given |= {"one_hot": not tags.allow_nan, "keeps_sparse": tags.sparse}
        return FeatureMap(takes_infinite=issubclass(kind, _BOOSTING), **given)


def is_per_label(features):
    """Tell whether features are samples with weights by label."""
    return isinstance(features, str) and features == PER_LABEL


def sees_outputs(features):
    """Tell whether the response of the estimator is among features."""
    return isinstance(features, str) and features.endswith("response")


@dataclass(eq=False)
class FeatureMap:
    """Makes numeric features of :class:`Predictions`, for what learns from them.

    It may need complete numbers (`one_hot`, see :class:`Encoder`) or dense ones. Once
    fitted, `categories` are the places of codes of few categories, None without any.
    """

    features: object
    one_hot: bool
    keeps_sparse: bool
    takes_infinite: bool = False
    random_state: object = None

    def fit(self, predictions, targets):
        """Return the features, float64 of shape (n_samples, n_features), having fitted.

        A transformer sees the targets; nothing else does.
        """
        self.transformer, self.categories = None, None
        X = predictions.X
        if not isinstance(self.features, str):
            self.transformer = clone(self.features)
            X = self.transformer.fit(X, targets).transform(X)
        matrix = np.empty((len(predictions), 0))
        if self.features != "response":
            matrix = self.encode(X)
            sizes = self.encoder.n_codes  # of the last columns
            places = np.arange(matrix.shape[1] - len(sizes), matrix.shape[1])
            places = places[np.array(sizes, dtype=int) <= _MOST_CATEGORIES]
            self.categories = places.tolist() or None
        return self._add_outputs(matrix, predictions)

    def transform(self, predictions):
        """Return the features, each row whatever the others are."""
        matrix = np.empty((len(predictions), 0))
        if self.features != "response":
            X = predictions.X
            if self.transformer is not None:
                X = self.transformer.transform(X)
            matrix = self._explain(self.encoder.transform, X)
        return self._add_outputs(matrix, predictions)

    def encode(self, X):
        """Return a matrix of samples, having fitted what makes it."""
        self.encoder = Encoder(
            self.one_hot,
            self.keeps_sparse,
            takes_infinite=self.takes_infinite,
            random_state=self.random_state,
        )
        return self._explain(self.encoder.fit, X)

    def must_reduce(self, X):
        """Tell whether samples have more columns than what learns can take."""
        return is_wide(X) and not self.keeps_sparse

    def _add_outputs(self, matrix, predictions):
        if not sees_outputs(self.features):
            return matrix
        if sparse.issparse(matrix):
            return sparse.hstack([matrix, predictions.outputs], format="csr")
        return np.hstack([matrix, predictions.outputs])

    def _explain(self, encode, X):
        """Return what is made of samples, or say what to do where that fails."""
        try:
            return encode(X)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(
                f"features={self.features!r} cannot convert the samples to numbers: "
                f"{error} Use features='response', or a transformer that can, such as "
                "the preprocessing of the classifier's pipeline."
            ) from error
