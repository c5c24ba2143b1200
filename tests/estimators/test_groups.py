"""Selective estimators with a rule for each group that is known when predicting."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import entropies

N = 300
POINTS, y = make_blobs(N, 3, centers=3, cluster_std=4.0, random_state=0)
PLACES = np.arange(N) % 3
X = np.column_stack([POINTS, PLACES])
NUMBERS = POINTS @ [1, 2, 3] + np.abs(POINTS[:, 0]) * np.sin(np.arange(N))
REGIONS = np.array(["east", "north", "west"])[PLACES]
FRAME = pd.DataFrame(POINTS, columns=["a", "b", "c"]).assign(region=REGIONS)


def first_feature(estimator, X):
    """Order samples by rounded numbers, many of which are the same."""
    return np.abs(X[:, 0]).round()


def rounded(estimator, X):
    """Put many rows at the threshold."""
    return 1 - estimator.predict_proba(X).max(axis=1).round(1)


CLASSIFIER = SelectiveClassifier(
    GaussianNB(), target_risk=0.1, group_by=3, random_state=0
)
REGRESSOR = SelectiveRegressor(
    LinearRegression(),
    target_coverage=0.6,
    group_by=3,
    cv=2,
    uncertainty_score=first_feature,
    random_state=0,
)


def place_of(X):
    """Return the last column."""
    return np.asarray(X)[:, -1]


def fit(model=CLASSIFIER, X=X, y=y, **params):
    return clone(model).set_params(**params).fit(X, y)


def same(one, other):
    return repr(one) == repr(other)


def solved_by_hand(model, solve, target, groups, **options):
    """Solve the calibration set group by group."""
    calibration = model.calibration_
    for label, rule in model.rule_.rules.items():
        rows = np.flatnonzero(groups == label)
        some = {
            name: values if not isinstance(values, np.ndarray) else values[rows]
            for name, values in options.items()
        }
        expected = solve(
            calibration.scores[rows], calibration.losses[rows], target, **some
        )
        assert same(rule, expected)


@pytest.mark.parametrize(
    ("solve", "target"),
    [
        (solve_target_risk, {"target_risk": 0.1}),
        (solve_target_coverage, {"target_risk": None, "target_coverage": 0.7}),
        (
            solve_reject_cost,
            {"target_risk": None, "reject_cost": 0.2, "uncertainty_score": entropies},
        ),
    ],
    ids=["risk", "coverage", "cost"],
)
def test_each_group_is_solved_by_itself(solve, target):
    model = fit(**target)
    value = next(x for name, x in target.items() if x and name.startswith(("t", "r")))
    groups = PLACES[model.calibration_.rows]
    np.testing.assert_array_equal(model.calibration_.groups.astype(float), groups)
    solved_by_hand(model, solve, value, groups)
    assert list(model.rule_.rules) == [0.0, 1.0, 2.0]
    assert json.loads(json.dumps(model.rule_.to_dict()))["type"] == "GroupedRule"
    accepted = model.rule_.accept_proba(model.calibration_.scores, groups)
    assert model.rule_.coverage == pytest.approx(accepted.mean())


def test_groups_of_predictions():
    model = fit(group_by="prediction", target_risk=0.4)
    assert list(model.rule_.rules) == [0, 1, 2]
    predictions = model.calibration_.predictions
    solved_by_hand(model, solve_target_risk, 0.4, predictions)
    labels, scores, accepted = model.predict_all(X)
    for label in range(3):
        rows = labels == label
        expected = model.rule_.rules[label].accept_proba(scores[rows]) == 1
        np.testing.assert_array_equal(accepted[rows] & expected, expected)
    marked = model.predict(X)
    np.testing.assert_array_equal(marked == -1, ~accepted)
    np.testing.assert_array_equal(model.accept(X), accepted)


@pytest.mark.parametrize("group_by", [3, "prediction"])
def test_confidence_is_shared(group_by):
    model = fit(group_by=group_by, confidence_level=0.9, cv=0.7, target_risk=0.45)
    calibration = model.calibration_
    for label, rule in model.rule_.rules.items():
        rows = np.flatnonzero(calibration.groups == label)
        expected = solve_target_risk(
            calibration.scores[rows],
            calibration.losses[rows],
            0.45,
            confidence_level=1 - (1 - 0.9) / 3,
            bound="binomial",
            draws=calibration.draws[rows],
        )
        assert same(rule, expected)
    # The calibration set is decided by the draws that certified it.
    n_certified = sum(each.n_accepted for each in model.rule_.certificate.values())
    assert model.accept(X[calibration.rows]).sum() == n_certified
    with pytest.raises(ValueError, match="keys cannot be combined with a confidence"):
        model.accept(X, keys=np.arange(N))


def test_groups_are_those_of_all_samples_given():
    column = np.where(np.arange(N) < 3, 7, 8)
    rows = [(np.arange(3), np.arange(3, N))]  # none of group 7 calibrates

    with pytest.warns(RejectionWarning, match=r"7.0: it has no calibration sample"):
        model = fit(
            X=np.column_stack([POINTS, column]),
            estimator=DecisionTreeClassifier(random_state=0),
            uncertainty_score=entropies,
            cv=rows,
            target_risk=0.9,
        )
    assert list(model.rule_.rules) == [7.0, 8.0]
    assert not model.accept(np.column_stack([POINTS, column]))[:3].any()


CONTAINERS = {
    "array": X,
    "integers": X.round().astype(int),
    "list": X.tolist(),
    "sparse": sparse.csr_array(X),
    "sparse matrix": sparse.coo_matrix(X),
    "frame": pd.DataFrame(X, columns=list("abcd")),
    "float32": X.astype(np.float32),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_columns_of_containers(name):
    data = CONTAINERS[name]
    model = clone(CLASSIFIER).set_params(
        estimator=make_pipeline(FunctionTransformer(_dense), GaussianNB())
    )
    fitted = model.fit(data, y)
    assert list(fitted.rule_.rules) == [0, 1, 2]
    negative = clone(model).set_params(group_by=-1).fit(data, y)
    np.testing.assert_array_equal(fitted.accept(data), negative.accept(data))
    by_name = fit(X=CONTAINERS["frame"], group_by="d", estimator=fitted.estimator)
    if name == "frame":
        np.testing.assert_array_equal(fitted.accept(data), by_name.accept(data))


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _numbers(X):
    return np.column_stack([np.asarray(X[name]) for name in "abc"])


OF_NUMBERS = make_pipeline(FunctionTransformer(_numbers), GaussianNB())


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: FRAME[name].to_list() for name in FRAME})
    model = fit(estimator=OF_NUMBERS, X=frame, group_by="region")
    assert list(model.rule_.rules) == ["east", "north", "west"]
    position = clone(model).set_params(group_by=3).fit(frame, y)
    np.testing.assert_array_equal(model.accept(frame), position.accept(frame))


@pytest.mark.parametrize("group_by", [3, "prediction", place_of])
def test_decisions_belong_to_rows(group_by):
    params = {"target_risk": None, "target_coverage": 0.6}
    fitted = fit(group_by=group_by, uncertainty_score=rounded, **params)
    assert (fitted.accept_proba(X) % 1 > 0).any()
    for decide in (fitted.accept, fitted.accept_proba):
        expected = decide(X)
        parts = [decide(X[row : row + 7]) for row in range(0, N, 7)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)
        np.testing.assert_array_equal(decide(X[::-1])[::-1], expected)
    restored = pickle.loads(pickle.dumps(fitted))
    keys = np.arange(N)
    accepted = fitted.accept(X, keys=keys)
    np.testing.assert_array_equal(restored.accept(X, keys=keys), accepted)
    assert (accepted != fitted.accept(X)).any()


def test_unseen_groups_are_rejected_and_counted():
    model = fit()
    other = X[:4].copy()
    other[:2, 3] = 9
    other[2, 3] = 8
    with pytest.warns(RejectionWarning, match=r"3 of 4 .* 9\.0 \(2\), 8\.0 \(1\)") as w:
        accepted = model.predict_all(other).accepted
    assert len(w) == 1
    assert not accepted[:3].any()
    with pytest.warns(RejectionWarning, match="3 of 4"):
        np.testing.assert_array_equal(model.predict(other)[:3], [-1, -1, -1])
    by_region = fit(X=FRAME, group_by="region", estimator=OF_NUMBERS)
    frame = FRAME.iloc[:2].assign(region=[None, "east"])
    with pytest.warns(RejectionWarning, match=r"(None|nan) \(1\)"):
        assert not by_region.accept(frame)[0]


def test_groups_without_a_rule():
    # No score tells the errors of one region from the rest.
    targets = {0: 0.4, 1: 1e-6, 2: 0.4}
    model = clone(CLASSIFIER).set_params(
        target_risk=targets, uncertainty_score=_constant
    )
    easier = {0: 0.9, 1: 1e-6, 2: 0.9}
    with pytest.warns(RejectionWarning, match=r"1 of 3 groups have no rule .*1\.0: No"):
        model.set_params(target_risk=easier).fit(X, y)
    assert model.rule_.rules[1.0].threshold == -np.inf
    np.testing.assert_array_equal(model.accept(X), PLACES != 1)
    calibration = model.calibration_
    losses = calibration.losses[calibration.groups == 1]
    model.set_params(target_risk=1e-6)
    with pytest.raises(InfeasibleTargetError, match="No group has a rule") as error:
        model.fit(X, y)
    attainable = error.value.attainable["target_risk"]
    assert attainable[1] == pytest.approx(losses.mean())
    assert model.set_params(target_risk=attainable).fit(X, y).accept(X).all()


def _constant(estimator, X):
    """Tell no sample from another."""
    return np.zeros(len(X))


def test_reject_costs_by_group():
    costs = {0: 0.05, 1: 0.5, 2: 1.0}
    params = {"target_risk": None, "reject_cost": costs}
    with pytest.warns(RejectionWarning, match=r"rejected in the groups 0\.0"):
        model = fit(uncertainty_score=_constant, **params)
    assert model.rule_.rules[2].coverage == 1
    plain = fit(cv="plug_in", **params)
    assert {k: rule.threshold for k, rule in plain.rule_.rules.items()} == costs
    own_cost = np.array([0.05, 0.5, 1])[PLACES]
    np.testing.assert_array_equal(plain.accept(X), plain.uncertainty(X) <= own_cost)
    assert plain.calibration_ is None
    other = np.add(X[:1], [0, 0, 0, 5])
    with pytest.warns(RejectionWarning, match="1 of 1 samples"):
        assert not plain.accept(other).any()
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    measured = fit(cv="plug_in", estimator=frozen, **params)
    assert measured.rule_.coverage == pytest.approx(measured.accept(X).mean())


@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_groups_of_unequal_risk_need_no_warning():
    # Nearly all that is accepted is of the group that may be wrong more often.
    wrong = np.where(PLACES == 2, (y + (np.arange(N) % 4 > 0)) % 3, y)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = fit(
        y=wrong, estimator=frozen, target_risk={0: 0.01, 1: 0.01, 2: 0.9}
    )  # without a warning
    assert model.rule_.selective_risk > model.calibration_.losses.mean()


def test_claims_of_probabilities_count_in_each_group():
    # As much as 30 samples, of each group.
    model = fit(target_risk=None, reject_cost=0.3)
    calibration = model.calibration_
    for label, rule in model.rule_.rules.items():
        rows = calibration.groups == label
        losses, scores = calibration.losses[rows], calibration.scores[rows]
        share = 30 / (30 + rows.sum())
        mixed = (1 - share) * losses + share * scores
        assert rule.threshold == solve_reject_cost(scores, mixed, 0.3).threshold
        assert rule.selective_risk == pytest.approx(
            losses[scores <= rule.threshold].mean()
        )


def test_weights():
    weight = np.random.default_rng(0).random(N)
    model = clone(CLASSIFIER).set_params(target_risk=0.4)
    model.fit(X, y, sample_weight=weight)
    groups = PLACES[model.calibration_.rows]
    weights = model.calibration_.sample_weight
    solved_by_hand(model, solve_target_risk, 0.4, groups, sample_weight=weights)
    for scale in (1e-6, 1e6):
        other = clone(model).fit(X, y, sample_weight=weight * scale)
        np.testing.assert_array_equal(other.accept(X), model.accept(X))
    model.set_params(confidence_level=0.9, cv=0.5)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, y, sample_weight=weight)
    without = np.where(PLACES == 1, 0.0, 1.0)
    model.set_params(confidence_level=None, cv=None)
    with pytest.warns(RejectionWarning, match=r"1.0: it has no calibration sample"):
        model.fit(X, y, sample_weight=without)


BAD = {
    "text of an array": ({"group_by": "region"}, X, "not a column of X, .*an array"),
    "no column": (
        {"group_by": "place"},
        FRAME,
        r"not a column of X, .*'region'\].*inside",
    ),
    "out of range": (
        {"group_by": 4},
        X,
        r"group_by=4 is not a column.*shape \(300, 4\)",
    ),
    "below": ({"group_by": -5}, X, "group_by=-5 is not a column"),
    "of a list": ({"group_by": 4}, X.tolist(), "group_by=4 is not a column"),
    "text": ({"group_by": 0}, np.array(["some text"] * N), r"has the shape \(300,\)"),
    "prediction of a number": (
        {"model": REGRESSOR, "group_by": "prediction"},
        X,
        r"'prediction' is for classes, and a regressor.*column",
    ),
    "class of a number": (
        {"model": REGRESSOR, "group_by": "class"},
        X,
        r"'class' is for classes, and a regressor has none",
    ),
    "bool": ({"group_by": True}, X, "must be None, 'prediction', .*got True"),
    "float": ({"group_by": 3.0}, X, r"must be None, 'prediction', .*got 3\.0"),
    "list": ({"group_by": ["region"]}, FRAME, r"got \['region'\]"),
    "word and column": (
        {"group_by": "prediction"},
        FRAME.assign(prediction=0),
        r"Rename the column, or pass group_by=lambda X: X\['prediction'\]",
    ),
    "class and column": (
        {"group_by": "class"},
        FRAME.rename(columns={"region": "class"}),
        r"pass group_by=lambda X: X\['class'\]",
    ),
    "two columns": (
        {"group_by": "region"},
        pd.concat([FRAME, FRAME[["region"]]], axis=1),
        "must be a vector",
    ),
    "2-D": ({"group_by": lambda X: X[:, :2]}, X, r"shape \(300, 2\)"),
    "short": ({"group_by": lambda X: X[:5, 3]}, X, "5 labels for 300 samples"),
    "a number": ({"group_by": lambda X: 3}, X, "one label per sample"),
    "sparse": ({"group_by": sparse.csr_array}, X, "one label per sample"),
    "missing": (
        {"group_by": "region"},
        FRAME.assign(region=FRAME["region"].where(FRAME.index != 7)),
        "group_by='region' has no label .* in row 7",
    ),
    "NaN": (
        {"group_by": lambda X: np.where(PLACES == 1, np.nan, 1)},
        X,
        "no label .* in row 1 .100 such rows",
    ),
    "target of nobody": (
        {"target_risk": {0: 0.1, 1: 0.1, 2: 0.1, 3: 0.1}},
        X,
        r"target_risk has a value for 3.*groups are 0\.0, 1\.0, 2\.0",
    ),
    "group without target": ({"target_risk": {0: 0.1}}, X, "no value for 1.0, 2.0"),
    "target out of range": (
        {"target_risk": {0: 0.1, 1: -1, 2: 0.1}},
        X,
        "target_risk of the group 1 must be in",
    ),
    "targets without groups": (
        {"target_risk": {0: 0.1}, "group_by": None},
        X,
        "a value for each group, but group_by=None",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_groups_are_found_before_anything_is_fitted(monkeypatch, name):
    params, data, match = BAD[name]
    estimator = LinearRegression() if "model" in params else GaussianNB()
    for kind in (LinearRegression, GaussianNB):
        monkeypatch.setattr(kind, "fit", None)
    with pytest.raises(ValueError, match=match):
        fit(X=data, estimator=estimator, **params)


def test_a_column_of_numbers_makes_too_many_groups():
    with pytest.warns(RejectionWarning, match="makes 300 groups for 300"):
        fit(group_by=0, target_risk=None, target_coverage=0.8)


def test_regressors():
    model = fit(REGRESSOR, y=NUMBERS)
    groups = PLACES[model.calibration_.rows]
    solved_by_hand(model, solve_target_coverage, 0.6, groups)
    assert model.predict(X).shape == (N,)
    assert model.predict_all(X).accepted.mean() == pytest.approx(0.6, abs=0.1)


def test_vacuous_targets():
    with pytest.warns(RejectionWarning, match="not below the largest loss"):
        fit(target_risk={0: 1, 1: 1, 2: 2})
    model = fit(target_risk={0: 1, 1: 0.4, 2: 0.4})  # no warning
    assert model.rule_.rules[0].coverage == 1
