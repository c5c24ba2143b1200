"""The thresholds among which a best one is found, by their numbers."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.thresholds._ranks import count_reached

# What rounding may add up to, as a share of all true positives: with a wide margin, as
# nothing is lost by thresholds that are kept in vain.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Candidates:
    """Thresholds that may be best: scores of positives, and infinity.

    A threshold between them predicts the same positives as the next one, and perhaps
    more negatives.

    Attributes
    ----------
    thresholds : tuple of n_classifiers ndarrays
        Increasing, the last of each infinite.

    ranks : ndarray of shape (n_classifiers, n_documents), dtype int32
        Number of thresholds that a document reaches. It is predicted positive by the
        thresholds of smaller number.

    counts : ndarray of shape (n_documents,), dtype complex128
        Weight of a positive as real part, of a negative as imaginary part.

    rule : {"any", "all"}
        How the classifiers decide together.
    """

    thresholds: tuple
    ranks: np.ndarray
    counts: np.ndarray
    rule: str

    def __len__(self):
        return len(self.thresholds)

    @property
    def highest(self):
        """Number of the infinite threshold of each classifier."""
        return np.array([len(values) - 1 for values in self.thresholds])

    def reached(self, index):
        """Return which classifiers predict which documents positive."""
        return self.ranks > np.asarray(index)[:, np.newaxis]

    def predict(self, index):
        """Return which documents are predicted positive."""
        reduce = np.logical_or if self.rule == "any" else np.logical_and
        return reduce.reduce(self.reached(index))

    def count(self, index):
        """Return true and false positives as one complex number."""
        return complex(self.counts[self.predict(index)].sum())

    def count_others(self, index):
        """Return the positives and negatives that are not predicted, the same way."""
        return complex(self.counts[~self.predict(index)].sum())

    def locate(self, thresholds):
        """Return the lowest candidates that are not below the thresholds given."""
        pairs = zip(self.thresholds, thresholds, strict=True)
        return np.array([np.searchsorted(*pair, side="left") for pair in pairs])

    def take(self, index):
        """Return the thresholds with the given numbers."""
        pairs = zip(self.thresholds, index, strict=True)
        return np.array([values[k] for values, k in pairs])

    def raise_to_highest(self, index):
        """Raise thresholds, the last first, as long as predictions stay the same."""
        index = np.array(index)
        for classifier in reversed(range(len(self))):
            reached = self.reached(index)
            if self.rule == "all":
                needs = reached.all(axis=0)
            else:
                needs = reached[classifier] & (reached.sum(axis=0) == 1)
            needed = self.ranks[classifier, needs]
            index[classifier] = needed.min(initial=len(self.thresholds[classifier])) - 1
        return index


def make_candidates(documents):
    """Return the candidates for the thresholds of documents.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    Returns
    -------
    candidates : Candidates
        With all documents.
    """
    positives = documents.scores[documents.is_positive]
    columns = zip(positives.T, documents.base, strict=True)
    thresholds = [np.unique(scores[scores >= base]) for scores, base in columns]
    thresholds = [np.append(values, np.inf) for values in thresholds]
    pairs = zip(thresholds, documents.scores.T, strict=True)
    ranks = np.array([_count_reached(*pair) for pair in pairs], dtype=np.int32)
    counts = np.where(documents.is_positive, 1.0, 1j)
    if documents.weight is not None:
        counts *= documents.weight
    return Candidates(tuple(thresholds), ranks, counts, documents.rule)


def _count_reached(thresholds, scores):
    if len(thresholds) == 1:
        return np.zeros(len(scores), dtype=np.int32)
    return count_reached(thresholds, scores)


def keep_reached(candidates):
    """Leave out the documents that no candidate predicts positive."""
    is_reached = candidates.predict([0] * len(candidates))
    if is_reached.all():
        return candidates
    return Candidates(
        candidates.thresholds,
        candidates.ranks[:, is_reached],
        candidates.counts[is_reached],
        candidates.rule,
    )


def leave_out_low(candidates, derivative, known):
    """Leave out thresholds that are too low to be part of anything better.

    Under "any", a threshold predicts its false positives whatever the others are: if
    they cost more than all true positives there are, less the gain that is known to be
    attained, it cannot be part of a better choice.

    Parameters
    ----------
    candidates : Candidates
        All candidates.

    derivative : float > 0
        What a false positive costs.

    known : float >= 0
        Gain TP - FP * derivative that is attained.

    Returns
    -------
    candidates : Candidates
        The others, and the documents that any of them reaches.

    first : ndarray of shape (n_classifiers,)
        Number of the first threshold that is left of each classifier.
    """
    first = np.zeros(len(candidates), dtype=np.intp)
    if candidates.rule == "all":
        return candidates, first
    total = candidates.counts.real.sum()
    room = total - known + _ROUNDING * total
    for k, ranks in enumerate(candidates.ranks):
        fp = np.bincount(ranks, candidates.counts.imag, len(candidates.thresholds[k]))
        first[k] = np.sum(derivative * (fp.sum() - np.cumsum(fp))[:-1] > room)
    pairs = zip(candidates.thresholds, first, strict=True)
    return keep_reached(
        Candidates(
            tuple(values[low:] for values, low in pairs),
            np.maximum(candidates.ranks - first[:, np.newaxis].astype(np.int32), 0),
            candidates.counts,
            candidates.rule,
        )
    ), first
