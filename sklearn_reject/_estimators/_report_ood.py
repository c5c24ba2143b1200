"""The report of a classifier that rejects out-of-distribution samples, too."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_reject._estimators._ood_labels import known_labels
from sklearn_reject._estimators._report import (
    Samples,
    make_report,
    parts_of_true_classes,
    samples_of,
)
from sklearn_reject._estimators._report_table import ReportPart, ReportPromise
from sklearn_reject._interval import Interval
from sklearn_reject._validation import check_level, check_same_length
from sklearn_reject.selection import precision_of

_NAN = float("nan")


def report_ood(estimator, X, y, groups, confidence_level):
    """Return the report; `groups` are kinds of OOD samples, or None."""
    confidence_level = check_level(confidence_level, "confidence_level")
    labels, _, accepted = estimator.predict_all(X)
    y, is_ood, is_wild = known_labels(estimator, y)
    check_same_length(len(labels), y=y)
    is_id = ~is_ood & ~is_wild
    losses = estimator._losses(y, labels, is_id)
    samples = samples_of(estimator, accepted, losses, confidence_level)
    origins = _Origins(samples, is_id, is_ood, is_wild, estimator.wild_share)
    nothing = samples.mean(losses[:0])
    parts = [
        samples.part("in distribution", is_id),
        ReportPart("out of distribution", origins.fpr(), nothing),
        *(
            ReportPart(f"OOD {name}", samples.coverage(rows), nothing)
            for name, rows in _kinds_of_ood(groups, is_ood)
        ),
    ]
    classes = np.asarray(estimator.classes_).tolist()
    parts += parts_of_true_classes(samples, classes, y, is_id)
    return make_report(estimator, samples, _promises(estimator, origins), parts)


@dataclass(frozen=True, eq=False)
class _Origins:
    """Samples, and which of them are ID, OOD and wild: unlabeled, a share of them OOD.

    Wild samples tell the FPR where no sample is labeled as OOD.
    """

    samples: Samples
    is_id: np.ndarray
    is_ood: np.ndarray
    is_wild: np.ndarray
    wild_share: float | None

    def halves(self):
        """Return the same where two intervals share the error of one."""
        level = (1 + self.samples.confidence_level) / 2
        return replace(self, samples=replace(self.samples, confidence_level=level))

    def tpr(self):
        """Return the share of the ID samples that is accepted."""
        return self.samples.coverage(self.is_id)

    def fpr(self):
        """Return the share of the OOD samples that is accepted."""
        if self.is_ood.any() or not self.is_wild.any():
            return self.samples.coverage(self.is_ood)
        halves, share = self.halves(), self.wild_share
        wild, inside = halves.samples.coverage(self.is_wild), halves.tpr()
        # The more of the ID samples are accepted, the fewer of the OOD ones are.
        pairs = zip(wild[:3], (inside.value, inside.high, inside.low), strict=True)
        value, low, high = (
            (mixed - (1 - share) * known) / share for mixed, known in pairs
        )
        ends = np.clip((low, high), 0.0, 1.0).tolist()
        return Interval(float(value), *ends, wild.n_samples)

    def precision(self, prior):
        """Return the precision, which grows with the TPR and falls with the FPR."""
        halves = self.halves()
        tpr, fpr = halves.tpr(), halves.fpr()
        pairs = (tpr.value, fpr.value), (tpr.low, fpr.high), (tpr.high, fpr.low)
        value, low, high = (precision_of(*pair, prior) for pair in pairs)
        return Interval(
            value,
            0.0 if np.isnan(low) else low,
            1.0 if np.isnan(high) else high,
            tpr.n_samples + fpr.n_samples,
        )

    def cost(self, costs, prior):
        """Return the mean cost at the prior, of an interval that two others make."""
        (reject_id, accept_ood, reject_ood), halves = costs, self.halves()
        of_id, fpr = halves.samples.failures(self.is_id, reject_id), halves.fpr()
        of_ood = [
            prior * (reject_ood + (accept_ood - reject_ood) * rate) if prior else 0.0
            for rate in fpr[:3]
        ]
        ends = zip(of_id[:3], of_ood, strict=True)
        ends = [float((1 - prior) * x + z) for x, z in ends]
        return Interval(*ends, of_id.n_samples + fpr.n_samples)


def _promises(estimator, origins):
    """Return what was asked for, and the precision wherever there is a prior."""
    rule, prior = estimator.rule_, estimator.ood_prior
    found = {
        "min_tpr": ("TPR", ">=", rule.tpr, origins.tpr),
        "max_fpr": ("FPR", "<=", rule.fpr, origins.fpr),
        "max_risk": (
            "risk",
            "<=",
            rule.selective_risk,
            lambda: origins.samples.risk(origins.is_id),
        ),
    }
    certified = getattr(rule.certificate, "confidence_level", None)
    promises = [
        ReportPromise(
            quantity, "all", sense, float(asked), certified, calibration, measure()
        )
        for name, (quantity, sense, calibration, measure) in found.items()
        if (asked := getattr(estimator, name)) is not None
    ]
    if estimator.costs is not None:
        achieved = origins.cost(estimator.costs, prior)
        calibration = _expected_cost(rule, estimator.costs, prior)
        promises.append(
            ReportPromise("cost", "all", "", _NAN, None, calibration, achieved)
        )
    if prior is not None:
        asked, sense = estimator.min_precision, ">="
        if asked is None:
            asked, sense, certified = _NAN, "", None
        promises.append(
            ReportPromise(
                "precision",
                "all",
                sense,
                float(asked),
                certified,
                rule.precision,
                origins.precision(prior),
            )
        )
    return promises


def _expected_cost(rule, costs, prior):
    """Return the mean cost at the prior on the samples that solved a rule."""
    reject_id, accept_ood, reject_ood = costs
    of_id = (1 - rule.tpr) * reject_id
    of_id += rule.tpr * rule.selective_risk if rule.tpr else 0.0
    of_ood = accept_ood * rule.fpr + reject_ood * (1 - rule.fpr) if prior else 0.0
    return float((1 - prior) * of_id + prior * of_ood)


def _kinds_of_ood(groups, is_ood):
    """Yield each kind of OOD samples, and which samples are of it."""
    if groups is None:
        return
    groups = column_or_1d(np.asarray(groups), warn=True)
    check_same_length(len(is_ood), groups=groups)
    # As Python objects, so that names of any kind may stand beside each other.
    groups = np.array(groups.tolist(), dtype=object)
    kinds = set(groups[is_ood].tolist())
    if any(kind is None or kind != kind for kind in kinds):
        raise ValueError(
            "groups has no value for an OOD sample (None or NaN). Pass the group of "
            "each OOD sample; the groups of other samples are not used."
        )
    for kind in sorted(kinds, key=lambda kind: (str(type(kind)), kind)):
        yield kind, is_ood & (groups == kind)
