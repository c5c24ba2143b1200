"""What metrics need to know of an estimator that sits inside a pipeline or a search."""

from inspect import signature

import numpy as np
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.frozen import FrozenEstimator

from sklearn_reject._curves._prefixes import make_finite
from sklearn_reject._response._positive import widen_sets
from sklearn_reject._response._response import Response
from sklearn_reject._validation import index_labels
from sklearn_reject.decoding import one_hot
from sklearn_reject.scores import evaluate_score, resolve_score
from sklearn_reject.thresholds import RatedDocuments, recount_path, recount_point


def predict_with_uncertainty(estimator, X, *, finite=False):
    """Return labels, never the reject label, and uncertainty, higher = more uncertain.

    Classifiers without `uncertainty` get the plug-in score. With `finite`, ranks stand
    for scores some of which are infinite.
    """
    inner, inner_X = locate(estimator, X, "uncertainty")
    if inner is None:
        refuse_regressor(
            estimator,
            "without a method `uncertainty` to rank its predictions. Wrap it in "
            "SelectiveRegressor, or add such a method and pass a loss",
        )
        _refuse_detector(estimator)
        score = resolve_score("auto", estimator)
        labels, uncertainty = evaluate_score(score, Response(estimator, X))
    elif hasattr(inner, "_predict_with_uncertainty"):
        labels, uncertainty = inner._predict_with_uncertainty(inner_X)  # in one pass
    else:
        labels = getattr(inner, "predict_label", inner.predict)(inner_X)
        uncertainty = inner.uncertainty(inner_X)
    return labels, make_finite(uncertainty) if finite else uncertainty


def predict_with_both_scores(estimator, X):
    """Return labels, and risk and novelty; uncertainty and None without a novelty."""
    inner, inner_X = locate(estimator, X, "risk_and_novelty")
    if inner is None:
        return (*predict_with_uncertainty(estimator, X), None)
    if hasattr(inner, "_predict_with_scores"):
        return inner._predict_with_scores(inner_X)  # in one pass
    return (inner.predict_label(inner_X), *inner.risk_and_novelty(inner_X))


def predict_and_accept(estimator, X):
    """Return predictions, and which are accepted: all, if it cannot reject.

    What is left to a person is not, as nobody has said what its label is.
    """
    inner, inner_X = locate(estimator, X, "_answer_all")
    if inner is not None:
        labels, _, _, is_open = inner._answer_all(inner_X)
        return labels, ~is_open
    inner, X = locate(estimator, X, "uncertainty")
    if hasattr(inner, "predict_all"):
        labels, _, accepted = inner.predict_all(X)  # in one pass
        return labels, accepted
    inner = estimator if inner is None else inner
    labels = getattr(inner, "predict_label", inner.predict)(X)
    if not hasattr(inner, "accept"):
        return labels, np.ones(len(labels), dtype=bool)
    return labels, np.asarray(inner.accept(X), dtype=bool)


def predict_in_groups(estimator, X, groups):
    """Return the labels of all samples, predicted set by set where `predict` can."""
    if groups is not None:
        inner, inner_X = locate(estimator, X, is_wanted=_takes_groups)
        if inner is not None:
            return inner.predict(inner_X, groups=groups)
    return estimator.predict(X)


def _takes_groups(estimator):
    predict = getattr(estimator, "predict", None)
    return predict is not None and "groups" in signature(predict).parameters


def predict_classes(estimator, X, seen, classes):
    """Return the set of classes of each sample, a single one where there are no sets.

    Indicators of shape (n_samples, n_classes), sparse or not; classes that the
    estimator has not `seen` are in no set.
    """
    inner = None
    if len(seen) > 2:
        inner, inner_X = locate(estimator, X, "predict_set")
    if inner is None:
        index = index_predicted(estimator, estimator.predict(X), classes)
        return one_hot(index, (len(index), len(classes)))
    return widen_sets(inner.predict_set(inner_X), seen, classes)


def index_predicted(estimator, labels, classes):
    """Return the position of each predicted label among the classes, or raise."""
    labels = np.asarray(labels)
    index, unknown = index_labels(labels, classes)
    if unknown.any():
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown].tolist()[0]!r}, "
            f"which is not one of the classes {classes.tolist()}. If this label marks "
            "rejected samples, score the inner classifier."
        )
    return index


def refuse_regressor(estimator, reason):
    """Raise where an estimator says that it is a regressor."""
    if is_regression(estimator):
        name = type(estimator).__name__
        raise ValueError(f"{name} is a regressor {reason}.")


def _refuse_detector(estimator):
    if hasattr(estimator, "__sklearn_tags__") and is_outlier_detector(estimator):
        raise ValueError(
            f"{type(estimator).__name__} is an outlier detector, which predicts no "
            "classes. Score it by scikit-learn's scoring='roc_auc', which needs labels "
            "1 and -1, or wrap it in OutlierDetector and use it as novelty_score of "
            "DoubleScoreOODClassifier."
        )


def is_regression(estimator):
    """Tell whether an estimator says that it is a regressor."""
    return hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator)


def find(estimator, *names, is_wanted=None):
    """Return the outermost estimator with one of some attributes, and what precedes it.

    Or one that `is_wanted`; None where there is none. Pipelines of any package, which
    have `steps`, frozen estimators and searches are looked into. The steps before the
    last one that transform samples precede what is in it; those that resample do so in
    `fit` alone.
    """

    def has_one(estimator):
        return any(getattr(estimator, name, None) is not None for name in names)

    is_wanted, before = is_wanted or has_one, []
    while estimator is not None and not is_wanted(estimator):
        steps = getattr(estimator, "steps", None)
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif isinstance(steps, list) and steps:
            *first, (_, last) = steps
            before += [step for _, step in first if _transforms(step)]
            estimator = last
        else:
            estimator = getattr(estimator, "best_estimator_", None)
    return estimator, before


def _transforms(step):
    """Tell whether a step changes the samples that are predicted for."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return False
    return hasattr(step, "transform") or not hasattr(step, "fit_resample")


def locate(estimator, X, *names, is_wanted=None):
    """Return what `find` finds, or None, and the samples that it sees."""
    estimator, before = find(estimator, *names, is_wanted=is_wanted)
    if estimator is not None:
        for step in before:
            X = step.transform(X)
    return estimator, X


def check_pos_label(tuner, pos_label):
    """Return the positive class of a tuner, which thresholds cannot do without."""
    tuned = tuner.pos_label_
    if pos_label is not None and pos_label != tuned:
        raise ValueError(
            f"pos_label={pos_label!r}, but the joint thresholds were tuned for the "
            f"positive class {tuned!r}. Set it to None, or fit a tuner with this "
            "pos_label."
        )
    return tuned


def recount(tuner, scores, ratings):
    """Return path and operating point of a tuner with the counts of other documents.

    Their scores have shape (n_documents, n_classifiers), rated or not.
    """
    path, weight = tuner.path_, None
    labels = np.full(ratings.n_given, -1)
    labels[ratings.rows] = ratings.is_positive
    if ratings.weight is not None:
        weight = np.ones(ratings.n_given)
        weight[ratings.rows] = ratings.weight
    lowest = path.thresholds[0]
    documents = RatedDocuments(
        scores, labels, lowest, lowest, path.rule, is_complete=False, all_weights=weight
    )
    path = recount_path(path, documents)
    return path, recount_point(tuner.operating_point_, documents)
