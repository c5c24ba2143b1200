"""What has to be certified of a rule of two scores, and how many samples that takes.

Every statement gets an equal share of the chance of an error, so that all of them hold
together with the confidence asked for.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection._ood_model import OODModel, check_ood
from sklearn_reject.selection._ood_rule import precision_of

# Chance that a bound is certified with a rule whose true rates are those tuned with.
_POWER = 0.95

# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9


@dataclass(frozen=True)
class Levels:
    """The bounds, and the chance of error that each of the statements may have.

    `wild_share` of the samples flagged as OOD are so, the others ID.
    """

    model: OODModel
    wild_share: float
    confidence_level: float

    @property
    def min_tpr(self):
        """Least TPR."""
        return self.model.min_tpr

    @property
    def max_risk(self):
        """Largest risk; infinite where it is found, and not asked for."""
        return self.model.bound if self.finds_fpr else math.inf

    @property
    def max_fpr(self):
        """Largest FPR beside the least TPR, None where none is asked for."""
        fpr = self.model.max_fpr_at(self.min_tpr)
        return None if fpr >= 1 else fpr

    @property
    def finds_fpr(self):
        """Whether a bound on the FPR is found, and not asked for."""
        return not self.model.minimizes_risk

    @property
    def delta(self):
        """Chance of error of each statement: on TPR, risk and maybe FPR."""
        n_statements = 2 if self.max_fpr is None and not self.finds_fpr else 3
        return (1 - self.confidence_level) / n_statements

    def rank(self, n_id):
        """Return the rank of the ID sample that reaches the TPR, maybe above n_id."""
        # Beta(k, n + 1 - k) >= t is as likely as fewer than k of n samples below t.
        if self.min_tpr == 1:
            return n_id + 1
        return int(binom.ppf(1 - self.delta, n_id, self.min_tpr)) + 1

    def largest_rate(self, tpr):
        """Return which share of the flagged samples may be accepted beside a TPR."""
        of_id = (1 - self.wild_share) * tpr
        return self.wild_share * self.model.max_fpr_at(tpr) + of_id

    def fpr_of_rate(self, rate, tpr):
        """Return the FPR where a share of the flagged samples is accepted."""
        return max(0.0, (rate - (1 - self.wild_share) * tpr) / self.wild_share)

    def bound_of_fpr(self, fpr):
        """Return an FPR that is certified, or the precision that it implies."""
        if not self.model.bounds_precision:
            return fpr
        precision = precision_of(self.min_tpr, fpr, self.model.ood_prior)
        return precision * (1 - _SLACK)

    def most_ood(self, n_ood):
        """Return the most OOD samples whose acceptance certifies the FPR, or -1."""
        return most_successes(n_ood, self.largest_rate(self.min_tpr), self.delta)


def most_successes(n_trials, share, delta):
    """Return the largest count that is as small with a chance of delta, or -1."""
    count = int(binom.ppf(delta, n_trials, share))
    return count if binom.cdf(count, n_trials, share) <= delta else count - 1


def rates_to_certify(levels, n_id, n_ood, *, bound="binomial", max_loss=1.0):
    """Return rates, as dicts, that make it likely that the bounds can be certified.

    To tune with these, rather than with the bounds, finds the direction that serves the
    certified rule best. The first rates leave room for FPR or risk on the calibration
    sample to be larger than it is on the tuning sample; the second are just enough.
    `bound` and `max_loss` are those of the risk, where that has a bound.
    """
    refuse_few_samples(levels, n_id, n_ood, max_loss)
    rank = levels.rank(n_id)
    min_tpr = rank / n_id
    if levels.finds_fpr:
        risks = _risks_to_certify(levels, rank - 1, bound, max_loss)
        return [{"min_tpr": min_tpr, "max_risk": risk} for risk in risks]
    if levels.max_fpr is None:
        # Any FPR will do, or none was spoken of: it is then part of the risk.
        model, beside = levels.model, {"max_fpr": 1.0}
        if model.name is None:
            beside = {"ood_prior": model.ood_prior}
        return [{"min_tpr": min_tpr, **beside}]
    rates = _shares_to_certify(levels.most_ood(n_ood), n_ood)
    rates = [levels.fpr_of_rate(rate, min_tpr) for rate in rates]
    return [{"min_tpr": min_tpr, "max_fpr": max_fpr} for max_fpr in rates]


def _shares_to_certify(most, n_trials):
    """Return a share that leads to at most so many with high power, and that itself."""
    # Bin(n, p) <= most is as likely as Beta(most + 1, n - most) > p.
    return float(beta.ppf(1 - _POWER, most + 1, n_trials - most)), most / n_trials


def _risks_to_certify(levels, n_accepted, bound, max_loss):
    if levels.max_risk >= max_loss:
        return [levels.max_risk]
    # The bound of Hoeffding and Bentkus is at most e times the binomial tail.
    delta = levels.delta if bound == "binomial" else levels.delta / math.e
    most = most_successes(n_accepted, levels.max_risk / max_loss, delta)
    shares = _shares_to_certify(max(most, 0), n_accepted)
    return [share * max_loss for share in shares]


def refuse_few_samples(levels, n_id, n_ood, max_loss):
    """Raise where nothing that the samples could hold would certify the bounds."""
    model, delta = levels.model, levels.delta
    wanted = f"min_tpr={levels.min_tpr:g}"
    rank = levels.rank(n_id)
    if rank > n_id:
        raise InfeasibleTargetError(
            f"{n_id} ID samples cannot certify {wanted}, even if all are accepted: "
            f"{_count(levels.min_tpr, delta)} are needed",
            "Use more samples, a lower min_tpr, or a lower confidence.",
            # What all of them certify.
            {"min_tpr": delta ** (1 / n_id) * (1 - _SLACK)} if n_id else None,
        )
    if levels.finds_fpr:
        check_ood(model, n_ood)
        _refuse_few_accepted(levels, rank - 1, max_loss)
    if levels.max_fpr is not None and levels.most_ood(n_ood) < 0:
        rate = levels.largest_rate(levels.min_tpr)
        raise InfeasibleTargetError(
            f"{n_ood} OOD samples cannot certify {model.asked} together with {wanted}, "
            f"even if none is accepted: {_count(1 - rate, delta)} are needed",
            f"Use more samples, relax {model.name}, or use a lower confidence.",
            _least_fpr(levels, n_ood),
        )


def _least_fpr(levels, n_ood):
    """Return the FPR or precision that so many OOD samples certify, none accepted."""
    if not n_ood:
        return {}
    rate = min(1.0, (1 - levels.delta ** (1 / n_ood)) * (1 + _SLACK))
    fpr = levels.fpr_of_rate(rate, levels.min_tpr)
    return {levels.model.name: levels.bound_of_fpr(fpr)}


def _refuse_few_accepted(levels, n_accepted, max_loss):
    share = levels.max_risk / max_loss
    if share >= 1 or (1 - share) ** n_accepted <= levels.delta:
        return
    attainable = {}
    if n_accepted:  # what is certified of these without any loss
        least = 1 - levels.delta ** (1 / n_accepted)
        attainable["max_risk"] = least * max_loss * (1 + _SLACK)
    raise InfeasibleTargetError(
        f"{n_accepted} accepted ID samples cannot certify {levels.model.asked} "
        f"together with min_tpr={levels.min_tpr:g}, even without any loss: "
        f"{_count(1 - share, levels.delta)} are needed",
        "Use more samples, raise max_risk, or use a lower confidence.",
        attainable,
    )


def _count(share, delta):
    """Return how many samples of a share are all inside with probability delta."""
    if share == 1:
        return "infinitely many"
    return f"at least {int(np.ceil(np.log(delta) / np.log(share)))}"
