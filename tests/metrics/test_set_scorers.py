"""Scorers of predicted sets, for any classifier, and which class is positive."""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, jaccard_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import ExpectedLossDecoder, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import JaccardLoss
from sklearn_reject.metrics import get_selective_scorer, set_loss

X, y = make_classification(400, n_informative=3, weights=[0.7], random_state=0)
GROUPS = np.arange(400) // 8
SCALED = StandardScaler().fit_transform(X)
X3, y3 = make_classification(
    300, n_informative=4, n_classes=3, class_sep=0.5, random_state=1
)
X_labels, Y_labels = make_multilabel_classification(200, random_state=0)
BAYES = GaussianNB().fit(X[:200], y[:200])
X_test, y_test, groups_test = X[200:], y[200:], GROUPS[200:]
scorer_of = partial(get_selective_scorer, "neg_set_loss")
few_rows = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)


class TopOfEach(ClassifierMixin, BaseEstimator):
    """Predicts the most probable sample of each group, and sets of classes."""

    def __init__(self, size=2):
        self.size = size

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X, groups=None):
        groups = np.zeros(len(X)) if groups is None else groups
        eta = self.model_.predict_proba(X)[:, 1]
        chosen = np.zeros(len(X), dtype=int)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            chosen[rows[np.argsort(-eta[rows])[: self.size]]] = 1
        return self.classes_[chosen]

    def predict_set(self, X):
        order = np.argsort(-self.model_.predict_proba(X), axis=1)
        mask = np.zeros(order.shape, dtype=bool)
        np.put_along_axis(mask, order[:, : self.size], True, axis=1)
        return mask


# Two classes


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_two_classes_are_one_set(beta):
    value = scorer_of(loss="f_beta", beta=beta)(BAYES, X_test, y_test)
    assert type(value) is float
    theirs = fbeta_score(y_test, BAYES.predict(X_test), beta=beta)
    assert value == pytest.approx(theirs - 1, rel=1e-12)


def test_groups_are_sets():
    scorer = scorer_of(loss="jaccard", zero_division=1.0)
    value = scorer(BAYES, X_test, y_test, groups=groups_test)
    theirs = [
        jaccard_score(y_test[rows], BAYES.predict(X_test[rows]), zero_division=1.0)
        for rows in (groups_test == group for group in np.unique(groups_test))
    ]
    assert value == pytest.approx(np.mean(theirs) - 1, rel=1e-12)
    assert value != scorer(BAYES, X_test, y_test)


WRAPPERS = {
    "plain": lambda est: est,
    "frozen": lambda est: FrozenEstimator(est.fit(SCALED, y)),
    "search": lambda est: GridSearchCV(est, {"size": [3]}, cv=2),
    "pipeline": lambda est: make_pipeline(StandardScaler(), est),
    "both": lambda est: GridSearchCV(
        make_pipeline(StandardScaler(), est), {"topofeach__size": [3]}, cv=2
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_predictions(name, routing):
    """Whether or not the wrapper would hand them on."""
    inner = TopOfEach(3).fit(SCALED, y)
    samples = X if name in ("pipeline", "both") else SCALED
    wrapped = WRAPPERS[name](TopOfEach(3)).fit(samples, y)
    with sklearn.config_context(enable_metadata_routing=routing):
        value = scorer_of()(wrapped, samples, y, groups=GROUPS)
        alone = scorer_of()(wrapped, samples, y)
    assert value == -set_loss(y, inner.predict(SCALED, GROUPS), groups=GROUPS)
    assert alone == -set_loss(y, inner.predict(SCALED))


# Which of two classes is positive: for metric, scorer and estimator alike


def rare_or_not():
    truth = np.random.default_rng(0).integers(2, size=80)
    return truth, (truth + np.random.default_rng(1).normal(size=80))[:, None]


TRUTH, Z = rare_or_not()
TWO = [[0, 1], [-1, 1], [1, 2], [0, 2], [0.0, 1.0], [False, True], ["no", "yes"]]


@few_rows
@pytest.mark.parametrize("names", TWO, ids=str)
@pytest.mark.parametrize("strategy", ["dta", "eum", 0.9])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_the_last_of_two_labels_is_positive(names, strategy, zero_division):
    names = np.array(names)
    truth = names[TRUTH]
    decoder = ExpectedLossDecoder(
        GaussianNB(), strategy=strategy, zero_division=zero_division
    ).fit(Z, truth)
    scorer = scorer_of(zero_division=zero_division)
    negative = np.flatnonzero(TRUTH == 0)
    low = negative[np.argsort(Z[negative, 0])]
    for rows in (np.arange(80), negative, low[:5], low[-5:]):
        y_pred = decoder.predict(Z[rows])
        options = {"pos_label": names[1], "zero_division": zero_division}
        expected = 1 - f1_score(truth[rows], y_pred, **options)
        assert set_loss(truth[rows], y_pred, **options) == pytest.approx(expected)
        for score in (decoder.score, partial(scorer, decoder)):
            assert score(Z[rows], truth[rows]) == pytest.approx(-expected)
        if len(np.union1d(truth[rows], y_pred)) == 2 or names[0] in (-1, 0):
            loss = set_loss(truth[rows], y_pred, zero_division=zero_division)
            assert loss == pytest.approx(expected)


@few_rows
@pytest.mark.parametrize("label", [0, -1, False, 0.0, 1, True])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_labels_of_a_single_class(label, zero_division):
    """As scikit-learn has it; the classifier has seen nothing else, either."""
    truth, options = np.full(80, label), {"zero_division": zero_division}
    expected = 1 - f1_score(truth, truth, **options)
    assert set_loss(truth, truth, **options) == expected
    scorer, dummy = scorer_of(**options), DummyClassifier().fit(Z, truth)
    assert scorer(dummy, Z, truth) == -expected
    for inner in (DummyClassifier(), FrozenEstimator(dummy)):
        for strategy in ("dta", "eum", 0.5):
            decoder = ExpectedLossDecoder(inner, strategy=strategy, **options)
            np.testing.assert_array_equal(decoder.fit(Z, truth).predict(Z), truth)
            assert decoder.expected_loss(Z) == pytest.approx(expected, abs=1e-12)
            assert decoder.score(Z, truth) == scorer(decoder, Z, truth) == -expected


@few_rows
@pytest.mark.parametrize("label", [2, "no", 0.5e1])
def test_a_single_label_of_which_nobody_knows(label):
    truth = np.full(80, label)
    decoder = ExpectedLossDecoder(DummyClassifier()).fit(Z, truth)
    for call in (
        lambda: set_loss(truth, truth),
        lambda: decoder.score(Z, truth),
        lambda: scorer_of()(decoder, Z, truth),
    ):
        with pytest.raises(ValueError, match=r"single label .*pos_label"):
            call()


def test_the_positive_class_of_a_scorer_or_of_the_classifier():
    names = np.array(["yes", "no"])[y]
    named = GaussianNB().fit(X, names)
    for pos_label, positive in ((None, "yes"), ("yes", "yes"), ("no", "no")):
        value = scorer_of(pos_label=pos_label)(named, X, names)
        theirs = f1_score(names, named.predict(X), pos_label=positive)
        assert value == pytest.approx(theirs - 1, rel=1e-12)
    # The labels at hand may all be of one class.
    rows = np.flatnonzero((named.predict(X) == "no") & (names == "no"))
    assert scorer_of(zero_division=0.25)(named, X[rows], names[rows]) == -0.75
    with pytest.raises(ValueError, match=r"pos_label='yes'.*labels \[0, 1\]"):
        scorer_of(pos_label="yes")(BAYES, X_test, y_test)


# A set a sample


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_several_labels_and_their_averages(average, form):
    model = KNeighborsClassifier(3).fit(X_labels, Y_labels)
    options = {"average": average, "zero_division": 1.0}
    theirs = f1_score(Y_labels, model.predict(X_labels), **options)
    value = scorer_of(**options)(model, X_labels, form(Y_labels))
    assert value == pytest.approx(theirs - 1)


def test_a_single_class_of_several_is_a_set_of_one():
    model = LogisticRegression().fit(X3, y3)
    for name in ("f1", "jaccard", "precision", "recall"):
        value = scorer_of(loss=name)(model, X3, y3)
        assert value == pytest.approx(model.score(X3, y3) - 1, rel=1e-12)


@pytest.mark.parametrize("names", [[0, 1, 2], ["b", "c", "a"]])
def test_sets_of_classes(names):
    labels = np.array(names)[y3]
    model, scorer = TopOfEach().fit(X3, labels), scorer_of(loss="jaccard")
    place = np.searchsorted(model.classes_, labels)
    hits = model.predict_set(X3)[np.arange(300), place]
    assert scorer(model, X3, labels) == pytest.approx(np.mean(hits / 2) - 1)
    pipeline = make_pipeline(StandardScaler(), TopOfEach()).fit(X3, labels)
    scaled = StandardScaler().fit_transform(X3)
    of_scaled = scorer(TopOfEach().fit(scaled, labels), scaled, labels)
    assert scorer(pipeline, X3, labels) == of_scaled
    # The classes are those of the classifier, also where the labels are two of them.
    rows = np.flatnonzero(place > 0)
    value = scorer_of(loss="recall")(model, X3[rows], labels[rows])
    assert value == pytest.approx(hits[rows].mean() - 1)


# In scikit-learn's loops


def test_cross_validation_and_searches():
    scores = cross_val_score(GaussianNB(), X, y, scoring=scorer_of(), cv=3)
    theirs = cross_val_score(GaussianNB(), X, y, scoring="f1", cv=3)
    np.testing.assert_allclose(scores, theirs - 1, rtol=1e-12)
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=3, refit="ours",
        scoring={"ours": scorer_of(), "theirs": "f1"},
    ).fit(X, y)  # fmt: skip
    results = search.cv_results_
    np.testing.assert_allclose(
        results["mean_test_ours"], results["mean_test_theirs"] - 1
    )
    assert clone(search).fit(X, y).best_score_ == search.best_score_


@pytest.mark.parametrize("asked", [None, True, False, "query"])
def test_groups_are_routed(asked):
    """By default, too."""
    scorer = scorer_of()
    scorer = scorer if asked is None else scorer.set_score_request(groups=asked)
    name = asked if isinstance(asked, str) else "groups"
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(TopOfEach(), {"size": [1, 2]}, scoring=scorer, cv=3)
        search.fit(X, y, **({} if asked is False else {name: GROUPS}))
    values = []
    for train, test in StratifiedKFold(3).split(X, y):
        groups = None if asked is False else GROUPS[test]
        labels = TopOfEach(2).fit(X[train], y[train]).predict(X[test], groups)
        values.append(-set_loss(y[test], labels, groups=groups))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(values))


def test_groups_for_the_splitter_only():
    arguments = {"cv": GroupKFold(3), "params": {"groups": np.arange(200) // 2}}
    samples = KNeighborsClassifier(3), X_labels, Y_labels
    with sklearn.config_context(enable_metadata_routing=True):
        # Those that are routed all the same are of no use to the scorer.
        scores = [
            cross_validate(*samples, scoring=scorer, **arguments)["test_score"]
            for scorer in (scorer_of().set_score_request(groups=False), scorer_of())
        ]
    np.testing.assert_array_equal(*scores)
    assert np.isfinite(scores[0]).all()


def test_search_over_the_options_of_the_decoder():
    """One scorer for all, whatever loss the candidate minimizes."""
    pipeline = make_pipeline(StandardScaler(), ExpectedLossDecoder(GaussianNB()))
    grid = {"loss": ["f1", "recall"], "strategy": ["dta", "eum", 0.5]}
    grid |= {"max_positive": [4]}
    grid = {f"expectedlossdecoder__{name}": values for name, values in grid.items()}
    folds = list(GroupKFold(2).split(X, y, GROUPS))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            pipeline, grid, scoring=scorer_of(zero_division=1.0), cv=folds, refit=False
        ).fit(X, y, groups=GROUPS)
        for number, options in enumerate(search.cv_results_["params"]):
            for fold, (train, test) in enumerate(folds):
                model = clone(pipeline).set_params(**options)
                model.fit(X[train], y[train], groups=GROUPS[train])
                labels = model.predict(X[test], groups=GROUPS[test])
                sets = {"groups": GROUPS[test], "zero_division": 1.0}
                score = search.cv_results_[f"split{fold}_test_score"][number]
                assert score == -set_loss(y[test], labels, **sets)


@pytest.mark.parametrize("data", [(X, y), (X3, y3), (X_labels, Y_labels)])
def test_the_decoder_is_scored_as_it_scores_itself(data):
    decoder = ExpectedLossDecoder(KNeighborsClassifier(9), loss="jaccard").fit(*data)
    value = scorer_of(loss="jaccard")(decoder, *data)
    assert value == pytest.approx(decoder.score(*data), rel=1e-12)


def test_a_decoder_of_groups_and_another_positive_class():
    decoder = ExpectedLossDecoder(LogisticRegression(), pos_label=0).fit(X, y)
    value = scorer_of(pos_label=0)(decoder, X, y, groups=GROUPS)
    assert value == pytest.approx(decoder.score(X, y, groups=GROUPS), rel=1e-12)
    assert value != scorer_of(pos_label=0)(decoder, X, y)


# Classes that are not in all folds

MISSED = {"expected_warning": RejectionWarning, "match": r"not in y of fit.*missed"}


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_a_class_of_two_that_was_not_seen_is_missed(names):
    labels = np.array(names)[1 * ((np.arange(90) >= 70) & (np.arange(90) < 75))]
    parts = np.arange(60), np.arange(60, 90)
    folds = [parts, parts[::-1]]
    for pos_label in (None, names[1]):
        scorer = scorer_of(pos_label=pos_label)
        with pytest.warns(**MISSED):
            scores = cross_val_score(
                GaussianNB(), X[:90], labels, scoring=scorer, cv=folds
            )
        assert scores[0] == -1
        assert np.isfinite(scores).all()
    decoder = ExpectedLossDecoder(DummyClassifier()).fit(Z, 0 * TRUTH)
    for score in (decoder.score, partial(scorer_of(), decoder)):
        with pytest.warns(RejectionWarning, match="count as missed"):
            assert score(Z, TRUTH) == -1


@pytest.mark.parametrize("model", [TopOfEach(), GaussianNB()])
@pytest.mark.parametrize("names", [np.arange(4), np.array(list("abcd"))], ids=str)
def test_one_of_many_classes_that_was_not_seen(model, names):
    index = np.arange(90) % 3
    index[60:66] = 3
    labels = names[index]
    with pytest.warns(**MISSED):
        score = scorer_of(loss="recall")(
            model.fit(X[:60], labels[:60]), X[60:90], labels[60:90]
        )
    if isinstance(model, TopOfEach):
        sets = model.predict_set(X[60:90])
    else:
        sets = model.predict(X[60:90])[:, None] == model.classes_
    hits = (sets & (labels[60:90, None] == model.classes_)).any(axis=1)
    assert not hits[index[60:90] == 3].any()
    assert score == pytest.approx(hits.mean() - 1)


def test_two_classes_of_three_were_seen():
    """Then each sample is a set, as for the other folds."""
    labels = np.arange(90) % 2
    labels[60:66] = 2
    model = GaussianNB().fit(X[:60], labels[:60])
    with pytest.warns(RejectionWarning, match=r"\[2\]. They count as missed"):
        score = scorer_of()(model, X[60:90], labels[60:90])
    assert score == pytest.approx(model.score(X[60:90], labels[60:90]) - 1)


# The object, and bad input


def test_copies_and_requests():
    scorer = scorer_of(loss=JaccardLoss(zero_division=0.5))
    assert repr(scorer) == (
        "<selective scorer -set_loss, loss=JaccardLoss(zero_division=0.5), beta=1.0, "
        "zero_division=0.0, average='samples', pos_label=None>"
    )
    other = scorer.set_score_request(groups="query")
    copy = pickle.loads(pickle.dumps(other))
    assert copy.get_metadata_routing().score.requests == {"groups": "query"}
    assert scorer.get_metadata_routing().score.requests == {"groups": True}
    assert copy(BAYES, X_test, y_test) == scorer(BAYES, X_test, y_test)
    assert repr(copy) == repr(scorer)


def test_labels_in_a_column():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        score = scorer_of()(BAYES, X_test, y_test[:, np.newaxis])
    assert score == scorer_of()(BAYES, X_test, y_test)


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        (GaussianNB(), (X, y), {"average": "macro"}, "average='macro'.*Use average="),
        (GaussianNB(), (X3, y3), {"average": "macro"}, "average='macro'.*Use average="),
        (KNeighborsClassifier(3), (X_labels, Y_labels), {}, "is a set. Omit groups"),
        (LogisticRegression(), (X3, y3), {}, "each sample is a set. Omit groups"),
        (GaussianNB(), (X, y), {}, "groups has 3 elements, but there are 400"),
    ],
)
def test_bad_groups_and_averages(model, data, options, message):
    groups = None if options else [0, 1, 2]
    with pytest.raises(ValueError, match=message):
        scorer_of(**options)(model.fit(*data), *data, groups=groups)


@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two", "three"])
def test_labels_that_are_no_classes(data):
    rejecting = SelectiveClassifier(GaussianNB(), reject_cost=0.1).fit(*data)
    assert (rejecting.predict(data[0]) == -1).any()
    with pytest.raises(ValueError, match=r"Selective\w+ predicts -1, which is no"):
        scorer_of()(rejecting, *data)
    with pytest.raises(ValueError, match="'no', which is not one of the classes"):
        scorer_of()(BAYES, X_test, np.array(["no", "yes"])[y_test])
