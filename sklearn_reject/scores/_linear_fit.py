"""Fitting a linear score: a path of penalties, the best by its area."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real

import numpy as np

from sklearn_reject._validation import check_option, take_weight
from sklearn_reject.curves import aurc_score
from sklearn_reject.scores._linear import LabelledFeatures
from sklearn_reject.scores._validation_part import check_fraction, split_off


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear score.

    Attributes
    ----------
    features : LabelledFeatures
        The features.

    weights : ndarray of shape (n_labels, n_features + 1)
        Weights of the standardised features, the intercept last.

    alpha : float
        Strength of the penalty.
    """

    features: LabelledFeatures
    weights: np.ndarray
    alpha: float

    def predict(self, observations):
        """Return the scores of observed samples."""
        return self.features.design(observations).predict(self.weights)


@dataclass(frozen=True)
class LinearFit:
    """How to fit a linear score, with the options that the scores have.

    Attributes
    ----------
    make_solver : callable
        Gets a design, aims and sample weights in the order of its rows, and returns
        ``solve(alpha, start)``, which returns weights for a penalty.

    features, alphas, validation_fraction, refit, random_state : object
        As the scores have them.
    """

    make_solver: Callable
    features: object
    alphas: tuple
    validation_fraction: float
    refit: bool
    random_state: object

    def fit(self, observations, aims, losses, weight, task=nullcontext):
        """Fit, and choose the penalty of least area on a validation part.

        Parameters
        ----------
        observations, aims, losses, weight : object
            Samples, what to learn, their losses, and sample weights or None.

        task : callable, default=nullcontext
            Returns a context in which the fit of one penalty runs.

        Returns
        -------
        model : LinearModel
            The score.

        areas : dict of float to float
            Area under the risk-coverage curve of the validation part by alpha; empty
            where there is nothing to choose, or too little to choose by.
        """
        alphas = check_alphas(self.alphas)
        parts = split_off(losses, self.validation_fraction, self.random_state)
        if parts is None or len(alphas) == 1:
            [model] = self._fit_path(observations, aims, weight, alphas[:1], task)
            return model, {}
        train, held = parts
        models = self._fit_path(
            observations.take(train),
            aims[train],
            take_weight(weight, train),
            alphas,
            task,
        )
        # All models of a path have the same features.
        design = models[0].features.design(observations.take(held))
        samples = design, losses[held], take_weight(weight, held)
        areas = [_area(model.weights, *samples) for model in models]
        best = models[int(np.argmin(areas))]
        if self.refit:
            [best] = self._fit_path(
                observations, aims, weight, [best.alpha], start=best.weights
            )
        return best, dict(zip(alphas, areas, strict=True))

    def _fit_path(
        self, observations, aims, weight, alphas, task=nullcontext, start=None
    ):
        """Fit one score a penalty, each starting from the one before."""
        features = LabelledFeatures(self.features)
        design = features.fit_design(observations, aims, weight)
        weight = None if weight is None else design.sort(weight)
        solve = self.make_solver(design, design.sort(aims), weight)
        models = []
        for alpha in alphas:
            start = np.zeros(design.shape) if start is None else start
            with task():
                start = solve(alpha, start)
            weights = _fill_unseen(start, design, weight)
            models.append(LinearModel(features, weights, alpha))
        return models


def _area(weights, design, losses, sample_weight):
    return aurc_score(design.predict(weights), losses, sample_weight=sample_weight)


def _fill_unseen(weights, design, sample_weight):
    """Make labels that were not seen as uncertain as the average sample."""
    unseen = [start == end for start, end in design.groups]
    filled = weights.copy()
    filled[unseen] = 0.0
    filled[unseen, -1] = np.average(design.scores(weights), weights=sample_weight)
    return filled


def check_alphas(alphas):
    """Return penalties from the strongest to the weakest."""
    values = np.atleast_1d(np.asarray(alphas, dtype=object))
    valid = [
        isinstance(a, Real) and not isinstance(a, bool) and 0 <= a < np.inf
        for a in values.ravel()
    ]
    if values.ndim != 1 or not valid or not all(valid):
        raise ValueError(
            "alphas must be finite, non-negative numbers, at least one, got "
            f"{alphas!r}."
        )
    return sorted({float(a) for a in values}, reverse=True)


def check_linear_options(alphas, validation_fraction, refit):
    """Raise unless the options of a linear fit are valid."""
    check_alphas(alphas)
    check_fraction(validation_fraction)
    check_option(refit, "refit", (True, False))
