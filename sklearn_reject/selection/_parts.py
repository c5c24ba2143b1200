"""Parts of a sample, each with a bound of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sklearn_reject._labels import equals
from sklearn_reject._validation import (
    check_number,
    check_same_length,
    check_samples,
    of_arrays,
    refuse_missing_labels,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._groups import as_plain, enumerate_texts
from sklearn_reject.selection._rule import Certificate


@dataclass(frozen=True)
class RiskBoundsCertificate(Certificate):
    """Bounds on several parts that hold together with high probability, or on average.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier and of the score, and of the noise that breaks ties.
    Every bound holds at once with the `confidence_level`; without one, which bounds on
    failures have only, each of them holds on average.

    Attributes
    ----------
    quantity : str
        "risk_of_parts" for the risk of what is accepted of each part, or
        "failure_rate_of_parts" for the mean loss of all its samples, zero where they
        are rejected. Nothing is said of samples in none of the parts.

    target : float
        The largest of the `targets`, which no part exceeds.

    confidence_level : float or None
        Least probability, in ]0, 1[, that all bounds hold. None for failure rates that
        are bounded in expectation, over calibration samples and new sample together.

    bound : str
        Where the p-values come from: "binomial", "hoeffding_bentkus" or "betting";
        "conformal" without confidence.

    n_samples : int
        Number of calibration samples.

    n_accepted : int
        Number of calibration samples, by increasing score and noise, that the test
        accepted. The rule accepts these and, of ties without noise, maybe more. Of
        failure rates, those below the threshold.

    p_value : float or None
        The largest of the `p_values`. None without confidence.

    parts : tuple of str
        Name and label of each part.

    targets : tuple of float
        The certified bound of each part.

    p_values : tuple of float
        Chance, at most, of a calibration sample as favourable to each part as this one
        at a rule that breaks its bound, for this rule on its own; for failure rates,
        for the rule that the part would have alone. Empty without confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import solve_risk_bounds
    >>> scores = np.arange(200)
    >>> bounds = {"class": (scores % 2, {0: 0.1, 1: 0.2})}
    >>> rule = solve_risk_bounds(scores, scores >= 160, bounds, confidence_level=0.9)
    >>> rule.certificate.parts, rule.certificate.targets
    (('class[0]', 'class[1]'), (0.1, 0.2))
    """

    parts: tuple
    targets: tuple
    p_values: tuple


def certify_parts(test, quantity, parts, counts, p_values=()):
    """Return what holds of all parts; `counts` are those of samples and accepted."""
    targets = tuple(part.target for part in parts)
    largest = max(p_values, default=None)
    certificate = test.certificate(quantity, max(targets), *counts, largest)
    return RiskBoundsCertificate(
        **vars(certificate),
        parts=tuple(map(str, parts)),
        targets=targets,
        p_values=tuple(p_values),
    )


class BoundedRisk(NamedTuple):
    """What a rule achieves on a part of a sample, beside the bound asked for.

    Attributes
    ----------
    target : float
        The bound, on the risk or on the failure rate.

    risk : float
        Mean loss of the members that are accepted, lower is better; NaN where none is.
        With 0/1 loss it is 1 minus the recall where a true class is the part, and 1
        minus the precision where a predicted one is.

    coverage : float
        Share of the members that are accepted; NaN where there is no member.

    n_samples : int
        Number of members.

    Examples
    --------
    >>> from sklearn_reject.selection import RejectionRule, measure_risk_bounds
    >>> scores, losses, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [1, 1, 0, 1]
    >>> bounds = {"class": (y, {1: 0.5})}
    >>> rule = RejectionRule(threshold=0.3, proba_at_threshold=1.0)
    >>> measure_risk_bounds(rule, scores, losses, bounds)["class", 1]
    BoundedRisk(target=0.5, risk=0.5, coverage=0.666..., n_samples=3)
    """

    target: float
    risk: float
    coverage: float
    n_samples: int

    @property
    def failure_rate(self) -> float:
        """Mean loss of all members, zero where rejected; NaN where there is none."""
        return self.coverage * self.risk if self.coverage else 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """The samples of one label, and a bound on them."""

    kind: object
    label: object
    target: float
    rows: np.ndarray

    def __str__(self):
        return f"{self.kind}[{as_plain(self.label)!r}]"


def warn_of_absent(parts):
    """Warn of parts that have a bound, and of which nothing is accepted."""
    if parts:
        warn_user(
            f"No sample of {enumerate_texts(list(map(str, parts)))} is accepted, which "
            "meets its target. Use larger risks, or a score that ranks errors better."
        )


def risks_by_kind(risks):
    """Return the risk of each part as a dict a kind."""
    found = {}
    for part, risk in risks.items():
        found.setdefault(part.kind, {})[part.label] = risk
    return found


def check_parts(bounds, n_samples, order=slice(None)):
    """Return the parts that bounds are about: parts of one kind are disjoint.

    Their rows are those of the samples in some order.
    """
    if not isinstance(bounds, dict) or not bounds:
        raise ValueError(
            "bounds must be a dict name -> (labels, targets) with at least one entry, "
            f"such as {{'class': (y_true, {{1: 0.1}})}}, got {bounds!r}."
        )
    parts = []
    for kind, pair in bounds.items():
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not isinstance(pair[1], dict) or not pair[1]:
            raise ValueError(
                f"bounds[{kind!r}] must be a pair of labels (one per sample) and a "
                "dict label -> target with at least one entry, as (y_true, {1: 0.1})."
            )
        labels = _check_labels(pair[0], n_samples, f"labels of bounds[{kind!r}]")[order]
        for label, target in pair[1].items():
            target = check_number(target, f"target of {kind}[{label!r}]")
            rows = np.flatnonzero(equals(labels, label))
            parts.append(Part(kind, label, target, rows))
    return parts


def _check_labels(labels, n_samples, name):
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(
            f"{name} must be a vector of shape (n_samples,), got an array of shape "
            f"{labels.shape}. Pass one label per sample."
        )
    check_same_length(n_samples, **{name: labels})
    refuse_missing_labels(labels, name)
    return labels


@of_arrays
def measure_risk_bounds(rule, scores, losses, bounds, *, sample_weight=None):
    """Return what a rule achieves on each part of a sample that has a bound.

    Parameters
    ----------
    rule : RejectionRule
        The rule.

    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    bounds : dict of str to (labels, targets)
        As in :func:`solve_risk_bounds` and :func:`solve_failure_bounds`.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    achieved : dict of (str, label) to BoundedRisk
        For each bound, target, expected risk, coverage and failure rate, and number of
        members.

    Raises
    ------
    ValueError
        If an array or a bound is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import RejectionRule, measure_risk_bounds
    >>> scores, losses, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [1, 1, 0, 1]
    >>> bounds = {"class": (y, {1: 0.5, 0: 0.1})}
    >>> rule = RejectionRule(threshold=0.3, proba_at_threshold=1.0)
    >>> achieved = measure_risk_bounds(rule, scores, losses, bounds)
    >>> achieved["class", 0].risk, achieved["class", 0].coverage
    (0.0, 1.0)
    """
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    weight = np.ones(len(scores)) if weight is None else weight
    accepted = rule.accept_proba(scores) * weight
    achieved = {}
    for part in check_parts(bounds, len(scores)):
        rows = part.rows[weight[part.rows] > 0]
        covered, total = float(accepted[rows].sum()), float(weight[rows].sum())
        loss = float(accepted[rows] @ losses[rows])
        achieved[part.kind, part.label] = BoundedRisk(
            part.target,
            loss / covered if covered else float("nan"),
            covered / total if total else float("nan"),
            len(rows),
        )
    return achieved
