import json
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.selection import (
    DoubleScoreRule,
    DoubleScoreSummary,
    SingleScoreRule,
    tune_double_score,
    tune_tail_score,
)
from sklearn_reject.selection._plane_bounds import Cells, bound_mean
from sklearn_reject.selection._plane_cells import find_cells, make_table, regions_of
from sklearn_reject.selection._plane_codes import choose_shift, codes_of

INF = float("inf")
SLACK = 1e-9

MODELS = {
    "TPR and FPR": {"min_tpr": 0.5, "max_fpr": 0.5},
    "risk": {"min_tpr": 0.5, "max_risk": 0.4},
    "precision and recall": {
        "min_recall": 0.5,
        "min_precision": 0.75,
        "ood_prior": 0.25,
    },
    "costs": {"costs": (0.3, 0.5, 0.1), "ood_prior": 0.25},
}
by_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def noisy_sample(n_samples=400, seed=0, offset=0.0):
    """Return scores, losses and origins of a classifier that is about right."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n_samples) < 0.25
    risk = rng.beta(1, np.where(is_ood, 3, 6))
    novelty = rng.normal(2.0 * is_ood) + offset
    losses = (rng.random(n_samples) < risk).astype(float)
    return np.column_stack([risk, novelty]), losses, is_ood


def make_summary(samples, max_cells, n_parts=1, weight=None):
    """Return the summary of a sample in so many parts, each other one merged."""
    summary = DoubleScoreSummary(max_cells)
    for place, rows in enumerate(np.array_split(np.arange(len(samples[0])), n_parts)):
        part = [array[rows] for array in samples]
        part_weight = None if weight is None else weight[rows]
        if place % 2:
            other = DoubleScoreSummary(max_cells, shift=summary.shift)
            other.update(*part, part_weight)
            summary = summary.merge(other)
        else:
            assert summary.update(*part, part_weight) is summary
    return summary


def assert_contains(interval, value, slack=SLACK):
    if np.isnan(value):
        return
    margin = slack * abs(value) + 1e-300
    assert interval.low - margin <= value <= interval.high + margin
    assert interval.low <= interval.value <= interval.high


SCALES = st.sampled_from([1e-8, 1e-3, 1.0, 50.0, 1e8])


@st.composite
def samples_and_rules(draw):
    """Draw samples with ties, decades, infinite novelty, real losses and weights."""
    n = draw(st.integers(2, 14))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    steps = st.integers(-4, 6).map(lambda step: step / 4)
    decades = st.builds(
        lambda sign, power: sign * 10.0**power, steps, st.integers(-8, 8)
    )
    score = draw(st.sampled_from([steps, decades]))
    risk = column(score) * draw(SCALES)
    novelty = column(score | st.sampled_from([-INF, INF])) * draw(SCALES)
    novelty = novelty + draw(st.sampled_from([0.0, 500.0]))
    losses = column(draw(st.sampled_from([st.integers(0, 1), st.floats(0, 1e8)])))
    is_ood = column(st.booleans())
    is_ood[0] = False
    weight = None
    if draw(st.booleans()):
        weight = column(st.sampled_from([0.0, 1e-6, 0.5, 1.0, 3.0, 1e6]))
        weight[0] = 1.0
    weights = draw(st.sampled_from([1.0, 0.0, -1.0])), draw(st.floats(0, 4))
    assume(any(weights))
    # A threshold of samples, which ties, or any other.
    row = draw(st.integers(0, n - 1))
    with np.errstate(invalid="ignore"):
        at = weights[0] * risk[row] + weights[1] * novelty[row]
    threshold = at if np.isfinite(at) else draw(st.sampled_from([-INF, 0.3, INF]))
    rule = DoubleScoreRule(
        threshold=float(threshold) * draw(st.sampled_from([1.0, 1 + 2e-12, 1.1])),
        proba_at_threshold=draw(st.sampled_from([0.0, 0.25, 1.0])),
        risk_weight=weights[0],
        novelty_weight=weights[1],
        ood_prior=0.25,
    )
    samples = np.column_stack([risk, novelty]), losses.astype(float), is_ood
    return samples, weight, rule


def assert_measured(found, exact, slack=SLACK):
    for name in ("tpr", "fpr", "precision", "selective_risk"):
        assert_contains(getattr(found, name), getattr(exact, name), slack)


@given(samples_and_rules(), st.integers(4, 16), st.integers(1, 4))
def test_intervals_contain_the_exact_values(drawn, max_cells, n_parts):
    samples, weight, rule = drawn
    summary = make_summary(samples, max_cells, n_parts, weight)
    assert summary.n_cells <= max_cells
    assert summary.n_samples == (weight > 0).sum() if weight is not None else True
    (risk, novelty), rest = samples[0].T, samples[1:]
    exact = rule.measure(risk, novelty, *rest, sample_weight=weight)
    assert_measured(summary.measure(rule), exact)

    parts = [(*samples, weight)] if weight is not None else [samples]
    fetched = summary.measure(rule, parts=parts)
    for interval in fetched:
        np.testing.assert_equal(interval.low, interval.high)
    assert_measured(fetched, exact)
    np.testing.assert_equal(np.isnan(fetched.fpr.value), np.isnan(exact.fpr))


@given(samples_and_rules(), st.sampled_from(["risk", "novelty"]))
def test_rules_of_a_single_score(drawn, score):
    samples, weight, rule = drawn
    values = samples[0][:, ["risk", "novelty"].index(score)]
    single = SingleScoreRule(
        threshold=float(values[0]) if np.isfinite(values[0]) else 1.0,
        proba_at_threshold=rule.proba_at_threshold,
        ood_prior=0.25,
    )
    summary = make_summary(samples, 6, 2, weight)
    exact = single.measure(values, *samples[1:], sample_weight=weight)
    assert_measured(summary.measure(single, score=score), exact)
    fetched = summary.measure(single, score=score, parts=[(*samples, weight)])
    assert_measured(fetched, exact)


@given(samples_and_rules(), st.integers(4, 16))
def test_each_sample_is_in_one_cell(drawn, max_cells):
    (scores, losses, is_ood), _, _ = drawn
    summary = make_summary((scores, losses, is_ood), max_cells, 3)
    first, last = regions_of(summary.cells, summary.shift)
    assert (first <= last).all()
    assert (first[1:] > last[:-1]).all()
    cells = find_cells(summary.cells, summary.shift, *scores.T)
    assert (cells >= 0).all()
    table = Cells(summary.cells)
    counts = np.bincount(cells, minlength=summary.n_cells)
    np.testing.assert_array_equal(counts, table.id_rows + table.ood_rows)
    for score, low, high in zip(
        scores.T,
        (table.risk_low, table.novelty_low),
        (table.risk_high, table.novelty_high),
        strict=True,
    ):
        assert (score >= low[cells]).all()
        assert (score <= high[cells]).all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=7)
)
def test_bounds_of_a_mean_are_those_of_all_arrangements(rows):
    """Enumerates what may be accepted of a cut cell beside one that is accepted."""
    losses, weight = np.array([(loss, w + 0.5) for loss, w in rows]).T
    cut = np.arange(len(rows)) > 0
    zeros = np.zeros(len(rows))
    novelty = np.where(cut, 1.0, -INF)
    one_cell = make_table(zeros, novelty, losses, zeros > 0, weight, 4)[0]
    assert one_cell.shape[1] == 2
    means = []
    for kept in product([0.0, 1.0], repeat=len(rows) - 1):
        accepted = weight * np.append(1.0, kept)
        means.append(accepted @ losses / accepted.sum())
    at_least, at_most = np.array([1.0, 0.0]), np.ones(2)
    cells = Cells(one_cell)
    low, high = (
        bound_mean(cells, at_least, at_most, largest=largest)
        for largest in (False, True)
    )
    assert low <= min(means) * (1 + 1e-12)
    assert high >= max(means) * (1 - 1e-12)
    if len(np.unique(losses[cut])) <= 2:  # then it is attained
        assert low == pytest.approx(min(means))
        assert high == pytest.approx(max(means))


@by_model
def test_few_points_are_tuned_as_they_are(model):
    scores, losses, is_ood = noisy_sample(150, seed=3)
    scores = np.round(scores, 1)
    summary = make_summary((scores, losses, is_ood), 2**10, 3)
    rule = summary.tune(**model, n_directions=13)
    exact = rule.measure(*scores.T, losses, is_ood)
    for name in ("tpr", "fpr", "precision", "selective_risk"):
        assert getattr(rule, name) == pytest.approx(getattr(exact, name), nan_ok=True)
    best = tune_double_score(*scores.T, losses, is_ood, **model, method="exact")
    value = price_of(rule, model)
    assert summary.lower_bound(**model) <= price_of(best, model) * (1 + SLACK)
    on_grid = tune_double_score(
        *scores.T, losses, is_ood, **model, randomize=False, method="exact"
    )
    assert price_of(on_grid, model) <= value * (1 + SLACK)


def price_of(rule, model):
    """Return what a model minimizes."""
    if "max_risk" in model:
        return rule.fpr
    if "costs" not in model:
        return rule.selective_risk
    (reject_id, accept_ood, reject_ood), prior = model["costs"], model["ood_prior"]
    of_id = (1 - rule.tpr) * reject_id
    of_id += rule.tpr * rule.selective_risk if rule.tpr else 0.0
    of_ood = rule.fpr * accept_ood + (1 - rule.fpr) * reject_ood
    return (1 - prior) * of_id + prior * of_ood


def assert_kept(rule, model):
    assert rule.tpr >= model.get("min_tpr", model.get("min_recall", 0)) - SLACK
    assert rule.fpr <= model.get("max_fpr", 1) + SLACK
    assert not rule.selective_risk > model.get("max_risk", INF) + SLACK
    if "min_precision" in model:
        assert rule.precision >= model["min_precision"] - SLACK


@by_model
def test_what_is_certified_holds(model):
    scores, losses, is_ood = samples = noisy_sample(600, seed=1, offset=-700.0)
    summary = make_summary(samples, 128, 3)
    assert summary.n_cells > 64
    rule = summary.tune(**model, n_directions=13)
    assert_kept(rule, model)
    exact = rule.measure(*scores.T, losses, is_ood)
    assert_kept(exact, model)
    assert price_of(exact, model) <= price_of(rule, model) * (1 + SLACK)
    best = tune_double_score(*scores.T, losses, is_ood, **model, method="exact")
    bound = summary.lower_bound(**model, n_directions=13)
    assert 0 <= bound <= price_of(best, model) * (1 + SLACK)


@by_model
def test_parts_make_the_threshold_of_a_direction_exact(model):
    scores, losses, is_ood = noisy_sample(500, seed=2, offset=5.0)
    scores = np.round(scores, 2)  # some tie
    samples = scores, losses, is_ood
    summary = make_summary(samples, 100, 3)
    parts = [[array[i::2] for array in samples] for i in range(2)]
    rule = summary.tune(**model, n_directions=13, parts=parts)
    exact = rule.measure(*scores.T, losses, is_ood)
    for name in ("tpr", "fpr", "precision", "selective_risk"):
        assert getattr(rule, name) == pytest.approx(getattr(exact, name), nan_ok=True)
    assert_kept(rule, model)
    assert (
        price_of(rule, model)
        <= price_of(summary.tune(**model, n_directions=13), model) + SLACK
    )
    prices = []
    for threshold in rule.combine(*scores.T):
        other = replace(rule, threshold=threshold).measure(*scores.T, losses, is_ood)
        if is_kept(other, model):
            prices.append(price_of(other, model))
    assert price_of(rule, model) == pytest.approx(min(prices))


def is_kept(rule, model):
    """Tell whether a rule keeps all bounds."""
    try:
        assert_kept(rule, model)
    except AssertionError:
        return False
    return True


@given(samples_and_rules(), st.sampled_from(list(MODELS.values())), st.integers(4, 9))
def test_parts_are_never_worse(drawn, model, max_cells):
    samples, weight, _ = drawn
    scores, losses, is_ood = samples
    present = np.ones(len(losses), bool) if weight is None else weight > 0
    assume((is_ood & present).any())
    summary = make_summary(samples, max_cells, 2, weight)
    parts = [(*samples, weight)]
    try:
        exact = summary.tune(**model, n_directions=5, parts=parts)
    except InfeasibleTargetError:
        with pytest.raises(InfeasibleTargetError):
            summary.tune(**model, n_directions=5)
        return
    measured = exact.measure(*scores.T, losses, is_ood, sample_weight=weight)
    assert_kept(measured, model)
    assert price_of(exact, model) == pytest.approx(price_of(measured, model))
    try:
        rule = summary.tune(**model, n_directions=5)
    except InfeasibleTargetError:
        return  # the cells cannot tell
    assert price_of(exact, model) <= price_of(rule, model) * (1 + SLACK)


@given(samples_and_rules(), st.sampled_from(list(MODELS.values())), st.integers(4, 9))
def test_no_rule_beats_the_lower_bound(drawn, model, max_cells):
    samples, weight, _ = drawn
    scores, losses, is_ood = samples
    present = np.ones(len(losses), bool) if weight is None else weight > 0
    assume((is_ood & present).any())
    summary = make_summary(samples, max_cells, 2, weight)
    bound = summary.lower_bound(**model, n_directions=5)
    tuned = {"method": "exact", "n_directions": 5, "sample_weight": weight}
    try:
        best = tune_double_score(*scores.T, losses, is_ood, **model, **tuned)
    except InfeasibleTargetError:
        with pytest.raises(InfeasibleTargetError):
            summary.tune(**model, n_directions=5)
        return
    assert bound <= price_of(best, model) * (1 + SLACK)
    try:
        rule = summary.tune(**model, n_directions=5)
    except InfeasibleTargetError:
        return  # the cells cannot tell
    assert bound <= price_of(rule, model) * (1 + SLACK)
    assert_kept(rule.measure(*scores.T, losses, is_ood, sample_weight=weight), model)


def test_the_lower_bound_is_near_the_best_rule():
    # Directions of a grid are far apart where hardly any pairs change their order.
    rng = np.random.default_rng(0)
    is_ood = rng.random(10_000) < 0.2
    risk, novelty = rng.beta(1, 6, 10_000), rng.normal(2.0 * is_ood)
    losses = rng.random(10_000) < risk
    model = {"min_tpr": 0.7, "max_fpr": 0.2}
    summary = DoubleScoreSummary(max_cells=4096)
    summary.update(np.column_stack([risk, novelty]), losses, is_ood)
    best = summary.tune(**model, n_directions=61)
    bound = summary.lower_bound(**model, n_directions=61)
    assert 0.75 * best.selective_risk < bound <= best.selective_risk


def test_intervals_are_narrower_with_more_cells():
    samples = noisy_sample(4000)
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=1.0, novelty_weight=0.1)
    widths = []
    for max_cells in (16, 128, 1024):
        found = make_summary(samples, max_cells, 4).measure(rule)
        widths.append([each.high - each.low for each in found if each.high > -INF])
    widths = np.array(widths)
    assert (widths[1:] < widths[:-1]).all()
    assert (widths[-1] < 0.1).all()


@pytest.mark.parametrize("offset", [0.0, 50.0, -20000.0])
def test_scores_that_begin_alike_are_cut_as_finely(offset):
    samples = noisy_sample(4000, offset=offset)
    summary = make_summary(samples, 400, 4)
    for column, middle in (("risk", 0.1), ("novelty", offset)):
        rule = SingleScoreRule(threshold=middle, proba_at_threshold=1.0)
        tpr = summary.measure(rule, score=column).tpr
        assert tpr.high - tpr.low < 0.25


def test_summaries_cut_in_other_ways_can_be_merged():
    samples = noisy_sample(800)
    one, other = (
        DoubleScoreSummary(64, shift=shift).update(*(array[rows] for array in samples))
        for shift, rows in ((0, slice(0, 500)), (6, slice(500, None)))
    )
    with pytest.warns(RejectionWarning, match=r"as in.* DoubleScoreSummary\(shift=0\)"):
        merged = one.merge(other)
    assert (merged.n_samples, merged.shift) == (800, 0)
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=1.0, novelty_weight=0.1)
    scores, losses, is_ood = samples
    assert_measured(merged.measure(rule), rule.measure(*scores.T, losses, is_ood))
    assert (find_cells(merged.cells, merged.shift, *scores.T) >= 0).all()
    with pytest.warns(RejectionWarning):
        assert other.merge(one).shift == 0  # of more samples


def test_codes_of_prefixes_are_rectangles():
    rng = np.random.default_rng(0)
    risk, novelty = rng.normal(size=(2, 200)) * 10.0 ** rng.integers(-8, 8, (2, 200))
    for shift in (-31, -7, 0, 12, 31):
        codes = codes_of(risk, novelty, shift)
        # In one score, with the other one fixed, they increase.
        by_risk = codes_of(np.sort(risk), np.full(200, 3.0), shift)
        by_novelty = codes_of(np.full(200, -2.0), np.sort(novelty), shift)
        assert (np.diff(by_risk.astype(np.int64)) >= 0).all()
        assert (np.diff(by_novelty.astype(np.int64)) >= 0).all()
        assert len(np.unique(codes)) == 200
    assert choose_shift(risk, risk, 8) == 0
    assert choose_shift(rng.random(500), 500 + rng.random(500), 16) > 5
    assert choose_shift(500 + rng.random(500), rng.random(500), 16) < -5


def test_it_survives_pickle_and_strict_json():
    summary = make_summary(noisy_sample(300), 32, 2)
    state = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=0.5, novelty_weight=0.1)
    for restored in (
        DoubleScoreSummary.from_dict(state),
        pickle.loads(pickle.dumps(summary)),
    ):
        np.testing.assert_array_equal(restored.cells, summary.cells)
        assert restored.shift == summary.shift is not None
        # NaN of the precision, of which there is no prior, is not equal to itself.
        assert repr(restored.measure(rule)) == repr(summary.measure(rule))
    empty = DoubleScoreSummary().to_dict()
    assert DoubleScoreSummary.from_dict(json.loads(json.dumps(empty))).n_cells == 0


def test_parts_are_read_once_and_boxes_hold_what_is_needed():
    scores, losses, is_ood = noisy_sample(500)
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=0.5, novelty_weight=0.1)
    summary = make_summary((scores, losses, is_ood), 100, 3)
    asked = []

    def read(boxes):
        low, high = boxes[:, ::2], boxes[:, 1::2]
        inside = (scores[:, np.newaxis] >= low) & (scores[:, np.newaxis] <= high)
        rows = inside.all(axis=2).any(axis=1)
        asked.append(rows.sum())
        yield scores[rows], losses[rows], is_ood[rows]

    found = summary.measure(rule, parts=read)
    assert 0 < asked[0] < 250
    exact = rule.measure(*scores.T, losses, is_ood)
    assert found.selective_risk.value == pytest.approx(exact.selective_risk)
    assert found.tpr.n_samples == (~is_ood).sum()
    assert found.fpr.n_samples == is_ood.sum()

    with pytest.raises(ValueError, match="parts can be iterated only once"):
        summary.measure(rule, parts=iter([(scores, losses, is_ood)]))
    with pytest.raises(ValueError, match=r"parts have \d+ rows .* were summarized"):
        summary.measure(rule, parts=[(scores[::2], losses[::2], is_ood[::2])])


@pytest.mark.parametrize("empty", [[], np.empty((0, 2))], ids=["list", "array"])
def test_empty_parts_and_parts_of_one_origin_are_fine(empty):
    summary = DoubleScoreSummary().update(empty, [], [])
    assert (summary.n_samples, summary.n_cells, summary.nbytes) == (0, 0, 0)
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=1.0)
    summary.update([[0.1, 2.0]], [float("nan")], [True])
    with pytest.raises(ValueError, match="no ID sample"):
        summary.measure(rule)
    with pytest.raises(ValueError, match="no ID sample"):
        summary.tune(min_tpr=0.5)
    summary.update([[0.1, 2.0], [0.5, 3.0]], [0, 1], [False, False], [0.0, 0.0])
    assert summary.n_samples == 1
    summary.update([[0.1, 2.0], [0.5, 3.0]], [0, 1], [False, False])
    assert summary.measure(rule).tpr == (0.5, 0.5, 0.5, 2)
    alone = DoubleScoreSummary().update([[0.1, 2.0]], [0], [0])
    assert np.isnan(alone.measure(rule).fpr.value)
    assert alone.tune(min_tpr=0.5).tpr == 1
    with pytest.raises(ValueError, match=r"max_fpr=0\.5 needs OOD samples"):
        alone.tune(min_tpr=0.5, max_fpr=0.5)


def test_infinite_novelty_alone():
    summary = DoubleScoreSummary().update(
        [[0.1, -INF], [0.2, INF], [0.3, -INF], [0.1, INF]], [0, 0, 1, 0], [0, 0, 0, 1]
    )
    rule = summary.tune(min_tpr=0.6, max_fpr=0.0)
    assert (rule.tpr, rule.fpr, rule.selective_risk) == (2 / 3, 0, 0.5)
    with pytest.raises(InfeasibleTargetError, match="No rule of these scores can") as e:
        summary.tune(min_tpr=0.9, max_fpr=0.0)
    assert e.value.attainable["max_tpr"] == pytest.approx(2 / 3)
    assert summary.lower_bound(min_tpr=0.9, max_fpr=0.0) == INF


def test_what_cannot_be_told_apart_is_no_verdict():
    samples = noisy_sample(2000)
    summary = make_summary(samples, 16)
    bounds = {"min_tpr": 0.8, "max_fpr": 0.25}
    tune_double_score(*samples[0].T, *samples[1:], **bounds, method="grid")
    with pytest.raises(InfeasibleTargetError, match="larger max_cells than 16"):
        summary.tune(**bounds)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.1, float("nan")]], [0], [0]), "novelty_scores must be finite"),
        (([[INF, 0.1]], [0], [0]), "uncertainty_scores must be finite"),
        (([0.1, 0.2], [0, 0], [0, 0]), r"scores must be of shape \(n_samples, 2\)"),
        (([[0.1, 0.2]], [0, 1], [0]), "losses has 2 elements"),
        (([[0.1, 0.2]], [-1], [0]), "losses must be non-negative"),
        (([[0.1, 0.2]], [1], [2]), "is_ood must hold True and False"),
        (([[0.1, 0.2]], [1], [0], [-1]), "sample_weight must be non-negative"),
        (([[0.1, 0.2]], [1], [0], [1, 1]), "sample_weight has 2 elements"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parts_lose_nothing(arguments, message):
    summary = make_summary(noisy_sample(50), 16)
    before = summary.cells.copy()
    with pytest.raises(ValueError, match=message):
        summary.update(*arguments)
    np.testing.assert_array_equal(summary.cells, before)


def test_bad_parameters():
    summary = make_summary(noisy_sample(50), 16)
    with pytest.raises(ValueError, match="max_cells must be at least 4, got 3"):
        DoubleScoreSummary(3)
    with pytest.raises(ValueError, match="shift must be None or an int from -31 to 31"):
        DoubleScoreSummary(16, shift=99)
    with pytest.raises(ValueError, match=r"cells must be of shape \(11, n_cells\)"):
        DoubleScoreSummary(16, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="other has max_cells=32, but this summary"):
        summary.merge(DoubleScoreSummary(32))
    with pytest.raises(ValueError, match="count twice"):
        summary.merge(summary)
    with pytest.raises(ValueError, match="must be a DoubleScoreSummary, got dict"):
        summary.merge({})
    single = SingleScoreRule(threshold=0.1, proba_at_threshold=1.0)
    double = DoubleScoreRule(threshold=0.1, proba_at_threshold=1.0)
    with pytest.raises(
        ValueError, match="None, but a SingleScoreRule can be for either score"
    ):
        summary.measure(single)
    with pytest.raises(ValueError, match="score must be one of"):
        summary.measure(single, score="both")
    with pytest.raises(ValueError, match="for rules of a single score"):
        summary.measure(double, score="risk")
    scores, losses, is_ood = noisy_sample(50)
    tail = tune_tail_score(*scores.T, losses, is_ood, min_tpr=0.5)
    with pytest.raises(ValueError, match="got TailScoreRule"):
        summary.measure(tail)
    with pytest.raises(ValueError, match="Exactly one target"):
        summary.tune()
