"""Scorers for model selection where some samples are OOD: higher is better."""

from sklearn_reject._validation import check_number, check_option
from sklearn_reject.curves._ood import check_ood_prior
from sklearn_reject.metrics._ood_risk import (
    oscr_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)
from sklearn_reject.metrics._scorer_base import SelectiveScorer


class _OODScorer(SelectiveScorer):
    """Scorer of a metric that always rejects what is infinitely uncertain."""

    _takes_infinity = True


def neg_selective_risk_at_tpr_fpr_scorer(
    *,
    min_tpr,
    max_fpr,
    ood_label="auto",
    loss="zero_one",
    infeasible=float("nan"),
):
    """Make a scorer of minus the least selective risk at a bounded TPR and FPR.

    The labels given to the scorer mark OOD samples by `ood_label`. Predictions and the
    uncertainty are those of the classifier; whether it rejects does not matter.

    Parameters
    ----------
    min_tpr : float in ]0, 1]
        Least share of ID samples to accept.

    max_fpr : float in [0, 1]
        Largest share of OOD samples to accept.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples, as in :func:`selective_risk_at_tpr_fpr_score`.

    loss : str, array-like or callable, default="zero_one"
        As in :func:`selective_risk_at_tpr_fpr_score`.

    infeasible : float >= 0, default=nan
        Risk where both bounds cannot be met. With NaN, a candidate of a search that
        misses the bounds on one validation part has no score at all; with a number,
        such as the largest loss, its other parts count.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, minus
        `infeasible` where both bounds cannot be met. It raises where the classifier
        predicts the OOD label, as one that was fitted on OOD samples as a class does.

    Raises
    ------
    ValueError
        If a bound is out of its range.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import neg_selective_risk_at_tpr_fpr_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> scorer = neg_selective_risk_at_tpr_fpr_scorer(min_tpr=0.5, max_fpr=0.2)
    >>> round(scorer(clf, X, y), 2)
    -0.05
    """
    options = {
        "min_tpr": check_number(min_tpr, "min_tpr", high=1.0, open_low=True),
        "max_fpr": check_number(max_fpr, "max_fpr", high=1.0),
        "ood_label": ood_label,
        "loss": loss,
        "infeasible": infeasible,
    }
    return _OODScorer(selective_risk_at_tpr_fpr_score, -1, options)


def neg_selective_risk_at_precision_recall_scorer(
    *,
    min_precision,
    min_recall,
    ood_prior,
    ood_label="auto",
    loss="zero_one",
    infeasible=float("nan"),
):
    """Make a scorer of minus the least selective risk at bounded precision and recall.

    The labels given to the scorer mark OOD samples by `ood_label`. Predictions and the
    uncertainty are those of the classifier; whether it rejects does not matter.

    Parameters
    ----------
    min_precision : float in ]0, 1]
        Least share of ID samples among the accepted ones.

    min_recall : float in ]0, 1]
        Least share of ID samples to accept.

    ood_prior : float in [0, 1[
        Share of OOD samples that the precision is for.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples, as in :func:`selective_risk_at_precision_recall_score`.

    loss : str, array-like or callable, default="zero_one"
        As in :func:`selective_risk_at_precision_recall_score`.

    infeasible : float >= 0, default=nan
        Risk where both bounds cannot be met. With NaN, a candidate of a search that
        misses the bounds on one validation part has no score at all; with a number,
        such as the largest loss, its other parts count.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, minus
        `infeasible` where both bounds cannot be met. It raises where the classifier
        predicts the OOD label, as one that was fitted on OOD samples as a class does.

    Raises
    ------
    ValueError
        If a bound or the prior is out of its range.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import neg_selective_risk_at_precision_recall_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> scorer = neg_selective_risk_at_precision_recall_scorer(
    ...     min_precision=0.9, min_recall=0.5, ood_prior=0.1
    ... )
    >>> round(scorer(clf, X, y), 2)
    -0.05
    """
    options = {
        "min_precision": check_number(
            min_precision, "min_precision", high=1.0, open_low=True
        ),
        "min_recall": check_number(min_recall, "min_recall", high=1.0, open_low=True),
        "ood_prior": check_ood_prior(ood_prior),
        "ood_label": ood_label,
        "loss": loss,
        "infeasible": infeasible,
    }
    return _OODScorer(selective_risk_at_precision_recall_score, -1, options)


def oscr_scorer(*, definition="dhamija", ood_label="auto"):
    """Make a scorer of the area under the open-set classification rate.

    The labels given to the scorer mark OOD samples by `ood_label`. Predictions and the
    uncertainty are those of the classifier; whether it rejects does not matter.

    Parameters
    ----------
    definition : {"dhamija", "franc"}, default="dhamija"
        As in :func:`oscr_score`.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples, as in :func:`oscr_score`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the classifier predicts the OOD
        label, as one that was fitted on OOD samples as a class does.

    Raises
    ------
    ValueError
        If the definition is unknown.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import oscr_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> round(oscr_scorer()(clf, X, y), 2)
    0.65
    """
    check_option(definition, "definition", ("dhamija", "franc"))
    options = {"definition": definition, "ood_label": ood_label}
    return _OODScorer(oscr_score, 1, options)
