"""How often bounds on TPR and FPR are missed by the population, and the risk, too."""

from dataclasses import dataclass

import numpy as np

from benchmarks._report import Row, at_most
from benchmarks.papers._fpp23_population import MAX_FPR, MIN_TPR, cells
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.selection import (
    InfeasibleTargetError,
    Levels,
    certify_double_score,
    check_model,
    tune_double_score,
)

TITLE = f"synthetic example of FPP23, TPR >= {MIN_TPR} and FPR <= {MAX_FPR} asked for"

_REPETITIONS = {100: 400, 300: 400, 1000: 200, 10_000: 40}
_BOUNDS = {"min_tpr": MIN_TPR, "max_fpr": MAX_FPR}
_CONFIDENCE = 0.9

_METHODS = ("tuned", "within a standard error", f"confidence {_CONFIDENCE}")


@dataclass(frozen=True)
class _Outcome:
    """What a rule does to the population, beside what it does to the sample."""

    tpr: float
    fpr: float
    risk: float
    tuned_risk: float
    max_risk: float

    @property
    def misses(self):
        """Whether TPR and FPR are missed, and the certified risk; one of them."""
        missed = self.tpr < MIN_TPR, self.fpr > MAX_FPR, self.risk > self.max_risk
        return *missed, any(missed)


def run():
    """Return the rows of the table."""
    for n_samples, repetitions in _REPETITIONS.items():
        for method in _METHODS:
            solve = _certify if method == _METHODS[-1] else _tune
            found = [solve(method, n_samples, seed) for seed in range(repetitions)]
            outcomes = [_measure(rule) for rule in found if rule is not None]
            yield _row(f"n = {n_samples}, {method}", outcomes, repetitions)


def _draw(n_samples, seed):
    """Return true scores, losses and origins."""
    sample = make_fpp23_mixture(n_samples, return_X_y=False, random_state=seed)
    is_ood = sample.target == -1
    losses = (sample.prediction != sample.target) & ~is_ood
    return sample.risk, sample.likelihood_ratio, losses * 1.0, is_ood


def _tune(method, n_samples, seed):
    sample = _draw(n_samples, seed)
    try:
        rule = tune_double_score(*sample, **_BOUNDS)
    except InfeasibleTargetError:
        return None
    if method == "tuned":
        return rule
    limit = rule.selective_risk + _standard_error(rule, *sample)
    return tune_double_score(*sample, min_tpr=MIN_TPR, max_risk=limit)


def _standard_error(rule, risk, ratio, losses, is_ood):
    """Return the standard error of the mean loss of what a rule accepts."""
    accepted = rule.accept_proba(risk, ratio)[~is_ood]
    share = accepted / accepted.sum()
    variance = share @ (losses[~is_ood] - share @ losses[~is_ood]) ** 2
    return float(np.sqrt(variance * (share @ share)))


def _certify(method, n_samples, seed):
    """Tune the weights on one half of the samples, set the threshold on the other."""
    half = n_samples // 2
    sample = _draw(n_samples, seed)
    tuning = [column[:half] for column in sample]
    held_out = [column[half:] for column in sample]
    n_ood = int(held_out[-1].sum())
    levels = Levels(check_model(**_BOUNDS), 1.0, _CONFIDENCE)
    try:
        rates = levels.rates_to_certify(len(held_out[-1]) - n_ood, n_ood)
    except InfeasibleTargetError:
        return None
    for asked in rates:
        try:
            rule = tune_double_score(*tuning, **asked)
            return certify_double_score(
                rule,
                *held_out,
                **_BOUNDS,
                confidence_level=_CONFIDENCE,
                random_state=seed,
            )
        except InfeasibleTargetError:
            continue
    return None


def _measure(rule):
    population = cells(20_000)
    accepted = rule.accept_proba(population.risk, population.ratio)
    tpr = float(population.id_mass @ accepted)
    return _Outcome(
        tpr,
        float(population.ood_mass @ accepted),
        float(population.loss @ accepted) / tpr,
        rule.selective_risk,
        np.inf if rule.certificate is None else rule.certificate.max_risk,
    )


def _row(what, outcomes, repetitions):
    """Ask for what confidence promises; without one, nothing is promised."""
    if not outcomes:
        return Row(what, measured="no rule")
    misses = np.mean([outcome.misses for outcome in outcomes], axis=0)
    risk = np.mean([outcome.risk for outcome in outcomes])
    tuned = np.mean([outcome.tuned_risk for outcome in outcomes])
    fpr = np.mean([outcome.fpr for outcome in outcomes])
    tpr, bound, largest, either = misses
    details = (
        f"missed: TPR {tpr:.2f}, FPR {bound:.2f}, certified risk {largest:.2f}; "
        f"mean FPR {fpr:.3f}, risk {risk:.4f}, {risk / tuned - 1:+.1%} of the tuned "
        f"one; a rule in {len(outcomes)} of {repetitions}"
    )
    if what.endswith(_METHODS[-1]):
        # Where there is no rule, nothing is missed.
        return at_most(
            what, 1 - _CONFIDENCE, either * len(outcomes) / repetitions, "", details
        )
    return Row(what, measured=f"{either:.3g}", details=details)
