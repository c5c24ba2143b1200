"""A rule on logged scores that knows what they are called, and where it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Count, DictMixin, Probability, Size
from sklearn_reject._typing import Options, Target
from sklearn_reject._validation import (
    check_flags,
    check_number,
    check_option,
    check_same_length,
    check_vector,
    find_missing_labels,
    of_arrays,
)
from sklearn_reject.selection._groups import GroupedRule, as_labels, encode_labels
from sklearn_reject.selection._monitor import RiskMonitor
from sklearn_reject.selection._report import ANY_LOSS, Report, ReportSamples
from sklearn_reject.selection._rule import RejectionRule
from sklearn_reject.selection._solve import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)

_OF_LOSSES = "max_loss", "inclusion_proba", "max_weight", "clusters"


class Kind(NamedTuple):
    """A target: who solves it, what a report calls it, and what measures it."""

    solve: Any
    quantity: str
    sense: str
    achieved: str
    # Options of its solver.
    takes: tuple = ("random_state", "randomize", *_OF_LOSSES)


KINDS = {
    "target_risk": Kind(solve_target_risk, "risk", "<=", "selective_risk"),
    "target_failure_rate": Kind(
        solve_target_failure_rate, "failure rate", "<=", "failure_rate"
    ),
    "target_coverage": Kind(
        solve_target_coverage,
        "coverage",
        ">=",
        "coverage",
        ("random_state", "randomize"),
    ),
    "reject_cost": Kind(solve_reject_cost, "cost", "", "cost", ()),
}

# What more of a score means, and the name of one in the other direction.
DIRECTIONS = {
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

    result : {"correct", "losses"}
        What is known of each sample.

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
        SHA-256 of these, in their order: scores, losses and weights as little-endian
        float64, and the `repr` of the list of groups.

    created : str
        Date and time in UTC, as ISO 8601 writes them.

    version : str
        Version of this package.

    See Also
    --------
    sklearn_reject.calibrate : Makes one of two arrays.

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
    result: str
    parameter: str
    targets: dict[object, float]
    confidence_level: Probability | None
    max_loss: Size | None
    n_samples: Count
    data_hash: str
    created: str
    version: str

    def __post_init__(self):
        super().__post_init__()
        check_option(self.score, "score", DIRECTIONS)
        check_option(self.result, "result", ("correct", "losses"))
        check_option(self.parameter, "parameter", KINDS)
        if self.targets.keys() != self._rules.keys():
            raise ValueError(
                f"targets must have the keys {list(self._rules)}, got {self.targets!r}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for strict JSON, from which `from_dict` restores this.

        Returns
        -------
        state : dict
            The attributes. "accepts" says in words what other programs have to compare.
            Scores within 2**-40 of a threshold, as rounding leaves them, are equal to
            it.
        """
        return super().to_dict() | {"accepts": str(self).splitlines()}

    @classmethod
    def from_dict(cls, state: Options) -> Self:
        """Return what `to_dict` has written.

        Parameters
        ----------
        state : dict
            What `to_dict` has returned.

        Returns
        -------
        rule : CalibratedRule
            Equal to the one that was written.

        Raises
        ------
        ValueError
            If fields are missing, unknown or invalid.
        """
        if isinstance(state, Mapping):
            state = {k: v for k, v in state.items() if k != "accepts"}
        return super().from_dict(state)

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
            If the score is the other one, groups are missing or not known to the rule,
            or an array is invalid.
        """
        refuse_misaligned(confidence=confidence, uncertainty=uncertainty, groups=groups)
        scores = self._read(confidence, uncertainty)
        if self._has_groups and groups is None:
            raise ValueError("The rule has groups. Pass groups=, one for each sample.")
        if groups is not None and not self._has_groups:
            raise ValueError("The rule has no groups. Leave out groups=.")
        return self.rule.accept(scores, groups=groups)

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
        inclusion_proba: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
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

        inclusion_proba : float or array-like of shape (n_samples,), default=None
            Chance of each answer to be checked; `correct` or `losses` are missing where
            it was not.

        clusters : array-like of shape (n_samples,), default=None
            Cluster of each answer, such as its user, of which intervals take account.

        confidence_level : float in (0, 1), default=0.95
            Probability of each interval.

        Returns
        -------
        report : Report
            Prints as a table. Samples that the rule was calibrated on flatter it.
        """
        given = {"confidence": confidence, "uncertainty": uncertainty, "groups": groups}
        results = {"correct": correct, "losses": losses}
        others = {"sample_weight": sample_weight, "clusters": clusters}
        others["inclusion_proba"] = inclusion_proba
        refuse_misaligned(**given, **results, **others)
        accepted = self.accept(**given)
        known = len(accepted), self.max_loss, inclusion_proba
        given, losses = read_losses(correct, losses, *known)
        if given != self.result:
            raise ValueError(
                f"The rule was calibrated on {self.result}, and got {given}. Pass "
                f"{self.result}=, in the same units."
            )
        bound = (self.max_loss, ANY_LOSS)
        if given == "correct":
            bound = (1.0, "binomial")
        options = *bound, sample_weight, confidence_level, clusters, inclusion_proba
        samples = ReportSamples(accepted, losses, *options)
        rows = {"all": samples.all}
        if self._has_groups:
            codes = encode_labels(as_labels(groups, "groups"), self._rules)
            rows = {k: codes == number for number, k in enumerate(self._rules)}
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
            what = f"where {self.score} {sign} {self._sign * rule.threshold!r}"
            if np.isinf(rule.threshold):
                what = "everything" if rule.threshold > 0 else "nothing"
            who = f"group {label}: " if self._has_groups else ""
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
        given, values = read_scores(confidence, uncertainty)
        if given != self.score:
            raise ValueError(
                f"The rule was calibrated on {self.score}, and got {given}. Pass "
                f"{self.score}=, from the same source as at calibration."
            )
        return self._sign * values

    def _promise(self, samples, label, rows):
        """Return what was asked of a rule, and what it achieves on new samples."""
        rule, target = self._rules[label], self.targets[label]
        kind = KINDS[self.parameter]
        price = () if kind.sense else (target,)
        if kind.sense:
            calibration = getattr(rule, kind.achieved)
        else:
            calibration = rule.failure_rate + (1 - rule.coverage) * target
        level = None if rule.certificate is None else self.confidence_level
        part = f"group {label}" if self._has_groups else label
        measured = getattr(samples, kind.achieved)(rows, *price)
        return kind.quantity, part, kind.sense, target, level, calibration, measured


def one_of(given):
    """Return the name and the value of the one argument that is given."""
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise ValueError(
            f"Pass one of {', '.join(given)}, got {' and '.join(found) or 'none'}."
        )
    return found[0], given[found[0]]


def read_scores(confidence, uncertainty):
    name, values = one_of({"confidence": confidence, "uncertainty": uncertainty})
    return name, check_vector(values, name)


def read_losses(correct, losses, n_samples, max_loss, inclusion_proba=None):
    """Return the name of what is given, and losses: 1 for what is wrong.

    With the chance of each row to be checked, NaN where it was not.
    """
    name, values = one_of({"correct": correct, "losses": losses})
    missing = find_missing_labels(np.asarray(values))
    if inclusion_proba is not None and missing.any() and not missing.all():
        known = {name: np.array(np.asarray(values)[~missing].tolist())}
        given = known.get("correct"), known.get("losses")
        found = np.full(len(missing), np.nan)
        found[~missing] = read_losses(*given, np.sum(~missing), max_loss)[1]
        check_same_length(n_samples, **{name: found})
        return name, found
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"{name} is missing in row {row} ({missing.sum()} such rows). Pass the "
            "chance of each row to be checked as inclusion_proba, or remove these rows "
            "from all arrays where it is the same for all."
        )
    if name == "correct":
        if max_loss is not None:
            raise ValueError(f"max_loss={max_loss!r} is for losses=. Leave it out.")
        losses = (~check_flags(values, name)).astype(np.float64)
    else:
        losses = check_vector(values, name, non_negative=True)
        most = np.inf
        if max_loss is not None:
            most = check_number(max_loss, "max_loss", open_low=True)
        if losses.max() > most:
            raise ValueError(
                f"losses holds {losses.max():g}, above max_loss={most:g}. Calibrate "
                "with the largest possible loss."
            )
    check_same_length(n_samples, **{name: losses})
    return name, losses


def refuse_misaligned(**arrays):
    """Raise for series whose rows are labeled in different orders."""
    indexes = {k: x.index for k, x in arrays.items() if hasattr(x, "iloc")}
    first, *others = indexes or [None]
    for name in others:
        if not indexes[name].equals(indexes[first]):
            raise ValueError(
                f"{first} and {name} have different indexes. Join them on the index, "
                "or pass `.to_numpy()` if their rows belong together as they are."
            )
