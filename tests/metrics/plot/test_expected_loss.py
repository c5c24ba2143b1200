"""Pictures of expected losses show the numbers of the decoder."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode, expected_loss_curve
from sklearn_reject.metrics import ExpectedLossDisplay, set_loss

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
ETA = np.round(RNG.beta(0.5, 2, 30), 2)
Y = (RNG.random(30) < ETA).astype(int)
GROUPS = np.repeat(["b", "a", "c"], [12, 10, 8])

X2, y2 = make_classification(300, weights=[0.8], class_sep=0.6, random_state=0)
X_labels, Y_labels = make_multilabel_classification(200, n_classes=6, random_state=0)
X3, y3 = make_classification(
    300, n_classes=4, n_informative=5, class_sep=0.5, random_state=0
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def at_choice(curves, chosen):
    return [curve[k] for curve, k in zip(curves, chosen, strict=True)]


def realised_by_sets(eta, y, **options):
    """Return the loss of the k most probable items, one mask after the other."""
    order = np.argsort(-eta, kind="stable")
    losses = []
    for k in range(len(eta) + 1):
        mask = np.zeros((1, len(eta)), dtype=bool)
        mask[0, order[:k]] = True
        losses.append(set_loss(np.reshape(y, (1, -1)), mask, **options))
    return losses


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "jaccard", "zero_division": 1.0},
        {"loss": "f_beta", "beta": 2.0},
        {"loss": "auc", "min_positive": 2, "max_positive": 5},
        {"loss": "g_mean"},
    ],
    ids=str,
)
def test_numbers_are_those_of_the_functions(options):
    display = ExpectedLossDisplay.from_probabilities(ETA, y=Y, **options)
    bounds = ("min_positive", "max_positive")
    of_loss = {key: value for key, value in options.items() if key not in bounds}
    of_loss = {"loss": "f1", **of_loss}
    curve = expected_loss_curve(np.sort(ETA)[::-1], **of_loss)
    mask, least = decode(ETA, **{"loss": "f1", **options})
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(31))
    np.testing.assert_array_equal(display.line_.get_ydata(), curve)
    assert display.chosen == [mask.sum()]
    np.testing.assert_array_equal(display.chosen_.get_xdata(), [mask.sum()])
    assert display.chosen_.get_ydata()[0] == pytest.approx(least, abs=1e-12)
    np.testing.assert_allclose(
        display.realised_.get_ydata(), realised_by_sets(ETA, Y, **of_loss), rtol=1e-14
    )


def test_realised_loss_at_the_choice_is_that_of_the_prediction():
    display = ExpectedLossDisplay.from_probabilities(ETA, y=Y, loss="am")
    mask, _ = decode(ETA, loss="am")
    realized = display.realized[0][display.chosen[0]]
    assert realized == set_loss(Y, mask.astype(int), loss="am")


def test_groups_and_rows():
    groups = ExpectedLossDisplay.from_probabilities(ETA, y=Y, groups=GROUPS)
    for position, name in enumerate("abc"):
        rows = [group == name for group in GROUPS]
        alone = ExpectedLossDisplay.from_probabilities(ETA[rows], y=Y[rows])
        np.testing.assert_array_equal(
            groups.line_[position].get_ydata(), alone.line_.get_ydata()
        )
        np.testing.assert_array_equal(
            groups.realised_[position].get_ydata(), alone.realised_.get_ydata()
        )
        assert groups.chosen[position] == alone.chosen[0]
        point = groups.chosen_[position].get_xydata()
        np.testing.assert_array_equal(point, alone.chosen_.get_xydata())
    rows = ExpectedLossDisplay.from_probabilities(
        ETA.reshape(3, 10), y=csr_array(Y.reshape(3, 10))
    )
    by_group = ExpectedLossDisplay.from_probabilities(
        ETA, y=Y, groups=np.repeat(range(3), 10)
    )
    np.testing.assert_allclose(rows.expected_loss, by_group.expected_loss, atol=1e-12)
    np.testing.assert_array_equal(rows.realized, by_group.realized)
    assert rows.chosen == by_group.chosen


def test_classes_of_which_one_is_true():
    eta = RNG.dirichlet(np.ones(5), 3)
    display = ExpectedLossDisplay.from_probabilities(
        eta, loss="f1", distribution="multinomial"
    )
    top = np.cumsum(-np.sort(-eta, axis=1), axis=1)
    expected = 1 - 2 * top / (np.arange(1, 6) + 1)
    np.testing.assert_allclose(np.array(display.expected_loss)[:, 1:], expected)
    assert display.chosen == (expected.argmin(axis=1) + 1).tolist()


# Fitted classifiers


@pytest.mark.parametrize("strategy", ["dta", "eum", 0.3])
@pytest.mark.parametrize("pos_label", [None, "no"])
def test_from_estimator_of_two_classes(strategy, pos_label):
    names = np.array(["no", "yes"])[y2]
    decoder = ExpectedLossDecoder(
        GaussianNB(), strategy=strategy, pos_label=pos_label, loss="jaccard"
    ).fit(X2, names)
    groups = np.arange(300) // 100
    display = ExpectedLossDisplay.from_estimator(decoder, X2, y=names, groups=groups)
    positive = pos_label or "yes"
    predicted = decoder.predict(X2, groups=groups) == positive
    assert display.chosen == predicted.reshape(3, 100).sum(axis=1).tolist()
    curves = decoder.expected_loss_curves(X2, groups=groups)
    # Sets that are worked on together share a quadrature.
    np.testing.assert_allclose(display.expected_loss, curves, rtol=1e-11)
    realized = at_choice(display.realized, display.chosen)
    losses = set_loss(
        names == positive, predicted, loss="jaccard", groups=groups, average=None
    )
    np.testing.assert_allclose(realized, losses)
    heights = [line.get_ydata()[0] for line in display.chosen_]
    np.testing.assert_allclose(heights, decoder.expected_loss(X2, groups=groups))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_from_estimator_of_several_labels(form):
    decoder = ExpectedLossDecoder(OneVsRestClassifier(LogisticRegression()))
    decoder.fit(X_labels, Y_labels)
    display = ExpectedLossDisplay.from_estimator(
        decoder, X_labels[:8], y=form(Y_labels[:8])
    )
    predicted = decoder.predict(X_labels[:8])
    assert display.chosen == predicted.sum(axis=1).tolist()
    realized = at_choice(display.realized, display.chosen)
    np.testing.assert_allclose(
        realized, set_loss(Y_labels[:8], predicted, average=None)
    )


def test_from_estimator_of_several_classes():
    names = np.array(list("dbac"))[y3]
    decoder = ExpectedLossDecoder(LogisticRegression(), loss="f_beta", beta=2.0)
    decoder.fit(X3, names)
    display = ExpectedLossDisplay.from_estimator(decoder, X3[:6], y=names[:6])
    sets = decoder.predict_set(X3[:6])
    assert display.chosen == sets.sum(axis=1).tolist()
    realized = at_choice(display.realized, display.chosen)
    options = {"labels": decoder.classes_, "average": None}
    losses = set_loss(names[:6], sets, loss="f_beta", beta=2.0, **options)
    np.testing.assert_allclose(realized, losses)


def test_decoder_is_found_inside():
    decoder = ExpectedLossDecoder(LogisticRegression())
    scaled = StandardScaler().fit_transform(X2)
    expected = ExpectedLossDisplay.from_estimator(decoder.fit(scaled, y2), scaled)
    assert legend_of(expected)[0].startswith("ExpectedLossDecoder (k = ")
    pipeline = make_pipeline(StandardScaler(), decoder)
    search = GridSearchCV(pipeline, {"expectedlossdecoder__beta": [1.0]}, cv=2)
    for model in (pipeline, search, FrozenEstimator(pipeline.fit(X2, y2))):
        display = ExpectedLossDisplay.from_estimator(model.fit(X2, y2), X2)
        np.testing.assert_allclose(display.expected_loss, expected.expected_loss)
        assert display.chosen == expected.chosen
        assert legend_of(display)[0].startswith(f"{type(model).__name__} (k = ")


# What is drawn


def test_only_what_is_known_is_drawn():
    display = ExpectedLossDisplay.from_probabilities(ETA)
    assert display.realized is display.realised_ is None
    assert len(display.ax_.lines) == 2
    display = ExpectedLossDisplay.from_probabilities(
        ETA, y=Y, plot_chosen=False, plot_realized=False
    )
    assert display.chosen_ is display.realised_ is None
    assert len(display.ax_.lines) == 1
    assert display.ax_.get_ylabel() == "Expected loss"
    display.plot()
    assert len(display.ax_.lines) == 3


def test_legends():
    display = ExpectedLossDisplay.from_probabilities(ETA, y=Y, name="mine")
    k = display.chosen[0]
    shown = f"k = {k}, E[loss] = {display.expected_loss[0][k]:.4g}"
    assert legend_of(display) == [f"mine ({shown})", "realized loss"]
    assert legend_of(display.plot(name="again")) == [
        f"again ({shown})",
        "realized loss",
    ]
    several = ExpectedLossDisplay.from_probabilities(ETA, groups=GROUPS, name="all")
    attained = at_choice(several.expected_loss, several.chosen)
    mean = np.mean(attained)
    assert legend_of(several) == [f"all (3 sets, mean E[loss] = {mean:.4g})"]
    several.plot(name=["x", "y", "z"])
    *of_sets, of_mean = legend_of(several)
    for text, name, value, k in zip(
        of_sets, "xyz", attained, several.chosen, strict=True
    ):
        assert text == f"{name} (k = {k}, E[loss] = {value:.4g})"
    assert of_mean == "mean of 3 sets"
    several.plot(plot_mean=False)
    assert legend_of(several) == [f"all (3 sets, mean E[loss] = {mean:.4g})"]
    realized = ExpectedLossDisplay.from_probabilities(ETA, y=Y, groups=GROUPS)
    assert legend_of(realized)[1:] == ["mean realized loss"]
    assert legend_of(realized.plot(plot_mean=False))[1:] == ["realized loss"]


def test_styles():
    display = ExpectedLossDisplay.from_probabilities(
        ETA,
        y=Y,
        curve_kwargs={"color": "red", "label": "mine"},
        chosen_kwargs={"marker": "x"},
        realised_kwargs={"color": "blue", "label": "true"},
    )
    assert display.line_.get_color() == display.chosen_.get_color() == "red"
    assert display.chosen_.get_marker() == "x"
    assert display.realised_.get_color() == "blue"
    assert legend_of(display) == ["mine", "true"]
    styles = [{"color": color} for color in ("C1", "C2", "C3")]
    several = ExpectedLossDisplay.from_probabilities(
        ETA, y=Y, groups=GROUPS, curve_kwargs=styles
    )
    for lines in (several.line_, several.chosen_, several.realised_):
        assert [line.get_color() for line in lines] == ["C1", "C2", "C3"]


@pytest.mark.parametrize("n_sets", [2, 10, 11, 100])
def test_each_set_has_a_color(n_sets):
    eta = np.tile(ETA[:6], (n_sets, 1))
    display = ExpectedLossDisplay.from_probabilities(eta, y=eta > 0.3)
    for lines in (display.line_, display.realised_, display.chosen_):
        colors = [mpl.colors.to_hex(line.get_color()) for line in lines]
        assert len(set(colors)) == n_sets
        assert mpl.colors.to_hex(display.mean_.get_color()) not in colors
    red = display.plot(curve_kwargs={"color": "red"})
    assert {line.get_color() for line in red.line_} == {"red"}


def test_mean_curves():
    """A set of fewer than k items is taken as a whole."""
    display = ExpectedLossDisplay.from_probabilities(ETA, y=Y, groups=GROUPS)
    sizes = [len(curve) - 1 for curve in display.expected_loss]
    assert sorted(sizes) == [8, 10, 12]
    for line, curves in (
        (display.mean_, display.expected_loss),
        (display.realised_mean_, display.realized),
    ):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(13))
        for k, mean in enumerate(line.get_ydata()):
            of_sets = [curve[min(k, len(curve) - 1)] for curve in curves]
            assert mean == pytest.approx(np.mean(of_sets))
    display.plot(mean_kwargs={"color": "green"}, realised_kwargs={"label": "true"})
    assert display.mean_.get_color() == display.realised_mean_.get_color() == "green"
    assert display.realised_mean_.get_linestyle() == ":"
    assert "true" in legend_of(display)
    display.plot(plot_mean=False)
    assert display.mean_ is display.realised_mean_ is None
    assert ExpectedLossDisplay.from_probabilities(ETA, y=Y).mean_ is None
    alone = ExpectedLossDisplay.from_probabilities(ETA, y=Y, plot_mean=True)
    np.testing.assert_array_equal(alone.mean_.get_ydata(), alone.expected_loss[0])


def test_axes():
    figure, (left, right) = plt.subplots(1, 2)
    display = ExpectedLossDisplay.from_probabilities(ETA, y=Y, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.get_xlabel() == "Number of predicted items k"
    assert right.get_ylabel() == "Loss"
    assert right.get_ylim()[0] == 0
    assert display.plot(left) is display
    assert display.ax_ is left
    assert display.plot().ax_ not in (left, right)


def test_losses_below_zero():
    display = ExpectedLossDisplay.from_probabilities(
        ETA, y=Y, loss=lambda tp, fp, fn, tn: fn - 3.0 * tp
    )
    assert display.ax_.get_ylim()[0] < min(display.expected_loss[0])


def test_display_from_numbers_alone():
    display = ExpectedLossDisplay([np.array([1.0, 0.5, 0.7])]).plot()
    assert display.ax_.get_legend() is None
    assert len(display.ax_.lines) == 1
    several = ExpectedLossDisplay([np.ones(3), np.ones(2)], name=["x", "y"]).plot()
    assert legend_of(several) == ["x", "y", "mean of 2 sets"]
    assert legend_of(several.plot(name="z")) == ["z"]
    several.name = None
    assert legend_of(several.plot()) == ["mean of 2 sets"]


# Bad input


@pytest.mark.parametrize("part", ["chosen", "realized"])
def test_parts_that_the_display_does_not_have(part):
    display = ExpectedLossDisplay([np.array([1.0, 0.5])])
    with pytest.raises(ValueError, match=rf"plot_{part}=True, but .* no `{part}`"):
        display.plot(**{f"plot_{part}": True})


def test_names_and_styles_of_another_number():
    with pytest.raises(ValueError, match="name has 2 entries for 3 curves"):
        ExpectedLossDisplay.from_probabilities(ETA, groups=GROUPS, name=["a", "b"])
    with pytest.raises(ValueError, match="curve_kwargs has 1 entries for 3 curves"):
        ExpectedLossDisplay.from_probabilities(ETA, groups=GROUPS, curve_kwargs=[{}])


def test_too_many_sets():
    eta = np.full((101, 2), 0.5)
    with pytest.raises(ValueError, match=r"101 sets are too many.*at most 100"):
        ExpectedLossDisplay.from_probabilities(eta)
    assert len(ExpectedLossDisplay.from_probabilities(eta[1:]).line_) == 100
    options = {"strategy": "dta", "calibration": None}
    decoder = ExpectedLossDecoder(LogisticRegression(), **options).fit(X3, y3)
    with pytest.raises(ValueError, match="300 sets are too many"):
        ExpectedLossDisplay.from_estimator(decoder, X3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": Y[:3]}, r"y must have the shape of eta, \(30,\), got \(3,\)"),
        ({"y": Y + 1}, "y must hold 0 and 1, got 2"),
        ({"groups": [0]}, "groups has 1 elements, but there are 30 samples"),
        ({"loss": "auc"}, "needs min_positive and max_positive"),
        ({"loss": "f2"}, "loss must be one of"),
        ({"distribution": "binomial"}, "distribution must be one of"),
    ],
    ids=str,
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        ExpectedLossDisplay.from_probabilities(ETA, **options)


def test_other_classifiers():
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X2, y2)
    with pytest.raises(ValueError, match=r"ExpectedLossDecoder.*from_probabilities"):
        ExpectedLossDisplay.from_estimator(model, X2)


@pytest.mark.filterwarnings("ignore:Out of sample")
@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("strategy", ["dta", "eum"])
def test_from_estimator_of_averages(average, strategy):
    """A curve a label, or one of all entries, and what is predicted on it."""
    X, y = make_multilabel_classification(60, n_classes=3, random_state=0)
    decoder = ExpectedLossDecoder(
        OneVsRestClassifier(GaussianNB()),
        strategy=strategy,
        calibration=None,
        average=average,
        min_positive=1,
        max_positive=30,
    ).fit(X, y)
    display = ExpectedLossDisplay.from_estimator(decoder, X, y=y)
    curves = decoder.expected_loss_curves(X)
    assert len(display.expected_loss) == {"macro": 3, "micro": 1}[average]
    for drawn, curve in zip(display.expected_loss, curves, strict=True):
        np.testing.assert_allclose(drawn, curve, rtol=0, atol=1e-11)
    labels = decoder.predict(X)
    sizes = labels.sum(axis=0) if average == "macro" else [labels.sum()]
    assert display.chosen == list(sizes)
