"""
====================================================
Weekly retuning without losing sight of missed cases
====================================================

Every week the thresholds of two detectors are tuned again, on what was reported and
rated in the week before. This looks harmless, but nothing is known below last week's
thresholds. So new thresholds can only rise, and more and more cases are missed. The way
out is exploration: people also rate a small random share of what is not reported.
"""

# %%
# One week of documents
# ---------------------
#
# One document in a hundred is positive. It shows in the score of the first detector, of
# the second, or of both. Nothing changes from week to week.

# sphinx_gallery_thumbnail_path = "_static/drawings/weekly.svg"
import warnings
from contextlib import suppress

import numpy as np

from sklearn_reject import EnsembleThresholdTuner, InfeasibleTargetError


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
# Every report is rated. With exploration, one in ten of the other documents with a
# score of at least 1.5 is drawn at random and rated as well. The *inclusion_proba* is
# the probability that a document is rated: 1 for a report, 0.1 for a document that can
# be drawn, and NaN for all others.


def draw_ratings(scores, truth, is_reported, share, rng):
    """Return ratings, -1 where nobody has looked, and the inclusion_proba."""
    inclusion_proba = np.where(is_reported, 1.0, np.nan)
    if share:
        may_be_drawn = (scores >= 1.5).any(axis=1) & ~is_reported
        inclusion_proba[may_be_drawn] = share
    is_rated = rng.random(len(scores)) < np.nan_to_num(inclusion_proba)
    return np.where(is_rated, truth, -1), inclusion_proba


# %%
# Twelve weeks
# ------------
#
# One more true positive may cost two false ones. With `inclusion_proba`, each rating
# stands for all documents that were as likely to be rated, so thresholds can also fall.


def run(share, seed):
    """Return alerts, true positives and ratings of each week."""
    rng, weeks = np.random.default_rng(seed), []
    tuner = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")
    for week in range(12):
        scores, truth = log_week(rng)
        if week:
            is_reported = tuner.predict(scores) == 1
        else:
            is_reported = (scores >= 2.2).any(axis=1)  # somebody's first guess
        ratings, chance = draw_ratings(scores, truth, is_reported, share, rng)
        weeks.append((is_reported.sum(), truth[is_reported].sum(), sum(ratings >= 0)))
        with warnings.catch_warnings():
            # The best may be to report all that was rated, which gives a warning.
            warnings.simplefilter("ignore", UserWarning)
            # If nothing can be tuned, the thresholds of the week before stay.
            with suppress(InfeasibleTargetError):
                tuner.fit(scores, ratings, inclusion_proba=chance)
    return weeks


shares = {"with exploration": 0.1, "reports alone": 0}
results = {
    name: np.array([run(share, seed) for seed in range(8)])
    for name, share in shares.items()
}
for name, runs in results.items():
    print(f"{name:16} {runs[..., 2].mean():.0f} rated a week")

# %%
# Without exploration the precision rises far above what was asked for, so nothing looks
# wrong, but half of the positives are lost. With exploration, alerts and true positives
# stay. The price is the ratings of documents that are not reported. Bands are one
# standard error of the mean of eight runs.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(3, 1, figsize=(6, 7), sharex=True, layout="constrained")
for color, (name, runs) in zip(("C0", "C3"), results.items(), strict=True):
    alerts, found = runs[:, 1:, 0], runs[:, 1:, 1]
    for ax, values in zip(axes, (alerts, found / alerts, found), strict=True):
        mean = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / len(values) ** 0.5
        ax.plot(range(2, 13), mean, color=color, marker=".", label=name)
        ax.fill_between(
            range(2, 13), mean - error, mean + error, color=color, alpha=0.2
        )
axes[0].set(ylabel="Alerts a week", ylim=(0, None))
axes[1].set(ylabel="Precision", ylim=(0, 1))
axes[2].set(ylabel="True positives", ylim=(0, None), xlabel="Week")
axes[0].legend(loc="lower left")
plt.show()
