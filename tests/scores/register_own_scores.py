"""Registers the examples of the contributing guide, and uses them by name.

A script of its own, as what is registered stays for the whole process.
"""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from sklearn.linear_model import LogisticRegression

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.scores import get_novelty_names, get_score_names, register_score
from tests.scores.contract import X_OOD, X, Y, check_score_contract


def main():
    guide = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text()
    own = sys.modules["of_a_user"] = ModuleType("of_a_user")
    for code in re.findall(r"```python\n(.*?)```", guide, re.DOTALL):
        if "PlugInScore" in code or "NoveltyScore" in code:
            exec(code, vars(own))

    register_score(own.DistanceFromMean)
    assert "gini_impurity" in get_score_names()
    assert "distance_from_mean" in {*get_novelty_names()} - {*get_score_names()}
    check_score_contract(own.GiniImpurity)
    check_score_contract(own.DistanceFromMean)

    selective = SelectiveClassifier(
        LogisticRegression(), uncertainty_score="gini_impurity", target_coverage=0.5
    ).fit(X, Y)
    expected = 1 - (selective.predict_proba(X) ** 2).sum(axis=1)
    np.testing.assert_allclose(selective.uncertainty(X), expected, atol=1e-15)

    double = DoubleScoreOODClassifier(
        LogisticRegression(),
        novelty_score="distance_from_mean",
        min_tpr=0.5,
        max_fpr=1.0,
    ).fit(np.vstack([X, X_OOD]), np.append(Y, np.full(len(X_OOD), -1)))
    probabilities = double.predict_proba(X)
    expected = np.linalg.norm(probabilities - probabilities.mean(axis=0), axis=1)
    np.testing.assert_allclose(double.risk_and_novelty(X)[1], expected)


if __name__ == "__main__":
    main()
