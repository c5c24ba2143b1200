"""Pictures of risk-coverage curves show the numbers that the metrics compute."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    aurc_score,
    get_selective_scorer,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._bootstrap import Resamples

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = make_classification(
    240,
    n_features=5,
    n_informative=4,
    n_redundant=0,
    n_classes=3,
    flip_y=0.2,
    random_state=0,
)
BAYES = GaussianNB().fit(X[:120], y[:120])
X_test, y_test = X[120:], y[120:]
LABELS = BAYES.predict(X_test)
UNCERTAINTY = np.sort(BAYES.predict_proba(X_test))[:, :2].sum(axis=1)
WEIGHT = 1.0 + np.arange(120) % 3


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def cv_results():
    return cross_validate(
        GaussianNB(),
        X,
        y,
        cv=4,
        scoring=get_selective_scorer("neg_aurc"),
        return_estimator=True,
        return_indices=True,
    )


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def area_in(text):
    return float(re.search(r"AuRC = ([\d.e-]+)", text).group(1))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "loss", ["zero_one", "absolute", [[0, 1, 2], [3, 0, 1], [1, 1, 0]]]
)
def test_curve_and_legend_are_those_of_the_metrics(loss, weight):
    predictions = (y_test, LABELS, UNCERTAINTY)
    options = {"loss": loss, "sample_weight": weight}
    display = RiskCoverageDisplay.from_predictions(
        *predictions, name="Bayes", **options
    )
    coverage, risk, _ = risk_coverage_curve(*predictions, **options)
    area = aurc_score(*predictions, **options)
    np.testing.assert_array_equal(display.line_.get_xdata(), coverage)
    np.testing.assert_array_equal(display.line_.get_ydata(), risk)
    np.testing.assert_array_equal(display.coverage, [coverage])
    np.testing.assert_array_equal(display.risk, [risk])
    assert display.aurc == [area]
    assert legend_of(display) == [f"Bayes (AuRC = {area:.4g})"]
    assert area_in(legend_of(display)[0]) == pytest.approx(area, rel=5e-4)


def test_from_estimator_of_any_classifier():
    display = RiskCoverageDisplay.from_estimator(BAYES, X_test, y_test)
    expected = RiskCoverageDisplay.from_predictions(y_test, LABELS, UNCERTAINTY)
    np.testing.assert_allclose(display.line_.get_xydata(), expected.line_.get_xydata())
    assert display.aurc[0] == -get_selective_scorer("neg_aurc")(BAYES, X_test, y_test)
    assert legend_of(display)[0].startswith("GaussianNB (AuRC = ")


@pytest.mark.parametrize("label", ["auto", None])
def test_from_estimator_of_a_selective_classifier(label):
    selective = SelectiveClassifier(
        GaussianNB(), uncertainty_score="entropy", reject_cost=0.4, reject_label=label
    )
    model = make_pipeline(StandardScaler(), selective).fit(X[:120], y[:120])
    display = RiskCoverageDisplay.from_estimator(model, X_test, y_test, name="model")
    scaled = model[:-1].transform(X_test)
    coverage, risk, _ = risk_coverage_curve(
        y_test, model[-1].predict_label(scaled), model[-1].uncertainty(scaled)
    )
    np.testing.assert_array_equal(display.line_.get_xdata(), coverage)
    np.testing.assert_array_equal(display.line_.get_ydata(), risk)
    assert legend_of(display)[0].startswith("model (AuRC = ")


def test_from_estimator_of_margins_and_names():
    names = np.array(["a", "b", "c"])
    svm = LinearSVC(random_state=0).fit(X[:120], names[y[:120]])
    display = RiskCoverageDisplay.from_estimator(svm, X_test, names[y_test])
    assert display.aurc[0] == -get_selective_scorer("neg_aurc")(
        svm, X_test, names[y_test]
    )
    assert display.line_.get_ydata()[-1] == pytest.approx(
        1 - svm.score(X_test, names[y_test])
    )


def test_references():
    display = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, UNCERTAINTY, plot_oracle=True, plot_random=True
    )
    errors = np.sort(y_test != LABELS)
    mean_loss = errors.mean()
    oracle = display.oracle_.get_xydata()
    np.testing.assert_allclose(oracle[:, 0], np.arange(1, 121) / 120)
    np.testing.assert_allclose(oracle[:, 1], np.cumsum(errors) / np.arange(1, 121))
    on_grid = np.interp(display.coverage[0], *oracle.T)
    assert (on_grid <= display.risk[0] + 1e-12).all()
    assert (on_grid < display.risk[0] - 0.01).any()
    np.testing.assert_array_equal(display.random_.get_xdata(), [0, 1])
    np.testing.assert_allclose(display.random_.get_ydata(), mean_loss)
    assert display.risk[0][-1] == pytest.approx(mean_loss)
    assert legend_of(display)[1:] == ["oracle", "random"]


def test_references_are_weighted():
    display = RiskCoverageDisplay.from_predictions(
        y_test,
        LABELS,
        UNCERTAINTY,
        sample_weight=WEIGHT,
        loss="squared",
        plot_oracle=True,
        plot_random=True,
    )
    losses = (LABELS - y_test) ** 2.0
    order = np.argsort(losses, kind="stable")
    weight = np.cumsum(WEIGHT[order])
    oracle = display.oracle_.get_xydata()
    np.testing.assert_allclose(oracle[:, 0], weight / weight[-1])
    np.testing.assert_allclose(
        oracle[:, 1], np.cumsum((losses * WEIGHT)[order]) / weight
    )
    mean_loss = np.average(losses, weights=WEIGHT)
    np.testing.assert_allclose(display.random_.get_ydata(), mean_loss)
    assert display.random == pytest.approx(mean_loss)


def test_references_are_left_out_by_default():
    display = RiskCoverageDisplay.from_predictions(y_test, LABELS, UNCERTAINTY)
    assert display.oracle_ is None
    assert display.random_ is None
    assert len(display.ax_.lines) == 1


def test_folds(cv_results):
    display = RiskCoverageDisplay.from_cv_results(
        cv_results, X, y, name="Bayes", plot_oracle=True, plot_random=True
    )
    areas = -cv_results["test_score"]
    assert display.aurc == pytest.approx(areas)
    assert len(display.line_) == 4
    for (train, test), line in zip(
        StratifiedKFold(4).split(X, y), display.line_, strict=True
    ):
        fold = GaussianNB().fit(X[train], y[train])
        expected = RiskCoverageDisplay.from_estimator(fold, X[test], y[test])
        np.testing.assert_array_equal(line.get_xydata(), expected.line_.get_xydata())
    shown = f"Bayes (AuRC = {areas.mean():.4g} ± {areas.std():.2g})"
    assert legend_of(display) == [shown, "oracle", "random"]
    # The references are those of all folds together.
    assert len(display.oracle_.get_xdata()) == len(X)


def test_folds_of_data_frames_with_weights(cv_results):
    pd = pytest.importorskip("pandas")
    weight = 1.0 + np.arange(240) % 3
    arrays = RiskCoverageDisplay.from_cv_results(cv_results, X, y, sample_weight=weight)
    index = np.random.default_rng(0).permutation(240)  # must not be used to select
    with_names = [
        GaussianNB().fit(pd.DataFrame(X[rows]), y[rows])
        for rows in cv_results["indices"]["train"]
    ]
    frames = RiskCoverageDisplay.from_cv_results(
        {"estimator": with_names, "indices": cv_results["indices"]},
        pd.DataFrame(X, index=index),
        pd.Series(y, index=index),
        sample_weight=pd.Series(weight, index=index),
    )
    assert frames.aurc == pytest.approx(arrays.aurc)
    first = cv_results["indices"]["test"][0]
    assert arrays.aurc[0] == pytest.approx(
        -get_selective_scorer("neg_aurc")(
            cv_results["estimator"][0], X[first], y[first], sample_weight=weight[first]
        )
    )


def test_a_name_and_a_style_for_each_fold(cv_results):
    names = ["one", "two", "three", "four"]
    styles = [{"color": color, "linewidth": 3} for color in ("C0", "C1", "C2", "C3")]
    display = RiskCoverageDisplay.from_cv_results(
        cv_results, X, y, name=names, curve_kwargs=styles
    )
    legend = legend_of(display)
    for text, name, area in zip(legend, names, display.aurc, strict=True):
        assert text == f"{name} (AuRC = {area:.4g})"
    assert [line.get_color() for line in display.line_] == ["C0", "C1", "C2", "C3"]
    assert {line.get_linewidth() for line in display.line_} == {3}


def test_one_style_for_all_folds(cv_results):
    display = RiskCoverageDisplay.from_cv_results(
        cv_results, X, y, curve_kwargs={"color": "red", "linestyle": "--"}
    )
    assert {line.get_color() for line in display.line_} == {"red"}
    assert {line.get_linestyle() for line in display.line_} == {"--"}
    assert len(legend_of(display)) == 1
    assert legend_of(display)[0].startswith("AuRC = ")


def test_styles_of_one_curve_and_its_references():
    display = RiskCoverageDisplay.from_predictions(
        y_test,
        LABELS,
        UNCERTAINTY,
        curve_kwargs={"color": "red", "label": "mine"},
        plot_oracle=True,
        oracle_kwargs={"color": "green", "label": "best"},
        plot_random=True,
        random_kwargs={"color": "blue"},
    )
    lines = (display.line_, display.oracle_, display.random_)
    assert [line.get_color() for line in lines] == ["red", "green", "blue"]
    assert legend_of(display) == ["mine", "best", "random"]


def repeat_rows(counts, *arrays):
    return [np.repeat(array, counts) for array in arrays]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_band_holds_quantiles_of_risks_on_resamples(weight):
    options = {"confidence_level": 0.8, "n_resamples": 30, "random_state": 0}
    scores = np.round(UNCERTAINTY, 1)
    display = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, scores, sample_weight=weight, **options
    )
    (coverage, low, high) = display.band[0]
    np.testing.assert_array_equal(coverage, display.coverage[0])
    counts = Resamples(120, None, 30, 0).counts(0)
    risks = []
    for count in counts:
        sample = repeat_rows(count, y_test, LABELS, scores)
        weights = None if weight is None else np.repeat(weight, count)
        risks.append(
            [
                selective_risk_at_coverage_score(
                    *sample,
                    labels=[0, 1, 2],
                    sample_weight=weights,
                    coverage=min(share, 1),
                    randomize=True,
                )
                for share in coverage
            ]
        )
    number = 120 if weight is None else weight.sum() ** 2 / (weight**2).sum()
    all_lost = 0.1 ** (1 / (coverage * number))
    low_ends, high_ends = np.quantile(risks, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(low, np.minimum(low_ends, all_lost), atol=1e-9)
    np.testing.assert_allclose(high, np.maximum(high_ends, 1 - all_lost), atol=1e-9)
    assert (high > high_ends).any()
    assert (high == high_ends).any()
    assert (low <= high).all()
    assert (low < high).any()
    (drawn,) = display.band_.get_paths()
    for x, y in zip((coverage, coverage), (low, high), strict=True):
        for point in zip(x, y, strict=True):
            assert np.isclose(drawn.vertices, point).all(axis=1).any()


def test_band_holds_where_no_loss_is_seen():
    """The ends are those of Clopper and Pearson, in units of the largest loss."""
    losses = np.repeat([0.0, 4.0], [40, 10])
    display = RiskCoverageDisplay.from_predictions(
        None, None, np.arange(50), loss=losses, confidence_level=0.9, random_state=0
    )
    coverage, low, high = display.band[0]
    at = np.isclose(coverage, 0.4)
    exact = binomtest(0, 20).proportion_ci(0.9).high
    assert high[at] == pytest.approx(4 * exact)
    assert low[at] == 0
    assert display.ax_.get_ylim()[1] < 3  # the left end, up to 3.8, is cut off
    lost = RiskCoverageDisplay.from_predictions(
        None, None, np.arange(50), loss=np.ones(50), confidence_level=0.9
    )
    exact = binomtest(20, 20).proportion_ci(0.9).low
    assert lost.band[0][1][at] == pytest.approx(exact)


def test_band_of_an_estimator_and_its_style():
    options = {"confidence_level": 0.9, "n_resamples": 40, "random_state": 0}
    display = RiskCoverageDisplay.from_estimator(
        BAYES,
        X_test,
        y_test,
        curve_kwargs={"color": "red"},
        band_kwargs={"alpha": 0.5},
        **options,
    )
    expected = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, UNCERTAINTY, **options
    )
    np.testing.assert_allclose(display.band, expected.band)
    red, blue = (shown.band_.get_facecolor()[0] for shown in (display, expected))
    assert tuple(red) == (1, 0, 0, 0.5)
    assert tuple(blue[:3]) == mpl.colors.to_rgb(expected.line_.get_color())
    assert blue[3] < 0.5
    assert len(legend_of(display)) == 1


def test_band_of_many_samples_has_few_points():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    display = RiskCoverageDisplay.from_predictions(
        None,
        None,
        scores,
        loss=rng.random(4000) < scores,
        confidence_level=0.9,
        n_resamples=50,
        random_state=0,
    )
    coverage, low, high = display.band[0]
    assert coverage[0] == display.coverage[0][0]
    assert coverage[-1] == 1
    assert len(coverage) <= 300
    risk = np.interp(coverage, display.coverage[0], display.risk[0])
    assert ((low <= risk) & (risk <= high)).mean() > 0.8


def test_bands_of_several_curves():
    x, y = np.array([0.5, 1.0]), np.array([0.1, 0.2])
    band = (x, y - 0.1, y + 0.1)
    display = RiskCoverageDisplay([x, x], [y, 2 * y], band=[band, band]).plot()
    assert len(display.band_) == 2
    for line, drawn in zip(display.line_, display.band_, strict=True):
        color = mpl.colors.to_rgb(line.get_color())
        assert tuple(drawn.get_facecolor()[0][:3]) == color


def test_samples_without_weight_are_not_drawn():
    absent = np.arange(120) < 100
    weight = np.where(absent, 0.0, WEIGHT)
    options = {"confidence_level": 0.8, "n_resamples": 30, "random_state": 0}
    display = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, UNCERTAINTY, sample_weight=weight, **options
    )
    present = [array[~absent] for array in (y_test, LABELS, UNCERTAINTY, WEIGHT)]
    *sample, weight = present
    expected = RiskCoverageDisplay.from_predictions(
        *sample, sample_weight=weight, **options
    )
    np.testing.assert_allclose(display.band, expected.band)


def test_bands_that_cannot_be():
    samples = y_test, LABELS, UNCERTAINTY
    draw = RiskCoverageDisplay.from_predictions
    assert draw(*samples).band_ is None
    with pytest.raises(ValueError, match=r"confidence_level must be in \]0, 1\["):
        draw(*samples, confidence_level=95)
    with pytest.raises(ValueError, match="n_resamples=10 is too few"):
        draw(*samples, confidence_level=0.95, n_resamples=10)
    with pytest.raises(ValueError, match="band_kwargs is given, but the display has"):
        draw(*samples, band_kwargs={"alpha": 1})
    with pytest.warns(RejectionWarning, match="band has no width. That"):
        draw(LABELS, LABELS, UNCERTAINTY, confidence_level=0.8, n_resamples=20)


def test_axes_of_the_user():
    figure, (left, right) = plt.subplots(1, 2)
    display = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, UNCERTAINTY, ax=right
    )
    assert display.ax_ is right
    assert display.figure_ is figure
    assert display.line_ in right.lines
    assert not left.lines
    assert display.plot(left) is display
    assert display.ax_ is left
    assert len(left.lines) == len(right.lines) == 1


def test_new_axes_each_time():
    display = RiskCoverageDisplay.from_predictions(y_test, LABELS, UNCERTAINTY)
    first = display.ax_
    display.plot(name="again")
    assert display.ax_ is not first
    assert display.figure_ is display.ax_.figure
    assert legend_of(display)[0].startswith("again (AuRC")
    assert display.name is None


def test_axes_say_what_they_show():
    display = RiskCoverageDisplay.from_predictions(y_test, LABELS, UNCERTAINTY)
    assert display.ax_.get_xlabel() == "Coverage (share accepted)"
    assert display.ax_.get_ylabel() == "Selective risk"
    assert display.ax_.get_ylim()[0] == 0
    low, high = display.ax_.get_xlim()
    assert low <= 0 < 1 <= high


def test_two_curves_on_one_picture():
    display = RiskCoverageDisplay.from_predictions(
        y_test, LABELS, UNCERTAINTY, name="a"
    )
    logistic = LogisticRegression().fit(X[:120], y[:120])
    other = RiskCoverageDisplay.from_estimator(
        logistic, X_test, y_test, name="b", ax=display.ax_
    )
    assert len(display.ax_.lines) == 2
    assert [text[0] for text in legend_of(other)] == ["a", "b"]


def test_display_from_numbers_alone():
    display = RiskCoverageDisplay([np.array([0.5, 1.0])], [np.array([0.0, 0.25])])
    display.plot()
    assert display.ax_.get_legend() is None
    display.plot(name="mine")
    assert legend_of(display) == ["mine"]
    several = RiskCoverageDisplay([[0.5, 1.0]] * 2, [[0.0, 0.5]] * 2, name=["x", "y"])
    assert legend_of(several.plot()) == ["x", "y"]


@pytest.mark.parametrize("mean_loss", [0, 1])
def test_extreme_losses(mean_loss):
    truth = LABELS if mean_loss == 0 else (LABELS + 1) % 3
    display = RiskCoverageDisplay.from_predictions(
        truth, LABELS, UNCERTAINTY, plot_oracle=True, plot_random=True
    )
    for line in (display.line_, display.oracle_, display.random_):
        np.testing.assert_array_equal(line.get_ydata(), mean_loss)
    assert area_in(legend_of(display)[0]) == mean_loss


def test_order_of_rows_does_not_matter():
    rows = np.random.default_rng(0).permutation(120)
    coarse = np.round(UNCERTAINTY, 1)
    display = RiskCoverageDisplay.from_predictions(y_test, LABELS, coarse)
    permuted = RiskCoverageDisplay.from_predictions(
        y_test[rows], LABELS[rows], coarse[rows]
    )
    assert permuted.aurc == pytest.approx(display.aurc)
    np.testing.assert_allclose(permuted.line_.get_xydata(), display.line_.get_xydata())


@pytest.mark.parametrize("missing", ["estimator", "indices"])
def test_results_without_what_is_needed(cv_results, missing):
    del cv_results[missing]
    with pytest.raises(ValueError, match=r"return_estimator=True.*return_indices=True"):
        RiskCoverageDisplay.from_cv_results(cv_results, X, y)


def test_names_and_styles_of_another_number(cv_results):
    with pytest.raises(ValueError, match="name has 2 entries for 4 curves"):
        RiskCoverageDisplay.from_cv_results(cv_results, X, y, name=["a", "b"])
    with pytest.raises(ValueError, match="curve_kwargs has 1 entries for 4 curves"):
        RiskCoverageDisplay.from_cv_results(cv_results, X, y, curve_kwargs=[{}])


@pytest.mark.parametrize("reference", ["oracle", "random"])
def test_reference_that_the_display_does_not_have(reference):
    display = RiskCoverageDisplay([np.array([0.5, 1.0])], [np.array([0.0, 0.25])])
    with pytest.raises(ValueError, match=reference):
        display.plot(**{f"plot_{reference}": True})


def test_data_of_other_length():
    with pytest.raises(ValueError, match=r"uncertainty has 3 elements.*120 samples"):
        RiskCoverageDisplay.from_predictions(y_test, LABELS, UNCERTAINTY[:3])
    with pytest.raises(ValueError, match=r"sample_weight has 3 elements.*120 samples"):
        RiskCoverageDisplay.from_predictions(
            y_test, LABELS, UNCERTAINTY, sample_weight=WEIGHT[:3]
        )
