"""What makes scorers of a second opinion, and of the cost of rejections."""

from sklearn_reject._validation import check_number, check_option
from sklearn_reject.metrics._deferral_scoring import CostScorer, DeferralScorer
from sklearn_reject.metrics._scorers import _factory


@_factory
def make_neg_deferral_area_scorer(*, loss=None, labels=None, normalize=None):
    """Make a scorer of minus the area under the deferral curve.

    With its defaults it is ``neg_deferral_area_scorer``. It tells how well a
    :class:`~sklearn_reject.DeferringClassifier` orders samples by what the second
    opinion gains, and how good both are, whatever its threshold. The second opinion is
    asked about all samples.

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

    normalize : {None, "excess"}, default=None
        "excess" subtracts the area of the oracle, as in :func:`deferral_area_score`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None, expert_labels=None)``, higher is
        better. `expert_labels` are what a person says about the samples, None or NaN
        where that is not known.

    Raises
    ------
    ValueError
        If an option is unknown, or "prr", which is higher is better already. The
        scorer raises where the estimator asks no second opinion.

    See Also
    --------
    deferral_area_score : The area itself.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_reject import DeferringClassifier
    >>> from sklearn_reject.metrics import make_neg_deferral_area_scorer
    >>> X, y = load_digits(return_X_y=True)
    >>> deferring = DeferringClassifier(
    ...     GaussianNB(),
    ...     make_pipeline(StandardScaler(), LogisticRegression()),
    ...     gain_score="confidence",
    ... )
    >>> deferring = deferring.fit(X[:900], y[:900])
    >>> scorer = make_neg_deferral_area_scorer(normalize="excess")
    >>> round(scorer(deferring, X[900:], y[900:]), 3)
    -0.043
    """
    if normalize == "prr":
        raise ValueError(
            "normalize='prr' is higher is better, so its negative is no score. Use "
            "normalize='excess', which orders classifiers on the same samples."
        )
    check_option(normalize, "normalize", (None, "excess"))
    return DeferralScorer({"normalize": normalize}, loss=loss, labels=labels)


@_factory
def make_neg_selective_cost_scorer(*, reject_cost=None, loss=None, labels=None):
    """Make a scorer of minus the mean cost of a sample, accepted or not.

    An accepted sample costs its loss, a rejected one the `reject_cost`. A sample that a
    :class:`~sklearn_reject.DeferringClassifier` defers costs the `deferral_cost` and
    the loss of whoever answers, level by level in a cascade. Where a classifier that
    rejects has one inside, what it asks is added; inside other meta-estimators, such as
    a vote, it counts nothing.

    Where the cost is that of the estimator, do not search over it: each candidate would
    be judged by its own, and the lowest would win. A search over `reject_cost` takes
    the one that rejections do have here, and one over `deferral_cost` takes
    `neg_deferral_area_scorer`.

    Parameters
    ----------
    reject_cost : float >= 0, default=None
        Cost of a rejected sample, in units of the loss. None takes the `reject_cost` of
        the estimator, also inside a pipeline or a search.

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
        ``scorer(estimator, X, y, sample_weight=None, expert_labels=None)``, higher is
        better. `expert_labels` are what a person says about deferred samples; where
        that is not known, the mean loss of those that are stands for it.

    Raises
    ------
    ValueError
        If `reject_cost` is negative. The scorer raises where a cost is not known: if
        `reject_cost` is None and the estimator has none, or one a group, or if it
        defers without a `deferral_cost`.

    See Also
    --------
    selective_cost_score : The cost itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import SelectiveClassifier
    >>> from sklearn_reject.metrics import make_neg_selective_cost_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), reject_cost=0.2).fit(X, y)
    >>> round(make_neg_selective_cost_scorer()(selective, X, y), 4)
    -0.0387
    >>> round(make_neg_selective_cost_scorer(reject_cost=0.5)(selective, X, y), 4)
    -0.0567
    """
    if reject_cost is not None:
        reject_cost = check_number(reject_cost, "reject_cost")
    return CostScorer(reject_cost, loss=loss, labels=labels)


#: Minus :func:`deferral_area_score`.
neg_deferral_area_scorer = make_neg_deferral_area_scorer()
