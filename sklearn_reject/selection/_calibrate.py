"""A rule for scores and results that were logged, without any estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import sklearn_reject
from sklearn_reject._as_dict import Count, DictMixin, Probability, Size
from sklearn_reject._typing import RandomState, Target
from sklearn_reject._validation import (
    check_flags,
    check_same_length,
    check_vector,
    find_missing_labels,
    of_arrays,
)
from sklearn_reject.selection._failure_rate import solve_target_failure_rate
from sklearn_reject.selection._grouped import GroupedRule
from sklearn_reject.selection._groups import as_labels, as_plain
from sklearn_reject.selection._monitor import RiskMonitor
from sklearn_reject.selection._report import ANY_LOSS, Report, ReportSamples
from sklearn_reject.selection._rule import RejectionRule
from sklearn_reject.selection._solve import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from sklearn_reject.selection._solver import order_told, warn_of_backward_scores


class _Kind(NamedTuple):
    """A target: who solves it, what a report calls it, and what measures it."""

    solve: Any
    quantity: str
    sense: str
    achieved: str
    # Options of its solver.
    takes: tuple = ("confidence_level", "max_loss", "random_state")


_KINDS = {
    "target_risk": _Kind(solve_target_risk, "risk", "<=", "selective_risk"),
    "target_failure_rate": _Kind(
        solve_target_failure_rate, "failure rate", "<=", "failure_rate"
    ),
    "target_coverage": _Kind(
        solve_target_coverage,
        "coverage",
        ">=",
        "coverage",
        ("confidence_level", "random_state"),
    ),
    "reject_cost": _Kind(solve_reject_cost, "cost", "", "cost", ()),
}

# What more of a score means, and the name of one in the other direction.
_DIRECTIONS = {
    "confidence": ("certain", "uncertainty"),
    "uncertainty": ("uncertain", "confidence"),
}


@dataclass(frozen=True)
class CalibratedRule(DictMixin):
    """A rule on logged scores, what was asked of it, and where it comes from.

    It knows whether its score is a confidence or an uncertainty, and takes it by that
    name. `to_dict` and `from_dict` write and read it for JSON, and rules are equal
    after that.

    Attributes
    ----------
    rule : RejectionRule or GroupedRule
        The rule. Its threshold is on an uncertainty: minus a confidence.

    score : {"confidence", "uncertainty"}
        What the score is called.

    parameter : str
        What was asked for, such as "target_risk".

    targets : dict
        The target of each group, or of "all" samples.

    confidence_level : float or None
        Probability with which the target is to hold for new samples.

    max_loss : float or None
        The largest possible loss, if it was given.

    n_samples : int
        Number of samples that the rule was calibrated on.

    data_hash : str
        SHA-256 of these: scores, losses and weights as little-endian float64, and the
        `repr` of the list of groups.

    created : str
        Date and time in UTC, as ISO 8601 writes them.

    version : str
        Version of this package.

    See Also
    --------
    calibrate : Makes one of two arrays.

    Examples
    --------
    >>> import json
    >>> from sklearn_reject import calibrate
    >>> from sklearn_reject.selection import CalibratedRule
    >>> confidence, correct = [0.99, 0.9, 0.8, 0.6], [1, 1, 1, 0]
    >>> rule = calibrate(confidence=confidence, correct=correct, target_risk=0.1)
    >>> text = json.dumps(rule.to_dict())
    >>> CalibratedRule.from_dict(json.loads(text)) == rule
    True
    """

    rule: RejectionRule | GroupedRule
    score: str
    parameter: str
    targets: dict[object, float]
    confidence_level: Probability | None
    max_loss: Size | None
    n_samples: Count
    data_hash: str
    created: str
    version: str

    @property
    def threshold(self) -> float | dict[Any, float]:
        """Threshold in units of the score, a dict of group to float with groups."""
        found = {k: self._sign * rule.threshold for k, rule in self._rules.items()}
        return found if self._has_groups else found["all"]

    @of_arrays
    def accept(
        self,
        *,
        confidence: ArrayLike | None = None,
        uncertainty: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Accept or reject each sample, each by itself.

        Parameters
        ----------
        confidence, uncertainty : array-like of shape (n_samples,), default=None
            The score, by the name that the rule was calibrated with.

        groups : array-like of shape (n_samples,), default=None
            Group of each sample, if the rule has groups.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            True where the sample is accepted.

        Raises
        ------
        ValueError
            If the score is the other one, or an array is invalid.
        TypeError
            If groups are missing, or given to a rule without.
        """
        return self.rule.accept(self._read(confidence, uncertainty), groups=groups)

    @of_arrays
    def report(
        self,
        *,
        confidence: ArrayLike | None = None,
        uncertainty: ArrayLike | None = None,
        correct: ArrayLike | None = None,
        losses: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> Report:
        """Compare what was asked for with what new samples show.

        Parameters
        ----------
        confidence, uncertainty : array-like of shape (n_samples,), default=None
            The score of new samples, by the name that the rule was calibrated with.

        correct, losses : array-like of shape (n_samples,), default=None
            Whether each answer was right, or its loss: one of them.

        groups : array-like of shape (n_samples,), default=None
            Group of each sample, if the rule has groups.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        confidence_level : float in (0, 1), default=0.95
            Probability of each interval.

        Returns
        -------
        report : Report
            Prints as a table. Samples that the rule was calibrated on flatter it.
        """
        accepted = self.accept(
            confidence=confidence, uncertainty=uncertainty, groups=groups
        )
        bound = (1.0, "binomial") if losses is None else (self.max_loss, ANY_LOSS)
        losses = _read_losses(correct, losses, len(accepted))
        if bound[0] is not None and losses.max() > bound[0]:
            raise ValueError(
                f"losses holds {losses.max():g}, above max_loss={bound[0]:g}. Give "
                "calibrate the largest possible loss."
            )
        options = sample_weight, confidence_level, *bound
        samples = ReportSamples(accepted, losses, *options)
        rows = {"all": samples.all}
        if self._has_groups:
            labels = as_labels(groups, "groups")
            rows = {k: np.array([x == k for x in labels]) for k in self._rules}
        promises = [self._promise(samples, k, rows[k]) for k in rows]
        parts = [samples.part("all", samples.all)]
        if self._has_groups:
            parts += [samples.part(f"group {k}", rows[k]) for k in rows]
        return samples.report(type(self).__name__, promises, parts)

    def monitor(
        self, target: Target | None = None, **options: Any
    ) -> RiskMonitor | dict[Any, RiskMonitor]:
        """Return a monitor of the losses of accepted samples.

        Parameters
        ----------
        target : float or dict of group to float, default=None
            Risk to watch. None is the `target_risk` that was asked for.

        **options : dict
            Parameters of :class:`RiskMonitor`.

        Returns
        -------
        monitor : RiskMonitor or, with groups, dict of group to RiskMonitor
            Without any samples so far.
        """
        if target is None and self.parameter == "target_risk":
            target = self.targets if self._has_groups else self.targets["all"]
        if self.max_loss is not None:
            options.setdefault("max_loss", self.max_loss)
        return self.rule.monitor(target, **options)

    def __str__(self):
        """Return what is accepted, in units of the score."""
        lines, less = [], ">" if self.score == "confidence" else "<"
        for label, rule in self._rules.items():
            sign = less + "=" * bool(rule.proba_at_threshold)
            who = f"group {label}: " if self._has_groups else ""
            limit = self._sign * rule.threshold
            what = f"where {self.score} {sign} {limit:.6g}"
            if np.isinf(limit):
                what = "everything" if rule.threshold > 0 else "nothing"
            lines.append(f"{who}accept {what}")
        return "\n".join(lines)

    @property
    def _has_groups(self):
        return isinstance(self.rule, GroupedRule)

    @property
    def _rules(self):
        return self.rule.rules if self._has_groups else {"all": self.rule}

    @property
    def _sign(self):
        return -1.0 if self.score == "confidence" else 1.0

    def _read(self, confidence, uncertainty):
        """Return the scores as an uncertainty, if they are those of the rule."""
        given, values = _read_scores(confidence, uncertainty)
        if given != self.score:
            raise ValueError(
                f"The rule was calibrated on {self.score}, and got {given}. Pass "
                f"{self.score}=, from the same source as at calibration."
            )
        return self._sign * values

    def _promise(self, samples, label, rows):
        """Return what was asked of a rule, and what it achieves on new samples."""
        rule, target = self._rules[label], self.targets[label]
        kind = _KINDS[self.parameter]
        price = () if kind.sense else (target,)
        if kind.sense:
            calibration = getattr(rule, kind.achieved)
        else:
            calibration = rule.failure_rate + (1 - rule.coverage) * target
        level = None if rule.certificate is None else self.confidence_level
        part = f"group {label}" if self._has_groups else label
        measured = getattr(samples, kind.achieved)(rows, *price)
        return kind.quantity, part, kind.sense, target, level, calibration, measured


@of_arrays
def calibrate(
    *,
    confidence: ArrayLike | None = None,
    uncertainty: ArrayLike | None = None,
    correct: ArrayLike | None = None,
    losses: ArrayLike | None = None,
    target_risk: Target | None = None,
    target_failure_rate: Target | None = None,
    target_coverage: Target | None = None,
    reject_cost: Target | None = None,
    confidence_level: float | None = None,
    max_loss: float | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState | None = None,
) -> CalibratedRule:
    """Find a threshold on logged scores that meets a target.

    Takes the confidences or uncertainties of a model, a judge or a router, and whether
    each answer was right. Tied scores are accepted or rejected together, so that the
    rule is a comparison with a number.

    Parameters
    ----------
    confidence, uncertainty : array-like of shape (n_samples,), default=None
        Score of each answer, in any units: `confidence` where higher means more
        certain, `uncertainty` where higher means less. One of them.

    correct, losses : array-like of shape (n_samples,), default=None
        Whether each answer was right (booleans, or 1 and 0), or its non-negative loss.
        One of them.

    target_risk : float or dict of group to float, default=None
        Largest mean loss of accepted answers; with `correct`, their error rate. One of
        this and the next three must be given.

    target_failure_rate : float or dict of group to float, default=None
        Largest share of all answers that are accepted and wrong.

    target_coverage : float or dict of group to float, default=None
        Smallest share of answers to accept.

    reject_cost : float or dict of group to float, default=None
        Price of rejecting an answer, in units of the loss.

    confidence_level : float in (0, 1), default=None
        Probability with which the target holds for new samples that are drawn like
        these. The samples must not have been used to train the model or the score.

    max_loss : float, default=None
        Largest possible loss, which a bound on `losses` needs.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, known before it is accepted. Each has a threshold of its
        own, and with a `confidence_level` their targets hold together.

    all_groups : array-like of shape (n_groups,), default=None
        All groups. None takes those that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Not possible with a `confidence_level`.

    random_state : int, RandomState instance or None, default=None
        Seed of the order in which losses between zero and `max_loss` are tested.

    Returns
    -------
    rule : CalibratedRule
        With methods `accept`, `report`, `monitor` and `to_dict`.

    Warns
    -----
    RejectionWarning
        If the score ranks the errors backwards, or a group is rejected as a whole.

    Raises
    ------
    InfeasibleTargetError
        If no threshold meets the target. It says what can be met.
    ValueError
        If there is not one score, one result and one target, or one is invalid.

    See Also
    --------
    SelectiveClassifier : The same for an estimator, with samples held out for it.
    solve_target_risk : The solver, which can break ties at random.
    solve_deferral : Whom to ask instead, at a price a question.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject import calibrate
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.random(2000)
    >>> correct = rng.random(2000) < 0.7 + 0.3 * confidence
    >>> asked = {"target_risk": 0.1, "confidence_level": 0.9}
    >>> rule = calibrate(confidence=confidence, correct=correct, **asked)
    >>> print(rule)
    accept where confidence > 0.392468
    >>> rule.accept(confidence=[0.2, 0.5])
    array([False,  True])
    """
    score, values = _read_scores(confidence, uncertainty)
    losses = _read_losses(correct, losses, len(values))
    asked = {"target_risk": target_risk, "target_failure_rate": target_failure_rate}
    asked |= {"target_coverage": target_coverage, "reject_cost": reject_cost}
    parameter, target = _one_of(asked)
    options = {"confidence_level": confidence_level, "max_loss": max_loss}
    kind = _KINDS[parameter]
    for name, value in options.items():
        if value is not None and name not in kind.takes:
            raise ValueError(
                f"{name}={value!r} cannot be combined with {parameter}={target!r}. "
                f"Pass {name}=None, or a target_risk."
            )
    scores = -values if score == "confidence" else values
    given = {"groups": groups, "all_groups": all_groups, "sample_weight": sample_weight}
    options = {name: options.get(name, random_state) for name in kind.takes}
    if parameter != "reject_cost":
        options["randomize"] = False
    with order_told():
        rule = kind.solve(scores, losses, target, **given, **options)
    meaning, other = _DIRECTIONS[score]
    way_out = f"Higher must mean more {meaning}. Pass it as {other}, or use another one"
    of_order = losses, sample_weight
    warn_of_backward_scores(scores, *of_order, groups=groups, way_out=way_out)
    labels = rule.rules if isinstance(rule, GroupedRule) else ["all"]
    if isinstance(target, Mapping):
        targets = {as_plain(label): float(value) for label, value in target.items()}
    else:
        targets = dict.fromkeys(labels, float(target))
    return CalibratedRule(
        rule,
        score,
        parameter,
        targets,
        confidence_level,
        max_loss,
        len(values),
        _hash(values, losses, sample_weight, groups),
        datetime.now(UTC).isoformat(timespec="seconds"),
        sklearn_reject.__version__,
    )


def _one_of(given):
    """Return the name and the value of the one argument that is given."""
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise ValueError(
            f"Pass one of {', '.join(given)}, got {' and '.join(found) or 'none'}."
        )
    return found[0], given[found[0]]


def _read_scores(confidence, uncertainty):
    name, values = _one_of({"confidence": confidence, "uncertainty": uncertainty})
    return name, check_vector(values, name)


def _read_losses(correct, losses, n_samples):
    """Return non-negative losses, one for a wrong answer."""
    name, values = _one_of({"correct": correct, "losses": losses})
    missing = np.flatnonzero(find_missing_labels(np.asarray(values)))
    if len(missing):
        raise ValueError(
            f"{name} is missing in row {missing[0]} ({len(missing)} such rows). Remove "
            "them from all arrays, if chance decided which answers were checked."
        )
    if name == "losses":
        losses = check_vector(values, name, non_negative=True)
    else:
        losses = (~check_flags(values, name)).astype(np.float64)
    check_same_length(n_samples, **{name: losses})
    return losses


def _hash(scores, losses, sample_weight, groups):
    digest = sha256()
    for values in (scores, losses, sample_weight):
        if values is not None:
            digest.update(np.asarray(values, dtype="<f8").tobytes())
    if groups is not None:
        digest.update(repr(as_labels(groups, "groups")).encode())
    return digest.hexdigest()
