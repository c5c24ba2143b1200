"""From what a user gives as `novelty_score` to a score object."""

from sklearn.base import OutlierMixin, clone
from sklearn.frozen import FrozenEstimator

from sklearn_reject.scores._knn import KNN
from sklearn_reject.scores._likelihood_ratio import LikelihoodRatio
from sklearn_reject.scores._logit_scores import MSP, Energy, MaxLogit
from sklearn_reject.scores._mahalanobis import Mahalanobis
from sklearn_reject.scores._odin import ODIN
from sklearn_reject.scores._outlier_detector import OutlierDetector
from sklearn_reject.scores._react import ReAct
from sklearn_reject.scores._sirc import SIRC
from sklearn_reject.scores._vim import ViM
from sklearn_reject.scores._wrapped_novelty import (
    CallableNovelty,
    FrozenNovelty,
    UncertaintyNovelty,
)

_SCORES = {
    "energy": Energy,
    "knn": KNN,
    "likelihood_ratio": LikelihoodRatio,
    "mahalanobis": Mahalanobis,
    "max_logit": MaxLogit,
    "msp": MSP,
    "odin": ODIN,
    "outlier_detector": OutlierDetector,
    "react": ReAct,
    "sirc": SIRC,
    "vim": ViM,
}


def get_novelty_names():
    """Return the names that `novelty_score` accepts.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.scores import get_novelty_names
    >>> get_novelty_names()
    ['energy', 'knn', 'likelihood_ratio', 'mahalanobis', 'max_logit', 'msp', 'odin',
     'outlier_detector', 'react', 'sirc', 'vim']
    """
    return sorted(_SCORES)


def resolve_novelty(novelty_score, estimator=None, random_state=None):
    """Turn a name, a score object or a callable into an unfitted novelty score.

    Parameters
    ----------
    novelty_score : str, score object or callable
        One of :func:`get_novelty_names`; a :class:`NoveltyScore`, which is cloned; a
        plug-in uncertainty score, whose uncertainty is taken for novelty; a
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
    >>> from sklearn_reject.scores import Entropy, resolve_novelty
    >>> resolve_novelty("knn")
    KNN()
    >>> resolve_novelty(Entropy())
    UncertaintyNovelty(uncertainty_score=Entropy())
    """
    score = _to_novelty(novelty_score)
    parameters = score.get_params(deep=False)
    is_free = parameters.get("random_state", random_state) is None
    if random_state is not None and is_free:
        score.set_params(random_state=random_state)
    return score


def _to_novelty(novelty_score):
    if isinstance(novelty_score, str):
        return _named_novelty(novelty_score)
    score = None if isinstance(novelty_score, type) else novelty_score
    if isinstance(score, FrozenEstimator) and _is_score(score):
        return FrozenNovelty(score)
    if callable(getattr(score, "novelty", None)):
        return clone(score)
    if hasattr(score, "judge"):
        return UncertaintyNovelty(clone(score))
    if callable(score):
        return CallableNovelty(score)
    if isinstance(score, OutlierMixin) or hasattr(score, "score_samples"):
        raise ValueError(
            f"novelty_score={score!r} is no score but an outlier detector. Wrap it: "
            "OutlierDetector(detector)."
        )
    raise ValueError(
        f"novelty_score must be one of {get_novelty_names()}, a score object or a "
        f"callable (estimator, X) -> (n_samples,), got {novelty_score!r}."
    )


def _is_score(frozen):
    return callable(getattr(frozen, "novelty", None)) or hasattr(frozen, "judge")


def _named_novelty(name):
    if name not in _SCORES:
        raise ValueError(
            f"novelty_score must be one of {get_novelty_names()}, a score object or a "
            f"callable, got {name!r}."
        )
    return _SCORES[name]()
