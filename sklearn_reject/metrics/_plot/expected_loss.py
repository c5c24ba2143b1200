"""Display of the expected loss of a set against its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sklearn_reject._typing import (
    Axes,
    Estimator,
    Figure,
    Line2D,
    MatrixLike,
    Options,
    Other,
    SetLossLike,
)
from sklearn_reject.decoding import (
    best_size,
    check_indicators,
    check_probabilities,
    number_sets,
)
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._inside import has_method, locate
from sklearn_reject.metrics._plot._drawing import (
    draw_curves,
    find_axes,
    finish_axes,
    ink,
    is_wanted,
    label_curves,
)

_CHOSEN_STYLE = {"marker": "o", "linestyle": ""}
_REALISED_STYLE = {"linestyle": ":"}
_MEAN_STYLE = {"linewidth": 2.5}

# Colors of the cycle of matplotlib.
_CYCLE = 10

# More curves can neither be distinguished nor drawn in short time.
_MOST_CURVES = 100


class ExpectedLossDisplay:
    """Expected loss of the k most probable items against k, lower is better.

    Make it with :meth:`from_estimator` or :meth:`from_probabilities`; the parameters
    below are what they compute. Each set has a curve and a color of its own, and
    several have a mean curve.

    Parameters
    ----------
    expected_loss : list of ndarray of shape (n_items + 1,)
        Expected loss of the k most probable items of a set, k = 0, ..., n_items, one
        array a set.

    chosen : list of int, default=None
        Number of items that are predicted, one a set.

    realized : list of ndarray of shape (n_items + 1,), default=None
        Loss of the k most probable items given the labels, one array a set.

    name : str or list of str, default=None
        Name of the curves, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    chosen_ : matplotlib Line2D, list of them or None
        The point of each curve that is chosen.

    realised_ : matplotlib Line2D, list of them or None
        The realized losses.

    mean_, realised_mean_ : matplotlib Line2D or None
        The mean of the curves, and of the realized losses.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curves, and their figure.

    See Also
    --------
    sklearn_reject.decoding.expected_loss_curve : The numbers behind a curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_reject.metrics import ExpectedLossDisplay
    >>> display = ExpectedLossDisplay.from_probabilities(
    ...     [0.9, 0.6, 0.5, 0.2, 0.1], y=[1, 0, 1, 0, 0]
    ... )
    >>> display.chosen
    [3]
    >>> plt.show()
    """

    line_: Line2D | Other
    chosen_: Line2D | Other
    realised_: Line2D | Other
    mean_: Line2D | Other
    realised_mean_: Line2D | Other
    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        expected_loss: Sequence[ArrayLike],
        *,
        chosen: Sequence[int] | None = None,
        realized: Sequence[ArrayLike] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> None:
        self.expected_loss = expected_loss
        self.chosen = chosen
        self.realized = realized
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        *,
        y: MatrixLike | None = None,
        groups: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curves of the sets that a fitted classifier predicts.

        Parameters
        ----------
        estimator : estimator
            Fitted :class:`~sklearn_reject.ExpectedLossDecoder`, also inside a pipeline
            or a search. The size that it predicts is marked on each curve, whatever its
            strategy.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples. They are one set, or one for each of the `groups`, where there are
            two classes; else each has a curve of its own, or those of each label where
            the average is "macro".

        y : {array-like, sparse matrix} of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            True labels, for the realized loss.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes.

        name : str or list of str, default=None
            Name in the legend, or one a set. None takes the class name of the
            estimator.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ExpectedLossDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no ExpectedLossDecoder, or there are more than 100 sets.
        """
        name = type(estimator).__name__ if name is None else name
        decoder, X = locate(estimator, X, has_method("expected_loss_curves"))
        if decoder is None:
            raise ValueError(
                "estimator must be a fitted ExpectedLossDecoder, or a pipeline or a "
                f"search with one, got {type(estimator).__name__}. Use "
                "from_probabilities instead."
            )
        eta, chooser = decoder._probabilities(X, groups)
        truth = None if y is None else decoder._truth(y)
        display = cls._from_sets(eta, chooser, truth, groups, name)
        return display.plot(ax, **plot_options)

    @classmethod
    def from_probabilities(
        cls,
        eta: ArrayLike,
        *,
        y: MatrixLike | None = None,
        loss: SetLossLike = "f1",
        beta: float = 1.0,
        zero_division: float = 0.0,
        distribution: Literal["independent", "multinomial"] = "independent",
        groups: ArrayLike | None = None,
        min_positive: int = 0,
        max_positive: int | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of each set of items, and the size of the least loss.

        Parameters
        ----------
        eta : array-like of shape (n_items,) or (n_sets, n_items)
            Probability of each item to be positive, in any order. A vector is one set,
            or one for each of the `groups`; in a matrix each row is a set.

        y : {array-like, sparse matrix} of the shape of `eta`, default=None
            Whether each item is positive, as 0 and 1, for the realized loss.

        loss : str, array-like of shape (2, 4), callable or SetLoss, default="f1"
            Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

        beta : float > 0, default=1.0
            Weight of recall in the loss "f_beta", the only one that takes it.

        zero_division : float in [0, 1], default=0.0
            What a score is where it is 0/0.

        distribution : {"independent", "multinomial"}, default="independent"
            Whether items are positive independently of each other, or exactly one of
            them is.

        groups : array-like of shape (n_items,), default=None
            The set of each item of a vector.

        min_positive : int >= 0, default=0
            Least number of items that may be chosen.

        max_positive : int >= 0, default=None
            Largest number of items that may be chosen. None for no bound.

        name : str or list of str, default=None
            Name in the legend, or one a set.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ExpectedLossDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a probability is NaN or not in [0, 1], `y` has another shape or holds
            anything but 0 and 1, there are more than 100 sets, an option is invalid,
            or the loss needs bounds.
        """
        loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
        eta = check_probabilities(eta)
        options = {"distribution": distribution, "groups": groups}
        bounds = {"min_positive": min_positive, "max_positive": max_positive}
        chooser = best_size(eta, loss, **options, **bounds)
        display = cls._from_sets(eta, chooser, y, groups, name)
        return display.plot(ax, **plot_options)

    @classmethod
    def _from_sets(cls, eta, chooser, y, groups, name):
        numbers, sizes = number_sets(eta.shape, groups)
        if len(sizes) > _MOST_CURVES:
            raise ValueError(
                f"{len(sizes)} sets are too many to be drawn, a curve each. Pass at "
                f"most {_MOST_CURVES} of them."
            )
        eta = eta.toarray() if issparse(eta) else eta
        # The items of each set, the most probable first, ties as they come.
        order = np.lexsort((-eta.ravel(), numbers))
        rows = np.split(order, np.cumsum(sizes)[:-1])
        sets = [eta.ravel()[part][np.newaxis] for part in rows]
        realized = None
        if y is not None:
            positive = check_indicators(y, eta.shape).ravel()
            realized = [_realised_curve(positive[part], chooser.loss) for part in rows]
        return cls(
            [chooser.curves(of_set)[0] for of_set in sets],
            chosen=[
                int(chooser.of_sets([number]).choose(of_set)[0][0])
                for number, of_set in enumerate(sets)
            ],
            realized=realized,
            name=name,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        plot_chosen: bool | None = None,
        plot_realized: bool | None = None,
        plot_mean: bool | None = None,
        curve_kwargs: Options | Sequence[Options] | None = None,
        chosen_kwargs: Options | None = None,
        realised_kwargs: Options | None = None,
        mean_kwargs: Options | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curves, or of each curve. None takes that of the display.

        plot_chosen : bool, default=None
            Whether to mark the number of items that are predicted. None does it where
            it is known.

        plot_realized : bool, default=None
            Whether to draw the realized losses. None does it where they are known.

        plot_mean : bool, default=None
            Whether to draw the mean over the sets of the expected and, where they are
            drawn, of the realized losses: of the k most probable items of each set, or
            all of its items where it has fewer. None does it where there are several
            sets.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each.

        chosen_kwargs, realised_kwargs, mean_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the points, for the realized losses, and
            for the means.

        Returns
        -------
        display : ExpectedLossDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves, or something is
            wanted that the display does not have.
        """
        way_out = "use from_probabilities, with y= for the realized losses"
        plot_chosen = is_wanted(self, "chosen", plot_chosen, way_out)
        plot_realized = is_wanted(self, "realized", plot_realized, way_out)
        self.ax_ = find_axes(ax, "ExpectedLossDisplay", "expected_loss_curve")
        self.figure_ = self.ax_.figure
        if plot_mean is None:
            plot_mean = len(self.expected_loss) > 1
        name = self.name if name is None else name
        legend, mean_label = self._legend(name, plot_mean)
        if not isinstance(curve_kwargs, list):
            styles = _styles_of_sets(len(self.expected_loss))
            curve_kwargs = [{**style, **(curve_kwargs or {})} for style in styles]
        points = _against_size(self.expected_loss)
        self.line_ = draw_curves(self.ax_, points, legend, curve_kwargs)
        lines = np.atleast_1d(self.line_)
        self.chosen_ = self.realised_ = self.mean_ = self.realised_mean_ = None
        if plot_mean:
            style = {
                "color": ink(),
                **_MEAN_STYLE,
                "label": mean_label,
                **(mean_kwargs or {}),
            }
            self.mean_ = self._draw_mean(self.expected_loss, style)
        if plot_realized:
            self._draw_realized(lines, plot_mean, realised_kwargs, mean_kwargs)
        if plot_chosen:
            self._draw_chosen(lines, chosen_kwargs)
        drawn = self.expected_loss + (self.realized if plot_realized else [])
        if min(part.min() for part in drawn) >= 0:
            self.ax_.set_ylim(bottom=0, auto=True)
        ylabel = "Loss" if plot_realized else "Expected loss"
        finish_axes(self.ax_, xlabel="Number of predicted items k", ylabel=ylabel)
        return self

    def _draw_realized(self, lines, plot_mean, realised_kwargs, mean_kwargs):
        given = {**_REALISED_STYLE, **(realised_kwargs or {})}
        styles = [
            {"color": line.get_color(), "alpha": line.get_alpha(), **given}
            for line in lines
        ]
        unnamed = [None] * len(lines)
        legend = unnamed if plot_mean else ["realized loss", *unnamed[1:]]
        if plot_mean:
            # The mean has the entry in the legend.
            styles = [{**style, "label": None} for style in styles]
            label = {"label": given.get("label", "mean realized loss")}
            style = {"color": ink(), **_MEAN_STYLE, **(mean_kwargs or {})}
            style |= {**_REALISED_STYLE, **label}
            self.realised_mean_ = self._draw_mean(self.realized, style)
        points = _against_size(self.realized)
        self.realised_ = draw_curves(self.ax_, points, legend, styles)

    def _draw_mean(self, curves, style):
        mean = _mean_of_curves(curves)
        return self.ax_.plot(np.arange(len(mean)), mean, **style)[0]

    def _draw_chosen(self, lines, chosen_kwargs):
        pairs = zip(self.chosen, self._attained(), strict=True)
        points = [([k], [loss]) for k, loss in pairs]
        given = {**_CHOSEN_STYLE, **(chosen_kwargs or {})}
        styles = [{"color": line.get_color(), **given} for line in lines]
        self.chosen_ = draw_curves(self.ax_, points, [None] * len(lines), styles)

    def _legend(self, name, plot_mean):
        """Return the names of the curves, and that of their mean."""
        n_sets = len(self.expected_loss)
        each, mean = [None] * n_sets, None
        if self.chosen is not None:
            attained = self._attained()
            pairs = zip(self.chosen, attained, strict=True)
            each = [f"k = {k}, E[loss] = {loss:.4g}" for k, loss in pairs]
            mean = f"{n_sets} sets, mean E[loss] = {np.mean(attained):.4g}"
        labels = label_curves(name, each, mean)
        if not plot_mean:
            return labels, None
        if isinstance(name, list):
            return labels, f"mean of {n_sets} sets"
        return [None] * n_sets, labels[0] or f"mean of {n_sets} sets"

    def _attained(self):
        """Return the expected loss of each set that is chosen."""
        pairs = zip(self.expected_loss, self.chosen, strict=True)
        return [loss[k] for loss, k in pairs]


def _styles_of_sets(n_sets):
    """Return a color for each set, one by one or, of many, along a scale."""
    if n_sets == 1:
        return [{}]
    if n_sets <= _CYCLE:
        return [{"color": f"C{number}", "alpha": 0.6} for number in range(n_sets)]
    from matplotlib import colormaps

    # Both ends of the scale are hard to see, on black or on white.
    colors = colormaps["viridis"](np.linspace(0.2, 0.8, n_sets))
    return [{"color": tuple(color), "alpha": 0.4} for color in colors]


def _mean_of_curves(curves):
    """Return the mean for each k, of all items of a set where these are fewer."""
    k = np.arange(max(map(len, curves)))
    return np.mean([curve[np.minimum(k, len(curve) - 1)] for curve in curves], axis=0)


def _against_size(losses):
    """Return the points of curves of the sizes 0, 1, ..."""
    return [(np.arange(len(of_set)), of_set) for of_set in losses]


def _realised_curve(positive, loss):
    k = np.arange(len(positive) + 1)
    tp = np.append(0, np.cumsum(positive))
    fn = tp[-1] - tp
    return loss(tp, k - tp, fn, len(positive) - k - fn)
