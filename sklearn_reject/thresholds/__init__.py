"""Joint thresholds of several classifiers, from scores and partial ratings.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.thresholds._documents import (
    RatedDocuments,
    check_documents,
    check_inclusion_proba,
    check_scores,
    fill_missing,
)
from sklearn_reject.thresholds._point import (
    TARGETS,
    CrossValidatedPoint,
    OperatingPoint,
    ThresholdPath,
    recount_path,
    recount_point,
    resolve_target,
)
from sklearn_reject.thresholds._search import Tuning, operating_point, optimal_path
from sklearn_reject.thresholds._selected import warn_if_selected
from sklearn_reject.thresholds._table import PNTable, pn_table

__all__ = ["PNTable", "operating_point", "optimal_path", "pn_table"]
