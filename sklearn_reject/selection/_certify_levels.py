"""What has to be certified of a rule of two scores, and how many samples that takes.

Every statement gets an equal share of the chance of an error, so that all of them hold
together with the confidence asked for.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection._ood_model import (
    MODEL_PARAMETERS,
    CostModel,
    RiskBoundedModel,
    check_model,
)
from sklearn_reject.selection._ood_problem import check_wild_share
from sklearn_reject.selection._ood_rule import precision_of
from sklearn_reject.selection._ood_solve import refuse_without_ood

# Chance that a bound is certified with a rule whose true rates are those tuned with.
_POWER = 0.95

# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9


@dataclass(frozen=True)
class Levels:
    """The bounds, and the chance of error that each of the statements may have.

    `wild_share` of the samples flagged as OOD are so, the others ID.
    """

    model: object
    wild_share: float
    confidence_level: float

    @property
    def min_tpr(self):
        """Least TPR."""
        return self.model.min_tpr

    @property
    def max_risk(self):
        """Largest risk; infinite where it is found, and not asked for."""
        return getattr(self.model, "max_risk", math.inf)

    @property
    def max_fpr(self):
        """Largest FPR beside the least TPR, None where none is asked for."""
        fpr = self.model.max_fpr_at(self.min_tpr)
        return None if fpr >= 1 else fpr

    @property
    def finds_fpr(self):
        """Whether a bound on the FPR is found, and not asked for."""
        return isinstance(self.model, RiskBoundedModel)

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

    def most_ood(self, n_ood):
        """Return the most OOD samples whose acceptance certifies the FPR, or -1."""
        return most_successes(n_ood, self.largest_rate(self.min_tpr), self.delta)


def most_successes(n_trials, share, delta):
    """Return the largest count that is as small with a chance of delta, or -1."""
    count = int(binom.ppf(delta, n_trials, share))
    return count if binom.cdf(count, n_trials, share) <= delta else count - 1


def check_levels(confidence_level, bounds, wild_share):
    """Return what to certify, from the parameters of a model as a dict."""
    model, _ = check_model(**{name: bounds.get(name) for name in MODEL_PARAMETERS})
    if isinstance(model, CostModel):
        raise ValueError(
            f"costs={bounds['costs']!r} are not bounds and cannot be certified. Pass "
            "min_tpr and max_fpr, min_tpr and max_risk, or min_precision, min_recall "
            "and ood_prior."
        )
    return Levels(model, check_wild_share(wild_share), confidence_level)


def rates_to_certify(
    n_id,
    n_ood,
    confidence_level,
    bounds,
    *,
    wild_share=None,
    bound="binomial",
    max_loss=1.0,
):
    """Return rates, as dicts, that make it likely that the bounds can be certified.

    To tune with these, rather than with the bounds, finds the direction that serves the
    certified rule best. The first rates leave room for FPR or risk on the calibration
    sample to be larger than it is on the tuning sample; the second are just enough.
    `bound` and `max_loss` are those of the risk, where that has a bound.
    """
    levels = check_levels(confidence_level, bounds, wild_share)
    if max_loss is not None:
        check_number(max_loss, "max_loss", open_low=True)
    refuse_few_samples(levels, n_id, n_ood, max_loss or 1.0)
    rank = levels.rank(n_id)
    min_tpr = rank / n_id
    if levels.finds_fpr:
        risks = _risks_to_certify(levels, rank - 1, bound, max_loss or 1.0)
        return [{"min_tpr": min_tpr, "max_risk": risk} for risk in risks]
    if levels.max_fpr is None:
        return [{"min_tpr": min_tpr, "max_fpr": None}]
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
    wanted = f"{model.tpr_name}={levels.min_tpr:g}"
    if levels.rank(n_id) > n_id:
        raise InfeasibleTargetError(
            f"{n_id} ID samples cannot certify {wanted}, even if all are accepted: "
            f"{_count(levels.min_tpr, delta)} are needed",
            f"Use more samples, a lower {model.tpr_name}, or a lower confidence.",
            _most_tpr(levels, n_id),
        )
    if levels.finds_fpr:
        if not n_ood:
            refuse_without_ood(model)
        _refuse_few_accepted(levels, levels.rank(n_id) - 1, max_loss)
    if levels.max_fpr is not None and levels.most_ood(n_ood) < 0:
        rate = levels.largest_rate(levels.min_tpr)
        raise InfeasibleTargetError(
            f"{n_ood} OOD samples cannot certify {model.ood_name}={model.bound:g} "
            f"together with {wanted}, even if none is accepted: "
            f"{_count(1 - rate, delta)} are needed",
            f"Use more samples, relax {model.ood_name}, or use a lower confidence.",
            _least_fpr(levels, n_ood),
        )


def _most_tpr(levels, n_id):
    """Return the TPR that so many ID samples certify, all accepted."""
    if not n_id:
        return {}
    return {levels.model.tpr_name: levels.delta ** (1 / n_id) * (1 - _SLACK)}


def _least_fpr(levels, n_ood):
    """Return the FPR or precision that so many OOD samples certify, none accepted."""
    if not n_ood:
        return {}
    rate = min(1.0, (1 - levels.delta ** (1 / n_ood)) * (1 + _SLACK))
    fpr = levels.fpr_of_rate(rate, levels.min_tpr)
    if not levels.model.names_precision:
        return {"max_fpr": fpr}
    precision = precision_of(levels.min_tpr, fpr, levels.model.ood_prior)
    return {"min_precision": precision * (1 - _SLACK)}


def _refuse_few_accepted(levels, n_accepted, max_loss):
    share = levels.max_risk / max_loss
    if share >= 1 or (1 - share) ** n_accepted <= levels.delta:
        return
    raise InfeasibleTargetError(
        f"{n_accepted} accepted ID samples cannot certify "
        f"max_risk={levels.max_risk:g} together with min_tpr={levels.min_tpr:g}, even "
        f"without any loss: {_count(1 - share, levels.delta)} are needed",
        "Use more samples, raise max_risk, or use a lower confidence.",
        _least_risk(levels, n_accepted, max_loss),
    )


def _least_risk(levels, n_accepted, max_loss):
    """Return the risk that so many accepted samples certify, none of any loss."""
    if not n_accepted:
        return {}
    share = 1 - levels.delta ** (1 / n_accepted)
    return {"max_risk": share * max_loss * (1 + _SLACK)}


def _count(share, delta):
    """Return how many samples of a share are all inside with probability delta."""
    if share == 1:
        return "infinitely many"
    return f"at least {int(np.ceil(np.log(delta) / np.log(share)))}"
