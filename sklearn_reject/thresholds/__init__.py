"""Joint thresholds of several classifiers, from scores and partial ratings."""

from sklearn_reject.thresholds._cross_validation import CrossValidatedPoint
from sklearn_reject.thresholds._grid import PNTable, pn_table
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import OperatingPoint
from sklearn_reject.thresholds._search import operating_point, optimal_path

# isort: split
# For the rest of the package, and not public.
from sklearn_reject.thresholds._cross_validation import (  # noqa: F401
    cross_validate_point,
)
from sklearn_reject.thresholds._documents import (  # noqa: F401
    RatedDocuments,
    check_documents,
    check_scores,
    check_weighted_classes,
)
from sklearn_reject.thresholds._point import (  # noqa: F401
    count_intervals,
    make_point,
    resolve_target,
)
from sklearn_reject.thresholds._search import Search  # noqa: F401

__all__ = [
    "CrossValidatedPoint",
    "OperatingPoint",
    "PNTable",
    "ThresholdPath",
    "operating_point",
    "optimal_path",
    "pn_table",
]
