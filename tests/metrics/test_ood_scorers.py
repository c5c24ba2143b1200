"""Scorers of samples of which some are OOD."""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, roc_auc_score, roc_curve
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    aurc_score,
    fpr_at_tpr_score,
    get_selective_scorer,
    get_selective_scorer_names,
    ood_auroc_score,
    oscr_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)

X, y = make_fpp23_mixture(800, random_state=0)
INSIDE = y != -1
X_train, y_train = X[:400][INSIDE[:400]], y[:400][INSIDE[:400]]
X_test, y_test = X[400:], y[400:]
WEIGHT = 1.0 + np.arange(400) % 4
BAYES = GaussianNB().fit(X_train, y_train)

TPR_FPR = {"min_tpr": 0.4, "max_fpr": 0.2}
PRECISION_RECALL = {"min_precision": 0.85, "min_tpr": 0.4, "ood_prior": 0.2}
FPR, PRECISION = (
    selective_risk_at_tpr_fpr_score,
    selective_risk_at_precision_recall_score,
)


def without_labels(metric, **fixed):
    """Return a metric that takes predictions, and does not look at them."""

    def of_labels(y_true, y_pred, uncertainty, **options):
        return metric(y_true, uncertainty, **fixed, **options)

    return of_labels


# Name, options, sign and metric.
CASES = [
    ("neg_selective_risk_at_tpr_fpr", TPR_FPR, -1, partial(FPR, **TPR_FPR)),
    (
        "neg_selective_risk_at_tpr_fpr",
        {**TPR_FPR, "loss": "squared"},
        -1,
        partial(FPR, **TPR_FPR, loss="squared"),
    ),
    (
        "neg_selective_risk_at_precision_recall",
        PRECISION_RECALL,
        -1,
        partial(PRECISION, **PRECISION_RECALL),
    ),
    ("oscr", {}, 1, oscr_score),
    ("oscr", {"definition": "franc"}, 1, partial(oscr_score, definition="franc")),
    ("ood_auroc", {}, 1, without_labels(ood_auroc_score)),
    ("neg_fpr_at_tpr", {}, -1, without_labels(fpr_at_tpr_score, positive="id")),
    (
        "neg_fpr_at_tpr",
        {"tpr": 0.7, "positive": "ood"},
        -1,
        without_labels(fpr_at_tpr_score, tpr=0.7, positive="ood"),
    ),
]
MAKERS = {
    "neg_selective_risk_at_tpr_fpr": partial(
        get_selective_scorer, "neg_selective_risk_at_tpr_fpr"
    ),
    "neg_selective_risk_at_precision_recall": (
        partial(get_selective_scorer, "neg_selective_risk_at_precision_recall")
    ),
    "oscr": partial(get_selective_scorer, "oscr"),
    "ood_auroc": partial(get_selective_scorer, "ood_auroc"),
    "neg_fpr_at_tpr": partial(get_selective_scorer, "neg_fpr_at_tpr"),
}


WRAPPERS = [
    lambda model: model,
    lambda model: make_pipeline(StandardScaler(), model),
    lambda model: GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {"doublescoreoodclassifier__cv": [2]},
        cv=2,
    ),
]


def maker(case):
    """Return the scorer of a case."""
    return MAKERS[case[0]](**case[1])


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request):
    """A scorer, a sign and the metric that it is to agree with."""
    name, options, sign, metric = request.param
    return MAKERS[name](**options), sign, metric


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_value_for_any_classifier(case, weight):
    scorer, sign, metric = case
    value = scorer(BAYES, X_test, y_test, sample_weight=weight)
    assert type(value) is float
    probabilities = BAYES.predict_proba(X_test)
    uncertainty = np.sort(probabilities)[:, :2].sum(axis=1)
    labels = BAYES.predict(X_test)
    expected = metric(y_test, labels, uncertainty, sample_weight=weight)
    assert value == pytest.approx(sign * expected, rel=1e-12)


@pytest.fixture(scope="module")
def fitted_double():
    """A classifier that rejects by two scores."""
    return double(novelty_score="msp").fit(X[:400], y[:400])


def test_value_for_a_double_score(case, fitted_double):
    scorer, sign, metric = case
    model = fitted_double
    assert (model.predict(X_test) == -1).any()
    expected = metric(y_test, model.predict_label(X_test), model.uncertainty(X_test))
    assert scorer(model, X_test, y_test) == pytest.approx(sign * expected, rel=1e-12)


def test_a_reject_label_is_never_read(case):
    # The reject label of the wrapper is the OOD label, and yet no prediction.
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.2)
    model = make_pipeline(StandardScaler(), selective).fit(X_train, y_train)
    assert (model.predict(X_test) == -1).any()
    assert np.isfinite(case[0](model, X_test, y_test))


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_labels_that_are_names(name):
    options = dict(next(c[1] for c in CASES if c[0] == name))
    scorer = MAKERS[name](**options)
    names = np.array(["ood", "a", "b", "c"])
    named = GaussianNB().fit(X_train, names[y_train])
    value = scorer(named, X_test, names[np.maximum(y_test, 0)])
    assert value == scorer(BAYES, X_test, y_test)


def test_samples_without_ood(case):
    inside = y_test != -1
    with pytest.warns(UndefinedMetricWarning, match="without OOD"):
        assert np.isnan(case[0](BAYES, X_test[inside], y_test[inside]))


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_another_ood_label(name):
    options = dict(next(c[1] for c in CASES if c[0] == name))
    labels = np.where(y == -1, 99, y)
    value = MAKERS[name](**options, ood_label=99)(BAYES, X_test, labels[400:])
    assert value == MAKERS[name](**options)(BAYES, X_test, y_test)


@pytest.mark.parametrize(
    "label", [99, pytest.param("novel", marks=pytest.mark.slow), "ood"]
)
@pytest.mark.parametrize("wrap", WRAPPERS, ids=["alone", "pipeline", "search"])
def test_the_ood_label_is_that_of_the_estimator(label, wrap):
    others = ["a", "b", "c"] if isinstance(label, str) else [1, 2, 3]
    names = np.array([label, *others])
    labels = names[np.maximum(y, 0)]
    model = wrap(double(novelty_score="msp", ood_label=label))
    model.fit(X[:400], labels[:400])
    inner, Z = getattr(model, "best_estimator_", model), X_test
    if hasattr(inner, "steps"):
        inner, Z = inner[-1], inner[:-1].transform(X_test)
    arguments = labels[400:], inner.predict_label(Z), inner.uncertainty(Z)
    for case in CASES:
        if case[1].get("loss") == "squared" and isinstance(label, str):
            continue
        expected = case[2] * case[3](*arguments, ood_label=label)
        value = maker(case)(model, X_test, labels[400:])
        assert value == pytest.approx(expected, rel=1e-12)


def test_a_label_that_is_given_wins(case, fitted_double):
    """Whatever the estimator was fitted with."""
    name, options, *_ = next(c for c in CASES if repr(case[0]) == repr(maker(c)))
    moved = np.where(y_test == -1, 99, y_test)
    value = MAKERS[name](**options, ood_label=99)(fitted_double, X_test, moved)
    assert value == case[0](fitted_double, X_test, y_test)
    inside, scorer = y_test != -1, MAKERS[name](**options, ood_label=None)
    with pytest.warns(UndefinedMetricWarning, match="without OOD"):
        assert np.isnan(scorer(fitted_double, X_test[inside], y_test[inside]))


def test_labels_that_are_neither_class_nor_ood(case, fitted_double):
    for label in (7, -2):
        odd = y_test.copy()
        odd[np.flatnonzero(y_test == -1)[5:]] = label
        for model in (fitted_double, BAYES):
            with pytest.warns(
                RejectionWarning,
                match=rf"y holds {label} \(\d+ samples\), which is neither one of the "
                rf"classes .*{type(model).__name__} knows nor ood_label=-1.* as errors",
            ):
                assert np.isfinite(case[0](model, X_test, odd))


def test_outlier_detectors_are_told_where_to_go(case):
    detector = IsolationForest(n_estimators=5, random_state=0).fit(X_train)
    outliers = np.where(y_test == -1, -1, 1)
    with pytest.raises(ValueError, match="IsolationForest is an outlier detector"):
        case[0](detector, X_test, outliers)
    assert np.isfinite(get_scorer("roc_auc")(detector, X_test, outliers))


def test_labels_of_another_kind_or_none(case):
    with pytest.raises(
        ValueError, match=r"y_true is None, .*Pass one label per sample"
    ):
        case[0](BAYES, X_test, None)
    model = double(novelty_score="msp").fit(X[:400], y[:400])
    with pytest.raises(ValueError, match="Pass labels of the same kind as y in `fit`"):
        case[0](model, X_test, y_test.astype(str))


def test_wild_samples_cannot_be_scored(case):
    labels = np.where(y == -1, 99, y)
    model = double(novelty_score="msp", wild_label=99, wild_share=1.0)
    model.fit(X[:400], labels[:400])
    with pytest.raises(ValueError, match=r"y holds wild_label=99.*Remove these"):
        case[0](model, X_test, labels[400:])


@pytest.mark.parametrize(
    ("name", "options"),
    [("neg_aurc", {}), ("neg_augrc", {}), ("selective_accuracy", {"coverage": 0.8})],
)
def test_scorers_of_errors_do_not_take_wild_samples_for_errors(name, options):
    labels = np.where(y == -1, 99, y)
    model = double(novelty_score="msp", wild_label=99, wild_share=1.0)
    model.fit(X[:400], labels[:400])
    with pytest.raises(ValueError, match=r"y holds wild_label=99.*Remove these"):
        get_selective_scorer(name, **options)(model, X_test, labels[400:])


def test_minus_one_is_a_class_of_two(case):
    """Of a classifier that was fitted on it."""
    signs = np.where(y_train == 1, -1, 1)
    model = GaussianNB().fit(X_train, signs)
    for rows in (slice(None), signs == 1, signs == -1):
        with pytest.warns(
            UndefinedMetricWarning, match="unless -1 is one of two class"
        ):
            assert np.isnan(case[0](model, X_train[rows], signs[rows]))
    # Where they are not, -1 marks OOD samples, even beside one of the classes only.
    part = (y_test == -1) | (y_test == 1)
    assert np.isfinite(case[0](BAYES, X_test[part], y_test[part]))


def test_separation_scorers_are_those_of_scikit_learn():
    uncertainty = np.sort(BAYES.predict_proba(X_test))[:, :2].sum(axis=1)
    inlier = y_test != -1
    for weight in (None, WEIGHT):
        value = get_selective_scorer("ood_auroc")(
            BAYES, X_test, y_test, sample_weight=weight
        )
        expected = roc_auc_score(inlier, -uncertainty, sample_weight=weight)
        assert value == pytest.approx(expected)
        fpr, tpr, _ = roc_curve(
            inlier, -uncertainty, sample_weight=weight, drop_intermediate=False
        )
        value = get_selective_scorer("neg_fpr_at_tpr")(
            BAYES, X_test, y_test, sample_weight=weight
        )
        assert value == pytest.approx(-fpr[tpr >= 0.95].min())


@pytest.mark.parametrize(
    ("scorer", "text"),
    [
        (
            get_selective_scorer("ood_auroc"),
            "<selective scorer ood_auroc_score, ood_label='auto'>",
        ),
        (
            get_selective_scorer("neg_fpr_at_tpr"),
            "<selective scorer -fpr_at_tpr_score, tpr=0.95, positive='id', "
            "ood_label='auto'>",
        ),
    ],
)
def test_repr_of_separation(scorer, text):
    assert repr(scorer) == text


def test_a_fold_without_ood_samples_says_to_stratify():
    order = np.argsort(y[:200] == -1, kind="stable")  # the OOD rows are the last
    samples, model = (X[order], y[order]), double(novelty_score="msp")
    scorers = {str(k): maker(case) for k, case in enumerate(CASES)}
    with pytest.warns(UndefinedMetricWarning, match="StratifiedKFold treats the ood"):
        results = cross_validate(model, *samples, scoring=scorers, cv=KFold(2))
    for name in scorers:
        assert np.isnan(results[f"test_{name}"]).tolist() == [True, False]
    results = cross_validate(model, *samples, scoring=scorers, cv=2)
    assert all(np.isfinite(results[f"test_{name}"]).all() for name in scorers)


def test_by_name():
    for name, options, *_ in CASES:
        scorer = get_selective_scorer(name, **options)
        assert name in get_selective_scorer_names()
        assert repr(scorer) == repr(MAKERS[name](**options))
        assert scorer(BAYES, X_test, y_test) == MAKERS[name](**options)(
            BAYES, X_test, y_test
        )


def test_repr():
    assert repr(get_selective_scorer("oscr")) == (
        "<selective scorer oscr_score, definition='dhamija', ood_label='auto'>"
    )
    assert repr(get_selective_scorer("neg_selective_risk_at_tpr_fpr", **TPR_FPR)) == (
        "<selective scorer -selective_risk_at_tpr_fpr_score, min_tpr=0.4, max_fpr=0.2, "
        "ood_label='auto', infeasible=nan>"
    )


def test_scorers_survive_pickling(case):
    again = pickle.loads(pickle.dumps(case[0]))
    assert repr(again) == repr(case[0])
    assert again(BAYES, X_test, y_test) == case[0](BAYES, X_test, y_test)


def double(**options):
    return DoubleScoreOODClassifier(
        GaussianNB(),
        min_tpr=0.3,
        cv=2,
        random_state=0,
        **options,
    )


def test_inside_a_grid_search():
    """All scorers at once, as by hand."""
    scorers = {str(k): MAKERS[case[0]](**case[1]) for k, case in enumerate(CASES)}
    grid = {"novelty_score": ["msp", "knn"]}
    folds = StratifiedKFold(2)
    search = GridSearchCV(double(), grid, scoring=scorers, cv=folds, refit=False)
    search.fit(X[:300], y[:300])
    for position, name in enumerate(grid["novelty_score"]):
        fitted = [
            (clone(double(novelty_score=name)).fit(X[train], y[train]), test)
            for train, test in folds.split(X[:300], y[:300])
        ]
        for key, scorer in scorers.items():
            values = [scorer(model, X[test], y[test]) for model, test in fitted]
            score = search.cv_results_[f"mean_test_{key}"][position]
            assert np.isfinite(score)
            assert score == pytest.approx(np.mean(values))


def test_a_classifier_that_was_fitted_on_ood_samples(case):
    mistaken = GaussianNB().fit(X, y)
    assert (mistaken.predict(X_test) == -1).any()
    with pytest.raises(
        ValueError,
        match=r"GaussianNB hold the OOD label -1.*fitted on OOD samples as one more "
        "class.*DoubleScoreOODClassifier",
    ):
        case[0](mistaken, X_test, y_test)
    # Also where it does not happen to predict it.
    rows = mistaken.predict(X_test) != -1
    with pytest.raises(ValueError, match="classes of GaussianNB hold the OOD label"):
        case[0](mistaken, X_test[rows], y_test[rows])


def test_bounds_out_of_reach_are_nan():
    scorer = get_selective_scorer(
        "neg_selective_risk_at_tpr_fpr", min_tpr=1.0, max_fpr=0.0
    )
    with pytest.warns(UndefinedMetricWarning, match=r"min_tpr=1.*set to NaN"):
        assert np.isnan(scorer(BAYES, X_test, y_test))


@pytest.mark.parametrize(
    "plain", [get_selective_scorer("oscr"), get_selective_scorer("ood_auroc")], ids=repr
)
def test_weights_are_routed(plain):
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = plain.set_score_request(sample_weight=True)
        model = double(novelty_score="msp").set_fit_request(sample_weight=False)
        model.estimator.set_fit_request(sample_weight=False)
        results = cross_validate(
            model,
            X_test,
            y_test,
            scoring=scorer,
            cv=2,
            params={"sample_weight": WEIGHT},
            return_estimator=True,
            return_indices=True,
        )
    for model, rows, score in zip(
        results["estimator"],
        results["indices"]["test"],
        results["test_score"],
        strict=True,
    ):
        samples = X_test[rows], y_test[rows]
        assert score == plain(model, *samples, sample_weight=WEIGHT[rows])
        assert score != plain(model, *samples)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (
            partial(get_selective_scorer, "neg_selective_risk_at_tpr_fpr"),
            {"min_tpr": 0, "max_fpr": 1},
            "min_tpr",
        ),
        (
            partial(get_selective_scorer, "neg_selective_risk_at_tpr_fpr"),
            {"min_tpr": 1, "max_fpr": 2},
            "max_fpr",
        ),
        (
            partial(get_selective_scorer, "neg_selective_risk_at_precision_recall"),
            {**PRECISION_RECALL, "min_precision": 0},
            "min_precision",
        ),
        (
            partial(get_selective_scorer, "neg_selective_risk_at_precision_recall"),
            {**PRECISION_RECALL, "min_tpr": 1.5},
            "min_tpr",
        ),
        (
            partial(get_selective_scorer, "neg_selective_risk_at_precision_recall"),
            {**PRECISION_RECALL, "ood_prior": 1},
            "ood_prior",
        ),
        (partial(get_selective_scorer, "oscr"), {"definition": "usual"}, "definition"),
        (partial(get_selective_scorer, "neg_fpr_at_tpr"), {"tpr": 0}, "tpr"),
        (
            partial(get_selective_scorer, "neg_fpr_at_tpr"),
            {"positive": "inlier"},
            "positive",
        ),
    ],
)
def test_bad_options(make, options, message):
    with pytest.raises(ValueError, match=f"{message} must be"):
        make(**options)


@pytest.mark.parametrize("name", ["tpr_fpr", "precision_recall"])
def test_a_number_stands_for_bounds_that_cannot_be_met(name):
    strict = {
        "tpr_fpr": {"min_tpr": 0.99, "max_fpr": 0.01},
        "precision_recall": {
            "min_precision": 0.99,
            "min_tpr": 0.99,
            "ood_prior": 0.5,
        },
    }
    make = MAKERS[f"neg_selective_risk_at_{name}"]
    # No warning, which would be an error here.
    assert make(**strict[name], infeasible=1.0)(BAYES, X_test, y_test) == -1
    with pytest.warns(UndefinedMetricWarning, match="is set to NaN"):
        assert np.isnan(make(**strict[name])(BAYES, X_test, y_test))
    with pytest.raises(ValueError, match="infeasible must be in"):
        make(**strict[name], infeasible=-1.0)(BAYES, X_test, y_test)


def test_a_loss_of_classes_never_sees_the_ood_label():
    """But 0/1 loss, for which an OOD sample is an error whatever is predicted."""
    model = double(novelty_score="msp", loss=3.0 * (1 - np.eye(3)))
    model.fit(X[:400], y[:400])
    with pytest.raises(ValueError, match=r"holds the OOD label -1 .*CostMatrixLoss"):
        get_selective_scorer("neg_aurc")(model, X_test, y_test)
    assert get_selective_scorer("neg_aurc", loss="zero_one")(model, X_test, y_test) < 0
    inside = y_test != -1
    labels, uncertainty = model.predict_label(X_test), model.uncertainty(X_test)
    samples = y_test[inside], labels[inside], uncertainty[inside]
    value = get_selective_scorer("neg_aurc")(model, X_test[inside], y_test[inside])
    assert value == pytest.approx(-3 * aurc_score(*samples))
    # With OOD samples, the loss of the estimator is the default, too.
    make = partial(get_selective_scorer, "neg_selective_risk_at_tpr_fpr")
    value = make(**TPR_FPR)(model, X_test, y_test)
    as_errors = make(**TPR_FPR, loss="zero_one")(model, X_test, y_test)
    assert value == pytest.approx(3 * as_errors)
