"""Every named score keeps the contract, and so does one that a user adds."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KernelDensity

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
    OutlierDetector,
    PlugInScore,
    ReAct,
    RelativeMahalanobis,
    SELEBoosting,
    TopTwoGap,
    TrueClassProbability,
    ViM,
    get_novelty_names,
    get_score_names,
    register_score,
)
from tests.scores.contract import (
    CHECKS,
    X_NEW,
    X_OOD,
    X,
    Y,
    check_rows_do_not_depend_on_each_other,
    fit,
    fit_classifier,
    fitted,
    values_of,
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
NOVELTY = [score for score in NAMED if score.name in get_novelty_names()]


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
    "score",
    [LossRegression(Ridge()), LossRegression(), SELE(alphas=0.1), SELEBoosting()],
)
def test_the_unit_of_the_loss_is_that_of_an_estimate_of_the_risk(score):
    score.set_params(
        random_state=0,
        **({"n_estimators": 5} if "n_estimators" in score.get_params() else {}),
    )
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


def test_what_users_register():
    # What is registered stays, so that this takes a process of its own.
    script = Path(__file__).with_name("register_own_scores.py")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, script],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_registered():
    assert register_score(Entropy) is Entropy, "it is there already"
    derived = type("Derived", (Entropy,), {})
    nameless = type("Nameless", (PlugInScore,), {})
    for score, message in (
        (derived, "The name 'entropy' of Derived is taken"),
        (nameless, "Nameless must have a class attribute `name`"),
        (Entropy(), "score must be a subclass of PlugInScore"),
        (dict, "score must be a subclass of PlugInScore"),
        *(
            (
                type("Own", (PlugInScore,), {"name": name}),
                f"The name '{name}' of Own is",
            )
            for name in ("auto", "confidence", "gain")
        ),
    ):
        with pytest.raises(ValueError, match=message):
            register_score(score)
