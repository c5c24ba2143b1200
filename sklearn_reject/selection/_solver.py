"""What all solvers on arrays share: checks, groups, and the order of scores."""

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from inspect import signature

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._curves._risk_coverage import selective_risk_at_coverage_score
from sklearn_reject._validation import (
    check_level,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    refuse_arrays,
    take_weight,
)
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings, warn_user
from sklearn_reject.selection._certify import check_bound
from sklearn_reject.selection._groups import (
    REJECT_ALL,
    enumerate_labels,
    enumerate_texts,
    is_present,
    make_partition,
    share_confidence,
    sum_up,
    targets_by_group,
)
from sklearn_reject.selection._sample import Clusters, read_losses

# Rows that are looked at: far more than it takes to see that an order is backwards.
_MOST_ROWS, _FEW_ROWS = 2**14, 2**11

# What a useless score accepts is worse than the whole by more in one of 44 samples, and
# what a useless gain defers in one of 700.
_STANDARD_ERRORS, _ERRORS_OF_GAINS = 2, 3

WAY_OUT = "Higher must mean more uncertain. Change the sign, or use another score"

# Who asks several solvers, or has asked already, tells it once.
IS_TOLD = ContextVar("IS_TOLD", default=False)


def solver(solve, by_group=None):
    """Decorate a solver on arrays.

    It refuses arrays that NumPy would misread, solves a rule for each of `groups` by
    another function, and warns of scores in the wrong order unless somebody else does.
    """
    by_group = by_group or _solve_groups
    call = signature(solve)
    names = list(call.parameters)
    is_deferral = names[0] == "gain"
    warn = warn_of_backward_gain if is_deferral else warn_of_backward_scores
    of_order = [*names[: 3 if is_deferral else 2], "sample_weight"]

    @wraps(solve)
    def solved(*args, **kwargs):
        given = dict(zip(names, args, strict=False)) | kwargs
        refuse_arrays(given)
        if "randomize" in names:
            check_option(given.get("randomize", True), "randomize", (True, False))
        if "bound" in names:
            check_bound(given.get("bound", "auto"), given.get("max_loss"))
        with order_told():
            if given.get("groups") is not None:
                rule = by_group(solve, **call.bind(*args, **kwargs).arguments)
            elif given.get("all_groups") is not None:
                raise ValueError("all_groups needs the group of each sample as groups.")
            else:
                rule = solve(*args, **kwargs)
        if not IS_TOLD.get():
            labels = given.get("groups"), given.get("clusters")
            warn(*map(given.get, of_order), *labels)
        return rule

    return solved


def _solve_groups(
    solve,
    scores,
    losses,
    target,
    groups,
    all_groups=None,
    sample_weight=None,
    **options,
):
    """Return the rule of each group of samples as one."""
    scores = check_vector(scores, "scores")
    known = options.get("inclusion_proba"), len(scores)
    losses, is_labelled = read_losses(losses, *known)
    losses = np.where(is_labelled, losses, np.nan)
    weight = check_sample_weight(sample_weight, len(scores))
    partition = make_partition(groups, len(scores), all_groups)
    targets = targets_by_group(target, partition.labels)
    options_of = options_by_group(options, partition, len(scores))

    def solve_one(label, rows):
        if not is_labelled[rows].any():
            raise InfeasibleTargetError("none of its samples is labelled")
        sample = scores[rows], losses[rows], targets[label]
        weight_of = take_weight(weight, rows)
        return solve(*sample, sample_weight=weight_of, **options_of(label, rows))

    return solve_by_group(partition, solve_one, targets, weight)


def options_by_group(options, partition, n_samples):
    """Return the options of the solver for a group, as a function of label and rows."""
    of_rows, seeds = {}, {}
    for name in ("draws", "inclusion_proba"):
        if np.ndim(options.get(name)):
            check_same_length(n_samples, **{name: options[name]})
            of_rows[name] = np.asarray(options[name])
    if options.get("clusters") is not None:
        of_rows["clusters"] = Clusters.of(options["clusters"], n_samples)
    if options.get("confidence_level") is not None:
        level = check_level(options["confidence_level"], "confidence_level")
        level = share_confidence(level, len(partition))
        options = options | {"confidence_level": level}
        # A group's own, so that it does not matter what those before it have drawn.
        random_state = check_random_state(options.get("random_state"))
        seeds = random_state.randint(np.iinfo(np.int32).max, size=len(partition))
        seeds = dict(zip(partition.labels, seeds.tolist(), strict=True))

    def options_of(label, rows):
        found = options | {name: values[rows] for name, values in of_rows.items()}
        return found | {"random_state": seeds[label]} if seeds else found

    return options_of


def solve_by_group(partition, solve, targets, weight=None):
    """Return the rule of each group that `solve` finds for its label and its rows.

    A group without a rule that meets its target, or without a sample, is rejected, and
    named in one warning.
    """

    def reject(label, rows):
        coverage = 0.0 if is_present(rows, take_weight(weight, rows)) else np.nan
        return replace(REJECT_ALL, coverage=coverage, reject_cost=0.0)

    fate = "are rejected as a whole"
    rules = collect_rules(partition, solve, reject, targets, fate, weight)
    return sum_up(rules, partition, weight)


def collect_rules(partition, solve, give_up, targets, fate, weight=None):
    """Return the rule of each group, and say once what there is to say of several.

    `solve` finds it for the label and the rows; where it finds none, `give_up` does.
    `fate` is what such groups do.
    """
    rules, failures, remarks = {}, {}, {}
    for label, rows in partition:
        try:
            if not is_present(rows, take_weight(weight, rows)):
                raise InfeasibleTargetError("it has no calibration sample")
            with gather_warnings() as messages:
                rules[label] = solve(label, rows)
            for topic, (first, *_) in messages.items():
                remarks.setdefault(topic, {})[label] = first
        except InfeasibleTargetError as error:
            failures[label] = error
            rules[label] = give_up(label, rows)
    if failures:
        _report_failures(failures, targets, fate)
    for (label, message), *others in (each.items() for each in remarks.values()):
        if others:
            others = enumerate_labels(label for label, _ in others)
            message = f"{message} The same applies to the groups {others}."
        warn_user(f"group {label!r}: {message}")
    return rules


def _report_failures(failures, targets, fate):
    """Warn of groups without a rule that meets its target, or raise where none has."""
    texts = [f"{label!r}: {error.problem}" for label, error in failures.items()]
    texts = enumerate_texts(texts, "; ")
    if len(failures) == len(targets):
        # What each group can meet, by parameter, or its target if nothing.
        names = {name for error in failures.values() for name in error.attainable}
        met = {
            name: {k: failures[k].attainable.get(name, targets[k]) for k in failures}
            for name in names
        }
        raise InfeasibleTargetError(
            f"No group has a rule that meets its target. {texts}",
            "Use a larger risk (a dict sets one for each group), fewer groups, as they "
            "share the confidence, a lower confidence, or more samples.",
            met,
        )
    warn_user(
        f"{len(failures)} of {len(targets)} groups have no rule that meets the target, "
        f"and {fate}. {texts}. Join them with others, add samples of them, or pass a "
        "dict of targets."
    )


@contextmanager
def order_told():
    """Leave out what solvers say of the order of scores, which is said elsewhere."""
    token = IS_TOLD.set(True)
    try:
        yield
    finally:
        IS_TOLD.reset(token)


def warn_of_backward_scores(
    scores,
    losses,
    weight=None,
    groups=None,
    clusters=None,
    *,
    way_out=WAY_OUT,
    what="uncertainty score",
):
    """Warn where the certain half of the samples has a larger risk than all."""
    labels = groups, clusters
    half, mean = _find_backward(scores, losses, weight, *labels, _STANDARD_ERRORS)
    if half is not None:
        warn_user(
            f"The {what} ranks the errors backwards: the more certain half of the "
            f"samples has risk {half:.3g}, all of them have {mean:.3g}. {way_out}."
        )


def warn_of_backward_gain(
    gain, loss_first, loss_second, weight=None, groups=None, clusters=None
):
    """Warn where asking about the half of the highest gains helps less than about any.

    Samples whose second opinion is unknown do not count.
    """
    losses = np.asarray(loss_first), np.asarray(loss_second)
    rows = np.flatnonzero(~np.any([find_missing_labels(x) for x in losses], axis=0))
    if clusters is not None:
        clusters = Clusters.of(clusters, len(losses[0]))[rows]
    rows = rows[_evenly(len(rows))]
    given = gain, loss_first, loss_second, weight, groups
    given = [np.asarray(each)[rows] if np.ndim(each) else None for each in given]
    gain, first, second, *others = given
    others += [clusters]
    change = second.astype(np.float64) - first.astype(np.float64)
    half, mean = _find_backward(-gain, change, *others, _ERRORS_OF_GAINS)
    if half is not None:
        warn_user(
            "The gain score seems to have the wrong sign: where it is high, asking "
            f"changes the loss by {half:.3g}, everywhere by {mean:.3g}. "
            "Higher must mean that asking helps more (an estimator learns that with "
            "gain_score='gain'), and a loss of 1 that an answer is wrong.",
            once=True,
        )


def _find_backward(scores, losses, weight, groups, clusters, n_errors):
    """Return the risks of the half of low scores and of all, if the first is larger.

    That is by more than chance; else None twice. Of many samples, some are looked at.
    """
    rows = np.flatnonzero(~find_missing_labels(np.asarray(losses)))
    rows = rows[_evenly(len(rows))]
    if clusters is not None:
        # Rows of a cluster may be one and the same.
        codes = Clusters.of(clusters, len(scores)).codes
        n_errors *= (len(codes) / len(np.unique(codes))) ** 0.5
    given = scores, losses, weight, groups
    given = (np.asarray(each)[rows] if np.ndim(each) else None for each in given)
    scores, losses, weight, groups = given
    losses = losses.astype(np.float64)
    if groups is not None:
        # Of one group, scores are not compared with those of another.
        scores = _ranks_in_groups(scores, groups)
    if _is_in_order(scores, losses) if weight is None else not weight.any():
        return None, None
    options = {"coverage": 0.5, "randomize": True, "sample_weight": weight}
    lowest = min(0.0, losses.min())
    half = selective_risk_at_coverage_score(scores, losses - lowest, **options) + lowest
    is_worse, mean = is_riskier(half, 0.5, losses, weight, n_errors)
    return (half, mean) if is_worse else (None, None)


def _evenly(n_rows):
    """Return some evenly spaced rows, all if they are not many."""
    return slice(None, None, max(1, -(-n_rows // _MOST_ROWS)))


def _is_in_order(scores, losses):
    """Tell, in a fraction of the time, that the half of low scores has lower losses."""
    step = max(1, len(scores) // _FEW_ROWS)
    scores, losses = scores[::step], losses[::step]
    middle = len(scores) // 2
    median = np.partition(scores, middle)[middle]
    below, tied = scores < median, scores == median
    share = (len(scores) / 2 - np.count_nonzero(below)) / np.count_nonzero(tied)
    half = np.vdot(losses, below) + share * np.vdot(losses, tied)
    return half <= losses.sum() / 2


def is_riskier(risk, coverage, losses, weight, n_errors=_STANDARD_ERRORS):
    """Tell whether a part has a larger risk than all samples, by more than chance.

    Returns the risk of all, too.
    """
    mean = float(np.average(losses, weights=weight))
    variance = np.average((losses - mean) ** 2, weights=weight)
    n_samples = len(losses)
    if weight is not None:
        n_samples = weight.sum() ** 2 / (weight**2).sum()
    # Of a random part, whose samples are drawn without replacement.
    error = np.sqrt(variance / n_samples * (1 - coverage) / coverage)
    return risk - mean > max(n_errors * error, RELATIVE_TOLERANCE * abs(mean)), mean


def _ranks_in_groups(scores, groups):
    """Return the ranks of scores in their groups, in (0, 1), those of ties the mean."""
    ranks = np.empty(len(scores))
    for _, rows in make_partition(groups, len(scores)):
        ranks[rows] = (rankdata(scores[rows]) - 0.5) / len(rows)
    return ranks
