"""Population values and the machinery of the tables of FPP23."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from benchmarks.papers import _fpp23_novelty, _fpp23_protocol, _fpp23_synthetic, fpp23
from benchmarks.papers import _fpp23_population as population
from benchmarks.papers._cache import measured
from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._fpp23_figure import draw_figure
from benchmarks.papers._fpp23_images import load_digits
from benchmarks.papers._fpp23_measures import (
    Sample,
    largest_tpr,
    least_fpr,
    transferred_areas,
    tune,
)
from benchmarks.papers._fpp23_network import DOUBLE_SCORES
from benchmarks.papers._fpp23_novelty import measure_images
from benchmarks.papers._fpp23_protocol import Measured
from benchmarks.papers._fpp23_published import MAX_FPR
from benchmarks.papers._fpp23_synthetic import measure_synthetic
from sklearn_reject._curves._directions import score_directions

# Columns of the values, and what integration gave independently, to three digits.
_AREAS = ("auroc", "aupr", "oscr_franc", "oscr_dhamija")
_EXPECTED = {
    "A": (0.878, 0.962, 0.820, 0.719),
    "B": (0.865, 0.954, 0.827, 0.711),
    "C": (0.758, 0.914, 0.862, 0.645),
}
_RISKS = {"A": 0.158, "B": 0.142}


@pytest.mark.parametrize("method", "ABC")
def test_areas_of_single_scores(method):
    values = population.single_score_values(method)._asdict()
    measured = [values[name] for name in _AREAS]
    assert measured == pytest.approx(_EXPECTED[method], abs=6e-4)


@pytest.mark.parametrize("method", "AB")
def test_risks_of_single_scores(method):
    values = population.single_score_values(method)
    assert values.tpr_fpr == pytest.approx(_RISKS[method], abs=6e-4)
    assert values.precision_recall == pytest.approx(values.tpr_fpr)


def test_the_risk_alone_does_not_meet_the_bounds():
    values = population.single_score_values("C")
    assert np.isnan([values.tpr_fpr, values.precision_recall]).all()
    assert values.attainable_tpr == pytest.approx(0.589, abs=6e-4)


def test_masses_are_those_of_the_mixture():
    cells = population.cells(5000)
    assert cells.id_mass.sum() == pytest.approx(1, abs=1e-12)
    assert cells.ood_mass.sum() == pytest.approx(1, abs=1e-12)
    # Bayes decides at 0 and at the point where classes 2 and 3 are equally probable.
    border = 2 - np.log(4 / 3) / 2
    correct = 0.3 * norm.cdf(1) + 0.4 * norm.sf(border - 3)
    correct += 0.3 * (norm.cdf(border - 1) - norm.cdf(-1))
    assert 1 - cells.loss.sum() == pytest.approx(correct, abs=1e-6)


@pytest.fixture(scope="module")
def double_score():
    return population.double_score_values(n_cells=5000)


@pytest.mark.parametrize(
    ("name", "max_fpr"),
    [
        ("tpr_fpr", population.MAX_FPR),
        # precision .9 at recall .7 and a prior of a quarter
        ("precision_recall", 3 * 0.7 * 0.1 / 0.9),
    ],
)
def test_the_double_score_is_as_good_as_any_selection_function(
    double_score, name, max_fpr
):
    """A linear program over functions of the cells knows of no scores."""
    risk = _least_risk(population.cells(5000), max_fpr)
    assert risk <= getattr(double_score, name) + 1e-9
    assert getattr(double_score, name) == pytest.approx(risk, abs=3e-4)


def _least_risk(cells, max_fpr):
    """Return the least risk at the TPR: a lower bound that a feasible point reaches."""
    # Solvers take as zero what is below 1e-7, which is too much for so small masses.
    scale, min_tpr = len(cells.loss), population.MIN_TPR
    solution = linprog(
        scale * cells.loss,
        A_ub=[scale * cells.ood_mass],
        b_ub=[scale * max_fpr],
        A_eq=[scale * cells.id_mass],
        b_eq=[scale * min_tpr],
        bounds=(0, 1),
    )
    tpr, fpr, loss = (
        masses @ solution.x for masses in (cells.id_mass, cells.ood_mass, cells.loss)
    )
    assert tpr == pytest.approx(min_tpr, abs=1e-10)
    assert fpr <= max_fpr + 1e-10
    # Any two multipliers, the first of them negative, bound the loss from below.
    of_fpr, of_tpr = solution.ineqlin.marginals[0], solution.eqlin.marginals[0]
    reduced = cells.loss - of_fpr * cells.ood_mass - of_tpr * cells.id_mass
    least = of_fpr * max_fpr + of_tpr * min_tpr + np.minimum(reduced, 0).sum()
    assert of_fpr <= 0
    assert loss - least <= 1e-10, "the reference has not converged"
    return least / min_tpr


def test_the_double_score_has_the_best_area_of_its_parts(double_score):
    """The ratio is the best detector and, of these, the risk the best in accuracy."""
    first, second = (population.single_score_values(method) for method in "AC")
    assert double_score.auroc == pytest.approx(first.auroc, abs=1e-4)
    assert double_score.aupr == pytest.approx(first.aupr, abs=1e-4)
    assert double_score.oscr_franc == pytest.approx(second.oscr_franc, abs=1e-4)


# Measuring the synthetic example


def test_what_is_measured_on_a_sample_is_close_to_the_population():
    record = measure_synthetic(seed=0, n_samples=10_000)
    true = {method: population.single_score_values(method) for method in "ABC"}
    for method, values in true.items():
        # Three standard deviations of samples of this size, or more.
        assert list(record[method].values()) == pytest.approx(
            list(values), abs=0.03, nan_ok=True
        )
    for name in ("tpr_fpr", "precision_recall"):
        assert record["D"][name] < record["B"][name] < record["A"][name]
        assert np.isnan(record["C"][name])


def test_the_double_score_is_never_behind_the_single_ones():
    record = measure_synthetic(seed=1, n_samples=400)
    for method in "ABC":
        for name in (*_AREAS, "attainable_tpr"):
            assert record["D"][name] >= record[method][name]


def _exact_record(**changes):
    """Return a record of the population, the double score changed."""
    record = {m: population.single_score_values(m, 2000)._asdict() for m in "ABC"}
    record["D"] = population.double_score_values(2000)._asdict() | changes
    return record


@pytest.mark.parametrize(
    ("changes", "misses"),
    [
        ({}, []),
        ({"tpr_fpr": 0.132}, ["D: risk, tpr-fpr"]),
        ({"aupr": 0.95}, ["D: aupr, mean - population"]),
        ({"oscr_franc": 0.869}, ["D: oscr franc, mean - population"]),
    ],
)
def test_what_misses_the_population_is_called_a_miss(changes, misses):
    true = {m: population.single_score_values(m, 2000) for m in "ABC"}
    true["D"] = population.double_score_values(2000)
    rows = _fpp23_synthetic.verdicts([_exact_record(**changes)], true)
    found = [row.what for row in rows if row.verdict != "ok"]
    assert len(found) == len(misses)
    assert all(what.startswith(miss) for what, miss in zip(found, misses, strict=True))


def test_table_1_shows_the_paper_the_population_and_the_samples(capsys):
    records = [measure_synthetic(seed, n_samples=300) for seed in range(2)]
    _fpp23_synthetic.print_synthetic(records, n_samples=300)
    lines = capsys.readouterr().out.splitlines()
    first = next(row for row, line in enumerate(lines) if line.startswith("D: r and g"))
    assert lines[first].endswith("0.96         0.86")
    assert "paper                     0.133        0.129" in lines[first]
    mean = np.mean([record["D"]["tpr_fpr"] for record in records])
    assert f"{mean:.4f}" in lines[first + 2]


def test_figure_1_is_drawn(tmp_path):
    path = tmp_path / "new" / "figure.png"
    draw_figure(path, n_samples=300)
    assert path.read_bytes().startswith(b"\x89PNG")


# Records


def test_a_record_is_measured_once(tmp_path):
    calls = []

    def measure(seed):
        calls.append(seed)
        return {"value": seed / 2, "undefined": float("nan")}

    for seeds in (range(2), range(3)):
        records = measured(tmp_path, seeds, measure, n_jobs=1)
    assert calls == [0, 1, 2]
    assert [record["value"] for record in records] == [0, 0.5, 1]
    assert np.isnan(records[0]["undefined"])


def test_half_a_record_is_measured_again(tmp_path):
    def fail(seed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path, range(1), fail, n_jobs=1)
    assert measured(tmp_path, range(1), lambda seed: {"a": 1}, n_jobs=1) == [{"a": 1}]


# Images


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a few made-up images for digits and for the three other sets."""
    rng = np.random.default_rng(0)
    monkeypatch.setenv("SKLEARN_REJECT_DATA", str(tmp_path))
    digits = {}
    for part, n_samples in (("train", 300), ("test", 200)):
        y = rng.integers(0, 10, n_samples).astype(np.uint8)
        images = rng.integers(0, 150, (n_samples, 28, 28)).astype(np.uint8)
        images[np.arange(n_samples), 2 * y] += 60
        digits |= {f"X_{part}": images, f"y_{part}": y}
    np.savez(tmp_path / "mnist.npz", **digits)
    for name in ("notmnist_10k", "fashion_mnist_test", "cifar10_gray28_test5k"):
        images = rng.integers(0, 256, (100, 28, 28)).astype(np.uint8)
        np.savez(tmp_path / f"{name}.npz", X=images, y=np.zeros(100))
    return tmp_path


def test_table_2_is_measured_and_printed(folder, capsys):
    record = measure_images(seed=0, n_divisions=1, n_epochs=3)
    for name in MAX_FPR:
        for double, parts in DOUBLE_SCORES.items():
            _check_double_score(record["sets"][name]["paper"], double, parts)
    _fpp23_novelty.print_images([record, record])
    out = capsys.readouterr().out
    assert out.count("KNN+MSP    0.00000    0.976    0.996") == 2
    assert "miss" not in out.split("tuned on one half")[0]


def _check_double_score(found, double, parts):
    """Where it is tuned, a double score is at least as good as its parts."""
    methods, max_fpr = found["methods"], found["max_fpr"]
    assert methods[double]["fpr"] <= max_fpr + 1e-9
    assert methods[double]["tpr"] >= 0.8 - 1e-9
    for part in parts:
        assert methods[double]["risk"] <= methods[part]["risk"]
        for area in ("auroc", "oscr_franc", "oscr_dhamija"):
            assert methods[double][area] >= methods[part][area]


def test_what_is_missing_is_said(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    arguments = ["fpp23", "--tables", "2", "--results", str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    fpp23.main()
    out = capsys.readouterr().out
    assert "Table 2: not measured" in out
    assert "notmnist_10k.npz" in out


def test_a_missing_set_cannot_be_loaded(monkeypatch):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    with pytest.raises(MissingDatasetError, match=r"mnist\.npz.*not set"):
        load_digits("test")


def test_halves_share_no_sample_and_have_as_many_of_each_origin():
    is_ood = np.random.default_rng(0).random(1001) < 0.3
    first, second = _fpp23_protocol._halves(is_ood, np.random.default_rng(3))
    np.testing.assert_array_equal(np.sort(np.append(first, second)), np.arange(1001))
    assert abs(is_ood[first].sum() - is_ood[second].sum()) <= 1
    assert abs(len(first) - len(second)) <= 1


def _sample_of_two_scores(seed, n_samples=400):
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n_samples) < 0.5
    losses = np.where(is_ood, 0, rng.random(n_samples) < 0.2).astype(float)
    scores = rng.normal(size=(n_samples, 2))
    scores[:, 0] += 2 * losses
    scores[:, 1] += 2 * is_ood
    return Sample(scores, losses, is_ood)


def _areas_by_counting(scores, losses, is_ood):
    """Return the areas, without ties, from what is accepted below each OOD sample."""
    below = scores[~is_ood] < scores[is_ood][:, np.newaxis]
    correct = (below & (losses[~is_ood] == 0)).sum(axis=1)
    accepted = below.sum(axis=1)
    accuracies = correct / np.maximum(accepted, 1)
    return below.mean(), accuracies.mean(), correct.mean() / (~is_ood).sum()


def test_areas_elsewhere_are_those_of_the_direction_that_was_best():
    here, other = _sample_of_two_scores(0, 150), _sample_of_two_scores(1)
    directions = score_directions(*here.scores.T, 361)
    on_here, on_other = (
        np.array(
            [
                _areas_by_counting(sample.scores @ weights, *sample[1:])
                for weights in directions
            ]
        )
        for sample in (here, other)
    )
    best = on_here.argmax(axis=0)
    expected = on_other[best, range(3)]
    assert transferred_areas(here, other) == pytest.approx(expected)
    # One area or another is less than what the directions allow there.
    assert (expected < on_other.max(axis=0)).any()


def test_rates_at_a_bound_are_those_of_the_best_threshold():
    sample = _sample_of_two_scores(2)
    sample = sample._replace(scores=np.round(sample.scores[:, 1], 1))
    rates = [
        [(sample.scores[rows] <= threshold).mean() for threshold in sample.scores]
        for rows in (~sample.is_ood, sample.is_ood)
    ]
    tpr, fpr = np.array(rates)
    assert least_fpr(sample, 0.7) == pytest.approx(fpr[tpr >= 0.7].min())
    assert largest_tpr(sample, 0.2) == pytest.approx(tpr[fpr <= 0.2].max())


def test_bounds_that_cannot_be_met_give_no_rule():
    sample = _sample_of_two_scores(3)
    assert tune(sample, min_tpr=0.99, max_fpr=0.01) is None
    assert tune(sample, min_tpr=0.5, max_fpr=0.5).tpr >= 0.5


@pytest.mark.parametrize(
    ("doubles", "verdict"),
    [
        ((0.95, 0.96), "ok"),  # ahead of the part that is better on average
        ((0.87, 0.92), "ok"),  # behind by .005, with a standard error of .015
        ((0.89, 0.90), "ok"),  # once behind, and so by just the standard error
        ((0.88, 0.90), "miss"),  # behind by .01, with a standard error of 0
    ],
)
def test_a_double_score_is_compared_with_its_better_part(doubles, verdict):
    def methods(auroc, part):
        values = {"KNN+MSP": auroc, "KNN": part, "MSP": 0.5}
        empty = dict.fromkeys(Measured._fields, 0.0)
        return {name: empty | {"auroc": value} for name, value in values.items()}

    found = [
        {"methods": methods(*values)}
        for values in zip(doubles, (0.89, 0.91), strict=True)
    ]
    arguments = found, "KNN+MSP", ("KNN", "MSP"), "auroc"
    row = _fpp23_novelty._compare("", *arguments)
    assert row.verdict == verdict
    assert row.details.endswith("better part KNN")
