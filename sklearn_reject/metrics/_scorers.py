"""What makes scorers for cross-validation and parameter search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from math import isfinite
from numbers import Real
from typing import Any, Literal

from sklearn.metrics import check_scoring

from sklearn_reject._typing import Decorated, Label
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.decoding import AVERAGES
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._deferral import deferral_area_score
from sklearn_reject.metrics._deferral_scoring import by_costs, by_opinions
from sklearn_reject.metrics._ood import (
    check_bound,
    fpr_at_tpr_score,
    ood_auroc_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
)
from sklearn_reject.metrics._scoring import (
    Scorer,
    by_accepted,
    by_ood,
    by_order,
    by_origin,
    by_rated,
    by_sets,
)
from sklearn_reject.metrics._selective_cost import selective_cost_score
from sklearn_reject.metrics._set_loss import set_loss


def _check_normalize(normalize, name):
    if normalize == "prr":
        raise ValueError(
            "With normalize='prr' higher is better, so its negative is not a score. "
            "Use normalize='excess', which ranks classifiers on the same samples in "
            "the same way."
        )
    return check_option(normalize, name, (None, "excess"))


_WEIGHT = {"sample_weight": None}
_NEEDED = object()
_JUDGED = {"loss": None, "labels": None}
_AREA = {"normalize": None, **_JUDGED}
_OOD = {"ood_label": "auto"}
_RISK = {**_OOD, **_JUDGED, "infeasible": float("nan")}
_TPR_FPR = {"min_tpr": _NEEDED, "max_fpr": _NEEDED, **_RISK}
_PRECISION = {"min_tpr": _NEEDED, "min_precision": _NEEDED, "ood_prior": _NEEDED}
_SETS = {"loss": "f1", "beta": 1.0, "zero_division": 0.0}
_AVERAGE = {"average": "samples", "pos_label": None}

# Of each scorer: what evaluates its metric, which is negated where the name says so,
# the metric, and the options with their defaults.
_SCORERS = {
    "neg_aurc": (by_order, aurc_score, _AREA),
    "neg_augrc": (by_order, augrc_score, _JUDGED),
    "coverage_at_risk": (
        by_order,
        coverage_at_risk_score,
        {"risk": _NEEDED, **_JUDGED},
    ),
    "neg_selective_cost": (
        by_costs,
        selective_cost_score,
        {"reject_cost": None, **_JUDGED},
    ),
    "neg_deferral_area": (by_opinions, deferral_area_score, _AREA),
    "neg_selective_risk_at_tpr_fpr": (
        by_ood,
        selective_risk_at_tpr_fpr_score,
        _TPR_FPR,
    ),
    "neg_selective_risk_at_precision_recall": (
        by_ood,
        selective_risk_at_precision_recall_score,
        _PRECISION | _RISK,
    ),
    "ood_auroc": (by_origin, ood_auroc_score, _OOD),
    "neg_fpr_at_tpr": (
        by_origin,
        fpr_at_tpr_score,
        {"tpr": 0.95, "positive": "id", **_OOD},
    ),
    "neg_set_loss": (by_sets, set_loss, _SETS | _AVERAGE),
}
# The metadata that may be requested; groups have no other use, as for splitters.
_REQUESTS = {
    by_opinions: {"sample_weight": None, "expert_labels": None},
    by_costs: {"sample_weight": None, "expert_labels": None},
    by_sets: {"groups": True},
}
_CHECKS = {
    **dict.fromkeys(
        ("tpr", "min_tpr", "max_fpr", "min_precision", "ood_prior"), check_bound
    ),
    "risk": check_number,
    "reject_cost": lambda cost, name: (
        cost if cost is None else check_number(cost, name)
    ),
    "positive": partial(check_option, options=("id", "ood")),
    "average": partial(check_option, options=AVERAGES),
    "normalize": _check_normalize,
}


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
                                              `normalize`
    "neg_augrc"                               :func:`augrc_score`: `loss`, `labels`
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
                                              `min_tpr`, `min_precision`,
                                              `ood_prior` (needed), `ood_label`,
                                              `loss`, `labels`, `infeasible`
    "ood_auroc"                               :func:`ood_auroc_score`: `ood_label`
    "neg_fpr_at_tpr"                          :func:`fpr_at_tpr_score`: `tpr`,
                                              `positive`, `ood_label`
    "neg_set_loss"                            :func:`set_loss`: `loss`, `beta`,
                                              `zero_division`, `average`, `pos_label`
    ========================================  =========================================

    .. |at_precision_recall| replace::
       :func:`selective_risk_at_precision_recall_score`

    A `normalize` is None or "excess": with "prr" higher is better, not lower.

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
    >>> scorer = get_selective_scorer("coverage_at_risk", risk=0.02)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=3).round(2)
    array([0.82, 0.84, 0.92])

    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 5, 0]]
    >>> scorer = get_selective_scorer("neg_aurc", loss=costs)
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 4)
    -0.0121
    """
    check_option(name, "name", get_selective_scorer_names())
    score, metric, known = _SCORERS[name]
    unknown = [option for option in params if option not in known]
    if unknown:
        raise TypeError(
            f"The scorer {name!r} has no option {unknown[0]!r}. Its options are "
            f"{list(known)}."
        )
    options = {**known, **params}
    for option, value in options.items():
        if value is _NEEDED:
            raise TypeError(f"The scorer {name!r} needs the option {option!r}.")
        if option in _CHECKS:
            options[option] = _CHECKS[option](value, option)
    if name == "neg_set_loss":
        check_set_loss(**{option: options[option] for option in _SETS})
    sign = -1 if name.startswith("neg_") else 1
    return Scorer(score, metric, sign, options, _REQUESTS.get(score, _WEIGHT))


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
    return sorted(_SCORERS)


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
        coverage = check_bound(coverage, "coverage")
    elif on_reject == "drop":
        raise ValueError(
            "on_reject='drop' without a coverage rewards rejecting everything. Pass "
            "coverage=, or use on_reject='count_as_error'."
        )
    _check_penalty(reject_penalty, on_reject)
    options = {
        "params": kwargs,
        "on_reject": on_reject,
        "coverage": coverage,
        "reject_penalty": reject_penalty,
    }
    sign = 1 if greater_is_better else -1
    return Scorer(by_accepted, metric, sign, options, _WEIGHT)


def make_rated_scorer(
    scoring: str | Callable[..., Any], *, unrated_label: Label = -1
) -> Callable[..., float]:
    """Make a scorer that uses rated documents only, from any other scorer.

    If documents that nobody has rated have a label such as -1, scorers like that of the
    precision treat it as a class, or raise an error. This scorer leaves these documents
    out, so their predictions do not count: a model that reports more unrated documents
    is not judged worse. Models are comparable only if documents were rated down to the
    same lowest thresholds.

    If missing ratings are NaN, pass a splitter such as `KFold()` as `cv` of a search:
    for a number of folds scikit-learn looks for classes, and refuses NaN.

    Parameters
    ----------
    scoring : str or callable
        Name of a scorer of scikit-learn, or a callable ``(estimator, X, y)`` such as
        :func:`~sklearn.metrics.make_scorer` returns, which takes `sample_weight`, too,
        where that is given.

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.
        None if nothing else does.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If there is no scorer of this name, or more than one is given. The scorer
        raises where no document is rated.

    See Also
    --------
    pn_auc_score : An area that does not depend on a threshold.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> from sklearn_reject.metrics import make_rated_scorer
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> y[scores.max(axis=1) < 0] = -1  # nobody has looked
    >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1)
    >>> precision = cross_val_score(
    ...     tuner, scores, y, scoring=make_rated_scorer("precision"), cv=3
    ... )
    >>> bool((precision > 0.5).all())
    True

    The gain at a price of two false positives for a true one:

    >>> from sklearn.metrics import confusion_matrix, make_scorer
    >>> def gain(y_true, y_pred):
    ...     tn, fp, fn, tp = confusion_matrix(y_true, y_pred).ravel()
    ...     return tp - fp / 2
    >>> scorer = make_rated_scorer(make_scorer(gain))
    >>> bool(scorer(tuner.fit(scores, y), scores, y) > 0)
    True
    """
    if not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(
            "scoring must be the name of one scorer, or a callable such as make_scorer "
            f"returns, got {scoring!r}. For several scorers, pass each to "
            "make_rated_scorer and collect the results in a dictionary."
        )
    # The estimator is not looked at where a scorer is given.
    scorer = check_scoring(scoring=scoring)
    return Scorer(by_rated, scorer, 1, {"unrated_label": unrated_label}, _WEIGHT)


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
