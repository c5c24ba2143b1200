"""Display of risk-coverage curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._typing import (
    Axes,
    Estimator,
    Figure,
    Line2D,
    MatrixLike,
    Options,
    Other,
    RandomState,
    TaskLossLike,
)
from sklearn_reject._validation import check_sample_weight, of_arrays, take_weight
from sklearn_reject.metrics._inside import predict_with_uncertainty
from sklearn_reject.metrics._losses import is_table, judge
from sklearn_reject.metrics._plot._drawing import (
    ORACLE_STYLE,
    RANDOM_STYLE,
    draw_curves,
    draw_points,
    find_axes,
    finish_axes,
    folds_of,
    is_wanted,
    keep_one,
    label_curves,
    short,
)
from sklearn_reject.metrics._plot._risk_band import risk_band
from sklearn_reject.metrics._plot._targets import (
    acceptance,
    draw_bound,
    find_common_target,
    share_and_mean,
)
from sklearn_reject.metrics._risk_coverage import scores_and_losses

# Below this coverage, a band may be cut off.
_LEFT_END = 0.1

_BAND_STYLE = {"alpha": 0.2, "linewidth": 0}

# How the targets of a rule are drawn.
_SIDES = {
    "target_risk": "h",
    "max_risk": "h",
    "target_coverage": "v",
    "target_failure_rate": "rate",
}


class RiskCoverageDisplay:
    """Selective risk against coverage, lower is better.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters below are what they compute.

    Parameters
    ----------
    coverage : list of ndarray of shape (n_thresholds,)
        Coverages, one array a curve.

    risk : list of ndarray of shape (n_thresholds,)
        Selective risks, one array a curve.

    aurc : list of float, default=None
        Area under each curve, as :func:`aurc_score` has it, shown in the legend.

    oracle : tuple of ndarray, default=None
        Coverage and risk of the score that orders the samples by their loss.

    random : float, default=None
        Mean loss: the risk of a random score at any coverage.

    band : list of tuple of ndarray, default=None
        Coverages, and the lower and the upper end of the risk at each, one tuple a
        curve.

    point : list of tuple of float, default=None
        Operating points: coverage and selective risk of the rule in use, one tuple a
        curve.

    target : dict of str to float, default=None
        What was asked of the rule: `target_risk`, `target_coverage` or
        `target_failure_rate`, and the `confidence_level` where it is certified.

    name : str or list of str, default=None
        Name of the curve, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    point_ : matplotlib Line2D, list of them, or None
        The operating point, a list where there are several curves.

    target_ : matplotlib Line2D or None
        The line of the target.

    band_ : matplotlib PolyCollection, list of them, or None
        The band, a list where there are several.

    oracle_, random_ : matplotlib Line2D or None
        The two references.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curves, and their figure.

    See Also
    --------
    sklearn_reject.metrics.risk_coverage_curve : The numbers behind a curve.
    sklearn_reject.metrics.bootstrap_interval : An interval of the area, or of the
        difference of two areas.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import SelectiveClassifier
    >>> from sklearn_reject.metrics import RiskCoverageDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), target_risk=0.02)
    >>> selective = selective.fit(X[::2], y[::2])
    >>> display = RiskCoverageDisplay.from_estimator(selective, X[1::2], y[1::2])
    >>> display.target
    {'target_risk': 0.02}
    >>> plt.show()
    """

    line_: Line2D | Other
    point_: Line2D | Other
    target_: Line2D | Other
    band_: Any
    oracle_: Line2D | Other
    random_: Line2D | Other
    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        coverage: Sequence[ArrayLike],
        risk: Sequence[ArrayLike],
        *,
        aurc: Sequence[float] | None = None,
        oracle: tuple[ArrayLike, ...] | None = None,
        random: float | None = None,
        band: Sequence[tuple[ArrayLike, ...]] | None = None,
        point: Sequence[tuple[float, float]] | None = None,
        target: Mapping[str, float] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> None:
        self.coverage = coverage
        self.risk = risk
        self.aurc = aurc
        self.oracle = oracle
        self.random = random
        self.band = band
        self.point = point
        self.target = target
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float | None = None,
        n_resamples: int = 1000,
        random_state: RandomState | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier or regressor, with target and rule.

        The rule of a :class:`~sklearn_reject.SelectiveClassifier` is drawn as a point:
        the coverage and the selective risk that it has on these samples. A
        `target_risk` is a horizontal line and a `target_coverage` a vertical one. A
        `target_failure_rate` is a curve: coverage times risk is smaller below it.

        Parameters
        ----------
        estimator : estimator
            Fitted classifier or regressor. One with `uncertainty`, such as
            :class:`~sklearn_reject.SelectiveClassifier` and
            :class:`~sklearn_reject.SelectiveRegressor`, is drawn by it, also inside a
            pipeline or a search; another classifier by its plug-in score.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels or targets.

        loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
                default=None
            Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
            None takes the `loss_` of the estimator, as scorers do, and 0/1 loss for
            classifiers that have none.

        labels, sample_weight : optional
            As in :func:`aurc_score`.

        confidence_level : float in ]0, 1[, default=None
            Draw a band that holds, at each coverage by itself, the risk on all samples
            in this share of test sets like this one; not the whole curve. The model is
            fixed. It is wide at the left, where few samples are accepted, of which
            none may have a loss by chance; axes are not scaled to that. None draws no
            band.

        n_resamples : int, default=1000
            Number of bootstrap resamples that the band is made of.

        random_state : int, RandomState instance or None, default=None
            Source of the resamples.

        name : str, default=None
            Name in the legend. None takes the class name of the estimator.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a regressor has no `uncertainty`, or no `loss_` where `loss` is None.
        """
        weight = check_sample_weight(sample_weight, len(y))
        sample, probability = _judge_rule(estimator, X, y, weight, loss, labels)
        display = cls._from_samples(
            [sample], type(estimator).__name__ if name is None else name
        )
        display._add_rules([estimator], [sample], [probability])
        if confidence_level is not None:
            display._add_band(sample, confidence_level, n_resamples, random_state)
        return display.plot(ax, **plot_options)

    @classmethod
    @of_arrays
    def from_predictions(
        cls,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | None,
        uncertainty: ArrayLike,
        *,
        loss: TaskLossLike = "zero_one",
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float | None = None,
        n_resamples: int = 1000,
        random_state: RandomState | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of predictions and their uncertainty.

        Parameters
        ----------
        y_true, y_pred : array-like, or None
            True and predicted labels or targets, as in :func:`aurc_score`.

        uncertainty : array-like of shape (n_samples,)
            Uncertainty of each prediction, higher = more uncertain.

        loss, labels, sample_weight : optional
            As in :func:`aurc_score`.

        confidence_level : float in ]0, 1[, default=None
            Draw a band that holds, at each coverage by itself, the risk on all samples
            in this share of test sets like this one; not the whole curve. The model is
            fixed. It is wide at the left, where few samples are accepted, of which
            none may have a loss by chance; axes are not scaled to that. None draws no
            band.

        n_resamples : int, default=1000
            Number of bootstrap resamples that the band is made of.

        random_state : int, RandomState instance or None, default=None
            Source of the resamples.

        name : str, default=None
            Name in the legend.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.
        """
        scores, losses = scores_and_losses(y_true, y_pred, uncertainty, loss, labels)
        weight = check_sample_weight(sample_weight, len(scores))
        sample = scores, losses, weight
        display = cls._from_samples([sample], name)
        if confidence_level is not None:
            display._add_band(sample, confidence_level, n_resamples, random_state)
        return display.plot(ax, **plot_options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Options,
        X: MatrixLike,
        y: ArrayLike,
        *,
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of each fold of a cross-validation, with target and rules.

        Rules are drawn as in :meth:`from_estimator`, and their target where it is that
        of all of them.

        Parameters
        ----------
        cv_results : dict
            What :func:`sklearn.model_selection.cross_validate` returns with
            ``return_estimator=True, return_indices=True``.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The samples given to it.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their true labels or targets.

        loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
                default=None
            Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
            None takes the `loss_` of the estimator, as scorers do, and 0/1 loss for
            classifiers that have none.

        labels, sample_weight : optional
            As in :func:`aurc_score`.

        name : str or list of str, default=None
            Name of all folds together, or of each.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `cv_results` has no estimators or indices, or if a regressor has no
            `uncertainty`, or no `loss_` where `loss` is None.
        """
        weight = check_sample_weight(sample_weight, len(y))
        if is_table(loss) and labels is None:
            labels = np.unique(y)  # a fold may lack a class
        folds = folds_of(cv_results)
        samples, probabilities = [], []
        for estimator, rows in folds:
            held_out = _safe_indexing(X, rows), _safe_indexing(y, rows)
            of_fold = take_weight(weight, rows)
            judged = _judge_rule(estimator, *held_out, of_fold, loss, labels)
            samples.append(judged[0])
            probabilities.append(judged[1])
        display = cls._from_samples(samples, name)
        display._add_rules([fold[0] for fold in folds], samples, probabilities)
        return display.plot(ax, **plot_options)

    @classmethod
    def _from_samples(cls, samples, name):
        """Make the display of tuples (scores, losses, weight), one a curve."""
        coverage, risk, aurc = [], [], []
        for *sample, weight in samples:
            x, y, _ = curves.risk_coverage_curve(*sample, sample_weight=weight)
            coverage.append(x)
            risk.append(y)
            aurc.append(curves.aurc_score(*sample, sample_weight=weight))
        # The references are those of all samples together.
        losses = np.concatenate([losses for _, losses, _ in samples])
        weight = None
        if samples[0][2] is not None:
            weight = np.concatenate([weight for _, _, weight in samples])
        # A running index unties the samples: the oracle may stop between equal losses.
        rank = np.empty(len(losses))
        rank[np.argsort(losses, kind="stable")] = np.arange(len(losses))
        oracle = curves.risk_coverage_curve(rank, losses, sample_weight=weight)[:2]
        random = float(np.average(losses, weights=weight))
        return cls(coverage, risk, aurc=aurc, oracle=oracle, random=random, name=name)

    def _add_rules(self, estimators, samples, probabilities):
        """Add the point of each rule, if all curves have one, and their target."""
        if any(probability is None for probability in probabilities):
            return
        self.target = find_common_target(estimators, _SIDES)
        pairs = zip(probabilities, samples, strict=True)
        self.point = [share_and_mean(each, *sample[1:]) for each, sample in pairs]

    def _add_band(self, sample, confidence_level, n_resamples, random_state):
        options = {"n_resamples": n_resamples, "random_state": random_state}
        self.band = [
            risk_band(sample, *self.coverage, level=confidence_level, **options)
        ]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        plot_point: bool | None = None,
        plot_target: bool | None = None,
        plot_oracle: bool = False,
        plot_random: bool = False,
        curve_kwargs: Options | Sequence[Options] | None = None,
        band_kwargs: Options | None = None,
        point_kwargs: Options | None = None,
        target_kwargs: Options | None = None,
        oracle_kwargs: Options | None = None,
        random_kwargs: Options | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curve, or of each curve. None takes that of the display.

        plot_point : bool, default=None
            Whether to draw the operating point. None does it where it is known.

        plot_target : bool, default=None
            Whether to draw the target. None does it where it is known.

        plot_oracle : bool, default=False
            Whether to draw the curve of the score that orders the samples by loss.

        plot_random : bool, default=False
            Whether to draw the mean loss, the risk of a random score.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each.

        band_kwargs : dict, default=None
            Passed to matplotlib's `fill_between` for all bands.

        point_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the operating point.

        target_kwargs : dict, default=None
            Passed to matplotlib for the line of the target.

        oracle_kwargs, random_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the references.

        Returns
        -------
        display : RiskCoverageDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves, or a reference
            is wanted, or a band styled, that the display does not have.
        """
        if band_kwargs is not None and self.band is None:
            raise ValueError(
                "band_kwargs is given, but the display has no `band`. Pass it to the "
                "constructor, or use from_predictions with a confidence."
            )
        plot_point = is_wanted(self, "point", plot_point, "use from_estimator")
        plot_target = is_wanted(self, "target", plot_target, "use from_estimator")
        for part, wanted in (("oracle", plot_oracle), ("random", plot_random)):
            is_wanted(self, part, wanted, "use from_predictions")
        self.ax_ = find_axes(ax, "RiskCoverageDisplay", "risk_coverage_curve")
        self.figure_ = self.ax_.figure
        legend = self._legend(self.name if name is None else name)
        points = list(zip(self.coverage, self.risk, strict=True))
        self.line_ = draw_curves(self.ax_, points, legend, curve_kwargs, alike=True)
        self.band_ = self._draw_bands(band_kwargs)
        self.oracle_ = self.random_ = self.target_ = self.point_ = None
        if plot_point:
            self.point_ = self._draw_points(point_kwargs)
        if plot_target:
            self.target_ = draw_bound(self.ax_, self.target, _SIDES, target_kwargs)
        if plot_oracle:
            style = {"label": "oracle", **ORACLE_STYLE, **(oracle_kwargs or {})}
            self.oracle_ = keep_one(self.ax_, *self.ax_.plot(*self.oracle, **style))
        if plot_random:
            style = {"label": "random", **RANDOM_STYLE, **(random_kwargs or {})}
            line = self.ax_.plot([0, 1], [self.random] * 2, **style)
            self.random_ = keep_one(self.ax_, *line)
        self.ax_.set_ylim(bottom=0, auto=True)
        names = {"xlabel": "Coverage (share accepted)", "ylabel": "Selective risk"}
        finish_axes(self.ax_, **names, xlim=(0, 1.01))
        return self

    def _draw_points(self, point_kwargs):
        """Draw the point of the rule on each line."""
        legend = ["rules"] + [None] * (len(self.point) - 1)
        if len(self.point) == 1:
            coverage, risk = self.point[0]
            done = f"coverage {short(coverage)}, risk {short(risk)}"
            legend = [f"rule ({done if coverage else 'accepts nothing'})"]
        lines = np.atleast_1d(self.line_)
        return draw_points(self.ax_, lines, self.point, legend, point_kwargs)

    def _draw_bands(self, band_kwargs):
        """Draw the band of each line in its color."""
        if self.band is None:
            return None
        bands = []
        for line, band in zip(np.atleast_1d(self.line_), self.band, strict=True):
            style = {"color": line.get_color(), **_BAND_STYLE, **(band_kwargs or {})}
            bands.append(self._draw_band(*np.asarray(band), style))
        return bands[0] if len(bands) == 1 else bands

    def _draw_band(self, coverage, low, high, style):
        """Draw a band, and scale the axes to what is not at its left end."""
        limits = self.ax_.dataLim.frozen()
        drawn = self.ax_.fill_between(coverage, low, high, **style)
        self.ax_.dataLim.set(limits)
        shown = coverage >= _LEFT_END * coverage.max()
        self.ax_.update_datalim(np.c_[coverage, high][shown])
        return drawn

    def _legend(self, name):
        if not self.aurc:
            return label_curves(name, [None] * len(self.coverage))
        each = [f"AuRC = {short(area, 4)}" for area in self.aurc]
        mean, spread = np.mean(self.aurc), np.std(self.aurc)
        return label_curves(name, each, f"AuRC = {short(mean, 4)} ± {short(spread, 2)}")


def _judge_rule(estimator, X, y, weight, loss, labels):
    """Return scores, losses and weight, and the probabilities of being accepted."""
    y_pred, scores = predict_with_uncertainty(estimator, X)
    losses = judge(estimator, y, y_pred, loss, labels)
    probability = acceptance(estimator, X, y_pred, scores)
    return (curves.make_finite(scores), losses, weight), probability
