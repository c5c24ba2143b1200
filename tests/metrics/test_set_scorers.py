"""Scorers of predicted sets, for any classifier."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_multilabel_classification
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
from sklearn.pipeline import Pipeline, make_pipeline
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


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# Two classes


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_two_classes_are_one_set(beta):
    value = get_selective_scorer("neg_set_loss", loss="f_beta", beta=beta)(
        BAYES, X_test, y_test
    )
    assert type(value) is float
    theirs = fbeta_score(y_test, BAYES.predict(X_test), beta=beta)
    assert value == pytest.approx(theirs - 1, rel=1e-12)


def test_pos_label():
    names = np.array(["yes", "no"])[y]
    named = GaussianNB().fit(X, names)
    for pos_label, positive in ((None, "yes"), ("yes", "yes"), ("no", "no")):
        value = get_selective_scorer("neg_set_loss", pos_label=pos_label)(
            named, X, names
        )
        theirs = f1_score(names, named.predict(X), pos_label=positive)
        assert value == pytest.approx(theirs - 1, rel=1e-12)


def test_positive_class_is_that_of_the_classifier():
    """The labels at hand may all be of one class."""
    names = np.array(["yes", "no"])[y]
    named = GaussianNB().fit(X, names)
    rows = np.flatnonzero((named.predict(X) == "no") & (names == "no"))
    scorer = get_selective_scorer("neg_set_loss", zero_division=0.25)
    assert scorer(named, X[rows], names[rows]) == -0.75


def test_groups_are_sets():
    scorer = get_selective_scorer("neg_set_loss", loss="jaccard", zero_division=1.0)
    value = scorer(BAYES, X_test, y_test, groups=groups_test)
    theirs = [
        jaccard_score(y_test[rows], BAYES.predict(X_test[rows]), zero_division=1.0)
        for rows in (groups_test == group for group in np.unique(groups_test))
    ]
    assert value == pytest.approx(np.mean(theirs) - 1, rel=1e-12)
    assert value != scorer(BAYES, X_test, y_test)


def in_search(estimator):
    return GridSearchCV(estimator, {"size": [3]}, cv=2)


WRAPPERS = {
    "plain": lambda est: est,
    "one step": lambda est: Pipeline([("only", est)]),
    "search": in_search,
    "frozen": lambda est: FrozenEstimator(est.fit(SCALED, y)),
    "pipeline": lambda est: make_pipeline(StandardScaler(), est),
    "both": lambda est: make_pipeline(StandardScaler(), in_search(est)),
    "search outside": lambda est: GridSearchCV(
        make_pipeline(StandardScaler(), est), {"topofeach__size": [3]}, cv=2
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_predictions(name, routing):
    """Whether or not the wrapper would hand them on."""
    inner = TopOfEach(3).fit(SCALED, y)
    samples = X if name in ("pipeline", "both", "search outside") else SCALED
    wrapped = WRAPPERS[name](TopOfEach(3)).fit(samples, y)
    with sklearn.config_context(enable_metadata_routing=routing):
        value = get_selective_scorer("neg_set_loss")(wrapped, samples, y, groups=GROUPS)
        alone = get_selective_scorer("neg_set_loss")(wrapped, samples, y)
    assert value == -set_loss(y, inner.predict(SCALED, GROUPS), groups=GROUPS)
    assert alone == -set_loss(y, inner.predict(SCALED))


# A set a sample


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_several_labels(form):
    model = KNeighborsClassifier(3).fit(X_labels, Y_labels)
    value = get_selective_scorer("neg_set_loss", zero_division=1.0)(
        model, X_labels, form(Y_labels)
    )
    theirs = f1_score(
        Y_labels, model.predict(X_labels), average="samples", zero_division=1.0
    )
    assert value == pytest.approx(theirs - 1, rel=1e-12)


def test_single_class_of_several_is_a_set_of_one():
    model = LogisticRegression().fit(X3, y3)
    accuracy = np.mean(model.predict(X3) == y3)
    for name in ("f1", "jaccard", "precision", "recall"):
        value = get_selective_scorer("neg_set_loss", loss=name)(model, X3, y3)
        assert value == pytest.approx(accuracy - 1, rel=1e-12)


@pytest.mark.parametrize("names", [[0, 1, 2], ["b", "c", "a"]])
def test_sets_of_classes(names):
    labels = np.array(names)[y3]
    model = TopOfEach().fit(X3, labels)
    sets = model.predict_set(X3)
    hits = sets[np.arange(300), np.searchsorted(model.classes_, labels)]
    scorer = get_selective_scorer("neg_set_loss", loss="jaccard")
    assert scorer(model, X3, labels) == pytest.approx(np.mean(hits / 2) - 1)
    pipeline = make_pipeline(StandardScaler(), TopOfEach()).fit(X3, labels)
    scaled = StandardScaler().fit_transform(X3)
    of_scaled = scorer(TopOfEach().fit(scaled, labels), scaled, labels)
    assert scorer(pipeline, X3, labels) == of_scaled


def test_classes_are_those_of_the_classifier():
    """Also where the labels at hand are only two of them."""
    model = TopOfEach().fit(X3, y3)
    rows = np.flatnonzero(y3 > 0)
    value = get_selective_scorer("neg_set_loss", loss="recall")(
        model, X3[rows], y3[rows]
    )
    hits = model.predict_set(X3)[rows, y3[rows]]
    assert value == pytest.approx(hits.mean() - 1)


# In scikit-learn's loops


def test_cross_validation():
    scorer = get_selective_scorer("neg_set_loss")
    scores = cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=3)
    theirs = cross_val_score(GaussianNB(), X, y, scoring="f1", cv=3)
    np.testing.assert_allclose(scores, theirs - 1, rtol=1e-12)


def test_search_and_several_scorers():
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 15]},
        scoring={"ours": get_selective_scorer("neg_set_loss"), "theirs": "f1"},
        refit="ours",
        cv=3,
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_ours"], search.cv_results_["mean_test_theirs"] - 1
    )
    assert clone(search).fit(X, y).best_score_ == search.best_score_


@pytest.mark.usefixtures("_routing")
def test_groups_are_routed_by_default():
    results = cross_validate(
        TopOfEach(),
        X,
        y,
        scoring=get_selective_scorer("neg_set_loss"),
        cv=GroupKFold(4),
        params={"groups": GROUPS},
        return_estimator=True,
    )
    splits = GroupKFold(4).split(X, y, GROUPS)
    for (_, test), model, score in zip(
        splits, results["estimator"], results["test_score"], strict=True
    ):
        labels = model.predict(X[test], groups=GROUPS[test])
        assert score == -set_loss(y[test], labels, groups=GROUPS[test])


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("asked", [True, False, "query"])
def test_routing_in_a_search(asked):
    scorer = get_selective_scorer("neg_set_loss").set_score_request(groups=asked)
    search = GridSearchCV(TopOfEach(), {"size": [1, 2]}, scoring=scorer, cv=3)
    name = asked if isinstance(asked, str) else "groups"
    search.fit(X, y, **({name: GROUPS} if asked else {}))
    values = []
    for train, test in StratifiedKFold(3).split(X, y):
        groups = GROUPS[test] if asked else None
        labels = TopOfEach(2).fit(X[train], y[train]).predict(X[test], groups)
        values.append(-set_loss(y[test], labels, groups=groups))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(values))


@pytest.mark.usefixtures("_routing")
def test_groups_for_the_splitter_only():
    arguments = {"cv": GroupKFold(3), "params": {"groups": np.arange(200) // 2}}
    model = KNeighborsClassifier(3)
    scorer = get_selective_scorer("neg_set_loss").set_score_request(groups=False)
    scores = cross_validate(model, X_labels, Y_labels, scoring=scorer, **arguments)
    assert np.isfinite(scores["test_score"]).all()
    # Without that as well: the groups that are routed are of no use to the scorer.
    routed = cross_validate(
        model,
        X_labels,
        Y_labels,
        scoring=get_selective_scorer("neg_set_loss"),
        **arguments,
    )
    np.testing.assert_array_equal(routed["test_score"], scores["test_score"])


# Classes that are not in all folds

FOLDS = [(np.arange(0, 60), np.arange(60, 90)), (np.arange(60, 90), np.arange(60))]


def test_a_class_that_was_not_seen_is_missed():
    """The positive one of two: no sample is predicted to be of it."""
    rare = np.zeros(90, dtype=int)
    rare[70:75] = 1
    for names in ([0, 1], ["no", "yes"]):
        labels = np.array(names)[rare]
        for pos_label in (None, names[1]):
            scorer = get_selective_scorer("neg_set_loss", pos_label=pos_label)
            with pytest.warns(RejectionWarning, match=r"not in y of fit.*missed"):
                scores = cross_val_score(
                    GaussianNB(), X[:90], labels, scoring=scorer, cv=FOLDS
                )
            assert scores[0] == -1
            assert np.isfinite(scores).all()


def test_one_of_many_classes_that_was_not_seen():
    index = np.arange(90) % 3
    index[60:66] = 3
    for labels in (index, np.array(list("abcd"))[index]):
        for model in (TopOfEach(), GaussianNB()):
            with pytest.warns(RejectionWarning, match=r"not in y of fit.*missed"):
                score = get_selective_scorer("neg_set_loss", loss="recall")(
                    model.fit(X[:60], labels[:60]), X[60:90], labels[60:90]
                )
            seen = labels[60:90] != np.unique(labels)[3]
            sets = (
                model.predict_set(X[60:90])
                if isinstance(model, TopOfEach)
                else model.predict(X[60:90])[:, None] == model.classes_
            )
            hits = (sets & (labels[60:90, None] == model.classes_)).any(axis=1)
            assert not hits[~seen].any()
            assert score == pytest.approx(hits.mean() - 1)


def test_two_classes_of_three_were_seen():
    """Then each sample is a set, as for the other folds."""
    labels = np.arange(90) % 2
    labels[60:66] = 2
    model = GaussianNB().fit(X[:60], labels[:60])
    with pytest.warns(RejectionWarning, match=r"\[2\]. They count as missed"):
        score = get_selective_scorer("neg_set_loss")(model, X[60:90], labels[60:90])
    hits = model.predict(X[60:90]) == labels[60:90]
    assert score == pytest.approx(hits.mean() - 1)


def test_labels_of_another_kind_are_no_unseen_ones():
    with pytest.raises(ValueError, match="'no', which is not one of the classes"):
        get_selective_scorer("neg_set_loss")(
            BAYES, X_test, np.array(["no", "yes"])[y_test]
        )


# Averages


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_averages_as_scikit_learn_has_them(average, form):
    model = KNeighborsClassifier(3).fit(X_labels, Y_labels)
    scorer = get_selective_scorer("neg_set_loss", average=average)
    theirs = f1_score(
        Y_labels, model.predict(X_labels), average=average, zero_division=0.0
    )
    assert scorer(model, X_labels, form(Y_labels)) == pytest.approx(theirs - 1)


@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two", "three"])
def test_averages_of_single_labels(data):
    with pytest.raises(ValueError, match=r"average='macro'.*Use average='samples'"):
        get_selective_scorer("neg_set_loss", average="macro")(
            GaussianNB().fit(*data), *data
        )


# The classifier that predicts sets


@pytest.mark.parametrize("data", [(X, y), (X3, y3), (X_labels, Y_labels)])
def test_decoder_is_scored_as_it_scores_itself(data):
    decoder = ExpectedLossDecoder(KNeighborsClassifier(9), loss="jaccard").fit(*data)
    scorer = get_selective_scorer("neg_set_loss", loss="jaccard")
    assert scorer(decoder, *data) == pytest.approx(decoder.score(*data), rel=1e-12)


def test_decoder_of_groups_and_another_positive_class():
    decoder = ExpectedLossDecoder(LogisticRegression(), pos_label=0).fit(X, y)
    scorer = get_selective_scorer("neg_set_loss", pos_label=0)
    value = scorer(decoder, X, y, groups=GROUPS)
    assert value == pytest.approx(decoder.score(X, y, groups=GROUPS), rel=1e-12)
    assert value != scorer(decoder, X, y)


@pytest.mark.usefixtures("_routing")
def test_search_over_the_options_of_the_decoder():
    """One scorer for all, whatever loss the candidate minimizes."""
    decoder = ExpectedLossDecoder(GaussianNB())
    pipeline = make_pipeline(StandardScaler(), decoder)
    splitter = GroupKFold(2)
    search = GridSearchCV(
        pipeline,
        {
            "expectedlossdecoder__loss": ["f1", "recall"],
            "expectedlossdecoder__strategy": ["dta", "eum", 0.5],
            "expectedlossdecoder__max_positive": [4],
        },
        scoring=get_selective_scorer("neg_set_loss", zero_division=1.0),
        cv=splitter,
        refit=False,
    ).fit(X, y, groups=GROUPS)
    for options, *scores in zip(
        search.cv_results_["params"],
        *(search.cv_results_[f"split{fold}_test_score"] for fold in range(2)),
        strict=True,
    ):
        for (train, test), score in zip(
            splitter.split(X, y, GROUPS), scores, strict=True
        ):
            model = clone(pipeline).set_params(**options)
            model.fit(X[train], y[train], groups=GROUPS[train])
            labels = model.predict(X[test], groups=GROUPS[test])
            loss = set_loss(y[test], labels, groups=GROUPS[test], zero_division=1.0)
            assert score == -loss


# The object


def test_by_name():
    scorer = get_selective_scorer("neg_set_loss", loss="f_beta", beta=2.0)
    assert repr(scorer) == repr(
        get_selective_scorer("neg_set_loss", loss="f_beta", beta=2.0)
    )
    expected = get_selective_scorer("neg_set_loss", loss="f_beta", beta=2.0)(
        BAYES, X_test, y_test
    )
    assert scorer(BAYES, X_test, y_test) == expected


def test_repr():
    assert repr(get_selective_scorer("neg_set_loss")) == (
        "<selective scorer -set_loss, loss='f1', beta=1.0, zero_division=0.0, "
        "average='samples', pos_label=None>"
    )
    assert "loss=JaccardLoss(zero_division=0.5)" in repr(
        get_selective_scorer("neg_set_loss", loss=JaccardLoss(zero_division=0.5))
    )


def test_pickle_and_requests():
    scorer = get_selective_scorer("neg_set_loss", loss="am")
    assert scorer.get_metadata_routing().score.requests == {"groups": True}
    other = scorer.set_score_request(groups="query")
    copy = pickle.loads(pickle.dumps(other))
    assert copy.get_metadata_routing().score.requests == {"groups": "query"}
    assert scorer.get_metadata_routing().score.requests == {"groups": True}
    assert copy(BAYES, X_test, y_test) == scorer(BAYES, X_test, y_test)
    assert repr(copy) == repr(scorer)


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "f2"}, "loss must be one of"),
        ({"beta": 0}, "beta must be in"),
        ({"zero_division": -1}, "zero_division must be in"),
        ({"average": None}, "average must be one of"),
    ],
)
def test_options_are_checked_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        get_selective_scorer("neg_set_loss", **options)


def test_labels_in_a_column():
    scorer = get_selective_scorer("neg_set_loss")
    with pytest.warns(DataConversionWarning, match="column-vector"):
        score = scorer(BAYES, X_test, y_test[:, np.newaxis])
    assert score == scorer(BAYES, X_test, y_test)


@pytest.mark.filterwarnings("ignore:y holds labels that were not in y of fit")
def test_unknown_positive_class():
    with pytest.raises(ValueError, match=r"pos_label='yes'.*labels \[0, 1\]"):
        get_selective_scorer("neg_set_loss", pos_label="yes")(BAYES, X_test, y_test)
    lonely = GaussianNB().fit(X[y == 0], y[y == 0])
    with pytest.warns(RejectionWarning, match="count as missed"):
        assert get_selective_scorer("neg_set_loss")(lonely, X_test, y_test) == -1
    one = GaussianNB().fit(X[:9], ["a"] * 9)
    with pytest.raises(ValueError, match=r"single label 'a', .*as pos_label"):
        get_selective_scorer("neg_set_loss")(one, X[:2], ["a", "a"])
    with pytest.warns(RejectionWarning, match="count as missed"):
        assert get_selective_scorer("neg_set_loss")(one, X[:2], ["a", "b"]) == -1
    with pytest.warns(RejectionWarning, match="count as missed"):
        assert (
            get_selective_scorer("neg_set_loss", pos_label=0, loss="recall")(
                lonely, X, y
            )
            == 0
        )


@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two", "three"])
def test_a_reject_label_is_no_class(data):
    rejecting = SelectiveClassifier(GaussianNB(), reject_cost=0.1).fit(*data)
    assert (rejecting.predict(data[0]) == -1).any()
    with pytest.raises(
        ValueError, match="SelectiveClassifier predicts -1, which is not one"
    ):
        get_selective_scorer("neg_set_loss")(rejecting, *data)


def test_groups_of_samples_that_are_sets():
    model = KNeighborsClassifier(3).fit(X_labels, Y_labels)
    scorer = get_selective_scorer("neg_set_loss")
    with pytest.raises(ValueError, match=r"each sample is a set. Omit"):
        scorer(model, X_labels, Y_labels, groups=np.zeros(200))
    with pytest.raises(ValueError, match=r"each sample is a set. Omit"):
        scorer(LogisticRegression().fit(X3, y3), X3, y3, groups=np.zeros(300))


def test_groups_of_another_length():
    with pytest.raises(
        ValueError, match="groups has 3 elements, but there are 200 samples"
    ):
        get_selective_scorer("neg_set_loss")(BAYES, X_test, y_test, groups=[0, 1, 2])
