"""What `cv=None` stands for: folds, or a share held out where folds will not do."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
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


def coverage_error(classifier, X, y, X_new, **options):
    """Return by how much the coverage of new samples is above that of the rule."""
    selective = SelectiveClassifier(
        classifier, target_coverage=0.8, random_state=0, **options
    )
    return selective.fit(X, y).accept_proba(X_new).mean() - 0.8


def deferral_error(classifier, X, y, X_new, **options):
    """Return the same of the share that is deferred."""
    deferring = DeferringClassifier(
        classifier, KNeighborsClassifier(), max_deferral=0.2, **options
    )
    deferring.set_params(gain_score="confidence", random_state=0).fit(X, y)
    return deferring.defer_proba(X_new).mean() - deferring.rule_.deferral_rate


def tpr_error(classifier, X, y, X_new, **options):
    """Return the same of the share of ID samples that a double score accepts."""
    X = np.concatenate([X, X[:200] + 9])
    y = np.concatenate([y, np.full(200, -1)])
    double = DoubleScoreOODClassifier(
        classifier, min_tpr=0.8, max_fpr=1.0, novelty_score="msp", **options
    )
    double.set_params(random_state=0).fit(X, y)
    return double.accept_proba(X_new).mean() - double.rule_.tpr


ISOTONIC = CalibratedClassifierCV(GaussianNB(), method="isotonic", ensemble=False)


@pytest.mark.slow
@pytest.mark.parametrize("error_of", [coverage_error, deferral_error, tpr_error])
@pytest.mark.parametrize(
    "classifier", [tree(1), tree(2), tree(3), tree(5), ISOTONIC, GaussianNB()]
)
def test_new_samples_are_as_those_that_tuned_the_rule(classifier, error_of):
    errors = [error_of(classifier, *draw(seed)) for seed in range(8)]
    assert abs(np.mean(errors)) < 0.03
    assert np.abs(errors).max() < 0.08


@pytest.mark.parametrize("error_of", [coverage_error, deferral_error, tpr_error])
def test_folds_asked_for_stay_with_a_warning_of_both_shares(error_of):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors = [error_of(tree(2), *draw(seed), cv=5) for seed in range(6)]
    told = [str(each.message) for each in caught]
    pattern = r"folds of cv=5 .* (accept|defer)s ([\d.]+) of the cal.* ([\d.]+) by the"
    found = [re.search(pattern, each) for each in told]
    # Where both shares are the same, there is nothing to tell.
    assert 0 < len(found) <= 6
    gaps = sorted(float(each[3]) - float(each[2]) for each in found)
    largest = sorted(errors, key=abs)[-len(gaps) :]
    np.testing.assert_allclose(gaps, sorted(largest), atol=0.08)


@pytest.mark.parametrize(("n_of_rare_class", "n_calibration"), [(9, 23), (10, 12)])
def test_few_samples_are_not_halved(n_of_rare_class, n_calibration):
    y = np.repeat([0, 1], [n_of_rare_class, 14])
    selective = SelectiveClassifier(tree(1), target_coverage=0.5, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selective.fit(np.ones((len(y), 1)), y)
    assert len(selective.calibration_.rows) == n_calibration
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
    selective = SelectiveClassifier(classifier, target_coverage=0.8).fit(X, y)
    assert len(selective.calibration_.rows) == n_calibration


def test_an_expert_is_asked_once():
    X, y, _ = draw(0)
    asked, knows = [], KNeighborsClassifier(1).fit(X, y)

    def expert(rows):
        asked.append(len(rows))
        return knows.predict(rows)

    deferring = DeferringClassifier(
        tree(2), expert, max_deferral=0.2, gain_score="confidence"
    )
    assert len(deferring.fit(X, y).calibration_.rows) == N_FIT // 2
    assert asked == [N_FIT]


LOGISTIC = LogisticRegression(max_iter=1000)


def selective(**options):
    return SelectiveClassifier(LOGISTIC, target_coverage=0.6, **options)


def regressor(**options):
    return SelectiveRegressor(LinearRegression(), target_coverage=0.6, **options)


def deferring(**options):
    return DeferringClassifier(
        LOGISTIC,
        KNeighborsClassifier(),
        max_deferral=0.4,
        gain_score="confidence",
        **options,
    )


def double(**options):
    return DoubleScoreOODClassifier(LOGISTIC, min_tpr=0.6, **options)


@pytest.mark.parametrize("make", [selective, regressor, deferring, double])
def test_a_confidence_level_holds_half_of_the_samples_out(make):
    X, y, X_new = draw(0)
    found, same, other = (
        make(confidence_level=0.9, cv=cv, random_state=0).fit(X, y)
        for cv in (None, 0.5, 0.3)
    )
    assert found.rule_.certificate is not None
    assert found.rule_ == same.rule_ != other.rule_
    decide = "defer" if make is deferring else "accept"
    np.testing.assert_array_equal(
        getattr(found, decide)(X_new), getattr(same, decide)(X_new)
    )


@pytest.mark.parametrize("make", [selective, deferring, double])
def test_classes_that_are_held_out_whole_are_named(make):
    X, y, _ = draw(0)
    y = y.astype(object)
    y[:6] = [*"abcdef"]
    y = y.astype(str)
    model = make(confidence_level=0.9, random_state=0)
    with pytest.warns(RejectionWarning, match="fitted without the classes") as caught:
        model.fit(X, y)
    fitted = model.estimator_.classes_.tolist()
    [told] = [str(w.message) for w in caught if "without the classes" in str(w.message)]
    for label in "abcdef":
        assert (repr(label) in told) == (label not in fitted)
    if make is selective:
        parts = [part.name for part in model.report(X, y).parts]
        assert [f"true {label}, never fitted" in parts for label in "abcdef"] == [
            label not in fitted for label in "abcdef"
        ]


# Splits that are given

HALF = np.arange(10) < 5


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((HALF, ~HALF), "100 samples: boolean index"),
        ((np.arange(50), np.arange(50, 101)), "100 samples: index 100 is out"),
        ((np.arange(50.0), np.arange(50, 100)), "must be of integer"),
    ],
    ids=["mask", "row", "float"],
)
@pytest.mark.parametrize(
    "model",
    [
        SelectiveClassifier(GaussianNB(), target_coverage=0.5),
        SelectiveRegressor(LinearRegression(), target_coverage=0.5),
        DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.5),
        DeferringClassifier(GaussianNB(), GaussianNB(), max_deferral=0.5),
        EnsembleThresholdTuner([("bayes", GaussianNB())], max_fp_per_tp=9),
        ExpectedLossDecoder(GaussianNB()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_splits_of_other_samples_are_refused(model, split, message):
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    with pytest.raises(ValueError, match=f"(?s){message}.*mask of all samples"):
        clone(model).set_params(cv=[split]).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"max_fpr": 0.5}, {"cv": 5}])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_single_ood_sample_tunes_the_rule(options):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + [[0, 0], [4, 0]] * 30, [[9, 9]]])
    y = np.append(np.arange(60) % 2, -1)
    model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.9, **options).fit(X, y)
    assert model.calibration_.is_ood.sum() == 1
    assert model.rule_.fpr == 0
