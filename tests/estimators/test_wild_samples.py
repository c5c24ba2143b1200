"""Rules tuned on unlabeled samples of which a known share is OOD."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import LikelihoodRatio

SHARE, WILD = 0.4, 99


def draw(seed, n_samples=1500):
    """Return samples, their labels with OOD ones as -1, and with a third of them wild.

    Among the wild a share is OOD; no other samples are.
    """
    X, y = make_blobs(n_samples, centers=4, cluster_std=1.6, random_state=3)
    order = np.random.default_rng(seed).permutation(n_samples)
    known, novel = order[y[order] < 3], order[y[order] == 3]
    n_wild = min(len(known) // 2, int(len(novel) / SHARE * (1 - SHARE)))
    rows = np.concatenate([known, novel[: int(n_wild * SHARE / (1 - SHARE))]])
    truth = np.where(y == 3, -1, y)[rows]
    is_labeled = np.arange(len(rows)) < len(known) - n_wild
    return X[rows], truth, np.where(is_labeled, truth, WILD)


X, TRUTH, Y = draw(0)
X_NEW, TRUTH_NEW, Y_NEW = draw(1)
NEW_OOD = TRUTH_NEW == -1
MODEL = DoubleScoreOODClassifier(
    GaussianNB(),
    novelty_score="mahalanobis",
    min_tpr=0.8,
    max_fpr=0.15,
    wild_label=WILD,
    wild_share=SHARE,
    random_state=0,
)


def rates(model):
    """Return TPR and FPR of new samples."""
    accepted = model.accept(X_NEW)
    return accepted[~NEW_OOD].mean(), accepted[NEW_OOD].mean()


NO_FPR = {"max_fpr": None, "ood_prior": 0.3}
TARGETS = [{}, NO_FPR | {"max_risk": 0.05}, NO_FPR | {"min_precision": 0.9}]
TARGETS += [NO_FPR | {"min_tpr": None, "costs": (0.2, 1.0, 0.0)}]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_the_rule_is_about_the_one_of_labeled_samples(target):
    wild = clone(MODEL).set_params(**target)
    labeled = clone(wild).set_params(wild_label=None, wild_share=None).fit(X, TRUTH)
    wild.fit(X, Y)
    (tpr, fpr), (least_tpr, other_fpr) = rates(wild), rates(labeled)
    assert fpr == pytest.approx(other_fpr, abs=0.06)
    assert min(tpr, least_tpr) > (target.get("min_tpr") or 0.8) - 0.06
    if not target:
        assert max(fpr, other_fpr) < 0.15 + 0.06
        assert wild.rule_.fpr <= 0.15 + 1e-9
        assert (wild.accept(X_NEW) == labeled.accept(X_NEW)).mean() > 0.9


def test_what_is_unlabeled_says_nothing_about_errors():
    model, is_wild = clone(MODEL).fit(X, Y), Y_NEW == WILD
    score = model.score(X_NEW[~is_wild], Y_NEW[~is_wild])
    assert model.score(X_NEW, Y_NEW) == score


def test_a_score_that_learns_from_ood_samples_learns_from_wild_ones():
    score = LikelihoodRatio(KNeighborsClassifier(15))
    model = clone(MODEL).set_params(novelty_score=score, max_fpr=0.3)
    tpr, fpr = rates(model.fit(X, Y))
    assert fpr < tpr - 0.4


def test_a_certificate_and_the_wild():
    model = clone(MODEL).set_params(
        confidence_level=0.9, cv=0.5, max_fpr=0.35, min_tpr=0.7, ood_prior=0.3
    )
    rule = model.fit(X, Y).rule_
    assert (rule.certificate.min_tpr, rule.certificate.max_fpr) == (0.7, 0.35)
    tpr, fpr = rates(model)
    assert tpr > 0.7
    assert fpr < 0.35
    # Of the part held out it says the FPR of the share, and the precision.
    kept = model.calibration_.held_out
    accepted = rule.accept_proba(*kept.scores.T)
    mixed, tpr = accepted[kept.is_ood].mean(), accepted[~kept.is_ood].mean()
    assert rule.fpr == pytest.approx((mixed - (1 - SHARE) * tpr) / SHARE)
    precision = 0.7 * tpr / (0.7 * tpr + 0.3 * max(rule.fpr, 0.0))
    assert rule.precision == pytest.approx(precision)


def test_string_labels_and_the_label_of_ood_samples():
    names = np.array(["a", "b", "c", "?"])[np.where(Y == WILD, 3, Y)]
    model = clone(MODEL).set_params(wild_label="?").fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.ood_label_ == "ood"
    # The label that "auto" means may mark the wild; then none is left for OOD.
    y = np.where(Y == WILD, -1, Y)
    model = clone(MODEL).set_params(wild_label=-1).fit(X, y)
    assert model.ood_label_ is None
    assert model.rule_ == clone(MODEL).fit(X, Y).rule_


INSIDE = TRUTH >= 0


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"wild_share": None}, Y, r"wild_share=None .*Pass both"),
        ({"wild_label": None}, Y, r"wild_label=None .*Pass both"),
        ({"wild_share": 0.0}, Y, "wild_share"),
        ({"wild_share": 1.5}, Y, "wild_share"),
        ({"wild_label": "?"}, Y, "wild_label='\\?', but y holds numbers"),
        (
            {"wild_label": float("nan")},
            Y,
            "wild_label must be None, a number, not NaN",
        ),
        ({"wild_label": 5}, TRUTH, "ood_label=-1, but with wild_label=5.*both to None"),
        ({"wild_label": 5}, TRUTH[INSIDE], "no row with wild_label=5.*max_fpr"),
        ({}, np.where(np.arange(len(Y)) < 9, -1, Y), "ood_label=-1, but with wild_la"),
        ({}, np.full(len(Y), WILD), "only. Add samples of the known classes"),
    ],
)
def test_errors(options, y, message):
    with pytest.raises(ValueError, match=message):
        clone(MODEL).set_params(**options).fit(X[: len(y)], y)


def test_a_label_that_no_sample_has_warns():
    model = clone(MODEL).set_params(wild_label=5, max_fpr=None)
    with pytest.warns(
        RejectionWarning, match="wild_label=5 is not in y.* Pass the label of"
    ):
        model.fit(X[INSIDE], TRUTH[INSIDE])
    assert np.isnan(model.rule_.fpr)


@pytest.mark.parametrize(
    ("options", "scale"),
    [({}, None), ({}, 1e-6), ({}, 1e6), ({"confidence_level": 0.9, "cv": 0.5}, None)],
)
def test_an_fpr_far_below_zero_warns_of_the_share(options, scale):
    weight = None if scale is None else np.full(len(Y), scale)
    model = clone(MODEL).set_params(wild_share=0.1, min_tpr=0.7, **options)
    with pytest.warns(RejectionWarning, match=r"wild_share=0.1 gives an FPR of -.*lar"):
        model.fit(X, Y, sample_weight=weight)
