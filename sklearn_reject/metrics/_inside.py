"""What metrics need to know of an estimator that sits inside a pipeline or a search."""

from dataclasses import replace
from inspect import signature

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from sklearn_reject._response import Response
from sklearn_reject._validation import index_labels
from sklearn_reject.decoding._items import one_hot
from sklearn_reject.scores import resolve_score
from sklearn_reject.thresholds._documents import RatedDocuments
from sklearn_reject.thresholds._point import count_intervals


def predict_with_uncertainty(estimator, X):
    """Return the labels of all samples and how uncertain they are.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. One with `uncertainty` speaks for itself, also inside a
        pipeline or a search; for others the plug-in score is taken.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    labels, uncertainty : ndarray of shape (n_samples,)
        Predicted labels, never the reject label, and their uncertainty, higher = more
        uncertain.
    """
    if _holds_uncertainty(estimator):
        return _ask(*_locate(estimator, X))
    return resolve_score("auto", estimator).evaluate(Response(estimator, X))


def predict_with_both_scores(estimator, X):
    """Return labels, and risk and novelty where a classifier tells the two apart.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier, one with `risk_and_novelty` maybe inside a pipeline or a
        search.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    labels, risk : ndarray of shape (n_samples,)
        Predicted labels and their risk; the uncertainty where there is no novelty.

    novelty : ndarray of shape (n_samples,) or None
        Higher = more novel.
    """
    if hasattr(_innermost(estimator), "risk_and_novelty"):
        estimator, X = _locate(estimator, X)
        return (estimator.predict_label(X), *estimator.risk_and_novelty(X))
    return (*predict_with_uncertainty(estimator, X), None)


def accept(estimator, X, uncertainty):
    """Tell which samples a classifier accepts: all, if it cannot reject."""
    rule = getattr(_innermost(estimator), "_accept", None)
    if rule is not None:
        return rule(uncertainty)
    if _holds_uncertainty(estimator):
        estimator, X = _locate(estimator, X)
        if hasattr(estimator, "accept"):
            return np.asarray(estimator.accept(X), dtype=bool)
    return np.ones(len(uncertainty), dtype=bool)


def _ask(estimator, X):
    if hasattr(estimator, "_predict_with_uncertainty"):
        return estimator._predict_with_uncertainty(X)
    labels = getattr(estimator, "predict_label", estimator.predict)(X)
    return labels, estimator.uncertainty(X)


def _holds_uncertainty(estimator):
    return callable(getattr(_innermost(estimator), "uncertainty", None))


def _innermost(estimator):
    """Look through pipelines and searches for an estimator with `uncertainty`."""
    while not callable(getattr(estimator, "uncertainty", None)):
        inner = inner_estimator(estimator)
        if inner is None:
            break
        estimator = inner
    return estimator


def inner_estimator(estimator):
    """Return what a pipeline, a frozen estimator or a search decides by, or None."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    return getattr(estimator, "best_estimator_", None)


def _locate(estimator, X):
    """Return the estimator with `uncertainty`, and the samples as it sees them."""
    while not callable(getattr(estimator, "uncertainty", None)):
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner_estimator(estimator)
    return estimator, X


def predict_in_groups(estimator, X, groups):
    """Return the labels of all samples, predicted set by set where that matters.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. Where its `predict` takes `groups`, also inside a pipeline or
        a search, it gets them.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    groups : array-like of shape (n_samples,) or None
        The set of each sample.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Predicted labels.
    """
    if groups is None or not holds(estimator, _predicts_groups):
        return estimator.predict(X)
    estimator, X = locate(estimator, X, _predicts_groups)
    return estimator.predict(X, groups=groups)


def index_classes(estimator, labels, classes):
    """Return the position of each predicted label among the classes.

    Parameters
    ----------
    estimator : estimator
        Classifier that predicted them.

    labels : array-like of shape (n_samples,)
        Predicted labels.

    classes : ndarray of shape (n_classes,)
        All classes.

    Returns
    -------
    index : ndarray of shape (n_samples,), dtype int
        Positions.
    """
    labels = np.asarray(labels)
    index, unknown = index_labels(labels, classes)
    if unknown.any():
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown].tolist()[0]!r}, not "
            f"among the classes {classes.tolist()}. Where it marks rejected samples, "
            "score the classifier inside."
        )
    return index


def predict_classes(estimator, X, classes):
    """Return the set of classes of each sample, a single one where there are no sets.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier, maybe with `predict_set`, also inside a pipeline or a search.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    classes : ndarray of shape (n_classes,)
        Classes in the order of the columns.

    Returns
    -------
    sets : {ndarray, sparse matrix} of shape (n_samples, n_classes), dtype bool
        Indicators of the classes.
    """
    if holds(estimator, _predicts_sets):
        estimator, X = locate(estimator, X, _predicts_sets)
        return estimator.predict_set(X)
    index = index_classes(estimator, estimator.predict(X), classes)
    return one_hot(index, (len(index), len(classes)))


def find(estimator, wanted):
    """Return what is wanted of an estimator and those inside it, None without one."""
    while estimator is not None and not wanted(estimator):
        estimator = inner_estimator(estimator)
    return estimator


def holds(estimator, wanted):
    """Tell if an estimator, or one inside its pipelines and searches, is wanted."""
    return find(estimator, wanted) is not None


def locate(estimator, X, wanted):
    """Return the estimator that is wanted, and the samples as it sees them."""
    while not wanted(estimator):
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner_estimator(estimator)
    return estimator, X


def _predicts_groups(estimator):
    return "groups" in signature(estimator.predict).parameters


def _predicts_sets(estimator):
    return callable(getattr(estimator, "predict_set", None))


def find_tuner(estimator, X):
    """Return the EnsembleThresholdTuner inside, and the documents as it sees them.

    None where there is none.
    """
    if not holds(estimator, _is_tuner):
        return None, None
    return locate(estimator, X, _is_tuner)


def _is_tuner(estimator):
    return hasattr(estimator, "joint_scores")


def check_pos_label(tuner, pos_label):
    """Return the positive class of a tuner, which thresholds cannot do without."""
    tuned = tuner.pos_label_
    if pos_label is not None and pos_label != tuned:
        raise ValueError(
            f"pos_label={pos_label!r}, but the joint thresholds were tuned for the "
            f"positive class {tuned!r}. Leave it None, or fit a tuner with that "
            "pos_label."
        )
    return tuned


def names_of_classifiers(tuner):
    """Return the names of the classifiers, or of the columns of their scores."""
    if tuner.estimators_:
        return list(tuner.named_estimators_)
    columns = range(tuner.path_.thresholds.shape[1])
    return list(getattr(tuner, "feature_names_in_", [f"score {k}" for k in columns]))


def recount(tuner, scores, ratings):
    """Return path and operating point of a tuner with the counts of other documents.

    Parameters
    ----------
    tuner : EnsembleThresholdTuner
        Fitted.

    scores : ndarray of shape (n_rated, n_classifiers)
        Scores of the rated documents, which the thresholds apply to.

    ratings : Ratings
        What the documents are.

    Returns
    -------
    path : ThresholdPath
        The path, recounted.

    point : OperatingPoint
        The operating point, with intervals for as many documents.
    """
    path, point = tuner.path_, tuner.operating_point_
    documents = RatedDocuments(
        scores=scores,
        is_positive=ratings.is_positive,
        weight=ratings.weight,
        base=path.thresholds[0],
        rule=path.rule,
        rows=ratings.rows,
        n_given=ratings.n_given,
    )
    fp, tp = documents.count(point.predict(scores))
    intervals = count_intervals(
        [documents],
        [point.thresholds],
        confidence_level=point.confidence_level,
        random_state=tuner.random_state,
    )
    names = ("fp_interval", "tp_interval", "precision_interval")
    told = dict(zip(names, intervals, strict=True))
    return path.recount(documents), replace(point, fp=fp, tp=tp, **told)
