"""Scores, ratings and weights of documents, validated."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.sparse import issparse

from sklearn_reject._labels import split_ratings
from sklearn_reject._validation import (
    as_real_array,
    check_option,
    check_part_weight,
    check_same_length,
    check_sample_weight,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds._documents import RULES, RatedDocuments, predict_positive

# As for sample_weight: sums of weights, and products of two sums, stay finite.
_LARGEST_WEIGHT = 1e100


def check_documents(
    scores,
    y,
    rule="any",
    unrated_label=-1,
    sample_weight=None,
    pos_label=None,
    inclusion_proba=None,
    *,
    names=None,
    grid=None,
):
    """Validate scores and ratings, and find down to where the ratings are known.

    Parameters are those of `operating_point`. `names` are numbers of the rows for
    errors. With a grid, its first thresholds are the lowest, and the documents may be a
    part, which lacks a class or has no rows.
    """
    check_option(rule, "rule", RULES)
    is_part = grid is not None
    if is_part and np.shape(scores) in ((0,), (0, len(grid))):
        scores, inclusion_proba = np.zeros((0, len(grid))), None
    else:
        scores = check_scores(scores, len(grid) if is_part else None)
    check_same_length(len(scores), y=y)
    labels = {"unrated_label": unrated_label, "pos_label": pos_label}
    ratings, classes = split_ratings(y, is_part=is_part, **labels)
    positive = classes.tolist()[1]
    check_weight = check_part_weight if is_part else check_sample_weight
    weight = check_weight(sample_weight, len(scores))
    weight, is_sampled = _weigh_sampled(ratings, weight, inclusion_proba)
    # A rating of weight zero counts as absent. But a document that nobody has rated
    # says that ratings are incomplete, whatever its weight.
    is_rated = ratings >= 0 if weight is None else (ratings >= 0) & (weight > 0)
    is_unknown = ratings < 0 if is_sampled is None else (ratings < 0) & ~is_sampled
    is_complete = not is_unknown.any()
    if is_part:
        base = floor = np.array([values[0] for values in grid])
        _check_rated_from(base, scores, is_unknown, rule)
    else:
        check_weighted_classes(ratings, weight)
        _check_columns_vary(scores[is_rated])
        names = np.arange(len(scores)) if names is None else names
        base = _find_base(scores[is_rated], scores[is_unknown], names[is_unknown], rule)
        # Where nothing is unknown, thresholds may be placed below all scores.
        floor = np.full_like(base, -np.inf) if is_complete else base
    documents = RatedDocuments(
        scores, ratings, base, floor, rule, is_complete, weight, is_sampled, positive
    )
    if not is_part:
        way_out = (
            ", below which ratings are incomplete. Rate more documents. If a sample of "
            "those below was rated, pass its probability as inclusion_proba."
        )
        sizes = np.bincount(documents.is_positive, minlength=2)
        refuse_one_class(*sizes, "y", base, way_out)
    return documents


# Scores


def check_scores(scores, n_classifiers=None):
    """Return scores as a float64 matrix, one column a classifier, NaN where none ran.

    They are finite or NaN.
    """
    if issparse(scores):
        raise ValueError("scores must be dense, got a sparse matrix. Use `.toarray()`.")
    array = as_real_array(fill_missing(scores), "scores")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            "scores must be a matrix of shape (n_documents, n_classifiers) with at "
            f"least one of each, got an array of shape {np.shape(scores)}."
        )
    array = array.astype(np.float64)
    bad = np.isinf(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"scores must be finite, got {array[row, column]} in row {row}, column "
            f"{column} ({bad.sum()} such values). Use NaN for documents that a "
            "classifier has not seen, and a large finite score where it is certain."
        )
    if n_classifiers not in (None, array.shape[1]):
        raise ValueError(
            f"scores must have one column for each of the {n_classifiers} classifiers, "
            f"got {array.shape[1]}."
        )
    return array


def fill_missing(scores):
    """Return scores with NaN in place of what is masked, or NA in columns of pandas."""
    if np.ma.is_masked(scores):
        return scores.astype(np.float64).filled(np.nan)
    if hasattr(scores, "notna") and np.asarray(scores).dtype == object:
        return scores.astype(object).where(scores.notna(), np.nan)
    return scores


def _check_columns_vary(rated):
    """Raise where a classifier tells no rated documents apart."""
    for column, values in enumerate(rated.T):
        ran = values[~np.isnan(values)]
        if not len(ran):
            raise ValueError(
                f"scores in column {column} are NaN for every rated document, so "
                "nothing is known about this classifier. Remove it."
            )
        if len(ran) == len(values) and ran.min() == ran.max():
            raise ValueError(
                f"scores in column {column} are constant, {ran[0]:g} for every rated "
                "document, so no threshold separates them. Remove this classifier."
            )


# Weights


def _weigh_sampled(ratings, weight, inclusion_proba):
    """Return weights over probabilities, and which documents have one, or None."""
    if inclusion_proba is None:
        return weight, None
    chance = check_inclusion_proba(inclusion_proba, ratings)
    is_sampled = ~np.isnan(chance)
    chance = np.where(is_sampled, chance, 1.0)
    with np.errstate(over="ignore"):
        weight = (1.0 if weight is None else weight) / chance
    if weight.max() > _LARGEST_WEIGHT:
        raise ValueError(
            "inclusion_proba: the weights of documents, sample_weight / "
            f"inclusion_proba, are up to {weight.max():g}, which is too large to be "
            f"summed. The smallest inclusion_proba is {chance.min():g}. Check that it "
            "is not a rounded zero, or rescale sample_weight."
        )
    return weight, is_sampled


def check_inclusion_proba(inclusion_proba, ratings):
    """Return the probability of each document to be rated, NaN where it is unknown."""
    chance = np.asarray(as_real_array(inclusion_proba, "inclusion_proba"), np.float64)
    if chance.ndim == 0:
        chance = np.full(len(ratings), chance)
    check_same_length(len(ratings), inclusion_proba=chance)
    outside = np.flatnonzero(~np.isnan(chance) & ~((chance > 0) & (chance <= 1)))
    if chance.ndim != 1 or outside.size:
        got = chance[outside[0]] if outside.size else f"shape {chance.shape}"
        row = f" in row {outside[0]}" if outside.size else ""
        raise ValueError(
            "inclusion_proba must hold one probability in ]0, 1] for each document, or "
            f"NaN where no draw could select it, got {got}{row}."
        )
    unknown = np.flatnonzero(np.isnan(chance) & (ratings >= 0))
    if unknown.size:
        raise ValueError(
            f"inclusion_proba is NaN in row {unknown[0]}, which is rated "
            f"({unknown.size} such rows). Use an inclusion_proba of 1 for documents "
            "that were certain to be rated."
        )
    return chance


def check_weighted_classes(ratings, weight):
    """Raise if weights of zero leave a class without rated documents."""
    if weight is None:
        return
    for rating, name in ((1, "positives"), (0, "negatives")):
        if not weight[ratings == rating].any():
            raise ValueError(
                f"sample_weight is zero for all rated {name}, which leaves one class "
                "only. Give documents of both classes a positive weight."
            )


# Down to where ratings are known


def _find_base(rated, unknown, names, rule):
    """Return the lowest thresholds that no document of unknown rating reaches.

    With "any" there is one choice; with "all", one threshold is raised above all of
    them, the one that leaves most rated documents. `names` are numbers of rows.
    """
    base = np.nanmin(rated, axis=0)
    is_inside = predict_positive(unknown, base, rule)
    if not is_inside.any():
        return base
    # A classifier that did not run has reached nothing.
    unknown = np.where(np.isnan(unknown), -np.inf, unknown)
    columns = range(len(base))
    if rule == "all":
        unknown, names = unknown[is_inside], names[is_inside]
        columns = [np.argmax((rated > unknown.max(axis=0)).sum(axis=0))]
    for column in columns:
        highest = unknown[:, column].max()
        left = rated[:, column] > highest
        if not left.any():
            where = "any column, as in" if rule == "all" else "column"
            raise ValueError(
                f"y: no rated document scores above all unrated ones in {where} "
                f"{column}: row {names[np.argmax(unknown[:, column])]} is unrated and "
                f"scores {highest:g} there, so there is no threshold above which all "
                "documents are rated. Rate this document and the other missing ones. "
                "If only a sample was rated, pass inclusion_proba= (its probabilities, "
                "NaN where none was drawn). If other classifiers selected the "
                "documents to rate, add them to the ensemble."
            )
        base[column] = rated[left, column].min()
    return base


def refuse_one_class(fp, tp, name, lowest, way_out):
    """Raise where the lowest thresholds leave one class; `name` is what lacks it."""
    if not (fp > 0 and tp > 0):
        missing = "negatives" if tp > 0 else "positives"
        raise ValueError(
            f"{name} has no rated {missing} that the lowest thresholds "
            f"{[float(each) for each in lowest]} reach{way_out}"
        )


def _check_rated_from(base, scores, is_unknown, rule):
    """Raise where documents of unknown rating reach the lowest thresholds."""
    inside = np.flatnonzero(is_unknown & predict_positive(scores, base, rule))
    if inside.size:
        raise ValueError(
            f"y: row {inside[0]} is unrated and scores {scores[inside[0]].tolist()}, "
            f"which the lowest thresholds {base.tolist()} predict positive "
            f"({inside.size} such rows), so ratings are incomplete above them. Pass "
            "thresholds that start higher. If only a sample was rated, pass "
            "inclusion_proba= (its probabilities)."
        )


# Documents that are compared on either side of an edge.
_N_NEIGHBOURS = 50

# An edge is seen by chance in fewer than one of 2**13 samples, whatever their size.
_BITS = 13

# Beyond an edge, medians move by less than this share of what they move across it.
_LARGEST_TREND = 0.25

# And no more of the next documents are lower than all before.
_MOST_LOWER = 8

# Documents that several scores would have chosen; without them, scores that exclude
# each other have an empty corner, too.
_LEAST_CHOSEN_TWICE = 5

_MOST_DOCUMENTS = 40_000


def warn_if_selected(documents):
    """Warn where all documents are rated, and none has all scores low.

    So it looks if documents were given only where a score was high.
    """
    if not documents.is_complete:
        return
    if not _looks_selected(documents.all_scores[documents.is_given]):
        return
    warn_user(
        "No document is unrated, but the documents look as if they had been selected "
        "because one of their scores is high: there is none whose scores are all low. "
        "Thresholds may then be chosen where nothing was rated, and predict far more "
        "documents than are counted. Add the documents that were not rated, with "
        "unrated_label."
    )


def _looks_selected(scores):
    """Tell whether documents are missing just where all scores would be low.

    Scores have shape (n_documents, n_classifiers).
    """
    scores = scores[~np.isnan(scores).any(axis=1)]
    scores = scores[:: -(-max(len(scores), 1) // _MOST_DOCUMENTS)]
    # Documents that are copies of each other are no evidence of their own.
    order = np.lexsort(scores.T)
    is_new = (scores[order[1:]] != scores[order[:-1]]).any(axis=1)
    scores = scores[np.sort(order[np.append(True, is_new)[: len(order)]])]
    if scores.shape[1] < 2 or len(scores) < 3 * _N_NEIGHBOURS:
        return False
    ranks = [np.searchsorted(np.sort(column), column) for column in scores.T]
    edges = 0
    for column in range(scores.shape[1]):
        others = np.delete(ranks, column, axis=0).max(axis=0)
        edges += _has_edge(ranks[column], others, scores.shape[1])
    return edges >= 2


def _has_edge(x, y, n_tests):
    """Tell whether low `y` occur from some `x` on, and no lower, all at once."""
    # Of the documents next to an edge, those below and those above are exchangeable if
    # there is none, however `x` and `y` depend on each other at large: that the lowest
    # m `y` all are above has a probability of at most 2**-m. A steep trend would do the
    # same, but go on: then the next documents are lower still. Two scores that are
    # nearly opposites beside a third may be mistaken, in some 3 % of normal samples,
    # and more often where many documents share a score.
    order = np.argsort(x, kind="stable")
    x, y, k = x[order], y[order], _N_NEIGHBOURS
    start = np.arange(k, len(x) - 2 * k + 1)
    windows, lowest = sliding_window_view(y, k), np.minimum.accumulate(y)
    # Most windows have none that is lower than all before.
    has_lower = lowest[start + k - 1] < lowest[start - 1]
    start = start[has_lower & (x[start] > x[start - 1])]
    lowest_before = lowest[start - 1]
    n_lower = (windows[start] < lowest_before[:, np.newaxis]).sum(axis=1)
    needed = _BITS + np.log2(len(x) * n_tests)
    for number in np.flatnonzero(n_lower >= needed):
        edge = start[number]
        middles = np.median(windows[edge - k : edge + k + 1 : k], axis=1)
        across, beyond = middles[:-1] - middles[1:]
        goes_on = beyond >= _LARGEST_TREND * across
        goes_on |= (windows[edge + k] < windows[edge].min()).sum() > _MOST_LOWER
        n_twice = (y[edge:] >= lowest_before[number]).sum()
        if not goes_on and n_twice >= _LEAST_CHOSEN_TWICE:
            return True
    return False
