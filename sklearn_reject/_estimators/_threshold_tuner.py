"""The estimator that chooses the thresholds of several classifiers together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Bunch, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import validate_data

from sklearn_reject._curves._ood import pn_auc_score
from sklearn_reject._estimators._base import FittedMixin
from sklearn_reject._estimators._joint import (
    JointEvaluation,
    JointScores,
    find_folds,
    plan_jointly,
)
from sklearn_reject._fitting._folds import Samples
from sklearn_reject._fitting._out_of_sample import evaluate_out_of_sample
from sklearn_reject._fitting._routing import route_of_fit, route_params
from sklearn_reject._fitting._splits import splits_by_groups
from sklearn_reject._labels import rate, split_ratings
from sklearn_reject._sklearn import (
    CallbackSupportMixin,
    _BaseComposition,
    _routing_enabled,
    visual_block,
    with_callbacks,
)
from sklearn_reject._typing import CV, Label, MatrixLike, Other, RandomState
from sklearn_reject._validation import check_same_length, require_in_memory, take_weight
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds import (
    TARGETS,
    CrossValidatedPoint,
    OperatingPoint,
    RatedDocuments,
    ThresholdPath,
    Tuning,
    check_documents,
    check_inclusion_proba,
    resolve_target,
    warn_if_selected,
)


class EnsembleThresholdTuner(
    ClassifierMixin,
    FittedMixin,
    CallbackSupportMixin,
    MetaEstimatorMixin,
    _BaseComposition,
):
    """Binary classifier that applies joint thresholds to several classifiers.

    It is for rare events, where people rate only the documents that some classifiers
    predict positive. A document is predicted positive if any of the classifiers is sure
    enough, or if all are. The thresholds are chosen jointly, so that one more false
    positive would bring at most a given number of true positives (RZMR20). Only counts
    of rated documents are used, never rates.

    Read more in the :ref:`user guide <joint_thresholds>`.

    Parameters
    ----------
    estimators : list of tuple or None
        (name, classifier), or (name, classifier, columns) for a classifier that sees
        part of the columns of X, as :class:`~sklearn.compose.ColumnTransformer` takes
        them. A :class:`~sklearn.frozen.FrozenEstimator` is not fitted again. An outlier
        detector or density with `score_samples`, whose high values mean normal, is
        fitted on all documents, rated or not, and its score is the negative value.
        (name, "passthrough", column) uses a column of X as logged scores, NaN where a
        detector did not run. None if X is the matrix of such scores: one column per
        classifier, higher = more likely positive.

    max_fp_per_tp : float > 0, default=None
        Number of false positives that you accept for one more true positive, 1 / d: the
        operating point maximizes TP - FP * d, where d = dTP/dFP is the slope of the
        curve. The precision of the last documents that are predicted positive is then
        d / (1 + d). Exactly one of this and the next four must be given.

    max_alerts : int >= 1, default=None
        The most true positives with at most this number of documents predicted
        positive, of all documents given, rated or not.

    min_recall : float in (0, 1], default=None
        The fewest false positives with at least this share of all positives found.
        Needs ratings of all documents, or of a sample of them, see `inclusion_proba`.

    min_precision : float in (0, 1], default=None
        The most true positives with at least this precision, TP / (TP + FP) of the
        rated documents.

    objective : {"f1"}, default=None
        The best F1 of the rated documents.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any score reaches its threshold (union), or
        if all do (intersection).

    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Method that gives the scores of classifiers. "auto" is the first of the two that
        a classifier has.

    confidence_level : float in (0, 1), default=0.95
        Confidence of the intervals of counts and precision at the operating point.

    method : {"graph", "analytic", "direct"}, default="graph"
        How the operating point is found. "graph" takes it from the path through a grid
        of thresholds that has the largest area under TP against FP, "analytic" from the
        best of the smooth paths (x, x^p_2, .., x^p_N) of normalized thresholds.
        "direct" takes the best of all combinations of thresholds up to a million, and a
        local optimum beyond, never worse than the path of "graph". "graph" does so for
        `max_alerts`, too, for which a path may be far from the best.

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid of "graph".

    cv : int, float, splitter, iterable, "prefit" or None, default=None
        Selects the scores that tune the thresholds. An int or a splitter pools
        out-of-fold scores, and fits the classifiers on all rated documents afterwards.
        A float holds that share of the documents out, and the classifiers are fitted on
        the rest. None is five folds. If nothing is to be fitted, scores are used as
        they are, and only the thresholds are cross-validated: with None in five folds,
        and with "prefit" not at all.

    n_jobs : int, default=None
        Number of folds in parallel.

    random_state : int, RandomState instance or None, default=None
        Seed of the held-out share.

    unrated_label : label, default=-1
        Label of documents in y that were not rated. Missing values always mean not
        rated; None if no other label does.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise; a warning says if that is a string and the more
        frequent class.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classifiers,)
        Joint thresholds of the operating point, one per classifier. Infinity if a
        classifier is not used.

    operating_point_ : OperatingPoint
        Counts, precision and their intervals on the scores that tuned the thresholds.

    cross_validated_point_ : CrossValidatedPoint or None
        Counts and precision on documents that did not tune their thresholds, from the
        training part of the split (earlier documents, if splits follow time). None
        without folds, and where these leave no rated documents of a class to tune or to
        judge thresholds on.

    path_ : ThresholdPath
        Path through the space of thresholds, on which the operating point lies: the one
        of the largest area, led through the point.

    documents_ : RatedDocuments
        What tuned the thresholds, and what :meth:`retarget` tunes again: `scores` of
        shape (n_rated, n_classifiers), `is_positive` and `weight` or None, of the rated
        documents that the lowest thresholds reach. Some 16 (n_classifiers + 1) bytes
        for each document, rated or not, and 2 for each fold and document.
        ``cv="prefit"`` does without folds.

    area_ : float
        Area under TP against FP along the path, in units of both. Higher is better.

    base_thresholds_ : ndarray of shape (n_classifiers,)
        The lowest thresholds: below, ratings are incomplete.

    classes_ : ndarray of shape (2,)
        The two classes, sorted.

    pos_label_ : label
        The positive one.

    estimators_ : list of estimator
        The fitted classifiers and detectors, and "passthrough" where scores are a
        column of X. Empty where there are none.

    n_features_in_ : int
        Number of features of X.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if they all are strings.

    See Also
    --------
    sklearn_reject.thresholds.optimal_path : The path, from arrays of scores.
    sklearn_reject.thresholds.operating_point : The operating point, from arrays.
    sklearn_reject.metrics.PNCurveDisplay : Picture of both.
    sklearn.model_selection.TunedThresholdClassifierCV : One threshold, on a grid.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> X, y = make_classification(
    ...     4000, n_informative=6, weights=[0.97], flip_y=0.005, random_state=0
    ... )
    >>> tuner = EnsembleThresholdTuner(
    ...     [
    ...         ("even", LogisticRegression(), slice(0, 20, 2)),
    ...         ("odd", LogisticRegression(), slice(1, 20, 2)),
    ...     ],
    ...     max_fp_per_tp=2,
    ... )
    >>> tuner = tuner.fit(X, y)
    >>> tuner.thresholds_.round(1)
    array([0.3, 0.4])
    >>> point = tuner.operating_point_
    >>> print(f"{point.tp:.0f} true, {point.fp:.0f} false positives")
    45 true, 24 false positives
    >>> judged = tuner.cross_validated_point_
    >>> print(f"precision {point.precision:.2f}, of folds {judged.precision:.2f}")
    precision 0.65, of folds 0.56
    """

    thresholds_: np.ndarray
    operating_point_: OperatingPoint
    cross_validated_point_: CrossValidatedPoint | Other
    path_: ThresholdPath
    documents_: RatedDocuments
    area_: float
    base_thresholds_: np.ndarray
    classes_: np.ndarray
    pos_label_: Any
    estimators_: list[Any]
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(
        self,
        estimators: Sequence[tuple[Any, ...]] | None,
        *,
        max_fp_per_tp: float | None = None,
        max_alerts: int | None = None,
        min_recall: float | None = None,
        min_precision: float | None = None,
        objective: Literal["f1"] | None = None,
        rule: Literal["any", "all"] = "any",
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        confidence_level: float = 0.95,
        method: Literal["graph", "analytic", "direct"] = "graph",
        n_thresholds: int = 100,
        cv: CV | Literal["prefit"] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
        unrated_label: Label = -1,
        pos_label: Label = None,
    ) -> None:
        self.estimators = estimators
        self.max_fp_per_tp = max_fp_per_tp
        self.max_alerts = max_alerts
        self.min_recall = min_recall
        self.min_precision = min_precision
        self.objective = objective
        self.rule = rule
        self.response_method = response_method
        self.confidence_level = confidence_level
        self.method = method
        self.n_thresholds = n_thresholds
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.unrated_label = unrated_label
        self.pos_label = pos_label

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        inclusion_proba: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the classifiers on rated documents, and tune their joint thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents, or scores where `estimators` is None. Unrated documents train no
            classifier, and tell from where on ratings are complete.

        y : array-like of shape (n_documents,)
            Two classes, and `unrated_label` or missing values for documents that were
            not rated.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the calibration samples, except the items of a set,
            which are counted.

        inclusion_proba : float or array-like of shape (n_documents,), default=None
            Probability in (0, 1] of each document to be rated, if it was drawn at
            random, and NaN otherwise. Rated documents have the inverse as weight, times
            `sample_weight`, and represent unrated ones with the same probability. Only
            unrated documents without one mean that ratings are incomplete. It weighs
            what tunes the thresholds, and reaches no classifier.

        **params : dict
            Parameters for the `fit` of the classifiers, indexed by document where they
            are as long as X. With metadata routing, parameters, and weights among them,
            go where they are requested.

        Returns
        -------
        self : object
            The tuned classifier.

        Raises
        ------
        ValueError
            If a parameter is invalid, a classifier has no scores or other classes than
            the rated documents, scores are not finite or constant, or a class has no
            rated documents.

        InfeasibleTargetError
            If the target is not attained. Its `attainable` has what can be.
        """
        joint = JointScores(self.estimators, response_method=self.response_method)
        joint.check()
        self._validate_names([entry.name for entry in joint.entries])
        check_random_state(self.random_state)
        tuning = Tuning(
            self._find_target(), self.method, self.n_thresholds, self.confidence_level
        )
        unused = {name for name, each in params.items() if each is not None}
        unused -= {"groups"} if splits_by_groups(self.cv) else set()
        learns = any(entry.learns_ratings for entry in joint.entries)
        if unused and not (learns or _routing_enabled()):
            raise TypeError(
                f"fit got {sorted(unused)}, but there is no classifier to fit, nor a "
                "splitter such as GroupKFold for groups. Omit them."
            )
        params["sample_weight"] = sample_weight
        read = {"X": X, "y": y, "inclusion_proba": inclusion_proba, **params}
        require_in_memory(may_be_masked=("y",), **read)
        X, y = indexable(np.asarray(X) if isinstance(X, list) else X, y)
        ratings, joint.classes = self._rate(y)
        weight, *given = route_params(self, len(ratings), params, joint)
        _check_weighted_classes(ratings, weight)
        if inclusion_proba is not None:
            inclusion_proba = check_inclusion_proba(inclusion_proba, ratings)

        # The scores of documents that trained no classifier.
        samples = Samples(X, ratings, None, *given)
        plan, splits = plan_jointly(self, joint, samples)
        evaluated = evaluate_out_of_sample(
            self, joint, JointEvaluation(), samples, plan
        )
        rows = np.arange(len(ratings))[evaluated.rows]
        order = np.argsort(rows)
        rows = rows[order]
        weights = {
            "sample_weight": take_weight(weight, rows),
            "inclusion_proba": take_weight(inclusion_proba, rows),
        }
        documents = check_documents(
            evaluated.scores[order], ratings[rows], self.rule, names=rows, **weights
        )
        warn_if_selected(documents)

        # The thresholds, tuned on all of them and again without each fold.
        folds, path = find_folds(documents, splits, rows), tuning.find_path(documents)
        tuned = self._tune(tuning, documents, path, folds)

        # A fit that fails has changed nothing.
        validate_data(self, X, skip_check_array=True)
        self._fitted = evaluated.estimator
        self.estimators_ = self._fitted.estimators_
        self.classes_, self.pos_label_ = np.sort(joint.classes), joint.classes[1]
        self.base_thresholds_ = tuned["path_"].thresholds[0]
        self.documents_, self._tuning, self._folds = documents, tuning, folds
        self._free_path = path
        vars(self).update(tuned)
        self._keep_params()
        return self

    def retarget(self, **target: Any) -> Self:
        """Return a copy with another operating point, without another fit.

        The point is the one that `fit` would find for this target, on the same scores
        and folds, with its counts, intervals and cross-validation. Classifiers and
        scores are shared with this estimator, which stays as it is.

        Parameters
        ----------
        **target : dict
            One of `max_fp_per_tp`, `max_alerts`, `min_recall`, `min_precision` and
            `objective`; the others become None.

        Returns
        -------
        copy : EnsembleThresholdTuner
            The copy, whose parameters say the new target.

        Raises
        ------
        InfeasibleTargetError
            If the target is not attained. Its `attainable` has what can be.
        ValueError
            If not exactly one of the five is given, or it is out of range.
        TypeError
            If another parameter is given.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn_reject import EnsembleThresholdTuner
        >>> scores, y = make_classification(
        ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
        ... )
        >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1).fit(scores, y)
        >>> for price in (0.5, 1, 2):
        ...     point = tuner.retarget(max_fp_per_tp=price).operating_point_
        ...     print(f"{point.tp:.0f} true, {point.fp:.0f} false positives")
        75 true, 13 false positives
        86 true, 22 false positives
        101 true, 49 false positives
        """
        twin = self._copy_fitted(dict.fromkeys(TARGETS) | target, TARGETS)
        tuning = replace(self._tuning, target=twin._find_target())
        documents, path = self.documents_, self._free_path
        vars(twin).update(self._tune(tuning, documents, path, self._folds))
        return twin

    def joint_scores(self, X: MatrixLike) -> np.ndarray:
        """Return the scores that the thresholds apply to.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classifiers)
            Higher = more likely positive, one column per classifier.
        """
        self._require_fit(X)
        scores = self._fitted.scores(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict which documents are positive.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        labels : ndarray of shape (n_documents,)
            The positive class where any score reaches its threshold, or all do.
        """
        scores = self.joint_scores(X)
        is_predicted = self.operating_point_.predict(scores)
        return self._fitted.classes[is_predicted.astype(np.intp)]

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Return one score per document: the position on the path where it enters.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        values : ndarray of shape (n_documents,)
            In (-1, 1), as a share of the path: positive where the document is predicted
            to be of the last of `classes_`.
        """
        scores = self.joint_scores(X)
        # Half a step apart from the operating point, zero is never taken.
        steps = self.path_.locate(scores) - self._vertex + 0.5
        is_last = self.pos_label_ == self.classes_[1]
        return (steps if is_last else -steps) / len(self.path_)

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the area under the PN curve of the rated documents.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        y : array-like of shape (n_documents,)
            Labels. Unrated documents do not count.

        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document.

        Returns
        -------
        score : float
            In [0, 1], higher is better: the share of pairs of a rated positive and a
            rated negative that `decision_function` ranks correctly, ties counted one
            half. It does not depend on the operating point, so that no search can win
            by predicting nothing.

        Raises
        ------
        ValueError
            If y has other classes than that of `fit`, or only one of them.
        """
        require_in_memory(X=X, y=y, sample_weight=sample_weight, may_be_masked=("y",))
        scores = self.joint_scores(X)
        values = self.path_.locate(scores)
        check_same_length(len(values), y=y)
        asked = {"pos_label": self.pos_label_, "sample_weight": sample_weight}
        ratings = rate(y, unrated_label=self._asked["unrated_label"], **asked)
        if ratings.classes.tolist() != self._fitted.classes.tolist():
            raise ValueError(
                f"y has rated documents of the classes {ratings.classes.tolist()}, but "
                f"the classes in `fit` were {self._fitted.classes.tolist()}."
            )
        options = {"sample_weight": ratings.weight, "normalize": True}
        return pn_auc_score(values[ratings.rows], ratings.is_positive, **options)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including those of the named classifiers.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the classifiers and their parameters.

        Returns
        -------
        params : dict
            Values by name; `name__parameter` for those of a classifier.
        """
        return self._get_params("_named", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the named classifiers.

        Parameters
        ----------
        **params : dict
            Values by name; `name__parameter` for those of a classifier, `name` for a
            classifier itself.

        Returns
        -------
        self : object
            This estimator.
        """
        self._set_params("_named", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to `fit`, the classifiers and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        return route_of_fit(self, estimator=JointScores(self.estimators))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted classifiers by name, a Bunch."""
        pairs = zip(self._fitted.entries, self.estimators_, strict=True)
        return Bunch(**{entry.name: fitted for entry, fitted in pairs})

    @property
    def _named(self):
        """Pairs of name and classifier, as scikit-learn's compositions have them."""
        try:
            return [(entry[0], entry[1]) for entry in self.estimators]
        except (TypeError, IndexError):
            return None

    @_named.setter
    def _named(self, pairs):
        self.estimators = [
            (*pair, *entry[2:])
            for pair, entry in zip(pairs, self.estimators, strict=True)
        ]

    def __sklearn_is_fitted__(self):
        return hasattr(self, "path_")

    def _sk_visual_block_(self):
        return visual_block("parallel", self._named or [(type(self).__name__, None)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Tags are asked for before the estimators have been checked. Scores that were
        # logged may be sparse or missing.
        inner = [get_tags(e) for _, e in self._named or () if hasattr(e, "fit")]
        inputs = [each.input_tags for each in inner]
        tags.input_tags.sparse = bool(self._named) and all(x.sparse for x in inputs)
        tags.input_tags.allow_nan = all(x.allow_nan for x in inputs)
        tags.non_deterministic = any(each.non_deterministic for each in inner)
        tags.classifier_tags.multi_class = False
        return tags

    def _tune(self, tuning, documents, path, folds):
        """Return what follows from a target, by the name of its attribute."""
        thresholds = tuning.find_thresholds(documents, path)
        path, vertex = tuning.make_path(documents, path, thresholds)
        point = tuning.make_point(documents, path.thresholds[vertex])
        judged = tuning.cross_validate(documents, folds, self.n_jobs)
        found = {"operating_point_": point, "cross_validated_point_": judged}
        found |= {"thresholds_": point.thresholds, "area_": path.area}
        return found | {"path_": path, "_vertex": vertex}

    def _find_target(self):
        """Return the one target that is given."""
        return resolve_target(*(getattr(self, name) for name in TARGETS))

    def _rate(self, y):
        """Return ratings, and the negative and the positive class.

        Warn where the alphabet has made the more frequent class the positive one.
        """
        labels = {"unrated_label": self.unrated_label, "pos_label": self.pos_label}
        ratings, classes = split_ratings(y, **labels)
        is_chosen = self.pos_label is None and isinstance(classes[1], str)
        if is_chosen and np.sum(ratings == 1) > np.sum(ratings == 0):
            warn_user(
                f"pos_label=None takes {str(classes[1])!r} as the positive class, "
                f"because it comes after {str(classes[0])!r}, but it is the more "
                "frequent one. Pass one."
            )
        return ratings, classes


def _check_weighted_classes(ratings, weight):
    """Raise if weights of zero leave a class without rated documents."""
    for rating in (0, 1):
        if weight is not None and not weight[ratings == rating].any():
            raise ValueError(
                "sample_weight is zero for all rated documents of a class. Give "
                "documents of both classes a positive weight."
            )
