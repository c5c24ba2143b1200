"""From the names, callables and objects that a user gives to score objects."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.base import OutlierMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._response import Response
from sklearn_reject._validation import check_option, check_takes
from sklearn_reject.scores import _distances, _linear, _logits, _plug_in, _regression
from sklearn_reject.scores._base import UncertaintyScore
from sklearn_reject.scores._gain import ExpectedGain
from sklearn_reject.scores._novelty import NoveltyScore

# What `gain_score` calls the score that is "auto" elsewhere.
CONFIDENCE = "confidence"


def _by_name(*modules):
    """Return the scores in some modules by the names that they have."""
    kinds = [v for m in modules for v in vars(m).values() if isinstance(v, type)]
    return {kind.name: kind for kind in kinds if getattr(kind, "name", None)}


_UNCERTAINTY_SCORES = _by_name(_linear, _plug_in, _regression)
_NOVELTY_SCORES = _by_name(_distances, _logits)
_CALLABLE = "a score object or a callable (estimator, X) -> (n_samples,)"


def get_score_names(
    kind: Literal["uncertainty", "novelty"] = "uncertainty",
) -> list[str]:
    """Return the names that `uncertainty_score` or `novelty_score` accepts.

    Parameters
    ----------
    kind : {"uncertainty", "novelty"}, default="uncertainty"
        Which of the two. An `uncertainty_score` may also be "auto".

    Returns
    -------
    names : list of str
        In alphabetical order.

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> from sklearn_reject.scores import get_score_names
    >>> get_score_names()
    ['conditional_risk', 'error_probability', 'loss_regression', 'margin', 'sele',
     'true_class_probability']
    >>> get_score_names("novelty")[:5]
    ['energy', 'gen', 'knn', 'likelihood_ratio', 'mahalanobis']
    """
    check_option(kind, "kind", ("uncertainty", "novelty"))
    return sorted(_UNCERTAINTY_SCORES if kind == "uncertainty" else _NOVELTY_SCORES)


def resolve_score(
    uncertainty_score,
    estimator,
    *,
    loss=None,
    random_state=None,
    name="uncertainty_score",
):
    """Turn a name, a score object or a callable into an unfitted score.

    Parameters
    ----------
    uncertainty_score : str, score object or callable
        "auto" takes a loss regression for regressors, and for classifiers the
        conditional risk where they have `predict_proba`, else the margin. Of one that
        has neither before it is fitted, the score finds out in its `fit`. The name or
        object of a novelty score becomes a :class:`NoveltyUncertainty`. A callable is
        ``(estimator, X) -> (n_samples,)``.

    estimator : estimator
        The classifier, fitted or not.

    loss : str, array-like or callable, default=None
        Loss for a score that has a `loss` parameter left at None.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    name : str, default="uncertainty_score"
        How the user calls the parameter, for errors.

    Returns
    -------
    score : UncertaintyScore
        A new, unfitted score.

    Raises
    ------
    ValueError
        If the name is unknown, "auto" finds no method to build on, nor a `fit` that may
        bring one, a frozen score is not fitted, or a score learns from an expert.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from sklearn_reject.scores import resolve_score
    >>> resolve_score("auto", LinearSVC())
    Margin()
    """
    of_gain = name == "gain_score"
    names = [CONFIDENCE, ExpectedGain.name] * of_gain + get_score_names()
    given, known = uncertainty_score, {**_NOVELTY_SCORES, **_UNCERTAINTY_SCORES}
    if isinstance(given, str) and given == (CONFIDENCE if of_gain else "auto"):
        score = _automatic_score(estimator, name)
    else:
        score = _make(given, {**known, ExpectedGain.name: ExpectedGain}, name)
    if score is None:
        raise ValueError(
            f"{name} must be 'auto', one of {names}, a novelty score such as "
            f"{sorted(_NOVELTY_SCORES)}, {_CALLABLE}, got {given!r}."
            + " Pass an instance."
            * isinstance(given, type)
        )
    if _is_novelty(score):
        return NoveltyUncertainty(resolve_novelty(score, random_state=random_state))
    if isinstance(score, FrozenEstimator):
        check_is_fitted(score.estimator, "estimator_")
    elif getattr(score, "needs_expert", False) and not of_gain:
        raise ValueError(
            f"{name}={given!r} learns from the labels of an expert and can only be the "
            "gain_score of a DeferringClassifier. Use 'error_probability', or "
            "FrozenEstimator(score) of one fitted with expert_labels."
        )
    return _with_defaults(score, loss=loss, random_state=random_state)


def _make(given, known, parameter):
    """Return a new score of a name, an object or a callable, None of anything else."""
    if isinstance(given, str):
        return known[given]() if given in known else None
    if isinstance(given, type):
        return None
    if hasattr(given, "evaluate") or _is_novelty(given):
        return clone(given)
    if not callable(given):
        return None
    check_takes(given, parameter, "estimator", "X")
    return _plug_in.CallableScore(given)


def _is_novelty(score):
    """Tell whether an object is a novelty score; a detector may have such a flag."""
    return callable(getattr(score, "novelty", None))


def _with_defaults(score, **given):
    """Set the parameters of a score that were left at None, and return it."""
    parameters = score.get_params(deep=False)
    for key, value in given.items():
        if value is not None and parameters.get(key, value) is None:
            score.set_params(**{key: value})
    return score


def resolve_novelty(novelty_score, estimator=None, random_state=None):
    """Turn a name, a score object or a callable into an unfitted novelty score.

    Parameters
    ----------
    novelty_score : str, score object or callable
        One of ``get_score_names("novelty")``; a :class:`NoveltyScore`, which is cloned;
        a plug-in uncertainty score, whose uncertainty is taken for novelty; a
        :class:`~sklearn.frozen.FrozenEstimator` around a fitted score of either kind,
        which is never fitted again; or a callable ``(estimator, X) -> (n_samples,)``.

    estimator : estimator, default=None
        Not used, present so that all scores are resolved alike.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    Returns
    -------
    score : NoveltyScore
        A new, unfitted score.

    Raises
    ------
    ValueError
        If the name is unknown, or the object is nothing of these.

    Examples
    --------
    >>> from sklearn_reject.scores import Margin, resolve_novelty
    >>> resolve_novelty("knn")
    KNN()
    >>> resolve_novelty(Margin())
    UncertaintyNovelty(uncertainty_score=Margin())
    """
    given = novelty_score
    score = _make(given, _NOVELTY_SCORES, "novelty_score")
    if score is None:
        is_detector = isinstance(given, OutlierMixin) or hasattr(given, "score_samples")
        wrap = " Wrap it: OutlierDetector(detector)." if is_detector else ""
        raise ValueError(
            f"novelty_score must be one of {sorted(_NOVELTY_SCORES)}, {_CALLABLE}, got "
            f"{given!r}.{wrap}"
        )
    if isinstance(score, FrozenEstimator) or not _is_novelty(score):
        return UncertaintyNovelty(score)
    return _with_defaults(score, random_state=random_state)


# With fewer samples, a learned gain was never chosen on six sets.
_FEWEST_LEARNED = 1000


def resolve_gain(
    gain_score, estimator, *, n_samples=np.inf, loss=None, random_state=None
):
    """Turn what a user gives as `gain_score` into candidates to choose from.

    Parameters
    ----------
    gain_score : str, score object or callable
        "auto" has two candidates: "confidence", unless the classifier has neither
        probabilities nor decision values, and "gain", unless samples are few and there
        is the other one. "confidence" is what "auto" is as an uncertainty
        score. Anything else is the one candidate, and is what it is as an uncertainty
        score.

    estimator : estimator
        The classifier that answers first, fitted or not.

    n_samples : int, default=inf
        Number of samples that there are to learn from.

    loss : str, array-like or callable, default=None
        Loss for a score that has a `loss` parameter left at None.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    Returns
    -------
    candidates : dict of str to UncertaintyScore
        New, unfitted scores. The name of one that is no text is that of its class.

    Raises
    ------
    ValueError
        If the name is unknown, or "confidence" finds no method to build on.
    """
    names, options = [gain_score], {"loss": loss, "random_state": random_state}
    if isinstance(gain_score, str) and gain_score == "auto":
        methods = "predict_proba", "decision_function"
        names = [CONFIDENCE] * any(hasattr(estimator, method) for method in methods)
        if n_samples >= _FEWEST_LEARNED or not names:
            names.append(ExpectedGain.name)
    candidates = {}
    for given in names:
        score = resolve_score(given, estimator, name="gain_score", **options)
        called = given if isinstance(given, str) else type(score).__name__
        candidates[called] = score
    return candidates


def _automatic_score(estimator, parameter, *, is_fitted=False):
    """Return the score for an estimator, or one that will see when it is fitted."""
    if hasattr(estimator, "predict_proba"):
        return _plug_in.ConditionalRisk()
    if hasattr(estimator, "decision_function"):
        return _plug_in.Margin()
    if hasattr(estimator, "fit") and not is_fitted:
        is_known = hasattr(estimator, "__sklearn_tags__")
        if is_known and is_regressor(estimator):
            return _regression.LossRegression()
        return AutomaticScore(parameter=parameter)
    called = CONFIDENCE if parameter == "gain_score" else "auto"
    raise ValueError(
        f"{parameter}={called!r} needs a classifier with `predict_proba` or "
        f"`decision_function`, and {type(estimator).__name__} has neither. Pass "
        "'error_probability', or a callable (estimator, X) -> (n_samples,)."
    )


class AutomaticScore(_plug_in.PlugInScore):
    """The conditional risk, or the margin: which one shows on the fitted classifier.

    A stack, or a search, may have its methods only when it is fitted.
    """

    def __init__(self, loss=None, parameter="uncertainty_score"):
        self.loss = loss
        self.parameter = parameter

    @property
    def estimates_risk(self):
        """Whether the score, once it is fitted, estimates the conditional risk."""
        estimator = getattr(self, "estimator_", None)
        return estimator is not None and self._choose(estimator).estimates_risk

    def _choose(self, estimator):
        score = _automatic_score(estimator, self.parameter, is_fitted=True)
        return score.set_params(loss=self.loss) if score.estimates_risk else score

    def _check(self, estimator):
        self._choose(estimator)._check(estimator)

    def compute(self, response: Response) -> np.ndarray:
        return self._choose(response.estimator).compute(response)


class UncertaintyNovelty(NoveltyScore):
    """A plug-in uncertainty score, or any frozen score, taken for one of novelty.

    One that is frozen goes by the classifier that it was fitted with, whatever
    classifier is around it now.

    Parameters
    ----------
    uncertainty_score : PlugInScore or FrozenEstimator
        Score that needs nothing but a fitted classifier, which is cloned, or a frozen
        one around a fitted :class:`NoveltyScore` or :class:`UncertaintyScore`.

    Attributes
    ----------
    uncertainty_score_ : UncertaintyScore or NoveltyScore
        The fitted score.

    Raises
    ------
    ValueError
        If the score is learned, or if the classifier lacks what it needs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import ConditionalRisk, UncertaintyNovelty
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianNB().fit(X, y)
    >>> score = UncertaintyNovelty(ConditionalRisk()).fit(estimator=clf)
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    def __init__(self, uncertainty_score):
        self.uncertainty_score = uncertainty_score

    def learn(self, response, y, sample_weight, X_ood):
        score = self.uncertainty_score
        if isinstance(score, FrozenEstimator):
            check_is_fitted(score.estimator, "estimator_")
            self.uncertainty_score_ = score.estimator
        elif getattr(score, "learns", True):
            raise ValueError(
                f"novelty_score must be a novelty or a plug-in score, got {score!r}. "
                "Fit it on samples that are new to the classifier, and pass "
                "FrozenEstimator(score)."
            )
        else:
            self.uncertainty_score_ = clone(score).fit(estimator=response.estimator)

    def compute(self, response):
        score = self.uncertainty_score_
        own = getattr(score, "estimator_", response.estimator)
        if _thaw(own) is not _thaw(response.estimator):
            response = Response(own, response.X)
        # A novelty may be infinite, which an uncertainty must not.
        is_novelty = _is_novelty(score)
        return score.compute(response) if is_novelty else score.evaluate(response)[1]


def _thaw(estimator):
    while type(estimator) is FrozenEstimator:
        estimator = estimator.estimator
    return estimator


class NoveltyUncertainty(UncertaintyScore):
    """A novelty score, taken for a measure of uncertainty.

    Samples unlike those that the classifier was fitted on are the uncertain ones. What
    is ambiguous, and nothing new, is not: see
    :class:`~sklearn_reject.DoubleScoreOODClassifier` for both together.

    Parameters
    ----------
    novelty_score : NoveltyScore
        Score that learns from no OOD samples. It is cloned.

    Attributes
    ----------
    novelty_score_ : NoveltyScore
        The fitted score.

    Raises
    ------
    ValueError
        If the score needs OOD samples or, of a regressor, class labels, if the
        classifier lacks what it needs, or if the novelty of a sample is infinite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import Mahalanobis, NoveltyUncertainty
    >>> X, y = load_iris(return_X_y=True)
    >>> score = NoveltyUncertainty(Mahalanobis())
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.uncertainty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([   0., 1816.])
    """

    def __init__(self, novelty_score):
        self.novelty_score = novelty_score

    @property
    def needs_samples(self):
        """Whether `fit` needs the samples that the classifier was fitted on."""
        return self.novelty_score.needs_samples

    @property
    def takes_sparse(self):
        """Whether the score works on a sparse matrix of samples as it is."""
        return self.novelty_score.takes_sparse

    def check(self, estimator, X):
        """Raise for samples that the score cannot see, before anything is fitted."""
        self.novelty_score.check(estimator, X)

    def fit(self, X=None, y=None, *, estimator, **given):
        """Fit the novelty score; what is `given` is for its own `fit`."""
        score = self.novelty_score
        is_of_classes = score.needs_labels or score.needs_classes
        if score.needs_ood:
            raise ValueError(
                f"uncertainty_score={score!r} learns from OOD samples, but there are "
                "none here. Use another score, or DoubleScoreOODClassifier."
            )
        if is_of_classes and is_regressor(estimator):
            raise ValueError(
                f"uncertainty_score={score!r} needs class labels or logits, which a "
                "regressor does not have. Use 'knn' or 'outlier_detector'."
            )
        self.novelty_score_ = clone(score).fit(X, y, estimator=estimator, **given)
        self.estimator_ = estimator
        return self

    def compute(self, response):
        return self.novelty_score_.from_response(response)
