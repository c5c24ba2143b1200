"""How far counts and precision at given thresholds vary from sample to sample."""

import numpy as np
from scipy.stats import beta, binom
from sklearn.utils import check_random_state

from sklearn_reject.thresholds._rule import predict_positive

_N_DRAWS = 2000

# Documents that are drawn at a time.
_LARGEST_CHUNK = 1 << 20

_NAN = float("nan")


def count_intervals(parts, thresholds, *, confidence_level=0.95, random_state=None):
    """Return intervals of the counts and of the precision at given thresholds.

    The bootstrap draws as many documents as were given, with replacement. Where all
    weigh the same, the number of true positives among them is binomial, and so is that
    of false positives: their quantiles are exact and need no drawing. Otherwise weights
    are drawn. The precision has the bounds of Clopper and Pearson from the documents
    predicted positive, all of which are rated; where weights differ, from as many as
    would tell as much without weights, which makes them approximate.

    Parameters
    ----------
    parts : list of RatedDocuments
        Documents, all of them in one list or, where folds have thresholds of their own,
        in several.

    thresholds : list of ndarray of shape (n_classifiers,)
        The thresholds of each part.

    confidence_level : float in ]0, 1[, default=0.95
        Coverage of each interval.

    random_state : int, RandomState instance or None, default=None
        Source of the draws. Only used where documents have weights.

    Returns
    -------
    fp_interval, tp_interval : tuple of float
        Quantiles of the bootstrap distribution of the sums over all parts, in units of
        documents or weights.

    precision_interval : tuple of float
        Bounds of the share of true positives, NaN if nothing is predicted positive.

    Examples
    --------
    >>> from sklearn_reject.thresholds._documents import check_documents
    >>> from sklearn_reject.thresholds._interval import count_intervals
    >>> documents = check_documents([[k] for k in range(100)], [0, 0, 1, 1] * 25)
    >>> fp, tp, precision = count_intervals([documents], [[50]])
    >>> fp, tp
    ((16.0, 33.0), (18.0, 35.0))
    >>> round(precision[0], 3), round(precision[1], 3)
    (0.374, 0.663)
    """
    predicted = [_predicted(*pair) for pair in zip(parts, thresholds, strict=True)]
    is_positive, weight = map(np.concatenate, zip(*predicted, strict=True))
    n_given = sum(part.n_given for part in parts)
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    precision = _clopper_pearson(*_effective_counts(is_positive, weight), tails)
    if len(np.unique(weight)) <= 1:
        counts = _quantiles_of_counts(is_positive, weight, n_given, tails)
    else:
        random_state = check_random_state(random_state)
        draws = _draw(is_positive, weight, n_given, random_state)
        counts = [_as_tuple(np.quantile(values, tails)) for values in draws]
    return (*counts, precision)


def _predicted(documents, thresholds):
    """Return labels and weights of the documents that are predicted positive."""
    chosen = predict_positive(documents.scores, np.asarray(thresholds), documents.rule)
    labels = documents.is_positive[chosen]
    weight = documents.weight
    return labels, np.ones(len(labels)) if weight is None else weight[chosen]


def _quantiles_of_counts(is_positive, weight, n_given, tails):
    """Return quantiles of false and true positives that all weigh the same."""
    share = np.array([np.sum(~is_positive), np.sum(is_positive)]) / n_given
    unit = weight[0] if len(weight) else 1.0
    return [_as_tuple(unit * binom.ppf(tails, n_given, p)) for p in share]


def _effective_counts(is_positive, weight):
    """Return false and true positives, as many as would tell as much unweighted.

    Weights that differ tell less than their number: as much as the square of their sum
    over the sum of their squares (L. Kish, 1965).
    """
    if not len(weight):
        return 0, 0
    n_effective = weight.sum() ** 2 / np.sum(weight**2)
    share = weight[is_positive].sum() / weight.sum()
    return n_effective * (1 - share), n_effective * share


def _clopper_pearson(fp, tp, tails):
    if fp + tp == 0:
        return _NAN, _NAN
    low = beta.ppf(tails[0], tp, fp + 1) if tp else 0.0
    high = beta.ppf(tails[1], tp + 1, fp) if fp else 1.0
    return float(low), float(high)


def _draw(is_positive, weight, n_given, random_state):
    """Return false and true positives of samples drawn with replacement.

    Only how often documents predicted positive are drawn matters: a binomial number of
    draws falls on them, each on any of them.
    """
    n_predicted = len(weight)
    if n_predicted == 0:
        return np.zeros(_N_DRAWS), np.zeros(_N_DRAWS)
    sizes = random_state.binomial(n_given, n_predicted / n_given, _N_DRAWS)
    n_chunks = 1 + int(sizes.sum()) // _LARGEST_CHUNK
    chunks = np.array_split(sizes, min(n_chunks, _N_DRAWS))
    columns = np.where(is_positive, 0, weight), np.where(is_positive, weight, 0)
    sums = [_draw_chunk(chunk, columns, random_state) for chunk in chunks]
    return map(np.concatenate, zip(*sums, strict=True))


def _draw_chunk(sizes, columns, random_state):
    drawn = random_state.randint(len(columns[0]), size=sizes.sum())
    sample = np.repeat(np.arange(len(sizes)), sizes)
    return [np.bincount(sample, w[drawn], minlength=len(sizes)) for w in columns]


def _as_tuple(pair):
    return tuple(float(value) for value in pair)
