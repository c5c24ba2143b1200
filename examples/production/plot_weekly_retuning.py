"""
=====================================================
Weekly retuning: why thresholds rise, and the way out
=====================================================

Every Monday the thresholds of two detectors are tuned again, on what was reported last
week, as that is what people have rated. It looks harmless, and silences the detectors:
nothing is known below the thresholds of last week, so that new ones can only be higher.
A small random share of what is not reported, rated as well, is the way out.
"""

# %%
# A week
# ------
#
# One document in a hundred is positive, and shows in the score of the first detector,
# of the second, or of both. Nothing changes from week to week.

import numpy as np


def log_week(rng, n_documents=20_000):
    """Return scores of a week, and the truth."""
    truth = (rng.random(n_documents) < 0.01).astype(int)
    kind = rng.integers(3, size=n_documents)
    shows = np.column_stack([kind != 1, kind != 0]) & (truth == 1)[:, np.newaxis]
    return rng.normal(size=(n_documents, 2)) + 2.5 * shows, truth


# %%
# Who is rated
# ------------
#
# What reaches a threshold is reported, and every report is rated. With exploration, so
# is one in ten of the other documents that score at least 1.5, drawn at random. This
# base is fixed, and does not follow the thresholds. The *propensity* of a document is
# the probability that it is rated: 1 for a report, 0.1 for a document that may be
# drawn, and NaN for what nobody looks at.

BASE = 1.5


def draw_ratings(scores, truth, is_reported, share, rng):
    """Return ratings, -1 where nobody has looked, and the propensity."""
    propensity = np.where(is_reported, 1.0, np.nan)
    if share:
        may_be_drawn = (scores >= BASE).any(axis=1) & ~is_reported
        propensity[may_be_drawn] = share
    is_rated = rng.random(len(scores)) < np.nan_to_num(propensity)
    return np.where(is_rated, truth, -1), propensity


# %%
# Twelve weeks
# ------------
#
# The last documents that are reported shall be positive three times in ten. The tuner
# is fitted again each week, on the ratings of that week. With the propensity, each
# rating stands for all documents that were as likely to be rated, and the lowest
# thresholds are found at the base. ``on_infeasible="nearest"`` keeps production going
# in a week whose few ratings do not attain the target.

import warnings

from sklearn_reject import EnsembleThresholdTuner

N_WEEKS, SHARES = 12, {"reports alone": 0, "with exploration": 0.1}


def run(share, seed):
    """Return alerts, true positives and ratings of each week, and the warnings."""
    rng = np.random.default_rng(seed)
    tuner = EnsembleThresholdTuner(
        None, marginal_precision=0.3, on_infeasible="nearest", cv="prefit"
    )
    is_fitted, weeks, told = False, [], []
    for _ in range(N_WEEKS):
        scores, truth = log_week(rng)
        if is_fitted:
            is_reported = tuner.predict(scores) == 1
        else:
            is_reported = (scores >= 2.2).any(axis=1)  # somebody's first guess
        ratings, propensity = draw_ratings(scores, truth, is_reported, share, rng)
        weeks.append(
            (is_reported.sum(), truth[is_reported].sum(), (ratings >= 0).sum())
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tuner.fit(scores, ratings, propensity=propensity)
        is_fitted = True
        told.append([str(warning.message) for warning in caught])
    return np.array(weeks), told


results, messages = {}, {}
for name, share in SHARES.items():
    runs = [run(share, seed) for seed in range(8)]
    results[name] = np.array([weeks for weeks, _ in runs])
    messages[name] = runs[0][1]

print("mean of eight runs           alerts  precision  true positives  rated")
for name, runs in results.items():
    for week in (1, 5, 11):
        alerts, found, rated = runs[:, week].mean(axis=0)
        print(
            f"{name:17} week {week + 1:2} {alerts:10.0f}{found / alerts:11.2f}"
            f"{found:16.0f}{rated:7.0f}"
        )

# %%
# The ratchet
# -----------
#
# Without exploration there are fewer alerts from week to week. The precision rises all
# the time, far beyond what was asked for, and nothing looks wrong but for the true
# positives that nobody hears of any more. The tuner that is fitted again says so:

of_ratchet = [text for week in messages["reports alone"] for text in week]
print(next(text for text in of_ratchet if "rise from fit to fit" in text))
explored = [text for week in messages["with exploration"] for text in week]
print("with exploration:", sum("rise from fit to fit" in text for text in explored))

# %%
# With exploration, alerts go up and down about the same number. The price is the
# ratings of documents that are not reported.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
week = np.arange(1, N_WEEKS + 1)
for color, (name, runs) in zip(("C3", "C0"), results.items(), strict=True):
    alerts, found = runs[..., 0], runs[..., 1]
    for ax, values in zip(axes, (alerts, found / alerts, found), strict=True):
        mean = values.mean(axis=0)[1:]
        error = values.std(axis=0, ddof=1)[1:] / len(values) ** 0.5
        ax.plot(week[1:], mean, color=color, marker="o", markersize=3, label=name)
        ax.fill_between(week[1:], mean - error, mean + error, color=color, alpha=0.2)
titles = ("Alerts a week", "Precision", "True positives a week")
for ax, title in zip(axes, titles, strict=True):
    ax.set(title=title, xlabel="Week", ylim=(0, 1 if title == "Precision" else None))
axes[0].legend(loc="lower left")
plt.show()
