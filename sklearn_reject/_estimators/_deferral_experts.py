"""Who can be asked for a second opinion, and what can be given in place of asking."""

from sklearn.base import is_classifier, is_regressor

from sklearn_reject._fitting import asks_person, is_fixed
from sklearn_reject.losses import label_array


def check_expert(expert):
    """Raise for what cannot be asked."""
    if expert is None:
        return
    if isinstance(expert, type) or not _can_be_asked(expert):
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
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
    """Raise for a pipeline that would leave samples to a person, unseen."""
    last = expert.steps[-1][1] if hasattr(expert, "steps") else expert
    if last is not expert and hasattr(last, "expert") and asks_person(last):
        raise ValueError(
            "expert is a pipeline that ends in a DeferringClassifier which leaves "
            "samples to a person, and a pipeline does not tell which. Pass that "
            "DeferringClassifier as expert, with the other steps before the estimator "
            "inside: DeferringClassifier(make_pipeline(..., estimator))."
        )


def check_expert_labels(expert, expert_labels, y):
    """Return the labels that are given for an expert as objects, or None."""
    if expert_labels is None:
        if asks_person(expert):
            raise ValueError(
                "expert_labels is needed where a person is the last one asked: pass "
                "fit(X, y, expert_labels=...) with what the person says about each "
                "sample, NaN or None where nobody was asked. For a model as a second "
                "opinion pass it as expert."
            )
        return None
    if not (asks_person(expert) or is_fixed(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} is fitted here, and "
            "what it says comes out of sample. Leave them out, or pass it as a "
            "FrozenEstimator."
        )
    labels, is_known = label_array(expert_labels, len(y), "expert_labels")
    if not is_known.any():
        raise ValueError(
            "expert_labels holds no label at all, and nothing can be learned of the "
            "expert. Ask about a random part of the samples, at least."
        )
    labels = labels.astype(object)
    labels[~is_known] = None
    return labels


def refuse_labels(expert):
    """Raise for labels of an expert that is asked itself."""
    raise ValueError(
        f"expert_labels were given, but the expert {expert!r} is no person and is "
        "asked here. Leave them out."
    )
