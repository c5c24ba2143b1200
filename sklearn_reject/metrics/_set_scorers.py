"""Scorer of predicted sets for model selection: higher is better."""

from copy import copy

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._set_loss import set_loss
from sklearn_reject.metrics._set_predictions import (
    find,
    index_classes,
    predict_classes,
    predict_in_groups,
)


class _SetScorer:
    """Minus the mean realised loss: a callable ``(estimator, X, y, groups=None)``."""

    # As for the splitters that work on groups, there is nothing else to do with them.
    _requests_groups = True

    def __init__(self, options, pos_label):
        self._loss = check_set_loss(**options)
        self._options = options
        self._pos_label = pos_label

    def __call__(self, estimator, X, y, groups=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        if np.ndim(y) == 2 and np.shape(y)[1] == 1 and not issparse(y):
            y = column_or_1d(y, warn=True)
        classes = _classes_of(estimator, y)
        if classes is None or len(classes) > 2:
            _refuse_groups(groups)
        if classes is None:
            return -set_loss(y, estimator.predict(X), loss=self._loss)
        if len(classes) > 2:
            sets = predict_classes(estimator, X, classes)
            return -set_loss(y, sets, loss=self._loss, labels=classes)
        positive = self._positive(estimator, classes)
        labels = predict_in_groups(estimator, X, groups)
        index_classes(estimator, labels, classes)  # raises for labels that are none
        return -set_loss(y, labels, loss=self._loss, groups=groups, pos_label=positive)

    def _positive(self, estimator, classes):
        label = self._pos_label
        if label is None:
            label = getattr(find(estimator, _names_positive), "pos_label", None)
        if label is None and len(classes) == 2:
            return classes.tolist()[1]
        if label in classes.tolist():
            return label
        raise ValueError(
            f"pos_label={label!r} does not tell which of the classes "
            f"{classes.tolist()} is the positive one. Pass one of them."
        )

    def set_score_request(self, *, groups=None):
        """Say whether metadata routing is to pass `groups` to the scorer.

        Parameters
        ----------
        groups : bool, str or None, default=None
            As scikit-learn's metadata requests define it. A new scorer has True.

        Returns
        -------
        scorer : object
            A scorer with that request.
        """
        scorer = copy(self)
        scorer._requests_groups = groups
        return scorer

    def get_metadata_routing(self):
        """Return what the scorer requests from metadata routing."""
        requests = MetadataRequest(owner=type(self).__name__)
        requests.score.add_request(param="groups", alias=self._requests_groups)
        return requests

    def __repr__(self):
        options = {**self._options, "pos_label": self._pos_label}.items()
        shown = "".join(f", {name}={value!r}" for name, value in options)
        return f"<selective scorer -set_loss{shown}>"


def _names_positive(estimator):
    return getattr(estimator, "pos_label", None) is not None


def _classes_of(estimator, y):
    """Return the classes of a label a sample, None where a sample has several."""
    if np.ndim(y) > 1:
        return None
    return np.asarray(getattr(estimator, "classes_", np.unique(y)))


def _refuse_groups(groups):
    if groups is not None:
        raise ValueError(
            "groups say which samples form a set where there are two classes, but here "
            "each sample is a set of its own. Where metadata routing passes what is "
            "for a splitter, call `set_score_request(groups=False)` on the scorer."
        )


def neg_set_loss_scorer(*, loss="f_beta", beta=1.0, zero_division=0.0, pos_label=None):
    """Make a scorer of minus the mean loss of predicted sets.

    It takes any classifier. With two classes the samples of one call are a set, or
    those of each of the `groups`; with several labels a sample, each row is a set; with
    more classes a set is what ``predict_set`` returns for a sample, or else the one
    class that is predicted.

    Parameters
    ----------
    loss : str, array-like of shape (2, 4), callable or SetLoss, default="f_beta"
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0.

    pos_label : label, default=None
        The positive one of two classes. None takes that of a classifier which has a
        `pos_label`, or else the second in sorted order.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, groups=None)``, higher is better. The groups also
        reach a ``predict`` that takes them. With metadata routing they are passed where
        they are given, unless ``set_score_request(groups=False)`` says otherwise.

    Raises
    ------
    ValueError
        If the loss is unknown, `beta` is not positive or `zero_division` not in [0, 1].

    See Also
    --------
    set_loss : The loss itself.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import neg_set_loss_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = neg_set_loss_scorer(loss="jaccard")
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 3)
    -0.087
    """
    options = {"loss": loss, "beta": beta, "zero_division": zero_division}
    return _SetScorer(options, pos_label)
