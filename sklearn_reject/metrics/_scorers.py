"""What makes scorers for cross-validation and parameter search."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isfinite
from numbers import Real
from typing import Any, Literal

from sklearn_reject._typing import Decorated
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.metrics._deferral_scoring import CostScorer, DeferralScorer
from sklearn_reject.metrics._ood import fpr_at_tpr_score, ood_auroc_score
from sklearn_reject.metrics._ood_risk import (
    check_precision_recall,
    check_tpr_fpr,
    oscr_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._scoring import (
    AcceptedScorer,
    OODScorer,
    OriginScorer,
    SelectiveScorer,
    SetScorer,
)

# Makers of the scorers that `get_selective_scorer` knows, by their names.
_MAKERS = {}


def _named(make):
    """Register what makes a scorer under the name of the function."""
    _MAKERS[make.__name__] = make
    return make


def get_selective_scorer(name: str, /, **params: Any) -> Callable[..., float]:
    """Get a scorer for cross-validation and parameter search by its name.

    Parameters
    ----------
    name : str
        One of :func:`get_selective_scorer_names`, see the table in the notes.

    **params : dict
        Options of the scorer, see the table. They are those of the metric: what an
        option means is said there.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better. That of
        "neg_set_loss" takes `groups` in place of weights. Those of "neg_deferral_area"
        and "neg_selective_cost" also take `expert_labels`: what a person says about the
        samples, None or NaN where that is not known.

    Raises
    ------
    ValueError
        If the name is unknown or an option out of its range. A scorer raises where its
        loss does not suit what the estimator predicts.

    TypeError
        If the scorer has no such option, or lacks one that it must have.

    See Also
    --------
    make_selective_scorer : A scorer from any metric of predictions.

    Notes
    -----
    ========================================  =========================================
    Name                                      Metric, and its options
    ========================================  =========================================
    "neg_aurc"                                :func:`aurc_score`: `loss`, `labels`,
                                              `interpolation`, `normalize`
    "neg_augrc"                               :func:`augrc_score`: `loss`, `labels`
    "selective_accuracy"                      accuracy on the least uncertain samples:
                                              `coverage` (needed), the share of them
    "coverage_at_risk"                        :func:`coverage_at_risk_score`: `risk`
                                              (needed), `loss`, `labels`
    "neg_selective_cost"                      :func:`selective_cost_score`:
                                              `reject_cost`, `loss`, `labels`
    "neg_deferral_area"                       :func:`deferral_area_score`: `loss`,
                                              `labels`, `normalize`
    "neg_selective_risk_at_tpr_fpr"           :func:`selective_risk_at_tpr_fpr_score`:
                                              `min_tpr`, `max_fpr` (needed),
                                              `ood_label`, `loss`, `labels`,
                                              `infeasible`
    "neg_selective_risk_at_precision_recall"  |at_precision_recall|:
                                              `min_precision`, `min_recall`,
                                              `ood_prior` (needed), `ood_label`,
                                              `loss`, `labels`, `infeasible`
    "oscr"                                    :func:`oscr_score`: `definition`,
                                              `ood_label`
    "ood_auroc"                               :func:`ood_auroc_score`: `ood_label`
    "neg_fpr_at_tpr"                          :func:`fpr_at_tpr_score`: `tpr`,
                                              `positive`, `ood_label`
    "neg_set_loss"                            :func:`set_loss`: `loss`, `beta`,
                                              `zero_division`, `average`, `pos_label`
    ========================================  =========================================

    .. |at_precision_recall| replace::
       :func:`selective_risk_at_precision_recall_score`

    A `loss` of None takes the `loss_` of an estimator that has one, such as
    :class:`~sklearn_reject.SelectiveRegressor`, also inside a pipeline or a search, and
    0/1 loss for other classifiers. `labels` of None are the sorted classes of the
    estimator and of the samples.

    An `ood_label` of "auto" is the `ood_label_` that the estimator was fitted with, if
    it has one, also inside a pipeline or a search; else "ood" for strings and -1 for
    numbers. Without OOD samples these scorers return NaN and warn. `infeasible` is the
    risk where both bounds cannot be met: with NaN, the default, a candidate of a search
    that misses them on one validation part has no score.

    A sample that a :class:`~sklearn_reject.DeferringClassifier` defers costs its
    `deferral_cost` and the loss of whoever answers. Do not search over a cost of the
    estimator with "neg_selective_cost" unless you give the `reject_cost` that
    rejections really have: each candidate would be judged by its own cost, and the
    lowest would win. A search over `deferral_cost` takes "neg_deferral_area".

    "neg_set_loss" takes any classifier. With two classes, the samples of one call are
    a set, or those of each of the `groups`. With several labels a sample, each row is a
    set, or what `average` says. With more classes, a set is what ``predict_set``
    returns for a sample, or else the class that is predicted. A class that the
    classifier has not seen counts as missed, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import get_selective_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = get_selective_scorer("selective_accuracy", coverage=0.9)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=3).round(2)
    array([0.98, 0.96, 1.  ])

    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 5, 0]]
    >>> scorer = get_selective_scorer("neg_aurc", loss=costs)
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 4)
    -0.0121
    """
    check_option(name, "name", get_selective_scorer_names())
    return _MAKERS[name](**params)


def get_selective_scorer_names() -> list[str]:
    """Get the names of the scorers.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.metrics import get_selective_scorer_names
    >>> get_selective_scorer_names()[:4]
    ['coverage_at_risk', 'neg_augrc', 'neg_aurc', 'neg_deferral_area']
    """
    return sorted(_MAKERS)


def _tell_from_scorer(make: Decorated) -> Decorated:
    """Raise where what makes a scorer is called as if it were one."""

    @wraps(make)
    def checked(metric, /, *samples, **options):
        if samples:
            raise TypeError(
                f"{make.__name__} makes a scorer and is none, but was called as one, "
                f"with {1 + len(samples)} positional arguments. Pass "
                f"scoring={make.__name__}(...), with a metric and its options."
            )
        return make(metric, **options)

    return checked


@_tell_from_scorer
def make_selective_scorer(
    metric: Callable[..., Any],
    /,
    *,
    on_reject: Literal["count_as_error", "drop", "error"] = "count_as_error",
    coverage: float | None = None,
    reject_penalty: float | None = None,
    greater_is_better: bool = True,
    **kwargs: Any,
) -> Callable[..., float]:
    """Make a scorer from a metric of predictions, such as those of scikit-learn.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **kwargs)``.

    on_reject : {"count_as_error", "drop", "error"}, default="count_as_error"
        What happens to rejected samples. "count_as_error" gives them a wrong label or
        the `reject_penalty`, "error" raises if there is one, and "drop" leaves them
        out, which needs a `coverage`: otherwise rejecting everything would be rewarded.

    coverage : float in ]0, 1], default=None
        Accept at least this share of the samples, the least uncertain ones, instead of
        those that the estimator accepts.

    reject_penalty : float, default=None
        Value of a rejected sample with "count_as_error", in units of the metric: the
        value is coverage * metric(accepted) + (1 - coverage) * penalty, and the penalty
        where nothing is accepted. With `sample_weight` the coverage is the weighted
        one. That is the metric of all samples, with the penalty in the place of the
        rejected ones, if it is a mean over samples, as the mean squared error is; of
        others, such as F1 or R2, it is a mixture. Regressors need it, as they have no
        wrong label.

    greater_is_better : bool, default=True
        Whether the metric is a score rather than a loss, which is negated.

    **kwargs : dict
        Passed to the metric.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If `on_reject` is unknown, or is "drop" without a coverage, if `coverage` is not
        in ]0, 1], or if a `reject_penalty` is no finite number or has nothing to do.
        The scorer raises where rejected samples have neither a wrong label nor a
        penalty.

    TypeError
        If `metric` is the name of a scorer, or a scorer itself.

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
    if not callable(metric) or hasattr(metric, "set_score_request"):
        raise TypeError(
            "metric must be a function (y_true, y_pred), such as "
            f"sklearn.metrics.f1_score with average='macro', got {metric!r}. A scorer "
            "predicts itself and would not know which samples are rejected."
        )
    check_option(on_reject, "on_reject", ("count_as_error", "drop", "error"))
    if coverage is not None:
        coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    elif on_reject == "drop":
        raise ValueError(
            "on_reject='drop' without a coverage rewards rejecting everything. Pass "
            "coverage=, or use on_reject='count_as_error'."
        )
    _check_penalty(reject_penalty, on_reject)
    rule = {"on_reject": on_reject, "coverage": coverage}
    sign = 1 if greater_is_better else -1
    return AcceptedScorer(metric, sign, kwargs, **rule, reject_penalty=reject_penalty)


def _check_penalty(penalty, on_reject):
    if penalty is None:
        return
    if on_reject != "count_as_error":
        raise ValueError(
            f"reject_penalty={penalty!r} is the value of a rejected sample with "
            f"on_reject='count_as_error', but on_reject={on_reject!r}. Omit one of "
            "them."
        )
    is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
    if not (is_number and isfinite(penalty)):
        raise ValueError(f"reject_penalty must be a finite number, got {penalty!r}.")


def _check_normalize(normalize):
    if normalize == "prr":
        raise ValueError(
            "With normalize='prr' higher is better, so its negative is not a score. "
            "Use normalize='excess', which ranks classifiers on the same samples in "
            "the same way."
        )
    check_option(normalize, "normalize", (None, "excess"))


@_named
def neg_aurc(*, loss=None, labels=None, interpolation="mean", normalize=None):
    """Minus the area under the risk-coverage curve."""
    check_option(interpolation, "interpolation", ("mean", "trapezoid"))
    _check_normalize(normalize)
    options = {"interpolation": interpolation, "normalize": normalize}
    return SelectiveScorer(aurc_score, -1, options, loss=loss, labels=labels)


@_named
def neg_augrc(*, loss=None, labels=None):
    """Minus the area under the generalized risk-coverage curve."""
    return SelectiveScorer(augrc_score, -1, loss=loss, labels=labels)


@_named
def selective_accuracy(*, coverage):
    """Accuracy on the least uncertain share of the samples, met exactly."""
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    options = {"coverage": coverage}
    return SelectiveScorer(selective_accuracy_score, 1, options, is_of_labels=True)


def selective_accuracy_score(*samples, **options):
    """Return the accuracy on the least uncertain samples, a share of those tied."""
    return 1 - selective_risk_at_coverage_score(*samples, randomize=True, **options)


@_named
def coverage_at_risk(*, risk, loss=None, labels=None):
    """Largest coverage at which the selective risk is at most `risk`."""
    risk = check_number(risk, "risk")
    judged_by = {"loss": loss, "labels": labels}
    return SelectiveScorer(coverage_at_risk_score, 1, {"risk": risk}, **judged_by)


@_named
def neg_selective_risk_at_tpr_fpr(
    *,
    min_tpr,
    max_fpr,
    ood_label="auto",
    loss=None,
    labels=None,
    infeasible=float("nan"),
):
    """Minus the least selective risk at a bounded TPR and FPR."""
    bounds = check_tpr_fpr(min_tpr, max_fpr)
    options = {**bounds, "ood_label": ood_label, "infeasible": infeasible}
    metric = selective_risk_at_tpr_fpr_score
    return OODScorer(metric, -1, options, loss=loss, labels=labels)


@_named
def neg_selective_risk_at_precision_recall(
    *,
    min_precision,
    min_recall,
    ood_prior,
    ood_label="auto",
    loss=None,
    labels=None,
    infeasible=float("nan"),
):
    """Minus the least selective risk at bounded precision and recall."""
    bounds = check_precision_recall(min_precision, min_recall, ood_prior)
    options = {**bounds, "ood_label": ood_label, "infeasible": infeasible}
    metric = selective_risk_at_precision_recall_score
    return OODScorer(metric, -1, options, loss=loss, labels=labels)


@_named
def oscr(*, definition="dhamija", ood_label="auto"):
    """Area under the open-set classification rate."""
    check_option(definition, "definition", ("dhamija", "franc"))
    options = {"definition": definition, "ood_label": ood_label}
    return OODScorer(oscr_score, 1, options, is_of_labels=True)


@_named
def ood_auroc(*, ood_label="auto"):
    """Area under the ROC curve of ID against OOD samples."""
    options = {"ood_label": ood_label}
    return OriginScorer(ood_auroc_score, 1, options, is_of_labels=True)


@_named
def neg_fpr_at_tpr(*, tpr=0.95, positive="id", ood_label="auto"):
    """Minus the false positive rate at a true positive rate."""
    tpr = check_number(tpr, "tpr", high=1.0, open_low=True)
    check_option(positive, "positive", ("id", "ood"))
    options = {"tpr": tpr, "positive": positive, "ood_label": ood_label}
    return OriginScorer(fpr_at_tpr_score, -1, options, is_of_labels=True)


@_named
def neg_set_loss(
    *, loss="f1", beta=1.0, zero_division=0.0, average="samples", pos_label=None
):
    """Minus the mean loss of predicted sets."""
    options = {"loss": loss, "beta": beta, "zero_division": zero_division}
    return SetScorer(options, average, pos_label)


@_named
def neg_deferral_area(*, loss=None, labels=None, normalize=None):
    """Minus the area under the deferral curve."""
    _check_normalize(normalize)
    return DeferralScorer({"normalize": normalize}, loss=loss, labels=labels)


@_named
def neg_selective_cost(*, reject_cost=None, loss=None, labels=None):
    """Minus the mean cost of a sample, accepted or not."""
    if reject_cost is not None:
        reject_cost = check_number(reject_cost, "reject_cost")
    return CostScorer(reject_cost, loss=loss, labels=labels)
