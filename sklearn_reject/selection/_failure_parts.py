"""One rule under several bounds, each on the failures of a part, such as a class.

What is accepted must not depend on the part, which is unknown in use. So each part gets
a rule of its own, and a sample is accepted with the smallest of their probabilities: no
part then loses more than under its own rule, whose bound holds given how many samples
are of the part.

With confidence all bounds hold at once, without a share of the chance of an error for
each. Let t_y be the largest threshold that keeps the bound of part y, and z the part
with the smallest one. If the smallest of the thresholds found breaks any bound, it is
above t_z, and so is the one found for z. That alone has a chance of delta.
"""

import math

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._validation import check_samples
from sklearn_reject.exceptions import InfeasibleTargetError, about
from sklearn_reject.selection._failure_rate import (
    refuse_failure_weights,
    solve_target_failure_rate,
)
from sklearn_reject.selection._rule import RejectionRule, Thinning


def solve_failure_parts(
    scores,
    losses,
    parts,
    *,
    sample_weight=None,
    draws=None,
    random_state=None,
    **options,
):
    """Return the rule under all bounds, and the rule of each part, by its text.

    `parts` is a dict from the text of each to its rows, ndarray of shape (n_samples,)
    and dtype bool, and its target. The rest is as in `solve_target_failure_rate`. The
    common rule has no certificate, the others do.
    """
    refuse_failure_weights(sample_weight)
    scores, losses, _ = check_samples(scores, losses)
    if draws is None:
        # The same for all parts: the smallest of their thresholds has to be one.
        draws = check_random_state(random_state).random_sample(len(scores))
    draws = np.asarray(draws)
    rules = {}
    for name, (rows, target) in parts.items():
        if not rows.any():
            raise InfeasibleTargetError(
                f"{name} has no calibration sample, so that nothing is known of its "
                "failures. Give some, or leave its bound out."
            )
        try:
            with about(name):
                rules[name] = solve_target_failure_rate(
                    scores[rows], losses[rows], target, draws=draws[rows], **options
                )
        except InfeasibleTargetError as error:
            raise InfeasibleTargetError(
                f"{name}: {error}", attainable=error.attainable
            ) from None
    return strictest(rules.values()).measure(scores, losses), rules


def strictest(rules):
    """Return a rule that accepts no sample with more probability than any of them.

    It is their minimum but where several of them thin from different places on.
    """
    rules = list(rules)
    threshold = min(rule.threshold for rule in rules)
    at_threshold = 1.0
    if threshold < math.inf:
        at_threshold = _smallest(rules, threshold)
    thinnings = [rule.thinning for rule in rules if rule.thinning is not None]
    thinnings = [each for each in thinnings if each.start < threshold]
    if not thinnings:
        return RejectionRule(threshold, at_threshold)
    start = min(each.start for each in thinnings)
    proba = min(each.proba for each in thinnings)
    at_start = proba
    if start > -math.inf:
        at_start = max(proba, _smallest(rules, start))
    return RejectionRule(
        threshold, at_threshold, thinning=Thinning(start, at_start, proba)
    )


def _smallest(rules, score):
    """Return the smallest probability with which a score is accepted."""
    return min(float(rule.accept_proba([score])[0]) for rule in rules)
