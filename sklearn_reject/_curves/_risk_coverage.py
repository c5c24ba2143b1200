"""The risk-coverage curve of a sample and single points on it."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE, group_by_score
from sklearn_reject._curves._origins import gather_samples
from sklearn_reject._validation import check_number


def risk_coverage_curve(
    scores, losses, *, is_ood=None, max_fpr=None, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.risk_coverage_curve` of losses.

    Scores may be infinite where `is_ood` is given; losses of OOD samples are not used.
    """
    if max_fpr is not None:
        max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    if is_ood is not None:
        return _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight)
    if max_fpr is not None:
        raise ValueError(
            f"max_fpr={max_fpr:g} limits the OOD samples that are accepted, but no "
            "sample is marked as OOD. Pass is_ood, or ood_label to the metric of the "
            "same name."
        )
    groups = group_by_score(scores, losses, sample_weight)
    weights, losses = groups.cumulative_weights, groups.cumulative_losses
    # In place, as nothing else is made of these groups.
    losses /= weights
    weights /= groups.total_weight
    return weights, losses, groups.scores


def _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight):
    if np.ndim(scores) == 2:
        raise ValueError(
            f"scores has shape {np.shape(scores)}, but the curve needs a single score. "
            "For two scores use risk_coverage_frontier."
        )
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    if max_fpr is None:
        max_fpr = 1.0
    else:
        samples.refuse_without_ood("a bound on the FPR")
    groups = samples.group()
    accepted_id = groups.accepted_id[1:]
    allowed = groups.false_positive_rates[1:] <= max_fpr * (1 + RELATIVE_TOLERANCE)
    points = (groups.id_weights > 0) & allowed
    risk = groups.accepted_losses[1:][points] / accepted_id[points]
    return accepted_id[points] / groups.total_id, risk, groups.scores[points]


def selective_risk_at_coverage_score(
    scores, losses, *, coverage, randomize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.selective_risk_at_coverage_score`."""
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    groups = group_by_score(scores, losses, sample_weight)
    n_groups = groups.count_reaching_coverage(coverage)
    share = share_reaching_coverage(groups, n_groups, coverage) if randomize else 1.0
    weight, loss = groups.prefix(n_groups - 1, share)
    return loss / weight


def coverage_at_risk_score(
    scores, losses, *, risk, randomize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.coverage_at_risk_score` of losses."""
    risk = check_number(risk, "risk")
    groups = group_by_score(scores, losses, sample_weight)
    n_groups = groups.count_within_risk(risk)
    if n_groups == 0:
        warnings.warn(
            f"No threshold has a selective risk of at most risk={risk:g}, so the "
            "coverage is undefined and set to NaN. Pass a larger risk.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    share = share_within_risk(groups, n_groups, risk) if randomize else 0.0
    return groups.prefix(n_groups, share)[0] / float(groups.total_weight)


def share_reaching_coverage(groups, n_groups, coverage):
    """Return the share of the last of the groups needed that makes a coverage exact."""
    below, _ = groups.prefix(n_groups - 1)
    wanted = coverage * groups.total_weight
    if groups.cumulative_weights[n_groups - 1] <= wanted * (1 + RELATIVE_TOLERANCE):
        return 1.0
    return float((wanted - below) / groups.weights[n_groups - 1])


def share_within_risk(groups, n_groups, risk):
    """Return the share of the group after those within a risk that makes it exact.

    It is zero where there is no other group.
    """
    weight, loss = groups.prefix(n_groups)
    allowed = risk * weight
    if n_groups == len(groups) or loss >= allowed * (1 - RELATIVE_TOLERANCE):
        return 0.0
    excess = groups.losses[n_groups] - risk * groups.weights[n_groups]
    # Below 1, because the whole group would exceed the risk.
    return float((allowed - loss) / excess)
