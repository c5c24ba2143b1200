"""Every named score keeps the contract, and so does one that a user adds."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KernelDensity

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier, scores
from sklearn_reject.scores import (
    SELE,
    SIRC,
    LossRegression,
    Mahalanobis,
    NoveltyScore,
    OutlierDetector,
    ReAct,
    RelativeMahalanobis,
    ViM,
    get_score_names,
)
from tests.scores.contract import (
    CHECKS,
    X_NEW,
    X_OOD,
    X,
    Y,
    check_rows_do_not_depend_on_each_other,
    check_score_contract,
    fit,
    fit_classifier,
    fitted,
    values_of,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Named scores, and the classifiers that have what they need.
NAMED = {
    score: classifiers
    for classifiers, names in {
        ("logistic", "network", "tree", "bayes"): (
            "ConditionalRisk LossRegression GEN KNN MSP SIRC Mahalanobis "
            "RelativeMahalanobis"
        ),
        ("logistic", "network"): (
            "ErrorProbability SELE TrueClassProbability ODIN Energy LikelihoodRatio "
            "MaxLogit ReAct ViM"
        ),
        ("logistic",): "Margin OutlierDetector",
    }.items()
    for score in (getattr(scores, name) for name in names.split())
}
NOVELTY = [score for score in NAMED if issubclass(score, NoveltyScore)]


def test_the_table_is_complete():
    names = sorted(score.name for score in NAMED)
    assert names == sorted([*get_score_names(), *get_score_names("novelty")])


@pytest.mark.parametrize("score", NAMED)
@pytest.mark.parametrize("check", CHECKS)
def test_contract(check, score):
    check(score)


@pytest.mark.parametrize(
    ("score", "classifier"),
    [(score, name) for score, names in NAMED.items() for name in names[1:]],
)
@pytest.mark.slow  # the first classifier is one of those above
def test_rows_do_not_depend_on_each_other(score, classifier):
    check_rows_do_not_depend_on_each_other(score, classifier)


# Nothing of these is drawn, so that each sample counts as its weight says.
OF_SUMS = [
    LossRegression(LinearRegression(), "response"),
    LossRegression(features="per_label_linear", alphas=0.1),
    SELE(alphas=0.1, tol=1e-9),
    Mahalanobis(0.1),
    RelativeMahalanobis(0.1),
    ReAct(),
    ViM(5),
    SIRC(),
    SIRC("entropy", "residual", 5),
    OutlierDetector(KernelDensity()),
]


@pytest.mark.parametrize("score", OF_SUMS, ids=repr)
@pytest.mark.parametrize("name", ["logistic", "network"])
def test_weights_are_repeats_in_any_order(score, name):
    rng = np.random.default_rng(0)
    counts, rows = rng.integers(0, 4, 110), np.arange(110, 220)
    repeats = rng.permutation(np.repeat(rows, counts))
    weighted = fit(clone(score), name, rows, sample_weight=counts / 8)
    repeated = fit(clone(score), name, repeats)
    np.testing.assert_allclose(
        *(values_of(each)(X_NEW) for each in (weighted, repeated)), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    "score", [LossRegression(Ridge()), LossRegression(), SELE(alphas=0.1)]
)
def test_the_unit_of_the_loss_is_that_of_an_estimate_of_the_risk(score):
    score.set_params(random_state=0)
    costs = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    one, eight = (
        fit(clone(score).set_params(loss=unit * costs)).uncertainty(X_NEW)
        for unit in (1.0, 8.0)
    )
    factor = 8 if score.estimates_risk else 1
    np.testing.assert_allclose(eight, factor * one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("score", NOVELTY)
def test_other_digits_are_novel(score):
    novelty = fitted(score, "network" if "network" in NAMED[score] else "logistic")
    inside, outside = np.split(novelty.novelty(X_NEW), [40])
    assert (outside[:, np.newaxis] > inside).mean() > 0.5, "no better than a coin"


@pytest.mark.parametrize("score", NOVELTY)
def test_needs_are_stated(score):
    given = {"X": X, "y": Y, "X_ood": X_OOD}
    flags = {"X": "needs_samples", "y": "needs_labels", "X_ood": "needs_ood"}
    for missing, flag in flags.items():
        rest = {"estimator": fit_classifier("network")} | given | {missing: None}
        if getattr(score, flag):
            with pytest.raises(
                ValueError, match=rf"^{missing} is None: {score.__name__}"
            ):
                score().fit(**rest)
        elif missing != "X" or not (score.needs_labels or score.needs_ood):
            score().fit(**rest)


@pytest.fixture
def own(monkeypatch):
    """Return a module of the scores that the contributing guide writes."""
    guide = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text()
    module = ModuleType("of_a_user")
    monkeypatch.setitem(sys.modules, "of_a_user", module)
    for code in re.findall(r"```python\n(.*?)```", guide, re.DOTALL):
        if "PlugInScore" in code or "NoveltyScore" in code:
            exec(code, vars(module))
    return module


def test_uncertainty_score_of_the_guide(own):
    score = own.GiniImpurity
    check_score_contract(score)
    selective = SelectiveClassifier(
        LogisticRegression(), uncertainty_score=score(), target_coverage=0.5
    ).fit(X, Y)
    expected = 1 - (selective.predict_proba(X) ** 2).sum(axis=1)
    np.testing.assert_allclose(selective.uncertainty(X), expected, atol=1e-15)


def test_novelty_score_of_the_guide(own):
    score = own.DistanceFromMean
    check_score_contract(score)
    double = DoubleScoreOODClassifier(
        LogisticRegression(), novelty_score=score(), min_tpr=0.5, max_fpr=1.0
    ).fit(np.vstack([X, X_OOD]), np.append(Y, np.full(len(X_OOD), -1)))
    probabilities = double.predict_proba(X)
    expected = np.linalg.norm(probabilities - probabilities.mean(axis=0), axis=1)
    np.testing.assert_allclose(double.risk_and_novelty(X)[1], expected)
