"""What metrics need to know of an estimator that sits inside a pipeline or a search."""

from dataclasses import replace
from inspect import signature

import numpy as np
from scipy.sparse import csr_array
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from sklearn_reject._response import Response
from sklearn_reject._validation import index_labels
from sklearn_reject.curves import make_finite
from sklearn_reject.scores import resolve_score
from sklearn_reject.thresholds import RatedDocuments, count_intervals


def predict_with_uncertainty(estimator, X, *, finite=False):
    """Return labels, never the reject label, and uncertainty, higher = more uncertain.

    Classifiers without `uncertainty` get the plug-in score. With `finite`, ranks stand
    for scores some of which are infinite.
    """
    labels, uncertainty = _predict_with_uncertainty(estimator, X)
    return labels, make_finite(uncertainty) if finite else uncertainty


def _predict_with_uncertainty(estimator, X):
    if find(estimator, _has_uncertainty) is None:
        return resolve_score("auto", estimator).evaluate(Response(estimator, X))
    estimator, X = locate(estimator, X, _has_uncertainty)
    if hasattr(estimator, "_predict_with_uncertainty"):
        return estimator._predict_with_uncertainty(X)  # in one pass
    labels = getattr(estimator, "predict_label", estimator.predict)(X)
    return labels, estimator.uncertainty(X)


def predict_with_both_scores(estimator, X):
    """Return labels, and risk and novelty; uncertainty and None without a novelty."""
    if hasattr(find(estimator, _has_uncertainty), "risk_and_novelty"):
        estimator, X = locate(estimator, X, _has_uncertainty)
        return (estimator.predict_label(X), *estimator.risk_and_novelty(X))
    return (*predict_with_uncertainty(estimator, X), None)


def predict_and_accept(estimator, X):
    """Return labels, and which a classifier accepts: all, if it cannot reject."""
    if not hasattr(find(estimator, _has_uncertainty), "accept"):
        labels, _ = predict_with_uncertainty(estimator, X)
        return labels, np.ones(len(labels), dtype=bool)
    estimator, X = locate(estimator, X, _has_uncertainty)
    if hasattr(estimator, "_predict_and_accept"):
        return estimator._predict_and_accept(X)  # in one pass
    labels = getattr(estimator, "predict_label", estimator.predict)(X)
    return labels, np.asarray(estimator.accept(X), dtype=bool)


def predict_in_groups(estimator, X, groups):
    """Return the labels of all samples, predicted set by set where `predict` can."""
    if groups is None or find(estimator, _predicts_groups) is None:
        return estimator.predict(X)
    estimator, X = locate(estimator, X, _predicts_groups)
    return estimator.predict(X, groups=groups)


def predict_classes(estimator, X, classes):
    """Return the set of classes of each sample, a single one where there are no sets.

    Indicators of shape (n_samples, n_classes), sparse or not.
    """
    if find(estimator, _predicts_sets) is not None:
        estimator, X = locate(estimator, X, _predicts_sets)
        return estimator.predict_set(X)
    index = index_predicted(estimator, estimator.predict(X), classes)
    ones = np.ones(len(index), dtype=bool)
    shape = len(index), len(classes)
    return csr_array((ones, (np.arange(len(index)), index)), shape=shape)


def index_predicted(estimator, labels, classes):
    """Return the position of each predicted label among the classes, or raise."""
    labels = np.asarray(labels)
    index, unknown = index_labels(labels, classes)
    if unknown.any():
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown].tolist()[0]!r}, not "
            f"among the classes {classes.tolist()}. Where it marks rejected samples, "
            "score the classifier inside."
        )
    return index


def find(estimator, is_wanted):
    """Return the estimator itself or the outermost inside that is wanted, or None."""
    while estimator is not None and not is_wanted(estimator):
        estimator = inner_estimator(estimator)
    return estimator


def locate(estimator, X, is_wanted):
    """Return the estimator that is wanted, which is there, and the samples it sees."""
    while not is_wanted(estimator):
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner_estimator(estimator)
    return estimator, X


def inner_estimator(estimator):
    """Return what a pipeline, a frozen estimator or a search decides by, or None."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    return getattr(estimator, "best_estimator_", None)


def _has_uncertainty(estimator):
    return callable(getattr(estimator, "uncertainty", None))


def _predicts_groups(estimator):
    return "groups" in signature(estimator.predict).parameters


def _predicts_sets(estimator):
    return callable(getattr(estimator, "predict_set", None))


def find_tuner(estimator, X):
    """Return the EnsembleThresholdTuner inside and the documents it sees, or Nones."""
    if find(estimator, _is_tuner) is None:
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

    Their scores have shape (n_rated, n_classifiers).
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
    fp_interval, tp_interval, precision_interval = count_intervals(
        [documents],
        [point.thresholds],
        confidence_level=point.confidence_level,
        random_state=tuner.random_state,
    )
    point = replace(
        point,
        fp=fp,
        tp=tp,
        fp_interval=fp_interval,
        tp_interval=tp_interval,
        precision_interval=precision_interval,
    )
    return path.recount(documents), point
