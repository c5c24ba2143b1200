"""Scorers for cross-validation and parameter search."""

from copy import copy
from functools import partial

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_reject._validation import check_number, check_option, check_sample_weight
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._inside import (
    find,
    index_predicted,
    predict_and_accept,
    predict_classes,
    predict_in_groups,
    predict_with_uncertainty,
)
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
from sklearn_reject.metrics._set_loss import set_loss
from sklearn_reject.selection import solve_target_coverage


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
    return _MAKERS[name](**params)


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
    return sorted(_MAKERS)


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
    return SelectiveScorer(selective_accuracy, 1, {"coverage": coverage})


def selective_accuracy(*samples, coverage, sample_weight=None):
    """Return the accuracy on the least uncertain samples, a share of those tied."""
    options = {"randomize": True, "sample_weight": sample_weight}
    return 1 - selective_risk_at_coverage_score(*samples, coverage=coverage, **options)


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


def neg_selective_risk_at_tpr_fpr_scorer(
    *, min_tpr, max_fpr, ood_label="auto", loss="zero_one", infeasible=float("nan")
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
        misses them on one validation part has no score; with a number, it has one.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better. It raises
        where the OOD label is predicted, as by a classifier fitted on it as a class.

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
    bounds = check_tpr_fpr(min_tpr, max_fpr)
    options = {"ood_label": ood_label, "loss": loss, "infeasible": infeasible}
    return SelectiveScorer(
        selective_risk_at_tpr_fpr_score, -1, bounds | options, takes_infinity=True
    )


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
        misses them on one validation part has no score; with a number, it has one.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better. It raises
        where the OOD label is predicted, as by a classifier fitted on it as a class.

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
    bounds = check_precision_recall(min_precision, min_recall, ood_prior)
    options = {"ood_label": ood_label, "loss": loss, "infeasible": infeasible}
    metric = selective_risk_at_precision_recall_score
    return SelectiveScorer(metric, -1, bounds | options, takes_infinity=True)


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
        warning without OOD samples. It raises where the OOD label is predicted.

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
    return SelectiveScorer(oscr_score, 1, options, takes_infinity=True)


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
        What a score is where it is 0/0, as in the metrics of scikit-learn.

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


class _Scorer:
    """A callable ``(estimator, X, y)`` that may request metadata of one name."""

    # Whether routing is to pass it: True, False, None or another name for it.
    _metadata = "sample_weight"
    _request = None

    def _with_request(self, request):
        scorer = copy(self)
        scorer._request = request
        return scorer

    def get_metadata_routing(self):
        """Return what the scorer requests from metadata routing."""
        requests = MetadataRequest(owner=type(self).__name__)
        requests.score.add_request(param=self._metadata, alias=self._request)
        return requests


class SelectiveScorer(_Scorer):
    """Scorer of a metric of labels and uncertainties, ``sample_weight=None`` as well.

    A metric that does not know infinite uncertainties gets their ranks.
    """

    def __init__(self, metric, sign, options=None, *, takes_infinity=False):
        self._metric = metric
        self._sign = sign
        self._options = options or {}
        self._takes_infinity = takes_infinity

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        samples = (
            y,
            *predict_with_uncertainty(estimator, X, finite=not self._takes_infinity),
        )
        value = self._metric(*samples, sample_weight=sample_weight, **self._options)
        return float(self._sign * value)

    def set_score_request(self, *, sample_weight=None):
        """Return a scorer that asks metadata routing for `sample_weight`, or does not.

        True, False, None or an alias, as scikit-learn's metadata requests define it.
        """
        return self._with_request(sample_weight)

    def __repr__(self):
        sign = "-" if self._sign < 0 else ""
        name = getattr(self._metric, "__name__", repr(self._metric))
        return f"<selective scorer {sign}{name}{_show(self._options)}>"


def _show(options):
    return "".join(f", {name}={value!r}" for name, value in options.items())


class _AcceptedScorer(SelectiveScorer):
    """Scorer of a metric of labels, with a rule for what is rejected."""

    def __init__(self, metric, sign, options, on_reject, coverage):
        super().__init__(metric, sign, options)
        self._on_reject = on_reject
        self._coverage = coverage

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        y = column_or_1d(y)
        weight = check_sample_weight(sample_weight, len(y))
        if self._coverage is None:
            labels, accepted = predict_and_accept(estimator, X)
        else:
            labels, uncertainty = predict_with_uncertainty(estimator, X, finite=True)
            options = {"sample_weight": weight, "randomize": False}
            losses = np.zeros(len(uncertainty))  # which do not matter
            rule = solve_target_coverage(uncertainty, losses, self._coverage, **options)
            accepted = rule.accept(uncertainty)
        labels = np.asarray(labels)
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
        value = self._metric(y[accepted], labels[accepted], **options)
        return float(self._sign * value)

    def __repr__(self):
        rule = {"on_reject": self._on_reject, "coverage": self._coverage}
        return f"{super().__repr__()[:-1]}{_show(rule)}>"


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


class _SetScorer(_Scorer):
    """Minus the mean realised loss of sets, those of `groups` where they are given."""

    # As for the splitters that work on groups, there is nothing else to do with them.
    _metadata = "groups"
    _request = True

    def __init__(self, options, pos_label):
        self._loss = check_set_loss(**options)
        self._options = options
        self._pos_label = pos_label

    def __call__(self, estimator, X, y, groups=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        if np.ndim(y) == 2 and np.shape(y)[1] == 1 and not issparse(y):
            y = column_or_1d(y, warn=True)
        is_multilabel, classes = np.ndim(y) > 1, ()
        if not is_multilabel:
            classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        if groups is not None and (is_multilabel or len(classes) > 2):
            raise ValueError(
                "groups say which samples form a set where there are two classes, but "
                "here each sample is a set of its own. Where metadata routing passes "
                "what is for a splitter, call `set_score_request(groups=False)` on the "
                "scorer."
            )
        if is_multilabel:
            return -set_loss(y, estimator.predict(X), loss=self._loss)
        if len(classes) > 2:
            sets = predict_classes(estimator, X, classes)
            return -set_loss(y, sets, loss=self._loss, labels=classes)
        positive = self._positive(estimator, classes)
        labels = predict_in_groups(estimator, X, groups)
        index_predicted(estimator, labels, classes)  # raises for labels that are none
        return -set_loss(y, labels, loss=self._loss, groups=groups, pos_label=positive)

    def _positive(self, estimator, classes):
        """Return the positive one of two classes."""
        label = self._pos_label
        if label is None:
            label = getattr(find(estimator, _names_positive)[0], "pos_label", None)
        if label is None and len(classes) == 2:
            return classes.tolist()[1]
        if label in classes.tolist():
            return label
        raise ValueError(
            f"pos_label={label!r} does not say which of the classes "
            f"{classes.tolist()} is the positive one. Pass one of them."
        )

    def set_score_request(self, *, groups=None):
        """Return a scorer that asks metadata routing for `groups`, or does not.

        True as in a new scorer, False, None or an alias.
        """
        return self._with_request(groups)

    def __repr__(self):
        options = {**self._options, "pos_label": self._pos_label}
        return f"<selective scorer -set_loss{_show(options)}>"


def _names_positive(estimator):
    return getattr(estimator, "pos_label", None) is not None


#: Minus :func:`aurc_score` with 0/1 loss.
neg_aurc_scorer = SelectiveScorer(aurc_score, -1)


#: Minus :func:`augrc_score` with 0/1 loss.
neg_augrc_scorer = SelectiveScorer(augrc_score, -1)


def _make_negative_area(metric, *, loss="zero_one", **options):
    if options.get("normalize") == "prr":
        raise ValueError(
            "normalize='prr' is higher is better, so its negative is no score. Use "
            "normalize='excess', which orders classifiers on the same samples."
        )
    return SelectiveScorer(metric, -1, {"loss": loss, **options})


_MAKERS = {
    maker.__name__.removesuffix("_scorer"): maker
    for maker in (
        coverage_at_risk_scorer,
        neg_selective_risk_at_precision_recall_scorer,
        neg_selective_risk_at_tpr_fpr_scorer,
        neg_set_loss_scorer,
        oscr_scorer,
        selective_accuracy_scorer,
    )
}
_MAKERS["neg_augrc"] = partial(_make_negative_area, augrc_score)
_MAKERS["neg_aurc"] = partial(_make_negative_area, aurc_score)
