"""How classifiers that defer decide, whom they ask, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator

from sklearn_reject._curves._deferral import deferral_area_score
from sklearn_reject._estimators._base import (
    check_class_labels,
    check_keys,
    draw_rows,
    read_sampled,
    read_samples,
)
from sklearn_reject._estimators._groups import labels_of
from sklearn_reject._estimators._report import report_deferral
from sklearn_reject._fitting._experts import (
    Answers,
    ask,
    asks_person,
    consult,
    read_labels,
)
from sklearn_reject._labels import mark_rejected, merge_labels
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _num_samples, available_if, take_rows
from sklearn_reject._typing import MatrixLike
from sklearn_reject._validation import index_labels
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import losses_where_known
from sklearn_reject.scores import evaluate_score
from sklearn_reject.selection import Report, targets_by_group


class DeferralDecisions(NamedTuple):
    """What a deferring classifier says about samples, all of it.

    The arrays have one entry per sample, so that
    ``pandas.DataFrame(decisions._asdict())`` is a table of them.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The label of each sample, by whoever answers; `defer_label_` where that is a
        person.

    gain : ndarray of shape (n_samples,)
        Score of what asking gains, higher = deferred first.

    deferred : ndarray of shape (n_samples,), dtype bool
        Whether the expert is asked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import SVC
    >>> from sklearn_reject import DeferralDecisions, DeferringClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DeferringClassifier(GaussianNB(), SVC(), max_deferral=0.1).fit(X, y)
    >>> decisions = model.predict_all(X[[0, 77]])
    >>> isinstance(decisions, DeferralDecisions)
    True
    """

    label: np.ndarray
    gain: np.ndarray
    deferred: np.ndarray


def _both_have_probabilities(self):
    """Tell `available_if` whether classifier and expert have `predict_proba`."""
    parts = ("estimator_", self.estimator), ("expert_", self.expert)
    found = (getattr(self, name, given) for name, given in parts)
    return all(part is None or part.predict_proba for part in found)


class DeferMixin:
    """What classifiers with a `rule_` of deferral decide, and whom they ask.

    They fit `estimator_`, `expert_`, `gain_score_`, `rule_`, `group_by_`, `loss_`,
    `classes_`, `defer_label_` and `seed_`.
    """

    _score_name, _share_name, _verb = "gain_score_", "deferral_rate", "defers"

    def predict(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Predict labels; the expert predicts those of deferred samples.

        The expert is asked once, about the deferred samples and no others, and not at
        all where there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`defer`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels, `defer_label_` for samples that a person has to answer, in a dtype
            that holds all of them.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about, and
            all other labels.
        """
        return self.predict_all(X, keys).label

    def predict_first(self, X: MatrixLike) -> np.ndarray:
        """Predict labels of all samples with the first classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        self._require_fit()
        return Response(self.estimator_, X).labels

    def predict_all(
        self, X: MatrixLike, keys: ArrayLike | None = None
    ) -> DeferralDecisions:
        """Return predictions, the gain of asking, and which samples are deferred.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`defer`.

        Returns
        -------
        decisions : DeferralDecisions
            A named tuple of `label`, `gain` and `deferred`, arrays with one
            entry per sample.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about, and
            all other labels.
        """
        labels, gain, deferred = self._decide(X, keys)
        answers = self._answer(X, labels, deferred)
        labels, marks = answers.labels, self.defer_label_
        if marks is not None and asks_person(self.expert_):
            labels = mark_rejected(labels, ~answers.is_open, marks)
        return DeferralDecisions(labels, gain, deferred)

    @available_if(_both_have_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return class probabilities by whoever answers.

        Those of a sample that a person has to answer are those of the last classifier
        before.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`, zero for classes that whoever answers
            does not know.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about.
        """
        self._require_fit()
        response = Response(self.estimator_, X)
        # The probabilities come first: labels may follow from them without a pass.
        probabilities = self._align(response.probabilities, self.estimator_)
        rows = np.flatnonzero(self._decide(X, response=response)[2])
        if self.expert_ is not None and len(rows):
            asked = ask(self.expert_, _take(X, rows), rows, "probabilities")
            probabilities[rows] = self._align(asked, self.expert_)
        return probabilities

    def defer(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Return which samples the expert would be asked about, without asking it.

        A sample at the threshold is deferred or not by a draw that depends on the
        fitted `seed_` and on the sample alone: the answer is the same in every call,
        whatever the other samples are.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            An integer or text for each sample, such as its identifier, that the draw
            depends on instead of the values in X: samples of equal values then have
            independent draws, at this level of a cascade. Not where the rule has a
            certificate.

        Returns
        -------
        deferred : ndarray of shape (n_samples,), dtype bool
            Whether the expert is to be asked.
        """
        return self._decide(X, keys)[2]

    def defer_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probability that each sample is deferred.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            0 or 1 except for samples at the threshold; over the seeds of `fit`, or over
            samples of different `keys`.
        """
        labels, gain = self._evaluate(X)
        return self._probability(X, labels, gain)

    def gain(self, X: MatrixLike) -> np.ndarray:
        """Return the gain of asking the expert, or a score that ranks samples by it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        gain : ndarray of shape (n_samples,)
            Higher = deferred first. In units of the loss where `gain_score_` is a
            learned gain.
        """
        return self._evaluate(X)[1]

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        expert_labels: ArrayLike | None = None,
    ) -> float:
        """Return the negative area under the deferral curve.

        It tells how well the gain orders the samples, and how good both opinions are,
        whatever the threshold. The expert is asked about all samples, unless labels
        stand for its answers.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person, or a frozen expert, says about each sample, as in
            :meth:`fit`. Samples where it is missing are left out.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        given = {"sample_weight": sample_weight, "expert_labels": expert_labels}
        X, y = read_samples(X, y, given, check_class_labels)
        first, second, gain = self._opinions(X, expert_labels)
        second = losses_where_known(self.loss_, y, second, "expert_labels")
        losses = self.loss_(y, first), second
        return -deferral_area_score(gain, *losses, sample_weight=sample_weight)

    def report(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        expert_labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        inclusion_proba: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> Report:
        """Compare what was asked for with what new samples show.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples that `fit` has not seen.

        y : array-like of shape (n_samples,)
            True labels.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person says about each sample; only those of samples that reach the
            person are used. Some may be missing: intervals then allow them any loss.
            Without any, the report has the shares and the risks of those who have
            answered, and no verdict on what depends on the person.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, with which all intervals are approximate.

        inclusion_proba : float or array-like of shape (n_samples,), default=None
            Chance, in (0, 1], of each sample to be labelled. y is NaN or None where it
            was not, and those with a label stand for the others of their kind.

        groups : array-like of shape (n_samples,), default=None
            Clusters, such as patients, of which intervals take account.

        confidence_level : float in (0, 1), default=0.95
            Probability of each interval by itself, over the draw of the samples, which
            are drawn one by one.

        Returns
        -------
        report : Report
            Prints as a table: each promise with what was achieved on the samples that
            solved the rule and on these, and, for all samples and for each level of a
            cascade, the share that is answered there, the risk of these answers and
            what asking has cost. Its `to_dict` has the same as dictionaries.

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        given = {"inclusion_proba": inclusion_proba, "groups": groups}
        given |= {"expert_labels": expert_labels, "sample_weight": sample_weight}
        samples, given = read_sampled(self, X, y, given, check_class_labels)
        fitted, labels = self._as_fitted(), given["expert_labels"]
        if labels is not None:
            known = len(samples.y), self.classes_, self.expert_
            labels = read_labels(labels, *known)
        options = labels, samples.sample_weight, confidence_level, samples.clusters
        return report_deferral(fitted, samples.X, samples.y, *options)

    def _evaluate(self, X, response=None):
        """Return labels of the first classifier, and gains, of one pass."""
        self._require_fit()
        response = Response(self.estimator_, X) if response is None else response
        return evaluate_score(self.gain_score_, response, "gain_score")

    def _probability(self, X, labels, gain):
        """Return how likely samples of these first labels and gains are deferred."""
        if self.group_by_ is not None:
            return self.rule_.defer_proba(gain, labels_of(self.group_by_, X, labels))
        return self.rule_.defer_proba(gain)

    def _decide(self, X, keys=None, response=None):
        """Return first labels, gains, and which samples are deferred."""
        self._require_fit()
        keys = check_keys(X, keys, self.rule_)
        labels, gain = self._evaluate(X, response)
        probability = self._probability(X, labels, gain)
        deferred = draw_rows(probability, self._fitted_columns(X), keys, self.seed_)
        return labels, gain, deferred

    def _answer_all(self, X):
        """Return :class:`Answers`, for what asks this classifier."""
        labels, _, deferred = self._decide(X)
        return self._answer(X, labels, deferred)

    def _answer(self, X, labels, deferred):
        """Return :class:`Answers`: those of the expert where samples are deferred."""
        if labels.dtype.kind == self.classes_.dtype.kind:
            labels = labels.astype(np.result_type(labels, self.classes_), copy=False)
        levels, costs = deferred.astype(np.intp), self._costs(X, labels, deferred)
        rows = np.flatnonzero(deferred)
        if self.expert_ is None or not len(rows):
            return Answers(labels, levels, costs, deferred & (self.expert_ is None))
        try:
            found = ask(self.expert_, _take(X, rows), rows)
        except ExpertError as error:
            if error.labels is not None:  # of a cascade, whose others have answered
                labels = merge_labels(labels, rows, error.labels)
            if self.defer_label_ is not None:
                has_label = ~np.isin(np.arange(len(labels)), error.rows)
                labels = mark_rejected(labels, has_label, self.defer_label_)
            raise ExpertError(str(error), error.rows, labels) from error.__cause__
        is_open = np.zeros(len(labels), dtype=bool)
        levels[rows] += found.levels
        costs[rows, 1:], is_open[rows] = found.costs, found.is_open
        return Answers(merge_labels(labels, rows, found.labels), levels, costs, is_open)

    def _costs(self, X, labels, deferred):
        """Return what asking costs, at this level; those below come in more columns."""
        costs = np.zeros((len(labels), len(self._names) - 1))
        cost = self._asked["deferral_cost"]
        if isinstance(cost, Mapping):
            known = targets_by_group(cost, tuple(self.rule_.rules), "deferral_cost")
            groups = labels_of(self.group_by_, X, labels)
            # Of groups that are not known, all samples are deferred, at no known cost.
            cost = np.array([known.get(group, np.nan) for group in groups])[deferred]
        costs[deferred, 0] = 0.0 if cost is None else cost
        return costs

    @property
    def _names(self):
        """The name of whoever answers, at each level."""
        last = "person" if self.expert_ is None else _name(self.expert_)
        return [_name(self.estimator_), *getattr(self.expert_, "_names", [last])]

    def _opinions(self, X, expert_labels=None):
        """Return labels of both for all samples, and the gain of asking."""
        labels, gain = self._evaluate(X)
        if expert_labels is not None:
            given = len(gain), self.classes_, self._asked["expert"]
            expert_labels = read_labels(expert_labels, *given, of_person=False)
        rows = np.arange(len(gain))
        return labels, consult(self.expert_, X, rows, expert_labels)[0], gain

    def _align(self, probabilities, estimator):
        """Return probabilities in columns of `classes_`."""
        places, unknown = index_labels(np.asarray(estimator.classes_), self.classes_)
        aligned = np.zeros((len(probabilities), len(self.classes_)))
        aligned[:, places[~unknown]] = np.asarray(probabilities)[:, ~unknown]
        return aligned


def _take(X, rows):
    """Return some rows of samples, without a copy where these are all."""
    return X if len(rows) == _num_samples(X) else take_rows(X, rows)


def _name(estimator):
    """Return the name of what is inside pipelines."""
    while isinstance(estimator, FrozenEstimator) or hasattr(estimator, "steps"):
        is_frozen = isinstance(estimator, FrozenEstimator)
        estimator = estimator.estimator if is_frozen else estimator.steps[-1][1]
    return getattr(estimator, "__name__", type(estimator).__name__)
