"""The estimator against the same steps by hand, and its contracts."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_reject import (
    DoubleScoreOODClassifier,
    InfeasibleTargetError,
    SelectiveClassifier,
)
from sklearn_reject._curves import aurc_score
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    get_selective_scorer,
    make_selective_scorer,
)
from sklearn_reject.scores import (
    KNN,
    SELE,
    ConditionalRisk,
    LikelihoodRatio,
    Mahalanobis,
)
from sklearn_reject.selection import tune_double_score, tune_single_score

digits_X, digits_y = load_digits(return_X_y=True)
digits_X = digits_X[:, 8:40] / 16
digits_y = np.where(digits_y < 8, digits_y, -1)
X, y = digits_X[:900], digits_y[:900]
X_new, y_new = digits_X[900:], digits_y[900:]
IS_OOD = y == -1

NAIVE = GaussianNB(var_smoothing=0.1)
NEAR = KNN(n_neighbors=5)
# A tenth of the default: the tests of `tune_double_score` have more.
N_ANGLES = 31
RATES = {"min_tpr": 0.8, "max_fpr": 0.4}
MODELS = {
    "rates": RATES,
    "tpr": {"min_tpr": 0.7},
    "precision": {"min_precision": 0.9, "min_recall": 0.7, "ood_prior": 0.2},
    "costs": {"costs": (0.4, 1.0, 0.1), "ood_prior": 0.3},
}


def double(estimator=NAIVE, **options):
    options = {"novelty_score": NEAR, "n_directions": N_ANGLES, **options}
    options = {"risk_tolerance": 0.0, **options}  # the least risk, as tuned by hand
    if not any(name in options for name in ("min_tpr", "min_recall", "costs")):
        options |= RATES
    return DoubleScoreOODClassifier(estimator, **options)


@pytest.fixture(scope="module")
def fitted():
    """For tests that only read it."""
    return double(random_state=0).fit(X, y)


def judge(classifier, novelty, rows):
    """Return risk, novelty and losses of some rows, without any of our estimators."""
    probabilities = classifier.predict_proba(X[rows])
    labels = classifier.classes_[probabilities.argmax(axis=1)]
    losses = np.where(IS_OOD[rows], 0.0, labels != y[rows])
    return 1 - probabilities.max(axis=1), novelty.novelty(X[rows]), losses


def fit_by_hand(rows, n_neighbors=5):
    inside = rows[~IS_OOD[rows]]
    classifier = clone(NAIVE).fit(X[inside], y[inside])
    score = KNN(n_neighbors)
    return classifier, score.fit(X[inside], y[inside], estimator=classifier)


@pytest.mark.parametrize("bounds", MODELS.values(), ids=MODELS)
def test_folds_against_the_same_steps_by_hand(bounds):
    parts, rows = [], []
    for train, test in StratifiedKFold(4).split(X, y):
        # Of three quarters of the samples, three quarters of five neighbors.
        parts.append(judge(*fit_by_hand(train, 4), test))
        rows.append(test)
    risk, novelty, losses = map(np.concatenate, zip(*parts, strict=True))
    rows = np.concatenate(rows)
    expected = tune_double_score(
        risk, novelty, losses, IS_OOD[rows], n_directions=N_ANGLES, **bounds
    )
    model = double(cv=4, **bounds).fit(X, y)
    for name in ("mu", "threshold", "tpr", "fpr", "precision", "selective_risk"):
        np.testing.assert_allclose(
            getattr(model.rule_, name), getattr(expected, name), rtol=1e-9
        )
    classifier, score = fit_by_hand(np.arange(len(y)))
    by_hand = expected.combine(
        1 - classifier.predict_proba(X_new).max(axis=1), score.novelty(X_new)
    )
    np.testing.assert_allclose(model.uncertainty(X_new), by_hand, rtol=1e-7)


@pytest.mark.parametrize("kind", [list, tuple])
def test_splits_given_as_sequences(kind):
    splits = list(StratifiedKFold(3).split(X, y))
    sequences = [tuple(kind(rows.tolist()) for rows in split) for split in splits]
    rules = [double(cv=cv).fit(X, y).rule_ for cv in (splits, sequences)]
    assert rules[0] == rules[1]


def test_a_share_held_out_against_the_same_steps_by_hand():
    splitter = StratifiedShuffleSplit(1, test_size=0.3, random_state=3)
    [(train, test)] = splitter.split(X, y)
    fitted = fit_by_hand(train)
    rule = tune_double_score(
        *judge(*fitted, test), IS_OOD[test], n_directions=N_ANGLES, **RATES
    )
    model = double(cv=0.3, random_state=3).fit(X, y)
    assert model.rule_.tpr == rule.tpr
    np.testing.assert_allclose(model.rule_.threshold, rule.threshold, rtol=1e-9)
    np.testing.assert_array_equal(model.estimator_.theta_, fitted[0].theta_)


@pytest.mark.parametrize("bounds", MODELS.values(), ids=MODELS)
def test_rule_keeps_its_bounds_and_says_what_it_achieves(bounds):
    model = double(**bounds).fit(X, y)
    rule = model.rule_
    least = bounds.get("min_tpr", bounds.get("min_recall", 0))
    assert rule.tpr >= least - 1e-12
    assert rule.fpr <= bounds.get("max_fpr", 1) + 1e-12
    if "min_precision" in bounds:
        assert rule.precision >= bounds["min_precision"] - 1e-12
    assert 0 <= rule.selective_risk <= 0.3


def test_new_samples_are_accepted_as_bounded():
    model = double(LogisticRegression(), max_fpr=0.25, min_tpr=0.8).fit(X, y)
    accepted, is_ood = model.accept(X_new), y_new == -1
    # Three standard errors of what tuned it and of what tests it, by and large.
    assert accepted[~is_ood].mean() > 0.8 - 3 * 0.022
    assert accepted[is_ood].mean() < 0.25 + 3 * 0.045
    wrong = (model.predict_label(X_new) != y_new)[~is_ood]
    assert wrong[accepted[~is_ood]].mean() < wrong.mean()


def test_methods_agree_with_each_other(fitted):
    model = fitted
    risk, novelty = model.risk_and_novelty(X_new)
    rule = model.rule_
    np.testing.assert_array_equal(model.uncertainty(X_new), rule.combine(risk, novelty))
    probability = model.accept_proba(X_new)
    np.testing.assert_array_equal(probability, rule.accept_proba(risk, novelty))
    accepted = model.accept(X_new)
    assert accepted[probability == 1].all()
    assert not accepted[probability == 0].any()
    labels = model.predict(X_new)
    np.testing.assert_array_equal(labels == -1, ~accepted)
    np.testing.assert_array_equal(
        labels[accepted], model.predict_label(X_new)[accepted]
    )
    np.testing.assert_array_equal(
        model.predict_proba(X_new), model.estimator_.predict_proba(X_new)
    )


def test_ood_rows_never_train_the_classifier(fitted):
    model = fitted
    assert model.classes_.tolist() == list(range(8))
    np.testing.assert_array_equal(
        model.estimator_.theta_, clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]).theta_
    )
    # Whatever OOD rows look like, the classifier is the same.
    elsewhere = X.copy()
    elsewhere[IS_OOD] = 100.0
    other = double().fit(elsewhere, y)
    np.testing.assert_array_equal(model.estimator_.theta_, other.estimator_.theta_)
    assert other.rule_.fpr == 0


def test_fit_changes_no_parameter():
    model = double(
        uncertainty_score=ConditionalRisk(), novelty_score=KNN(n_neighbors=3)
    )
    before = {name: id(value) for name, value in model.get_params().items()}
    model.fit(X, y)
    assert {name: id(value) for name, value in model.get_params().items()} == before
    assert not hasattr(model.novelty_score, "estimator_")
    assert not hasattr(model.estimator, "classes_")


def test_without_ood_rows_the_single_score_is_bounded_abstention():
    inside = ~IS_OOD
    model = double(novelty_score="msp", min_tpr=0.7, cv=3).fit(X[inside], y[inside])
    selective = SelectiveClassifier(NAIVE, target_coverage=0.7, cv=3)
    selective.fit(X[inside], y[inside])
    assert model.rule_.selective_risk <= selective.rule_.selective_risk
    assert np.isnan(model.rule_.fpr)


def test_an_infinite_novelty_is_always_rejected():
    def novelty(estimator, X):
        return np.where(X[:, 2] > X[:, 3], np.inf, X[:, 4])

    model = double(novelty_score=novelty, min_tpr=0.1, max_fpr=1.0).fit(X, y)
    infinite = X_new[:, 2] > X_new[:, 3]
    assert infinite.any()
    assert not model.accept(X_new)[infinite].any()
    assert np.isinf(model.uncertainty(X_new)[infinite]).all()
    assert np.isfinite(model.score(X_new, y_new))


def test_string_labels(fitted):
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven"])
    text = np.where(IS_OOD, "ood", names[np.maximum(y, 0)])
    model = double(random_state=0).fit(X, text)
    assert model.ood_label_ == "ood"
    assert model.reject_label_ == "reject"
    assert "ood" not in model.classes_
    rejected = model.predict(X_new) == "reject"
    np.testing.assert_array_equal(rejected, fitted.predict(X_new) == -1)


def test_labels_of_one_and_minus_one_are_classes():
    labels = np.where(y < 4, -1, 1)
    with pytest.warns(RejectionWarning, match="-1 is one of two labels of y"):
        model = double(min_tpr=0.9, max_fpr=None).fit(X, labels)
    assert model.ood_label_ is None
    assert model.reject_label_ == -2
    assert model.classes_.tolist() == [-1, 1]
    # With a third label, -1 marks OOD samples, as documented.
    assert double().fit(X, np.where(y == 1, 5, labels)).classes_.tolist() == [1, 5]


def test_an_explicit_ood_label(fitted):
    model = double(ood_label=99).fit(X, np.where(IS_OOD, 99, y))
    assert model.rule_ == fitted.rule_
    assert model.ood_label_ == 99


def test_score_is_the_area_with_ood_samples_as_errors():
    model = double(loss=np.ones((8, 8)) * 2 - 2 * np.eye(8)).fit(X, y)
    labels = model.predict_label(X_new)
    losses = 2.0 * (labels != y_new)
    expected = -aurc_score(model.uncertainty(X_new), losses)
    np.testing.assert_allclose(model.score(X_new, y_new), expected)


def test_grid_search_over_the_novelty_score():
    grid = [{"novelty_score__n_neighbors": [1, 200]}, {"method": ["grid"]}]
    scorer = get_selective_scorer(
        "neg_selective_risk_at_tpr_fpr", min_tpr=0.6, max_fpr=0.6
    )
    model = double(cv=0.4, random_state=0, min_tpr=0.6, max_fpr=0.8)
    search = GridSearchCV(model, grid, scoring=scorer, cv=2)
    search.fit(X, y)
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).all()
    assert len(set(means)) > 1
    assert search.best_score_ == means.max()
    assert search.predict(X_new).shape == y_new.shape


def test_search_by_its_own_score_prefers_the_better_novelty():
    grid = {"novelty_score": [KNN(n_neighbors=5), lambda clf, X: X[:, 0]]}
    model = double(cv=0.3, random_state=0, min_tpr=0.5, max_fpr=0.9)
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    assert isinstance(search.best_params_["novelty_score"], KNN)


def test_in_pipelines_and_around_them():
    # A bound that is tight leaves no rules of nearly the same risk to choose from.
    options = {"min_tpr": 0.8, "max_fpr": 0.25}
    outer = make_pipeline(StandardScaler(), double(NAIVE, **options)).fit(X, y)
    inner = double(make_pipeline(StandardScaler(), NAIVE), **options).fit(X, y)
    assert (outer.predict(X_new) == inner.predict(X_new)).mean() > 0.9
    outer = make_pipeline(StandardScaler(), double(NAIVE))
    assert -1 in cross_val_predict(outer, X[:400], y[:400], cv=2)


def test_data_frames(fitted):
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(X.shape[1])])
    model = double(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame), fitted.predict(X))


def test_sparse_samples_where_the_scores_take_them():
    # Newton's method ends where the gradient is below tol, which bounds the distance of
    # both fits from the optimum. L-BFGS may end where its steps are lost to rounding.
    classifier = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000)
    options = {"novelty_score": "energy", "min_tpr": 0.5, "max_fpr": 1.0, "cv": 2}
    dense = double(classifier, **options).fit(X, y)
    model = double(classifier, **options).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.rule_.threshold, dense.rule_.threshold, rtol=1e-6)


@pytest.mark.parametrize(
    "uncertainty_score",
    ["auto", pytest.param("error_probability", marks=pytest.mark.slow)],
)
def test_splits_may_be_lists_or_masks(uncertainty_score):
    splits = list(StratifiedKFold(3).split(X, y))
    lists = [(train.tolist(), test.tolist()) for train, test in splits]
    masks = [
        tuple(np.isin(np.arange(len(y)), rows) for rows in split) for split in splits
    ]
    found = [
        double(cv=cv, uncertainty_score=uncertainty_score, random_state=0)
        .fit(X, y)
        .rule_
        for cv in (splits, lists, masks)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("novelty_score", [NEAR, LikelihoodRatio(NAIVE)])
def test_weights_of_zero_count_as_absent(novelty_score):
    # The splits are given, as a splitter would count the absent samples.
    weight = np.ones(len(y))
    weight[::7] = 0
    present = weight > 0
    splits = list(StratifiedKFold(3).split(X[present], y[present]))
    rows = np.flatnonzero(present)
    all_rows = [(rows[train], rows[test]) for train, test in splits]
    options = {"novelty_score": novelty_score}
    model = double(cv=all_rows, **options).fit(X, y, sample_weight=weight)
    same = double(cv=splits, **options).fit(X[present], y[present])
    np.testing.assert_allclose(model.rule_.threshold, same.rule_.threshold, rtol=1e-9)
    assert model.rule_.tpr == pytest.approx(same.rule_.tpr)
    np.testing.assert_allclose(
        model.risk_and_novelty(X_new)[1], same.risk_and_novelty(X_new)[1], rtol=1e-9
    )


def test_metadata_routing_reaches_the_classifier(fitted):
    weight = np.where(y == 3, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(NAIVE).set_fit_request(sample_weight=True)
        model = double(inner).set_fit_request(sample_weight=False)
        model.fit(X, y, sample_weight=weight)
    assert model.estimator_.class_prior_[3] > 2 * fitted.estimator_.class_prior_[3]


def test_a_frozen_classifier_is_judged_by_scores_that_learn_nothing():
    frozen = FrozenEstimator(clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]))
    model = double(frozen, novelty_score="msp", min_tpr=0.8, max_fpr=0.9)
    model.fit(X_new, y_new)
    risk = 1 - frozen.predict_proba(X_new).max(axis=1)
    losses = frozen.predict(X_new) != y_new
    rule = tune_single_score(risk, losses, y_new == -1, min_tpr=0.8, max_fpr=0.9)
    assert model.rule_.tpr == pytest.approx(rule.tpr)
    assert model.rule_.selective_risk == pytest.approx(rule.selective_risk)


def test_a_frozen_classifier_with_a_score_that_learns_takes_folds():
    frozen = FrozenEstimator(clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]))
    model = double(frozen, novelty_score=KNN(n_neighbors=1)).fit(X_new, y_new)
    # Judged by itself, each ID sample would have the novelty zero.
    assert model.rule_.tpr < 1
    assert model.estimator_.theta_ is frozen.theta_


def test_a_frozen_novelty_score_stays_as_it_is():
    classifier = clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD])
    score = KNN(n_neighbors=3).fit(X[~IS_OOD], y[~IS_OOD], estimator=classifier)
    model = double(FrozenEstimator(classifier), novelty_score=FrozenEstimator(score))
    model.fit(X_new, y_new)
    _, novelty = model.risk_and_novelty(X)
    np.testing.assert_array_equal(novelty, score.novelty(X))


@pytest.mark.parametrize("cv", [None, 0.4])
def test_a_learned_risk_score(cv):
    model = double(uncertainty_score=SELE(alphas=0.1), cv=cv, random_state=0).fit(X, y)
    risk, _ = model.risk_and_novelty(X_new)
    inside = y_new != -1
    losses = (model.predict_label(X_new) != y_new)[inside]
    assert aurc_score(risk[inside], losses) < 0.7 * losses.mean()


def test_a_learned_risk_score_never_judges_what_it_has_learned_from():
    class Memory(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.seen_ = {row.tobytes() for row in X}
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X):
            seen = np.array([row.tobytes() in self.seen_ for row in X], dtype=float)
            return np.column_stack([1 - seen, seen])

    from sklearn_reject.scores import ErrorProbability

    score = ErrorProbability(Memory(), "input")
    model = double(uncertainty_score=score, novelty_score="msp", min_tpr=0.5).fit(X, y)
    assert model.rule_.novelty_weight > 0
    risk, _ = model.risk_and_novelty(X[~IS_OOD])
    assert (risk == 1).all()
    assert model.rule_.threshold < 0.99


def test_the_likelihood_ratio_learns_from_the_ood_samples_of_other_folds():
    score = LikelihoodRatio(KNeighborsClassifier(1))
    model = double(novelty_score=score, min_tpr=0.5, max_fpr=1.0).fit(X, y)
    # One neighbor that has seen the sample itself would never be wrong.
    _, novelty = model.risk_and_novelty(X)
    np.testing.assert_array_equal(novelty == np.inf, IS_OOD)
    assert np.isinf(double(novelty_score=score).fit(X, y).risk_and_novelty(X)[1]).any()
    assert model.rule_.fpr > 0


def test_confidence_holds_a_part_out_for_calibration():
    model = double(
        novelty_score=Mahalanobis(),
        min_tpr=0.6,
        max_fpr=0.7,
        confidence_level=0.9,
        cv=0.4,
        random_state=0,
    ).fit(X, y)
    certificate = model.rule_.certificate
    assert certificate.n_id + certificate.n_ood == round(0.4 * len(y))
    assert certificate.min_tpr == 0.6
    assert certificate.max_fpr == 0.7
    assert model.rule_.tpr > 0.6
    assert model.rule_.fpr < 0.7
    assert model.rule_.selective_risk < certificate.max_risk < 1


def test_the_same_seed_gives_the_same_model():
    options = {"cv": 0.3, "confidence_level": 0.8, "min_tpr": 0.5, "max_fpr": 0.9}
    first = double(random_state=5, **options).fit(X, y)
    second = double(random_state=5, **options).fit(X, y)
    assert first.rule_ == second.rule_
    np.testing.assert_array_equal(first.predict(X_new), second.predict(X_new))


@pytest.mark.parametrize("n_jobs", [2])
@pytest.mark.usefixtures("threads")
def test_parallel_fits_give_the_same_rule(fitted, n_jobs):
    assert double(n_jobs=n_jobs).fit(X, y).rule_ == fitted.rule_


def test_pickles_and_clones(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X_new), fitted.predict(X_new))
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X_new)


def test_a_failed_fit_leaves_the_rule_before_it():
    model = double().fit(X, y)
    rule, expected = model.rule_, model.predict(X_new)
    model.set_params(min_tpr=1.0, max_fpr=0.0)
    with pytest.raises(InfeasibleTargetError):
        model.fit(X, y)
    assert model.rule_ is rule
    np.testing.assert_array_equal(model.predict(X_new), expected)


def test_reject_label_none_gives_plain_labels():
    model = double(reject_label=None).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_new), model.predict_label(X_new))
    assert not model.accept(X_new).all()


def test_a_fold_of_ood_rows_only():
    fold = np.where(IS_OOD, 0, 1 + np.arange(len(y)) % 3)
    model = double(novelty_score="msp", cv=PredefinedSplit(fold)).fit(X, y)
    assert model.rule_.fpr > 0
    assert np.isfinite(model.score(X[IS_OOD], y[IS_OOD]))


def test_a_stacked_classifier_has_its_methods_once_it_is_fitted():
    stack = StackingClassifier([("bayes", NAIVE), ("near", KNeighborsClassifier())])
    model = double(stack, cv=0.3, novelty_score="msp", random_state=0).fit(X, y)
    assert model.predict_proba(X_new).shape == (len(X_new), 8)
    SelectiveClassifier(stack, uncertainty_score="entropy", cv=0.3).fit(X, y)


def test_weights_under_another_name():
    weight = np.where(y < 4, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(NAIVE).set_fit_request(sample_weight="w")
        model = double(inner, cv=0.3, random_state=0)
        model = model.set_fit_request(sample_weight="w").fit(X, y, w=weight)
    same = double(cv=0.3, random_state=0).fit(X, y, sample_weight=weight)
    assert model.rule_ == same.rule_


@pytest.mark.parametrize(
    "scorer",
    [
        get_selective_scorer("neg_aurc"),
        get_selective_scorer("neg_augrc"),
        get_selective_scorer("selective_accuracy", coverage=0.5),
        make_selective_scorer(accuracy_score, coverage=0.5, on_reject="drop"),
        make_selective_scorer(accuracy_score),
    ],
    ids=repr,
)
def test_scorers_of_risk_and_coverage_take_infinite_novelty(scorer):
    def far(bound):
        return lambda estimator, X: np.where(X[:, 2] > X[:, 3], bound, X[:, 4])

    options = {"min_tpr": 0.1, "max_fpr": 1.0, "cv": 0.3, "random_state": 0}
    infinite = double(novelty_score=far(np.inf), **options).fit(X, y)
    value = scorer(infinite, X_new, y_new)
    assert np.isfinite(value)
    frozen = FrozenEstimator(infinite)
    assert scorer(frozen, X_new, y_new) == value


def test_a_display_of_infinite_novelty():
    plt = pytest.importorskip("matplotlib.pyplot")
    model = double(novelty_score=lambda clf, X: np.full(len(X), -np.inf)).set_params(
        min_tpr=0.5, max_fpr=1.0
    )
    display = RiskCoverageDisplay.from_estimator(model.fit(X, y), X_new, y_new)
    assert np.isfinite(display.aurc).all()
    plt.close(display.figure_)


def test_rows_of_a_frame_in_chunks_decide_alike():
    frame = pd.DataFrame(X[:300, :6], columns=[f"x{k}" for k in range(6)])
    frame["kind"] = np.where(X[:300, 10] > 0.5, "dark", "light")
    frame.index = np.arange(300)[::-1]
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough"
    )
    options = {"min_tpr": 0.5, "max_fpr": 0.9, "cv": 2, "method": "grid"}
    model = double(make_pipeline(encode, NAIVE), **options)
    model.fit(frame, pd.Series(y[:300], index=frame.index))
    expected = model.predict(frame), model.uncertainty(frame)
    for rows in (1, 7):
        parts = [frame.iloc[k : k + rows] for k in range(0, 21, rows)]
        labels = np.concatenate([model.predict(part) for part in parts])
        scores = np.concatenate([model.uncertainty(part) for part in parts])
        np.testing.assert_array_equal(labels, expected[0][: len(labels)])
        # The classifier itself is the same but for the last digit.
        np.testing.assert_allclose(scores, expected[1][: len(scores)], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_twelve_rows_and_a_class_that_folds_do_not_have():
    three = np.flatnonzero(y <= 2)
    few = np.sort(np.concatenate([three[y[three] == k][:4] for k in (-1, 0, 1)]))
    options = {"novelty_score": "mahalanobis", "min_tpr": 0.7}
    model = double(cv=4, **options).fit(X[few], y[few])
    assert model.rule_.tpr >= 0.7
    kinds = [three[y[three] == k][:n] for k, n in ((-1, 20), (0, 20), (1, 20), (2, 1))]
    rows = np.concatenate(kinds)
    for cv in (None, 3, StratifiedKFold(3, shuffle=True, random_state=0)):
        model = double(cv=cv, min_tpr=0.7, max_fpr=0.9).fit(X[rows], y[rows])
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.predict_proba(X[:5]).shape == (5, 3)


def test_weights_of_any_scale_give_the_same_rule():
    frozen = FrozenEstimator(clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]))
    weight = np.random.default_rng(0).random(len(y_new))
    for bounds in MODELS.values():
        model = double(frozen, cv=0.2, method="grid", random_state=0, **bounds)
        rule = clone(model).fit(X_new, y_new, sample_weight=weight).rule_
        for scale in (1e-12, 1 / 37, 1e12):
            model.fit(X_new, y_new, sample_weight=scale * weight)
            for name in ("threshold", "proba_at_threshold", "mu", "tpr", "fpr"):
                expected = getattr(rule, name)
                assert getattr(model.rule_, name) == pytest.approx(expected, rel=1e-9)


def test_groups_are_kept_together_without_routing():
    groups = np.arange(300) % 10
    model = double(cv=GroupKFold(3), **MODELS["tpr"])
    rule = model.fit(X[:300], y[:300], groups=groups).rule_
    splits = list(GroupKFold(3).split(X[:300], y[:300], groups))
    assert clone(model).set_params(cv=splits).fit(X[:300], y[:300]).rule_ == rule
    with pytest.raises(ValueError, match="groups were given, but cv=3 does not use"):
        double(cv=3).fit(X[:300], y[:300], groups=groups)


def test_a_share_held_out_where_a_class_has_one_member():
    rows = np.flatnonzero((y <= 1) | (np.arange(len(y)) == np.argmax(y == 2)))
    model = double(cv=0.3, min_tpr=0.5, max_fpr=0.9, random_state=0)
    with pytest.warns(RejectionWarning, match="class 2 has only one member"):
        model.fit(X[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2]
    assert len(model.calibration_.rows) == pytest.approx(0.3 * len(rows), abs=2)
