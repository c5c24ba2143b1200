"""Display of what one score or two attain with ID and OOD samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from sklearn_reject._typing import (
    Axes,
    Estimator,
    Label,
    MatrixLike,
    Options,
    TaskLossLike,
)
from sklearn_reject._validation import check_option, check_sample_weight, of_arrays
from sklearn_reject.metrics._arrays import (
    judge_inside,
    ood_label_for,
    ood_samples,
    scores_and_origins,
)
from sklearn_reject.metrics._inside import predict_with_both_scores
from sklearn_reject.metrics._plot._base import CurveDisplay
from sklearn_reject.metrics._plot._ood_sample import BOUNDS, KINDS, OODSample
from sklearn_reject.metrics._plot._targets import acceptance, draw_corner, find_target


@dataclass(eq=False, repr=False)
class OODFrontierDisplay(CurveDisplay):
    """What thresholds attain with ID and OOD samples, for choosing feasible bounds.

    One score is drawn by its own curve. Two scores, risk and novelty, are drawn by the
    frontier of all their weighted sums: no rule of the family lies beyond it. A rule
    that was tuned without OOD samples is of another family and may. Make the display
    with :meth:`from_estimator` or :meth:`from_predictions`; the parameters below are
    what they compute.

    Parameters
    ----------
    x, y : list of ndarray of shape (n_points,)
        Corners of each curve. The axes are, by kind: FPR and TPR ("roc", up and left is
        better), recall and precision ("precision_recall", up and right is better), TPR
        and selective risk ("risk_coverage", down and right is better).

    kind : {"roc", "precision_recall", "risk_coverage"}, default="roc"
        What is drawn.

    random : tuple of float, default=None
        What a random score has on the left and on the right of the axes.

    point : tuple of float, default=None
        Operating point of the rule in use, on the axes of the first curve.

    target : dict of str to float, default=None
        What was asked of the rule: some of `min_tpr`, `max_fpr`, `max_risk` and
        `min_precision`, and the `confidence_level` where they are certified.

    name : str or list of str, default=None
        Name of the curve, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    target_ : matplotlib Line2D or None
        The bounds, drawn as the corner of what is within all of them.

    point_ : matplotlib Line2D or None
        The operating point.

    random_ : matplotlib Line2D or None
        The line of a random score.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curves, and their figure.

    See Also
    --------
    sklearn_reject.metrics.selective_risk_at_tpr_fpr_score : The lowest risk at bounds.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import OODFrontierDisplay
    >>> sample = make_fpp23_mixture(return_X_y=False, random_state=0)
    >>> display = OODFrontierDisplay.from_predictions(
    ...     sample.target,
    ...     sample.prediction,
    ...     sample.risk,
    ...     novelty=sample.likelihood_ratio,
    ...     bounds=(0.2, 0.7),
    ... )
    >>> plt.show()
    """

    x: Sequence[ArrayLike]
    y: Sequence[ArrayLike]
    _: KW_ONLY
    kind: Literal["roc", "precision_recall", "risk_coverage"] = "roc"
    random: tuple[float, ...] | None = None
    point: tuple[float, ...] | None = None
    target: Mapping[str, float] | None = None
    name: str | Sequence[str] | None = None

    _axes = "x", "y"
    _function = "ood_auroc_score"
    _are_alike = False

    def __post_init__(self):
        self._labels, self._bounds, self._best, self._rule = KINDS[self.kind]

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        kind: Literal["roc", "precision_recall", "risk_coverage"] = "roc",
        parts: bool = False,
        max_fpr: float | None = None,
        ood_prior: float | None = None,
        ood_label: Label = "auto",
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw what a fitted classifier attains, its bounds and its rule.

        The rule of a :class:`~sklearn_reject.DoubleScoreOODClassifier` is drawn as a
        point: what it attains on these samples. Its bounds are drawn as the corner of
        the region that keeps them, as far as the axes of the `kind` show them.

        Parameters
        ----------
        estimator : estimator
            Fitted classifier. One with `risk_and_novelty`, such as
            :class:`~sklearn_reject.DoubleScoreOODClassifier`, is drawn by the frontier
            of the two, also inside a pipeline or a search; any other by the curve of
            its uncertainty.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            ID and OOD samples.

        y : array-like of shape (n_samples,)
            True labels, and `ood_label` for OOD samples.

        kind, parts, max_fpr, ood_prior : optional
            As in :meth:`from_predictions`.

        ood_label : "auto", None or label, default="auto"
            Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator
            was fitted with, where it has one, also inside a pipeline or a search; else
            "ood" for strings and -1 for numbers. A label that is given wins.

        loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
                default=None
            Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
            None takes the `loss_` of the estimator, as scorers do, and 0/1 loss for
            classifiers that have none.

        labels, sample_weight : optional
            As in :func:`selective_risk_at_tpr_fpr_score`.

        name : str or list of str, default=None
            Name in the legend. None takes the class name of the estimator.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : OODFrontierDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the kind is unknown, `parts` are wanted of one score, the samples are
            invalid or hold no OOD ones, or a label is neither a class nor that of OOD
            samples.
        """
        check_option(kind, "kind", tuple(KINDS))
        y_pred, *scores = predict_with_both_scores(estimator, X)
        ood_label, is_ood = ood_label_for(estimator, y, y_pred, ood_label)
        losses = None
        if kind == "risk_coverage":
            losses = judge_inside(estimator, y, y_pred, is_ood, loss, labels)
        columns, is_ood = scores_and_origins(y, *scores, ood_label)
        weight = check_sample_weight(sample_weight, len(is_ood))
        sample = OODSample(kind, columns, is_ood, losses, weight, max_fpr, ood_prior)
        display = cls._of_sample(sample, parts, name or type(estimator).__name__)
        accepted = acceptance(estimator, X, y_pred, columns)
        if accepted is not None:
            display.point = sample.point(accepted)
            display.target = find_target(estimator, BOUNDS)
        return display.plot(ax, **plot_options)

    @classmethod
    @of_arrays
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike | None,
        uncertainty: ArrayLike,
        *,
        novelty: ArrayLike | None = None,
        kind: Literal["roc", "precision_recall", "risk_coverage"] = "roc",
        parts: bool = False,
        max_fpr: float | None = None,
        ood_prior: float | None = None,
        ood_label: Label = "auto",
        loss: TaskLossLike = "zero_one",
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw what one score or two attain.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, and `ood_label` for OOD samples.

        y_pred : array-like of shape (n_samples,) or None
            Predicted labels. Only "risk_coverage" needs them.

        uncertainty : array-like of shape (n_samples,)
            Score of each sample, higher = rejected first; the risk score where there is
            a `novelty`.

        novelty : array-like of shape (n_samples,), default=None
            A second score, higher = more novel. The frontier of all weighted sums of
            both is drawn.

        kind : {"roc", "precision_recall", "risk_coverage"}, default="roc"
            What is drawn.

        parts : bool, default=False
            Whether to draw, beside the frontier of two scores, the curve of each alone.

        max_fpr : float in [0, 1], default=None
            For "risk_coverage": largest share of OOD samples to accept. None for no
            bound.

        ood_prior : float in [0, 1[, default=None
            For "precision_recall": share of OOD where the rule is going to be used.
            None takes the share in the sample.

        ood_label : "auto", None or label, default="auto"
            Label of OOD samples in `y_true`, as in
            :func:`selective_risk_at_tpr_fpr_score`.

        loss, labels, sample_weight : optional
            As in :func:`selective_risk_at_tpr_fpr_score`.

        name : str or list of str, default=None
            Name in the legend. With `parts` a name of the frontier, or three names.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : OODFrontierDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the kind is unknown, `parts` are wanted of one score, or the samples are
            invalid or hold no OOD ones.
        """
        check_option(kind, "kind", tuple(KINDS))
        scores, losses = (uncertainty, novelty), None
        if kind == "risk_coverage":
            judged = ood_samples(y_true, y_pred, *scores, ood_label, loss, labels)
            columns, losses, is_ood = judged
        else:
            columns, is_ood = scores_and_origins(y_true, *scores, ood_label)
        weight = check_sample_weight(sample_weight, len(is_ood))
        sample = OODSample(kind, columns, is_ood, losses, weight, max_fpr, ood_prior)
        display = cls._of_sample(sample, parts, name)
        return display.plot(ax, **plot_options)

    @classmethod
    def _of_sample(cls, sample, parts, name):
        """Make the display of one score, or of two and maybe each alone."""
        has_two = sample.scores.ndim == 2
        if parts and not has_two:
            raise ValueError(
                "parts=True draws risk and novelty alone beside their frontier, but "
                "there is one score only. Pass novelty=, or a classifier with "
                "risk_and_novelty."
            )
        points = [sample.frontier() if has_two else sample.curve(sample.scores)]
        if parts:
            points += map(sample.curve, sample.scores.T)
            if not isinstance(name, list):
                name = [name or "risk and novelty", "risk alone", "novelty alone"]
        x, y = map(list, zip(*points, strict=True))
        return cls(x, y, kind=sample.kind, random=sample.chance(), name=name)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        bounds: tuple[float, float] | None = None,
        plot_point: bool | None = None,
        plot_target: bool | None = None,
        plot_random: bool | None = None,
        curve_kwargs: Options | Sequence[Options] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curve, or of each curve. None takes that of the display.

        bounds : tuple of two floats, default=None
            A point on the axes, such as (max_fpr, min_tpr), (min_tpr, min_precision) or
            (min_tpr, max_risk), in place of the target of the rule. It is drawn as
            the corner of what is within both bounds: they can be met where a curve
            passes through it.

        plot_point : bool, default=None
            Whether to draw the operating point. None does it where it is known.

        plot_target : bool, default=None
            Whether to draw the target. None does it where it is known.

        plot_random : bool, default=None
            Whether to draw the line of a random score. None does it where it is known.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each. The rest of what
            is drawn can be styled afterwards, as attributes of the display.

        Returns
        -------
        display : OODFrontierDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves, or something is
            wanted that the display does not have.
        """
        target = self.target
        if bounds is not None:
            target = dict(zip(self._bounds, map(float, bounds), strict=True))
        points = None if self.point is None else [self.point]
        parts = {
            "random": (plot_random, self.random),
            "target": (plot_target, target),
            "point": (plot_point, points),
        }
        limits = {} if self.kind == "risk_coverage" else {"ylim": (0, 1.01)}
        return self._plot(ax, name, curve_kwargs, parts, xlim=(0, 1.01), **limits)

    def _draw_target(self, target):
        return draw_corner(self.ax_, target, self._bounds, self._best)
