"""Scorers: what they measure, of whom, and that rejecting everything never wins."""

import inspect
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    recall_score,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    get_selective_scorer,
    get_selective_scorer_names,
    make_selective_scorer,
    selective_risk_at_coverage_score,
)

X, y = make_classification(
    300,
    n_features=5,
    n_informative=4,
    n_redundant=0,
    n_classes=3,
    flip_y=0.2,
    random_state=0,
)
X_test, y_test = X[200:], y[200:]
WEIGHT = 1.0 + np.arange(100) % 4
BAYES = GaussianNB().fit(X[:200], y[:200])


def arguments_of(estimator):
    """Labels and uncertainties of the test samples, computed by hand."""
    probabilities = estimator.predict_proba(X_test)
    labels = estimator.predict(X_test)
    chosen = np.searchsorted(estimator.classes_, labels)
    others = np.ma.array(probabilities)
    others[np.arange(len(labels)), chosen] = np.ma.masked
    return labels, others.sum(axis=1).data


class Confident(ClassifierMixin, BaseEstimator):
    """A classifier of another package, with its own idea of uncertainty."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def uncertainty(self, X):
        offsets = X[:, np.newaxis] - self.model_.theta_
        return np.linalg.norm(offsets, axis=2).min(axis=1)


SCORERS = {
    "neg_aurc": (
        get_selective_scorer("neg_aurc"),
        lambda *args, **kw: -aurc_score(*args, **kw),
    ),
    "neg_augrc": (
        get_selective_scorer("neg_augrc"),
        lambda *args, **kw: -augrc_score(*args, **kw),
    ),
    "selective_accuracy": (
        get_selective_scorer("selective_accuracy", coverage=0.7),
        lambda *args, **kw: (
            1
            - selective_risk_at_coverage_score(
                *args, coverage=0.7, randomize=True, **kw
            )
        ),
    ),
    "coverage_at_risk": (
        get_selective_scorer("coverage_at_risk", risk=0.25),
        lambda *args, **kw: coverage_at_risk_score(*args, risk=0.25, **kw),
    ),
    "coverage_at_risk, squared": (
        get_selective_scorer("coverage_at_risk", risk=0.5, loss="squared"),
        lambda *args, **kw: coverage_at_risk_score(
            *args, risk=0.5, loss="squared", **kw
        ),
    ),
    "neg_aurc, absolute": (
        get_selective_scorer("neg_aurc", loss="absolute"),
        lambda *args, **kw: -aurc_score(*args, loss="absolute", **kw),
    ),
}


@pytest.fixture(params=sorted(SCORERS))
def pair(request):
    """A scorer, and the metric that it is to agree with."""
    return SCORERS[request.param]


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_value_for_any_classifier(pair, weight):
    scorer, metric = pair
    value = scorer(BAYES, X_test, y_test, sample_weight=weight)
    assert type(value) is float
    expected = metric(y_test, *arguments_of(BAYES), sample_weight=weight)
    assert value == pytest.approx(expected, rel=1e-12)


def test_values_by_hand(pair):
    """Ten samples whose order and errors are known."""

    class Known(Confident):
        def predict(self, X):
            return (X[:, 1] > 0).astype(int)

        def uncertainty(self, X):
            return X[:, 0]

    samples = np.column_stack([np.arange(10), np.ones(10)])
    truth = np.ones(10, dtype=int)
    truth[[4, 9]] = 0
    known = Known().fit(samples, truth)
    errors = np.cumsum(truth == 0)
    risks = errors / np.arange(1, 11)
    expected = {
        SCORERS["neg_aurc"][0]: -risks.mean(),
        SCORERS["neg_augrc"][0]: -(errors.sum() - errors[-1] / 2) / 100,
        SCORERS["selective_accuracy"][0]: 6 / 7,
        SCORERS["coverage_at_risk"][0]: 1.0,
        SCORERS["coverage_at_risk, squared"][0]: 1.0,
        SCORERS["neg_aurc, absolute"][0]: -risks.mean(),
    }
    assert pair[0](known, samples, truth) == pytest.approx(expected[pair[0]])


def test_value_for_a_classifier_of_margins(pair):
    svm = LinearSVC(random_state=0).fit(X[:200], y[:200])
    decision = np.sort(svm.decision_function(X_test))
    uncertainty = decision[:, -2] - decision[:, -1]
    expected = pair[1](y_test, svm.predict(X_test), uncertainty)
    assert pair[0](svm, X_test, y_test) == pytest.approx(expected, rel=1e-12)


def test_value_for_a_classifier_with_its_own_uncertainty(pair):
    confident = Confident().fit(X[:200], y[:200])
    predictions = confident.predict(X_test), confident.uncertainty(X_test)
    expected = pair[1](y_test, *predictions)
    assert pair[0](confident, X_test, y_test) == expected


def test_value_for_selective_classifier_is_that_of_its_score(pair):
    selective = SelectiveClassifier(GaussianNB(), uncertainty_score="entropy")
    selective.fit(X[:200], y[:200])
    entropy = -(BAYES.predict_proba(X_test) * BAYES.predict_log_proba(X_test)).sum(
        axis=1
    )
    expected = pair[1](y_test, BAYES.predict(X_test), entropy)
    assert pair[0](selective, X_test, y_test) == pytest.approx(expected, rel=1e-12)


def test_moved_threshold_is_evaluated_by_its_own_labels(pair):
    labels = (y == 1).astype(int)
    moved = FixedThresholdClassifier(GaussianNB(), threshold=0.2).fit(X, labels)
    predicted = moved.predict(X)
    assert (predicted != moved.predict_proba(X).argmax(axis=1)).any()
    risk = moved.predict_proba(X)[np.arange(len(X)), 1 - predicted]
    assert pair[0](moved, X, labels) == pytest.approx(pair[1](labels, predicted, risk))


def wrap_in_search(estimator):
    return GridSearchCV(estimator, {"target_coverage": [0.5]}, cv=2)


WRAPPINGS = {
    "pipeline": lambda est: make_pipeline(StandardScaler(), est),
    "search": wrap_in_search,
    "both": lambda est: make_pipeline(StandardScaler(), wrap_in_search(est)),
    "nested": lambda est: make_pipeline(
        StandardScaler(), make_pipeline(StandardScaler(), est)
    ),
    "one step": lambda est: Pipeline([("only", est)]),
    "search of pipelines": lambda est: GridSearchCV(
        make_pipeline(StandardScaler(), est),
        {"selectiveclassifier__estimator__C": [1.0]},
        cv=2,
    ),
}


@pytest.fixture(scope="module", params=WRAPPINGS)
def wrapped(request):
    """A classifier with an uncertainty of its own inside of others."""
    selective = SelectiveClassifier(
        LogisticRegression(), uncertainty_score="margin", cv=0.5, random_state=0
    )
    return WRAPPINGS[request.param](selective).fit(X[:200], y[:200])


def test_uncertainty_is_found_inside(pair, wrapped):
    decision = np.sort(wrapped.decision_function(X_test))
    labels = wrapped.classes_[wrapped.decision_function(X_test).argmax(axis=1)]
    expected = pair[1](y_test, labels, decision[:, -2] - decision[:, -1])
    assert pair[0](wrapped, X_test, y_test) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "target", [{"reject_cost": 0.1}, {"target_coverage": 0.3}], ids=str
)
def test_reject_label_is_never_read(target):
    plain = GaussianNB().fit(X, y)
    for label in ("auto", None, -5):
        model = SelectiveClassifier(FrozenEstimator(plain), reject_label=label)
        model.set_params(**target).fit(X, y)
        for scorer, _ in SCORERS.values():
            assert scorer(model, X_test, y_test) == scorer(plain, X_test, y_test)


def test_rejecting_everything_wins_nothing():
    scorers = {name: scorer for name, (scorer, _) in SCORERS.items()}
    modest = SelectiveClassifier(GaussianNB(), reject_cost=0.5).fit(X, y)
    silent = SelectiveClassifier(GaussianNB(), reject_cost=0.0).fit(X, y)
    assert not silent.accept(X_test).any()
    assert modest.accept(X_test).any()
    search = GridSearchCV(
        SelectiveClassifier(GaussianNB()),
        {"reject_cost": [0.5, 0.0]},
        scoring=scorers,
        refit=False,
        cv=2,
    ).fit(X, y)
    for name, scorer in scorers.items():
        assert scorer(silent, X_test, y_test) == scorer(modest, X_test, y_test)
        of_modest, of_silent = search.cv_results_[f"mean_test_{name}"]
        assert of_modest == of_silent


def test_labels_that_are_names(pair):
    names = np.array(["a", "b", "c"])[y]
    scorer, _ = pair
    if "squared" in repr(scorer) or "absolute" in repr(scorer):
        with pytest.raises(ValueError, match="numeric labels"):
            scorer(GaussianNB().fit(X, names), X, names)
    else:
        named = scorer(GaussianNB().fit(X, names), X, names)
        assert named == scorer(GaussianNB().fit(X, y), X, y)


def test_cross_validation(pair):
    scores = cross_val_score(GaussianNB(), X, y, scoring=pair[0], cv=3)
    by_hand = [
        pair[0](GaussianNB().fit(X[train], y[train]), X[test], y[test])
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_array_equal(scores, by_hand)


def test_grid_search_prefers_the_better_order():
    search = GridSearchCV(
        SelectiveClassifier(KNeighborsClassifier()),
        {"estimator__n_neighbors": [1, 15]},
        scoring=get_selective_scorer("neg_aurc"),
        cv=3,
    ).fit(X, y)
    # One neighbor is always certain, so that its errors are in random order.
    assert search.best_params_ == {"estimator__n_neighbors": 15}


def test_coverage_that_cannot_be_had():
    wrong = (BAYES.predict(X_test) + 1) % 3
    with pytest.warns(UndefinedMetricWarning, match="risk"):
        assert np.isnan(
            get_selective_scorer("coverage_at_risk", risk=0.1)(BAYES, X_test, wrong)
        )


# Weights


@pytest.mark.parametrize("name", [n for n in SCORERS if "aurc" not in n])
def test_integer_weights_equal_repeated_rows(name):
    """But for the AuRC, where more samples mean more prefixes: see test_area.py."""
    scorer, _ = SCORERS[name]
    rows = np.repeat(np.arange(100), WEIGHT.astype(int))
    weighted = scorer(BAYES, X_test, y_test, sample_weight=WEIGHT)
    repeated = scorer(BAYES, X_test[rows], y_test[rows])
    assert weighted == pytest.approx(repeated, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1 / 250, 1e12])
def test_only_relative_weights_matter(pair, scale):
    weighted = pair[0](BAYES, X_test, y_test, sample_weight=WEIGHT)
    scaled = pair[0](BAYES, X_test, y_test, sample_weight=scale * WEIGHT)
    assert scaled == pytest.approx(weighted, rel=1e-10)


def test_weights_matter(pair):
    right = BAYES.predict(X_test) == y_test
    plain = pair[0](BAYES, X_test, y_test)
    flattering = pair[0](BAYES, X_test, y_test, sample_weight=np.where(right, 5.0, 1.0))
    assert flattering > plain


@pytest.mark.usefixtures("_routing")
def test_routing_in_cross_validation(pair):
    weight = 1.0 + np.arange(300) % 4
    scorer = pair[0].set_score_request(sample_weight=True)
    model = GaussianNB().set_fit_request(sample_weight=False)
    results = cross_validate(
        model, X, y, scoring=scorer, params={"sample_weight": weight}, cv=3
    )
    by_hand = [
        pair[0](
            GaussianNB().fit(X[train], y[train]),
            X[test],
            y[test],
            sample_weight=weight[test],
        )
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_array_equal(results["test_score"], by_hand)


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("asked", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_routing_in_grid_search(pair, asked):
    weight = 1.0 + np.arange(300) % 4
    selective = SelectiveClassifier(GaussianNB().set_fit_request(sample_weight=True))
    search = GridSearchCV(
        selective.set_fit_request(sample_weight=True),
        {"reject_cost": [0.2]},
        scoring=pair[0].set_score_request(sample_weight=asked),
        cv=3,
    ).fit(X, y, sample_weight=weight)
    by_hand = [
        pair[0](
            GaussianNB().fit(X[train], y[train], weight[train]),
            X[test],
            y[test],
            sample_weight=weight[test] if asked else None,
        )
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)


@pytest.mark.usefixtures("_routing")
def test_routing_under_another_name():
    weight = 1.0 + np.arange(300) % 4
    results = cross_validate(
        GaussianNB(),
        X,
        y,
        scoring={
            "plain": get_selective_scorer("neg_aurc"),
            "weighted": get_selective_scorer("neg_aurc").set_score_request(
                sample_weight="importance"
            ),
        },
        params={"importance": weight},
        cv=3,
        return_estimator=True,
    )
    for fold, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        model = results["estimator"][fold]
        scorer = get_selective_scorer("neg_aurc")
        assert results["test_plain"][fold] == scorer(model, X[test], y[test])
        assert results["test_weighted"][fold] == scorer(
            model, X[test], y[test], sample_weight=weight[test]
        )


@pytest.mark.usefixtures("_routing")
def test_routing_that_nobody_decided_on(pair):
    model = GaussianNB().set_fit_request(sample_weight=False)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(
            model, X, y, scoring=pair[0], params={"sample_weight": np.ones(300)}, cv=3
        )


def test_request_makes_a_new_scorer(pair):
    asking = pair[0].set_score_request(sample_weight=True)
    assert asking is not pair[0]
    assert asking.get_metadata_routing().score.requests == {"sample_weight": True}
    assert pair[0].get_metadata_routing().score.requests == {"sample_weight": None}
    assert asking(BAYES, X_test, y_test) == pair[0](BAYES, X_test, y_test)


# Metrics of labels


def selective_bayes():
    return SelectiveClassifier(GaussianNB(), reject_cost=0.3).fit(X[:200], y[:200])


def test_count_as_error():
    selective = selective_bayes()
    accepted, labels = selective.accept(X_test), selective.predict_label(X_test)
    assert 0 < accepted.sum() < 100
    scorer = make_selective_scorer(accuracy_score)
    right = accepted & (labels == y_test)
    assert scorer(selective, X_test, y_test) == pytest.approx(right.mean())
    weighted = scorer(selective, X_test, y_test, sample_weight=WEIGHT)
    assert weighted == pytest.approx(np.average(right, weights=WEIGHT))


@pytest.mark.parametrize(
    "names", [np.arange(3), np.array(["a", "b", "c"])], ids=["numbers", "names"]
)
def test_count_as_error_of_another_metric(names):
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.3)
    selective.fit(X[:200], names[y[:200]])
    accepted, labels = selective.accept(X_test), selective.predict_label(X_test)
    truth = names[y_test]
    scorer = make_selective_scorer(recall_score, average="macro")
    recalls = [(accepted & (labels == truth))[truth == name].mean() for name in names]
    assert scorer(selective, X_test, truth) == pytest.approx(np.mean(recalls))


def test_count_as_error_of_everything_is_worst():
    silent = SelectiveClassifier(GaussianNB(), reject_cost=0.0).fit(X[:200], y[:200])
    assert make_selective_scorer(accuracy_score)(silent, X_test, y_test) == 0
    f1 = make_selective_scorer(f1_score, average="macro")
    assert f1(silent, X_test, y_test) == 0
    assert f1(selective_bayes(), X_test, y_test) > 0


def test_count_as_error_needs_another_class():
    class OneClass(Confident):
        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def accept(self, X):
            return np.zeros(len(X), dtype=bool)

    scorer, zeros = make_selective_scorer(accuracy_score), np.zeros(300, dtype=int)
    with pytest.raises(ValueError, match=r"two classes.*\[0\].*reject_penalty="):
        scorer(OneClass().fit(X, zeros), X, zeros)


def test_drop_leaves_out_the_most_uncertain():
    scorer = make_selective_scorer(accuracy_score, on_reject="drop", coverage=0.6)
    for model in (BAYES, selective_bayes()):
        labels, uncertainty = arguments_of(BAYES)
        kept = np.argsort(uncertainty)[:60]
        right = labels == y_test
        assert scorer(model, X_test, y_test) == pytest.approx(right[kept].mean())
        # With weights the share is that of the weights.
        order = np.argsort(uncertainty)
        reached = np.cumsum(WEIGHT[order]) >= 0.6 * WEIGHT.sum()
        kept = order[: np.argmax(reached) + 1]
        assert scorer(model, X_test, y_test, sample_weight=WEIGHT) == pytest.approx(
            np.average(right[kept], weights=WEIGHT[kept])
        )


def test_drop_without_coverage_is_refused():
    with pytest.raises(
        ValueError, match=r"on_reject='drop'.*coverage=.*count_as_error"
    ):
        make_selective_scorer(accuracy_score, on_reject="drop")


def test_error_raises_where_something_is_rejected():
    scorer = make_selective_scorer(accuracy_score, on_reject="error")
    selective = selective_bayes()
    n_rejected = np.count_nonzero(~selective.accept(X_test))
    with pytest.raises(
        ValueError, match=f"^{n_rejected} samples are rejected.*coverage"
    ):
        scorer(selective, X_test, y_test)
    assert scorer(BAYES, X_test, y_test) == BAYES.score(X_test, y_test)


@pytest.mark.parametrize("on_reject", ["count_as_error", "error"])
def test_classifier_that_cannot_reject_accepts_all(on_reject):
    scorer = make_selective_scorer(f1_score, on_reject=on_reject, average="macro")
    expected = f1_score(y_test, BAYES.predict(X_test), average="macro")
    assert scorer(BAYES, X_test, y_test) == expected


@pytest.mark.parametrize("on_reject", ["count_as_error", "drop"])
def test_coverage_overrules_the_classifier(on_reject):
    scorer = make_selective_scorer(accuracy_score, on_reject=on_reject, coverage=0.6)
    values = {
        scorer(
            SelectiveClassifier(GaussianNB(), reject_cost=cost).fit(X[:200], y[:200]),
            X_test,
            y_test,
        )
        for cost in (0.0, 0.3, 0.99)
    }
    assert len(values) == 1


def test_acceptance_is_found_inside_a_pipeline():
    scorer = make_selective_scorer(accuracy_score)
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.3)
    pipeline = make_pipeline(StandardScaler(), selective).fit(X[:200], y[:200])
    predicted = pipeline.predict(X_test)
    assert scorer(pipeline, X_test, y_test) == pytest.approx(
        (predicted == y_test).mean()
    )


def test_loss_turns_its_sign():
    def share_of_errors(y_true, y_pred):
        return np.mean(y_true != y_pred)

    scorer = make_selective_scorer(share_of_errors, greater_is_better=False)
    selective = selective_bayes()
    wrong = selective.predict(X_test) != y_test
    assert scorer(selective, X_test, y_test) == pytest.approx(-wrong.mean())


def test_made_scorer_in_cross_validation():
    scorer = make_selective_scorer(
        f1_score, average="macro", on_reject="drop", coverage=0.8
    )
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    scores = cross_val_score(selective, X, y, scoring=scorer, cv=3)
    by_hand = [
        scorer(clone(selective).fit(X[train], y[train]), X[test], y[test])
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_array_equal(scores, by_hand)
    assert min(scores) > 0


@pytest.mark.usefixtures("_routing")
def test_made_scorer_takes_a_request():
    scorer = make_selective_scorer(accuracy_score).set_score_request(sample_weight=True)
    assert scorer.get_metadata_routing().score.requests == {"sample_weight": True}
    results = cross_validate(
        GaussianNB().set_fit_request(sample_weight=False),
        X,
        y,
        scoring=scorer,
        params={"sample_weight": np.r_[np.ones(299), 1e9]},
        cv=[(np.arange(200), np.arange(200, 300))],
    )
    assert results["test_score"][0] == pytest.approx(
        float(BAYES.predict(X[-1:])[0] == y[-1]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"on_reject": "ignore"}, "on_reject must be one of .*'ignore'"),
        ({"on_reject": None}, "on_reject must be one of .*None"),
        ({"coverage": 0}, r"coverage must be in \]0, 1\], got 0"),
        ({"coverage": 1.5}, r"coverage must be in \]0, 1\], got 1.5"),
        ({"coverage": "half"}, "coverage must be a number in .*'half'"),
    ],
    ids=str,
)
def test_made_scorer_checks_its_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_selective_scorer(accuracy_score, **arguments)


# Names


def test_names():
    names = get_selective_scorer_names()
    assert names == [
        "coverage_at_risk",
        "neg_augrc",
        "neg_aurc",
        "neg_deferral_area",
        "neg_fpr_at_tpr",
        "neg_selective_cost",
        "neg_selective_risk_at_precision_recall",
        "neg_selective_risk_at_tpr_fpr",
        "neg_set_loss",
        "ood_auroc",
        "oscr",
        "selective_accuracy",
    ]


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("neg_aurc", {}, get_selective_scorer("neg_aurc")),
        ("neg_augrc", {}, get_selective_scorer("neg_augrc")),
        (
            "selective_accuracy",
            {"coverage": 0.4},
            get_selective_scorer("selective_accuracy", coverage=0.4),
        ),
        (
            "coverage_at_risk",
            {"risk": 0.2},
            get_selective_scorer("coverage_at_risk", risk=0.2),
        ),
        (
            "coverage_at_risk",
            {"risk": 0.2, "loss": "squared"},
            get_selective_scorer("coverage_at_risk", risk=0.2, loss="squared"),
        ),
    ],
    ids=str,
)
def test_scorer_by_name(name, params, expected):
    scorer = get_selective_scorer(name, **params)
    assert scorer(BAYES, X_test, y_test) == expected(BAYES, X_test, y_test)


def test_excess_area():
    scorer = get_selective_scorer("neg_aurc", normalize="excess")
    expected = aurc_score(y_test, *arguments_of(BAYES), normalize="excess")
    assert scorer(BAYES, X_test, y_test) == pytest.approx(-expected)


def test_prediction_rejection_ratio_does_not_get_its_sign_turned():
    """It is better when higher, so that "neg_aurc" takes it as it is or not at all."""
    try:
        scorer = get_selective_scorer("neg_aurc", normalize="prr")
    except (TypeError, ValueError):
        return
    expected = aurc_score(y_test, *arguments_of(BAYES), normalize="prr")
    assert scorer(BAYES, X_test, y_test) == pytest.approx(expected)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(
        ValueError, match=r"name must be one of .*'neg_aurc'.*'accuracy'"
    ):
        get_selective_scorer("accuracy")


@pytest.mark.parametrize("name", ["selective_accuracy", "coverage_at_risk"])
def test_name_without_its_option(name):
    with pytest.raises(TypeError, match=r"coverage|risk"):
        get_selective_scorer(name)


@pytest.mark.parametrize("coverage", [0, -1, 1.01, np.nan, "1", True])
def test_coverage_is_checked(coverage):
    with pytest.raises(ValueError, match=r"coverage must be .*\]0, 1\]"):
        get_selective_scorer("selective_accuracy", coverage=coverage)


@pytest.mark.parametrize("risk", [-0.1, np.nan, np.inf, "0", False])
def test_risk_is_checked(risk):
    with pytest.raises(ValueError, match=r"risk must be .*\[0, inf\["):
        get_selective_scorer("coverage_at_risk", risk=risk)


def test_classifier_without_any_score(pair):
    class Silent(Confident):
        uncertainty = property()

    with pytest.raises(ValueError, match="Silent has neither"):
        pair[0](Silent().fit(X, y), X, y)


# Copies


def test_pickle_and_repr(pair):
    asking = pair[0].set_score_request(sample_weight=True)
    copy = pickle.loads(pickle.dumps(asking))
    assert repr(copy) == repr(asking) == repr(pair[0])
    assert repr(copy).startswith("<selective scorer ")
    assert copy.get_metadata_routing().score.requests == {"sample_weight": True}
    assert copy(BAYES, X_test, y_test) == pair[0](BAYES, X_test, y_test)


@pytest.mark.parametrize(
    ("scorer", "text"),
    [
        (
            get_selective_scorer("neg_aurc"),
            "<selective scorer -aurc_score, interpolation='mean'",
        ),
        (
            get_selective_scorer("neg_augrc", loss="absolute"),
            "<selective scorer -augrc_score, loss='absolute'>",
        ),
        (
            get_selective_scorer("selective_accuracy", coverage=0.5),
            "selective_accuracy_score, coverage=0.5>",
        ),
        (
            get_selective_scorer("coverage_at_risk", risk=0.1),
            "coverage_at_risk_score, risk=0.1",
        ),
        (
            make_selective_scorer(log_loss, greater_is_better=False, coverage=0.5),
            "-log_loss, on_reject='count_as_error', coverage=0.5",
        ),
    ],
    ids=["area", "loss", "accuracy", "coverage", "made"],
)
def test_repr(scorer, text):
    assert text in repr(scorer)


def test_pickle_of_a_made_scorer():
    scorer = make_selective_scorer(f1_score, average="macro")
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy(BAYES, X_test, y_test) == scorer(BAYES, X_test, y_test)


def test_clone_of_a_search_keeps_the_scorer():
    search = GridSearchCV(GaussianNB(), {}, scoring=get_selective_scorer("neg_aurc"))
    assert clone(search).fit(X, y).best_score_ == search.fit(X, y).best_score_


def test_metrics_without_a_name_and_with_any_option():
    partial_metric = partial(f1_score, average="macro")
    assert "f1_score" in repr(make_selective_scorer(partial_metric))

    def metric(y_true, y_pred, *, sign, metric):
        return sign * np.mean(y_true == y_pred)

    scorer = make_selective_scorer(metric, sign=2.0, metric="any")
    assert scorer(BAYES, X_test, y_test) == 2 * BAYES.score(X_test, y_test)


def test_mistakes_are_not_cut_to_shorter_labels():
    names = np.array(["a", "b", "a much longer class"])
    silent = SelectiveClassifier(GaussianNB(), reject_cost=0.0)
    silent.fit(X[:200], np.array(["a", "b"])[(y[:200] > 0).astype(int)])
    seen = []

    def metric(y_true, y_pred):
        seen.append(set(y_pred))
        return 0.0

    make_selective_scorer(metric)(silent, X_test, names[y_test])
    assert seen[0] <= set(names)


@pytest.mark.parametrize("names", [(0, 1, 2), ("a", "b", "a much longer class")])
def test_rejections_are_errors_in_a_part_of_one_class(names):
    names = np.array(names)
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.05)
    selective.fit(X[:200], names[y[:200]])
    scorer = make_selective_scorer(accuracy_score)
    for row in range(20):  # as in LeaveOneOut
        part = X_test[row : row + 1], names[y_test[row : row + 1]]
        right = selective.accept(part[0]) & (
            selective.predict_label(part[0]) == part[1]
        )
        assert scorer(selective, *part) == right[0]


@pytest.mark.parametrize(
    "metric",
    ["f1_macro", get_scorer("f1_macro"), get_selective_scorer("neg_aurc")],
    ids=str,
)
def test_a_scorer_is_no_metric(metric):
    with pytest.raises(TypeError, match=r"must be a function \(y_true, y_pred\)"):
        make_selective_scorer(metric)


def test_losses_in_the_place_of_a_loss_are_told_by_their_shape():
    losses = np.zeros(100)
    with pytest.raises(ValueError, match=r"got an array of shape \(100,\)\."):
        get_selective_scorer("neg_aurc", loss=losses)(BAYES, X_test, y_test)
    with pytest.raises(ValueError, match=r"got loss=an array of shape \(100, 1\)\."):
        aurc_score(None, None, losses, loss=losses[:, np.newaxis])


def test_weights_are_checked_in_made_scorers():
    scorer = make_selective_scorer(accuracy_score)
    assert scorer(BAYES, X_test, y_test, 2.0) == scorer(BAYES, X_test, y_test)
    with pytest.raises(ValueError, match="sample_weight has 1 elements"):
        scorer(BAYES, X_test, y_test, [1.0])


# What makes a scorer is none


def test_a_factory_called_as_a_scorer_says_so_at_once():
    message = r"makes a scorer and is none.*scoring=make_selective_scorer\(\.\.\.\)"
    with pytest.raises(TypeError, match=message):
        make_selective_scorer(BAYES, X_test, y_test)
    with pytest.raises(TypeError, match=message):
        cross_val_score(
            GaussianNB(), X, y, scoring=make_selective_scorer, cv=2, error_score="raise"
        )
    with pytest.raises(TypeError, match="get_selective_scorer"):
        get_selective_scorer(BAYES, X_test, y_test)


def test_every_name_is_in_the_table_of_the_docstring():
    doc = inspect.getdoc(get_selective_scorer)
    for name in get_selective_scorer_names():
        assert f'"{name}"' in doc


# The loss is that of the estimator


COSTS = np.array([[0.0, 1, 2], [3, 0, 1], [9, 5, 0]])


def test_the_loss_of_the_estimator_is_the_default():
    selective = SelectiveClassifier(GaussianNB(), loss=COSTS, reject_cost=0.5)
    for model in (selective, make_pipeline(StandardScaler(), selective)):
        fitted = clone(model).fit(X[:200], y[:200])
        assert get_selective_scorer("neg_aurc")(
            fitted, X_test, y_test
        ) == pytest.approx(fitted.score(X_test, y_test), rel=1e-12)
    fitted = selective.fit(X[:200], y[:200])
    scorer = get_selective_scorer("neg_aurc", loss="zero_one")
    samples = y_test, fitted.predict_label(X_test), fitted.uncertainty(X_test)
    assert scorer(fitted, X_test, y_test) == -aurc_score(*samples)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("neg_aurc", lambda *args, **kw: -aurc_score(*args, **kw)),
        ("neg_augrc", lambda *args, **kw: -augrc_score(*args, **kw)),
        ("coverage_at_risk", coverage_at_risk_score),
    ],
)
def test_cost_matrix_and_labels(name, metric):
    risk = {"risk": 0.9} if name == "coverage_at_risk" else {}
    make = partial(get_selective_scorer, name, **risk)
    metric = partial(metric, **risk)
    names = np.array(["b", "c", "a"])
    model = GaussianNB().fit(X[:200], names[y[:200]])
    truth = names[y_test]
    labels, uncertainty = model.predict(X_test), arguments_of(BAYES)[1]
    options = {"loss": COSTS, "labels": ["c", "a", "b"]}
    expected = metric(truth, labels, uncertainty, **options)
    assert make(**options)(model, X_test, truth) == pytest.approx(expected, rel=1e-12)
    # In the order of the classes, though these samples lack one, as a fold may.
    here = truth != "a"
    assert set(labels[here]) | set(truth[here]) == {"a", "b", "c"}
    rows = here & (labels != "a")
    value = make(loss=COSTS)(model, X_test[rows], truth[rows])
    few = truth[rows], labels[rows], uncertainty[rows]
    expected = metric(*few, loss=COSTS, labels=["a", "b", "c"])
    assert value == pytest.approx(expected, rel=1e-12)


def test_a_class_that_a_fold_lacks_is_no_reject_label():
    """Of classes -1, 0 and 1; a metric of these labels alone would raise."""
    model = GaussianNB().fit(X[:200], y[:200] - 1)
    rows = (y_test > 0) & (model.predict(X_test) < 1)
    assert set(model.predict(X_test[rows])) == {-1, 0}
    for scorer, _ in SCORERS.values():
        with warnings.catch_warnings():
            # What no threshold keeps is another matter.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            scorer(model, X_test[rows], y_test[rows] - 1)
