"""What makes scorers for cross-validation and parameter search."""

from functools import wraps
from inspect import Parameter, signature
from math import isfinite
from numbers import Real

from sklearn_reject._validation import check_number, check_option
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

# Scorers of `get_selective_scorer`, and what makes them.
_FACTORIES = {}


def _factory(make):
    """Register what makes a scorer, and tell who calls it as if it were one."""
    kinds = [p.kind for p in signature(make).parameters.values()]
    n_positional = kinds.count(Parameter.POSITIONAL_ONLY)

    @wraps(make)
    def checked(*args, **options):
        if len(args) > n_positional:
            raise TypeError(
                f"{make.__name__} makes a scorer and is none, but was called as one, "
                f"with {len(args)} positional arguments. Pass "
                f"scoring={make.__name__}(...), with the options of the scorer."
            )
        return make(*args, **options)

    if not n_positional:
        name = make.__name__.removeprefix("make_").removesuffix("_scorer")
        _FACTORIES[name] = checked
    return checked


def get_selective_scorer(name, **params):
    """Get a scorer by its name.

    Parameters
    ----------
    name : str
        One of :func:`get_selective_scorer_names`.

    **params : dict
        Options of the scorer: those of the function ``make_<name>_scorer``.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better; that of
        "neg_set_loss" takes `groups` instead of weights, and those of
        "neg_deferral_area" and "neg_selective_cost" take `expert_labels`, too.

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
    return _FACTORIES[name](**params)


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
    ['coverage_at_risk', 'neg_augrc', 'neg_aurc', 'neg_deferral_area']
    """
    return sorted(_FACTORIES)


@_factory
def make_selective_scorer(
    metric,
    /,
    *,
    on_reject="count_as_error",
    coverage=None,
    reject_penalty=None,
    greater_is_better=True,
    **kwargs,
):
    """Make a scorer from a metric of predictions, such as those of scikit-learn.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **kwargs)``.

    on_reject : {"count_as_error", "drop", "error"}, default="count_as_error"
        What happens to rejected samples. "count_as_error" gives them a wrong label or
        the `reject_penalty`, "error" raises if there is one, and "drop" leaves them
        out, which takes a `coverage`: accuracy on what a classifier accepts of its own
        accord rewards rejecting everything.

    coverage : float in ]0, 1], default=None
        Accept the least uncertain samples, at least that share of them, instead of
        those that the estimator accepts.

    reject_penalty : float, default=None
        What a rejected sample counts under "count_as_error", in units of the metric:
        the value is coverage * metric(accepted) + (1 - coverage) * penalty, and the
        penalty where nothing is accepted. With `sample_weight` the coverage is the
        weighted one. That is the metric of all samples, with the penalty in the place
        of the rejected ones, if it is a mean over samples, as the mean squared error
        is; of others, such as F1 or R2, it is a mixture. Regressors need it, as they
        have no wrong label.

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
            "asks for predictions itself, and would not know which are rejected."
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
            f"reject_penalty={penalty!r} is what a rejected sample counts with "
            f"on_reject='count_as_error', but on_reject={on_reject!r}. Leave one out."
        )
    is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
    if not (is_number and isfinite(penalty)):
        raise ValueError(f"reject_penalty must be a finite number, got {penalty!r}.")


@_factory
def make_neg_aurc_scorer(
    *, loss=None, labels=None, interpolation="mean", normalize=None
):
    """Make a scorer of minus the area under the risk-coverage curve.

    With its defaults it is ``neg_aurc_scorer``.

    Parameters
    ----------
    loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
            default=None
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
        None takes the `loss_` that an estimator such as
        :class:`~sklearn_reject.SelectiveRegressor` has, also inside a pipeline or a
        search, and 0/1 loss for other classifiers.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. None takes the sorted classes of the
        estimator and labels of the samples.

    interpolation : {"mean", "trapezoid"}, default="mean"
        As in :func:`aurc_score`.

    normalize : {None, "excess"}, default=None
        "excess" subtracts the area of the oracle, as in :func:`aurc_score`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If an option is unknown, or "prr", which is higher is better already.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import make_neg_aurc_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_neg_aurc_scorer(loss=[[0, 1, 1], [1, 0, 1], [1, 5, 0]])
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 4)
    -0.0121
    """
    check_option(interpolation, "interpolation", ("mean", "trapezoid"))
    if normalize == "prr":
        raise ValueError(
            "normalize='prr' is higher is better, so its negative is no score. Use "
            "normalize='excess', which orders classifiers on the same samples."
        )
    check_option(normalize, "normalize", (None, "excess"))
    options = {"interpolation": interpolation, "normalize": normalize}
    return SelectiveScorer(aurc_score, -1, options, loss=loss, labels=labels)


@_factory
def make_neg_augrc_scorer(*, loss=None, labels=None):
    """Make a scorer of minus the area under the generalized risk-coverage curve.

    With its defaults it is ``neg_augrc_scorer``.

    Parameters
    ----------
    loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
            default=None
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
        None takes the `loss_` that an estimator such as
        :class:`~sklearn_reject.SelectiveRegressor` has, also inside a pipeline or a
        search, and 0/1 loss for other classifiers.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. None takes the sorted classes of the
        estimator and labels of the samples.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If the scorer is called with a loss that is unknown or does not suit what the
        estimator predicts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import make_neg_augrc_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_neg_augrc_scorer(loss="absolute")
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 4)
    -0.0031
    """
    return SelectiveScorer(augrc_score, -1, loss=loss, labels=labels)


@_factory
def make_selective_accuracy_scorer(*, coverage):
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
    >>> from sklearn_reject.metrics import make_selective_accuracy_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianNB().fit(X, y)
    >>> clf.score(X, y), make_selective_accuracy_scorer(coverage=0.5)(clf, X, y)
    (0.96, 1.0)
    """
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    options = {"coverage": coverage}
    return SelectiveScorer(selective_accuracy, 1, options, is_of_labels=True)


def selective_accuracy(*samples, **options):
    """Return the accuracy on the least uncertain samples, a share of those tied."""
    return 1 - selective_risk_at_coverage_score(*samples, randomize=True, **options)


@_factory
def make_coverage_at_risk_scorer(*, risk, loss=None, labels=None):
    """Make a scorer of the largest coverage whose selective risk is at most `risk`.

    Parameters
    ----------
    risk : float >= 0
        Bound on the selective risk, in units of the loss.

    loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
            default=None
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
        None takes the `loss_` that an estimator such as
        :class:`~sklearn_reject.SelectiveRegressor` has, also inside a pipeline or a
        search, and 0/1 loss for other classifiers.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. None takes the sorted classes of the
        estimator and labels of the samples.

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
    >>> from sklearn_reject.metrics import make_coverage_at_risk_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> make_coverage_at_risk_scorer(risk=0.02)(GaussianNB().fit(X, y), X, y)
    0.9
    """
    risk = check_number(risk, "risk")
    judged_by = {"loss": loss, "labels": labels}
    return SelectiveScorer(coverage_at_risk_score, 1, {"risk": risk}, **judged_by)


@_factory
def make_neg_selective_risk_at_tpr_fpr_scorer(
    *,
    min_tpr,
    max_fpr,
    ood_label="auto",
    loss=None,
    labels=None,
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
        Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator was
        fitted with, where it has one, also inside a pipeline or a search; else "ood"
        for strings and -1 for numbers. A label that is given wins.

    loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
            default=None
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
        None takes the `loss_` that an estimator such as
        :class:`~sklearn_reject.SelectiveRegressor` has, also inside a pipeline or a
        search, and 0/1 loss for other classifiers.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. None takes the sorted classes of the
        estimator and labels of the samples.

    infeasible : float >= 0, default=nan
        Risk where both bounds cannot be met. With NaN, a candidate of a search that
        misses them on one validation part has no score; with a number, it has one.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the OOD label is a class, as of a
        classifier fitted on it, or `y` holds a label that is neither.

    Raises
    ------
    ValueError
        If a bound is out of its range.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import make_neg_selective_risk_at_tpr_fpr_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> scorer = make_neg_selective_risk_at_tpr_fpr_scorer(min_tpr=0.5, max_fpr=0.2)
    >>> round(scorer(clf, X, y), 2)
    -0.05
    """
    bounds = check_tpr_fpr(min_tpr, max_fpr)
    options = {**bounds, "ood_label": ood_label, "infeasible": infeasible}
    metric = selective_risk_at_tpr_fpr_score
    return OODScorer(metric, -1, options, loss=loss, labels=labels)


@_factory
def make_neg_selective_risk_at_precision_recall_scorer(
    *,
    min_precision,
    min_recall,
    ood_prior,
    ood_label="auto",
    loss=None,
    labels=None,
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
        Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator was
        fitted with, where it has one, also inside a pipeline or a search; else "ood"
        for strings and -1 for numbers. A label that is given wins.

    loss : str, array-like of shape (n_classes, n_classes), callable or TaskLoss, \
            default=None
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it.
        None takes the `loss_` that an estimator such as
        :class:`~sklearn_reject.SelectiveRegressor` has, also inside a pipeline or a
        search, and 0/1 loss for other classifiers.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. None takes the sorted classes of the
        estimator and labels of the samples.

    infeasible : float >= 0, default=nan
        Risk where both bounds cannot be met. With NaN, a candidate of a search that
        misses them on one validation part has no score; with a number, it has one.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the OOD label is a class, as of a
        classifier fitted on it, or `y` holds a label that is neither.

    Raises
    ------
    ValueError
        If a bound or the prior is out of its range.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import get_selective_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> scorer = get_selective_scorer(
    ...     "neg_selective_risk_at_precision_recall",
    ...     min_precision=0.9,
    ...     min_recall=0.5,
    ...     ood_prior=0.1,
    ... )
    >>> round(scorer(clf, X, y), 2)
    -0.05
    """
    bounds = check_precision_recall(min_precision, min_recall, ood_prior)
    options = {**bounds, "ood_label": ood_label, "infeasible": infeasible}
    metric = selective_risk_at_precision_recall_score
    return OODScorer(metric, -1, options, loss=loss, labels=labels)


@_factory
def make_oscr_scorer(*, definition="dhamija", ood_label="auto"):
    """Make a scorer of the area under the open-set classification rate.

    The labels given to the scorer mark OOD samples by `ood_label`. Predictions and the
    uncertainty are those of the classifier; whether it rejects does not matter.

    Parameters
    ----------
    definition : {"dhamija", "franc"}, default="dhamija"
        As in :func:`oscr_score`.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator was
        fitted with, where it has one, also inside a pipeline or a search; else "ood"
        for strings and -1 for numbers. A label that is given wins.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the OOD label is a class, as of a
        classifier fitted on it, or `y` holds a label that is neither.

    Raises
    ------
    ValueError
        If the definition is unknown.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import make_oscr_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> round(make_oscr_scorer()(clf, X, y), 2)
    0.65
    """
    check_option(definition, "definition", ("dhamija", "franc"))
    options = {"definition": definition, "ood_label": ood_label}
    return OODScorer(oscr_score, 1, options, is_of_labels=True)


@_factory
def make_ood_auroc_scorer(*, ood_label="auto"):
    """Make a scorer of the area under the ROC curve of ID against OOD.

    The labels given to the scorer mark OOD samples by `ood_label`. The uncertainty is
    that of the classifier, such as the combined score of a
    :class:`~sklearn_reject.DoubleScoreOODClassifier`; whether it rejects does not
    matter, nor whether its predictions are right.

    Parameters
    ----------
    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator was
        fitted with, where it has one, also inside a pipeline or a search; else "ood"
        for strings and -1 for numbers. A label that is given wins.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the OOD label is a class, as of a
        classifier fitted on it, or `y` holds a label that is neither.

    Raises
    ------
    TypeError
        If called as if it were a scorer.

    See Also
    --------
    ood_auroc_score : The area itself.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import make_ood_auroc_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> round(make_ood_auroc_scorer()(clf, X, y), 2)
    0.76
    """
    options = {"ood_label": ood_label}
    return OriginScorer(ood_auroc_score, 1, options, is_of_labels=True)


@_factory
def make_neg_fpr_at_tpr_scorer(*, tpr=0.95, positive="id", ood_label="auto"):
    """Make a scorer of minus the false positive rate at a true positive rate.

    The labels given to the scorer mark OOD samples by `ood_label`. The uncertainty is
    that of the classifier, such as the combined score of a
    :class:`~sklearn_reject.DoubleScoreOODClassifier`; whether it rejects does not
    matter, nor whether its predictions are right.

    Parameters
    ----------
    tpr : float in ]0, 1], default=0.95
        True positive rate to reach.

    positive : {"id", "ood"}, default="id"
        With "id" the rate is the share of OOD samples accepted where at least `tpr` of
        the ID samples are; with "ood" the share of ID samples rejected where at least
        `tpr` of the OOD samples are.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y`. "auto" is the `ood_label_` that the estimator was
        fitted with, where it has one, also inside a pipeline or a search; else "ood"
        for strings and -1 for numbers. A label that is given wins.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better, NaN with a
        warning without OOD samples. It raises where the OOD label is a class, as of a
        classifier fitted on it, or `y` holds a label that is neither.

    Raises
    ------
    ValueError
        If `tpr` is not in ]0, 1], or `positive` unknown.

    See Also
    --------
    fpr_at_tpr_score : The rate itself.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> from sklearn_reject.metrics import make_neg_fpr_at_tpr_scorer
    >>> X, y = make_fpp23_mixture(random_state=0)
    >>> clf = GaussianNB().fit(X[y != -1], y[y != -1])
    >>> round(make_neg_fpr_at_tpr_scorer(tpr=0.8)(clf, X, y), 2)
    -0.48
    """
    tpr = check_number(tpr, "tpr", high=1.0, open_low=True)
    check_option(positive, "positive", ("id", "ood"))
    options = {"tpr": tpr, "positive": positive, "ood_label": ood_label}
    return OriginScorer(fpr_at_tpr_score, -1, options, is_of_labels=True)


@_factory
def make_neg_set_loss_scorer(
    *, loss="f1", beta=1.0, zero_division=0.0, average="samples", pos_label=None
):
    """Make a scorer of minus the mean loss of predicted sets.

    It takes any classifier. With two classes the samples of one call are a set, or
    those of each of the `groups`; with several labels a sample, each row is a set, or
    what `average` says; with more classes a set is what ``predict_set`` returns for a
    sample, or else the one class that is predicted.

    Parameters
    ----------
    loss : str, array-like of shape (2, 4), callable or SetLoss, default="f1"
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0, as in the metrics of scikit-learn.

    average : {"samples", "macro", "micro"}, default="samples"
        What a set is where samples have several labels: the labels of each sample, the
        samples of each label, or all entries of a call. Else "samples".

    pos_label : label, default=None
        The positive one of two classes. None takes that of a classifier which has a
        `pos_label`, or else the second in sorted order.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, groups=None)``, higher is better. The groups also
        reach a ``predict`` that takes them. With metadata routing they are passed where
        they are given, unless ``set_score_request(groups=False)`` says otherwise; where
        each sample is a set they are then of no use, and left to the splitter. A class
        that the classifier has not seen, as in a fold without it, counts as missed,
        with a warning.

    Raises
    ------
    ValueError
        If the loss or `average` is unknown, `beta` is not positive or `zero_division`
        not in [0, 1].

    See Also
    --------
    set_loss : The loss itself.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import make_neg_set_loss_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_neg_set_loss_scorer(loss="jaccard")
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 3)
    -0.087
    """
    options = {"loss": loss, "beta": beta, "zero_division": zero_division}
    return SetScorer(options, average, pos_label)


#: Minus :func:`aurc_score`.
neg_aurc_scorer = make_neg_aurc_scorer()

#: Minus :func:`augrc_score`.
neg_augrc_scorer = make_neg_augrc_scorer()

#: :func:`oscr_score`.
oscr_scorer = make_oscr_scorer()

#: :func:`ood_auroc_score`.
ood_auroc_scorer = make_ood_auroc_scorer()

#: Minus :func:`fpr_at_tpr_score`, of OOD samples accepted where 95 % of ID samples are.
neg_fpr_at_tpr_scorer = make_neg_fpr_at_tpr_scorer()

#: Minus the mean F1 loss of :func:`set_loss`.
neg_set_loss_scorer = make_neg_set_loss_scorer()
