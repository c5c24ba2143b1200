"""Display of risk-coverage curves."""

import numpy as np

from sklearn_reject import curves
from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._validation import check_sample_weight
from sklearn_reject.curves._groups import make_finite
from sklearn_reject.metrics._inside import predict_with_uncertainty
from sklearn_reject.metrics._plot._drawing import (
    check_names,
    curve_styles,
    draw_curves,
    find_axes,
)
from sklearn_reject.metrics._risk_coverage import scores_and_losses

_RANDOM_STYLE = {"linestyle": "--", "color": "0.6"}
_ORACLE_STYLE = {"linestyle": ":", "color": "0.2"}
_STYLE_OF_SEVERAL = {"alpha": 0.6, "color": "C0"}


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

    name : str or list of str, default=None
        Name of the curve, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    oracle_, random_ : matplotlib Line2D or None
        The two references.

    ax_ : matplotlib Axes
        Axes with the curves.

    figure_ : matplotlib Figure
        Figure with the axes.

    See Also
    --------
    sklearn_reject.metrics.risk_coverage_curve : The numbers behind a curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import RiskCoverageDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = GaussianNB().fit(X[::2], y[::2])
    >>> display = RiskCoverageDisplay.from_estimator(clf, X[1::2], y[1::2])
    >>> plt.show()
    """

    def __init__(
        self, coverage, risk, *, aurc=None, oracle=None, random=None, name=None
    ):
        self.coverage = coverage
        self.risk = risk
        self.aurc = aurc
        self.oracle = oracle
        self.random = random
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        loss="zero_one",
        labels=None,
        sample_weight=None,
        name=None,
        ax=None,
        **plot_options,
    ):
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            Fitted classifier. One with `uncertainty`, such as
            :class:`~sklearn_reject.SelectiveClassifier`, is drawn by it, also inside a
            pipeline or a search; any other by its plug-in score.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        loss, labels, sample_weight : optional
            As in :func:`aurc_score`.

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
        """
        y_pred, uncertainty = predict_with_uncertainty(estimator, X)
        return cls.from_predictions(
            y,
            y_pred,
            make_finite(uncertainty),
            loss=loss,
            labels=labels,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **plot_options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_pred,
        uncertainty,
        *,
        loss="zero_one",
        labels=None,
        sample_weight=None,
        name=None,
        ax=None,
        **plot_options,
    ):
        """Draw the curve of predictions and their uncertainty.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted labels.

        uncertainty : array-like of shape (n_samples,)
            Uncertainty of each prediction, higher = more uncertain.

        loss, labels, sample_weight : optional
            As in :func:`aurc_score`.

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
        samples = [(scores, losses, weight)]
        return cls._from_samples(samples, name).plot(ax, **plot_options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results,
        X,
        y,
        *,
        loss="zero_one",
        labels=None,
        sample_weight=None,
        name=None,
        ax=None,
        **plot_options,
    ):
        """Draw the curve of each fold of a cross-validation.

        Parameters
        ----------
        cv_results : dict
            What :func:`sklearn.model_selection.cross_validate` returns with
            ``return_estimator=True, return_indices=True``.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The samples given to it.

        y : array-like of shape (n_samples,)
            Their true labels.

        loss, labels, sample_weight : optional
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
            If `cv_results` has no estimators or indices.
        """
        if not {"estimator", "indices"} <= cv_results.keys():
            raise ValueError(
                "cv_results has no 'estimator' or no 'indices'. Call cross_validate "
                "with return_estimator=True and return_indices=True."
            )
        weight = check_sample_weight(sample_weight, len(y))
        if labels is None:
            labels = np.unique(y)  # a fold may lack a class
        samples = [
            _fold(estimator, X, y, rows, loss, labels, weight)
            for estimator, rows in zip(
                cv_results["estimator"], cv_results["indices"]["test"], strict=True
            )
        ]
        return cls._from_samples(samples, name).plot(ax, **plot_options)

    @classmethod
    def _from_samples(cls, samples, name):
        points = [
            curves.risk_coverage_curve(scores, losses, sample_weight=weight)
            for scores, losses, weight in samples
        ]
        areas = [
            curves.aurc_score(scores, losses, sample_weight=weight)
            for scores, losses, weight in samples
        ]
        oracle, random = _references(samples)
        return cls(
            [coverage for coverage, _, _ in points],
            [risk for _, risk, _ in points],
            aurc=areas,
            oracle=oracle,
            random=random,
            name=name,
        )

    def plot(
        self,
        ax=None,
        *,
        name=None,
        plot_oracle=False,
        plot_random=False,
        curve_kwargs=None,
        oracle_kwargs=None,
        random_kwargs=None,
    ):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curve, or of each curve. None takes that of the display.

        plot_oracle : bool, default=False
            Whether to draw the curve of the score that orders the samples by loss.

        plot_random : bool, default=False
            Whether to draw the mean loss, the risk of a random score.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each.

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
            is wanted that the display does not have.
        """
        self._check_references(plot_oracle, plot_random)
        self.ax_ = find_axes(ax, "RiskCoverageDisplay", "risk_coverage_curve")
        self.figure_ = self.ax_.figure
        shared = _STYLE_OF_SEVERAL if len(self.coverage) > 1 else {}
        styles = curve_styles(curve_kwargs, len(self.coverage), shared)
        legend = self._legend(self.name if name is None else name)
        points = zip(self.coverage, self.risk, strict=True)
        self.line_ = draw_curves(self.ax_, points, legend, styles)
        self.oracle_ = self.random_ = None
        if plot_oracle:
            self.oracle_ = self._reference(
                *self.oracle, "oracle", _ORACLE_STYLE, oracle_kwargs
            )
        if plot_random:
            self.random_ = self._reference(
                [0, 1], [self.random] * 2, "random", _RANDOM_STYLE, random_kwargs
            )
        self.ax_.set(xlabel="Coverage", ylabel="Selective risk", xlim=(0, 1.01))
        self.ax_.set_ylim(bottom=0, auto=True)
        if self.ax_.get_legend_handles_labels()[1]:
            self.ax_.legend(loc="best")
        return self

    def _check_references(self, plot_oracle, plot_random):
        for name, wanted in (("oracle", plot_oracle), ("random", plot_random)):
            if wanted and getattr(self, name) is None:
                raise ValueError(
                    f"plot_{name}=True, but the display has no `{name}`. Pass {name}= "
                    "to the constructor, or make it with from_predictions."
                )

    def _reference(self, coverage, risk, label, default, user):
        style = {"label": label, **default, **(user or {})}
        return self.ax_.plot(coverage, risk, **style)[0]

    def _legend(self, name):
        """Return the label of each curve; None leaves it out of the legend."""
        n_curves = len(self.coverage)
        if isinstance(name, list):
            areas = self.aurc or [None] * n_curves
            pairs = zip(check_names(name, n_curves), areas, strict=True)
            return [_label(*pair) for pair in pairs]
        if not self.aurc:
            return [name] + [None] * (n_curves - 1)
        spread = np.std(self.aurc) if n_curves > 1 else None
        return [_label(name, np.mean(self.aurc), spread)] + [None] * (n_curves - 1)


def _label(name, area, spread=None):
    if area is None:
        return name
    value = f"AuRC = {area:.4g}"
    if spread is not None:
        value += f" ± {spread:.2g}"
    return value if name is None else f"{name} ({value})"


def _fold(estimator, X, y, rows, loss, labels, weight):
    y_pred, uncertainty = predict_with_uncertainty(estimator, _safe_indexing(X, rows))
    weight = None if weight is None else weight[rows]
    y_true = _safe_indexing(y, rows)
    uncertainty = make_finite(uncertainty)
    return (*scores_and_losses(y_true, y_pred, uncertainty, loss, labels), weight)


def _references(samples):
    """Return the oracle's curve and the mean loss of all samples together."""
    losses = np.concatenate([losses for _, losses, _ in samples])
    weight = None
    if samples[0][2] is not None:
        weight = np.concatenate([weight for _, _, weight in samples])
    # A running index unties the samples: the oracle may cut between equal losses.
    rank = np.empty(len(losses))
    rank[np.argsort(losses, kind="stable")] = np.arange(len(losses))
    oracle = curves.risk_coverage_curve(rank, losses, sample_weight=weight)[:2]
    return oracle, float(np.average(losses, weights=weight))
