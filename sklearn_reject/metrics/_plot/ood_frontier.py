"""Display of what one score or two attain with ID and OOD samples."""

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.metrics._inside import predict_with_both_scores
from sklearn_reject.metrics._origins import (
    judge_inside,
    ood_label_for,
    ood_samples,
    scores_and_origins,
)
from sklearn_reject.metrics._plot._drawing import (
    draw_curves,
    find_axes,
    finish_axes,
    label_curves,
)

_BOUNDS_STYLE = {"color": "0.4", "linestyle": "--", "marker": "o", "markevery": [1]}

_TPR = "TPR (share of ID samples accepted)"
_LABELS = {
    "roc": ("FPR (share of OOD samples accepted)", _TPR),
    "precision_recall": ("Recall (share of ID samples accepted)", "Precision"),
    "risk_coverage": (_TPR, "Selective risk"),
}


class OODFrontierDisplay:
    """What thresholds attain with ID and OOD samples, for choosing feasible bounds.

    One score is drawn by its own curve. Two scores, risk and novelty, are drawn by the
    frontier of all their weighted sums: no rule of the family lies beyond it. Make the
    display with :meth:`from_estimator` or :meth:`from_predictions`; the parameters
    below are what they compute.

    Parameters
    ----------
    x, y : list of ndarray of shape (n_points,)
        Corners of each curve. The axes are, by kind: FPR and TPR ("roc", up and left is
        better), recall and precision ("precision_recall", up and right is better), TPR
        and selective risk ("risk_coverage", down and right is better).

    kind : {"roc", "precision_recall", "risk_coverage"}, default="roc"
        What is drawn.

    name : str or list of str, default=None
        Name of the curve, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    bounds_ : matplotlib Line2D or None
        The bounds, drawn as a corner.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curves, and their figure.

    See Also
    --------
    sklearn_reject.metrics.roc_frontier : The numbers of kind "roc".
    sklearn_reject.metrics.precision_recall_frontier : Those of "precision_recall".
    sklearn_reject.metrics.risk_coverage_frontier : Those of "risk_coverage".

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

    def __init__(self, x, y, *, kind="roc", name=None):
        self.x = x
        self.y = y
        self.kind = kind
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        kind="roc",
        parts=False,
        max_fpr=None,
        ood_prior=None,
        ood_label="auto",
        loss=None,
        labels=None,
        n_directions=181,
        sample_weight=None,
        name=None,
        ax=None,
        **plot_options,
    ):
        """Draw what a fitted classifier attains.

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

        kind, parts, max_fpr, ood_prior, n_directions : optional
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
            As in :func:`risk_coverage_frontier`.

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
        y_pred, uncertainty, novelty = predict_with_both_scores(estimator, X)
        losses = None
        ood_label, is_ood = ood_label_for(estimator, y, y_pred, ood_label)
        if kind == "risk_coverage":
            losses = judge_inside(estimator, y, y_pred, is_ood, loss, labels)
        return cls.from_predictions(
            y,
            None,
            uncertainty,
            novelty=novelty,
            kind=kind,
            parts=parts,
            max_fpr=max_fpr,
            ood_prior=ood_prior,
            ood_label=ood_label,
            loss=losses,
            n_directions=n_directions,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **plot_options,
        )

    @classmethod
    @of_arrays
    def from_predictions(
        cls,
        y_true,
        y_pred,
        uncertainty,
        *,
        novelty=None,
        kind="roc",
        parts=False,
        max_fpr=None,
        ood_prior=None,
        ood_label="auto",
        loss="zero_one",
        labels=None,
        n_directions=181,
        sample_weight=None,
        name=None,
        ax=None,
        **plot_options,
    ):
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
            Label of OOD samples in `y_true`, as in :func:`risk_coverage_frontier`.

        loss, labels, sample_weight : optional
            As in :func:`risk_coverage_frontier`.

        n_directions : int >= 2, default=181
            Number of directions for two scores.

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
        check_option(kind, "kind", tuple(_LABELS))
        if parts and novelty is None:
            raise ValueError(
                "parts=True draws risk and novelty alone beside their frontier, but "
                "there is one score only. Pass novelty=, or a classifier with "
                "risk_and_novelty."
            )
        if kind == "risk_coverage":
            scores, losses, is_ood = ood_samples(
                y_true, y_pred, uncertainty, novelty, ood_label, loss, labels
            )
            samples = {"losses": losses, "is_ood": is_ood, "max_fpr": max_fpr}
        else:
            scores, is_ood = scores_and_origins(y_true, uncertainty, novelty, ood_label)
            samples = {"is_ood": is_ood}
        if kind == "precision_recall":
            samples["ood_prior"] = ood_prior
        samples["sample_weight"] = sample_weight
        if novelty is None:
            points = [_curve(kind, scores, samples)]
        else:
            points = [
                _frontier(kind, scores, {**samples, "n_directions": n_directions})
            ]
        if parts:
            points += [_curve(kind, score, samples) for score in scores.T]
            if not isinstance(name, list):
                name = [name or "risk and novelty", "risk alone", "novelty alone"]
        x, y = map(list, zip(*points, strict=True))
        return cls(x, y, kind=kind, name=name).plot(ax, **plot_options)

    def plot(
        self, ax=None, *, name=None, bounds=None, curve_kwargs=None, bounds_kwargs=None
    ):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curve, or of each curve. None takes that of the display.

        bounds : tuple of two floats, default=None
            A point on the axes, such as (max_fpr, min_tpr), (min_recall, min_precision)
            or (min_tpr, largest risk). It is drawn as the corner of what is within both
            bounds: they can be met where a curve passes through it.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each.

        bounds_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the bounds.

        Returns
        -------
        display : OODFrontierDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves.
        """
        self.ax_ = find_axes(ax, "OODFrontierDisplay", "roc_frontier")
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        legend = label_curves(name, [None] * len(self.x))
        points = list(zip(self.x, self.y, strict=True))
        self.line_ = draw_curves(self.ax_, points, legend, curve_kwargs)
        self.bounds_ = None
        if bounds is not None:
            x, y = bounds
            # The sides of the axes that the corner is open to.
            far_x = 0.0 if self.kind == "roc" else 1.0
            far_y = 0.0 if self.kind == "risk_coverage" else 1.0
            style = {"label": "bounds", **_BOUNDS_STYLE, **(bounds_kwargs or {})}
            self.bounds_ = self.ax_.plot([far_x, x, x], [y, y, far_y], **style)[0]
        limit = {"bottom": 0} if self.kind == "risk_coverage" else {"top": 1.01}
        self.ax_.set_ylim(**limit, auto=True)
        xlabel, ylabel = _LABELS[self.kind]
        finish_axes(self.ax_, xlabel=xlabel, ylabel=ylabel, xlim=(-0.01, 1.01))
        return self


def _curve(kind, scores, samples):
    """Return the points of the curve of one score."""
    if kind == "roc":
        return curves.ood_roc_curve(scores, **samples)[:2]
    if kind == "risk_coverage":
        return curves.risk_coverage_curve(scores, **samples)[:2]
    precision, recall, _ = curves.ood_precision_recall_curve(scores, **samples)
    return recall, precision


def _frontier(kind, scores, samples):
    """Return the corners of the frontier of two scores."""
    if kind == "roc":
        fpr, tpr = curves.roc_frontier(scores, **samples)
        fpr, tpr = np.append(fpr, 1.0), np.append(tpr, tpr[-1:])
        return np.repeat(fpr, 2)[1:], np.repeat(tpr, 2)[:-1]
    if kind == "risk_coverage":
        max_fpr = 1.0 if samples["max_fpr"] is None else samples["max_fpr"]
        samples = {**samples, "max_fpr": max_fpr}
        x, y = curves.risk_coverage_frontier(scores, **samples)
    else:
        y, x = curves.precision_recall_frontier(scores, **samples)
    # The value of each point holds down to the one before, and of the first to zero.
    x, y = np.append(0.0 * x[:1], x), np.append(y[:1], y)
    return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
