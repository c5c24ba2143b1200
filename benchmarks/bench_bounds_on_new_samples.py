"""Precision and recall on new samples beside the bounds, on sets with a rare class.

A logistic regression is fitted on 1,000 rows and frozen, the rule is solved on others,
and what is left is new. Without a confidence nothing is promised of it.
"""

import math
import warnings

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import is_there, load_set
from benchmarks._report import Row, at_most
from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning

TITLE = "share of splits in which new samples break a bound of .9"

_SETS = "mammography", "spambase", "bank_additional", "phishing"
_SIZES = 200, 1000, 5000
_N_TRAINING = 1000
_N_SPLITS = 20
_BOUND, _CONFIDENCE = 0.9, 0.9
_SCORES = {"min_recall": recall_score, "min_precision": precision_score}


def run():
    """Return the rows of the table."""
    for name in _SETS:
        if not is_there(name):
            yield Row("a set that is not there", measured=name)
            continue
        n_rows = len(load_set(name)[1])
        for n_samples in _SIZES:
            if 2 * _N_TRAINING + n_samples <= n_rows:
                for parameter in _SCORES:
                    for confidence_level in (None, _CONFIDENCE):
                        yield _row(name, n_samples, parameter, confidence_level)


def _row(name, n_samples, parameter, confidence_level):
    """Return how often a bound of any class is broken, and by how much."""
    splits = [
        _measure(name, n_samples, parameter, confidence_level, seed)
        for seed in range(_N_SPLITS)
    ]
    solved = [found for found in splits if found is not None]
    what = f"{name}, n = {n_samples}, {parameter}, confidence_level={confidence_level}"
    if not solved:
        return Row(what, measured="infeasible")
    coverage = np.mean([accepted for accepted, _ in solved])
    scores = np.array([scores for _, scores in solved])
    broken = (scores < _BOUND).any(axis=1).sum() / _N_SPLITS
    # Where nothing is accepted of a class there is nothing to say.
    means = ", ".join(f"{x:.2f}" for x in np.nanmean(scores, axis=0))
    details = f"coverage {coverage:.2f}, mean {means}, solved {len(solved)}"
    if confidence_level is None:
        return Row(what, measured=f"{broken:.3g}", details=details)
    delta = 1 - confidence_level
    limit = delta + 3 * math.sqrt(delta * confidence_level / _N_SPLITS)
    return at_most(what, round(limit, 3), broken, "", details)


def _measure(name, n_samples, parameter, confidence_level, seed):
    """Return coverage and score of each class on new samples; None if infeasible."""
    X, y = load_set(name)
    rows = np.random.default_rng(seed).permutation(len(y))
    training, tuning, new = np.split(rows, [_N_TRAINING, _N_TRAINING + n_samples])
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    selective = SelectiveClassifier(
        FrozenEstimator(model.fit(X[training], y[training])),
        confidence_level=confidence_level,
        random_state=seed,
        **{parameter: dict.fromkeys(np.unique(y).tolist(), _BOUND)},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        try:
            selective.fit(X[tuning], y[tuning])
        except InfeasibleTargetError:
            return None
    accepted = selective.accept(X[new])
    scores = _SCORES[parameter](
        y[new][accepted],
        model.predict(X[new][accepted]),
        labels=np.unique(y),
        average=None,
        zero_division=np.nan,
    )
    return accepted.mean(), scores
