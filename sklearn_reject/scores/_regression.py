"""Scores that regress what a prediction costs, or how probable the truth was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from sklearn_reject._response._response import Response
from sklearn_reject._typing import Estimator, FeaturesLike, RandomState, TaskLossLike
from sklearn_reject._validation import index_labels
from sklearn_reject.scores._features import PER_LABEL, FeatureScore, is_per_label
from sklearn_reject.scores._learned import Predictions, check_classifier
from sklearn_reject.scores._linear import check_linear_options, fit_linear, solve_ridge

ALPHAS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)


class RegressedScore(FeatureScore):
    """Base of what expects a number of each prediction: its loss, or another target.

    `learner` names the parameter with what learns it, and the attribute with what has
    learned it, None where all targets are equal.
    """

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        self._map_, classify = self.make_map(), self.learner == "classifier"
        given = self._map_.fit(predictions, targets), targets, sample_weight
        self._learned_ = self._fit_learner(*given, classify=classify)
        is_constant = isinstance(self._learned_, float)
        setattr(self, f"{self.learner}_", None if is_constant else self._learned_)

    def estimate(self, predictions: Predictions) -> np.ndarray:
        [risk] = self._expect([self._learned_], predictions)
        return np.full(len(predictions), risk)


class LossRegression(RegressedScore):
    """Regression of the loss: an estimate of the conditional risk itself.

    The function of least squared error to the losses l(y, h(x)) is the conditional risk
    (FPV23, theorem 7). Works for any estimator with `predict`. The default, a forest or
    histogram gradient boosting on samples and response, is non-linear.

    Parameters
    ----------
    regressor : regressor or None, default=None
        What learns the losses. None is an
        :class:`~sklearn.ensemble.ExtraTreesRegressor` for fewer than 5,000 samples and
        a :class:`~sklearn.ensemble.HistGradientBoostingRegressor` for more, fitted on
        at most 40,000 of them.

    features : {"auto", "input", "model_input", "response", "input+response", \
            "model_input+response", "per_label_linear"} or transformer, default="auto"
        Inputs of the score. "input" is the samples, "model_input" the inputs of the
        model inside a pipeline, "response" the probabilities, otherwise the decision
        values, otherwise the label of a classifier, or the prediction of a regressor;
        "+" joins two. Categories become codes or indicators, times numbers. "auto" is
        "input+response" if the samples can be converted to numbers, and "response" for
        text, and for sparse samples with many columns unless the learner supports them.
        A transformer is fitted on samples and losses. "per_label_linear" is the linear
        score of FPV23, eq. 37: a ridge regression for each predicted label, of the
        samples as they reach the model or, before it, the first step that learns from
        labels.

    alphas : float or sequence of float, default=(0.0, 0.0001, 0.001, 0.01, 0.1)
        For "per_label_linear" only: strengths of the penalty, in units of the mean
        squared error of standardized features. Among several, that of the least area
        under the risk-coverage curve of a validation part is chosen.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss of a prediction. None takes the loss of the meta-estimator around it, and
        without one "zero_one" for classifiers and "squared" for regressors.

    validation_fraction : float in (0, 1), default=0.25
        For "per_label_linear" only: share of the samples that alpha is chosen on.

    refit : bool, default=True
        For "per_label_linear" only: whether to fit again on all samples with the alpha
        chosen.

    random_state : int, RandomState instance or None, default=None
        Source of the validation part, and of the default regressor.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    regressor_ : regressor or None
        The fitted regressor. None where all targets are equal, and are predicted.

    alpha_, areas_ : float, dict of float to float
        For "per_label_linear" only: the penalty chosen, and the area on the validation
        part by alpha, empty where there was nothing to choose, or fewer than two
        samples with a loss to choose by, when the strongest penalty is taken.

    Raises
    ------
    ValueError
        If a parameter is invalid, no numbers can be made of the samples, or the
        regressor predicts values that are not finite.

    See Also
    --------
    ErrorProbability : The same for 0/1 losses, by a classifier.
    SELE : Orders the samples instead of estimating their risk.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import ConditionalRisk, LossRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = LossRegression(random_state=0)
    >>> score = score.fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.7 * aurc_score(y[1200:], labels, own)
    True
    """

    name = "loss_regression"

    estimates_risk = True
    has_per_label = True
    learner = "regressor"

    regressor_: Any
    alpha_: float
    areas_: dict[float, float]

    def __init__(
        self,
        regressor: Estimator | None = None,
        features: FeaturesLike | Literal["per_label_linear"] = "auto",
        *,
        alphas: float | Sequence[float] = ALPHAS,
        loss: TaskLossLike | None = None,
        validation_fraction: float = 0.25,
        refit: bool = True,
        random_state: RandomState | None = None,
    ) -> None:
        self.regressor = regressor
        self.features = features
        self.alphas = alphas
        self.loss = loss
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.random_state = random_state

    def _check_options(self, classes):
        check_linear_options(self)
        if self.regressor is not None and is_classifier(self.regressor):
            raise ValueError(
                f"regressor must be a regressor, got the classifier {self.regressor!r}."
            )
        if self.regressor is not None and is_per_label(self.features):
            raise ValueError(
                f"features={PER_LABEL!r} has its own ridge regression. Set "
                f"regressor=None instead of {self.regressor!r}, or other features."
            )

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        # Of two columns, the second is the loss.
        columns = targets.reshape(len(targets), -1)
        targets, losses = columns[:, 0], columns[:, -1]
        if not is_per_label(self.features_):
            super().learn(predictions, targets, sample_weight)
            return
        samples = predictions, targets, losses, sample_weight
        self.regressor_, self.areas_ = fit_linear(self, solve_ridge, *samples)
        self.alpha_ = self.regressor_.alpha

    def estimate(self, predictions: Predictions) -> np.ndarray:
        if is_per_label(self.features_):
            return self.regressor_.predict(predictions)
        return super().estimate(predictions)


class TrueClassProbability(LossRegression):
    """Regression of the probability that the classifier gave to the true class.

    The score is one minus the prediction of p(y given x) (Corbiere et al. 2019).

    Parameters
    ----------
    regressor : regressor or None, default=None
        What learns the probabilities. None is that of :class:`LossRegression`.

    features : {"auto", "input", "model_input", "response", "input+response", \
            "model_input+response", "per_label_linear"} or transformer, default="auto"
        Inputs of the score. "input" is the samples, "model_input" the inputs of the
        model inside a pipeline, "response" the probabilities, otherwise the decision
        values, otherwise the label of a classifier, or the prediction of a regressor;
        "+" joins two. Categories become codes or indicators, times numbers. "auto" is
        "input+response" if the samples can be converted to numbers, and "response" for
        text, and for sparse samples with many columns unless the learner supports them.
        A transformer is fitted on samples and losses. "per_label_linear" is the linear
        score of FPV23, eq. 37: a ridge regression for each predicted label, of the
        samples as they reach the model or, before it, the first step that learns from
        labels.

    alphas : float or sequence of float, default=(0.0, 0.0001, 0.001, 0.01, 0.1)
        For "per_label_linear" only: strengths of the penalty, in units of the mean
        squared error of standardized features. Among several, that of the least area
        under the risk-coverage curve of a validation part is chosen.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss that alpha is chosen by. None takes the loss of the meta-estimator around
        it, and "zero_one" without one.

    validation_fraction : float in (0, 1), default=0.25
        For "per_label_linear" only: share of the samples that alpha is chosen on.

    refit : bool, default=True
        For "per_label_linear" only: whether to fit again on all samples with the alpha
        chosen.

    random_state : int, RandomState instance or None, default=None
        Source of the validation part, and of the default regressor.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    regressor_ : regressor or None
        The fitted regressor. None where all targets are equal, and are predicted.

    alpha_, areas_ : float, dict of float to float
        For "per_label_linear" only: the penalty chosen, and the area on the validation
        part by alpha, empty where there was nothing to choose, or fewer than two
        samples with a loss to choose by, when the strongest penalty is taken.

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, a parameter is invalid, or no numbers
        can be made of the samples.

    References
    ----------
    C. Corbiere, N. Thome, A. Bar-Hen, M. Cord, P. Perez. Addressing Failure Prediction
    by Learning Model Confidence. NeurIPS 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import ConditionalRisk, TrueClassProbability
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = TrueClassProbability(random_state=0)
    >>> score = score.fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.7 * aurc_score(y[1200:], labels, own)
    True
    """

    name = "true_class_probability"

    estimates_risk = False

    def _check_options(self, classes):
        super()._check_options(classes)
        if classes is None:
            raise ValueError(
                "TrueClassProbability needs a classifier with `predict_proba`, got a "
                "regressor. Use LossRegression or SELE."
            )

    def targets_of(self, response: Response, y: Any) -> np.ndarray:
        probabilities = response.probabilities
        column, unknown = index_labels(np.asarray(y), response.classes)
        true = probabilities[np.arange(len(column)), column]
        # A class that the classifier does not know has no probability.
        others = 1 - np.where(unknown, 0.0, true)
        return np.column_stack([others, super().targets_of(response, y)])


class ErrorProbability(RegressedScore):
    """Probability that a prediction is wrong, learned with a second classifier.

    For losses of 0 and 1, whose expectation is the probability of an error, so that the
    score estimates the conditional risk. Works for any classifier with `predict`.

    Parameters
    ----------
    classifier : classifier or None, default=None
        Classifier with `predict_proba` that learns to separate errors from correct
        predictions. None is an :class:`~sklearn.ensemble.ExtraTreesClassifier` for
        fewer than 5,000 samples and a
        :class:`~sklearn.ensemble.HistGradientBoostingClassifier` for more, fitted on at
        most 40,000 of them.

    features : {"auto", "input", "model_input", "response", "input+response", \
            "model_input+response"} or transformer, default="auto"
        Inputs of the score. "input" is the samples, "model_input" the inputs of the
        model inside a pipeline, "response" the probabilities, otherwise the decision
        values, otherwise the label of a classifier, or the prediction of a regressor;
        "+" joins two. Categories become codes or indicators, times numbers. "auto" is
        "input+response" if the samples can be converted to numbers, and "response" for
        text, and for sparse samples with many columns unless the learner supports them.
        A transformer is fitted on samples and losses.

    loss : {"zero_one"}, array-like of shape (n_classes, n_classes), callable or None, \
            default=None
        Loss of a prediction, 0 or 1. None takes the loss of the meta-estimator around
        it, and "zero_one" without one.

    random_state : int, RandomState instance or None, default=None
        Source of the default classifier.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    classifier_ : classifier or None
        The fitted classifier. None where all losses are equal and there is nothing to
        tell apart: the uncertainty is that loss, then.

    Raises
    ------
    ValueError
        If a loss is neither 0 nor 1, a parameter is invalid, no numbers can be made of
        the samples, or `classifier` has no `predict_proba`.

    See Also
    --------
    LossRegression : The same for any loss.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import ConditionalRisk, ErrorProbability
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = ErrorProbability(random_state=0)
    >>> score = score.fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.7 * aurc_score(y[1200:], labels, own)
    True
    """

    name = "error_probability"

    estimates_risk = True
    learner = "classifier"

    classifier_: Any

    def __init__(
        self,
        classifier: Estimator | None = None,
        features: FeaturesLike = "auto",
        *,
        loss: Literal["zero_one"] | ArrayLike | Callable[..., ArrayLike] | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.classifier = classifier
        self.features = features
        self.loss = loss
        self.random_state = random_state

    def _check_options(self, classes):
        way_out = "Use CalibratedClassifierCV, or LossRegression with a regressor."
        check_classifier(self.classifier, way_out)

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        other = targets[(targets != 0) & (targets != 1)]
        if len(other):
            raise ValueError(
                f"ErrorProbability needs losses of 0 and 1, got {other[0]:g}. Use "
                "LossRegression or SELE for other losses."
            )
        super().learn(predictions, targets, sample_weight)
