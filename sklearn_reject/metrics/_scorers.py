"""Scorers for model selection: higher is better; rejecting all never wins."""

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_reject._validation import check_number, check_option, check_sample_weight
from sklearn_reject.curves._sort import make_finite
from sklearn_reject.metrics._evaluate import accept
from sklearn_reject.metrics._ood_scorers import (
    neg_selective_risk_at_precision_recall_scorer,
    neg_selective_risk_at_tpr_fpr_scorer,
    oscr_scorer,
)
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._scorer_base import SelectiveScorer
from sklearn_reject.metrics._set_scorers import neg_set_loss_scorer
from sklearn_reject.selection import solve_target_coverage


class _AcceptedScorer(SelectiveScorer):
    """Scorer of a metric of labels, with a rule for what is rejected."""

    # The rule of a classifier knows what to do about it.
    _takes_infinity = True

    def __init__(self, metric, sign, options, on_reject, coverage):
        super().__init__(metric, sign, options)
        self._on_reject = on_reject
        self._coverage = coverage

    def _evaluate(self, estimator, X, y, labels, uncertainty, sample_weight):
        y, labels = column_or_1d(y), np.asarray(labels)
        weight = check_sample_weight(sample_weight, len(y))
        accepted = self._accept(estimator, X, uncertainty, weight)
        if self._on_reject == "count_as_error":
            labels = _mistake(y, labels, accepted)
            accepted = np.ones_like(accepted)
        elif self._on_reject == "error" and not accepted.all():
            raise ValueError(
                f"{np.count_nonzero(~accepted)} samples are rejected and "
                "on_reject='error'. Use 'count_as_error', or 'drop' with a coverage."
            )
        options = dict(self._options)
        if weight is not None:
            options["sample_weight"] = weight[accepted]
        return self._metric(y[accepted], labels[accepted], **options)

    def _accept(self, estimator, X, uncertainty, weight):
        if self._coverage is None:
            return accept(estimator, X, uncertainty)
        uncertainty = make_finite(uncertainty)
        rule = solve_target_coverage(
            uncertainty,
            np.zeros(len(uncertainty)),
            self._coverage,
            sample_weight=weight,
            randomize=False,
        )
        return rule.accept(uncertainty)

    def __repr__(self):
        rule = f"on_reject={self._on_reject!r}, coverage={self._coverage!r}"
        return f"{super().__repr__()[:-1]}, {rule}>"


def _mistake(y, labels, accepted):
    """Return labels that are wrong wherever a sample is rejected."""
    classes = np.unique(np.concatenate([y, labels]))
    if len(classes) < 2:
        raise ValueError(
            "on_reject='count_as_error' needs at least two classes to mistake for each "
            f"other, got {classes.tolist()}."
        )
    right = ~accepted & (labels == y)
    other = classes[(np.searchsorted(classes, y[right]) + 1) % len(classes)]
    labels = labels.astype(classes.dtype)
    labels[right] = other
    return labels


def _selective_accuracy(y_true, y_pred, uncertainty, *, coverage, sample_weight=None):
    return 1 - selective_risk_at_coverage_score(
        y_true,
        y_pred,
        uncertainty,
        coverage=coverage,
        randomize=True,
        sample_weight=sample_weight,
    )


_selective_accuracy.__name__ = "selective_accuracy"

#: Minus :func:`aurc_score` with 0/1 loss.
neg_aurc_scorer = SelectiveScorer(aurc_score, -1)

#: Minus :func:`augrc_score` with 0/1 loss.
neg_augrc_scorer = SelectiveScorer(augrc_score, -1)


def selective_accuracy_scorer(*, coverage):
    """Make a scorer of the accuracy on the least uncertain share of the samples.

    Parameters
    ----------
    coverage : float in ]0, 1]
        Share of the samples that count. It is reached exactly: of the samples tied at
        the boundary a share counts.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If `coverage` is not in ]0, 1].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import selective_accuracy_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianNB().fit(X, y)
    >>> clf.score(X, y), selective_accuracy_scorer(coverage=0.5)(clf, X, y)
    (0.96, 1.0)
    """
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    return SelectiveScorer(_selective_accuracy, 1, {"coverage": coverage})


def coverage_at_risk_scorer(*, risk, loss="zero_one"):
    """Make a scorer of the largest coverage whose selective risk is at most `risk`.

    Parameters
    ----------
    risk : float >= 0
        Bound on the selective risk, in units of the loss.

    loss : str, array-like or callable, default="zero_one"
        As in :func:`coverage_at_risk_score`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning where the risk cannot be met.

    Raises
    ------
    ValueError
        If `risk` is negative.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import coverage_at_risk_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> coverage_at_risk_scorer(risk=0.02)(GaussianNB().fit(X, y), X, y)
    0.9
    """
    risk = check_number(risk, "risk")
    return SelectiveScorer(coverage_at_risk_score, 1, {"risk": risk, "loss": loss})


def make_selective_scorer(
    metric,
    /,
    *,
    on_reject="count_as_error",
    coverage=None,
    greater_is_better=True,
    **kwargs,
):
    """Make a scorer from a metric of labels, such as those of scikit-learn.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **kwargs)``.

    on_reject : {"count_as_error", "drop", "error"}, default="count_as_error"
        What happens to rejected samples. "count_as_error" gives them a wrong label,
        "error" raises if there is one, and "drop" leaves them out, which takes a
        `coverage`: accuracy on what a classifier accepts of its own accord rewards
        rejecting everything.

    coverage : float in ]0, 1], default=None
        Accept the least uncertain samples, at least that share of them, instead of
        those that the classifier accepts.

    greater_is_better : bool, default=True
        Whether the metric is a score rather than a loss, whose sign is turned.

    **kwargs : dict
        Passed to the metric.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If `on_reject` is unknown, or is "drop" without a coverage, or if `coverage` is
        not in ]0, 1].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import f1_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import make_selective_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_selective_scorer(
    ...     f1_score, on_reject="drop", coverage=0.9, average="macro"
    ... )
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 3)
    0.984
    """
    check_option(on_reject, "on_reject", ("count_as_error", "drop", "error"))
    if coverage is not None:
        coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    elif on_reject == "drop":
        raise ValueError(
            "on_reject='drop' without a coverage rewards rejecting everything. Pass "
            "coverage=, or use on_reject='count_as_error'."
        )
    sign = 1 if greater_is_better else -1
    return _AcceptedScorer(metric, sign, kwargs, on_reject, coverage)


def _make_negative_area(metric):
    def make(*, loss="zero_one", **options):
        if options.get("normalize") == "prr":
            raise ValueError(
                "normalize='prr' is higher is better, so its negative is no score. Use "
                "normalize='excess', which orders classifiers on the same samples."
            )
        return SelectiveScorer(metric, -1, {"loss": loss, **options})

    return make


_SCORERS = {
    "coverage_at_risk": coverage_at_risk_scorer,
    "neg_augrc": _make_negative_area(augrc_score),
    "neg_aurc": _make_negative_area(aurc_score),
    "neg_selective_risk_at_precision_recall": (
        neg_selective_risk_at_precision_recall_scorer
    ),
    "neg_selective_risk_at_tpr_fpr": neg_selective_risk_at_tpr_fpr_scorer,
    "neg_set_loss": neg_set_loss_scorer,
    "oscr": oscr_scorer,
    "selective_accuracy": selective_accuracy_scorer,
}


def get_selective_scorer(name, **params):
    """Get a scorer by its name.

    Parameters
    ----------
    name : str
        One of :func:`get_selective_scorer_names`.

    **params : dict
        Options of the scorer: `coverage` for "selective_accuracy", `risk` and `loss`
        for "coverage_at_risk", `loss` and other options of the metric for the areas.
        For the others those of the function that has the name of the scorer.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better; that of
        "neg_set_loss" takes `groups` instead of weights.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> from sklearn_reject.metrics import get_selective_scorer
    >>> get_selective_scorer("selective_accuracy", coverage=0.8)
    <selective scorer selective_accuracy, coverage=0.8>
    """
    check_option(name, "name", get_selective_scorer_names())
    return _SCORERS[name](**params)


def get_selective_scorer_names():
    """Get the names of the scorers.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.metrics import get_selective_scorer_names
    >>> get_selective_scorer_names()[:4]
    ['coverage_at_risk', 'neg_augrc', 'neg_aurc', \
'neg_selective_risk_at_precision_recall']
    """
    return sorted(_SCORERS)
