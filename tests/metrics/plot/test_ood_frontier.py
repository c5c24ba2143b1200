"""Pictures of frontiers show the numbers that the metrics compute."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    OODFrontierDisplay,
    ood_precision_recall_curve,
    ood_roc_curve,
    precision_recall_frontier,
    risk_coverage_curve,
    risk_coverage_frontier,
    roc_frontier,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

SAMPLE = make_fpp23_mixture(300, return_X_y=False, random_state=0)
X, y = SAMPLE.data, SAMPLE.target
RISK, RATIO = SAMPLE.risk, SAMPLE.likelihood_ratio
PREDICTIONS = y, SAMPLE.prediction, RISK
WEIGHT = 1.0 + np.arange(300) % 3
BAYES = GaussianNB().fit(X[y != -1], y[y != -1])

KINDS = {
    "roc": {},
    "precision_recall": {"ood_prior": 0.1},
    "risk_coverage": {"max_fpr": 0.4, "loss": "squared"},
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def double():
    return DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.3, novelty_score="knn", n_directions=9, cv=2
    ).fit(X, y)


def curve(kind, uncertainty, y_pred=SAMPLE.prediction, **options):
    """Return x and y of the curve of one score."""
    if kind == "roc":
        return ood_roc_curve(y, uncertainty, **options)[:2]
    if kind == "precision_recall":
        return ood_precision_recall_curve(y, uncertainty, **options)[1::-1]
    return risk_coverage_curve(y, y_pred, uncertainty, ood_label="auto", **options)[:2]


def frontier(kind, uncertainty, novelty, y_pred=SAMPLE.prediction, **options):
    """Return x and y of the frontier of two scores."""
    options["novelty"] = novelty
    if kind == "roc":
        return roc_frontier(y, uncertainty, **options)
    if kind == "precision_recall":
        return precision_recall_frontier(y, uncertainty, **options)[::-1]
    return risk_coverage_frontier(y, y_pred, uncertainty, **options)


def legend_of(display):
    """Return what the legend has beside the line of a random score."""
    legend = display.ax_.get_legend()
    texts = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [text for text in texts if text != "random"]


def assert_steps(kind, line, points):
    """Check that a line has the value of a frontier between any two of its points."""
    x, y = line.get_data()
    assert (np.diff(x) >= 0).all()
    assert ((np.diff(x) == 0) | (np.diff(y) == 0)).all()
    assert set(zip(*points, strict=True)) <= set(zip(x, y, strict=True))
    middle = (points[0][1:] + points[0][:-1]) / 2
    held = points[1][:-1] if kind == "roc" else points[1][1:]
    np.testing.assert_array_equal(np.interp(middle, x, y), held)
    if kind == "roc":
        assert (x[-1], y[-1]) == (1, points[1][-1])
    else:
        assert (x[0], y[0]) == (0, points[1][0])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_curve_of_one_score(kind, weight):
    options = {"sample_weight": weight, **KINDS[kind]}
    display = OODFrontierDisplay.from_predictions(
        *PREDICTIONS, kind=kind, name="risk", **options
    )
    expected = curve(kind, RISK, **options)
    np.testing.assert_array_equal(display.line_.get_data(), expected)
    np.testing.assert_array_equal(display.x, [expected[0]])
    np.testing.assert_array_equal(display.y, [expected[1]])
    assert legend_of(display) == ["risk"]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_frontier_of_two_scores(kind, weight):
    options = {"sample_weight": weight, "n_directions": 9, **KINDS[kind]}
    display = OODFrontierDisplay.from_predictions(
        *PREDICTIONS, novelty=RATIO, kind=kind, **options
    )
    assert_steps(kind, display.line_, frontier(kind, RISK, RATIO, **options))
    assert legend_of(display) == []


@pytest.mark.parametrize("kind", KINDS)
def test_frontier_beside_its_parts(kind):
    options = KINDS[kind]
    display = OODFrontierDisplay.from_predictions(
        *PREDICTIONS, novelty=RATIO, kind=kind, parts=True, n_directions=9, **options
    )
    points = frontier(kind, RISK, RATIO, n_directions=9, **options)
    assert_steps(kind, display.line_[0], points)
    for line, score in zip(display.line_[1:], (RISK, RATIO), strict=True):
        np.testing.assert_array_equal(line.get_data(), curve(kind, score, **options))
    assert legend_of(display) == ["risk and novelty", "risk alone", "novelty alone"]
    assert len({line.get_color() for line in display.line_}) == 3


def test_names_of_the_parts():
    options = {"novelty": RATIO, "parts": True, "n_directions": 5}
    display = OODFrontierDisplay.from_predictions(*PREDICTIONS, name="D", **options)
    assert legend_of(display) == ["D", "risk alone", "novelty alone"]
    names = ["D", "C", "A"]
    display = OODFrontierDisplay.from_predictions(*PREDICTIONS, name=names, **options)
    assert legend_of(display) == names
    with pytest.raises(ValueError, match="name has 2 entries for 3 curves"):
        OODFrontierDisplay.from_predictions(*PREDICTIONS, name=["a", "b"], **options)
    with pytest.raises(ValueError, match=r"parts=True .* one score only"):
        OODFrontierDisplay.from_predictions(*PREDICTIONS, parts=True)


@pytest.mark.parametrize("kind", KINDS)
def test_from_estimator_of_any_classifier(kind):
    options = KINDS[kind]
    display = OODFrontierDisplay.from_estimator(BAYES, X, y, kind=kind, **options)
    uncertainty = np.sort(BAYES.predict_proba(X))[:, :2].sum(axis=1)
    expected = curve(kind, uncertainty, BAYES.predict(X), **options)
    np.testing.assert_allclose(display.line_.get_data(), expected)
    assert legend_of(display) == ["GaussianNB"]


@pytest.mark.parametrize("kind", KINDS)
def test_from_estimator_of_a_double_score(kind, double):
    options = {"n_directions": 9, **KINDS[kind]}
    display = OODFrontierDisplay.from_estimator(double, X, y, kind=kind, **options)
    points = frontier(
        kind, *double.risk_and_novelty(X), double.predict_label(X), **options
    )
    assert_steps(kind, display.line_, points)
    assert legend_of(display)[0] == "DoubleScoreOODClassifier"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: GridSearchCV(model, {"n_directions": [5]}, cv=2),
    ],
    ids=["pipeline", "search"],
)
def test_from_estimator_looks_inside(double, wrap):
    model = wrap(double).fit(X, y)
    inner, Z = getattr(model, "best_estimator_", model), X
    if hasattr(inner, "steps"):
        inner, Z = model[-1], model[:-1].transform(X)
    display = OODFrontierDisplay.from_estimator(
        model, X, y, name="mine", n_directions=9
    )
    points = frontier("roc", *inner.risk_and_novelty(Z), n_directions=9)
    assert_steps("roc", display.line_, points)
    fpr, tpr = measured = display.point
    probability = inner.accept_proba(Z)
    assert measured == (probability[y == -1].mean(), probability[y != -1].mean())
    rule = f"rule (FPR {fpr:.3g}, TPR {tpr:.3g})"
    assert legend_of(display) == ["mine", "target: TPR ≥ 0.3", rule]


@pytest.mark.parametrize(
    ("kind", "corner", "label"),
    [
        ("roc", [(0, 0.7), (0.2, 0.7), (0.2, 1)], "FPR ≤ 0.2, TPR ≥ 0.7"),
        (
            "precision_recall",
            [(1, 0.7), (0.2, 0.7), (0.2, 1)],
            "recall ≥ 0.2, precision ≥ 0.7",
        ),
        (
            "risk_coverage",
            [(1, 0.7), (0.2, 0.7), (0.2, 0)],
            "TPR ≥ 0.2, risk ≤ 0.7",
        ),
    ],
)
def test_bounds_are_a_corner(kind, corner, label):
    display = OODFrontierDisplay.from_predictions(
        *PREDICTIONS, kind=kind, bounds=(0.2, 0.7), **KINDS[kind]
    )
    np.testing.assert_array_equal(display.target_.get_xydata(), corner)
    assert legend_of(display) == [f"target: {label}"]
    display.plot(bounds=(0.1, 0.5), target_kwargs={"color": "red", "label": "mine"})
    assert display.target_.get_color() == "red"
    assert legend_of(display) == ["mine"]
    assert display.plot().target_ is None


@pytest.mark.parametrize(
    ("kind", "asked", "drawn"),
    [
        ("roc", {"min_tpr": 0.3}, [(0, 0.3), (1, 0.3)]),
        ("roc", {"min_recall": 0.3, "min_precision": 0.9}, [(0, 0.3), (1, 0.3)]),
        ("precision_recall", {"min_precision": 0.9}, [(1, 0.9), (0, 0.9)]),
        ("precision_recall", {"min_tpr": 0.3, "max_fpr": 0.1}, [(0.3, 0), (0.3, 1)]),
        ("risk_coverage", {"min_tpr": 0.3, "max_fpr": 0.1}, [(0.3, 0), (0.3, 1)]),
        ("risk_coverage", {"min_precision": 0.9}, None),
    ],
)
def test_bounds_that_the_axes_show(kind, asked, drawn):
    display = OODFrontierDisplay([[0, 1]], [[0, 1]], kind=kind, target=asked).plot()
    if drawn is None:
        assert display.target_ is None
    else:
        np.testing.assert_array_equal(display.target_.get_xydata(), drawn)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_rule_and_chance(kind, weight, double):
    options = {"sample_weight": weight, "n_directions": 5, **KINDS[kind]}
    display = OODFrontierDisplay.from_estimator(double, X, y, kind=kind, **options)
    weight = np.ones(len(y)) if weight is None else weight
    probability = double.accept_proba(X)

    def mean(values, rows, extra=1.0):
        return np.average(values[rows], weights=(weight * extra)[rows])

    tpr, fpr = (mean(probability, rows) for rows in (y != -1, y == -1))
    losses = (double.predict_label(X) - y) ** 2.0
    risk = mean(losses, y != -1, probability)
    expected = {
        "roc": [(fpr, tpr), (0, 1)],
        "precision_recall": [
            (tpr, 0.9 * tpr / (0.9 * tpr + 0.1 * fpr)),
            (0.9, 0.9),
        ],
        "risk_coverage": [(tpr, risk), 2 * (mean(losses, y != -1),)],
    }
    np.testing.assert_allclose(display.point_.get_xydata(), [expected[kind][0]])
    np.testing.assert_allclose(display.random_.get_ydata(), expected[kind][1])
    low, high = display.ax_.get_ylim()
    assert low == 0
    assert kind == "risk_coverage" or high > 1
    parts = {"plot_point": False, "plot_random": False, "plot_target": False}
    bare = display.plot(**parts)
    assert (bare.point_, bare.random_, bare.target_) == (None, None, None)
    assert len(bare.ax_.lines) == 1


def test_parts_that_the_display_does_not_have():
    display = OODFrontierDisplay([[0, 1]], [[0, 1]])
    for part in ("point", "random", "target"):
        with pytest.raises(ValueError, match=f"plot_{part}=True, but .* `{part}`"):
            display.plot(**{f"plot_{part}": True})


def test_kinds_say_what_their_axes_are():
    axes = {}
    for kind, options in KINDS.items():
        display = OODFrontierDisplay.from_predictions(
            *PREDICTIONS, kind=kind, **options
        )
        axes[kind] = display.ax_.get_xlabel(), display.ax_.get_ylabel()
        low, high = display.ax_.get_xlim()
        assert low <= 0 < 1 <= high
    assert "OOD" in axes["roc"][0]
    assert "ID" in axes["roc"][1]
    assert axes["precision_recall"][0].startswith("Recall")
    assert axes["precision_recall"][1].startswith("Precision")
    assert axes["risk_coverage"][1] == "Selective risk"


def test_labels_are_needed_for_risks_only():
    for kind in ("roc", "precision_recall"):
        OODFrontierDisplay.from_predictions(y, None, RISK, kind=kind)
    rejected = np.where(RISK > 0.4, -1, SAMPLE.prediction)
    with pytest.raises(ValueError, match="y_pred holds the OOD label -1"):
        OODFrontierDisplay.from_predictions(y, rejected, RISK, kind="risk_coverage")


def test_several_methods_on_the_axes_of_the_user():
    figure, (left, right) = plt.subplots(1, 2)
    first = OODFrontierDisplay.from_predictions(y, None, RISK, ax=right, name="r")
    second = OODFrontierDisplay.from_predictions(y, None, RATIO, ax=right, name="g")
    assert first.ax_ is second.ax_ is right
    assert second.figure_ is figure
    assert len(right.lines) == 3
    assert first.random_ is second.random_
    assert not left.lines
    assert legend_of(second) == ["r", "g"]


def test_display_from_numbers_alone():
    display = OODFrontierDisplay([[0, 1], [0, 1]], [[0, 1], [0.5, 1]]).plot()
    assert display.ax_.get_legend() is None
    display.plot(name=["a", "b"], curve_kwargs=[{"color": "red"}, {"color": "blue"}])
    assert legend_of(display) == ["a", "b"]
    assert [line.get_color() for line in display.line_] == ["red", "blue"]
    display.plot(name="both", curve_kwargs={"linestyle": ":"})
    assert legend_of(display) == ["both"]
    assert {line.get_linestyle() for line in display.line_} == {":"}
    with pytest.raises(ValueError, match="curve_kwargs has 1 entries for 2 curves"):
        display.plot(curve_kwargs=[{}])


def test_no_rule_within_the_bound_draws_nothing():
    # The two most certain samples are OOD and always accepted.
    novelty = np.where(np.cumsum(y == -1) <= 2, -np.inf, RATIO)
    options = {"kind": "risk_coverage", "max_fpr": 0.0, "n_directions": 5}
    display = OODFrontierDisplay.from_predictions(
        *PREDICTIONS, novelty=novelty, **options
    )
    assert len(display.line_.get_xdata()) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrap",
    [pytest.param(lambda model: model, marks=pytest.mark.slow), make_pipeline],
    ids=["bare", "pipeline"],
)
def test_the_ood_label_is_that_of_the_estimator(kind, wrap):
    labels = np.where(y == -1, 99, y)
    options = {"n_directions": 5, **KINDS[kind]}
    model = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.3, novelty_score="msp", cv=2, ood_label=99
    )
    model = wrap(model).fit(X, labels)
    display = OODFrontierDisplay.from_estimator(model, X, labels, kind=kind, **options)
    inner = getattr(model, "steps", [(None, model)])[-1][1]
    points = frontier(
        kind, *inner.risk_and_novelty(X), inner.predict_label(X), **options
    )
    assert_steps(kind, display.line_, points)
    # One that is given wins, and a warning tells of what is no class either.
    given = OODFrontierDisplay.from_estimator(
        model, X, y, kind=kind, ood_label=-1, **options
    )
    np.testing.assert_array_equal(given.line_.get_xydata(), display.line_.get_xydata())
    some = np.where(np.arange(len(y)) % 2, y, labels)
    with pytest.warns(RejectionWarning, match=r"y holds -1 .* nor ood_label=99"):
        OODFrontierDisplay.from_estimator(model, X, some, kind=kind, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_the_classifier_inside_predicts_once(kind, monkeypatch):
    model = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.3, novelty_score="msp", cv=2
    ).fit(X, y)
    calls, predict = [], GaussianNB.predict_proba

    def count(self, X):
        calls.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(GaussianNB, "predict_proba", count)
    OODFrontierDisplay.from_estimator(model, X, y, kind=kind, n_directions=5)
    assert calls == [len(X)]


def test_another_ood_label():
    display = OODFrontierDisplay.from_predictions(y, None, RISK)
    labels = np.where(y == -1, 50, y)
    other = OODFrontierDisplay.from_predictions(labels, None, RISK, ood_label=50)
    np.testing.assert_array_equal(other.line_.get_xydata(), display.line_.get_xydata())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pr"}, "kind must be one of"),
        ({"uncertainty": RISK[:3]}, "uncertainty has 3 elements, but there are 300"),
        ({"ood_label": 12}, "is_ood is False for all samples"),
        ({"kind": "precision_recall", "ood_prior": 2}, "ood_prior must be in"),
        ({"kind": "risk_coverage", "max_fpr": 2}, "max_fpr must be in"),
    ],
)
def test_bad_input(options, message):
    arguments = {"uncertainty": RISK, **options}
    with pytest.raises(ValueError, match=message):
        OODFrontierDisplay.from_predictions(y, SAMPLE.prediction, **arguments)


def test_no_ood_samples_say_how_to_mark_them():
    with pytest.raises(ValueError, match=r"Mark OOD samples: .* with ood_label"):
        OODFrontierDisplay.from_estimator(BAYES, X[y != -1], y[y != -1])


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    display = OODFrontierDisplay([[0, 1]], [[0, 1]])
    with pytest.raises(ImportError, match=r"OODFrontierDisplay.plot needs matplotlib"):
        display.plot()
