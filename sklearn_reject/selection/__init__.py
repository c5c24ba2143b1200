"""Rejection rules, solved from arrays of scores and losses."""

from sklearn_reject.selection._certificate import Certificate
from sklearn_reject.selection._infeasible import InfeasibleTargetError
from sklearn_reject.selection._rule import RejectionRule, chow_rule
from sklearn_reject.selection._solve import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

__all__ = [
    "Certificate",
    "InfeasibleTargetError",
    "RejectionRule",
    "chow_rule",
    "solve_reject_cost",
    "solve_target_coverage",
    "solve_target_risk",
]
