"""What is inside searches, calibration and tuned thresholds, and what it makes of X."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

from sklearn_reject._response import Response, find_steps
from sklearn_reject._response._members import find_members

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

_X, _Y = load_digits(return_X_y=True)
X, Y = _X[_Y < 3][:150] / 16, _Y[_Y < 3][:150]
BINARY = Y > 0


def network():
    return MLPClassifier((6,), max_iter=15, random_state=0)


def search(estimator):
    return GridSearchCV(estimator, {}, cv=2)


def calibrate(estimator, **options):
    return CalibratedClassifierCV(estimator, cv=2, **options)


WRAPPERS = {
    "grid search": search,
    "random search": lambda e: RandomizedSearchCV(e, {}, n_iter=1, cv=2),
    "search of a pipeline": lambda e: search(make_pipeline(MinMaxScaler(), e)),
    "pipeline of a search": lambda e: make_pipeline(MinMaxScaler(), search(e)),
    "calibrated once": lambda e: calibrate(e, ensemble=False),
    "frozen, calibrated": lambda e: calibrate(FrozenEstimator(e.fit(X, BINARY))),
    "frozen, calibrated in folds": lambda e: calibrate(
        FrozenEstimator(e.fit(X, BINARY)), ensemble=True
    ),
    "fixed threshold": lambda e: FixedThresholdClassifier(e, threshold=0.3),
    "tuned threshold": lambda e: TunedThresholdClassifierCV(e, cv=2, thresholds=2),
    "nested": lambda e: make_pipeline(
        MinMaxScaler(),
        search(
            FixedThresholdClassifier(
                make_pipeline(StandardScaler(), calibrate(e, ensemble=False)),
                threshold=0.3,
            )
        ),
    ),
}


def by_hand(mlp, X):
    """Return the last hidden layer and the logits of two classes."""
    hidden = np.maximum(X @ mlp.coefs_[0] + mlp.intercepts_[0], 0)
    half = (hidden @ mlp.coefs_[1] + mlp.intercepts_[1]) / 2
    return hidden, np.hstack([-half, half])


@pytest.mark.parametrize("name", WRAPPERS)
def test_features_and_logits_are_those_of_the_network_inside(name):
    model = WRAPPERS[name](network()).fit(X, BINARY)
    [member] = find_members(find_steps(model).model)
    reached = X
    for step in (*find_steps(model).transformers, *member.transformers):
        reached = step.transform(reached)
    assert len(find_steps(model).transformers + member.transformers) == {
        "nested": 2,
        "search of a pipeline": 1,
        "pipeline of a search": 1,
    }.get(name, 0)
    features, logits = by_hand(member.model, reached)
    response = Response(model, X)
    assert type(member.model) is MLPClassifier
    np.testing.assert_allclose(response.features, features, atol=1e-12)
    np.testing.assert_allclose(response.logits, logits, atol=1e-12)
    np.testing.assert_allclose(response.head(features), logits, atol=1e-12)


@pytest.mark.parametrize("name", WRAPPERS)
def test_labels_and_probabilities_stay_those_of_the_estimator(name):
    model = WRAPPERS[name](network()).fit(X, BINARY)
    response = Response(model, X)
    np.testing.assert_array_equal(response.probabilities, model.predict_proba(X))
    np.testing.assert_array_equal(response.labels, model.predict(X))


def test_members_of_a_calibration_are_side_by_side():
    model = calibrate(make_pipeline(StandardScaler(), network()), ensemble=True)
    model.fit(X, BINARY)
    pipelines = [fold.estimator for fold in model.calibrated_classifiers_]
    parts = [by_hand(p[-1], p[0].transform(X)) for p in pipelines]
    features, logits = zip(*parts, strict=True)
    around = FixedThresholdClassifier(FrozenEstimator(model)).fit(X, BINARY)
    for wrapped in (model, FrozenEstimator(model), around):
        response = Response(wrapped, X)
        np.testing.assert_allclose(response.features, np.hstack(features), atol=1e-12)
        np.testing.assert_allclose(response.logits, sum(logits) / 2, atol=1e-12)
        assert response.head is None


def test_features_that_members_share_are_there_once():
    scaler = FrozenEstimator(MinMaxScaler().fit(X))
    shared = calibrate(make_pipeline(scaler, LogisticRegression())).fit(X, Y)
    expected = scaler.transform(X)
    np.testing.assert_array_equal(Response(shared, X).features, expected)
    plain = calibrate(LogisticRegression()).fit(X, Y)
    assert Response(plain, X).features.shape == X.shape
    rows = sparse.csr_matrix(X)
    assert sparse.issparse(Response(plain, rows).features)
    own = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    side_by_side = Response(calibrate(own).fit(X, Y), rows).features
    assert sparse.issparse(side_by_side)
    assert side_by_side.shape == (len(X), 2 * X.shape[1])


@pytest.mark.parametrize("model", [LogisticRegression(), SVC()], ids=["linear", "SVC"])
def test_logits_of_several_members_are_averaged(model):
    ensemble = calibrate(model).fit(X, Y)
    members = [fold.estimator for fold in ensemble.calibrated_classifiers_]
    values = np.mean([member.decision_function(X) for member in members], axis=0)
    np.testing.assert_allclose(Response(ensemble, X).logits, values, atol=1e-12)


@pytest.mark.parametrize("wrap", [search, calibrate])
@pytest.mark.parametrize("inner", [LogisticRegression, network])
def test_rows_do_not_depend_on_each_other(wrap, inner):
    model = wrap(make_pipeline(StandardScaler(), inner())).fit(X, Y)
    whole = Response(model, X)
    for rows in (slice(3, 4), slice(7, 20)):
        part = Response(model, X[rows])
        np.testing.assert_array_equal(part.features, whole.features[rows])
        np.testing.assert_array_equal(part.logits, whole.logits[rows])


class Deciding(GridSearchCV):
    """A search that may predict as it likes."""


def test_what_is_not_looked_into():
    unknown = Deciding(network(), {}, cv=2).fit(X, Y)
    nothing_left = GridSearchCV(network(), {}, cv=2, refit=False).fit(X, Y)
    for model in (unknown, nothing_left):
        [member] = find_members(model)
        assert member.model is model
        np.testing.assert_array_equal(Response(model, X).features, X)


def test_members_without_some_of_the_classes_have_no_common_logits():
    labels = np.where(np.arange(len(X)) < 75, Y > 0, 2)
    even, odd = np.arange(0, 150, 2), np.arange(1, 150, 2)
    folds = [(even, odd), (even[even < 75], np.append(even[even >= 75], odd))]
    model = CalibratedClassifierCV(LogisticRegression(), cv=folds).fit(X, labels)
    response = Response(model, X)
    assert response.features.shape == X.shape
    message = (
        r"classes \[0, 1, 2\], but LogisticRegression inside it has \[0, 1\].*'msp'"
    )
    with pytest.raises(ValueError, match=message):
        _ = response.logits


def test_what_has_no_logits_inside_is_named():
    with pytest.raises(ValueError, match="GaussianNB has no logits"):
        _ = Response(calibrate(GaussianNB()).fit(X, Y), X).logits
    pairwise = search(SVC(decision_function_shape="ovo")).fit(X, Y)
    for values in ("logits", "decision_values"):
        with pytest.raises(ValueError, match="gives one value per pair"):
            getattr(Response(pairwise, X), values)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) >= parse_version("1.8"),
    reason="cv='prefit' is gone",
)
@pytest.mark.filterwarnings("ignore:The `cv='prefit'` option:UserWarning")
def test_calibration_of_what_was_fitted_before():
    fitted = network().fit(X, BINARY)
    model = CalibratedClassifierCV(fitted, cv="prefit").fit(X, BINARY)
    [member] = find_members(model)
    assert member.model is fitted


def test_metadata_that_were_routed_change_nothing():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = calibrate(inner, ensemble=False)
        model.fit(X, BINARY, sample_weight=np.arange(len(X)) % 3)
    [fold] = model.calibrated_classifiers_
    np.testing.assert_allclose(
        Response(model, X).logits[:, 1] * 2, fold.estimator.decision_function(X)
    )


def test_data_frames_with_text_reach_the_network_inside():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, 18:22], columns=list("abcd"))
    frame["color"] = np.where(X[:, 30] > 0.5, "red", "blue")
    columns = make_column_transformer(
        (OneHotEncoder(), ["color"]), remainder=StandardScaler()
    )
    model = calibrate(make_pipeline(columns, network()), ensemble=False)
    model.fit(frame, BINARY)
    [fold] = model.calibrated_classifiers_
    features, logits = by_hand(fold.estimator[-1], fold.estimator[0].transform(frame))
    for rows in (slice(None), slice(4, 5)):
        response = Response(model, frame[rows])
        np.testing.assert_allclose(response.features, features[rows], atol=1e-12)
        np.testing.assert_allclose(response.logits, logits[rows], atol=1e-12)
