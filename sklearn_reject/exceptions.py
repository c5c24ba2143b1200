"""Errors that callers may want to catch, and warnings to filter."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

__all__ = ["ExpertError", "InfeasibleTargetError", "RejectionWarning"]


class InfeasibleTargetError(ValueError):
    """No rule meets the target on the calibration set.

    What can be met instead is in `attainable`, by the name of the parameter that asked
    for it: ``estimator.set_params(**error.attainable)`` asks for that.

    Parameters
    ----------
    problem : str
        What was asked, and what can be met.

    way_out : str, default=""
        What to do about it.

    attainable : dict of str to float or dict, default=None
        By parameter, the value that can be met in its place. Empty where no value can.
        None becomes an empty dict.

        - Of :class:`SelectiveClassifier` and :class:`SelectiveRegressor`, the lowest
          "target_risk" or "target_failure_rate"; or, of "min_precision" and
          "min_recall", dictionaries of class to bound, which one threshold meets
          together. With `group_by`, a dictionary of group to value.
        - Of :class:`DeferringClassifier`, the lowest "target_risk".
        - Of :class:`DoubleScoreOODClassifier`, what can be met of each bound while the
          other one stays as it is: "min_tpr", and "max_fpr", "max_risk" or
          "min_precision". A bound that nothing meets beside the other is left out.
        - Of :class:`EnsembleThresholdTuner`, the bound that was asked for.

        Functions on arrays call a value as the estimators do. Those for several bounds
        return them as they get them, by name and label.

        With a confidence, the values are what these samples can certify. Who asks for
        one of them has chosen the target by the samples that certify it, so that the
        confidence counts for the next samples only.

    coverage : float, default=nan
        Share of the samples that is accepted where what is attainable is met, NaN where
        it is not known.

    Examples
    --------
    >>> from sklearn_reject import InfeasibleTargetError
    >>> from sklearn_reject.selection import solve_target_risk
    >>> try:
    ...     solve_target_risk([0.1, 0.2], [1, 0], 0.3)
    ... except InfeasibleTargetError as error:
    ...     print(error.attainable, error.coverage)
    {'target_risk': 0.5} 1.0

    >>> from sklearn_reject.selection import tune_single_score
    >>> scores, losses, is_ood = [0.1, 0.2, 0.3, 0.4], [0, 0, 0, 0], [0, 1, 0, 0]
    >>> try:
    ...     tune_single_score(scores, losses, is_ood, min_tpr=1, max_fpr=0.5)
    ... except InfeasibleTargetError as error:
    ...     print({name: round(x, 3) for name, x in error.attainable.items()})
    {'min_tpr': 0.333, 'max_fpr': 1.0}
    """

    def __init__(
        self,
        problem: str,
        way_out: str = "",
        attainable: Mapping[str, Any] | None = None,
        coverage: float = float("nan"),
    ) -> None:
        attainable = {} if attainable is None else dict(attainable)
        # All arguments go into `args`, so that the error survives pickling.
        super().__init__(problem, way_out, attainable, coverage)
        self.problem = problem
        self.way_out = way_out
        self.attainable = attainable
        self.coverage = coverage

    def __str__(self) -> str:
        """Return the problem and the way out."""
        return f"{self.problem}. {self.way_out}".rstrip()


class ExpertError(RuntimeError):
    """The second opinion failed on the samples that it was asked about.

    What it was to answer can be asked again, and nothing else is lost. `__cause__` is
    the error that it raised, or one that says what is wrong with its answer.

    Parameters
    ----------
    message : str
        Which samples, and what the expert raised.

    rows : ndarray of shape (n_asked,)
        Positions of the samples, in what the method was given, that the expert was
        asked about.

    labels : ndarray of shape (n_samples,), default=None
        What `predict` would have returned, with the deferred samples marked as they are
        without an expert. None where it was not `predict` or `predict_all` that failed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.exceptions import ExpertError
    >>> error = ExpertError("timeout", np.array([3, 5]), np.array([0, 1, 1, -1, 0, -1]))
    >>> error.rows, error.labels
    (array([3, 5]), array([ 0,  1,  1, -1,  0, -1]))
    """

    def __init__(
        self, message: str, rows: np.ndarray, labels: np.ndarray | None = None
    ) -> None:
        # All arguments go into `args`, so that the error survives pickling.
        super().__init__(message, rows, labels)
        self.rows = rows
        self.labels = labels

    def __str__(self) -> str:
        """Return the message."""
        return self.args[0]


class RejectionWarning(UserWarning):
    """Warning about a request that probably does not do what was meant.

    The message says what happens instead, and the way out.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import SelectiveClassifier
    >>> from sklearn_reject.exceptions import RejectionWarning
    >>> everything = SelectiveClassifier(GaussianNB(), target_risk=2)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", RejectionWarning)
    ...     try:
    ...         everything.fit(*load_iris(return_X_y=True))
    ...     except RejectionWarning as warning:
    ...         print(str(warning)[:50])
    target_risk=2 is not below the largest loss, 1: no
    """


# Filters of warnings would be shared with other threads.
_IS_REPEATED = ContextVar("_IS_REPEATED", default=False)


@contextmanager
def repeated_fit():
    """Mark a fit to a part of the samples, which comes before one that is kept."""
    token = _IS_REPEATED.set(True)
    try:
        yield
    finally:
        _IS_REPEATED.reset(token)


# Messages by their topic, where they are to be said together.
_GATHERED = ContextVar("_GATHERED", default=None)


@contextmanager
def gather_warnings():
    """Keep the messages of warnings, which many parts may give alike, such as groups.

    Yields a dict from a topic to all of its messages.
    """
    gathered = {}
    token = _GATHERED.set(gathered)
    try:
        yield gathered
    finally:
        _GATHERED.reset(token)


def warn_user(message, category=RejectionWarning, *, once=False, topic=None):
    """Warn, naming the line that called the package.

    What is said `once` is left to the fit that is kept, see :func:`repeated_fit`. What
    differs in numbers between groups has a `topic`, so that it is said of all at once.
    """
    if once and _IS_REPEATED.get():
        return
    gathered = _GATHERED.get()
    if gathered is not None:
        gathered.setdefault(topic or message, []).append(message)
        return
    ours = "sklearn_reject.", "sklearn.callback."
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def round_down(value):
    """Return six digits of a rate such that asking for them asks for no more."""
    return _round(value, ROUND_FLOOR)


def round_up(value):
    """Return six digits of a rate such that allowing them allows no less."""
    return _round(value, ROUND_CEILING)


def _round(value, rounding):
    return (
        f"{Decimal(repr(float(value))).normalize(Context(prec=6, rounding=rounding)):f}"
    )
