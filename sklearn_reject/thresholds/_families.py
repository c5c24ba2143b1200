"""Families of smooth paths, told by where on them each document enters."""

import numpy as np

from sklearn_reject._validation import check_option

# Exponents beyond e^40 differ from one classifier alone by rounding only.
_LARGEST_LOG = 40.0

# Where one classifier overrules another whatever the scores: starts of the search, so
# that it hardly ends below a single classifier.
_ONE_ALONE = 40.0

# Dense near both ends, where the rare documents are that all classifiers agree on.
_KNOTS = (1 - np.cos(np.linspace(0, np.pi, 4097))) / 2


class PowerFamily:
    """The family of RZMR20, eq. 2: (x, x^p_2, .., x^p_N) for x in [0, 1].

    The parameters are the logarithms of the exponents.
    """

    def starts(self, n_classifiers):
        """Return parameters to start from, shape (n_starts, n_parameters)."""
        options = [0.0, -1, 1, -3, 3, -_ONE_ALONE, _ONE_ALONE]
        return _same_or_one(n_classifiers, np.array(options)[:, np.newaxis])

    def enter(self, u, parameters):
        """Return where documents enter the path, on a scale that rises with x.

        Parameters
        ----------
        u : ndarray of shape (n, n_classifiers)
            Normalised scores in ]0, 1[.

        parameters : ndarray of shape (n_parameters,)
            Logarithms of the exponents.

        Returns
        -------
        positions : ndarray of shape (n, n_classifiers)
            Logarithm of the x at which each normalised score equals its threshold.
        """
        return np.log(u) / _exponentials(parameters)


class LogOddsFamily:
    """The log-odds of each threshold are an increasing affine function of the first's.

    Two parameters a classifier from the second on: offsets, then logarithms of slopes.
    It holds the paths that move one classifier only as limits, whichever it is, and
    the inverse of each of its maps.
    """

    def starts(self, n_classifiers):
        """Return parameters to start from, shape (n_starts, n_parameters)."""
        offsets, slopes = np.meshgrid([0, -1.5, 1.5], [0, -1.5, 1.5])
        pairs = np.column_stack([offsets.ravel(), slopes.ravel()])
        return _same_or_one(
            n_classifiers, np.vstack([pairs, [[-_ONE_ALONE, 0], [_ONE_ALONE, 0]]])
        )

    def enter(self, u, parameters):
        """Return where documents enter the path, as log-odds of x.

        Parameters
        ----------
        u : ndarray of shape (n, n_classifiers)
            Normalised scores in ]0, 1[.

        parameters : ndarray of shape (n_parameters,)
            Offsets, and logarithms of slopes.

        Returns
        -------
        positions : ndarray of shape (n, n_classifiers)
            Log-odds of the x at which each normalised score equals its threshold.
        """
        offsets, slopes = np.split(parameters, 2)
        return np.log(u / (1 - u)) * _exponentials(slopes) + np.append(0.0, offsets)


class _InvertedFamily:
    """A family of the user's, which gives thresholds and not where one enters."""

    def __init__(self, family):
        self.family = family

    def starts(self, n_classifiers):
        starts = np.asarray(self.family.starts(n_classifiers), dtype=np.float64)
        if starts.ndim != 2 or 0 in starts.shape or not np.isfinite(starts).all():
            raise ValueError(
                "family.starts(n_classifiers) must return a finite matrix, one row of "
                f"parameters a start, got an array of shape {starts.shape}."
            )
        return starts

    def enter(self, u, parameters):
        thresholds = self._thresholds(u.shape[1], parameters)
        columns = zip(u.T, thresholds.T, strict=True)
        return np.column_stack([np.interp(v, t, _KNOTS) for v, t in columns])

    def _thresholds(self, n_classifiers, parameters):
        thresholds = np.asarray(self.family.thresholds(_KNOTS, parameters), np.float64)
        expected = (len(_KNOTS), n_classifiers)
        if thresholds.shape != expected or not (np.diff(thresholds, axis=0) >= 0).all():
            raise ValueError(
                "family.thresholds(x, parameters) must return normalised thresholds "
                f"that do not fall along x, of shape {expected} here, got shape "
                f"{thresholds.shape} for parameters {np.asarray(parameters).tolist()}."
            )
        return thresholds


def _same_or_one(n_classifiers, options):
    """Return starts with the same option for all classifiers, or for one only."""
    n_others = n_classifiers - 1
    same = np.repeat(options, n_others, axis=1)
    if n_others == 1:
        return same
    alone = options[1:, :, np.newaxis] * np.eye(n_others)[:, np.newaxis, np.newaxis]
    return np.vstack([same, alone.reshape(-1, same.shape[1])])


def _exponentials(parameters):
    """Return a factor for each classifier, one for the first."""
    clipped = np.clip(parameters, -_LARGEST_LOG, _LARGEST_LOG)
    return np.exp(np.append(0.0, clipped))


FAMILIES = {"log_odds": LogOddsFamily(), "power": PowerFamily()}


def check_family(family):
    """Return the family that a parameter names.

    Parameters
    ----------
    family : {"log_odds", "power"} or object
        An object needs two methods: ``starts(n_classifiers)`` returns a matrix of
        parameters, one row for each start of the search, and ``thresholds(x,
        parameters)`` the normalised thresholds of shape (len(x), n_classifiers) for a
        rising vector x from 0 to 1. They must not fall along x.

    Returns
    -------
    family : object
        With the methods ``starts`` and ``enter``.

    Raises
    ------
    ValueError
        If the name is unknown, or the object lacks a method.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.thresholds._families import check_family
    >>> class Straight:
    ...     def starts(self, n_classifiers):
    ...         return np.ones((1, n_classifiers))
    ...     def thresholds(self, x, parameters):
    ...         return np.minimum(np.outer(x, np.exp(parameters)), 1.0)
    >>> family = check_family(Straight())
    >>> family.enter(np.array([[0.5, 0.5]]), np.log([1.0, 2.0])).round(3)
    array([[0.5 , 0.25]])
    """
    if _has_methods(family):
        return _InvertedFamily(family)
    if not isinstance(family, str):
        raise ValueError(
            f"family must be one of {list(FAMILIES)}, or an object with the methods "
            f"starts(n_classifiers) and thresholds(x, parameters), got {family!r}."
        )
    return FAMILIES[check_option(family, "family", tuple(FAMILIES))]


def _has_methods(family):
    methods = (getattr(family, name, None) for name in ("starts", "thresholds"))
    return not isinstance(family, type) and all(map(callable, methods))
