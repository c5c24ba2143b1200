"""Decoders in cross-validation and searches: groups, rare classes, other wrappers."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer, set_loss

X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
X3, y3 = make_classification(60, n_informative=4, n_classes=3, random_state=0)
GROUPS = np.arange(60) // 4

pytestmark = pytest.mark.filterwarnings(
    "ignore:Out of sample:sklearn_reject.exceptions.RejectionWarning",
    "ignore:.* rows were decoded:sklearn_reject.exceptions.RejectionWarning",
)


def decoder_of(classifier, **options):
    """Return a decoder that leaves nothing to be chosen."""
    options = {"strategy": "dta", "calibration": None, **options}
    return ExpectedLossDecoder(classifier, **options)


SEVERAL = OneVsRestClassifier(GaussianNB())


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# Groups for the splitter


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("kind", ["labels", "classes"])
@pytest.mark.parametrize(
    "scoring", [None, get_selective_scorer("neg_set_loss")], ids=["own", "scorer"]
)
def test_groups_of_a_splitter_where_samples_are_sets(kind, scoring):
    data = {"labels": (SEVERAL, X, Y), "classes": (GaussianNB(), X3, y3)}
    classifier, X_, y_ = data[kind]
    decoder = decoder_of(classifier)
    search = GridSearchCV(
        decoder,
        {"strategy": ["dta", "eum"], "cv": [GroupKFold(2)]},
        scoring=scoring,
        cv=GroupKFold(3),
        error_score="raise",
    ).fit(X_, y_, groups=GROUPS)
    folds = list(GroupKFold(3).split(X_, y_, GROUPS))
    for number, strategy in enumerate(["dta", "eum"]):
        for fold, (train, test) in enumerate(folds):
            cv = list(GroupKFold(2).split(X_[train], y_[train], GROUPS[train]))
            alone = decoder_of(classifier, strategy=strategy, cv=cv)
            alone.fit(X_[train], y_[train])
            score = search.cv_results_[f"split{fold}_test_score"][number]
            assert score == alone.score(X_[test], y_[test])
    # They do not make sets of samples here.
    best = search.best_estimator_
    labels = best.predict(X_, groups=GROUPS)
    np.testing.assert_array_equal(labels, best.predict(X_))
    assert best.score(X_, y_, groups=GROUPS) == best.score(X_, y_)
    np.testing.assert_array_equal(
        best.expected_loss(X_, groups=GROUPS), best.expected_loss(X_)
    )
    curves = best.expected_loss_curves(X_, groups=GROUPS)
    assert len(curves) == 60


def test_groups_without_routing_are_a_mistake():
    decoder = decoder_of(SEVERAL)
    with pytest.raises(ValueError, match="Omit groups"):
        decoder.fit(X, Y, groups=GROUPS)
    decoder.fit(X, Y)
    for method in (
        decoder.predict,
        decoder.expected_loss,
        decoder.expected_loss_curves,
    ):
        with pytest.raises(ValueError, match="Omit groups"):
            method(X, groups=GROUPS)
    with pytest.raises(ValueError, match="Omit groups"):
        decoder.score(X, Y, groups=GROUPS)


# Classes that a training fold does not have


def rare_samples(n_classes):
    """Return labels of which the last class is in the last quarter alone."""
    labels = np.arange(60) % (n_classes - 1)
    labels[50:54] = n_classes - 1
    return labels


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]], ids=["numbers", "text"])
@pytest.mark.parametrize("pos_label", [True, False])
@pytest.mark.parametrize("strategy", ["dta", "eum"])
def test_the_positive_class_is_missed_where_it_was_not_seen(names, pos_label, strategy):
    labels = np.array(names)[rare_samples(2)]
    decoder = decoder_of(
        GaussianNB(), strategy=strategy, pos_label=names[1] if pos_label else None
    )
    with pytest.warns(RejectionWarning, match="not in y of fit|has probability zero"):
        scores = cross_val_score(decoder, X, labels, cv=KFold(4), error_score="raise")
    assert np.isfinite(scores).all()
    assert scores[3] == -1
    decoder.fit(X[:45], labels[:45])
    predicted = decoder.predict(X[45:])
    assert (predicted == names[0]).all()
    expected = -set_loss(labels[45:], predicted, pos_label=names[1])
    assert decoder.score(X[45:], labels[45:]) == expected


def test_one_class_of_many_is_missed():
    labels = rare_samples(4)
    decoder = decoder_of(GaussianNB(), loss="recall", max_positive=2)
    with pytest.warns(RejectionWarning, match=r"\[3\]. They count as missed"):
        scores = cross_val_score(decoder, X, labels, cv=KFold(4), error_score="raise")
    decoder.fit(X[:45], labels[:45])
    hits = (decoder.predict_set(X[45:]) & (labels[45:, None] == [0, 1, 2])).any(axis=1)
    assert scores[3] == pytest.approx(hits.mean() - 1)
    assert not hits[labels[45:] == 3].any()
    with pytest.warns(RejectionWarning, match="count as missed"):
        scored = get_selective_scorer("neg_set_loss", loss="recall")(
            decoder, X[45:], labels[45:]
        )
    assert scored == pytest.approx(scores[3])


def test_two_classes_of_three_were_seen():
    """Each sample is a set with the one class that is predicted."""
    labels = rare_samples(3)
    decoder = decoder_of(GaussianNB()).fit(X[:45], labels[:45])
    with pytest.warns(RejectionWarning, match="count as missed"):
        score = decoder.score(X[45:], labels[45:])
    hits = decoder.predict(X[45:]) == labels[45:]
    assert score == pytest.approx(hits.mean() - 1)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_a_label_of_many_is_missed(average):
    labels = Y.copy()
    labels[:, 0] = rare_samples(2)
    decoder = decoder_of(MultiOutputClassifier(GaussianNB()), average=average)
    decoder.fit(X[:45], labels[:45])
    predicted = decoder.predict(X[45:])
    assert not predicted[:, 0].any()
    expected = -set_loss(labels[45:], predicted, average=average)
    assert decoder.score(X[45:], labels[45:]) == pytest.approx(expected, rel=1e-12)


def test_typing_errors_are_no_rare_classes():
    labels = rare_samples(2)
    with pytest.raises(ValueError, match=r"pos_label=2 is not among the classes"):
        decoder_of(GaussianNB(), pos_label=2).fit(X, labels)
    with pytest.raises(ValueError, match=r"pos_label='1' is not among the classes"):
        decoder_of(GaussianNB(), pos_label="1").fit(X[:45], labels[:45])
    decoder = decoder_of(GaussianNB()).fit(X, labels)
    with pytest.raises(ValueError, match="not one of the classes"):
        decoder.score(X, labels + 5)
    with pytest.raises(ValueError, match="not one of the classes"):
        decoder.score(X, np.array(["no", "yes"])[labels])


# Small groups


@pytest.mark.parametrize("strategy", ["dta", "eum", 0.5])
def test_more_wanted_than_a_group_has(strategy):
    groups = np.r_[np.arange(57) // 4, [20, 20, 21]]
    labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
    model = decoder_of(GaussianNB(), strategy=strategy, min_positive=3)
    if strategy == "eum":
        with pytest.warns(RejectionWarning, match="min_positive=3 is above"):
            model.fit(X, labels, groups=groups)
    else:
        model.fit(X, labels, groups=groups)
    with pytest.warns(RejectionWarning, match="of 3 of 17 sets"):
        predicted = model.predict(X, groups=groups)
    sizes, taken = np.bincount(groups), np.bincount(groups, weights=predicted)
    assert (taken >= np.minimum(sizes, 3)).all()


# Other wrappers


def test_stacks_of_several_labels():
    stack = StackingClassifier([("a", SEVERAL)], final_estimator=SEVERAL, cv=2)
    for strategy in ("dta", "eum"):
        decoder = decoder_of(stack, strategy=strategy)
        with pytest.raises(ValueError, match=r"Stack within each label.*MultiOutput"):
            decoder.fit(X, Y).predict(X)


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(), BaggingClassifier(SEVERAL)], ids=["one", "bag"]
)
def test_classifiers_of_one_label(classifier):
    with pytest.raises(ValueError, match=r"for each label, as OneVsRestClassifier.*1d"):
        decoder_of(classifier).fit(X, Y)


def test_a_decoder_a_label():
    """The same as the average "macro" around them."""
    several = MultiOutputClassifier(decoder_of(GaussianNB())).fit(X, Y)
    macro = decoder_of(SEVERAL, average="macro").fit(X, Y)
    np.testing.assert_array_equal(several.predict(X), macro.predict(X))
