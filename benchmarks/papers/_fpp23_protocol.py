"""The protocol of FPP23, table 2, as in the paper and on disjoint halves.

All methods are to accept at least .8 of the ID samples. The FPR allowed is the highest
one that a single score has there, so that all of them are able to.

As in the paper, a rule is tuned and judged on the same samples. A double score then
cannot be worse than either of its parts, whatever the scores are, as each part is one
of the directions. So it is also tuned on one half of the samples and judged on the
other, and the other way round: thresholds, the FPR allowed and, of double scores, the
direction are chosen on the first half. The results of several divisions are averaged.
On other samples nothing keeps a double score from being worse, and half of the samples
holds few errors to tune on: with networks of a penalty of 1e-4, ten divisions put the
risk of KNN+MSP on CIFAR-10 above that of MSP, by .00016 (standard error .00003).

As one direction is best for the risk and another for an area, each measure has a
direction of its own, as it has in the paper. The paper's AUROC of two scores is that of
the envelope over all directions. Here it is that of the best one, which is never more,
and which a single rule can use.
"""

from collections import namedtuple

import numpy as np

from benchmarks.papers._fpp23_measures import (
    areas,
    least_fpr,
    measure,
    take,
    transferred_areas,
    tune,
)
from benchmarks.papers._fpp23_network import DOUBLE_SCORES, SINGLE_SCORES

MIN_TPR = 0.8
N_DIVISIONS = 5  # into halves

# Of accepted ID samples; TPR and FPR are what the rule attains where it is judged.
Measured = namedtuple("Measured", "risk tpr fpr auroc oscr_franc oscr_dhamija")


def measure_as_in_the_paper(samples):
    """Return the FPR allowed, and {method: Measured}, all on the same samples."""
    max_fpr = _highest_fpr(samples)
    found = {}
    for method, sample in samples.items():
        rule = tune(sample, min_tpr=MIN_TPR, max_fpr=max_fpr)
        found[method] = _summarize(rule, areas(sample))
    return max_fpr, found


def measure_on_halves(samples, seed, n_divisions=N_DIVISIONS):
    """Return the FPR allowed, and {method: Measured}, tuned on other samples."""
    rng = np.random.default_rng(seed)
    is_ood = next(iter(samples.values())).is_ood
    results = []
    for _ in range(n_divisions):
        halves = _halves(is_ood, rng)
        results += [_transfer(samples, *pair) for pair in (halves, halves[::-1])]
    found = {
        method: Measured(*np.mean([result[1][method] for result in results], axis=0))
        for method in samples
    }
    return float(np.mean([result[0] for result in results])), found


def _transfer(samples, tuning_rows, other_rows):
    tuning = {method: take(sample, tuning_rows) for method, sample in samples.items()}
    max_fpr = _highest_fpr(tuning)
    found = {}
    for method, sample in samples.items():
        other = take(sample, other_rows)
        rule = tune(tuning[method], min_tpr=MIN_TPR, max_fpr=max_fpr)
        is_double = method in DOUBLE_SCORES
        found_areas = (
            transferred_areas(tuning[method], other) if is_double else areas(other)
        )
        found[method] = _summarize(measure(rule, other), found_areas)
    return max_fpr, found


def _highest_fpr(samples):
    return max(least_fpr(samples[method], MIN_TPR) for method in SINGLE_SCORES)


def _halves(is_ood, rng):
    """Return two sets of rows with the same numbers of ID and of OOD samples."""
    rows = rng.permutation(len(is_ood))
    rows = rows[np.argsort(is_ood[rows], kind="stable")]
    return rows[::2], rows[1::2]


def _summarize(rule, found):
    return Measured(rule.selective_risk, rule.tpr, rule.fpr, *found)
