"""Scorers made of other metrics: what rejected samples count for, or unrated ones."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    mean_absolute_error,
    mean_squared_error,
    precision_score,
    r2_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import sklearn_reject as sr
from sklearn_reject.metrics import make_selective_scorer
from sklearn_reject.scores import SELE
from tests.metrics.models import three_classes

X, y = three_classes(300)
# The noise is what the scores can learn.
TARGETS = X[:, :2] + X[:, :1] * np.random.default_rng(0).normal(size=(300, 2))
X_test, y_test, targets_test = X[200:], y[200:], TARGETS[200:]
WEIGHT = 1.0 + np.arange(100) % 4
BAYES = GaussianNB().fit(X[:200], y[:200])
UNCERTAINTY = 1 - BAYES.predict_proba(X_test).max(axis=1)
NAMES = np.array(["a", "b", "a much longer class"])


class Silent(GaussianNB):
    def uncertainty(self, X):
        return X[:, 0]

    def accept(self, X):
        return np.zeros(len(X), dtype=bool)


def selective(cost=0.3, labels=y):
    model = sr.SelectiveClassifier(GaussianNB(), reject_cost=cost)
    return model.fit(X[:200], labels[:200])


REJECTING, SILENT = selective(), selective(0.0)


def regressor(estimator, targets):
    score = SELE(alphas=0.01)
    model = sr.SelectiveRegressor(
        estimator, uncertainty_score=score, cv=2, random_state=0
    )
    return model.set_params(target_coverage=0.6).fit(X[:200], targets[:200])


NUMBERS = regressor(Ridge(), TARGETS[:, 0])
VECTORS = regressor(LinearRegression(), TARGETS)


@pytest.mark.parametrize("names", [np.arange(3), NAMES], ids=["numbers", "names"])
def test_rejected_samples_count_as_errors(names):
    model, truth = selective(labels=names[y]), names[y_test]
    right = model.accept(X_test) & (model.predict_label(X_test) == truth)
    assert 0 < model.accept(X_test).sum() < 100
    accuracy = make_selective_scorer(accuracy_score)
    for estimator in (model, make_pipeline(FrozenEstimator(model))):
        assert accuracy(estimator, X_test, truth) == pytest.approx(right.mean())
    weighted = accuracy(model, X_test, truth, sample_weight=WEIGHT)
    assert weighted == pytest.approx(np.average(right, weights=WEIGHT))
    assert accuracy(model, X_test, truth, 2.0) == accuracy(model, X_test, truth)
    macro = make_selective_scorer(partial(f1_score, average="macro"), zero_division=0.5)
    assert "f1_score" in repr(macro)
    recall = make_selective_scorer(recall_score, average="macro")
    recalls = [right[truth == name].mean() for name in names]
    assert recall(model, X_test, truth) == pytest.approx(np.mean(recalls))
    loss = make_selective_scorer(lambda y, k: np.mean(y != k), greater_is_better=False)
    assert loss(model, X_test, truth) == pytest.approx(right.mean() - 1)
    for row in range(20):  # as in LeaveOneOut, where a part has one class
        part = slice(row, row + 1)
        assert accuracy(model, X_test[part], truth[part]) == right[row]


def test_rejecting_everything_is_worst():
    assert not SILENT.accept(X_test).any()
    f1 = make_selective_scorer(f1_score, average="macro")
    assert f1(SILENT, X_test, y_test) == 0 < f1(REJECTING, X_test, y_test)
    # What is wrong is a class, and not cut to the length of the others.
    two = sr.SelectiveClassifier(GaussianNB(), reject_cost=0.0)
    two.fit(X, NAMES[(y > 0).astype(int)])
    seen = []
    metric = lambda _, k: float(bool(seen.append(set(k))))  # noqa: E731
    make_selective_scorer(metric)(two, X_test, NAMES[y_test])
    assert seen[0] <= set(NAMES)
    zeros = np.zeros(300, dtype=int)
    with pytest.raises(ValueError, match=r"two classes, got \[0\]\. .*reject_penalty="):
        make_selective_scorer(accuracy_score)(Silent().fit(X, zeros), X, zeros)


def test_what_is_left_to_a_person_is_rejected():
    options = {"deferral_cost": 0.35, "gain_score": "confidence", "cv": 2}
    model = sr.DeferringClassifier(GaussianNB(), **options)
    model.fit(X[:200], y[:200], expert_labels=y[:200])
    deferred, right = model.defer(X_test), model.predict_first(X_test) == y_test
    assert 0 < deferred.sum() < 100
    scorer = make_selective_scorer(accuracy_score, reject_penalty=0.5)
    share = 1 - deferred.mean()
    expected = share * right[~deferred].mean() + (1 - share) * 0.5
    for estimator in (model, make_pipeline(FrozenEstimator(model))):
        assert scorer(estimator, X_test, y_test) == pytest.approx(expected)
    found = make_selective_scorer(accuracy_score)(model, X_test, y_test)
    assert found == np.mean(right & ~deferred)


@pytest.mark.parametrize("model", [BAYES, REJECTING, SILENT])
def test_a_coverage_overrules_the_classifier(model):
    options = {"coverage": 0.6}
    dropped = make_selective_scorer(accuracy_score, on_reject="drop", **options)
    right = BAYES.predict(X_test) == y_test
    order = np.argsort(UNCERTAINTY)
    assert dropped(model, X_test, y_test) == pytest.approx(right[order[:60]].mean())
    as_errors = make_selective_scorer(accuracy_score, **options)
    assert as_errors(model, X_test, y_test) == right[order[:60]].sum() / 100
    # With weights the share is that of the weights.
    kept = order[: 1 + np.argmax(np.cumsum(WEIGHT[order]) >= 0.6 * WEIGHT.sum())]
    expected = np.average(right[kept], weights=WEIGHT[kept])
    assert dropped(model, X_test, y_test, WEIGHT) == pytest.approx(expected)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("metric", [mean_squared_error, mean_absolute_error])
def test_rejected_samples_count_as_the_penalty(metric, weight):
    """The mean over all samples, with the penalty in the place of the rejected ones."""
    truth = targets_test[:, 0]
    errors = abs(truth - NUMBERS.predict(X_test))
    errors = errors ** (2 if metric is mean_squared_error else 1)
    accepted = NUMBERS.accept(X_test)
    assert 0 < accepted.sum() < 100
    options = {"reject_penalty": 1.7, "greater_is_better": False}
    expected = np.average(np.where(accepted, errors, 1.7), weights=weight)
    value = make_selective_scorer(metric, **options)(NUMBERS, X_test, truth, weight)
    assert value == pytest.approx(-expected, rel=1e-12)
    kept = np.isin(np.arange(100), np.argsort(NUMBERS.uncertainty(X_test))[:30])
    at_coverage = make_selective_scorer(metric, coverage=0.3, **options)
    expected = np.where(kept, errors, 1.7).mean()
    assert at_coverage(NUMBERS, X_test, truth) == pytest.approx(-expected)


def test_a_penalty_counts_as_much_as_is_rejected():
    scorer, truth = make_selective_scorer(r2_score, reject_penalty=-0.5), targets_test
    assert scorer(SILENT, X_test, y_test) == -0.5
    accepted = VECTORS.accept(X_test)
    assert scorer(VECTORS, X_test, truth, sample_weight=1.0 * ~accepted) == -0.5
    expected = r2_score(truth[accepted], VECTORS.predict(X_test)[accepted])
    expected = accepted.mean() * (expected + 0.5) - 0.5
    assert scorer(VECTORS, X_test, truth) == pytest.approx(expected)
    plain = Ridge().fit(X, TARGETS)
    assert scorer(plain, X_test, truth) == r2_score(truth, plain.predict(X_test))


@pytest.mark.parametrize("model", [NUMBERS, VECTORS, Ridge()])
def test_a_missing_penalty_is_named(model):
    target = targets_test if model is VECTORS else targets_test[:, 0].round()
    model = model if hasattr(model, "rule_") else model.fit(X_test, target)
    scorer = make_selective_scorer(mean_squared_error, greater_is_better=False)
    with pytest.raises(ValueError, match=r"no label is wrong.*reject_penalty="):
        scorer(model, X_test, target)


DROP = {"on_reject": "drop", "coverage": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_reject": "ignore"}, "on_reject must be one of .*'ignore'"),
        ({"on_reject": "drop"}, r"on_reject='drop'.*coverage=.*count_as_error"),
        ({"coverage": 0}, r"coverage must be in \(0, 1\], got 0"),
        ({"coverage": "half"}, "coverage must be a number in .*'half'"),
        ({"reject_penalty": np.nan}, "reject_penalty must be a finite number"),
        (
            {**DROP, "reject_penalty": 1},
            "got 1 with on_reject='drop'",
        ),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        make_selective_scorer(accuracy_score, **options)


# Rated documents: the others are left out
TRUTH = (y == 1).astype(int)
DOCUMENTS = np.random.default_rng(0).normal(size=(300, 2)) + TRUTH[:, np.newaxis]
IS_RATED = (DOCUMENTS >= 0).any(axis=1)
PARTLY = np.where(IS_RATED, TRUTH, -1)
MODEL = LogisticRegression().fit(DOCUMENTS, TRUTH)
RATED = DOCUMENTS[IS_RATED], TRUTH[IS_RATED]
TUNER = sr.EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")


def hide(missing, dtype=object):
    labels = TRUTH.astype(dtype)
    labels[~IS_RATED] = missing
    return labels


FORMS = {
    "integer": PARTLY,
    "nan": hide(np.nan, float),
    "none": hide(None),
    "text": hide("?"),
    "masked": np.ma.masked_array(TRUTH, mask=~IS_RATED),
    "column": PARTLY[:, np.newaxis].tolist(),
}


def of_rated(metric, label=-1, **options):
    return make_selective_scorer(metric, unrated_label=label, **options)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("metric", [precision_score, f1_score, accuracy_score])
@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_unrated_documents_are_left_out(metric, y):
    expected = metric(RATED[1], MODEL.predict(RATED[0]))
    scorer = of_rated(metric, "?" if y is FORMS["text"] else -1)
    assert scorer(MODEL, DOCUMENTS, y) == pytest.approx(expected)


def test_labels_of_text_frames_and_weights():
    frame, names = pd.DataFrame(DOCUMENTS), np.where(TRUTH == 1, "yes", "no")
    model = LogisticRegression().fit(frame, names)
    predicted, weight = model.predict(frame[IS_RATED]), 1.0 + np.arange(300) % 4
    expected = f1_score(names[IS_RATED], predicted, pos_label="yes")
    scorer = of_rated(f1_score, pos_label="yes")
    assert scorer(model, frame, pd.Series(names).where(IS_RATED, None)) == expected
    assert "unrated_label=-1" in repr(scorer)
    weighed = {"sample_weight": weight[IS_RATED]}
    expected = precision_score(*RATED[1:], predicted == "yes", **weighed)
    value = of_rated(precision_score)(MODEL, DOCUMENTS, PARTLY, weight)
    assert value == pytest.approx(expected)


def test_in_cross_validation_and_searches():
    folds = list(StratifiedKFold(3).split(DOCUMENTS, PARTLY))
    precise, f1 = of_rated(precision_score), of_rated(f1_score)
    values = cross_val_score(TUNER, DOCUMENTS, PARTLY, scoring=precise, cv=folds)
    for value, (train, test) in zip(values, folds, strict=True):
        tuned = TUNER.fit(DOCUMENTS[train], PARTLY[train])
        found = test[(tuned.predict(DOCUMENTS[test]) == 1) & IS_RATED[test]]
        assert value == pytest.approx(TRUTH[found].mean())
    options = {"scoring": {"f1": f1, "p": precise}, "refit": "f1", "cv": 3}
    search = GridSearchCV(TUNER, {"max_fp_per_tp": [3, 1]}, **options)
    precision = search.fit(DOCUMENTS, PARTLY).cv_results_["mean_test_p"]
    assert precision[1] > precision[0]
    with pytest.raises(ValueError, match="no rated documents: all 300 are missing"):
        f1(MODEL, DOCUMENTS, np.full(300, -1))
