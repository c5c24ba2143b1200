"""The paths of RZMR20, eq. 2: (x, x^p_2, .., x^p_N) for x in [0, 1].

The package fits paths of log-odds, which close more of the gap to the best path.
"""

import numpy as np

from sklearn_reject.thresholds._analytic import (
    ONE_ALONE,
    analytic_path,
    exponentials,
    same_or_one,
)
from sklearn_reject.thresholds._checks import check_documents
from sklearn_reject.thresholds._path import place_midway


def power_path(scores, y, rule):
    """Return the path of this family with the largest area.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classifiers)
        Higher = more likely positive.

    y : ndarray of shape (n_samples,)
        Labels.

    rule : {"any", "all"}
        How the classifiers decide together.
    """
    documents = check_documents(scores, y, rule)
    return place_midway(analytic_path(documents, _start, _enter), documents)


def _start(n_classifiers):
    # The parameters are the logarithms of the exponents.
    options = [0.0, -1, 1, -3, 3, -ONE_ALONE, ONE_ALONE]
    return same_or_one(n_classifiers, np.array(options)[:, np.newaxis])


def _enter(u, parameters):
    """Return log x where each normalized score in ]0, 1[ equals its threshold."""
    return np.log(u) / exponentials(parameters)
