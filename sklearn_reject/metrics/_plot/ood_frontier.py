"""Display of what one score or two attain with ID and OOD samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Axes, Estimator, Label, MatrixLike, TaskLossLike
from sklearn_reject._validation import check_option, check_sample_weight, of_arrays
from sklearn_reject.metrics import _arrays as origins
from sklearn_reject.metrics._inside import predict_with_both_scores
from sklearn_reject.metrics._plot import _base

# What the axes of a kind show, the bounds on x and on y, what is said of a rule, the
# curve of one score, the frontier of two, and what both take of a sample.
_KINDS = {
    "roc": (
        ("FPR (OOD samples accepted)", "TPR (ID samples accepted)"),
        (("max_fpr",), ("min_tpr",)),
        "FPR {}, TPR {}",
        *(curves.ood_roc_curve, curves.roc_frontier, ()),
    ),
    "precision_recall": (
        ("Recall (ID samples accepted)", "Precision (ID of accepted)"),
        (("min_tpr",), ("min_precision",)),
        "recall {}, precision {}",
        *(curves.ood_precision_recall_curve, curves.precision_recall_frontier),
        ("ood_prior",),
    ),
    "risk_coverage": (
        ("TPR (ID samples accepted)", "Selective risk"),
        (("min_tpr",), ("max_risk",)),
        "TPR {}, risk {}",
        *(curves.risk_coverage_curve, curves.risk_coverage_frontier),
        ("losses", "max_fpr"),
    ),
}


@dataclass(eq=False, repr=False)
class OODFrontierDisplay(_base.CurveDisplay):
    """What thresholds attain with ID and OOD samples, for choosing feasible bounds.

    One score is drawn by its own curve. Two scores, risk and novelty, are drawn by the
    frontier of all their weighted sums: no rule of the family lies beyond it. A rule
    that was tuned without OOD samples is of another family and may. Draw each score
    alone on the same axes to see what the other adds. Make the display with
    :meth:`from_estimator` or :meth:`from_predictions`; the parameters below are what
    they compute.

    Parameters
    ----------
    x, y : list of ndarray of shape (n_points,)
        Corners of each curve. The axes are, by kind: FPR and TPR ("roc", up and left is
        better), recall and precision ("precision_recall", up and right is better), TPR
        and selective risk ("risk_coverage", down and right is better).

    area : list of float, default=None
        None: the legend shows no area.

    oracle : tuple of ndarray, default=None
        None: there is no perfect score to compare with.

    random : tuple of ndarray, default=None
        The line of a random score.

    point : list of tuple of float, default=None
        Operating point of the rule in use, a single one.

    target : dict of str to float, default=None
        What was asked of the rule: some of `min_tpr`, `max_fpr`, `max_risk` and
        `min_precision`, and the `confidence_level` where they are certified.

    name : str, default=None
        Name of the curve.

    kind : {"roc", "precision_recall", "risk_coverage"}, default="roc"
        What is drawn.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.

    target_ : matplotlib Line2D or None
        The bounds; two are drawn as the corner of what is within both.

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
    ...     target={"max_fpr": 0.2, "min_tpr": 0.7},
    ... )
    >>> plt.show()
    """

    x: Sequence[ArrayLike]
    y: Sequence[ArrayLike]
    _: KW_ONLY
    kind: Literal["roc", "precision_recall", "risk_coverage"] = "roc"

    _axes = "x", "y"
    _shown = 0.1, 1.0

    def __post_init__(self):
        self._labels, self._bounds, self._rule, *_ = _KINDS[self.kind]

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        kind: Literal["roc", "precision_recall", "risk_coverage"] = "roc",
        max_fpr: float | None = None,
        ood_prior: float | None = None,
        ood_label: Label = "auto",
        loss: TaskLossLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
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

        kind, max_fpr, ood_prior : optional
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

        name : str, default=None
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
            If the kind is unknown, the samples are invalid or hold no OOD ones, or a
            label is neither a class nor that of OOD samples.
        """
        check_option(kind, "kind", tuple(_KINDS))
        y_pred, *scores = predict_with_both_scores(estimator, X)
        ood_label, is_ood = origins.ood_label_for(estimator, y, y_pred, ood_label)
        losses = np.zeros(len(is_ood))
        if kind == "risk_coverage":
            losses = origins.judge_inside(estimator, y, y_pred, is_ood, loss, labels)
        scores, is_ood = origins.scores_and_origins(y, *scores, ood_label)
        weight = check_sample_weight(sample_weight, len(is_ood))
        sample = _Sample(scores, is_ood, losses, weight, max_fpr, ood_prior)
        display = cls._of_sample(kind, sample, name or type(estimator).__name__)
        accepted = _base.acceptance(estimator, X, y_pred, scores)
        if accepted is not None:
            display.point = [sample.point(kind, accepted)]
            display.target = _base.find_target(estimator)
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
        max_fpr: float | None = None,
        ood_prior: float | None = None,
        ood_label: Label = "auto",
        loss: TaskLossLike = "zero_one",
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
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

        max_fpr : float in [0, 1], default=None
            For "risk_coverage": largest share of OOD samples to accept. None for any.

        ood_prior : float in [0, 1), default=None
            For "precision_recall": share of OOD where the rule is going to be used.
            None takes the share in the sample.

        ood_label : "auto", None or label, default="auto"
            Label of OOD samples in `y_true`, as in
            :func:`selective_risk_at_tpr_fpr_score`.

        loss, labels, sample_weight : optional
            As in :func:`selective_risk_at_tpr_fpr_score`.

        name : str, default=None
            Name in the legend.

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
            If the kind is unknown, or the samples are invalid or hold no OOD ones.
        """
        check_option(kind, "kind", tuple(_KINDS))
        scores = uncertainty, novelty
        if kind == "risk_coverage":
            judged = y_true, y_pred, *scores, ood_label, loss, labels
            scores, losses, is_ood = origins.ood_samples(*judged)
        else:
            scores, is_ood = origins.scores_and_origins(y_true, *scores, ood_label)
            losses = np.zeros(len(is_ood))
        weight = check_sample_weight(sample_weight, len(is_ood))
        sample = _Sample(scores, is_ood, losses, weight, max_fpr, ood_prior)
        return cls._of_sample(kind, sample, name).plot(ax, **plot_options)

    @classmethod
    def _of_sample(cls, kind, sample, name):
        x, y = sample.curve(kind)
        _, end = sample.point(kind, np.ones(len(sample.is_ood)))
        random = [0, 1], [0.0 if kind == "roc" else end, end]
        return cls([x], [y], kind=kind, random=random, name=name)


@dataclass(eq=False)
class _Sample:
    """ID and OOD samples with one score or two, and what curves are judged by."""

    scores: np.ndarray  # (n_samples,), or (n_samples, 2): risk and novelty
    is_ood: np.ndarray
    losses: np.ndarray
    weight: np.ndarray | None
    max_fpr: float | None
    ood_prior: float | None

    def curve(self, kind):
        """Return the curve of one score, or the corners of the frontier of two."""
        is_single, (*_, of_one, of_two, needed) = self.scores.ndim == 1, _KINDS[kind]
        options = {name: getattr(self, name) for name in needed}
        if options.get("max_fpr", 1.0) is None:
            options["max_fpr"] = 1.0
        options |= {"is_ood": self.is_ood, "sample_weight": self.weight}
        x, y = (of_one if is_single else of_two)(self.scores, **options)[:2]
        if kind == "precision_recall":
            x, y = y, x
        if is_single:
            return x, y
        if kind == "roc":
            x, y = np.append(x, 1.0), np.append(y, y[-1:])
            return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
        # The value of each point holds down to the one before, the first to zero.
        x, y = np.append(0.0 * x[:1], x), np.append(y[:1], y)
        return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]

    def point(self, kind, accepted):
        """Return x and y of a rule that accepts samples with these probabilities."""
        weight = np.ones(len(accepted)) if self.weight is None else self.weight
        tpr, risk = _base.share_and_mean(accepted, self.losses, weight * ~self.is_ood)
        if kind == "risk_coverage":
            return tpr, risk
        fpr, _ = _base.share_and_mean(accepted, self.losses, weight * self.is_ood)
        if kind == "roc":
            return fpr, tpr
        prior = self.ood_prior
        share = np.average(self.is_ood, weights=weight) if prior is None else prior
        good = (1 - share) * tpr
        return tpr, float(good / (good + share * fpr)) if tpr + fpr else float("nan")
