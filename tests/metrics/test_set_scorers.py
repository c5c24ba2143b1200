"""Scorers of predicted sets, for any classifier."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_reject import ExpectedLossDecoder, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import precision_loss, recall_loss
from tests.metrics.models import TopOfEach

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


# Two classes


def test_two_classes_are_one_set():
    for beta in (0.5, 1.0, 2.0):
        value = scorer_of(loss="f_beta", beta=beta)(BAYES, X_test, y_test)
        assert type(value) is float
        theirs = fbeta_score(y_test, BAYES.predict(X_test), beta=beta)
        assert value == pytest.approx(theirs - 1, rel=1e-12)
    names = np.array(["yes", "no"])[y]
    named = GaussianNB().fit(X, names)
    for pos_label, positive in ((None, "yes"), ("yes", "yes"), ("no", "no")):
        value = scorer_of(pos_label=pos_label)(named, X, names)
        theirs = f1_score(names, named.predict(X), pos_label=positive)
        assert value == pytest.approx(theirs - 1, rel=1e-12)
    # The labels at hand may all be of one class.
    rows = np.flatnonzero((named.predict(X) == "no") & (names == "no"))
    assert scorer_of(zero_division=0.25)(named, X[rows], names[rows]) == -0.75
    with pytest.warns(DataConversionWarning, match="column-vector"):
        score = scorer_of()(BAYES, X_test, y_test[:, np.newaxis])
    assert score == scorer_of()(BAYES, X_test, y_test)


# A set a sample


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_several_labels(average, form):
    model = KNeighborsClassifier(3).fit(X_labels, Y_labels)
    for z in (0.0, 1.0):
        options = {"average": average, "zero_division": z}
        value = scorer_of(**options)(model, X_labels, form(Y_labels))
        theirs = f1_score(Y_labels, model.predict(X_labels), **options)
        assert value == pytest.approx(theirs - 1, rel=1e-12)


@pytest.mark.parametrize("names", [[0, 1, 2], ["b", "c", "a"]])
def test_sets_of_classes(names):
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


# In scikit-learn's loops


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


# Classes that are not in all folds


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


# The classifier that predicts sets


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


# Bad input


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
    (TWO, {"average": "macro"}, {}, r"average='macro'.*Use average='samples'"),
    (LABELED, {}, {"groups": np.zeros(200)}, r"each sample is a set. Omit"),
    (THREE, {}, {"groups": np.zeros(300)}, r"each sample is a set. Omit"),
    (TWO, {}, {"groups": [0, 1, 2]}, "groups has 3 elements, but there are 200"),
    *((each, {}, {}, "SelectiveClassifier predicts -1, which") for each in REJECTING),
]


@MISSED
@pytest.mark.parametrize(("arguments", "options", "given", "message"), CALLS)
def test_bad_calls(arguments, options, given, message):
    with pytest.raises(ValueError, match=message):
        scorer_of(**options)(*arguments, **given)
