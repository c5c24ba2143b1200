"""Distances to training samples and means of classes, detectors, density ratios."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.utils import check_random_state

from sklearn_reject._response._network import row_norms, row_products
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _threadpool_controller_decorator
from sklearn_reject._typing import Estimator, MatrixLike, RandomState
from sklearn_reject._validation import (
    check_count,
    check_number,
    check_option,
    take_weight,
)
from sklearn_reject.scores._inputs import Inputs, InputScore
from sklearn_reject.scores._learned import check_classifier, weight_for
from sklearn_reject.scores._novelty import Function

# Numbers held at once.
_BLOCK_SIZE = 2**19

# The nearest one tells more than the fifth, by .03 of AUROC on eleven tabular sets with
# classes held back, whatever their size. But no fold can count four fifths of one: the
# nearest of all is nearer than one of a fold, and a TPR tuned to .80 was .84 of new
# samples. Of a share that all fits have it was .81. With three folds four fifths were
# too many, by .02, with two by .05.
_SHARE_FOR_NEAREST = 0.8

# Of 1e5 samples, 20 columns and logistic regression inside, that makes predict about
# 300 times as long as the classifier's own. With 2,000 it is 200 times, and AUROC lower
# by .02 on letter, .015 on avila and covtype, .004 on pendigit and shuttle; all samples
# would add .06, .06, .07, .006 and nothing.
_MOST_SAMPLES = 3000


class KNN(InputScore):
    """Distance to the k-th nearest training sample (Sun et al., 2022).

    Of a network, distances are those of its last hidden layer, each sample scaled to
    Euclidean length one, so that they are in [0, 2]. Of any other classifier, they are
    those of what reaches it, each column scaled to mean zero and variance one over the
    training samples. Higher = more novel; exact to the rounding of float64.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Which nearest training sample counts, from 1. With sample weights, the nearest
        one within whose distance training samples weigh `n_neighbors` together, where
        weights are scaled to mean one. Folds that hold a share of the samples count the
        same share of it, rounded. "auto" is the nearest of four fifths of the samples
        of the final fit, drawn at random: as many as each of five folds has. Where
        folds have fewer, as two or three do, it is of as many as the smallest has.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it (the output of
        the pipeline's last transformer). Of that, categories become indicators of 0
        and 1, and medians stand for missing numbers, beside an indicator of each column
        that misses some; a value that is missing where no training sample missed one
        adds one to the squared distance. More than 256 sparse columns are reduced to
        their 50 leading directions.

    normalize : bool or "auto", default="auto"
        True scales each sample to length one; a sample of zeros has no direction and
        stays as it is, at distance 1 of all others. False scales each column instead;
        one that is constant, and indicators, keep their unit. "auto" is True for hidden
        layers, for `features` and for sparse samples that are reduced, where the length
        says little, and False else, or if there is a single feature.

    max_samples : int, "auto" or None, default="auto"
        Most training samples to keep, drawn at random; `n_neighbors` is lowered with
        them, down to 1. "auto" is 3000, None keeps all.

    random_state : int, RandomState instance or None, default=0
        Source of that draw, and of the directions of sparse samples. With None an
        estimator around the score lends its own.

    Attributes
    ----------
    index_ : NeighbourIndex
        The distinct training samples that are kept, ready to be searched.

    n_neighbors_ : int
        Which nearest one of these counts.

    Raises
    ------
    ValueError
        If a parameter is invalid, if there are fewer than `n_neighbors` training
        samples, or if no finite numbers can be made of the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import KNN
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = KNN().fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(2)
    array([0.  , 9.08])
    """

    name = "knn"

    def __init__(
        self,
        n_neighbors: int | Literal["auto"] = "auto",
        features: Function | None = None,
        normalize: bool | Literal["auto"] = "auto",
        max_samples: int | Literal["auto"] | None = "auto",
        random_state: RandomState | None = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.features = features
        self.normalize = normalize
        self.max_samples = max_samples
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.normalize, "normalize", (True, False, "auto"))
        random_state = check_random_state(self.random_state)
        self._inputs_ = Inputs(self.features, random_state)
        features = self._inputs_.fit(response)
        n_samples, n_features = features.shape
        if self.normalize is True and n_features == 1:
            raise ValueError(
                "normalize=True reduces a single feature to its sign. Use False."
            )
        is_directed = self._inputs_.is_directed and n_features > 1
        self._normalizes_ = is_directed if self.normalize == "auto" else self.normalize
        if self._normalizes_:
            features = _normalize(features)
        else:
            features = self._inputs_.scale(features, sample_weight)
        n_kept, self.n_neighbors_ = self._count(n_samples)
        rows = np.sort(random_state.permutation(n_samples)[:n_kept])
        self.index_ = NeighbourIndex(features[rows], take_weight(sample_weight, rows))

    def _count(self, n_samples):
        """Return how many samples to keep, and which neighbor among them counts."""
        n_final = most = max(1, round(n_samples / self.share_))
        n_neighbors = 1
        if self.n_neighbors != "auto":
            n_neighbors = check_count(self.n_neighbors, "n_neighbors")
        else:
            most = max(1, round(min(_SHARE_FOR_NEAREST, self.least_share_) * n_final))
        if self.max_samples is not None:
            given = _MOST_SAMPLES if self.max_samples == "auto" else self.max_samples
            most = min(most, check_count(given, "max_samples"))
        # Folds count like the final fit: half of the samples, half of the neighbors.
        if round(n_neighbors * self.share_) > n_samples:
            raise ValueError(
                f"n_neighbors={n_neighbors} is larger than the number of training "
                f"samples, {n_final}. Lower it, or use n_neighbors='auto'."
            )
        n_kept = min(n_samples, most)
        return n_kept, max(1, round(n_neighbors * n_kept / n_final))

    def compute(self, response):
        features, n_missing = self._inputs_.transform(response)
        if self._normalizes_:
            features = _normalize(features)
        distances = self.index_.kth_distances(features, self.n_neighbors_)
        return np.hypot(distances, np.sqrt(n_missing))


def _normalize(features):
    """Return features scaled to length one; zeros stay as they are."""
    # Dividing by the largest entry first keeps squares from overflow and underflow.
    largest = np.abs(features).max(axis=1, keepdims=True)
    features = features / np.where(largest > 0, largest, 1)
    lengths = row_norms(features)[:, np.newaxis]
    return features / np.where(lengths > 0, lengths, 1)


# What sums of weights may lack of the goal, as they are rounded.
_ROUNDING = 1e-9


class NeighbourIndex:
    """Vectors (n_points, n_features) ready to be searched for those near others.

    A product in float32 bounds the squared distances less the square of the query from
    below. All points whose bound is not above what the nearest may have are measured
    in fixed order: what is found does not depend on the other queries. Weights have
    mean one.
    """

    def __init__(self, points, weight=None):
        n_points, n_features = points.shape
        self.points = points
        self.weight = np.ones(n_points) if weight is None else weight / weight.mean()
        # The least that so many points weigh together, whichever they are.
        self._least_weights = np.cumsum(np.sort(self.weight))
        # What is short is rounded less: of products, by this times both lengths.
        self._center = points.mean(axis=0)
        self._error = (n_features + 5) * np.finfo(np.float32).eps
        centered = points - self._center
        lengths = row_norms(centered)
        squares = (1 - self._error) * lengths**2
        factors = [-2 * centered.T, squares, -2 * self._error * lengths]
        self._factors = np.vstack(factors).astype(np.float32)

    @_threadpool_controller_decorator(limits=1, user_api="blas")
    def kth_distances(self, queries, k):
        """Return the least distances (n_queries,) within which points weigh k."""
        found, size = np.empty(len(queries)), max(1, _BLOCK_SIZE // len(self.points))
        for start in range(0, len(queries), size):
            rows = slice(start, start + size)
            found[rows] = self._search(queries[rows], k)
        return found

    def _search(self, queries, k):
        row, column = self._find_near(queries, k)
        apart, size = np.empty(len(row)), max(1, _BLOCK_SIZE // queries.shape[1])
        for start in range(0, len(row), size):
            pairs = slice(start, start + size)
            apart[pairs] = row_norms(queries[row[pairs]] - self.points[column[pairs]])
        if len(row) == len(queries):
            return apart
        # A line for each query, as long as the longest.
        place = np.arange(len(row)) - np.searchsorted(row, row)
        shape = len(queries), place.max() + 1
        distances, weight = np.full(shape, np.inf), np.zeros(shape)
        distances[row, place], weight[row, place] = apart, self.weight[column]
        order = distances.argsort(axis=1, kind="stable")
        reached = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
        first = (reached >= k - _ROUNDING).argmax(axis=1)[:, np.newaxis]
        nearest = np.take_along_axis(order, first, axis=1)
        return np.take_along_axis(distances, nearest, axis=1)[:, 0]

    def _find_near(self, queries, k):
        """Return rows and columns of all pairs that may be among the nearest."""
        n_needed = np.searchsorted(self._least_weights, k - _ROUNDING) + 1
        n_needed = min(n_needed, len(self.points))
        centered = queries - self._center
        lengths = row_norms(centered)
        parts = centered, np.ones(len(queries)), lengths
        # What is infinite or NaN in float32 is not known to be far.
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = np.column_stack(parts).astype(np.float32) @ self._factors
            least = _at_least_kth(bounds, n_needed)
            # The points of the least bounds are not longer than that.
            longest = lengths + np.sqrt(np.maximum(least + lengths**2, 0))
            limit = least + 8 * self._error * longest**2 + np.finfo(np.float32).tiny
            is_far = bounds > limit.astype(np.float32)[:, np.newaxis]
        return np.divmod(np.flatnonzero(~is_far), len(self.points))


def _at_least_kth(values, k):
    """Return the k-th smallest value of each row, or one that is little larger."""
    if k == 1:
        return values.min(axis=1)
    # Partitions are slow: the k-th of the least of groups is not below that of all.
    size = max(1, values.shape[1] // (16 * k))
    n_grouped = values.shape[1] // size * size
    least = values[:, :n_grouped].reshape(len(values), size, -1).min(axis=1)
    return np.partition(least, k - 1, axis=1)[:, k - 1]


class Mahalanobis(InputScore):
    """Squared Mahalanobis distance to the nearest class mean (Lee et al., 2018).

    min_y (f - m_y)' S^-1 (f - m_y), where m_y is the mean of the training features of
    class y and S the covariance about these means, pooled over the classes and shrunk.
    Without unit, at least 0, higher = more novel.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        How far the covariance is drawn to a multiple of the identity, in [0, 1]. "auto"
        takes the share of Ledoit and Wolf (2004).

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it, as
        :class:`KNN` does with ``normalize=False``.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class among the labels.

    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk S.

    shrinkage_ : float
        How far it is drawn.

    whitener_ : ndarray of shape (n_features, n_features)
        Factor A of the inverse, S^-1 = A A'.

    Raises
    ------
    ValueError
        If `shrinkage` is invalid, if the covariance is singular, or if no finite
        numbers can be made of the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import Mahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = Mahalanobis(shrinkage=0.1).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([   0., 1343.])
    """

    name = "mahalanobis"

    needs_labels = True

    def __init__(
        self,
        shrinkage: float | Literal["auto"] = "auto",
        features: Function | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.features = features

    def learn(self, response, y, sample_weight, X_ood):
        if self.shrinkage != "auto":
            check_number(self.shrinkage, "shrinkage", high=1)
        self._inputs_ = Inputs(self.features)
        features = self._inputs_.fit(response)
        if not self._inputs_.is_directed:
            features = self._inputs_.scale(features, sample_weight)
        self._learn_means(features, y, sample_weight)

    def _learn_means(self, features, y, sample_weight):
        found = fit_means(features, y, sample_weight, self.shrinkage)
        self.means_, self.covariance_, self.whitener_, self.shrinkage_ = found

    def compute(self, response):
        features, n_missing = self._inputs_.transform(response)
        return self._distances(features) + n_missing

    def _distances(self, features):
        return nearest_mean(features, self.means_, self.whitener_)


def fit_means(features, y, weight, shrinkage):
    """Return label means, the shrunk covariance about them, and how far it is drawn.

    Before the last comes a factor A of the inverse of the covariance, A A'.
    """
    weight = np.ones(len(features)) if weight is None else weight
    _, codes = np.unique(y, return_inverse=True)
    members = sparse.csr_matrix((weight, (codes, np.arange(len(codes)))))
    means = members @ features / np.bincount(codes, weights=weight)[:, np.newaxis]
    # Their second moment is the weighted one.
    residuals = (features - means[codes]) * np.sqrt(weight / weight.mean())[:, None]
    if shrinkage == "auto":
        covariance, shrinkage = ledoit_wolf(residuals, assume_centered=True)
    else:
        covariance = residuals.T @ residuals / len(residuals)
        covariance = shrunk_covariance(covariance, shrinkage=shrinkage)
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= values[-1] * len(values) * np.finfo(float).eps:
        raise ValueError(
            f"The covariance of the features is singular: eigenvalues {values[0]:g} to "
            f"{values[-1]:g}. Increase shrinkage, remove features that are constant "
            "within each class, or pass more samples."
        )
    return means, covariance, vectors / np.sqrt(values), shrinkage


def nearest_mean(features, means, whitener):
    """Return the least squared distance of whitened features to the means."""
    # Any point between the means will do: what is short is rounded less.
    center = means.mean(axis=0)
    features = row_products(features - center, whitener)
    means = row_products(means - center, whitener)
    # cdist sums up each pair by itself, column by column.
    return cdist(features, means, "sqeuclidean").min(axis=1)


class RelativeMahalanobis(Mahalanobis):
    """Mahalanobis distance to the nearest class minus that to all (Ren et al., 2021).

    The least of :class:`Mahalanobis` less (f - m)' S^-1 (f - m), where m is the mean of
    all training features and S their covariance about it, shrunk by the same share.
    What is unusual about a sample for any class, as it is in most directions of many
    features, cancels out. Without unit, higher = more novel; negative where a class
    explains the features better than all of them together.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        How far each covariance is drawn to a multiple of the identity, in [0, 1].
        "auto" takes the share of Ledoit and Wolf (2004) for the one about the class
        means: shares of their own would leave what is to cancel out.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class among the labels.

    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk covariance about these means.

    shrinkage_ : float
        How far both covariances are drawn.

    whitener_ : ndarray of shape (n_features, n_features)
        Factor A of its inverse, A A'.

    background_mean_, background_covariance_, background_whitener_ : ndarray
        The same of all classes as one, with the mean of shape (1, n_features).

    Raises
    ------
    ValueError
        If `shrinkage` is invalid, if a covariance is singular, or if the features are
        sparse or not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import RelativeMahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = RelativeMahalanobis(shrinkage=0.1).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]) > 0
    array([False,  True])
    """

    name = "relative_mahalanobis"

    def _learn_means(self, features, y, sample_weight):
        super()._learn_means(features, y, sample_weight)
        found = fit_means(features, np.zeros(len(y)), sample_weight, self.shrinkage_)
        self.background_mean_, self.background_covariance_, *rest = found
        self.background_whitener_, _ = rest

    def _distances(self, features):
        background = self.background_mean_, self.background_whitener_
        return super()._distances(features) - nearest_mean(features, *background)


class OutlierDetector(InputScore):
    """Anomaly score of an outlier detector.

    Minus the `score_samples` of a detector or density of scikit-learn, such as
    IsolationForest, OneClassSVM, LocalOutlierFactor or KernelDensity. A detector
    without `score_samples` is one of PyOD if it has `decision_scores_` once it is
    fitted; its `decision_function` is higher for abnormal samples and taken as it is.
    In units of the detector, higher = more novel.

    Parameters
    ----------
    detector : outlier detector, default=None
        It is cloned and fitted on the ID samples. None takes an IsolationForest (Liu et
        al., 2008). LocalOutlierFactor needs ``novelty=True``.

    on : {"features", "input"}, default="features"
        What the detector sees: the features of the classifier, or the samples as they
        are.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``, for ``on="features"``. None takes
        the last hidden layer of an MLPClassifier, and the inputs of any other
        classifier.

    random_state : int, RandomState instance or None, default=None
        Source of randomness of the default detector.

    Attributes
    ----------
    detector_ : outlier detector
        The fitted detector.

    Raises
    ------
    ValueError
        If `on` is invalid, if the detector cannot score new samples, or if it does not
        take `sample_weight` where it is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from sklearn_reject.scores import OutlierDetector
    >>> X, y = load_iris(return_X_y=True)
    >>> score = OutlierDetector(LocalOutlierFactor(novelty=True))
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([ 1., 11.])
    """

    name = "outlier_detector"

    def __init__(
        self,
        detector: Estimator | None = None,
        on: Literal["features", "input"] = "features",
        features: Function | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.on = on
        self.features = features
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.on, "on", ("features", "input"))
        if self.on == "input" and self.features is not None:
            raise ValueError("on='input' does not use features. Use on='features'.")
        if self.detector is not None and not hasattr(self.detector, "fit"):
            raise ValueError(
                "detector must be an outlier detector with `fit` and `score_samples`, "
                f"got {self.detector!r}."
            )
        default = IsolationForest(random_state=self.random_state)
        detector = clone(default if self.detector is None else self.detector)
        self._inputs_ = Inputs(self.features, learner=detector)
        samples = response.X if self.on == "input" else self._inputs_.fit(response)
        options = weight_for(detector, sample_weight, "detector")
        # The labels are passed for the sake of a frozen detector.
        self.detector_ = detector.fit(samples, None, **options)
        scores = "score_samples", "decision_scores_"
        if not any(hasattr(self.detector_, name) for name in scores):
            raise ValueError(
                f"detector={detector!r} scores no new samples. Use one that has PyOD's "
                "`decision_scores_` or `score_samples`, as LocalOutlierFactor has with "
                "novelty=True, or a callable as novelty_score."
            )

    def check(self, estimator: Estimator, X: MatrixLike) -> None:
        if self.on == "features":
            super().check(estimator, X)

    def compute(self, response):
        is_input = self.on == "input"
        samples = response.X if is_input else self._inputs_.complete(response)
        if hasattr(self.detector_, "score_samples"):
            return -self.detector_.score_samples(samples)
        return self.detector_.decision_function(samples)


# Half of the digits of a risk are lost beside it many times over.
_LARGEST_RATIO = 1e100


class LikelihoodRatio(InputScore):
    """Likelihood ratio of OOD to ID, from a classifier that separates the two.

    The ideal novelty g(x) = p_O(x) / p_I(x) (FPP23, theorem 2), estimated by P(O given
    x) / P(I given x) n_I / n_O. At least 0, higher = more novel; infinite where the
    classifier is certain that a sample is OOD. It knows OOD samples of the kind that it
    was fitted on, and only as far as the features tell them from ID samples. Each OOD
    sample weighs one; ratios above 1e100 count as infinite.

    Parameters
    ----------
    classifier : classifier, default=None
        Binary classifier with `predict_proba`; it is cloned. None takes a
        HistGradientBoostingClassifier.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    random_state : int, RandomState instance or None, default=None
        Source of randomness of the default classifier.

    Attributes
    ----------
    classifier_ : classifier
        Fitted on labels 0 for ID and 1 for OOD.

    odds_ : float
        The n_I / n_O of the samples that it was fitted on.

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, or does not take `sample_weight`
        where it is given, or if no numbers can be made of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import LikelihoodRatio
    >>> rng = np.random.default_rng(0)
    >>> X, X_ood = rng.normal(0, 1, (4000, 1)), rng.normal(1, 1, (1000, 1))
    >>> y = X[:, 0] > 0
    >>> score = LikelihoodRatio(LogisticRegression())
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y), X_ood=X_ood)
    >>> score.novelty([[-1.0], [0.5], [2.0]]).round(1)
    array([0.2, 1. , 4.8])
    """

    name = "likelihood_ratio"

    needs_ood = True

    def __init__(
        self,
        classifier: Estimator | None = None,
        features: Function | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.classifier = classifier
        self.features = features
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_classifier(self.classifier, "CalibratedClassifierCV adds it.")
        default = HistGradientBoostingClassifier(random_state=self.random_state)
        classifier = clone(default if self.classifier is None else self.classifier)
        self._inputs_ = Inputs(self.features, learner=classifier)
        inside = self._inputs_.fit(response)
        outside = self._inputs_.complete(Response(response.estimator, X_ood))
        if sample_weight is not None:
            # Of mean one, they leave the balance of the two as it is.
            weights = sample_weight / sample_weight.mean()
            sample_weight = np.append(weights, np.ones(outside.shape[0]))
        options = weight_for(classifier, sample_weight, "classifier")
        is_ood = np.repeat([0, 1], [inside.shape[0], outside.shape[0]])
        stack = sparse.vstack if sparse.issparse(inside) else np.vstack
        samples = stack([inside, outside])
        self.classifier_ = classifier.fit(samples, is_ood, **options)
        self.odds_ = inside.shape[0] / outside.shape[0]

    def compute(self, response):
        features = self._inputs_.complete(response)
        probabilities = self.classifier_.predict_proba(features)
        inside, outside = np.asarray(probabilities, dtype=np.float64).T
        with np.errstate(divide="ignore", over="ignore"):
            ratio = outside / inside * self.odds_
        # Beyond what can be added to a risk, it is as good as infinite.
        return np.where(ratio > _LARGEST_RATIO, np.inf, ratio)
