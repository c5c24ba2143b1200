"""
=====================================================
How far can thresholds from few positives be trusted?
=====================================================

Thresholds for rare events are tuned on few positives. Their measured performance is too
good, because the same positives chose the thresholds. How much of it remains on new
data? You will see this for samples with 10 to 300 positives, for the three tuning
methods, and whether the cross-validated estimate is honest.
"""

# %%
# Two detectors
# -------------
#
# One document in a hundred is positive. It shows in the score of the first detector, of
# the second, or of both. Documents with a score of at least 1.5 are rated.

import numpy as np


def log_documents(n_documents, rng):
    """Return scores and ratings, -1 where nobody has looked."""
    truth = rng.random(n_documents) < 0.01
    kind = rng.integers(3, size=n_documents)
    shows = np.column_stack([kind != 1, kind != 0]) & truth[:, np.newaxis]
    scores = rng.normal(size=(n_documents, 2)) + 2.5 * shows
    return scores, np.where((scores >= 1.5).any(axis=1), truth, -1)


# %%
# Promised and true gain
# ----------------------
#
# A true positive is worth two false ones. The gain is TP - FP / 2, as a share of the
# best gain that is possible in 300,000 new documents. We compare three gains: the tuned
# one, in the sample that chose the thresholds; the cross-validated one; and the true
# one, in the new documents.

import warnings

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.thresholds import operating_point

TARGET = {"max_fp_per_tp": 2}
rng = np.random.default_rng(0)
others, others_rated = log_documents(300_000, rng)


def gain(point):
    """Return what true positives are worth, less what false ones cost."""
    return point.tp - point.fp / 2


def look_up(point):
    """Return gain and precision in the other documents."""
    found = others_rated[point.predict(others)] == 1
    return found.sum() - (~found).sum() / 2, found.mean()


best = gain(operating_point(others, others_rated, method="direct", **TARGET))

repeats = {1000: 50, 3000: 30, 10_000: 20, 30_000: 10}
sizes = list(repeats)
samples = {
    size: [log_documents(size, rng) for _ in range(repeats[size])] for size in sizes
}


def tune(scores, ratings, **options):
    """Return a tuner that has been fitted."""
    tuner = EnsembleThresholdTuner(None, **options, **TARGET)
    with warnings.catch_warnings():
        # With few positives the best may be to report them all, which gives a warning.
        warnings.simplefilter("ignore", UserWarning)
        return tuner.fit(scores, ratings)


def compare(scores, ratings):
    """Return gain and precision: tuned, cross-validated, and true."""
    tuner = tune(scores, ratings, cv=5)
    points = tuner.operating_point_, tuner.cross_validated_point_
    share = best * len(scores) / len(others)
    estimates = [(gain(point) / share, point.precision) for point in points]
    true_gain, precision = look_up(points[0])
    return [*estimates, (true_gain / best, precision)]


results = {
    size: np.array([compare(*sample) for sample in samples[size]]) for size in sizes
}
print(f"{'':11}{'share of the best gain':29}precision")
print("positives" + 2 * "  tuned  cross-val.   true   ")
for size in sizes:
    means = results[size].mean(axis=0).T
    columns = ["{:7.2f}{:12.2f}{:7.2f}   ".format(*column) for column in means]
    print(f"{size // 100:9}" + "".join(columns).rstrip())

# %%
# The error bars are standard errors of the mean.

import matplotlib.pyplot as plt

n_positives = np.array(sizes) // 100


def draw_gains(ax, gains, name):
    """Draw means and standard errors, one array a size."""
    means = [values.mean() for values in gains]
    errors = [values.std(ddof=1) / len(values) ** 0.5 for values in gains]
    ax.errorbar(n_positives, means, errors, marker="o", capsize=2, label=name)
    ax.set(xscale="log", xlabel="Positives in the sample", ylim=(0.5, 1.7))
    ax.set(ylabel="Share of the best gain")
    ax.set_xticks(n_positives, n_positives)
    ax.minorticks_off()
    ax.axhline(1, color="0.2", linestyle="--", linewidth=1)


fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for column, name in enumerate(("tuned", "cross-validated", "true")):
    draw_gains(ax, [results[size][:, column, 0] for size in sizes], name)
ax.legend(loc="upper right")
plt.show()

# %%
# With ten positives the tuned gain is one and a half times what is possible, and more
# than twice the true one. With a hundred it is close to both. The cross-validated gain
# does not promise too much. It is rather low, because each fold has a fifth fewer
# positives. But no estimate replaces positives: with ten of them, a third of the best
# gain is lost.
#
# Which method?
# -------------
#
# We use the same samples for all methods and compare the true gains: that of "graph",
# and the difference of the others with its standard error.


def true_gains(method):
    """Return the true gain for each sample of each size."""
    tuners = {
        size: [tune(*sample, method=method, cv="prefit") for sample in samples[size]]
        for size in sizes
    }
    return {
        size: np.array([look_up(tuner.operating_point_)[0] for tuner in row]) / best
        for size, row in tuners.items()
    }


gains = {"graph": {size: results[size][:, 2, 0] for size in sizes}}
gains |= {method: true_gains(method) for method in ("analytic", "direct")}
print("positives  graph          analytic            direct")
for size in sizes:
    print(f"{size // 100:9}{gains['graph'][size].mean():7.3f}", end="")
    for method in ("analytic", "direct"):
        more = gains[method][size] - gains["graph"][size]
        error = more.std(ddof=1) / len(more) ** 0.5
        print(f"{more.mean():+10.3f} ± {error:.3f}", end="")
    print()

# %%
# "direct" can choose any thresholds, but is not better for it. "analytic" has two
# parameters here, and is worse if there are few positives: it chooses a smooth path
# with the largest area, most of which lies at many false positives. If ratings begin at
# 2 instead of 1.5, it loses less. The number of positives matters most.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for method, of_sizes in gains.items():
    draw_gains(ax, of_sizes.values(), method)
ax.legend(loc="lower right")
plt.show()
