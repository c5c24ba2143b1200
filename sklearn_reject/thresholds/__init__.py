"""Joint thresholds of several classifiers, from scores and partial ratings.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.thresholds._documents import (
    RatedDocuments,
    check_documents,
    check_weighted_classes,
)
from sklearn_reject.thresholds._grid import PNTable, pn_table
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import (
    OperatingPoint,
    count_intervals,
    make_point,
    resolve_target,
)
from sklearn_reject.thresholds._search import (
    CrossValidatedPoint,
    Search,
    cross_validate_point,
    operating_point,
    optimal_path,
)

__all__ = [
    "CrossValidatedPoint",
    "OperatingPoint",
    "PNTable",
    "ThresholdPath",
    "operating_point",
    "optimal_path",
    "pn_table",
]
