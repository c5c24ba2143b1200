"""Scorers of samples of which some are OOD."""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.metrics import (
    aurc_score,
    get_selective_scorer,
    get_selective_scorer_names,
    make_neg_aurc_scorer,
    make_neg_selective_risk_at_precision_recall_scorer,
    make_neg_selective_risk_at_tpr_fpr_scorer,
    make_oscr_scorer,
    neg_aurc_scorer,
    oscr_score,
    oscr_scorer,
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
PRECISION_RECALL = {"min_precision": 0.85, "min_recall": 0.4, "ood_prior": 0.2}
FPR, PRECISION = (
    selective_risk_at_tpr_fpr_score,
    selective_risk_at_precision_recall_score,
)
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
]
MAKERS = {
    "neg_selective_risk_at_tpr_fpr": make_neg_selective_risk_at_tpr_fpr_scorer,
    "neg_selective_risk_at_precision_recall": (
        make_neg_selective_risk_at_precision_recall_scorer
    ),
    "oscr": make_oscr_scorer,
}


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


def test_by_name():
    for name, options, *_ in CASES:
        scorer = get_selective_scorer(name, **options)
        assert name in get_selective_scorer_names()
        assert repr(scorer) == repr(MAKERS[name](**options))
        assert scorer(BAYES, X_test, y_test) == MAKERS[name](**options)(
            BAYES, X_test, y_test
        )


def test_repr():
    assert repr(oscr_scorer) == (
        "<selective scorer oscr_score, definition='dhamija', ood_label='auto'>"
    )
    assert repr(make_neg_selective_risk_at_tpr_fpr_scorer(**TPR_FPR)) == (
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
        n_directions=9,
        method="grid",
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
        match=r"y_pred holds the OOD label -1.*fitted on OOD samples as one more class"
        ".*DoubleScoreOODClassifier",
    ):
        case[0](mistaken, X_test, y_test)


def test_bounds_out_of_reach_are_nan():
    scorer = make_neg_selective_risk_at_tpr_fpr_scorer(min_tpr=1.0, max_fpr=0.0)
    with pytest.warns(UndefinedMetricWarning, match=r"min_tpr=1.*set to NaN"):
        assert np.isnan(scorer(BAYES, X_test, y_test))


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = oscr_scorer.set_score_request(sample_weight=True)
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
        assert score == oscr_scorer(model, *samples, sample_weight=WEIGHT[rows])
        assert score != oscr_scorer(model, *samples)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (
            make_neg_selective_risk_at_tpr_fpr_scorer,
            {"min_tpr": 0, "max_fpr": 1},
            "min_tpr",
        ),
        (
            make_neg_selective_risk_at_tpr_fpr_scorer,
            {"min_tpr": 1, "max_fpr": 2},
            "max_fpr",
        ),
        (
            make_neg_selective_risk_at_precision_recall_scorer,
            {**PRECISION_RECALL, "min_precision": 0},
            "min_precision",
        ),
        (
            make_neg_selective_risk_at_precision_recall_scorer,
            {**PRECISION_RECALL, "min_recall": 1.5},
            "min_recall",
        ),
        (
            make_neg_selective_risk_at_precision_recall_scorer,
            {**PRECISION_RECALL, "ood_prior": 1},
            "ood_prior",
        ),
        (make_oscr_scorer, {"definition": "usual"}, "definition"),
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
            "min_recall": 0.99,
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
        neg_aurc_scorer(model, X_test, y_test)
    assert make_neg_aurc_scorer(loss="zero_one")(model, X_test, y_test) < 0
    inside = y_test != -1
    labels, uncertainty = model.predict_label(X_test), model.uncertainty(X_test)
    samples = y_test[inside], labels[inside], uncertainty[inside]
    value = neg_aurc_scorer(model, X_test[inside], y_test[inside])
    assert value == pytest.approx(-3 * aurc_score(*samples))
    # With OOD samples, the loss of the estimator is the default, too.
    make = make_neg_selective_risk_at_tpr_fpr_scorer
    value = make(**TPR_FPR)(model, X_test, y_test)
    as_errors = make(**TPR_FPR, loss="zero_one")(model, X_test, y_test)
    assert value == pytest.approx(3 * as_errors)
