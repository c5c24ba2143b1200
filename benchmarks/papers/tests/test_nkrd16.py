"""Figure 1, the sets, the structured SVM and the tables of NKRD16."""

import gzip
import json
import os
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from benchmarks.papers import _nkrd16_data as data
from benchmarks.papers import _nkrd16_measure, _nkrd16_synthetic, _nkrd16_tables, nkrd16
from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._nkrd16_classifier import (
    choose_strength,
    fitted_probabilities,
    hold_out,
    out_of_fold,
)
from benchmarks.papers._nkrd16_figure import best_set, draw_figure
from benchmarks.papers._nkrd16_published import (
    LEAST_POSITIVES,
    SIZES,
    TABLES,
    TITLES,
    Size,
)
from benchmarks.papers._nkrd16_structured import (
    decision,
    fit_structured_svms,
    most_violated,
    realized,
)
from benchmarks.papers.tests._quadratic import solve_quadratic_program
from sklearn_reject.losses import check_set_loss

needs_data = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("SKLEARN_REJECT_DATA"),
        reason="SKLEARN_REJECT_DATA does not name a folder of real data",
    ),
]


# Figure 1

# Table 1 of the paper: u, v, p are the shares of true, of predicted and of positive.
# Where it is 0/0, a rate or a mean of rates is zero.
_PHI = {
    "am": lambda u, v, p: 1 - (_ratio(u, p) + _ratio(1 - v - p + u, 1 - p)) / 2,
    "f1": lambda u, v, p: 1 - _ratio(2 * u, p + v),
    "jaccard": lambda u, v, p: 1 - _ratio(u, p + v - u),
    "g_tp_pr": lambda u, v, p: 1 - _ratio(u, np.sqrt(p * v)),
    "g_mean": lambda u, v, p: 1 - np.sqrt(_ratio(u * (1 - v - p + u), p * (1 - p))),
    "h_mean": lambda u, v, p: 1 - _ratio(2 * u * (1 - v - p + u), (1 - v - p) * p + u),
    "auc": lambda u, v, p: (1 - _ratio(u, p)) * (1 - _ratio(1 - v - p + u, 1 - p)),
}


def _ratio(numerator, denominator):
    # Zeros such as .3 + .7 - 1 are not exact.
    return max(numerator, 0.0) / denominator if denominator > 1e-12 else 0.0


def _expected_loss(name, eta, is_in):
    """Sum over the outcomes one by one, by the formulas of table 1."""
    total = 0.0
    for y in product((0, 1), repeat=len(eta)):
        chance = np.prod([p if one else 1 - p for p, one in zip(eta, y, strict=True)])
        total += chance * _PHI[name](np.mean(is_in * y), np.mean(is_in), np.mean(y))
    return total


@pytest.mark.parametrize("name", _nkrd16_synthetic.NAMES)
def test_expected_losses_are_those_of_table_1(name):
    eta = _nkrd16_synthetic.draw(2, seed=5)
    expected = _nkrd16_synthetic.expected_losses(name, eta)
    for number in (0, 1, 2**9, 0b1011000110, 1023):
        is_in = np.array([number >> item & 1 for item in range(10)])
        assert expected[1, number] == pytest.approx(_expected_loss(name, eta[1], is_in))


@pytest.mark.parametrize("name", _nkrd16_synthetic.NAMES)
def test_the_best_of_all_sets_is_decoded(name):
    found = _nkrd16_synthetic.verify(name, n_draws=50)
    assert (found.n_top, found.n_ours) == (50, 50)
    assert found.largest_error <= 1e-12


@pytest.mark.parametrize("decoded", ["too few", "not the most probable"])
def test_a_decoder_that_errs_is_called_a_miss(monkeypatch, decoded):
    def decode(eta, **options):
        masks = np.zeros(eta.shape, dtype=bool)
        first = np.argmax if decoded == "too few" else np.argmin
        masks[np.arange(len(eta)), first(eta, axis=1)] = True
        return masks, np.full(len(eta), 0.5)

    monkeypatch.setattr(_nkrd16_synthetic, "decode", decode)
    found = _nkrd16_synthetic.verify("f1", n_draws=20)
    rows = list(_nkrd16_synthetic.verdicts({"f1": found}))
    assert [row.verdict for row in rows] == ["ok", "miss", "miss"]


def test_figure_1_shows_that_losses_differ_in_their_best_sets(tmp_path):
    path = tmp_path / "new" / "figure.png"
    draw_figure(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    eta = np.array([[0.9, 0.6, 0.55, 0.5, 0.45, 0.45, 0.4, 0.4, 0.3, 0.1]])
    sizes = {name: best_set(name, eta).sum() for name in ("f1", "am", "auc")}
    assert sizes["f1"] > sizes["am"]
    assert sizes["auc"] in (1, 9)


# What the paper says


def test_every_row_of_the_paper_is_there():
    rows = {("reuters", least) for least in LEAST_POSITIVES}
    rows |= {(name, 1) for name in SIZES if name != "reuters"}
    assert list(TABLES) == list(TITLES)
    for table in TABLES.values():
        assert set(table) == rows


@pytest.mark.parametrize("name", ["webpage", "image", "breast_cancer"])
def test_published_f1_and_jaccard_of_one_set_agree(name):
    """The baseline predicts one set, whatever the loss: J = 2 F / (1 + F)."""
    f1 = TABLES["f1"][name, 1].baseline
    assert TABLES["jaccard"][name, 1].baseline == pytest.approx(
        2 * f1 / (1 + f1), abs=2e-4
    )


def test_published_losses_are_as_the_text_says():
    """The proposed method has "almost always" the least F1, but not Jaccard loss."""
    behind = {
        loss: {name for (name, _), row in table.items() if row[0] > min(row[1:3])}
        for loss, table in TABLES.items()
    }
    assert behind["f1"] == {"spambase", "image"}
    assert len(behind["jaccard"]) == 6
    # "competitive": the structured SVM has the least loss of all in these rows
    best = {
        loss: sum(row.s_svm == min(row) for row in table.values())
        for loss, table in TABLES.items()
    }
    assert best == {"f1": 3, "jaccard": 5, "am": 4, "g_tp_pr": 5}


# Sets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SKLEARN_REJECT_DATA", str(tmp_path))
    return tmp_path


def _write(path, lines):
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")


def _write_breast_cancer(folder, monkeypatch, n_rows=30):
    rng = np.random.default_rng(0)
    is_ill = rng.random(n_rows) < 0.5
    rows = [
        f"{rng.integers(1, 6) + 4 * ill},{i},{4 if ill else 2}"
        for i, ill in enumerate(is_ill)
    ]
    _write(folder / "breast_cancer.csv.gz", ["x0,x1,target", "1,?,2", *rows])
    monkeypatch.setitem(SIZES, "breast_cancer", Size(20, n_rows - 20, 1))
    return is_ill


def test_rows_with_unknown_features_are_left_out(folder, monkeypatch):
    is_ill = _write_breast_cancer(folder, monkeypatch)
    split = data.load("breast_cancer", seed=0)
    assert (split.X_train.shape, split.X_test.shape) == ((20, 2), (10, 2))
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.X_train.std(axis=0), 1)
    # The second feature numbers the rows.
    numbers = np.argsort(np.argsort(np.append(split.X_train[:, 1], split.X_test[:, 1])))
    labels = np.append(split.Y_train[:, 0], split.Y_test[:, 0])
    np.testing.assert_array_equal(labels, is_ill[numbers])
    other = data.load("breast_cancer", seed=1)
    assert not np.array_equal(other.X_train, split.X_train)


def test_images_of_several_types_are_left_out(folder, monkeypatch):
    labels = ["1,0", "1,1", "0,1", "0,0", "1,0"]
    rows = [f"{number},{number % 2},{label}" for number, label in enumerate(labels)]
    _write(folder / "scene.csv.gz", ["a,b,label:Beach,label:Urban", *rows])
    monkeypatch.setitem(SIZES, "scene", Size(2, 1, 2))
    split = data.load("scene", seed=7)
    assert split.names == ["Beach", "Urban"]
    np.testing.assert_array_equal(split.Y_train, [[True, False], [False, True]])
    # Scaled by rows 0 and 2; row 4 lies as far behind as they are apart.
    np.testing.assert_allclose(split.X_train[:, 0], [-1, 1])
    np.testing.assert_allclose(split.X_test[:, 0], [3])


def test_articles_with_one_topic_and_a_body_are_the_papers(folder):
    articles = [
        ("train", ["corn"], "corn harvest rose"),
        ("train", ["corn", "wheat"], "corn and wheat fell"),
        ("train", ["wheat"], " "),
        ("train", ["gold"], "gold price rose"),
        ("train", [], "nothing happened"),
        ("test", ["corn"], "harvest of corn"),
        ("test", ["wheat"], "wheat price"),
    ]
    keys = ("split", "topics", "body")
    records = [dict(zip(keys, one, strict=True), title="news") for one in articles]
    _write(folder / "reuters21578.jsonl.gz", map(json.dumps, records))
    split = data.load("reuters", seed=0)
    assert split.names == ["corn"]
    np.testing.assert_array_equal(split.Y_train, [[True], [False]])
    np.testing.assert_array_equal(split.Y_test, [[True], [False]])
    split = data.load(data.ALL_ARTICLES, seed=0)
    assert split.names == ["corn", "wheat"]
    assert split.Y_train.shape == (5, 2)
    assert split.X_train.shape[1] == split.X_test.shape[1]


def test_another_set_of_the_same_name_is_refused(folder, monkeypatch):
    _write_breast_cancer(folder, monkeypatch, n_rows=30)
    monkeypatch.setitem(SIZES, "breast_cancer", Size(20, 12, 1))
    with pytest.raises(ValueError, match="has 30 samples, but 32 in the paper"):
        data.load("breast_cancer", seed=0)


def test_a_missing_set_cannot_be_loaded(monkeypatch):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    with pytest.raises(MissingDatasetError, match=r"scene\.csv\.gz.*not set"):
        data.load("scene", seed=0)


class TestRealData:
    pytestmark = needs_data

    @pytest.mark.parametrize("name", data.SETS)
    def test_a_set_has_the_size_of_the_papers(self, name):
        if data.missing_file(name):
            pytest.skip(f"{data.missing_file(name)} is not there")
        split = data.load(name, seed=0)
        sizes = len(split.Y_train), len(split.Y_test), split.Y_train.shape[1]
        if name == data.ALL_ARTICLES:
            assert sizes == (9603, 3299, 90)
        else:
            n_train, n_test, n_problems = SIZES[name]
            # Of the 65 topics of Reuters so many have positives in both parts.
            expected = 51 if name == "reuters" else n_problems
            assert sizes == (n_train, n_test, expected)
        assert split.Y_train.any(axis=0).all()
        assert split.Y_test.any(axis=0).all()


# The structured SVM

_CONCAVE = ("f1", "jaccard", "am", "g_tp_pr")


def _right_hand_side(loss, y, is_in, scores):
    """Return what the slack must be at least, as the docstring has it."""
    missed, alarms = scores[y & ~is_in].sum(), scores[~y & is_in].sum()
    return realized(loss, y, is_in) - (missed - alarms) / y.sum()


def _sets(n_items):
    return [np.array(one, dtype=bool) for one in product((0, 1), repeat=n_items)]


@given(
    name=st.sampled_from(_CONCAVE),
    items=st.lists(
        st.tuples(st.booleans(), st.sampled_from([-2.0, -0.3, 0.0, 0.1, 0.3, 1.0])),
        min_size=2,
        max_size=7,
    ).filter(lambda items: len({label for label, _ in items}) == 2),
)
def test_the_most_violated_constraint_is_that_of_all_sets(name, items):
    y, scores = (np.array(column) for column in zip(*items, strict=True))
    loss = check_set_loss(name)
    found = _right_hand_side(loss, y, most_violated(scores, y, loss), scores)
    largest = max(_right_hand_side(loss, y, of, scores) for of in _sets(len(y)))
    assert found == pytest.approx(largest, abs=1e-12)


def _made_up(n_samples, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 2))
    y = X @ [2, -1] + rng.normal(size=n_samples) > 0.7
    return X, y


def _minimum(planes, losses, strength):
    """Return an upper and a lower bound of the minimum under all constraints.

    They say slack >= loss - plane @ w, where the last, of zeros, says slack >= 0. The
    lower bound is the value of the dual, whose variables are positive with sum C.
    """
    n_constraints, n_weights = planes.shape
    found, multipliers = solve_quadratic_program(
        P=np.diag([1.0] * n_weights + [0.0]),
        q=np.append(np.zeros(n_weights), strength),
        G=-np.column_stack([planes, np.ones(n_constraints)]),
        h=-losses,
    )
    w = found[:-1]
    above = w @ w / 2 + strength * (losses - planes @ w).max()
    duals = strength * multipliers / multipliers.sum()
    below = duals @ losses - np.sum((duals @ planes) ** 2) / 2
    assert multipliers.min() >= 0
    assert above - below <= 1e-9 * strength, "the reference has not converged"
    return above, below


@pytest.mark.parametrize("name", _CONCAVE)
@pytest.mark.parametrize("strength", [1.0, 20.0])
def test_the_objective_is_least_among_all_constraints(name, strength):
    """All 128 constraints at once, in a solver of the primal problem."""
    (X, y), loss = _made_up(7, seed=0), check_set_loss(name)
    sets = np.array(_sets(len(y)))
    shares = (y.astype(np.float64) - sets) / y.sum()
    planes = np.vstack([shares @ np.column_stack([X, np.ones(len(y))]), np.zeros(3)])
    losses = np.append([realized(loss, y, of) for of in sets], 0.0)

    def objective(w):
        scores = decision(w, X)
        slacks = [_right_hand_side(loss, y, of, scores) for of in sets]
        return w @ w / 2 + strength * max(0.0, *slacks)

    above, below = _minimum(planes, losses, strength)
    weights = fit_structured_svms(X, y, loss, [0.1, strength], tol=1e-6)[1]
    assert below - 1e-9 * strength <= objective(weights) <= above + 1e-5 * strength
    # Zero weights are not the solution, which any solver would find.
    assert above < 0.99 * objective(np.zeros(3))


def test_a_separable_sample_is_separated():
    X, _ = _made_up(60, seed=1)
    y = X[:, 0] > 0.2
    weights = fit_structured_svms(X, y, check_set_loss("f1"), [1e4])[0]
    np.testing.assert_array_equal(decision(weights, X) > 0, y)


def test_an_svm_cut_short_warns():
    X, y = _made_up(50, seed=2)
    with pytest.warns(ConvergenceWarning, match="max_planes=2"):
        fit_structured_svms(X, y, check_set_loss("am"), [10.0], tol=1e-6, max_planes=2)


# Classifiers


def test_probabilities_out_of_fold_choose_the_strength():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    noise = rng.random((300, 1)) < 0.5
    signal = X[:, :1] > 0
    assert choose_strength(X, noise, seed=0) <= 1e-2
    assert choose_strength(X, signal, seed=0) >= 10
    # Four positives are too few to have a say.
    rare = np.arange(300)[:, np.newaxis] < 4
    both = np.column_stack([rare, signal])
    assert choose_strength(X, both, seed=0) == choose_strength(X, signal, seed=0)


def test_probabilities_out_of_fold_are_of_other_samples():
    """A classifier that had seen the label of a sample would not be undecided."""
    X = np.repeat(np.eye(10), 2, axis=0)
    y = np.tile([False, True], 10)
    eta = out_of_fold(X, y, 1000.0, seed=0)
    # The twin of a sample, which has the other label, is all there is to go by.
    is_decided = np.abs(eta - 0.5) > 0.2
    assert is_decided.any()
    assert ((eta > 0.5) != y)[is_decided].all()


def test_probabilities_of_the_training_samples_sum_to_the_positives():
    X, y = _made_up(200, seed=3)
    eta = fitted_probabilities((X, y), X, 0.01, seed=0)
    assert eta["plain"].sum() == pytest.approx(y.sum(), rel=1e-6)
    assert list(eta) == ["plain", "sigmoid", "isotonic"]
    # So strong a penalty pulls them together, which calibration undoes.
    assert np.ptp(eta["sigmoid"]) > 1.2 * np.ptp(eta["plain"])


def test_a_single_positive_is_not_calibrated():
    X, y = _made_up(40, seed=4)
    y = np.arange(40) == np.argmax(X[:, 0])
    eta = fitted_probabilities((X, y), X, 1.0, seed=0)
    np.testing.assert_array_equal(eta["sigmoid"], eta["plain"])


@pytest.mark.parametrize("n_positive", [1, 2, 3, 30])
def test_a_third_of_each_class_is_held_out(n_positive):
    y = np.arange(100) < n_positive
    is_fitted, is_held_out = hold_out(y, seed=0)
    np.testing.assert_array_equal(is_fitted, ~is_held_out)
    assert y[is_held_out].sum() == n_positive // 3
    assert (~y)[is_held_out].sum() == (100 - n_positive) // 3


# Measuring and printing


@pytest.fixture(scope="module")
def made_up_split():
    """Two problems, of which one has a single positive to train on."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300) > 1.2
    rare = np.arange(300) % 150 == 0
    Y = np.column_stack([y, rare])
    return data.Split(X[:150], Y[:150], X[150:], Y[150:], ["usual", "rare"])


@pytest.fixture(scope="module")
def record(made_up_split):
    return _nkrd16_measure.measure(made_up_split, seed=0)


def test_what_is_measured_is_what_the_methods_lose(made_up_split, record):
    usual = record["problems"][0]
    X, Y, X_test, Y_test, _ = made_up_split
    classifier = LogisticRegression(C=record["strength"], tol=1e-8).fit(X, Y[:, 0])
    f1 = f1_score(Y_test[:, 0], classifier.predict(X_test))
    assert usual["losses"]["0.5"]["f1"] == pytest.approx(1 - f1)
    assert usual["positives"] == [Y[:, 0].sum(), Y_test[:, 0].sum()]
    assert usual["losses"]["0.5"]["jaccard"] == pytest.approx(2 * (1 - f1) / (2 - f1))
    # Half is far too high for so few positives.
    for method in ("plain", "sigmoid", "tuned", "tuned, folds", "S-SVM"):
        assert usual["losses"][method]["am"] < usual["losses"]["0.5"]["am"]


def test_a_single_positive_is_measured(record):
    rare = record["problems"][1]
    assert rare["positives"] == [1, 1]
    # Nothing can be tuned, so that half is the threshold.
    assert rare["losses"]["tuned, folds"] == rare["losses"]["0.5"]
    assert rare["losses"]["tuned"]["f1"] == 1


def test_all_methods_are_measured_but_the_svm_if_not_wanted(made_up_split, record):
    methods = list(_nkrd16_tables.METHODS)
    assert list(record["problems"][0]["losses"]) == methods
    without = _nkrd16_measure.measure(made_up_split, seed=0, with_svm=False)
    assert list(without["problems"][0]["losses"]) == methods[:-1]
    assert list(record["problems"][0]["expected"]) == methods[:3]


def _made_up_records(**changes):
    """Return records of two sets, in which all methods lose .3 but for changes."""

    def problem(positives, **losses):
        found = dict.fromkeys(_nkrd16_tables.METHODS, 0.3) | losses
        return {
            "positives": positives,
            "losses": {m: dict.fromkeys(TITLES, value) for m, value in found.items()},
            "expected": {
                m: dict.fromkeys(TITLES, 0.25) for m in ("plain", "sigmoid", "isotonic")
            },
        }

    return {
        "reuters": [{"problems": [problem([20, 5]), problem([120, 100])]}],
        "image": [
            {"problems": [problem([50, 40], **changes)]},
            {"problems": [problem([50, 41])]},
        ],
    }


def test_losses_are_averaged_over_problems_then_over_seeds():
    rows = _nkrd16_tables.table(_made_up_records(plain=0.2), "am")
    assert rows["image", 1].means["plain"] == pytest.approx(0.25)
    assert rows["image", 1].errors["plain"] == pytest.approx(0.05)
    assert rows["image", 1].means["0.5"] == pytest.approx(0.3)
    counts = {key: row.n_problems for key, row in rows.items() if key[0] == "reuters"}
    assert counts == {("reuters", 1): 2, ("reuters", 10): 1, ("reuters", 50): 1} | {
        ("reuters", 100): 1
    }


@pytest.mark.parametrize(
    ("changes", "misses"),
    [
        ({}, []),
        ({"plain": 0.2}, []),
        ({"plain": 0.4}, ["plain less 0.5", "plain less tuned"]),
        ({"tuned": 0.2}, ["plain less tuned", "sigmoid less tuned"]),
        ({"0.5, sigmoid": 0.2}, ["sigmoid less 0.5, sigmoid"]),
    ],
)
def test_losing_more_than_a_threshold_is_a_miss(changes, misses):
    records = _made_up_records(**changes)
    rows = _nkrd16_tables.verdicts({"f1": _nkrd16_tables.table(records, "f1")})
    found = [row.what for row in rows if row.verdict == "miss"]
    assert found == [f"F1: {what}, 2 sets" for what in misses]


def test_tables_show_the_paper_and_what_was_measured(capsys, folder):
    _nkrd16_tables.print_tables(_made_up_records(plain=0.2))
    out = capsys.readouterr().out
    jaccard = out.split("table 2, Jaccard")[1].split("table 3")[0].splitlines()
    image = next(row for row, line in enumerate(jaccard) if line.startswith("image"))
    cells = [line.split() for line in jaccard[image : image + 3]]
    assert cells[0] == ["image", "paper", "0.2545", "0.2500", "0.2377", "0.2235"]
    assert cells[1][:3] == ["here", "*0.2500", "0.3000"]
    assert cells[2][:3] == ["s.e.", "0.0500", "0.0000"]
    assert "reuters, 2 topics of >= 1" in out
    assert "letter                          here       not measured: no letter" in out
    assert "F1: plain less 0.5, 2 sets" in out


def test_what_is_missing_is_said(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    arguments = ["nkrd16", "--parts", "tables", "--results", str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    nkrd16.main()
    out = capsys.readouterr().out
    assert "not measured: no webpage.csv.gz" in out
    assert "what is asked" not in out


def test_sets_that_are_there_are_measured_once(monkeypatch, capsys, folder):
    _write_breast_cancer(folder, monkeypatch, n_rows=60)
    monkeypatch.setitem(SIZES, "breast_cancer", Size(40, 20, 1))
    arguments = ["nkrd16", "--parts", "tables", "--seeds", "2", "--jobs", "1"]
    monkeypatch.setattr("sys.argv", [*arguments, "--results", str(folder / "results")])
    for _ in range(2):
        nkrd16.main()
    out = capsys.readouterr().out
    assert out.count("measured seed breast_cancer-") == 2
    assert out.count("F1: plain less 0.5, 1 sets") == 2
    names = sorted(path.name for path in (folder / "results" / "nkrd16").iterdir())
    assert names == ["breast_cancer-0.json", "breast_cancer-1.json"]
