"""What joint thresholds of two classifiers attain on samples that are held out.

All thresholds are tuned on scores out of fold of the other samples: those of both
classifiers together on a path and over all thresholds, and that of each alone.
"""

from functools import partial

import numpy as np

from benchmarks.papers._rzmr20_classifiers import KINDS, score_split
from benchmarks.papers._rzmr20_data import load
from benchmarks.papers._rzmr20_tuning import tune_directly, tune_on_path
from sklearn_reject.thresholds import optimal_path

RULES = ("any", "all")

# Thresholds of the grid where areas are compared; F1 is tuned on the default grid.
N_THRESHOLDS = 1000


def measure_split(key):
    """Return what is measured on a set; the key is its name and a seed, "ijcnn-0"."""
    name, seed = key.rsplit("-", 1)
    return measure(load(name, int(seed)), int(seed))


def measure(split, seed):
    """Return a record for each kind of classifier."""
    return {kind: measure_scores(score_split(split, kind, seed)) for kind in KINDS}


def measure_scores(scored):
    """Return a record of what two classifiers attain, alone and by either rule."""
    paths = [_all_thresholds(scored, column) for column in (0, 1)]
    tuned = [tune_on_path(path, scored.y_tuning.sum()) for path in paths]
    alone = [
        rate(scored.y_held_out, scores >= of.thresholds)
        for of, scores in zip(tuned, scored.held_out.T, strict=True)
    ]
    best = int(tuned[1].f1 > tuned[0].f1)
    single = _areas_of_better(scored, paths)
    return {
        "parameters": list(scored.parameters),
        "positives": [int(scored.y_tuning.sum()), int(scored.y_held_out.sum())],
        "usual": [rate(scored.y_held_out, of) for of in scored.predicted.T],
        "tuned": alone,
        "best": best,
        "rules": {
            rule: _measure_rule(scored, rule, alone[best], single) for rule in RULES
        },
    }


# One classifier


def _all_thresholds(scored, column):
    """Return the path of all thresholds of one classifier."""
    y = scored.y_tuning
    # One threshold for each sample, and the two ends.
    return optimal_path(scored.tuning[:, column], y, n_thresholds=len(y) + 2)


def _areas_of_better(scored, paths):
    """Return the areas of the classifier with the larger one in the tuning."""
    column = int(paths[1].area > paths[0].area)
    return {
        samples: area_of(paths[column], scores[:, [column]], y)
        for samples, scores, y in _parts(scored)
    }


# Both


def find_paths(scored, rule):
    """Return the paths of two classifiers, {name: ThresholdPath}."""
    find = partial(optimal_path, scored.tuning, scored.y_tuning, rule=rule)
    return {
        "analytic": find(method="analytic"),
        "graph": find(),
        "fine graph": find(n_thresholds=N_THRESHOLDS),
    }


def _measure_rule(scored, rule, single, areas):
    paths, y = find_paths(scored, rule), scored.y_tuning
    shown = {name: paths[name] for name in ("analytic", "graph")}
    tuned = {name: tune_on_path(path, y.sum()) for name, path in shown.items()}
    tuned["direct"] = tune_directly(scored.tuning, y, rule)
    return {
        "cells": {name: _rate_joint(scored, rule, of) for name, of in tuned.items()},
        "tuning f1": {name: of.f1 for name, of in tuned.items()},
        "gains": {name: _gain(scored, path, single) for name, path in shown.items()},
        "areas": {
            samples: {"single": areas[samples]}
            | {name: area_of(path, scores, y) for name, path in paths.items()}
            for samples, scores, y in _parts(scored)
        },
    }


def _rate_joint(scored, rule, tuned):
    reaches = scored.held_out >= tuned.thresholds
    combine = np.any if rule == "any" else np.all
    return rate(scored.y_held_out, combine(reaches, axis=1))


def _gain(scored, path, single):
    """Return the precision of a path less that of the single, at the recall of it."""
    tp = single["recall"] * scored.y_held_out.sum()
    if not tp:
        return None
    fp = false_positives_at(*recount(path, scored.held_out, scored.y_held_out), tp)
    return float(tp / (tp + fp) - single["precision"])


def _parts(scored):
    yield "tuning", scored.tuning, scored.y_tuning
    yield "held out", scored.held_out, scored.y_held_out


# Counts


def rate(y, is_predicted):
    """Return precision, None if nothing is predicted, recall and F1."""
    tp, n_predicted, n_positive = (
        int(flags.sum()) for flags in (y & is_predicted, is_predicted, y)
    )
    return {
        "precision": tp / n_predicted if n_predicted else None,
        "recall": tp / n_positive,
        "f1": 2 * tp / (n_predicted + n_positive),
    }


def recount(path, scores, y):
    """Return false and true positives of all samples, then of each vertex of a path."""
    last, vertices = path.locate(scores), np.arange(-1, len(path))
    return tuple(
        np.sum(flags) - np.searchsorted(np.sort(last[flags]), vertices)
        for flags in (~y, y)
    )


def area_of(path, scores, y):
    """Return the area of a path on some samples, as a share of the largest."""
    fp, tp = recount(path, scores, y)
    return float(np.sum(-np.diff(fp) * (tp[:-1] + tp[1:])) / (2 * fp[0] * tp[0]))


def false_positives_at(fp, tp, wanted):
    """Return the false positives for a number of true ones, between vertices linear."""
    # Among vertices of equal true positives the one of fewest false ones counts.
    distinct, first = np.unique(tp[::-1], return_index=True)
    return np.interp(wanted, distinct, fp[::-1][first])
