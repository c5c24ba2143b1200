"""What users write. tests/test_editors.py runs it and checks its types."""

from typing import assert_type

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    Decisions,
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.metrics import (
    aurc_score,
    bootstrap_interval,
    get_selective_scorer,
    risk_coverage_curve,
)
from sklearn_reject.scores import KNN, Entropy, UncertaintyScore
from sklearn_reject.selection import (
    RejectionRule,
    RiskMonitor,
    solve_target_risk,
)
from sklearn_reject.thresholds import operating_point


def make_samples() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n_samples=120, random_state=0)
    return np.asarray(X), np.asarray(y)


def abstain() -> None:
    X, y = make_samples()
    selective = SelectiveClassifier(
        LogisticRegression(),
        target_risk={0: 0.2, 1: 0.3},
        group_by="prediction",
        uncertainty_score=Entropy(),
        loss=CostMatrixLoss([[0, 1], [2, 0]], labels=[0, 1]),
        cv=StratifiedKFold(3),
        on_infeasible="nearest",
        random_state=np.random.RandomState(0),
    )
    selective = assert_type(selective.fit(X, y), SelectiveClassifier)
    assert_type(selective.predict(X), np.ndarray)
    assert_type(selective.predict_proba(X), np.ndarray)
    assert_type(selective.accept(X, keys=list(range(len(X)))), np.ndarray)
    decisions = assert_type(selective.predict_all(X), Decisions)
    assert decisions.accepted.mean() <= 1
    assert_type(selective.score(X, y), float)
    assert_type(selective.seed_, int)
    assert selective.estimator_.coef_.shape == (1, 20)


def abstain_at_a_coverage() -> None:
    X, y = make_samples()
    model = SelectiveClassifier(LogisticRegression(), target_coverage=0.8, cv=3)
    model = model.fit(X, y).retarget(target_coverage=0.7)
    rule = model.rule_
    assert rule.threshold > 0
    assert isinstance(rule, RejectionRule)
    monitor = assert_type(rule.monitor(0.1), RiskMonitor)
    monitor = assert_type(monitor.update([0.0, 1.0]), RiskMonitor)
    assert_type(monitor.alarm, bool)
    scorer = get_selective_scorer("neg_aurc", loss="absolute")
    assert_type(scorer(model, X, y), float)


def choose_other_models() -> None:
    X, y = make_samples()
    inner = LogisticRegression()
    model = DeferringClassifier(
        GaussianNB(), inner, max_deferral=0.3, gain_score="confidence", cv=3
    )
    measured = model.fit(X, y).measure(X, y)
    assert measured.system_risk.value >= 0
    novel = DoubleScoreOODClassifier(inner, novelty_score=KNN(), min_tpr=0.9)
    novel = novel.set_params(max_fpr=None)
    decoder = ExpectedLossDecoder(inner, loss="f1", cv=3)
    assert_type(decoder.fit(X, y), ExpectedLossDecoder)
    tuner = EnsembleThresholdTuner([("first", inner)], max_fp_per_tp=1.0, cv=3)
    tuner = assert_type(tuner.fit(X, y), EnsembleThresholdTuner)
    assert tuner.operating_point_.precision >= 0
    assert_type(tuner.thresholds_, np.ndarray)
    assert SelectiveRegressor(inner, target_coverage=0.9).loss == "squared"


def solve_on_arrays() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(100)
    losses = (rng.random(100) < scores).astype(float)
    try:
        rule = solve_target_risk(scores, losses, 0.2, bound="binomial", max_loss=1)
    except InfeasibleTargetError as error:
        assert_type(error.lowest_risk, float)
    else:
        assert rule.measure(scores, losses).coverage > 0
    assert_type(aurc_score(None, None, scores, loss=losses), float)
    coverage, risk, thresholds = risk_coverage_curve(None, None, scores, loss=losses)
    assert coverage.shape == risk.shape == thresholds.shape
    interval = bootstrap_interval(
        aurc_score,
        (None, None, scores),
        metric_params={"loss": losses},
        random_state=0,
    )
    assert interval.low <= interval.value <= interval.high
    point = operating_point(scores[:, None], losses > 0, max_fp_per_tp=2)
    assert_type(point.predict(scores[:, None]), np.ndarray)


def mistake_one_option_for_another() -> None:
    """Each comment is an error itself where mypy finds nothing to ignore."""
    inner = LogisticRegression()
    SelectiveClassifier(inner, on_infeasible="ignore")  # type: ignore[arg-type]
    SelectiveClassifier(inner, confidence_level="high")  # type: ignore[arg-type]
    ExpectedLossDecoder(inner, average="weighted")  # type: ignore[arg-type]


class FirstFeature(UncertaintyScore):
    """A score of one's own, which has a name."""

    name = "first_feature"

    def fit(self, X, y=None, *, estimator):
        self.estimator_ = estimator
        return self

    def _uncertainty(self, response):
        return response.X[:, 0]
