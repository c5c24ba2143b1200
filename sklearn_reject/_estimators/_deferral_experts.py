"""Who can be asked for a second opinion, and what can be given in place of asking."""

from sklearn.base import is_classifier, is_regressor

from sklearn_reject._fitting import asks_person, is_fixed
from sklearn_reject._validation import check_takes
from sklearn_reject.losses import labels_or_none


def check_expert(expert):
    """Raise for what cannot be asked."""
    if expert is None:
        return
    if isinstance(expert, type) or not _can_be_asked(expert):
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
    if not hasattr(expert, "predict"):
        check_takes(expert, "expert", "X")
    if hasattr(expert, "__sklearn_tags__") and is_regressor(expert):
        raise ValueError(f"expert must be a classifier, got the regressor {expert!r}.")
    _check_last_step(expert)


def _can_be_asked(expert):
    if not hasattr(expert, "fit"):
        return hasattr(expert, "predict") or callable(expert)
    # Some classifiers have `predict` only when they are fitted.
    is_known = hasattr(expert, "__sklearn_tags__") and is_classifier(expert)
    return is_known or hasattr(expert, "predict")


def _check_last_step(expert):
    """Raise for what hides what a cascade leaves to a person, and what it pays."""
    last = expert
    while hasattr(last, "steps") or hasattr(last, "refit"):  # pipelines and searches
        last = last.steps[-1][1] if hasattr(last, "steps") else last.estimator
    if last is not expert and hasattr(last, "expert"):
        raise ValueError(
            f"expert is a {type(expert).__name__} around a DeferringClassifier, which "
            "hides what it defers to a person and what it pays for asking. Pass the "
            "DeferringClassifier itself as expert, with the other steps inside: "
            "DeferringClassifier(make_pipeline(..., estimator), ...), or the best "
            "estimator of a search."
        )


def check_expert_labels(expert, expert_labels, y):
    """Return the labels that are given for an expert as objects, or None."""
    if expert_labels is None:
        if asks_person(expert):
            raise ValueError(
                "expert_labels is required if the last expert is a person. Call fit(X, "
                "y, expert_labels=...) with the person's label of each sample, NaN or "
                "None where nobody was asked. If the second opinion is a model, pass "
                "it as expert. Cross-validation and searches pass the labels on if "
                "metadata routing is enabled and `set_fit_request(expert_labels=True)` "
                "was called."
            )
        return None
    if not (asks_person(expert) or is_fixed(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} is fitted here, and "
            "its labels are predicted out of sample. Omit expert_labels, or pass the "
            "expert as a FrozenEstimator."
        )
    labels = labels_or_none(expert_labels, len(y), "expert_labels")
    if all(label is None for label in labels):
        raise ValueError(
            "expert_labels has no label at all, so nothing can be learned about the "
            "expert. Ask about a random part of the samples at least."
        )
    return labels


def refuse_labels(expert):
    """Raise for labels of an expert that is asked itself."""
    raise ValueError(
        f"expert_labels were given, but the expert {expert!r} is not a person and is "
        "asked here. Omit expert_labels."
    )
