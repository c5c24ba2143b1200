"""What a classifier and a regressor that reject have in common: fitting the rule."""

from functools import partial

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable

from sklearn_reject._base import BaseReject
from sklearn_reject._cross_fitting import (
    check_cv_choice,
    fit_on_all,
    is_share,
    make_inner_splits,
)
from sklearn_reject._response import Response
from sklearn_reject._routed_fit import RoutedFit, refuse_weights
from sklearn_reject._score_fitting import (
    ObservedSample,
    cross_fit_uncertainty,
    learns,
    observe_and_charge,
)
from sklearn_reject._sklearn_private import (
    _check_method_params,
    _safe_indexing,
    _safe_split,
)
from sklearn_reject._validation import (
    check_number,
    take_weight,
)
from sklearn_reject.curves import aurc_score
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    chow_rule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from sklearn_reject.selection._certify import check_confidence


class BaseSelective(RoutedFit, BaseReject):
    """Base of the estimators that solve one of the three rejection models.

    A subclass has the parameters of :class:`SelectiveClassifier`, fits `loss_` and
    `uncertainty_score_` in `_resolve(y)`, and writes `_default_target`, `_check_kind`,
    `_check_y` and `_bound`.
    """

    #: All class labels, set in `_resolve`; None for a regressor.
    _classes = None

    def _fit(self, X, y, params):
        # A fit that fails leaves no rule of an earlier one behind.
        vars(self).pop("rule_", None)
        target = self._check_target()
        self._check_parameters()
        X, y = indexable(X, y)
        y = self._check_y(y)
        routed, weight = self._route(len(y), params)
        self._resolve(y)
        self._check_protocol(target, weight)
        judged = self._fit_and_judge(X, y, routed, target, weight)
        self.rule_ = self._solve(target, judged, weight)
        self._copy_feature_names()
        return self

    def score(self, X, y, sample_weight=None):
        """Return the negative area under the risk-coverage curve.

        It tells how well the uncertainty orders the losses, whatever the threshold, so
        that no search over hyper-parameters can win by rejecting everything.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        labels, uncertainty = self._predict_with_uncertainty(X)
        losses = self.loss_(y, labels)
        return -aurc_score(uncertainty, losses, sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            score = resolve_score(self.uncertainty_score, self.estimator)
        except (TypeError, ValueError):  # `fit` will say what is wrong with it
            return tags
        if not getattr(score, "takes_sparse", True):
            tags.input_tags.sparse = False
        return tags

    def _names_of_targets(self):
        names = ("reject_cost", "target_risk", "target_coverage")
        given = [name for name in names if getattr(self, name) is not None]
        return given or ["reject_cost"]

    def _check_target(self):
        """Return the name and the value of the one target."""
        given = self._names_of_targets()
        if len(given) > 1:
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in given)
            raise ValueError(
                f"At most one of reject_cost, target_risk and target_coverage may be "
                f"given, got {values}. Keep the one that matters and leave the others "
                "at None."
            )
        name = given[0]
        value = getattr(self, name)
        if value is None:
            value = self._default_target()
        is_coverage = name == "target_coverage"
        high = 1.0 if is_coverage else np.inf
        return name, check_number(value, name, high=high, open_low=is_coverage)

    def _check_parameters(self):
        self._check_inner()
        self._check_drawing()
        self._check_kind()

    def _check_protocol(self, target, weight):
        """Raise where samples would judge what they have trained."""
        check_cv_choice(self.cv, self.estimator, learns=learns(self.uncertainty_score_))
        if self.confidence is None:
            return
        check_confidence(self.confidence)
        if target[0] == "reject_cost":
            raise ValueError(
                f"confidence={self.confidence!r} needs a target_risk or a "
                "target_coverage to guarantee; a reject_cost has no bound to hold."
            )
        refuse_weights(weight)
        is_fresh = isinstance(self.estimator, FrozenEstimator) and not learns(
            self.uncertainty_score_
        )
        if not is_fresh and not is_share(self.cv):
            raise ValueError(
                f"confidence={self.confidence!r} needs samples on which neither the "
                "estimator nor the uncertainty score was fitted, and "
                f"cv={_brief(self.cv)} keeps none. Hold a share out, for example with "
                "cv=0.3, or freeze what was fitted on other samples with "
                "FrozenEstimator."
            )

    def _resolve_score(self):
        """Return the score, with the loss and a seed unless it has its own."""
        return resolve_score(
            self.uncertainty_score,
            self.estimator,
            loss=self.loss_,
            random_state=self._seed(),
        )

    def _is_chow(self, target):
        """Tell whether the score is in units of the reject cost already."""
        if isinstance(self.uncertainty_score_, FrozenEstimator):
            return False  # it may have been learned for another loss
        inherits_loss = getattr(self.uncertainty_score, "loss", None) is None
        estimates_risk = getattr(self.uncertainty_score_, "estimates_risk", False)
        return target[0] == "reject_cost" and estimates_risk and inherits_loss

    def _fit_and_judge(self, X, y, routed, target, weight):
        """Fit, and return scores, losses and rows that the rule is solved on."""
        needs_no_data = self.cv is None and self._is_chow(target)
        if learns(self.uncertainty_score_):
            return self._learn_and_judge(X, y, routed, weight)
        judge = partial(_judge, self.uncertainty_score_, self.loss_)
        # A frozen estimator is judged anyway: that tells what the rule achieves.
        is_frozen = isinstance(self.estimator, FrozenEstimator)
        judged, rows = self._fit_and_summarize(
            X, y, routed, judge, needs_data=is_frozen or not needs_no_data
        )
        if not isinstance(self.uncertainty_score_, FrozenEstimator):
            self.uncertainty_score_.fit(estimator=self.estimator_)
        return (*judged, rows) if judged else None

    def _learn_and_judge(self, X, y, routed, weight):
        """Fit estimator and score, and judge samples that the score has not seen."""
        self.uncertainty_score_.prepare(self._classes, self.loss_)
        splits, params = self._splits(X, y, routed), routed.estimator.fit
        if not is_share(self.cv):
            observed = self._observe_and_learn(X, y, splits, params, weight)
            folds = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
            uncertainty = cross_fit_uncertainty(
                self.uncertainty_score_, observed, folds, self.n_jobs
            )
            return uncertainty, observed.losses, observed.rows
        [(train, test)] = splits
        X_train, y_train = _safe_split(self.estimator, X, y, train)
        X_test, y_test = _safe_split(self.estimator, X, y, test, train)
        params = _check_method_params(X, params, indices=train)
        inner = make_inner_splits(X_train, y_train, stratify=self._stratifies)
        self._observe_and_learn(
            X_train, y_train, inner, params, take_weight(weight, train)
        )
        response = Response(self.estimator_, X_test)
        return *_judge(self.uncertainty_score_, self.loss_, response, y_test), test

    def _observe_and_learn(self, X, y, splits, params, weight):
        """Fit the estimator, and the score on what the estimator says out of fold."""
        observe = partial(observe_and_charge, self.uncertainty_score_, self.loss_)
        rows = np.concatenate([test for _, test in splits])
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_, _, _ = fit_on_all(self, X, y, [], observe, params)
            told = observe(Response(self.estimator_, X), y)
            told = tuple(values[rows] for values in told)
        else:
            self.estimator_, told, _ = fit_on_all(self, X, y, splits, observe, params)
        *told, losses = told
        observed = ObservedSample(
            _safe_indexing(X, rows), told, losses, rows, take_weight(weight, rows)
        )
        self.uncertainty_score_.learn(*observed.training())
        self.uncertainty_score_.estimator_ = self.estimator_
        return observed

    def _solve(self, target, judged, weight):
        """Solve the rule on the samples that judged the estimator."""
        name, value = target
        if judged is None:
            return chow_rule(value)
        scores, losses, rows = judged
        samples = {
            "scores": scores,
            "losses": losses,
            "sample_weight": take_weight(weight, rows),
        }
        if self._is_chow(target):
            return chow_rule(value).measure(**samples)
        if name == "reject_cost":
            return solve_reject_cost(target=value, **samples)
        options = {"randomize": self.randomize}
        if self.confidence is not None:
            options |= {
                "confidence": self.confidence,
                "random_state": self.random_state,
            }
        if name == "target_coverage":
            return solve_target_coverage(target=value, **samples, **options)
        if self.confidence is not None:
            options |= self._bound()
        return solve_target_risk(target=value, **samples, **options)


def _judge(score, loss, response, y):
    """Return uncertainty and loss of each sample of a response."""
    labels, uncertainty = score.judge(response)
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices  # raises for labels that are no classes
    return uncertainty, loss(y, labels)


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
