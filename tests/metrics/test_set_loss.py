"""Realized losses of sets and their scorers, against definitions and scikit-learn."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, hamming_loss, jaccard_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_reject import ExpectedLossDecoder, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import (
    BETAS,
    DEFINITIONS,
    SETS,
    ZERO_DIVISIONS,
    options_of,
    precision_loss,
    recall_loss,
    table,
)
from tests.metrics.models import TopOfEach


@st.composite
def indicators(draw, min_columns=1):
    shape = draw(st.integers(1, 5)), draw(st.integers(min_columns, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return tuple(rng.integers(0, 2, (2, *shape)))


FORMS = [np.asarray, csr_array, csr_matrix, csc_matrix, coo_array]


@pytest.mark.parametrize("name", DEFINITIONS)
@given(
    sets=indicators(),
    beta=st.sampled_from(BETAS),
    z=st.sampled_from(ZERO_DIVISIONS),
    average=st.sampled_from(sorted(SETS)),
    forms=st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS)),
    dtype=st.sampled_from([bool, np.int8, float]),
)
def test_each_set_by_definition(name, sets, beta, z, average, forms, dtype):
    rows = zip(*map(SETS[average], sets), strict=True)
    expected = [DEFINITIONS[name](*table(*row), beta, z) for row in rows]
    pair = [form(part.astype(dtype)) for form, part in zip(forms, sets, strict=True)]
    options = options_of(name, beta, z)
    mean = set_loss(*pair, average=average, **options)
    assert type(mean) is float
    assert mean == pytest.approx(np.mean(expected), abs=1e-14)
    if average == "samples":
        losses = set_loss(*pair, average=None, **options)
        np.testing.assert_allclose(losses, expected, rtol=1e-14, atol=1e-15)


@given(
    sets=indicators(min_columns=2),
    average=st.sampled_from(sorted(SETS)),
    z=st.sampled_from([0.0, 1.0]),
)
def test_losses_as_scikit_learn_has_them(sets, average, z):
    weight = np.arange(1, len(sets[0]) + 1) if average == "samples" else None
    options = {"average": average, "sample_weight": weight}
    for name, value in (
        ("f1", 1 - f1_score(*sets, zero_division=z, **options)),
        ("jaccard", 1 - jaccard_score(*sets, zero_division=z, **options)),
        ("hamming", hamming_loss(*sets, sample_weight=weight)),
    ):
        loss = set_loss(*sets, **options, **options_of(name, z=z))
        assert loss == pytest.approx(value, abs=1e-14), name


@given(sets=indicators())
def test_groups_are_rows(sets):
    rows, columns = sets[0].shape
    names = np.array(["e", "b", "d", "a", "c"])[:rows]
    groups, flat = np.repeat(names, columns), [part.ravel() for part in sets]
    losses = set_loss(*flat, groups=groups, average=None)
    expected = set_loss(*sets, average=None)[np.argsort(names)]
    np.testing.assert_array_equal(losses, expected)
    order = np.random.default_rng(0).permutation(rows * columns)
    shuffled = [part[order] for part in flat]
    assert set_loss(*shuffled, groups=groups[order]) == losses.mean()


def test_the_positive_label():
    """By default the last of two; of one, 1 and True are, and 0, -1 and False not."""
    for names in ([0, 2], [1, 2], [-1, 1], ["a", "b"], [-2.0, 0.0]):
        y_true, y_pred = np.array(names)[[0, 1, 1, 1]], np.array(names)[[1, 0, 1, 1]]
        assert set_loss(y_true, y_pred) == pytest.approx(1 / 3)
        swapped = set_loss(y_true, y_pred, pos_label=names[0])
        assert swapped == 1
    for negative, positive in ((-1, 1), (0, 1), (False, True)):
        assert set_loss([negative], [negative], zero_division=0.25) == 0.75
        assert set_loss([positive], [positive]) == 0


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("names", [[0, 1, 2, 3], ["d", "a", "c", "b"]])
def test_sets_of_classes(form, names):
    rng, names = np.random.default_rng(0), np.array(names)
    y_pred, index = rng.integers(0, 2, (9, 4)), np.arange(9) % 4
    by_hand = set_loss(np.eye(4)[index], y_pred, average=None)
    losses = set_loss(names[index], form(y_pred), labels=names, average=None)
    np.testing.assert_array_equal(losses, by_hand)
    # Unless they are given, classes are sorted.
    in_order = y_pred[:, np.argsort(names)]
    losses = set_loss(names[index], form(in_order), average=None)
    np.testing.assert_array_equal(losses, by_hand)
    macro = set_loss(names[index], form(y_pred), labels=names, average="macro")
    assert macro == set_loss(np.eye(4)[index], y_pred, average="macro")


MATRIX = [[0, 1], [1, 1]]
MASKED = np.ma.masked_equal([0, 1, -9], -9)
BAD = [
    ([0, 1], [0, 1, 1], {}, "y_pred has 3 elements, but there are 2 samples"),
    ([0, 1, 2], [0, 1, 1], {}, r"hold 3 labels, \[0, 1, 2\].*n_classes"),
    (["a", "b"], ["a", "b"], {"pos_label": 1}, r"=1 is not among .*\['a', 'b'\]"),
    (["a", "a"], ["a", "a"], {}, "hold the single label 'a'.*as pos_label"),
    (MASKED, MASKED, {}, r"y_true is a masked array.*`y_true\[~y_true.mask\]`"),
    (MATRIX, np.ma.masked_less(MATRIX, 1), {}, "y_pred is a masked array"),
    ([["a"], ["a", "b"]], MATRIX, {}, r"y_true holds lists of labels.*MultiLabelB"),
    (MATRIX, [[-1, 1], [1, 1]], {}, "got -1. Pass `y_pred > 0`"),
    ([0, 1], ["0", "1"], {}, "[Mm]ix"),
    ([], [], {}, "y_true is empty. At least one sample"),
    ([0, 1], [0, 1], {"groups": [1]}, "groups has 1 elements, but there are 2"),
    ([0, 1], [0, 1], {"groups": np.array(["a", 1], dtype=object)}, "can be sorted"),
    (MATRIX, MATRIX, {"groups": [0, 1]}, "each row is a set.*Omit groups"),
    (MATRIX, [0, 1], {}, r"both be vectors .*\(2, 2\) and \(2,\)"),
    (MATRIX, [[0, 1]], {}, r"same shape, got \(2, 2\) and \(1, 2\)"),
    ([[0.5, 1], [1, 1]], MATRIX, {}, "y_true must be indicators, 0 and 1.*got 0.5"),
    (np.empty((0, 2)), np.empty((0, 2)), {}, r"y_pred is empty, of shape \(0, 2\)"),
    ([0, 1, 2], MATRIX, {}, "y_pred has shape .2, 2. for 3 labels in y_true"),
    ([0, 0], MATRIX, {}, r"y_pred has shape .* and the classes \[0\].*labels"),
    ([0, 5], MATRIX, {"labels": [0, 1]}, r"holds the label 5, .*\[0, 1\]"),
    ([0, 1], MATRIX, {"labels": [0, 1, 2]}, "and the class of each column"),
    (MATRIX, MATRIX, {"average": "mean"}, "average must be one of"),
    ([0, 1], [0, 1], {"average": "macro"}, r"average='macro'.*\(2,\).*a vector"),
    (MATRIX, MATRIX, {"sample_weight": [1, 1], "average": "macro"}, "mean of.*mac"),
    (MATRIX, MATRIX, {"sample_weight": [1]}, r"one weight per row .*shape \(2,\)"),
    ([0, 1], [0, 1], {"sample_weight": [1, 1]}, r"shape \(1,\),.*got shape \(2,\)"),
    (MATRIX, MATRIX, {"sample_weight": [1, -1]}, "must be non-negative"),
    (MATRIX, MATRIX, {"sample_weight": [1, 1], "average": None}, "average=None"),
]


@pytest.mark.parametrize(("y_true", "y_pred", "options", "message"), BAD)
def test_bad_input(y_true, y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        set_loss(y_true, y_pred, **options)


X, y = make_classification(400, n_informative=3, weights=[0.7], random_state=0)
GROUPS = np.arange(400) // 8
X3, y3 = make_classification(
    300, n_informative=4, n_classes=3, class_sep=0.5, random_state=1
)
X_labels, Y_labels = make_multilabel_classification(200, random_state=0)
BAYES = GaussianNB().fit(X[:200], y[:200])
X_test, y_test, groups_test = X[200:], y[200:], GROUPS[200:]
MISSED = pytest.mark.filterwarnings("ignore:y holds labels that were not in y of fit")


def scorer_of(**options):
    return get_selective_scorer("neg_set_loss", **options)


def test_two_classes_are_one_set():
    value = scorer_of(loss="f_beta", beta=2.0)(BAYES, X_test, y_test)
    assert type(value) is float
    theirs = fbeta_score(y_test, BAYES.predict(X_test), beta=2.0)
    assert value == pytest.approx(theirs - 1, rel=1e-12)
    names = np.array(["yes", "no"])[y]
    named = GaussianNB().fit(X, names)
    for pos_label, positive in ((None, "yes"), ("no", "no")):
        value = scorer_of(pos_label=pos_label)(named, X, names)
        theirs = f1_score(names, named.predict(X), pos_label=positive)
        assert value == pytest.approx(theirs - 1, rel=1e-12)
    # The labels at hand may all be of one class.
    rows = np.flatnonzero((named.predict(X) == "no") & (names == "no"))
    assert scorer_of(zero_division=0.25)(named, X[rows], names[rows]) == -0.75
    with pytest.warns(DataConversionWarning, match="column-vector"):
        score = scorer_of()(BAYES, X_test, y_test[:, np.newaxis])
    assert score == scorer_of()(BAYES, X_test, y_test)


@pytest.mark.parametrize("names", [[0, 1, 2], ["b", "c", "a"]])
def test_scorers_of_sets_of_classes(names):
    labels = np.array(names)[y3]
    model = TopOfEach().fit(X3, labels)
    truth = np.searchsorted(model.classes_, labels)
    hits = model.predict_set(X3)[np.arange(300), truth]
    scorer = scorer_of(loss="jaccard")
    assert scorer(model, X3, labels) == pytest.approx(np.mean(hits / 2) - 1)
    # The classes are those of the classifier, where the labels at hand are but two.
    rows = np.flatnonzero(y3 > 0)
    recall = scorer_of(loss=recall_loss)(model, X3[rows], labels[rows])
    assert recall == pytest.approx(hits[rows].mean() - 1)
    # A single class is a set of one.
    model = LogisticRegression().fit(X3, labels)
    accuracy = np.mean(model.predict(X3) == labels)
    for loss in ("f1", "jaccard", precision_loss, recall_loss):
        value = scorer_of(loss=loss)(model, X3, labels)
        assert value == pytest.approx(accuracy - 1, rel=1e-12)


@pytest.mark.parametrize("asked", [None, True, False, "query"])
def test_routing_in_a_search(asked):
    """By default groups are asked for."""
    scorer = scorer_of()
    scorer = scorer if asked is None else scorer.set_score_request(groups=asked)
    search = GridSearchCV(TopOfEach(), {"size": [1, 2]}, scoring=scorer, cv=3)
    name = asked if isinstance(asked, str) else "groups"
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, **({} if asked is False else {name: GROUPS}))
    values = []
    for train, test in StratifiedKFold(3).split(X, y):
        groups = None if asked is False else GROUPS[test]
        labels = TopOfEach(2).fit(X[train], y[train]).predict(X[test], groups)
        values.append(-set_loss(y[test], labels, groups=groups))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(values))


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_a_class_that_was_not_seen_is_missed(names):
    """The positive one of two: no sample is predicted to be of it."""
    labels = np.repeat(names, [40, 5])
    model = GaussianNB().fit(X[:40], labels[:40])
    for pos_label in (None, names[1]):
        with pytest.warns(RejectionWarning, match=r"not in y of fit.*missed"):
            assert scorer_of(pos_label=pos_label)(model, X[:45], labels) == -1


def test_one_of_many_classes_that_was_not_seen():
    """Of two that were seen, each sample is a set, as for the other folds."""
    for n_seen, model in ((2, GaussianNB()), (3, GaussianNB()), (3, TopOfEach())):
        labels = np.array(list("abcd"))[np.arange(90) % n_seen]
        new = labels[60:66] = "abcd"[n_seen]
        model.fit(X[:60], labels[:60])
        with pytest.warns(RejectionWarning, match=r"not in y of fit.*missed"):
            score = scorer_of(loss=recall_loss)(model, X[60:90], labels[60:])
        sets = model.predict(X[60:90])[:, None] == model.classes_
        if isinstance(model, TopOfEach):
            sets = model.predict_set(X[60:90])
        hits = (sets & (labels[60:, None] == model.classes_)).any(axis=1)
        assert not hits[labels[60:] == new].any()
        assert score == pytest.approx(hits.mean() - 1)


@pytest.mark.parametrize("data", [(X, y), (X3, y3), (X_labels, Y_labels)])
def test_decoder_is_scored_as_it_scores_itself(data):
    decoder = ExpectedLossDecoder(KNeighborsClassifier(9), loss="jaccard").fit(*data)
    value = scorer_of(loss="jaccard")(decoder, *data)
    assert value == pytest.approx(decoder.score(*data), rel=1e-12)


def test_decoder_of_groups_and_another_positive_class():
    decoder = ExpectedLossDecoder(LogisticRegression(), pos_label=0)
    decoder.fit(X, y, groups=GROUPS)
    value = scorer_of(pos_label=0)(decoder, X, y, groups=GROUPS)
    assert value == pytest.approx(decoder.score(X, y, groups=GROUPS), rel=1e-12)
    # Whatever loss it minimizes, the scorer may have another.
    options = {"loss": "jaccard", "pos_label": 0}
    value = scorer_of(**options)(decoder, X, y, groups=GROUPS)
    labels = decoder.predict(X, groups=GROUPS)
    assert value == -set_loss(y, labels, groups=GROUPS, **options)
    with pytest.raises(ValueError, match="fit had groups"):
        scorer_of(pos_label=0)(decoder, X, y)


LABELED = KNeighborsClassifier(3).fit(X_labels, Y_labels), X_labels, Y_labels
THREE = LogisticRegression().fit(X3, y3), X3, y3
TWO = BAYES, X_test, y_test
LONELY = GaussianNB().fit(X[:9], ["a"] * 9)
REJECTING = [
    (SelectiveClassifier(GaussianNB(), reject_cost=0.1).fit(*data), *data)
    for data in ((X, y), (X3, y3))
]
CALLS = [
    (TWO, {"pos_label": "yes"}, {}, r"pos_label='yes'.*labels \[0, 1\]"),
    ((BAYES, X_test, np.array(["no", "yes"])[y_test]), {}, {}, "'no', which is not"),
    ((LONELY, X[:2], ["a", "a"]), {}, {}, r"single label 'a', .*as pos_label"),
    (TWO, {"average": "macro"}, {}, r"average='macro' is for matrices"),
    (LABELED, {}, {"groups": np.zeros(200)}, r"each row is a set. Omit"),
    (THREE, {}, {"groups": np.zeros(300)}, r"each row is a set. Omit"),
    (TWO, {}, {"groups": [0, 1, 2]}, "groups has 3 elements, but there are 200"),
    *((each, {}, {}, "SelectiveClassifier predicts -1, which") for each in REJECTING),
]


@MISSED
@pytest.mark.parametrize(("arguments", "options", "given", "message"), CALLS)
def test_bad_calls(arguments, options, given, message):
    with pytest.raises(ValueError, match=message):
        scorer_of(**options)(*arguments, **given)
