"""Joint thresholds of several classifiers, from scores and partial ratings."""

from sklearn_reject.thresholds._cross_validation import CrossValidatedPoint
from sklearn_reject.thresholds._grid import PNTable, pn_table
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import OperatingPoint
from sklearn_reject.thresholds._search import operating_point, optimal_path

__all__ = [
    "CrossValidatedPoint",
    "OperatingPoint",
    "PNTable",
    "ThresholdPath",
    "operating_point",
    "optimal_path",
    "pn_table",
]
