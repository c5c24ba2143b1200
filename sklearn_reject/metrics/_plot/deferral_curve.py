"""Display of deferral curves."""

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
    TaskLossLike,
)
from sklearn_reject._validation import check_sample_weight, of_arrays, take_weight
from sklearn_reject.metrics._deferral import scores_and_opinions
from sklearn_reject.metrics._deferral_scoring import judge_opinions
from sklearn_reject.metrics._inside import has_method, locate
from sklearn_reject.metrics._losses import is_table
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
from sklearn_reject.metrics._plot._targets import draw_bound, find_common_target

# How the targets of a rule are drawn.
_SIDES = {"target_risk": "h", "max_deferral": "v"}


class DeferralCurveDisplay:
    """System risk against the deferral rate, lower is better.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters below are what they compute.

    Parameters
    ----------
    deferral_rate : list of ndarray of shape (n_thresholds,)
        Shares of deferred samples, one array a curve.

    system_risk : list of ndarray of shape (n_thresholds,)
        Mean losses of whoever answers, one array a curve.

    area : list of float, default=None
        Area under each curve, as :func:`deferral_area_score` has it, shown in the
        legend.

    oracle : tuple of ndarray, default=None
        Deferral rate and system risk of the score that orders the samples by the loss
        of the first opinion minus that of the second.

    random : tuple of float, default=None
        Mean losses of the first and of the second opinion, between which a random
        score is.

    point : list of tuple of float, default=None
        Operating points: deferral rate and system risk of the rule in use, one tuple a
        curve.

    target : dict of str to float, default=None
        What was asked of the rule: `max_deferral` or `target_risk`, and the
        `confidence_level` where it is certified.

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

    oracle_, random_ : matplotlib Line2D or None
        The two references.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curves, and their figure.

    See Also
    --------
    sklearn_reject.metrics.deferral_curve : The numbers behind a curve.
    sklearn_reject.metrics.deferral_area_score : The area below it.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_reject import DeferringClassifier
    >>> from sklearn_reject.metrics import DeferralCurveDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> deferring = DeferringClassifier(
    ...     GaussianNB(),
    ...     make_pipeline(StandardScaler(), LogisticRegression()),
    ...     max_deferral=0.2,
    ...     gain_score="confidence",
    ... )
    >>> deferring = deferring.fit(X[:900], y[:900])
    >>> display = DeferralCurveDisplay.from_estimator(
    ...     deferring, X[900:], y[900:], plot_oracle=True
    ... )
    >>> plt.show()
    """

    line_: Line2D | Other
    point_: Line2D | Other
    target_: Line2D | Other
    oracle_: Line2D | Other
    random_: Line2D | Other
    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        deferral_rate: Sequence[ArrayLike],
        system_risk: Sequence[ArrayLike],
        *,
        area: Sequence[float] | None = None,
        oracle: tuple[ArrayLike, ...] | None = None,
        random: tuple[float, ...] | None = None,
        point: Sequence[tuple[float, float]] | None = None,
        target: Mapping[str, float] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> None:
        self.deferral_rate = deferral_rate
        self.system_risk = system_risk
        self.area = area
        self.oracle = oracle
        self.random = random
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
        expert_labels: ArrayLike | None = None,
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier, its target and its operating point.

        The second opinion is asked about all samples. A `max_deferral` is a vertical
        line, a `target_risk` a horizontal one.

        Parameters
        ----------
        estimator : estimator
            Fitted :class:`~sklearn_reject.DeferringClassifier`, also inside a pipeline
            or a search.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person says about the samples. None or NaN where that is not known:
            such samples are left out, as if the others were drawn at random.

        loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
                default=None
            Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
            None takes the `loss_` of the estimator, as scorers do.

        labels, sample_weight : optional
            As in :func:`deferral_area_score`.

        name : str, default=None
            Name in the legend. None takes the class name of the estimator.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : DeferralCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the estimator asks no second opinion, or `expert_labels` are missing
            where a person is asked.
        """
        weight = check_sample_weight(sample_weight, len(y))
        sample = judge_opinions(estimator, X, y, expert_labels, loss, labels)
        name = type(estimator).__name__ if name is None else name
        probabilities = [_defer_proba(estimator, X)]
        display = cls._from_samples([(*sample, weight)], name, probabilities)
        display.target = find_common_target([estimator], _SIDES)
        return display.plot(ax, **plot_options)

    @classmethod
    @of_arrays
    def from_predictions(
        cls,
        y_true: ArrayLike | None,
        y_first: ArrayLike | None,
        y_second: ArrayLike | None,
        deferral_score: ArrayLike,
        *,
        loss: TaskLossLike = "zero_one",
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of the labels of both opinions and a score.

        Parameters
        ----------
        y_true, y_first, y_second : array-like of shape (n_samples,) or None
            True labels and those of both opinions, as in :func:`deferral_area_score`.

        deferral_score : array-like of shape (n_samples,)
            Higher = deferred first.

        loss, labels, sample_weight : optional
            As in :func:`deferral_area_score`.

        name : str, default=None
            Name in the legend.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : DeferralCurveDisplay
            The display, drawn.
        """
        sample = scores_and_opinions(
            y_true, y_first, y_second, deferral_score, loss, labels
        )
        return cls._from_samples([(*sample, sample_weight)], name).plot(
            ax, **plot_options
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Options,
        X: MatrixLike,
        y: ArrayLike,
        *,
        expert_labels: ArrayLike | None = None,
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve and the operating point of each fold of a cross-validation.

        Parameters
        ----------
        cv_results : dict
            What :func:`sklearn.model_selection.cross_validate` returns with
            ``return_estimator=True, return_indices=True``.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The samples given to it.

        y : array-like of shape (n_samples,)
            Their true labels.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person says about the samples. None or NaN where that is not known:
            such samples are left out, as if the others were drawn at random.

        loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
                default=None
            Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
            None takes the `loss_` of the estimator, as scorers do.

        labels, sample_weight : optional
            As in :func:`deferral_area_score`.

        name : str or list of str, default=None
            Name of all folds together, or of each.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : DeferralCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `cv_results` has no estimators or indices, if these ask no second
            opinion, or if `expert_labels` are missing where a person is asked.
        """
        weight = check_sample_weight(sample_weight, len(y))
        if is_table(loss) and labels is None:
            labels = np.unique(y)  # a fold may lack a class
        folds, samples, probabilities = folds_of(cv_results), [], []
        for estimator, rows in folds:
            held_out = _safe_indexing(X, rows)
            of_person = None
            if expert_labels is not None:
                of_person = _safe_indexing(expert_labels, rows)
            truth = _safe_indexing(y, rows)
            sample = judge_opinions(estimator, held_out, truth, of_person, loss, labels)
            samples.append((*sample, take_weight(weight, rows)))
            probabilities.append(_defer_proba(estimator, held_out))
        display = cls._from_samples(samples, name, probabilities)
        display.target = find_common_target([fold[0] for fold in folds], _SIDES)
        return display.plot(ax, **plot_options)

    @classmethod
    def _from_samples(cls, samples, name, probabilities=None):
        """Make the display of tuples (scores, both losses, weight), one a curve.

        `probabilities` are those of being deferred by the rule in use.
        """
        known = [curves.check_deferral_samples(*sample) for sample in samples]
        rates, risks, areas = [], [], []
        for *sample, weight, _ in known:
            rate, risk, _ = curves.deferral_curve(*sample, sample_weight=weight)
            rates.append(rate)
            risks.append(risk)
            areas.append(curves.deferral_area_score(*sample, sample_weight=weight))
        # The references are those of all samples together.
        first = np.concatenate([sample.loss_first for sample in known])
        second = np.concatenate([sample.loss_second for sample in known])
        weight = None
        if known[0].weight is not None:
            weight = np.concatenate([sample.weight for sample in known])
        best = curves.deferral_curve(
            first - second, first, second, sample_weight=weight
        )
        means = [float(np.average(each, weights=weight)) for each in (first, second)]
        point = None
        if probabilities is not None:
            pairs = zip(known, probabilities, strict=True)
            point = [_point_of(*pair) for pair in pairs]
        references = {"oracle": best[:2], "random": tuple(means)}
        return cls(rates, risks, area=areas, **references, point=point, name=name)

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
            Whether to draw the curve of the score that orders the samples by what the
            second opinion gains.

        plot_random : bool, default=False
            Whether to draw the line of a random score, from one mean loss to the other.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each.

        point_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the operating point.

        target_kwargs : dict, default=None
            Passed to matplotlib for the line of the target.

        oracle_kwargs, random_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the references.

        Returns
        -------
        display : DeferralCurveDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves, or a point or a
            reference is wanted that the display does not have.
        """
        plot_point = is_wanted(self, "point", plot_point, "use from_estimator")
        plot_target = is_wanted(self, "target", plot_target, "use from_estimator")
        for part, wanted in (("oracle", plot_oracle), ("random", plot_random)):
            is_wanted(self, part, wanted, "use from_predictions")
        self.ax_ = find_axes(ax, "DeferralCurveDisplay", "deferral_curve")
        self.figure_ = self.ax_.figure
        legend = self._legend(self.name if name is None else name)
        points = list(zip(self.deferral_rate, self.system_risk, strict=True))
        self.line_ = draw_curves(self.ax_, points, legend, curve_kwargs, alike=True)
        self.point_ = self._draw_points(point_kwargs) if plot_point else None
        self.oracle_ = self.random_ = self.target_ = None
        if plot_target:
            self.target_ = draw_bound(self.ax_, self.target, _SIDES, target_kwargs)
        if plot_oracle:
            style = {"label": "oracle", **ORACLE_STYLE, **(oracle_kwargs or {})}
            self.oracle_ = keep_one(self.ax_, *self.ax_.plot(*self.oracle, **style))
        if plot_random:
            style = {"label": "random", **RANDOM_STYLE, **(random_kwargs or {})}
            line = self.ax_.plot([0, 1], self.random, **style)
            self.random_ = keep_one(self.ax_, *line)
        self.ax_.set_ylim(bottom=0, auto=True)
        names = {"xlabel": "Deferral rate (share deferred)", "ylabel": "System risk"}
        finish_axes(self.ax_, **names, xlim=(-0.01, 1.01))
        return self

    def _draw_points(self, point_kwargs):
        """Draw the operating point of each line."""
        legend = ["rules"] + [None] * (len(self.point) - 1)
        if len(self.point) == 1:
            rate, risk = self.point[0]
            legend = [f"rule (deferred {short(rate)}, risk {short(risk)})"]
        lines = np.atleast_1d(self.line_)
        return draw_points(self.ax_, lines, self.point, legend, point_kwargs)

    def _legend(self, name):
        if not self.area:
            return label_curves(name, [None] * len(self.deferral_rate))
        each = [f"area = {short(area, 4)}" for area in self.area]
        mean, spread = np.mean(self.area), np.std(self.area)
        return label_curves(name, each, f"area = {short(mean, 4)} ± {short(spread, 2)}")


def _defer_proba(estimator, X):
    """Return how likely the rule of an estimator defers each sample."""
    inner, X = locate(estimator, X, has_method("_opinions"))
    return np.asarray(inner.defer_proba(X), dtype=np.float64)


def _point_of(known, probability):
    """Return deferral rate and system risk of a rule, on samples with both losses."""
    deferred = probability[known.is_used]
    losses = deferred * known.loss_second + (1 - deferred) * known.loss_first
    return tuple(
        float(np.average(values, weights=known.weight)) for values in (deferred, losses)
    )
