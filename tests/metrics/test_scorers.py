"""Scorers: whose loss and labels they take, what rejections cost, and bad options."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    recall_score,
)
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    aurc_score,
    coverage_at_risk_score,
    get_selective_scorer,
    make_selective_scorer,
)
from tests.metrics.tables import OF_ERRORS, OF_NOVELTY, cases_of

X, y = make_classification(
    300, n_features=5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2,
    random_state=0,
)  # fmt: skip
X_test, y_test = X[200:], y[200:]
WEIGHT = 1.0 + np.arange(100) % 4
BAYES = GaussianNB().fit(X[:200], y[:200])
NAMES = np.array(["a", "b", "a much longer class"])
COSTS = np.array([[0.0, 1, 2], [3, 0, 1], [9, 5, 0]])


def uncertainty_of(model, X):
    return 1 - model.predict_proba(X).max(axis=1)


def selective(cost=0.3, labels=y):
    model = SelectiveClassifier(GaussianNB(), reject_cost=cost)
    return model.fit(X[:200], labels[:200])


@pytest.fixture(scope="module")
def rejecting():
    return selective()


@pytest.fixture(scope="module")
def silent():
    model = selective(0.0)
    assert not model.accept(X_test).any()
    return model


# Names and options


@pytest.mark.parametrize(
    ("scorer", "text"),
    [
        (
            get_selective_scorer("neg_aurc"),
            "<selective scorer -aurc_score, normalize=None>",
        ),
        (
            get_selective_scorer("neg_augrc", loss="absolute"),
            "<selective scorer -augrc_score, loss='absolute'>",
        ),
        (
            get_selective_scorer("neg_selective_cost", reject_cost=0.5),
            "<selective scorer -selective_cost_score, reject_cost=0.5>",
        ),
        (
            get_selective_scorer("neg_fpr_at_tpr"),
            "<selective scorer -fpr_at_tpr_score, tpr=0.95, positive='id', "
            "ood_label='auto'>",
        ),
        (
            get_selective_scorer("neg_set_loss", loss="f_beta", beta=2.0),
            "<selective scorer -set_loss, loss='f_beta', beta=2.0, zero_division=0.0, "
            "average='samples', pos_label=None>",
        ),
        (
            make_selective_scorer(log_loss, greater_is_better=False, coverage=0.5),
            "<selective scorer -log_loss, on_reject='count_as_error', coverage=0.5, "
            "reject_penalty=None>",
        ),
    ],
)
def test_repr(scorer, text):
    assert repr(scorer) == text


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("accuracy", {}, r"name must be one of .*'neg_aurc'.*'accuracy'"),
        ("neg_aurc", {"normalize": "prr"}, "With normalize='prr' higher is better"),
        ("neg_deferral_area", {"normalize": "prr"}, "normalize='prr' higher"),
        ("neg_deferral_area", {"normalize": "oracle"}, "normalize must be one of"),
        *(
            ("coverage_at_risk", {"risk": bad}, r"risk must be .*\[0, inf\[")
            for bad in (-0.1, np.nan, np.inf, "0", False)
        ),
        ("neg_selective_cost", {"reject_cost": -1}, "reject_cost must be in"),
        (
            "neg_selective_risk_at_tpr_fpr",
            {"min_tpr": 0, "max_fpr": 1},
            "min_tpr must be",
        ),
        (
            "neg_selective_risk_at_tpr_fpr",
            {"min_tpr": 1, "max_fpr": 2},
            "max_fpr must be",
        ),
        *(
            (
                "neg_selective_risk_at_precision_recall",
                {"min_precision": 0.8, "min_tpr": 0.5, "ood_prior": 0.2} | bad,
                f"{next(iter(bad))} must be",
            )
            for bad in ({"min_precision": 0}, {"min_tpr": 1.5}, {"ood_prior": 1})
        ),
        ("neg_fpr_at_tpr", {"tpr": 0}, "tpr must be"),
        ("neg_fpr_at_tpr", {"positive": "inlier"}, "positive must be"),
        ("neg_set_loss", {"loss": "f2"}, "loss must be one of"),
        ("neg_set_loss", {"beta": 0}, "beta must be in"),
        ("neg_set_loss", {"zero_division": -1}, "zero_division must be in"),
        ("neg_set_loss", {"average": None}, "average must be one of"),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        get_selective_scorer(name, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("coverage_at_risk", {}, "'coverage_at_risk' needs the option 'risk'"),
        ("neg_augrc", {"coverage": 0.1}, r"no option 'coverage'.*\['loss', 'labels'\]"),
    ],
)
def test_options_that_are_missing_or_too_many(name, options, message):
    with pytest.raises(TypeError, match=message):
        get_selective_scorer(name, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_reject": "ignore"}, "on_reject must be one of .*'ignore'"),
        ({"on_reject": "drop"}, r"on_reject='drop'.*coverage=.*count_as_error"),
        ({"coverage": 0}, r"coverage must be in \]0, 1\], got 0"),
        ({"coverage": 1.5}, r"coverage must be in \]0, 1\], got 1.5"),
        ({"coverage": "half"}, "coverage must be a number in .*'half'"),
        *(
            ({"reject_penalty": bad}, "reject_penalty must be a finite number")
            for bad in (np.nan, np.inf, "1", True)
        ),
        *(
            (
                {"reject_penalty": 1, "on_reject": on_reject, "coverage": 0.5},
                r"reject_penalty=1 .*Omit one of",
            )
            for on_reject in ("drop", "error")
        ),
    ],
    ids=str,
)
def test_bad_options_of_made_scorers(options, message):
    with pytest.raises(ValueError, match=message):
        make_selective_scorer(accuracy_score, **options)


def test_what_makes_a_scorer_is_none():
    message = r"makes a scorer and is none.*scoring=make_selective_scorer\(\.\.\.\)"
    with pytest.raises(TypeError, match=message):
        make_selective_scorer(BAYES, X_test, y_test)
    with pytest.raises(TypeError, match=message):
        cross_val_score(
            BAYES, X, y, scoring=make_selective_scorer, error_score="raise", cv=2
        )
    with pytest.raises(TypeError, match="get_selective_scorer"):
        get_selective_scorer(BAYES, X_test, y_test)
    for metric in (
        "f1_macro",
        get_scorer("f1_macro"),
        get_selective_scorer("ood_auroc"),
    ):
        with pytest.raises(TypeError, match=r"must be a function \(y_true, y_pred\)"):
            make_selective_scorer(metric)


# The loss


def test_the_loss_is_that_of_the_estimator():
    model = SelectiveClassifier(GaussianNB(), loss=COSTS, reject_cost=0.5)
    area = get_selective_scorer("neg_aurc")
    for wrapped in (model, make_pipeline(StandardScaler(), model)):
        fitted = clone(wrapped).fit(X[:200], y[:200])
        assert area(fitted, X_test, y_test) == pytest.approx(
            fitted.score(X_test, y_test), rel=1e-12
        )
    fitted = model.fit(X[:200], y[:200])
    scorer = get_selective_scorer("neg_aurc", loss="zero_one")
    samples = y_test, fitted.predict_label(X_test), fitted.uncertainty(X_test)
    assert scorer(fitted, X_test, y_test) == -aurc_score(*samples)


@pytest.mark.parametrize("name", ["neg_aurc", "coverage_at_risk"])
def test_cost_matrix_and_labels(name):
    risk = {"risk": 0.9} if name == "coverage_at_risk" else {}
    make = partial(get_selective_scorer, name, **risk)
    area = lambda *args, **named: -aurc_score(*args, **named)  # noqa: E731
    metric = partial(coverage_at_risk_score, **risk) if risk else area
    names = np.array(["b", "c", "a"])
    model = GaussianNB().fit(X[:200], names[y[:200]])
    truth, labels = names[y_test], model.predict(X_test)
    scores = uncertainty_of(model, X_test)
    options = {"loss": COSTS, "labels": ["c", "a", "b"]}
    expected = metric(truth, labels, scores, **options)
    assert make(**options)(model, X_test, truth) == pytest.approx(expected, rel=1e-12)
    # In the order of the classes, though these samples lack one, as a fold may.
    rows = (truth != "a") & (labels != "a")
    value = make(loss=COSTS)(model, X_test[rows], truth[rows])
    few = truth[rows], labels[rows], scores[rows]
    expected = metric(*few, loss=COSTS, labels=["a", "b", "c"])
    assert value == pytest.approx(expected, rel=1e-12)


def test_losses_in_the_place_of_a_loss_are_told_by_their_shape():
    losses = np.zeros(100)
    with pytest.raises(ValueError, match=r"got an array of shape \(100,\)\."):
        get_selective_scorer("neg_aurc", loss=losses)(BAYES, X_test, y_test)
    with pytest.raises(ValueError, match=r"got loss=an array of shape \(100, 1\)\."):
        aurc_score(None, None, losses, loss=losses[:, np.newaxis])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_class_that_a_fold_lacks_is_no_reject_label():
    """Of classes -1, 0 and 1; a metric of these labels alone would raise."""
    model = GaussianNB().fit(X[:200], y[:200] - 1)
    rows = (y_test > 0) & (model.predict(X_test) < 1)
    assert set(model.predict(X_test[rows])) == {-1, 0}
    for _, scorer, _ in cases_of(OF_ERRORS):
        scorer(model, X_test[rows], y_test[rows] - 1)


def test_coverage_that_cannot_be_had():
    wrong = (BAYES.predict(X_test) + 1) % 3
    scorer = get_selective_scorer("coverage_at_risk", risk=0.1)
    with pytest.warns(UndefinedMetricWarning, match="risk"):
        assert np.isnan(scorer(BAYES, X_test, wrong))


def test_a_classifier_without_any_score():
    class Silent(GaussianNB):
        predict_proba = decision_function = property()

    with pytest.raises(ValueError, match="Silent has neither"):
        get_selective_scorer("neg_aurc")(Silent().fit(X, y), X, y)


# Metrics of predictions, some of which are rejected


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
    recall = make_selective_scorer(recall_score, average="macro")
    recalls = [right[truth == name].mean() for name in names]
    assert recall(model, X_test, truth) == pytest.approx(np.mean(recalls))
    loss = make_selective_scorer(lambda y, k: np.mean(y != k), greater_is_better=False)
    assert loss(model, X_test, truth) == pytest.approx(right.mean() - 1)
    for row in range(20):  # as in LeaveOneOut, where a part has one class
        part = slice(row, row + 1)
        assert accuracy(model, X_test[part], truth[part]) == right[row]


def test_rejecting_everything_is_worst(silent, rejecting):
    assert make_selective_scorer(accuracy_score)(silent, X_test, y_test) == 0
    f1 = make_selective_scorer(f1_score, average="macro")
    assert f1(silent, X_test, y_test) == 0 < f1(rejecting, X_test, y_test)
    # What is wrong is a class, and not cut to the length of the others.
    two = SelectiveClassifier(GaussianNB(), reject_cost=0.0)
    two.fit(X, NAMES[(y > 0).astype(int)])
    seen = []
    metric = lambda _, k: float(bool(seen.append(set(k))))  # noqa: E731
    make_selective_scorer(metric)(two, X_test, NAMES[y_test])
    assert seen[0] <= set(NAMES)


def test_a_single_class_has_no_wrong_label():
    class Rejecting(GaussianNB):
        def uncertainty(self, X):
            return X[:, 0]

        def accept(self, X):
            return np.zeros(len(X), dtype=bool)

    zeros = np.zeros(300, dtype=int)
    with pytest.raises(ValueError, match=r"two classes.*\[0\].*reject_penalty="):
        make_selective_scorer(accuracy_score)(Rejecting().fit(X, zeros), X, zeros)


def test_drop_leaves_out_the_most_uncertain(rejecting):
    scorer = make_selective_scorer(accuracy_score, on_reject="drop", coverage=0.6)
    right = BAYES.predict(X_test) == y_test
    order = np.argsort(uncertainty_of(BAYES, X_test))
    # With weights the share is that of the weights.
    last = np.argmax(np.cumsum(WEIGHT[order]) >= 0.6 * WEIGHT.sum())
    for model in (BAYES, rejecting):
        assert scorer(model, X_test, y_test) == pytest.approx(right[order[:60]].mean())
        kept = order[: last + 1]
        assert scorer(model, X_test, y_test, WEIGHT) == pytest.approx(
            np.average(right[kept], weights=WEIGHT[kept])
        )


@pytest.mark.parametrize("on_reject", ["count_as_error", "drop"])
def test_a_coverage_overrules_the_classifier(on_reject, silent, rejecting):
    scorer = make_selective_scorer(accuracy_score, on_reject=on_reject, coverage=0.6)
    values = [scorer(model, X_test, y_test) for model in (silent, rejecting)]
    assert values[0] == values[1] > 0


def test_error_raises_where_something_is_rejected(rejecting):
    scorer = make_selective_scorer(accuracy_score, on_reject="error")
    n_rejected = np.count_nonzero(~rejecting.accept(X_test))
    message = f"^{n_rejected} samples are rejected.*coverage"
    with pytest.raises(ValueError, match=message):
        scorer(rejecting, X_test, y_test)
    for on_reject in ("count_as_error", "error"):  # a classifier that cannot reject
        scorer = make_selective_scorer(accuracy_score, on_reject=on_reject)
        assert scorer(BAYES, X_test, y_test) == BAYES.score(X_test, y_test)


def test_any_option_of_a_metric_and_weights(rejecting):
    def metric(y_true, y_pred, *, sign, metric):
        return sign * np.mean(y_true == y_pred)

    scorer = make_selective_scorer(metric, sign=2.0, metric="any")
    assert scorer(BAYES, X_test, y_test) == 2 * BAYES.score(X_test, y_test)
    assert "f1_score" in repr(make_selective_scorer(partial(f1_score, average="macro")))
    scorer = make_selective_scorer(accuracy_score)
    assert scorer(BAYES, X_test, y_test, 2.0) == scorer(BAYES, X_test, y_test)
    with pytest.raises(ValueError, match="sample_weight has 1 elements"):
        scorer(BAYES, X_test, y_test, [1.0])


# OOD samples

X_ood, y_ood = make_fpp23_mixture(600, random_state=0)
INSIDE = y_ood != -1
TRAIN, TEST = slice(300), slice(300, None)
INLIERS = GaussianNB().fit(X_ood[TRAIN][INSIDE[TRAIN]], y_ood[TRAIN][INSIDE[TRAIN]])
NOVEL = cases_of(OF_NOVELTY)
each_novel = pytest.mark.parametrize(("name", "scorer", "metric"), NOVEL)


def double(**options):
    options = {"min_tpr": 0.3, "novelty_score": "msp", "cv": 2, **options}
    return DoubleScoreOODClassifier(GaussianNB(), random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    return double().fit(X_ood[TRAIN], y_ood[TRAIN])


@pytest.mark.parametrize("label", [99, "ood"])
def test_the_ood_label_is_that_of_the_estimator(label):
    names = np.array([label, *(["a", "b", "c"] if label == "ood" else [1, 2, 3])])
    labels = names[np.maximum(y_ood, 0)]
    model = double(ood_label=label).fit(X_ood[TRAIN], labels[TRAIN])
    Z, truth = X_ood[TEST], y_ood[TEST]
    assert (model.predict(Z) == model.reject_label_).any()
    numbers = np.searchsorted(names[1:], model.predict_label(Z)) + 1
    for _, scorer, metric in NOVEL:
        if label == 99 or "squared" not in repr(scorer):
            expected = metric(truth, numbers, model.uncertainty(Z))
            value = scorer(model, Z, labels[TEST])
            assert value == pytest.approx(expected, rel=1e-12)


@each_novel
def test_which_samples_are_ood(name, scorer, metric, fitted):
    Z, truth = X_ood[TEST], y_ood[TEST]
    options = next(options for options, each in OF_NOVELTY[name] if each is metric)
    given = partial(get_selective_scorer, name, **options)
    moved = np.where(truth == -1, 99, truth)
    assert given(ood_label=99)(fitted, Z, moved) == scorer(fitted, Z, truth)
    inside = truth != -1
    for each in (scorer, given(ood_label=None)):
        with pytest.warns(UndefinedMetricWarning, match="without OOD"):
            assert np.isnan(each(fitted, Z[inside], truth[inside]))
    odd = truth.copy()
    odd[np.flatnonzero(~inside)[5:]] = 7
    for model in (fitted, INLIERS):
        message = (
            rf"y holds 7 \(\d+ samples\), .*{type(model).__name__} knows nor ood_l"
        )
        with pytest.warns(RejectionWarning, match=message):
            assert np.isfinite(scorer(model, Z, odd))
    # -1 is a class where the classifier was fitted on it, as one of two.
    signs = np.where(y_ood == 1, -1, 1)[INSIDE]
    model = GaussianNB().fit(X_ood[INSIDE], signs)
    for rows in (slice(None), signs == 1, signs == -1):
        with pytest.warns(UndefinedMetricWarning, match="unless -1 is one of two cl"):
            assert np.isnan(scorer(model, X_ood[INSIDE][rows], signs[rows]))
    part = (truth == -1) | (truth == 1)
    assert np.isfinite(scorer(INLIERS, Z[part], truth[part]))


@each_novel
def test_what_cannot_be_scored(name, scorer, metric, fitted):
    Z, truth = X_ood[TEST], y_ood[TEST]
    detector = IsolationForest(n_estimators=5, random_state=0).fit(Z)
    mistaken = GaussianNB().fit(X_ood, y_ood)
    rows = mistaken.predict(Z) != -1
    wild = double(wild_label=99, wild_share=1.0)
    labels = np.where(y_ood == -1, 99, y_ood)
    wild.fit(X_ood[TRAIN], labels[TRAIN])
    for model, samples, message in (
        (detector, (Z, truth), "IsolationForest is an outlier detector"),
        (INLIERS, (Z, None), r"y_true is None, .*Pass one label per sample"),
        (fitted, (Z, truth.astype(str)), "labels of the same kind as y in `fit`"),
        (wild, (Z, labels[TEST]), r"y holds wild_label=99.*Remove these"),
        (mistaken, (Z[rows], truth[rows]), "GaussianNB hold the OOD label -1.*fitted"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer(model, *samples)
    for _, of_errors, _ in cases_of(OF_ERRORS):
        with pytest.raises(ValueError, match=r"y holds wild_label=99.*Remove these"):
            of_errors(wild, Z, labels[TEST])


def test_a_fold_without_ood_samples_says_to_stratify():
    order = np.argsort(y_ood[:200] == -1, kind="stable")  # the OOD rows are the last
    samples = X_ood[order], y_ood[order]
    scorers = {str(number): case[1] for number, case in enumerate(NOVEL)}
    with pytest.warns(UndefinedMetricWarning, match="StratifiedKFold treats the ood"):
        results = cross_validate(double(), *samples, scoring=scorers, cv=KFold(2))
    for name in scorers:
        assert np.isnan(results[f"test_{name}"]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("tpr_fpr", {"min_tpr": 0.999, "max_fpr": 0.0}),
        (
            "precision_recall",
            {"min_precision": 0.999, "min_tpr": 0.99, "ood_prior": 0.5},
        ),
    ],
)
def test_a_number_stands_for_bounds_that_cannot_be_met(name, bounds):
    make = partial(get_selective_scorer, f"neg_selective_risk_at_{name}", **bounds)
    # No warning, which would be an error here.
    assert make(infeasible=1.0)(INLIERS, X_ood, y_ood) == -1
    with pytest.warns(UndefinedMetricWarning, match="is set to NaN"):
        assert np.isnan(make()(INLIERS, X_ood, y_ood))


def test_a_loss_of_classes_never_sees_the_ood_label():
    """But 0/1 loss, for which an OOD sample is an error whatever is predicted."""
    model = double(loss=3.0 * (1 - np.eye(3))).fit(X_ood[TRAIN], y_ood[TRAIN])
    Z, truth = X_ood[TEST], y_ood[TEST]
    area = get_selective_scorer("neg_aurc")
    with pytest.raises(ValueError, match=r"holds the OOD label -1 .*CostMatrixLoss"):
        area(model, Z, truth)
    assert get_selective_scorer("neg_aurc", loss="zero_one")(model, Z, truth) < 0
    inside = truth != -1
    samples = (
        truth[inside],
        model.predict_label(Z[inside]),
        model.uncertainty(Z[inside]),
    )
    value = area(model, Z[inside], truth[inside])
    assert value == pytest.approx(-3 * aurc_score(*samples))
    # With OOD samples, the loss of the estimator is the default, too.
    make = partial(
        get_selective_scorer, "neg_selective_risk_at_tpr_fpr", min_tpr=0.4, max_fpr=0.9
    )
    as_errors = make(loss="zero_one")(model, Z, truth)
    assert make()(model, Z, truth) == pytest.approx(3 * as_errors)
