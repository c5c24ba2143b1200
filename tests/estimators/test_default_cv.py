"""What `cv=None` stands for: folds, or a share held out where folds will not do."""

import re
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning

N_FIT = 1000


def draw(seed, n_new=4000):
    X, y = make_classification(
        N_FIT + n_new, n_features=6, n_informative=4, flip_y=0.15, random_state=seed
    )
    return X[:N_FIT], y[:N_FIT], X[N_FIT:]


def tree(depth):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def selective(estimator, **options):
    options = {"target_coverage": 0.8, "random_state": 0} | options
    return SelectiveClassifier(estimator, **options)


def deferring(estimator, expert=None, **options):
    expert = KNeighborsClassifier() if expert is None else expert
    options = {"max_deferral": 0.2, "gain_score": "confidence"} | options
    return DeferringClassifier(estimator, expert, random_state=0, **options)


def double(estimator, **options):
    options = {"min_tpr": 0.8, "max_fpr": 1.0, "novelty_score": "msp"} | options
    return DoubleScoreOODClassifier(estimator, random_state=0, **options)


def error_of(make, classifier, X, y, X_new, **options):
    """Return how much more of new samples is decided on than the rule says of itself.

    Accepted, deferred, or of those in distribution accepted.
    """
    if make is double:
        X = np.concatenate([X, X[:200] + 9])
        y = np.concatenate([y, np.full(200, -1)])
    model = make(classifier, **options).fit(X, y)
    decide = "defer_proba" if make is deferring else "accept_proba"
    shares = {selective: "coverage", deferring: "deferral_rate", double: "tpr"}
    return getattr(model, decide)(X_new).mean() - getattr(model.rule_, shares[make])


ISOTONIC = CalibratedClassifierCV(GaussianNB(), method="isotonic", ensemble=False)


@pytest.mark.slow
@pytest.mark.parametrize("make", [selective, deferring, double])
@pytest.mark.parametrize(
    "classifier", [tree(1), tree(2), tree(3), tree(5), ISOTONIC, GaussianNB()]
)
def test_new_samples_are_as_those_that_tuned_the_rule(classifier, make):
    errors = [error_of(make, classifier, *draw(seed)) for seed in range(8)]
    assert abs(np.mean(errors)) < 0.03
    assert np.abs(errors).max() < 0.08


@pytest.mark.parametrize("make", [selective, deferring, double])
def test_folds_asked_for_stay_with_a_warning_of_both_shares(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors = [error_of(make, tree(2), *draw(seed), cv=5) for seed in range(6)]
    told = [str(each.message) for each in caught]
    pattern = (
        r"folds of cv=5 .* (accept|defer)s ([\d.]+) of the cal.* ([\d.]+) by the.*"
        "Hold a share out"
    )
    found = [re.search(pattern, each) for each in told]
    # Where both shares are the same, there is nothing to tell.
    assert 0 < len(found) <= 6
    gaps = sorted(float(each[3]) - float(each[2]) for each in found)
    largest = sorted(errors, key=abs)[-len(gaps) :]
    np.testing.assert_allclose(gaps, sorted(largest), atol=0.08)


@pytest.mark.parametrize(("n_of_rare_class", "n_calibration"), [(9, 23), (10, 12)])
def test_few_samples_are_not_halved(n_of_rare_class, n_calibration):
    y = np.repeat([0, 1], [n_of_rare_class, 14])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = selective(tree(1), target_coverage=0.5).fit(np.ones((len(y), 1)), y)
    assert len(model.calibration_.rows) == n_calibration
    told = [str(each.message) for each in caught if "cv=None" in str(each.message)]
    assert len(told) == (n_of_rare_class < 10)
    assert all("With more samples of each class" in message for message in told)


@pytest.mark.parametrize(
    ("classifier", "n_calibration"),
    [
        (LogisticRegression(), N_FIT),
        (DecisionTreeClassifier(random_state=0), N_FIT),
        (KNeighborsClassifier(), N_FIT),
        (tree(3), N_FIT // 2),
    ],
)
def test_folds_where_scores_mean_the_same(classifier, n_calibration):
    X, y, _ = draw(0)
    model = selective(classifier).fit(X, y)
    assert len(model.calibration_.rows) == n_calibration


def test_an_expert_is_asked_once():
    X, y, _ = draw(0)
    asked, knows = [], KNeighborsClassifier(1).fit(X, y)

    def expert(rows):
        asked.append(len(rows))
        return knows.predict(rows)

    model = deferring(tree(2), expert).fit(X, y)
    assert len(model.calibration_.rows) == N_FIT // 2
    assert asked == [N_FIT]


LOGISTIC = LogisticRegression(max_iter=1000)
HELD_OUT = {
    "selective": selective(LOGISTIC, target_coverage=0.6),
    "regressor": SelectiveRegressor(
        LinearRegression(), target_coverage=0.6, random_state=0
    ),
    "deferring": deferring(LOGISTIC, max_deferral=0.4),
    "double": DoubleScoreOODClassifier(LOGISTIC, min_tpr=0.6, random_state=0),
}


@pytest.mark.parametrize("name", HELD_OUT)
def test_a_confidence_level_holds_half_of_the_samples_out(name):
    X, y, X_new = draw(0)
    model = HELD_OUT[name].set_params(confidence_level=0.9)
    decide = "defer" if name == "deferring" else "accept"
    rules, decisions = [], []
    for cv in (None, 0.5, 0.3):
        model.set_params(cv=cv).fit(X, y)
        rules.append(model.rule_)
        decisions.append(getattr(model, decide)(X_new))
    assert rules[0].certificate is not None
    assert rules[0] == rules[1] != rules[2]
    np.testing.assert_array_equal(*decisions[:2])


@pytest.mark.parametrize("name", ["selective", "deferring", "double"])
def test_classes_that_are_held_out_whole_are_named(name):
    X, y, _ = draw(0)
    y = y.astype(object)
    y[:6] = [*"abcdef"]
    y = y.astype(str)
    model = HELD_OUT[name].set_params(confidence_level=0.9, cv=None)
    with pytest.warns(RejectionWarning, match="fitted without the classes") as caught:
        model.fit(X, y)
    fitted = model.estimator_.classes_.tolist()
    [told] = [str(w.message) for w in caught if "without the classes" in str(w.message)]
    lost = [label not in fitted for label in "abcdef"]
    assert [repr(label) in told for label in "abcdef"] == lost
    if name == "selective":
        parts = [part.name for part in model.report(X, y).parts]
        assert [f"true {label}, never fitted" in parts for label in "abcdef"] == lost


@pytest.mark.parametrize("options", [{}, {"max_fpr": 0.5}, {"cv": 5}])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_single_ood_sample_tunes_the_rule(options):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + [[0, 0], [4, 0]] * 30, [[9, 9]]])
    y = np.append(np.arange(60) % 2, -1)
    model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.9, **options).fit(X, y)
    assert model.calibration_.is_ood.sum() == 1
    assert model.rule_.fpr == 0
