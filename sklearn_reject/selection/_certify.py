"""Thresholds whose risk or coverage holds for the population with high probability.

Why testing at ranks is valid for a risk that may rise and fall: with noise, the risk R
of what a threshold accepts is continuous in the threshold. So R equals the target lam
where it crosses it, and the mean loss between two crossings is lam exactly. Given how
many samples fall between each two crossings, it is settled which ranks accept a
population with R > lam, and each of these accepts independent samples of mean lam or
more. Given the counts, then, these are so many fixed true hypotheses with valid
p-values, as every search but the bisection needs. Without noise the risk jumps over the
target, which makes such stretches worse from their first group on. The argument is then
complete for one start or a grid; for several starts, simulations support it.
"""

from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from scipy.stats import beta, binom

from sklearn_reject._infeasible import InfeasibleTargetError
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.selection._certificate import Certificate
from sklearn_reject.selection._p_values import (
    betting_p_value,
    binomial_p_values,
    fewest_to_pass,
    hoeffding_bentkus_p_values,
)
from sklearn_reject.selection._ranks import RankedSample
from sklearn_reject.selection._search import (
    count_bisections,
    find_by_bisection,
    find_by_bonferroni,
    find_by_fixed_sequence,
    grid_counts,
    locate_counts,
    start_counts,
)

BOUNDS = ("auto", "binomial", "hoeffding_bentkus", "betting")
SEARCHES = ("fixed_sequence", "bonferroni", "sgr")

# Thresholds of a sequence of bets. Twice as many cover .0015 more of 1e5 samples.
_N_BETS = 200

# Halvings, on a logarithmic scale, of the interval of the smallest certifiable risk.
_N_HALVINGS = 12


def check_confidence(confidence, sample_weight=None):
    """Return the confidence as a float, after refusing weights."""
    is_number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if not is_number or not 0 < confidence < 1:
        raise ValueError(
            f"confidence must be a number in ]0, 1[, got {confidence!r}. Pass one such "
            "as 0.9, or None for a rule without a guarantee."
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be combined with confidence: the guarantee is for "
            "samples drawn alike. Pass sample_weight=None, or confidence=None."
        )
    return float(confidence)


def choose_bound(losses, bound, max_loss):
    """Return the name of the bound and the largest loss, after checking them.

    Parameters
    ----------
    losses : ndarray of shape (n_samples,)
        Non-negative losses.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}
        What the user asks for.

    max_loss : float > 0 or None
        Largest loss that is possible. None stands for losses that are 0 or 1.

    Returns
    -------
    bound : {"binomial", "hoeffding_bentkus", "betting"}
        The bound to use.

    max_loss : float
        The largest loss.
    """
    check_option(bound, "bound", BOUNDS)
    largest = _check_max_loss(losses, max_loss)
    is_binary = bool(np.isin(losses, (0.0, largest)).all())
    if bound == "binomial" and not is_binary:
        raise ValueError(
            f"bound='binomial' is for losses that are 0 or {largest:g}, got "
            f"{_first_between(losses, largest)}. Pass bound='betting' or "
            "'hoeffding_bentkus'."
        )
    if bound == "auto":
        # What losses are possible decides, not what losses were seen: a choice between
        # two tests that looks at the sample would add up their errors.
        bound = "binomial" if max_loss is None else "betting"
    return bound, largest


def _check_max_loss(losses, max_loss):
    if max_loss is None:
        if np.isin(losses, (0.0, 1.0)).all():
            return 1.0
        raise ValueError(
            "max_loss is needed to certify losses that are not all 0 or 1, got "
            f"{_first_between(losses, 1.0)}. Pass the largest loss that is possible, "
            "not the largest in the sample: the guarantee rests on it."
        )
    largest = check_number(max_loss, "max_loss", open_low=True)
    if losses.max() > largest:
        raise ValueError(
            f"losses holds {losses.max():g}, above max_loss={largest:g}. Pass the "
            "largest loss that is possible, or clip the losses to max_loss."
        )
    return largest


def _first_between(losses, largest):
    """Return the first loss that is neither 0 nor the largest."""
    return losses[~np.isin(losses, (0.0, largest))][0]


@dataclass(frozen=True, eq=False)
class _Tests:
    """Tests of the thresholds of a sample of losses in [0, 1]."""

    ranked: RankedSample
    counts: np.ndarray
    bound: str
    search: str
    delta: float
    rows: tuple

    def find(self, risk):
        """Return how many samples the last threshold that passes accepts, or None."""
        p_values = partial(self.p_values, risk=risk)
        if self.search == "bonferroni":
            return find_by_bonferroni(p_values, self.counts, self.delta)
        if self.search == "sgr":
            return find_by_bisection(p_values, self.counts, self.delta)
        fewest = fewest_to_pass(self.bound, risk, self.delta)
        counts = self._affordable(fewest)
        return find_by_fixed_sequence(p_values, counts, self.delta, fewest)

    def _affordable(self, fewest):
        """Return the thresholds of a sequence: bets take time, so only some of them."""
        if self.bound != "betting":
            return self.counts
        n_samples = len(self.ranked)
        grid = grid_counts(n_samples, _N_BETS)
        wanted = np.append(grid, start_counts(n_samples, fewest))
        return self.counts[np.unique(locate_counts(self.counts, wanted))]

    def p_values(self, counts, risk):
        """Return the p-values where the numbers of accepted samples are as given."""
        if self.bound == "betting":
            return np.array([self._bet(count, risk) for count in counts])
        of_bound = {
            "binomial": binomial_p_values,
            "hoeffding_bentkus": hoeffding_bentkus_p_values,
        }
        return of_bound[self.bound](counts, self.ranked.loss_sums[counts], risk)

    def _bet(self, count, risk):
        ranks, losses = self.rows
        return betting_p_value(losses[ranks < count], risk, self.delta)


def certify_risk(
    ranked, risk, *, confidence, bound, search, max_loss, randomize, random_state
):
    """Find the threshold of largest coverage whose risk can be certified.

    Parameters
    ----------
    ranked : RankedSample
        The calibration sample, its losses in [0, `max_loss`].

    risk : float >= 0
        Bound on the selective risk.

    confidence : float in ]0, 1[
        Probability that the bound holds for the population.

    bound : {"binomial", "hoeffding_bentkus", "betting"}
        Where the p-values come from.

    search : {"fixed_sequence", "bonferroni", "sgr"}
        How thresholds are tested.

    max_loss : float
        Largest loss that is possible.

    randomize : bool
        Whether noise has broken the ties.

    random_state : RandomState instance
        Source of the order of the bets.

    Returns
    -------
    certificate : Certificate
        What is certified, for the rule that accepts its `n_accepted` first samples.

    Raises
    ------
    InfeasibleTargetError
        If no threshold passes.
    """
    scaled = RankedSample(
        ranked.order, ranked.scores, ranked.losses / max_loss, ranked.noise
    )
    certificate = partial(
        Certificate, "risk", risk, confidence, bound, search, len(ranked)
    )
    if risk >= max_loss:
        return certificate(len(ranked), 0.0)
    delta = 1 - confidence
    _refuse_hopeless(len(ranked), risk, max_loss, bound, search, delta)
    counts = ranked.accepted_counts(randomize)
    rows = scaled.shuffled(random_state) if bound == "betting" else ()
    tests = _Tests(scaled, counts, bound, search, delta, rows)
    n_accepted = tests.find(risk / max_loss)
    if n_accepted is None:
        raise _nothing_passes(tests, risk, max_loss, confidence)
    p_value = tests.p_values(np.array([n_accepted]), risk / max_loss)
    return certificate(n_accepted, float(p_value[0]))


def _refuse_hopeless(n_samples, risk, max_loss, bound, search, delta):
    """Raise where even a sample without any loss would pass no test."""
    if risk == 0:
        raise InfeasibleTargetError(
            "target (the selective risk) is 0, which no finite sample can certify: a "
            "small risk may show no loss at all. Ask for a positive one, or pass "
            "confidence=None."
        )
    fewest = _fewest_samples(risk / max_loss, bound, search, delta)
    if n_samples < fewest:
        raise InfeasibleTargetError(
            f"{n_samples} samples cannot certify the target risk {risk:g} at "
            f"confidence={1 - delta:g}, even without any loss: at least {fewest} are "
            "needed. Give more samples, or ask for a larger risk or less confidence."
        )


def _fewest_samples(risk, bound, search, delta):
    """Return the size of the smallest sample that can pass a test."""
    n_tests = {
        "fixed_sequence": lambda n_samples: 1,
        "bonferroni": lambda n_samples: len(grid_counts(n_samples)),
        "sgr": count_bisections,
    }[search]
    needed, tried = 1, 0
    while needed > tried:
        tried = needed
        needed = fewest_to_pass(bound, risk, delta / n_tests(tried))
        if search == "sgr":
            # The first test accepts half of the sample, and must pass.
            needed = 2 * needed - 1
    return needed


def _nothing_passes(tests, risk, max_loss, confidence):
    """Return the error of a target that no threshold passes, with one that does."""
    failing, passing, n_accepted = risk / max_loss, 1.0, len(tests.ranked)
    for _ in range(_N_HALVINGS):
        middle = (failing * passing) ** 0.5
        found = tests.find(middle)
        if found is None:
            failing = middle
        else:
            passing, n_accepted = middle, found
    lowest = passing * max_loss
    coverage = n_accepted / len(tests.ranked)
    return InfeasibleTargetError(
        f"No threshold can be certified to keep the target risk {risk:g} with "
        f"confidence={confidence:g} on {len(tests.ranked)} samples. About the smallest "
        f"risk that can be is {lowest:.6g}, at coverage {coverage:.6g}. Ask for a risk "
        "of at least that or less confidence, give more samples, or use a score that "
        "orders the errors better.",
        lowest_risk=lowest,
        coverage=coverage,
    )


def certify_coverage(n_samples, coverage, *, confidence):
    """Find the smallest rank whose score, as a threshold, has a certified coverage.

    The coverage of what is up to the sample of rank k has the law Beta(k, n + 1 - k).

    Parameters
    ----------
    n_samples : int
        Size n of the calibration sample.

    coverage : float in ]0, 1]
        Least share of the population to accept.

    confidence : float in ]0, 1[
        Probability that the coverage is reached.

    Returns
    -------
    certificate : Certificate
        What is certified, for the rule that accepts its `n_accepted` first samples; for
        the rule that accepts everything if these are all.
    """
    # Beta(k, n + 1 - k) >= om is as likely as fewer than k of n samples below om.
    rank = n_samples + 1
    if coverage < 1:
        rank = int(binom.ppf(confidence, n_samples, coverage)) + 1
    p_value = beta.cdf(coverage, rank, n_samples + 1 - rank) if rank <= n_samples else 0
    return Certificate(
        "coverage",
        coverage,
        confidence,
        "order_statistic",
        None,
        n_samples,
        min(rank, n_samples),
        float(p_value),
    )
