"""Every named score keeps the contract, and so does one that a user adds."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sklearn_reject import scores
from sklearn_reject.scores import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SELE,
    SIRC,
    ConditionalRisk,
    Energy,
    Entropy,
    ErrorProbability,
    LikelihoodRatio,
    LossRegression,
    Mahalanobis,
    Margin,
    MaxLogit,
    NoveltyScore,
    OutlierDetector,
    PlugInScore,
    ReAct,
    RelativeMahalanobis,
    SELEBoosting,
    TopTwoGap,
    TrueClassProbability,
    ViM,
    _resolve,
    get_novelty_names,
    get_score_names,
    register_score,
    resolve_score,
)
from tests.scores.contract import (
    CHECKS,
    check_rows_do_not_depend_on_each_other,
    check_score_contract,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ALL = ("logistic", "network", "tree", "bayes")
HEADS = ("logistic", "network")

# One row a named score: its class, and the classifiers that have what it needs.
NAMED = {
    ConditionalRisk: ALL,
    Entropy: ALL,
    ErrorProbability: HEADS,
    LossRegression: ALL,
    Margin: ("logistic",),
    SELE: HEADS,
    SELEBoosting: HEADS,
    TopTwoGap: ALL,
    TrueClassProbability: HEADS,
    GEN: ALL,
    KNN: ALL,
    MSP: ALL,
    ODIN: HEADS,
    SIRC: ALL,
    Energy: HEADS,
    LikelihoodRatio: HEADS,
    Mahalanobis: ALL,
    MaxLogit: HEADS,
    OutlierDetector: ("logistic",),
    ReAct: HEADS,
    RelativeMahalanobis: ALL,
    ViM: HEADS,
}


def test_the_table_is_complete():
    names = sorted(score.name for score in NAMED)
    assert names == sorted([*get_score_names(), *get_novelty_names()])
    assert all(getattr(scores, score.__name__) is score for score in NAMED)


@pytest.mark.parametrize("score", NAMED)
@pytest.mark.parametrize("check", CHECKS)
def test_contract(check, score):
    check(score)


@pytest.mark.parametrize(
    ("score", "classifier"),
    [
        pytest.param(score, name, marks=[pytest.mark.slow] * (name != names[-1]))
        for score, names in NAMED.items()
        for name in names[1:]
    ],
)
def test_rows_do_not_depend_on_each_other(score, classifier):
    check_rows_do_not_depend_on_each_other(score, (classifier,))


@pytest.fixture
def own_names(monkeypatch):
    """What a test registers is forgotten after it."""
    for table in ("_UNCERTAINTY_SCORES", "_NOVELTY_SCORES"):
        monkeypatch.setattr(_resolve, table, dict(getattr(_resolve, table)))


def test_the_worked_example_of_the_contributing_guide(own_names, monkeypatch):
    text = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text()
    [code] = re.findall(r"```python\n(.*?register_score.*?)```", text, re.DOTALL)
    module = ModuleType("of_a_user")
    monkeypatch.setitem(sys.modules, "of_a_user", module)
    exec(code, vars(module))
    assert type(resolve_score("gini_impurity", None)) is module.GiniImpurity
    check_score_contract(module.GiniImpurity)


class Toy(NoveltyScore):
    name = "toy"

    def _novelty(self, response):
        return response.probabilities[:, 0]


def test_a_novelty_score_is_registered_among_novelty_scores(own_names):
    register_score(Toy)
    assert "toy" in get_novelty_names()
    assert "toy" not in get_score_names()
    check_score_contract(Toy)


def test_what_cannot_be_registered(own_names):
    assert register_score(Entropy) is Entropy, "it is there already"
    derived = type("Derived", (Entropy,), {})
    nameless = type("Nameless", (PlugInScore,), {})
    automatic = type("Automatic", (PlugInScore,), {"name": "auto"})
    for score, message in (
        (derived, "The name 'entropy' of Derived is taken"),
        (automatic, "The name 'auto' of Automatic is taken"),
        (nameless, "Nameless must have a class attribute `name`"),
        (Entropy(), "score must be a subclass of PlugInScore"),
        (dict, "score must be a subclass of PlugInScore"),
    ):
        with pytest.raises(ValueError, match=message):
            register_score(score)
