"""What tuned joint thresholds do on documents that maybe did not tune them."""

from dataclasses import replace

from sklearn_reject.metrics._set_predictions import holds, locate
from sklearn_reject.thresholds._documents import RatedDocuments
from sklearn_reject.thresholds._interval import count_intervals


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
