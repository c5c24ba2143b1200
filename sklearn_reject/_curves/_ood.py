"""Samples of two kinds by score, and their curves and areas: ROC, PR, frontiers, PN.

They are in or out of distribution or, on a PN curve, rated positive or negative.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import trapezoid
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._directions import (
    combine,
    lift_risk,
    score_directions,
    sizes_of_sums,
)
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    first_thresholds,
    make_finite,
)
from sklearn_reject._validation import (
    check_extended_vector,
    check_flags,
    check_number,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
)
from sklearn_reject.exceptions import warn_user

# What to do where OOD samples are needed and there are none.
MARK_OOD = (
    "Mark OOD samples: in curves with is_ood, in metrics and scorers with ood_label "
    "('auto' is 'ood' for strings and -1 for numbers, unless -1 is one of two "
    "classes). In cross-validation, use stratified folds, so that each has some."
)


class OriginGroups(Prefixes):
    """ID and OOD samples by score: the columns are "id", "ood" and "loss".

    A rule accepts the first groups and maybe a share of the next one. Samples of score
    minus infinity are accepted by every rule, those of score infinity by none.

    >>> from sklearn_reject._curves._ood import gather_samples
    >>> samples = gather_samples([0.1, 0.4, 0.4, 0.8], None, [0, 0, 1, 1], None)
    >>> groups = samples.group()
    >>> groups.thresholds, groups.columns["id"], groups.columns["ood"]
    (array([-inf,  0.1,  0.4,  0.8]), array([1., 1., 0.]), array([0., 1., 1.]))
    >>> groups.true_positive_rates, groups.false_positive_rates
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]))
    """

    @property
    def _rules(self):
        """Which of the first 0, 1, ... groups a rule may accept."""
        has_least, has_most = self.scores[[0, -1]] == [-np.inf, np.inf]
        return slice(int(has_least), len(self) + 1 - int(has_most))

    @property
    def thresholds(self):
        """Largest score that each rule accepts, increasing."""
        return np.append(-np.inf, self.scores)[self._rules]

    def accepted(self, name):
        """Return the sum of a column over what each rule accepts."""
        return self.sums(name)[self._rules]

    @property
    def true_positive_rates(self):
        """Share of ID weight that each rule accepts."""
        return self.accepted("id") / self.total("id")

    @property
    def false_positive_rates(self):
        """Share of OOD weight that each rule accepts; zero without OOD."""
        return self.accepted("ood") / (self.total("ood") or 1.0)

    def precisions(self, ood_prior=None):
        """Return the precision of each rule; 1 where nothing is accepted."""
        if ood_prior is None:
            ood_prior = self.total("ood") / (self.total("id") + self.total("ood"))
        right = (1 - ood_prior) * self.true_positive_rates
        accepted = right + ood_prior * self.false_positive_rates
        return np.divide(right, accepted, out=np.ones_like(right), where=accepted > 0)


def check_origin_samples(scores, losses, is_ood, sample_weight=None):
    """Validate scores that may be infinite, losses of ID samples, origins and weights.

    Losses of OOD samples mean nothing: whatever they are, they come back as zero.
    """
    scores = check_extended_vector(scores, "scores")
    is_ood = check_flags(is_ood, "is_ood")
    check_same_length(scores.size, is_ood=is_ood, losses=losses)
    losses = np.where(is_ood, 0.0, np.asarray(losses))
    losses = check_vector(losses, "losses", non_negative=True)
    weight = check_sample_weight(sample_weight, scores.size)
    if weight is None:
        weight = np.broadcast_to(1.0, scores.shape)
    if not (~is_ood & (weight > 0)).any():
        raise ValueError(
            "is_ood is True for all samples (of positive weight). At least one ID "
            "sample is needed to measure the share that is accepted."
        )
    return scores, losses, is_ood, weight


def sums_of(losses, is_ood, weight):
    """Return ID weight, OOD weight and weighted loss of each sample."""
    sums = np.array([~is_ood, is_ood, losses], dtype=np.float64)
    sums *= weight
    return sums


@dataclass(frozen=True, eq=False)
class OriginSamples:
    """Validated samples of positive weight.

    `scores` is a list of one score, or of a risk score and a novelty score, of shape
    (n_samples,), and `sums` of shape (3, n_samples) what `sums_of` returns.
    """

    scores: list
    sums: np.ndarray

    def __len__(self):
        return self.sums.shape[1]

    @property
    def has_ood(self):
        """Whether some samples are OOD."""
        return self.sums[1].any()

    def group(self, scores=None, sizes=None):
        """Return the samples grouped by a score, the one that they have for None.

        With the `sizes` that a score is rounded at, each sample is in the first group
        that a rule accepts it with.
        """
        scores = self.scores[0] if scores is None else scores
        order = np.argsort(scores)
        scores = scores[order]
        if sizes is not None:
            scores = first_thresholds(scores, sizes[order])
            again = np.argsort(scores, kind="stable")
            scores, order = scores[again], order[again]
        of_id, of_ood, losses = self.sums.take(order, axis=1)
        return OriginGroups.of_sorted(scores, id=of_id, ood=of_ood, loss=losses)

    def rankings(self, *, as_rules=False):
        """Yield the samples grouped by each combined score.

        Infinity is an ordinary highest value, unless groups are those of rules, which
        accept together what differs by rounding.
        """
        first, *rest = self.scores
        for weights in score_directions(first, *rest) if rest else [None]:
            scores = combine(*self.scores, weights) if rest else first
            if as_rules:
                sizes = sizes_of_sums(*self.scores, weights) if rest else first
                yield self.group(scores, sizes)
            else:
                yield self.group(make_finite(scores))

    def turned(self):
        """Return the OOD samples as ID ones, the highest scores first."""
        return OriginSamples([-score for score in self.scores], self.sums[[1, 0, 2]])


def gather_samples(scores, losses, is_ood, sample_weight, needed_for=None):
    """Validate one or two scores, losses of ID samples (None: all zero) and origins.

    Without OOD samples, raise where they are `needed_for` something.
    """
    scores = np.asarray(scores)
    *risk, last = scores.T if scores.ndim == 2 else [scores]
    losses = np.zeros(len(last)) if losses is None else losses
    last, *rest = check_origin_samples(last, losses, is_ood, sample_weight)
    risk = [lift_risk(check_vector(score, "the risk scores"))[0] for score in risk]
    scores = [*risk, last]
    sums, present = sums_of(*rest), rest[-1] > 0
    if not present.all():
        scores, sums = [score[present] for score in scores], sums[:, present]
    samples = OriginSamples(scores, sums)
    if needed_for is not None and not samples.has_ood:
        raise ValueError(
            "is_ood is False for all samples (of positive weight). At least one OOD "
            f"sample is needed for {needed_for}. {MARK_OOD}"
        )
    return samples


def check_ood_prior(ood_prior, *, open_low=False):
    """Return the prior as a float in [0, 1), or (0, 1); None stays None."""
    if ood_prior is None:
        return None
    ends = {"high": 1.0, "open_low": open_low, "open_high": True}
    return check_number(ood_prior, "ood_prior", **ends)


def undefined_without_ood(what):
    """Warn that a value needs OOD samples, and return NaN."""
    warn_user(
        f"{what} is undefined without OOD samples (of positive weight) and is set to "
        f"NaN. {MARK_OOD}",
        UndefinedMetricWarning,
    )
    return float("nan")


def ood_roc_curve(scores, is_ood, *, sample_weight=None):
    """Return accepted shares of OOD and of ID samples, and the thresholds.

    Scores may be infinite.
    """
    groups = gather_samples(scores, None, is_ood, sample_weight, "a ROC curve").group()
    return groups.false_positive_rates, groups.true_positive_rates, groups.thresholds


def ood_precision_recall_curve(scores, is_ood, *, ood_prior, sample_weight=None):
    """Return shares of ID of what is accepted and those accepted of ID, and thresholds.

    The prior is the share of OOD samples in use, None that in the sample.
    """
    ood_prior = check_ood_prior(ood_prior)
    needed_for = "a precision-recall curve"
    groups = gather_samples(scores, None, is_ood, sample_weight, needed_for).group()
    return groups.precisions(ood_prior), groups.true_positive_rates, groups.thresholds


def _best_ranking(arrays, what, measure, *, best=max, positive="id"):
    """Return the best of a measure of all rankings, NaN without OOD samples."""
    scores, is_ood, sample_weight = arrays
    samples = gather_samples(scores, None, is_ood, sample_weight)
    if not samples.has_ood:
        return undefined_without_ood(what)
    samples = samples.turned() if positive == "ood" else samples
    return float(best(map(measure, samples.rankings())))


def ood_auroc_score(scores, is_ood, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_auroc_score`.

    Scores have shape (n_samples,), or (n_samples, 2): risk and novelty, of which the
    best weighted sum on a grid of directions counts, as in the functions below.
    """

    def area(groups):
        return trapezoid(groups.true_positive_rates, groups.false_positive_rates)

    arrays = scores, is_ood, sample_weight
    return _best_ranking(arrays, "The area under the ROC curve", area)


def ood_aupr_score(scores, is_ood, *, positive, ood_prior=None, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_aupr_score` of one or two columns."""
    check_option(positive, "positive", ("id", "ood"))
    ood_prior = check_ood_prior(ood_prior, open_low=True)
    if ood_prior is not None and positive == "ood":
        ood_prior = 1 - ood_prior  # of what is negative then

    def area(groups):
        return np.diff(groups.true_positive_rates) @ groups.precisions(ood_prior)[1:]

    arrays, what = (scores, is_ood, sample_weight), "The area under the PR curve"
    return _best_ranking(arrays, what, area, positive=positive)


def fpr_at_tpr_score(scores, is_ood, *, positive, tpr=0.95, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.fpr_at_tpr_score` of one or two columns."""
    check_option(positive, "positive", ("id", "ood"))
    tpr = check_number(tpr, "tpr", high=1.0, open_low=True)

    def rate(groups):
        wanted = tpr * groups.total("id") * (1 - RELATIVE_TOLERANCE)
        n_groups = np.searchsorted(groups.accepted("id"), wanted)
        return groups.false_positive_rates[n_groups]

    arrays, what = (scores, is_ood, sample_weight), "The false positive rate"
    return _best_ranking(arrays, what, rate, best=min, positive=positive)


# With two scores and more samples, rates are taken on an even grid of so many steps.
_FINEST = 10_000


def roc_frontier(scores, is_ood, *, sample_weight=None):
    """Return FPR and largest TPR of the rules of one score or two, in columns."""
    samples = gather_samples(scores, None, is_ood, sample_weight, "a ROC frontier")

    def points(groups):
        return groups.false_positive_rates, groups.true_positive_rates

    return _frontier(samples, points)


def precision_recall_frontier(scores, is_ood, *, ood_prior, sample_weight=None):
    """Return largest precision and TPR of the rules of one score or two."""
    ood_prior = check_ood_prior(ood_prior)
    needed_for = "a precision-recall frontier"
    samples = gather_samples(scores, None, is_ood, sample_weight, needed_for)

    def points(groups):
        return _of_increasing_cost(groups, groups.precisions(ood_prior))

    cost, precision = _frontier(samples, points)
    return precision[::-1], -cost[::-1]


def risk_coverage_frontier(scores, losses, is_ood, *, max_fpr=1.0, sample_weight=None):
    """Return TPR and lowest risk of the rules of one score or two."""
    max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    needed_for = "a bound on the FPR"
    samples = gather_samples(scores, losses, is_ood, sample_weight, needed_for)

    def points(groups):
        # Where nothing is accepted, any value will do: such points are left out.
        accepted = groups.accepted("id")
        risk = groups.accepted("loss") / np.where(accepted > 0, accepted, 1.0)
        return _of_increasing_cost(groups, -risk, max_fpr)

    cost, value = _frontier(samples, points)
    return -cost[::-1], 0.0 - value[::-1]  # never -0.0


def _of_increasing_cost(groups, values, max_fpr=1.0):
    """Return the rules that accept ID samples, those of the largest TPR first."""
    tpr, fpr = groups.true_positive_rates, groups.false_positive_rates
    allowed = (tpr > 0) & (fpr <= max_fpr * (1 + RELATIVE_TOLERANCE))
    return -tpr[allowed][::-1], values[allowed][::-1]


def _frontier(samples, points):
    """Return the points, of all directions, that none of less cost is as good as."""
    is_coarse = len(samples.scores) == 2 and len(samples) > _FINEST
    front = np.empty(0), np.empty(0)
    for groups in samples.rankings(as_rules=True):
        costs, values = points(groups)
        if is_coarse:
            costs = np.ceil(costs * _FINEST - RELATIVE_TOLERANCE * _FINEST) / _FINEST
        front = _keep_best(*map(np.append, front, _keep_best(costs, values)))
    return front


def _keep_best(costs, values):
    """Drop points that another one of at most their cost is as good as.

    Differences that rounding explains do not count.
    """
    order = np.argsort(costs, kind="stable")  # linear for what is sorted already
    costs, best = costs[order], np.maximum.accumulate(values[order])
    last = np.diff(costs, append=np.inf) > RELATIVE_TOLERANCE
    costs, best = costs[last], best[last]
    gain = np.diff(best, prepend=-np.inf) > RELATIVE_TOLERANCE * abs(best)
    return costs[gain], best[gain]


def pn_curve(scores, is_positive, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.pn_curve` of scores and flags."""
    scores = check_vector(scores, "scores")
    is_positive = check_flags(is_positive, "is_positive")
    check_same_length(scores.size, is_positive=is_positive)
    weight = check_sample_weight(sample_weight, scores.size)
    counted = is_positive if weight is None else is_positive[weight > 0]
    if counted.all() or not counted.any():
        raise ValueError(
            f"is_positive is {bool(counted[0])} for all documents (of positive "
            "weight). At least one of either kind is needed for a PN curve."
        )
    columns = {"positive": is_positive, "negative": ~is_positive}
    prefixes = Prefixes.of(-scores, weight, **columns)
    thresholds = np.append(np.inf, -prefixes.scores)
    return prefixes.sums("negative"), prefixes.sums("positive"), thresholds


def pn_auc_score(
    scores, is_positive, sample_weight=None, *, max_fp=None, normalize=False
):
    """Compute :func:`sklearn_reject.metrics.pn_auc_score` of scores and flags."""
    check_option(normalize, "normalize", (True, False))
    fp, tp, _ = pn_curve(scores, is_positive, sample_weight)
    positives, end = tp[-1], fp[-1]
    if max_fp is not None:
        max_fp = check_number(max_fp, "max_fp", open_low=True)
        if max_fp > end * (1 + RELATIVE_TOLERANCE):
            raise ValueError(
                f"max_fp={max_fp:g} is above the weight of all negatives, {end:g}, "
                "where the curve ends. Pass a smaller value, or None for all of it."
            )
        end = min(max_fp, end)
        inside, height = fp <= end, np.interp(end, fp, tp)
        fp, tp = np.append(fp[inside], end), np.append(tp[inside], height)
    largest = positives * end if normalize else 1.0
    return float(trapezoid(tp, fp) / largest)
