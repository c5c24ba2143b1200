"""Thresholds of the best F1, on a path and over all thresholds.

The paper takes the slope of the PN curve at which its operating points lie from
experts, and does not say which it was on public data. Here it is the one at which F1 is
best: F1 = 2 TP / (TP + FP + P) is at its maximum lambda where
(2 - lambda) TP - lambda FP is, so that the slope is lambda / (2 - lambda) and the
marginal precision lambda / 2 (W. Dinkelbach, 1967).
"""

import warnings
from collections import namedtuple

import numpy as np

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point

# Joint thresholds, and their F1 on the samples that they were tuned on.
Tuned = namedtuple("Tuned", "thresholds f1")


def f1_of_counts(fp, tp, n_positive):
    """Return F1, which is zero where there are no true positives."""
    return 2 * tp / (tp + fp + n_positive)


def slope_of(f1):
    """Return dTP/dFP where F1 has this maximum."""
    return f1 / (2 - f1)


def tune_on_path(path, n_positive):
    """Return the vertex of a path with the best F1.

    Parameters
    ----------
    path : ThresholdPath
        Joint thresholds and their counts.

    n_positive : int
        Number of all positives.
    """
    f1 = f1_of_counts(path.fp, path.tp, n_positive)
    best = np.argmax(f1)
    return Tuned(path.thresholds[best], float(f1[best]))


def tune_directly(scores, y, rule):
    """Return the thresholds with the best F1 of all.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classifiers)
        Higher = more likely positive.

    y : ndarray of shape (n_samples,), dtype bool
        Labels.

    rule : {"any", "all"}
        How the classifiers decide together.
    """
    with warnings.catch_warnings():
        # The best may be to predict everything positive.
        warnings.simplefilter("ignore", RejectionWarning)
        point = operating_point(scores, y, rule=rule, method="direct", objective="f1")
    return Tuned(point.thresholds, float(f1_of_counts(point.fp, point.tp, y.sum())))
