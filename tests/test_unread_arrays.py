"""Arrays that NumPy would compute, or read under a mask, are refused by name."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
    decoding,
    losses,
    metrics,
    selection,
    thresholds,
)
from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.scores import ConditionalRisk

ARRAYS = {
    *("accepted", "clusters", "draws", "eta", "gain", "groups", "inclusion_proba"),
    "is_ood",
    *("loss", "loss_first", "loss_second", "losses", "sample_weight"),
    *("keys", "novelty", "novelty_scores", "scores", "uncertainty"),
    *("uncertainty_scores", "y", "y_first", "y_pred", "y_score", "y_second", "y_true"),
}
X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X.sum(axis=1) > 0).astype(int)
TWO = SelectiveClassifier(GaussianNB(), reject_cost=0.3, random_state=0).fit(X, Y)
SETS = ExpectedLossDecoder(GaussianNB(), loss="f_beta").fit(X, Y)
MASKED = np.ma.masked_array(Y, mask=np.arange(40) == 3)


class Lazy:
    """A collection as Dask makes them, which cannot be computed here."""

    def __init__(self, values):
        self.shape, self.dtype = np.shape(values), np.asarray(values).dtype

    @property
    def ndim(self):
        return len(self.shape)

    def __len__(self):
        return self.shape[0]

    def __dask_graph__(self):
        return {}

    def _compute(self, *_, **__):
        raise AssertionError("it was computed")

    __array__ = __getitem__ = __iter__ = __eq__ = __ne__ = __lt__ = _compute
    __hash__ = None


class InMemory(np.ndarray):
    """An array with the method of collections, but no graph, as xarray has them."""

    def __dask_graph__(self):
        return None


def functions():
    for room in (decoding, losses, metrics, selection, thresholds):
        for name, function in ((name, getattr(room, name)) for name in room.__all__):
            if inspect.isfunction(function) and name[:5] not in ("make_", "check"):
                arrays = ARRAYS & set(inspect.signature(function).parameters)
                if arrays:
                    yield pytest.param(function, sorted(arrays), id=name)


def may_be_masked(function):
    """Return names of arrays of which what is masked is not known."""
    if function.__name__ in (*thresholds.__all__, "pn_curve", "pn_auc_score"):
        return {"scores", "y", "y_true"}  # ratings, and scores of single detectors
    return {"y_second", "loss_second"}


@pytest.mark.parametrize(("function", "names"), list(functions()))
def test_functions_of_arrays(function, names):
    for name in names:
        with pytest.raises(TypeError, match=f"{name} is a Dask .*sklearn_reject.dask"):
            function(**{name: Lazy(Y)})
        if name not in may_be_masked(function):
            with pytest.raises(ValueError, match=rf"{name} is a masked.*~{name}\.mask"):
                function(**{name: MASKED})
    with pytest.raises(TypeError, match=r"is a Dask .*sklearn_reject\.dask"):
        function(Lazy(Y))


def test_all_functions_are_looked_at():
    assert len(list(functions())) > 30


@pytest.mark.parametrize(
    "values", [X[:, 0].view(InMemory), np.ma.masked_array(X[:, 0])], ids=["in", "whole"]
)
def test_what_is_in_memory_and_whole_is_taken(values):
    assert metrics.aurc_score(Y, Y, values) == metrics.aurc_score(Y, Y, X[:, 0])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda huge: selection.solve_target_coverage(huge, [0, 1], 0.5), "scores"),
        (lambda huge: selection.solve_target_risk([0, 1], huge, 0.5), "losses"),
        (lambda huge: metrics.aurc_score([0, 1], [0, 1], huge), "uncertainty"),
        (lambda huge: decoding.decode(huge, loss="f_beta"), "eta"),
    ],
)
def test_integers_that_float64_cannot_hold(call, name):
    with pytest.raises(ValueError, match=f"{name} must hold numbers.* too large"):
        call([10**400, 1])


OF_ARRAYS = [
    lambda bad: TWO.rule_.accept_proba(bad),
    lambda bad: ZeroOneLoss()(Y, bad),
    lambda bad: TWO.accept(X, keys=bad),
    lambda bad: TWO.score(X, bad),
    lambda bad: selection.RiskMonitor(0.1).update(bad),
    lambda bad: selection.RiskMonitor(0.1).update(Y, inclusion_proba=bad),
    lambda bad: selection.CoverageMonitor(0.1).update(bad),
    lambda bad: selection.RiskCoverageSummary().update(Y, bad),
    lambda bad: selection.RiskCoverageSummary().update(bad, Y),
    lambda bad: metrics.bootstrap_interval(metrics.aurc_score, (Y, Y, bad)),
    lambda bad: metrics.get_selective_scorer("neg_aurc")(TWO, X, bad),
    lambda bad: metrics.get_selective_scorer("neg_aurc")(TWO, X, Y, bad),
    lambda bad: metrics.get_selective_scorer("ood_auroc")(TWO, X, bad),
    lambda bad: metrics.get_selective_scorer("neg_selective_cost")(TWO, X, bad),
    lambda bad: metrics.make_selective_scorer(accuracy_score)(TWO, X, bad),
    lambda bad: metrics.RiskCoverageDisplay.from_estimator(TWO, X, bad),
]


@pytest.mark.parametrize("call", OF_ARRAYS)
def test_methods_of_arrays(call):
    with pytest.raises(TypeError, match="is a Dask collection"):
        call(Lazy(Y))
    with pytest.raises(ValueError, match="is a masked array, and masked items have no"):
        call(MASKED == 1)


def test_ways_out_are_named():
    with pytest.raises(TypeError, match="is a Dask collection"):
        metrics.get_selective_scorer("neg_aurc")(TWO, Lazy(X), Y)
    with pytest.raises(TypeError, match="is a Dask collection"):
        ConditionalRisk().fit(estimator=TWO.estimator_).uncertainty(Lazy(X))
    with pytest.raises(TypeError, match=r"samples\[1\] is a Dask collection"):
        metrics.bootstrap_interval(metrics.aurc_score, (Y, Lazy(Y), X[:, 0]))
    with pytest.raises(TypeError, match=r"X is a Dask .*compute\(\)"):
        TWO.score(Lazy(X), Y)
    for method in (SETS.predict, SETS.expected_loss):
        with pytest.raises(TypeError, match=r"groups is a Dask .*compute\(\)"):
            method(X, groups=Lazy(Y))
    for method in ("predict", "predict_all", "accept", "uncertainty", "predict_proba"):
        way_out = r"sklearn_reject\.dask\.apply_rows\(model\.predict, X\)"
        with pytest.raises(TypeError, match=way_out):
            getattr(TWO, method)(Lazy(X))


ESTIMATORS = [
    TWO,
    SelectiveRegressor(LinearRegression(), target_coverage=0.5),
    DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.5),
    ExpectedLossDecoder(GaussianNB(), loss="f_beta"),
    DeferringClassifier(GaussianNB(), LogisticRegression(), max_deferral=0.5),
    EnsembleThresholdTuner([("a", GaussianNB())], min_recall=0.5),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_fit_names_compute_and_the_mask(estimator):
    way_out = r"is a Dask collection .*in memory at once.*compute\(\)"
    with pytest.raises(TypeError, match=f"X {way_out}"):
        estimator.fit(Lazy(X), Y)
    for name in ("y", "sample_weight", "groups"):
        with pytest.raises(TypeError, match=f"{name} {way_out}"):
            estimator.fit(**{"X": X, "y": Y, name: Lazy(Y)})
        if name != "y" or not isinstance(estimator, EnsembleThresholdTuner):
            with pytest.raises(ValueError, match=f"{name} is a masked array"):
                estimator.fit(**{"X": X, "y": Y, name: MASKED})


@pytest.mark.parametrize(
    "display", [getattr(metrics, n) for n in metrics.__all__ if n.endswith("Display")]
)
def test_displays(display):
    unknown = "y_true" if display is metrics.PNCurveDisplay else "y_second"
    for name in ARRAYS & set(inspect.signature(display.from_predictions).parameters):
        with pytest.raises(TypeError, match=f"{name} is a Dask"):
            display.from_predictions(**{name: Lazy(Y)})
        if name != unknown:
            with pytest.raises(ValueError, match=f"{name} is a masked array"):
                display.from_predictions(**{name: MASKED})
