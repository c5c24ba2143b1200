"""
====================================================
Weekly retuning without losing sight of missed cases
====================================================

Every week the thresholds of two detectors are tuned again, on what was reported and
rated in the week before. This looks harmless, but nothing is known below last week's
thresholds. So new thresholds can only rise, and the detectors report less and less. The
solution is exploration: people also rate a small random share of what is not reported.
You will see twelve weeks with and without it.
"""

# %%
# One week of documents
# ---------------------
#
# One document in a hundred is positive. It shows in the score of the first detector, of
# the second, or of both. Nothing changes from week to week.

import numpy as np


def log_week(rng, n_documents=20_000):
    """Return scores of a week, and the truth."""
    truth = (rng.random(n_documents) < 0.01).astype(int)
    kind = rng.integers(3, size=n_documents)
    shows = np.column_stack([kind != 1, kind != 0]) & (truth == 1)[:, np.newaxis]
    return rng.normal(size=(n_documents, 2)) + 2.5 * shows, truth


# %%
# Which documents are rated?
# --------------------------
#
# Documents above a threshold are reported, and every report is rated. With exploration,
# one in ten of the other documents with a score of at least 1.5 is drawn at random and
# rated as well. This base of 1.5 is fixed and does not follow the thresholds. The
# *inclusion_proba* of a document is the probability that it is rated: 1 for a report,
# 0.1 for a document that can be drawn, and NaN for all others.

BASE = 1.5


def draw_ratings(scores, truth, is_reported, share, rng):
    """Return ratings, -1 where nobody has looked, and the inclusion_proba."""
    inclusion_proba = np.where(is_reported, 1.0, np.nan)
    if share:
        may_be_drawn = (scores >= BASE).any(axis=1) & ~is_reported
        inclusion_proba[may_be_drawn] = share
    is_rated = rng.random(len(scores)) < np.nan_to_num(inclusion_proba)
    return np.where(is_rated, truth, -1), inclusion_proba


# %%
# Twelve weeks
# ------------
#
# One more true positive may cost two false ones. Each week the tuner is fitted on the
# ratings of that week. With their probabilities, each rating stands for all documents
# that were as likely to be rated, so thresholds can also fall, down to the base. A fit
# that fails changes nothing: in a week whose few ratings cannot reach the target, the
# thresholds of the week before stay.

import warnings

from sklearn_reject import EnsembleThresholdTuner, InfeasibleTargetError

N_WEEKS, SHARES = 12, {"reports alone": 0, "with exploration": 0.1}


def run(share, seed):
    """Return alerts, true positives and ratings of each week."""
    rng, weeks = np.random.default_rng(seed), []
    tuner = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")
    for week in range(N_WEEKS):
        scores, truth = log_week(rng)
        if week:
            is_reported = tuner.predict(scores) == 1
        else:
            is_reported = (scores >= 2.2).any(axis=1)  # somebody's first guess
        ratings, chance = draw_ratings(scores, truth, is_reported, share, rng)
        weeks.append(
            (is_reported.sum(), truth[is_reported].sum(), (ratings >= 0).sum())
        )
        try:
            with warnings.catch_warnings():
                # The best may be to report all that was rated, which gives a warning.
                warnings.simplefilter("ignore", UserWarning)
                tuner.fit(scores, ratings, inclusion_proba=chance)
        except InfeasibleTargetError:
            pass
    return weeks


results = {
    name: np.array([run(share, seed) for seed in range(8)])
    for name, share in SHARES.items()
}
print("mean of eight runs           alerts  precision  true positives  rated")
for name, runs in results.items():
    for week in (1, 5, 11):
        alerts, found, rated = runs[:, week].mean(axis=0)
        print(
            f"{name:17} week {week + 1:2} {alerts:10.0f}{found / alerts:11.2f}"
            f"{found:16.0f}{rated:7.0f}"
        )

# %%
# Thresholds that only rise
# -------------------------
#
# Without exploration there are fewer alerts each week. The precision rises far above
# what was asked for, so nothing looks wrong, but more and more positives are missed.
# Nothing warns of it, as the tuner does not know which documents were reported.
#
# With exploration, the number of alerts stays about the same. The price is the ratings
# of documents that are not reported. Bands are one standard error of the mean of eight
# runs.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(3, 1, figsize=(6, 7.5), sharex=True, layout="constrained")
week = np.arange(1, N_WEEKS + 1)
for color, (name, runs) in zip(("C3", "C0"), results.items(), strict=True):
    alerts, found = runs[..., 0], runs[..., 1]
    for ax, values in zip(axes, (alerts, found / alerts, found), strict=True):
        mean = values.mean(axis=0)[1:]
        error = values.std(axis=0, ddof=1)[1:] / len(values) ** 0.5
        ax.plot(week[1:], mean, color=color, marker="o", markersize=3, label=name)
        ax.fill_between(week[1:], mean - error, mean + error, color=color, alpha=0.2)
names = ("Alerts a week", "Precision", "True positives")
for ax, name in zip(axes, names, strict=True):
    ax.set(ylabel=name, ylim=(0, 1 if name == "Precision" else None))
axes[2].set_xlabel("Week")
axes[0].legend(loc="lower left")
plt.show()
