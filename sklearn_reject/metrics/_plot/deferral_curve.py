"""Display of deferral curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Axes, Estimator, MatrixLike, Options, TaskLossLike
from sklearn_reject._validation import of_arrays
from sklearn_reject.metrics._arrays import scores_and_opinions
from sklearn_reject.metrics._inside import locate
from sklearn_reject.metrics._plot._base import CurveDisplay
from sklearn_reject.metrics._scorers import judge_opinions


@dataclass(eq=False, repr=False)
class DeferralCurveDisplay(CurveDisplay):
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

    random : tuple of ndarray, default=None
        Deferral rate and system risk of a random score, on a line between the mean
        losses of both opinions.

    point : list of tuple of float, default=None
        Operating points: deferral rate and system risk of the rule in use, one tuple a
        curve.

    target : dict of str to float, default=None
        What was asked of the rule: `max_deferral` or `target_risk`, and the
        `confidence_level` where it is certified.

    name : str, default=None
        Name of the curve, or of all.

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

    deferral_rate: Sequence[ArrayLike]
    system_risk: Sequence[ArrayLike]

    _axes = "deferral_rate", "system_risk"
    _labels = "Deferral rate (share deferred)", "System risk"
    _bounds = ("max_deferral",), ("target_risk",)
    _rule = "deferred {}, risk {}"

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
        arrays, options = (X, y, sample_weight), {"loss": loss, "labels": labels}
        judged = cls._judge(estimator, *arrays, expert_labels, **options)
        display = cls._of_rules([estimator], [judged], name or type(estimator).__name__)
        return display.plot(ax, **plot_options)

    @classmethod
    @of_arrays
    def from_predictions(
        cls,
        y_true: ArrayLike | None,
        y_first: ArrayLike | None,
        y_second: ArrayLike | None,
        gain: ArrayLike,
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

        gain : array-like of shape (n_samples,)
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
        sample = scores_and_opinions(y_true, y_first, y_second, gain, loss, labels)
        samples = curves.check_deferral_samples(*sample, sample_weight).used
        return cls._of_samples([samples], name).plot(ax, **plot_options)

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
        name: str | None = None,
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

        name : str, default=None
            Name of all folds together.

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
        arrays, options = (X, y, sample_weight), {"loss": loss, "labels": labels}
        display = cls._of_folds(cv_results, name, *arrays, expert_labels, **options)
        return display.plot(ax, **plot_options)

    @staticmethod
    def _judge(estimator, X, y, sample_weight, expert_labels, *, loss, labels):
        """Return the sample of an estimator, and the point of its rule."""
        sample = judge_opinions(estimator, X, y, expert_labels, loss, labels)
        sample = curves.check_deferral_samples(*sample, sample_weight)
        inner, inner_X = locate(estimator, X, "_opinions")
        deferred = np.asarray(inner.defer_proba(inner_X), dtype=np.float64)
        deferred, sample = deferred[sample.is_used], sample.used
        losses = deferred * sample.loss_second + (1 - deferred) * sample.loss_first
        point = (np.average(each, weights=sample.weight) for each in (deferred, losses))
        return sample, tuple(map(float, point))

    @staticmethod
    def _curve(scores, first, second, weight, _):
        options = {"sample_weight": weight}
        x, y, _ = curves.deferral_curve(scores, first, second, **options)
        return x, y, curves.deferral_area_score(scores, first, second, **options)

    @staticmethod
    def _references(_, first, second, weight, __):
        gain, options = first - second, {"sample_weight": weight}
        oracle = curves.deferral_curve(gain, first, second, **options)[:2]
        means = [float(np.average(loss, weights=weight)) for loss in (first, second)]
        return oracle, ([0, 1], means)
