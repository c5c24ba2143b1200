"""Joint thresholds of several classifiers, from scores and partial ratings."""

from sklearn_reject.thresholds._cross_validation import CrossValidatedPoint
from sklearn_reject.thresholds._operating_point import operating_point
from sklearn_reject.thresholds._optimal_path import optimal_path
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import OperatingPoint
from sklearn_reject.thresholds._table import PNTable, pn_table

__all__ = [
    "CrossValidatedPoint",
    "OperatingPoint",
    "PNTable",
    "ThresholdPath",
    "operating_point",
    "optimal_path",
    "pn_table",
]
