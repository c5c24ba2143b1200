"""Metrics and rules of dask collections, larger than one memory.

They take dask arrays, or columns of dask dataframes, where the functions of the same
names in :mod:`sklearn_reject.metrics`, :mod:`sklearn_reject.selection` and
:mod:`sklearn_reject.thresholds` take arrays. All collections of a call are cut at the
same rows; arrays of other chunks are cut again. Columns come best from one dataframe,
whose partitions are then made once for all of them.

For metrics and rules, each partition is reduced where it is to a
:class:`~sklearn_reject.selection.RiskCoverageSummary` of some megabytes at most, and
summaries are merged in a tree. An answer that is to be exact reads the data again and
fetches the rows that decide it, few of them for a rule. An exact area takes a pass for
every four million rows and process: ``persist()`` what takes long to make, where the
cluster has room for it, or take the interval of cells.

It needs dask (``pip install 'dask[array]'``), so nothing else imports it.
"""

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError(
        "sklearn_reject.dask needs dask. Install it with `pip install 'dask[array]'`, "
        "or use sklearn_reject.metrics, sklearn_reject.selection and "
        "sklearn_reject.thresholds for arrays in memory."
    ) from error

from sklearn_reject.dask._metrics import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    risk_coverage_curve,
    sele_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.dask._solvers import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
    summarize,
)
from sklearn_reject.dask._thresholds import pn_table

__all__ = [
    "augrc_score",
    "aurc_score",
    "coverage_at_risk_score",
    "pn_table",
    "risk_coverage_curve",
    "sele_score",
    "selective_risk_at_coverage_score",
    "solve_reject_cost",
    "solve_target_coverage",
    "solve_target_failure_rate",
    "solve_target_risk",
    "summarize",
]
