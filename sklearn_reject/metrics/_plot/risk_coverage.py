"""Display of risk-coverage curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from sklearn_reject import _curves as curves
from sklearn_reject._typing import (
    Axes,
    Estimator,
    MatrixLike,
    Options,
    RandomState,
    TaskLossLike,
)
from sklearn_reject._validation import check_level, check_sample_weight, of_arrays
from sklearn_reject.metrics._arrays import judge, scores_and_losses
from sklearn_reject.metrics._bootstrap import (
    Resamples,
    check_resamples,
    percentile_ends,
)
from sklearn_reject.metrics._inside import predict_with_uncertainty
from sklearn_reject.metrics._plot import _base


@dataclass(eq=False, repr=False)
class RiskCoverageDisplay(_base.CurveDisplay):
    """Selective risk against coverage, lower is better.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters below are what they compute. Below a
    coverage of 0.1 a curve rests on few samples, and may leave the axes at the top:
    ``display.ax_.set_ylim(0, 1)`` shows all of it.

    Parameters
    ----------
    coverage : list of ndarray of shape (n_thresholds,)
        Coverages, one array a curve.

    risk : list of ndarray of shape (n_thresholds,)
        Selective risks, one array a curve.

    area : list of float, default=None
        Area under each curve, as :func:`aurc_score` has it, shown in the legend.

    oracle : tuple of ndarray, default=None
        Coverage and risk of the score that orders the samples by their loss.

    random : tuple of ndarray, default=None
        Coverage and risk of a random score, whose risk is the mean loss.

    point : list of tuple of float, default=None
        Operating points: coverage and selective risk of the rule in use, one tuple a
        curve.

    target : dict of str to float, default=None
        What was asked of the rule: `target_risk`, `target_coverage` or
        `target_failure_rate`, and the `confidence_level` where it is certified.

    name : str, default=None
        Name of the curve, or of all.

    band : list of tuple of ndarray, default=None
        Coverages, and the lower and the upper end of the risk at each, one tuple a
        curve.

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

    coverage: Sequence[ArrayLike]
    risk: Sequence[ArrayLike]
    _: KW_ONLY
    band: Sequence[tuple[ArrayLike, ...]] | None = None

    _axes = "coverage", "risk"
    _area_name = "AuRC"
    _labels = "Coverage (share accepted)", "Selective risk"
    _bounds = ("target_coverage",), ("target_risk", "max_risk")
    _rule = "coverage {}, risk {}"
    _shown = 0.1, 1.0

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

        confidence_level : float in (0, 1), default=None
            Draw a band that holds, at each coverage by itself, the risk on all samples
            in this share of test sets like this one; not the whole curve. The model is
            fixed. Where all accepted losses are zero, or the largest there is, its ends
            are exact ones. None draws no band.

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
        judged = cls._judge(estimator, X, y, sample_weight, loss=loss, labels=labels)
        display = cls._of_rules([estimator], [judged], name or type(estimator).__name__)
        display._add_band(judged[0], confidence_level, n_resamples, random_state)
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

        confidence_level : float in (0, 1), default=None
            Draw a band that holds, at each coverage by itself, the risk on all samples
            in this share of test sets like this one; not the whole curve. The model is
            fixed. Where all accepted losses are zero, or the largest there is, its ends
            are exact ones. None draws no band.

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
        sample = scores, losses, check_sample_weight(sample_weight, len(scores))
        display = cls._of_samples([sample], name)
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
        name: str | None = None,
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

        name : str, default=None
            Name of all folds together.

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
        arrays, options = (X, y, sample_weight), {"loss": loss, "labels": labels}
        display = cls._of_folds(cv_results, name, *arrays, **options)
        return display.plot(ax, **plot_options)

    @staticmethod
    def _judge(estimator, X, y, sample_weight, *, loss, labels):
        """Return the sample of an estimator, and the point of its rule or None."""
        weight = check_sample_weight(sample_weight, len(y))
        y_pred, scores = predict_with_uncertainty(estimator, X)
        losses = judge(estimator, y, y_pred, loss, labels)
        chance = _base.acceptance(estimator, X, y_pred, scores)
        point = None if chance is None else _base.share_and_mean(chance, losses, weight)
        return (curves.make_finite(scores), losses, weight), point

    @staticmethod
    def _curve(scores, losses, weight):
        x, y, _ = curves.risk_coverage_curve(scores, losses, sample_weight=weight)
        return x, y, curves.aurc_score(scores, losses, sample_weight=weight)

    @staticmethod
    def _references(_, losses, weight):
        # Untied ranks: the oracle may stop between equal losses.
        ranks = rankdata(losses, method="ordinal")
        oracle = curves.risk_coverage_curve(ranks, losses, sample_weight=weight)[:2]
        return oracle, ([0, 1], [float(np.average(losses, weights=weight))] * 2)

    def _add_band(self, sample, level, n_resamples, random_state):
        """Add the band of a curve; of many thresholds it has three hundred."""
        if level is None:
            return
        check_resamples(n_resamples, check_level(level, "confidence_level"))
        scores, losses, weight = sample
        if weight is not None:
            scores, losses, weight = (each[weight > 0] for each in sample)
        (x,) = self.coverage
        even, left = np.linspace(0, len(x) - 1, 200), np.geomspace(1, len(x), 100) - 1
        x = x[np.unique(np.append(even, left).round().astype(np.intp))]
        resamples = Resamples(len(losses), None, n_resamples, random_state)
        counted = curves.CountedSamples(scores, losses, weight)
        counts = map(resamples.counts, range(resamples.n_drawn))
        risks = np.concatenate([counted.risks(of_batch, x) for of_batch in counts])
        low, high = percentile_ends(risks, level, axis=0)
        # A risk r of losses of at most b is seen as none in k samples with a
        # probability of at most (1 - r / b)^k, exactly so for 0/1 losses. All resamples
        # of equal losses are equal: a bootstrap takes what it has seen for certain.
        share = np.ones(len(losses)) if weight is None else weight
        n_effective = share.sum() ** 2 / (share @ share)  # Kish
        tail = ((1 - level) / 2) ** (1 / (x * n_effective))
        largest = losses.max() or 1.0
        low = np.minimum(low, largest * tail)
        self.band = [(x, low, np.maximum(high, largest * (1 - tail)))]

    def _draw_curves(self, names, curve_kwargs):
        lines, bands = super()._draw_curves(names, curve_kwargs), []
        for line, band in zip(np.atleast_1d(lines), self.band or (), strict=False):
            style = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
            bands.append(self._add(self._shown, self.ax_.fill_between, *band, **style))
        self.band_ = _base.one_or_all(bands)
        return lines

    def _draw_target(self, target):
        """Draw a bound on the failure rate as a curve: coverage times risk is below."""
        rate = target.get("target_failure_rate")
        if rate is None:
            return super()._draw_target(target)
        x = np.linspace(max(rate, 0.01), 1, 200)
        style = self._style_of_target(target, ["target_failure_rate"])
        return self._add((1, 1), self.ax_.plot, x, rate / x, **style)[0]
