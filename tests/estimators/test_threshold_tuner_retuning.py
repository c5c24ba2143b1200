"""Retuning on what was rated: probabilities of ratings, thresholds that only rise."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.thresholds import operating_point

TARGET = {"marginal_precision": 0.3}
RATCHET = "thresholds rise from fit to fit"


def log_week(rng, n=4000):
    truth = (rng.random(n) < 0.03).astype(int)
    kind = rng.integers(3, size=n)
    shows = np.column_stack([kind != 1, kind != 0]) & (truth == 1)[:, np.newaxis]
    return rng.normal(size=(n, 2)) + 2.5 * shows, truth


def explore(scores, truth, is_reported, share, rng, base=1.5):
    inclusion_proba = np.where(is_reported, 1.0, np.nan)
    if share:
        inclusion_proba[(scores >= base).any(axis=1) & ~is_reported] = share
    is_rated = rng.random(len(scores)) < np.nan_to_num(inclusion_proba)
    return np.where(is_rated, truth, -1), inclusion_proba


def tuner(**options):
    options = {"cv": "prefit"} | TARGET | options
    return EnsembleThresholdTuner(None, **options)


def told_of(model, *args, **params):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*args, **params)
    return [str(warning.message) for warning in caught]


def run(share, n_weeks=8, seed=0):
    """Alerts and thresholds of each week, and how often the ratchet was told of."""
    rng = np.random.default_rng(seed)
    model, weeks, n_told = tuner(), [], 0
    is_reported = None
    for _ in range(n_weeks):
        scores, truth = log_week(rng)
        is_reported = (scores >= 2).any(axis=1) if not weeks else model.predict(scores)
        is_reported = np.asarray(is_reported, dtype=bool)
        y, inclusion_proba = explore(scores, truth, is_reported, share, rng)
        told = told_of(model, scores, y, inclusion_proba=inclusion_proba)
        n_told += any(RATCHET in text for text in told)
        weeks.append((is_reported.sum(), *model.thresholds_))
    return np.array(weeks), n_told


def test_thresholds_of_reports_alone_only_rise_and_the_tuner_says_so():
    weeks, n_told = run(0)
    # Not below the last ones, but for what is between two scores.
    assert (np.diff(weeks[:, 1:], axis=0) > -0.02).all()
    assert weeks[-1, 0] < 0.7 * weeks[1, 0]
    # The first guess was nobody's fit, and one week all that was rated was reported.
    assert n_told == len(weeks) - 2


def test_thresholds_with_exploration_go_up_and_down():
    weeks, n_told = run(0.2)
    steps = np.diff(weeks[1:, 1:], axis=0)
    assert (steps < -0.05).any()
    assert (steps > 0.05).any()
    assert weeks[-3:, 0].mean() > 0.75 * weeks[1:4, 0].mean()
    assert n_told == 0


def test_the_warning_is_of_another_fit_and_of_unrated_documents():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng)
    model = tuner().fit(scores, truth)
    model.fit(scores, truth)  # everything is rated: nothing is told
    y = np.where(model.predict(scores) == 1, truth, -1)
    assert not any(RATCHET in text for text in told_of(clone(model), scores, y))
    assert any(RATCHET in text for text in told_of(model, scores, y))
    # Another number of columns, of which the last fit knows nothing.
    other = np.column_stack([scores, rng.normal(size=len(scores))])
    y = np.where((other >= 2.5).any(axis=1), truth, -1)
    assert not any(RATCHET in text for text in told_of(model, other, y))


def test_nothing_has_risen_where_all_that_was_rated_is_reported():
    rng = np.random.default_rng(1)
    model = tuner(marginal_precision=0.01)
    # The same documents twice, and others that are rated down to the same base.
    weeks = [log_week(rng) for _ in range(2)]
    for scores, truth in (weeks[0], *weeks):
        y = np.where((scores >= 2).any(axis=1), truth, -1)
        y[np.where(scores >= 2, scores, np.inf).argmin(axis=0)] = 1
        assert not any(RATCHET in text for text in told_of(model, scores, y))
        assert (model.predict(scores) == 1).sum() == (y >= 0).sum()


def test_the_warning_of_classifiers_that_are_fitted_again():
    rng = np.random.default_rng(0)
    n = 3000
    truth = (rng.random(n) < 0.1).astype(int)
    X = rng.normal(size=(n, 4)) + truth[:, np.newaxis]
    views = [
        ("left", LogisticRegression(), slice(0, 2)),
        ("right", LogisticRegression(), slice(2, 4)),
    ]
    model = EnsembleThresholdTuner(views, cv=3, base_thresholds=[0, 0], **TARGET).fit(
        X, truth
    )
    y = np.where(model.predict(X) == 1, truth, -1)
    assert any(RATCHET in text for text in told_of(model, X, y))


class Stubborn(LogisticRegression):
    """A classifier that has errors of its own."""

    def predict_proba(self, X):
        if X.shape[1] != self.n_features_in_:
            raise AssertionError("other columns")
        return super().predict_proba(X)


def test_the_last_fit_says_nothing_of_other_columns():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng, 2000)
    y = np.where((scores >= 1).any(axis=1), truth, -1)
    base = {"base_thresholds": [0.0], "cv": 2}
    model = EnsembleThresholdTuner([("a", Stubborn())], **base, **TARGET)
    frame = pd.DataFrame(scores, columns=["left", "right"])
    told = told_of(model, frame, y)
    # Without names, and with a column more.
    assert told_of(model, scores, y) == told
    wider = np.column_stack([scores, rng.normal(size=len(y))])
    assert not any("names" in text for text in told_of(model, wider, y))


def test_inclusion_proba_is_that_of_arrays():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng)
    y, inclusion_proba = explore(scores, truth, (scores >= 2).any(axis=1), 0.3, rng)
    weight = rng.uniform(1, 2, len(y))
    model = tuner().fit(
        scores, y, sample_weight=weight, inclusion_proba=inclusion_proba
    )
    point = operating_point(
        scores, y, sample_weight=weight, inclusion_proba=inclusion_proba, **TARGET
    )
    assert model.operating_point_.to_dict() == point.to_dict()
    # Documents that were drawn say nothing of how far down ratings are complete.
    assert (model.base_thresholds_ < 1.6).all()
    plain = tuner().fit(scores, y)
    assert (plain.base_thresholds_ > 1.9).all()


def test_counts_stand_for_all_documents():
    rng = np.random.default_rng(1)
    scores, truth = log_week(rng, 20_000)
    y, inclusion_proba = explore(scores, truth, (scores >= 2.5).any(axis=1), 0.2, rng)
    model = tuner(marginal_precision=0.15).fit(
        scores, y, inclusion_proba=inclusion_proba
    )
    found = model.predict(scores) == 1
    low, high = model.operating_point_.tp_interval
    assert low < truth[found].sum() < high
    assert model.operating_point_.n_predicted == found.sum()


def test_one_number_is_the_inclusion_proba_of_all():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng)
    y = np.where(rng.random(len(truth)) < 0.5, truth, -1)
    one = tuner().fit(scores, y, inclusion_proba=0.5)
    all_ = tuner().fit(scores, y, inclusion_proba=np.full(len(y), 0.5))
    assert one.operating_point_.to_dict() == all_.operating_point_.to_dict()


def test_inclusion_proba_reaches_no_classifier_and_is_sliced_by_folds():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng, 1500)
    y = np.where(rng.random(1500) < 0.5, truth, -1)
    views = [("a", LogisticRegression(), [0]), ("b", LogisticRegression(), [1])]
    chance = np.full(1500, 0.5)
    base = {"base_thresholds": [0.0, 0.0]}
    model = EnsembleThresholdTuner(views, cv=3, **base, **TARGET)
    fitted = model.fit(scores, y, inclusion_proba=chance)
    plain = clone(model).fit(scores, y, inclusion_proba=None)
    np.testing.assert_array_equal(
        fitted.estimators_[0].coef_, plain.estimators_[0].coef_
    )
    with config_context(enable_metadata_routing=True):
        routed = clone(model).set_fit_request(inclusion_proba=True)
        result = cross_validate(
            routed,
            scores,
            y,
            cv=3,
            params={"inclusion_proba": chance},
            error_score="raise",
        )
    assert np.isfinite(result["test_score"]).all()


@pytest.mark.parametrize(
    ("inclusion_proba", "words"),
    [
        (np.full(4000, 2.0), r"inclusion_proba must hold one probability in \]0, 1\]"),
        (0.0, r"inclusion_proba must hold one probability in \]0, 1\]"),
        (np.full(7, 0.5), "inclusion_proba"),
        (np.full(4000, np.nan), "inclusion_proba is NaN in row"),
        (1e-200, r"sample_weight / inclusion_proba, are up to 1e\+200"),
        (5e-324, "sample_weight / inclusion_proba, are up to inf"),
    ],
    ids=["two", "zero", "short", "missing", "tiny", "least"],
)
def test_bad_inclusion_proba(inclusion_proba, words):
    scores, truth = log_week(np.random.default_rng(0))
    with pytest.raises(ValueError, match=words):
        tuner().fit(scores, truth, inclusion_proba=inclusion_proba)
