"""Rules, certificates and intervals print short texts of rounded numbers."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

import sklearn_reject
from sklearn_reject import Interval, selection, thresholds
from sklearn_reject._as_dict import DictMixin
from sklearn_reject.selection import RejectionRule, solve_target_risk


def test_numbers_are_rounded_and_defaults_left_out():
    rule = RejectionRule(1 / 3, 0.0, coverage=2 / 3)
    assert repr(rule) == (
        "RejectionRule(threshold=0.3333, proba_at_threshold=0, coverage=0.6667)"
    )
    assert repr(Interval(1 / 3, 0.25, math.inf, 12)) == (
        "Interval(value=0.3333, low=0.25, high=inf, n_samples=12)"
    )


def test_certificates_are_shown_in_rules():
    scores = np.arange(300) / 7
    rule = solve_target_risk(scores, scores > 40, 0.1, confidence_level=0.9)
    text = repr(rule)
    assert f"threshold={rule.threshold:.4g}," in text
    assert f"certificate={rule.certificate!r}" in text
    assert "'risk'" in text
    assert f"p_value={rule.certificate.p_value:.4g}" in text


def test_long_collections_are_cut():
    groups = np.arange(100) % 10
    rule = solve_target_risk(np.arange(100.0), np.zeros(100), 0.1, groups=groups)
    assert "... 7 more}" in repr(rule)
    assert len(repr(rule)) < 500


@dataclass
class Record(DictMixin):
    values: np.ndarray
    pair: tuple = (0.0, 1.0)


def test_arrays_and_tuples():
    assert repr(Record(np.array([1 / 3, 2.0]))) == "Record(values=[0.3333, 2.    ])"
    text = repr(Record(np.linspace(0, 1, 1000), (2 / 3, 1.0)))
    assert "..., " in text
    assert text.endswith("pair=(0.6667, 1))")


@pytest.mark.parametrize(
    "name",
    [
        # Decisions are arrays with an entry a sample, and a report prints as a table.
        *sorted(
            set(sklearn_reject._RESULTS) - {"Decisions", "DeferralDecisions", "Report"}
        ),
        *("RejectionRule", "GroupedRule", "DoubleScoreRule"),
    ],
)
def test_no_result_prints_all_digits(name):
    homes = sklearn_reject, selection, thresholds
    cls = next(getattr(home, name) for home in homes if hasattr(home, name))
    assert cls.__repr__.__name__ == "short_repr"


def test_equal_rules_are_equal_whatever_they_print():
    rule = RejectionRule(1 / 3, 0.0)
    other = replace(rule, threshold=1 / 3 + 1e-12)
    assert repr(rule) == repr(other)
    assert rule != other
