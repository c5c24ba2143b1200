import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor

from sklearn_reject import (
    DoubleScoreOODClassifier,
    InfeasibleTargetError,
    SelectiveClassifier,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import Entropy, LikelihoodRatio

X, blob = make_blobs(200, centers=4, cluster_std=2.0, random_state=0)
y = np.where(blob == 3, -1, blob)
RATES = {"min_tpr": 0.5, "max_fpr": 0.9}
PRECISION = {"min_precision": 0.5, "min_recall": 0.5, "ood_prior": 0.2}
COSTS = {"costs": (0.5, 1.0, 0.0), "ood_prior": 0.2}


NAIVE = GaussianNB()


def double(estimator=NAIVE, **options):
    options = {"novelty_score": "msp", "n_directions": 15, **options}
    return DoubleScoreOODClassifier(estimator, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Exactly one target must be given, got none. Pass min_tpr"),
        (RATES | COSTS, "Exactly one target must be given, got more than one"),
        (RATES | PRECISION, "Exactly one target must be given, got more than one"),
        ({"max_fpr": 0.1}, "max_fpr=0.1 needs min_tpr, got None"),
        ({"min_tpr": 0}, r"min_tpr must be in \]0, 1\], got 0"),
        ({"min_tpr": 0.5, "max_fpr": 1.5}, r"max_fpr must be in \[0, 1\], got 1.5"),
        ({"min_precision": 0.5, "ood_prior": 0.1}, "min_recall is None"),
        ({"min_precision": 0.5, "min_recall": 0.5}, "ood_prior is needed"),
        (COSTS | {"ood_prior": 1.0}, r"ood_prior must be in \[0, 1\[, got 1.0"),
        (COSTS | {"costs": (1, 0, 0)}, r"costs\[1\]=0 .* must be above costs\[2\]=0"),
        (COSTS | {"costs": 3}, "costs must be three numbers"),
        (RATES | {"n_directions": 0}, "n_directions must be a positive int, got 0"),
        (RATES | {"method": "best"}, "method must be one of .*, got 'best'"),
        (RATES | {"randomize": 2}, "randomize must be one of .*, got 2"),
        (RATES | {"novelty_score": "new"}, "novelty_score must be one of .*'new'"),
        (
            RATES | {"uncertainty_score": "new"},
            "uncertainty_score must be .* got 'new'",
        ),
        (RATES | {"reject_label": 1}, "reject_label=1 is one of the classes"),
        (RATES | {"loss": "huge"}, "huge"),
        (RATES | {"cv": 1}, "cv must be None, at least 2 folds"),
        (RATES | {"cv": 1.5}, "cv as a float is the share"),
        (
            RATES | {"confidence_level": 2.0},
            r"confidence_level must be a number in \]0, 1\[",
        ),
        (
            RATES | {"confidence_level": 0.9, "cv": 5},
            "needs samples that are used neither to fit nor to tune",
        ),
        (
            RATES | {"confidence_level": 0.9, "cv": 0.3, "randomize": False},
            "confidence_level=0.9 needs randomize=True",
        ),
        (COSTS | {"confidence_level": 0.9, "cv": 0.3}, "needs bounds to guarantee"),
        (RATES | {"ood_label": "novel"}, "ood_label='novel', but y holds numbers"),
        (RATES | {"ood_label": np.nan}, "ood_label must not be NaN"),
        (RATES | {"ood_label": [1]}, "ood_label must be 'auto', None"),
    ],
)
def test_invalid_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        double(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (RATES, "max_fpr=0.9"),
        (PRECISION, "min_precision=0.5"),
        (COSTS, "costs=(0.5, 1.0, 0.0)"),
        (
            {"min_tpr": 0.5, "novelty_score": "likelihood_ratio"},
            "novelty_score='likelihood_ratio'",
        ),
    ],
)
def test_no_ood_rows_where_they_are_needed(options, culprit):
    message = re.escape(f"y has no row with ood_label=-1, and {culprit} needs OOD")
    with pytest.raises(ValueError, match=message):
        double(**options).fit(X[y >= 0], y[y >= 0])


@pytest.mark.parametrize(
    "options",
    [
        {"min_tpr": 0.5},
        {"min_tpr": 0.5, "max_fpr": 1.0},
        PRECISION | {"ood_prior": 0.0},
        COSTS | {"ood_prior": 0.0},
    ],
)
def test_no_ood_rows_where_none_are_needed(options):
    model = double(**options).fit(X[y >= 0], y[y >= 0])
    assert np.isnan(model.rule_.fpr)


def test_only_ood_rows():
    with pytest.raises(ValueError, match="y holds ood_label=-1 only"):
        double(**RATES).fit(X, np.full(len(y), -1))


def test_ood_label_that_the_frozen_classifier_knows():
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match="ood_label=-1 is one of the classes"):
        double(frozen, ood_label=-1, **RATES).fit(X, y)
    with pytest.raises(ValueError, match="-1 is a class with ood_label='auto'"):
        double(frozen, **RATES).fit(X, y)


def test_minus_one_as_one_of_two_classes():
    with pytest.raises(
        ValueError, match=r"-1 is a class .* so no sample is OOD, and max_fpr=.* needs"
    ):
        double(**RATES).fit(X, np.where(y == y[0], -1, 0))


def test_infeasible_bounds_say_what_is_attainable():
    with pytest.raises(InfeasibleTargetError, match="largest TPR at max_fpr=0") as info:
        double(min_tpr=0.95, max_fpr=0.01).fit(X, y)
    attainable = info.value.attainable
    assert 0 <= attainable.get("min_tpr", 0) < 0.95
    assert 0.01 < attainable["max_fpr"] <= 1
    # What it says can be had.
    model = double(min_tpr=0.95, max_fpr=attainable["max_fpr"]).fit(X, y)
    assert model.rule_.fpr <= attainable["max_fpr"] + 1e-12


def test_too_few_samples_to_calibrate():
    options = {"confidence_level": 0.99, "cv": 0.1, "min_tpr": 0.9, "max_fpr": 0.9}
    with pytest.raises(InfeasibleTargetError, match="cannot certify"):
        double(random_state=0, **options).fit(X, y)


def test_weights_with_confidence():
    model = double(confidence_level=0.9, cv=0.5, **RATES)
    with pytest.raises(
        ValueError, match="confidence_level cannot be combined with sample_weight"
    ):
        model.fit(X, y, sample_weight=np.ones(len(y)))


def test_constant_scores_leave_all_or_nothing():
    flat = double(
        uncertainty_score=lambda clf, X: np.zeros(len(X)),
        novelty_score=lambda clf, X: np.zeros(len(X)),
        min_tpr=0.5,
        max_fpr=0.5,
    )
    # All samples tie: a share of them is accepted at random.
    assert flat.fit(X, y).rule_.proba_at_threshold == pytest.approx(0.5)
    with pytest.raises(InfeasibleTargetError):
        flat.set_params(randomize=False).fit(X, y)


def test_classifiers_that_lack_something():
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        double(LinearRegression(), **RATES).fit(X, y)
    with pytest.raises(ValueError, match="without `fit`"):
        double(object(), **RATES).fit(X, y)
    forest = RandomForestClassifier(5, random_state=0)
    with pytest.raises(ValueError, match="logits"):
        double(forest, novelty_score="energy", **RATES).fit(X, y)
    with pytest.raises(ValueError, match="input_gradient"):
        double(forest, novelty_score="odin", **RATES).fit(X, y)


def test_labels_that_cannot_be_learned():
    with pytest.raises(ValueError, match="NaN"):
        double(**RATES).fit(X, np.where(y == 1, np.nan, y))
    with pytest.raises(ValueError, match="continuous"):
        double(LogisticRegression(), **RATES).fit(X, X[:, 0])


def test_ood_rows_of_no_weight_are_none():
    weight = (y >= 0).astype(float)
    message = "No OOD row .of positive weight. is among those that tune the rule"
    with pytest.raises(ValueError, match=message):
        double(min_tpr=0.5, max_fpr=0.0).fit(X, y, sample_weight=weight)
    double(min_tpr=0.5).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"cv: a training part has no OOD row .of"):
        double(min_tpr=0.5, novelty_score=LikelihoodRatio(GaussianNB())).fit(
            X, y, sample_weight=weight
        )


def test_labels_that_the_frozen_classifier_does_not_know():
    frozen = FrozenEstimator(GaussianNB().fit(X[y >= 0], y[y >= 0]))
    with pytest.raises(ValueError, match=r"y holds 7 \(50 samples\), which is"):
        double(frozen, **RATES).fit(X, np.where(y == -1, 7, y))
    # Two labels, but the classifier knows that -1 is no class.
    rows = (y == -1) | (y == 0)
    assert double(frozen, **RATES).fit(X[rows], y[rows]).ood_label_ == -1


def test_scores_that_are_none():
    with pytest.raises(ValueError, match=r"Wrap it: OutlierDetector\(detector\)"):
        double(novelty_score=LocalOutlierFactor(novelty=True), **RATES).fit(X, y)
    with pytest.raises(NotFittedError):
        double(uncertainty_score=FrozenEstimator(Entropy()), **RATES).fit(X, y)
    with pytest.raises(ValueError, match="uncertainty_score must be 'auto', one of"):
        double(uncertainty_score="nearest", **RATES).fit(X, y)
    with pytest.raises(ValueError, match="n_directions must be at least 2, got 1"):
        double(n_directions=1, **RATES).fit(X, y)


def test_a_novelty_score_that_learns_from_ood_samples_of_one_fold_only():
    order = np.argsort(y)  # the OOD rows first
    model = double(novelty_score="likelihood_ratio", cv=KFold(4), **RATES)
    with pytest.raises(ValueError, match="Use stratified or fewer folds"):
        model.fit(X[order], y[order])


def test_labels_that_are_silently_classes():
    pair = np.where(y == -1, -1, 1)
    with pytest.warns(RejectionWarning, match="-1 is one of two labels of y") as told:
        model = double(min_tpr=0.5).fit(X, pair)
    assert model.classes_.tolist() == [-1, 1]
    assert "Pass ood_label=-1, or None if no sample is OOD" in str(told[0].message)
    with pytest.warns(RejectionWarning, match="ood_label=7 is not in y"):
        model = double(min_tpr=0.5, ood_label=7).fit(X, y)
    assert model.classes_.tolist() == [-1, 0, 1, 2]
    # What is said is done without a word.
    double(min_tpr=0.5, ood_label=None).fit(X, pair)
    double(min_tpr=0.5, ood_label=-1).fit(X, y)
    double(min_tpr=0.5).fit(X[y >= 0], y[y >= 0])
    with pytest.raises(ValueError, match="y has no row with ood_label=7, and max_fpr"):
        double(ood_label=7, **RATES).fit(X, y)


@pytest.mark.parametrize("name", ["OOD", "novel", "-1", "Outlier"])
def test_strings_that_are_silently_classes(name):
    names = np.array([name, "a", "b", "c"])[y + 1]
    message = f"'{name}' is a class.*Pass ood_label='{name}', or None if no"
    with pytest.warns(RejectionWarning, match=message):
        model = double(min_tpr=0.5).fit(X, names)
    assert name in model.classes_
    double(min_tpr=0.5, ood_label=None).fit(X, names)
    assert name not in double(min_tpr=0.5, ood_label=name).fit(X, names).classes_


def test_score_tells_labels_that_it_does_not_know():
    model = double(**RATES).fit(X, y)
    with pytest.warns(
        RejectionWarning,
        match=r"y holds 7 \(50 samples\), which is neither one of the classes "
        r"\[0, 1, 2\] that DoubleScoreOODClassifier knows nor ood_label=-1",
    ):
        model.score(X, np.where(y == -1, 7, y))
    names = np.array(["ood", "a", "b", "c"])[y + 1]
    named = double(**RATES).fit(X, names)
    assert named.score(X, names) < 0
    with pytest.warns(RejectionWarning, match=r"'OOD' .* nor ood_label='ood'"):
        named.score(X, np.where(names == "ood", "OOD", names))


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize(
    "labels",
    [y.astype(object), np.array(["a", "b", "c", "ood"], dtype=object)[y]],
    ids=["numbers", "names"],
)
def test_labels_with_gaps(labels, gap):
    labels = labels.copy()
    labels[5] = gap
    model = double(**RATES)
    with pytest.raises(ValueError, match=r"y has no label .* in row 5 .*the ood_label"):
        model.fit(X, labels)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"y has no label .* in row 5 .*the ood_label"):
        model.score(X, labels)
    with pytest.raises(ValueError, match="y has no label"):
        SelectiveClassifier(GaussianNB()).fit(X, labels)


def test_labeled_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain = double(**RATES, method="grid").fit(X, y)
    index = np.random.default_rng(0).permutation(len(y))
    for labels in (
        pd.Series(y, index=index),
        pl.Series(y),
        pl.DataFrame({"y": y})["y"],
    ):
        model = double(**RATES, method="grid").fit(X, labels)
        assert model.rule_ == plain.rule_
        assert model.score(X, labels) == plain.score(X, y)


def test_labels_as_a_column_are_taken_with_a_warning():
    plain = double(**RATES).fit(X, y)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = double(**RATES).fit(X, y[:, np.newaxis])
    assert column.rule_ == plain.rule_


def test_features_that_the_frozen_classifier_does_not_know():
    known = GaussianNB().fit(np.hstack([X, X])[y >= 0], y[y >= 0])
    with pytest.raises(ValueError, match="X has 2 features, but GaussianNB is expect"):
        double(FrozenEstimator(known), **RATES).fit(X, y)


def test_weights_of_another_length_or_shape():
    with pytest.raises(
        ValueError, match="sample_weight has 5 elements, but there are 200"
    ):
        double(**RATES).fit(X, y, sample_weight=np.ones(5))
    with pytest.raises(ValueError, match="sample_weight must be a vector"):
        double(**RATES).fit(X, y, sample_weight=np.ones((200, 1)))
