"""Which group a sample belongs to, in `fit` and when predicting.

The rules of groups are in test_rules.py, their errors in test_bad_input.py, and what
is told of them in test_targets.py.
"""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from tests.samples import entropies

N = 300
POINTS, y = make_blobs(N, 3, centers=3, cluster_std=4.0, random_state=0)
PLACES = np.arange(N) % 3
X = np.column_stack([POINTS, PLACES])
REGIONS = np.array(["east", "north", "west"])[PLACES]
FRAME = pd.DataFrame(X, columns=[*"abcd"]).assign(region=REGIONS)
MODEL = SelectiveClassifier(GaussianNB(), target_risk=0.1, group_by=3, random_state=0)


def read_numbers(X):
    """Return three columns of any container as an array."""
    if hasattr(X, "columns"):
        return np.column_stack([np.asarray(X[name]) for name in "abc"])
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def fit(X=X, y=y, **params):
    model = clone(MODEL).set_params(
        estimator=make_pipeline(FunctionTransformer(read_numbers), GaussianNB())
    )
    return model.set_params(**params).fit(X, y)


def place_of(X):
    return np.asarray(X)[:, 3]


CONTAINERS = {
    "array": X,
    "integers": X.round().astype(int),
    "list": X.tolist(),
    "sparse": sparse.csr_array(X),
    "sparse matrix": sparse.coo_matrix(X),
    "frame": FRAME[[*"abcd"]],
    "float32": X.astype(np.float32),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_columns_of_containers(name):
    data = CONTAINERS[name]
    fitted = fit(data)
    assert list(fitted.rule_.rules) == [0, 1, 2]
    np.testing.assert_array_equal(
        fitted.accept(data), fit(data, group_by=-1).accept(data)
    )
    if name == "frame":
        by_name = fit(data, group_by="d")
        np.testing.assert_array_equal(fitted.accept(data), by_name.accept(data))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_text(library):
    frame = pytest.importorskip(library).DataFrame(
        {n: FRAME[n].to_list() for n in FRAME}
    )
    model, position = fit(frame, group_by="region"), fit(frame, group_by=4)
    assert list(model.rule_.rules) == ["east", "north", "west"]
    np.testing.assert_array_equal(model.accept(frame), position.accept(frame))


@pytest.mark.parametrize("group_by", [3, place_of, "prediction"])
def test_each_row_is_decided_by_the_rule_of_its_group(group_by):
    model = fit(group_by=group_by, target_risk=0.4)
    labels, scores, accepted = model.predict_all(X)
    groups = labels if group_by == "prediction" else PLACES
    found = model.calibration_
    known = found.predictions if group_by == "prediction" else PLACES[found.rows]
    np.testing.assert_array_equal(found.groups, known)
    expected = model.rule_.accept_proba(scores, groups)
    np.testing.assert_array_equal(model.accept_proba(X), expected)
    np.testing.assert_array_equal(
        accepted[expected % 1 == 0], expected[expected % 1 == 0]
    )
    np.testing.assert_array_equal(model.predict(X) == -1, ~accepted)
    assert json.loads(json.dumps(model.rule_.to_dict()))["type"] == "GroupedRule"


def test_groups_are_those_of_all_samples_given():
    data = np.column_stack([POINTS, np.where(np.arange(N) < 3, 7, 8)])
    rows = [(np.arange(3), np.arange(3, N))]  # none of group 7 calibrates
    tree = DecisionTreeClassifier(random_state=0)
    options = {"estimator": tree, "uncertainty_score": entropies, "target_risk": 0.9}
    with pytest.warns(RejectionWarning, match=r"7.0: it has no calibration sample"):
        model = fit(data, cv=rows, **options)
    assert list(model.rule_.rules) == [7.0, 8.0]
    assert not model.accept(data)[:3].any()


def test_groups_of_no_weight_have_no_calibration_sample():
    weight = np.where(PLACES == 1, 0.0, 1.0)
    with pytest.warns(RejectionWarning, match=r"1.0: it has no calibration sample"):
        clone(MODEL).set_params(target_risk=0.4).fit(X, y, sample_weight=weight)


def test_unseen_groups_are_rejected_and_counted():
    other = X[:4].copy()
    other[:3, 3] = [9, 9, 8]
    model, plain = fit(), fit(target_risk=None, reject_cost=0.3, cv="plug_in")
    with pytest.warns(RejectionWarning, match=r"3 of 4 .* 9\.0 \(2\), 8\.0 \(1\)") as w:
        accepted = model.predict_all(other).accepted
    assert len(w) == 1
    assert not accepted[:3].any()
    for each in (model, plain):
        with pytest.warns(RejectionWarning, match="3 of 4"):
            np.testing.assert_array_equal(each.predict(other)[:3], [-1, -1, -1])
    by_region = fit(FRAME, group_by="region")
    frame = FRAME.iloc[:2].assign(region=[None, "east"])
    with pytest.warns(RejectionWarning, match=r"(None|nan) \(1\)"):
        assert not by_region.accept(frame)[0]
