"""Pictures of PN curves show the counts of the documents they are given."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.metrics import PNCurveDisplay, pn_curve
from tests.metrics.plot.drawn import legend_of

N = 900


def rated_scores():
    """Return scores of two detectors, ratings of what either reached, and the truth."""
    rng = np.random.default_rng(0)
    is_positive = rng.random(N) < 0.1
    better = is_positive[:, np.newaxis] * rng.normal(1, 1, (N, 2))
    scores = (rng.normal(size=(N, 2)) + better).round(2)
    reached = (scores >= 0.2).any(axis=1)
    return scores, np.where(reached, is_positive.astype(int), -1), is_positive


SCORES, Y, POSITIVE = rated_scores()
TUNING, TEST = slice(0, 500), slice(500, N)
D = 0.4
OPTIONS = {"n_thresholds": 20}


@pytest.fixture(scope="module", params=["any", "all"])
def rule(request):
    return request.param


@pytest.fixture(scope="module")
def tuner(rule):
    model = EnsembleThresholdTuner(None, rule=rule, max_fp_per_tp=1 / D, **OPTIONS)
    return model.fit(SCORES[TUNING], Y[TUNING])


def count(scores, y, thresholds, rule, weight=None):
    reached = scores >= thresholds
    predicted = reached.any(axis=1) if rule == "any" else reached.all(axis=1)
    weight = np.ones(len(y)) if weight is None else weight
    return weight[predicted & (y == 0)].sum(), weight[predicted & (y == 1)].sum()


def error_bars(point):
    horizontal, vertical = point.lines[2]
    (x,), (y,) = horizontal.get_segments(), vertical.get_segments()
    return tuple(x[:, 0]), tuple(y[:, 1])


def ends_of(infinite_line):
    """Return where a line without ends leaves the axes, in data coordinates."""
    on_screen = infinite_line.get_transform().transform([(0, 0), (1, 1)])
    return infinite_line.axes.transData.inverted().transform(on_screen)


X2, y2 = make_classification(400, weights=[0.8], flip_y=0.1, random_state=0)


MODELS = [(LogisticRegression(), None)]
MODELS += [(GaussianNB(), "common"), (Perceptron(), "common")]


@pytest.mark.parametrize(("model", "pos_label"), MODELS, ids=str)
def test_any_classifier_of_two_classes(model, pos_label):
    names = np.array(["common", "rare"])[y2]
    model = make_pipeline(StandardScaler(), model).fit(X2[::2], names[::2])
    Z, truth = X2[1::2], names[1::2]
    display = PNCurveDisplay.from_estimator(model, Z, truth, pos_label=pos_label)
    has_decision = hasattr(model, "decision_function")
    score = model.decision_function(Z) if has_decision else model.predict_proba(Z)[:, 1]
    score = -score if pos_label == "common" else score
    expected = pn_curve(truth, score, pos_label=pos_label)[:2]
    np.testing.assert_array_equal(display.line_.get_data(), expected)
    assert legend_of(display) == [f"Pipeline (area = {display.area[0]:.4g})"]
    display.plot(target={"max_fp_per_tp": 2})  # through the origin
    np.testing.assert_allclose(ends_of(display.target_) @ [1, -2], 0, atol=1e-9)


def test_path_and_point_as_they_were_counted(tuner):
    path, point = tuner.path_, tuner.operating_point_
    display = PNCurveDisplay.from_path(path, operating_point=point, name="graph")
    drawn = display.line_.get_data()
    np.testing.assert_array_equal(drawn, (path.fp[::-1], path.tp[::-1]))
    marker = display.point_.lines[0]
    assert marker.get_xydata().tolist() == [[point.fp, point.tp]]
    bars = point.fp_interval, point.tp_interval
    np.testing.assert_allclose(error_bars(display.point_), bars)
    (left, low), (right, high) = ends_of(display.target_)
    assert (high - low) / (right - left) == pytest.approx(D)
    assert low + D * (point.fp - left) == pytest.approx(point.tp)
    assert display.ax_.get_xlim()[1] < 1.1 * max(path.fp[0], 4 * point.fp_interval[1])
    assert display.ax_.get_ylim()[1] >= point.tp_interval[1]
    right = display.ax_.get_xlim()[1]
    PNCurveDisplay([[0, 10 * right]], [[0, 1]]).plot(display.ax_)
    assert display.ax_.get_xlim()[1] == right  # other curves stay in view
    done = f"operating point (precision = {point.precision:.3g})"
    assert set(legend_of(display)[1:]) == {"target: FP per TP ≤ 2.5", done}


@pytest.mark.parametrize("weight", [None, 1.0 + np.arange(400) % 3])
def test_path_and_point_are_counted_on_the_documents_given(tuner, rule, weight):
    sample, before = (SCORES[TEST], Y[TEST]), tuner.path_.fp.copy()
    display = PNCurveDisplay.from_estimator(tuner, *sample, sample_weight=weight)
    thresholds, point = tuner.path_.thresholds[::-1], display.point
    counts = [count(*sample, row, rule, weight) for row in thresholds]
    np.testing.assert_array_equal(display.line_.get_xydata(), counts)
    expected = count(*sample, tuner.thresholds_, rule, weight)
    assert (point.fp, point.tp) == expected
    marker = display.point_.lines[0]
    np.testing.assert_array_equal(marker.get_xydata(), [expected])
    for value, interval in zip(expected, error_bars(display.point_), strict=True):
        assert interval[0] <= value <= interval[1]
    # Nothing of the tuner itself has changed.
    np.testing.assert_array_equal(tuner.path_.fp, before)


def test_detectors_that_did_not_run_and_targets_without_a_slope(rule):
    target = {"any": {"max_alerts": 60}, "all": {"min_recall": 0.3}}[rule]
    scores, y = SCORES.copy(), POSITIVE.astype(int)
    scores[::3, 0] = np.nan
    tuner = EnsembleThresholdTuner(None, rule=rule, **target, **OPTIONS)
    display = PNCurveDisplay.from_estimator(tuner.fit(scores, y), scores, y)
    assert display.target is display.target_ is None
    np.testing.assert_array_equal(display.line_.get_xdata(), tuner.path_.fp[::-1])
    display.figure_.canvas.draw()


@pytest.mark.parametrize("pos_label", ["common", "rare"])
def test_tuners_inside_of_others_and_their_positive_class(pos_label):
    names = np.array(["common", "rare"])[y2]
    halves = [("left", LogisticRegression(), slice(0, 10))]
    halves += [("right", GaussianNB(), slice(10, 20))]
    options = {"max_fp_per_tp": 1 / D, "cv": 2, "pos_label": pos_label, **OPTIONS}
    tuner = EnsembleThresholdTuner(halves, **options)
    scaled = StandardScaler().fit_transform(X2)
    expected = PNCurveDisplay.from_estimator(tuner.fit(scaled, names), scaled, names)
    point = expected.point
    predicted = tuner.predict(scaled) == pos_label
    assert point.tp == np.count_nonzero(predicted & (names == pos_label))
    assert point.fp == np.count_nonzero(predicted & (names != pos_label))
    pipeline = make_pipeline(StandardScaler(), clone(tuner))
    rules = {"ensemblethresholdtuner__rule": ["any"]}
    search = GridSearchCV(pipeline, rules, cv=2).fit(X2, names)
    for model in (search, FrozenEstimator(search.best_estimator_)):
        display = PNCurveDisplay.from_estimator(model, X2, names)
        for one, other in zip(display.ax_.lines, expected.ax_.lines, strict=True):
            np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
        assert legend_of(display)[0].startswith(f"{type(model).__name__} (area")
    with pytest.raises(ValueError, match=r"pos_label='odd', but .* tuned for"):
        PNCurveDisplay.from_estimator(tuner, X2, names, pos_label="odd")


class Mute(GaussianNB):
    decision_function = predict_proba = property()


BINARY = GaussianNB().fit(X2, y2)
THREE = np.array(list("abc"))[np.arange(400) % 3]
OF_THREE = GaussianNB().fit(X2, THREE)


@pytest.mark.parametrize(
    ("model", "y", "options", "message"),
    [
        (OF_THREE, y2, {}, r"GaussianNB has the classes .*'c'"),
        (OF_THREE, THREE, {}, "y must have two classes"),
        (BINARY, [0, 1, 0], {}, "y has 3 elements, but there are 400"),
        (GaussianNB(), y2, {}, r"GaussianNB has the classes \[\], but"),
        (LinearRegression().fit(X2, y2), y2, {}, r"LinearRegression has the classes"),
        (Mute().fit(X2, y2), y2, {}, "Mute has no scores"),
    ],
)
def test_bad_input(model, y, options, message):
    with pytest.raises(ValueError, match=message):
        PNCurveDisplay.from_estimator(model, X2, y, **options)
