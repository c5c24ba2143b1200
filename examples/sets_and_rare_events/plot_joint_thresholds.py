"""
=============================================
Tune the thresholds of two detectors together
=============================================

Two detectors look for the one document in a hundred that is positive. A person rates
what they report, and nothing else. How high should each threshold be, if one more true
report is worth three false ones? You will see thresholds that are tuned together, what
happens if each is tuned alone, and how far to trust thresholds from few positives.
"""

# %%
# Two detectors
# -------------
#
# Eight in ten positive documents show in the scores of both detectors, more or less
# strongly, the others in one of them. Each detector reports the three documents in a
# hundred with the highest scores, and these are rated. The others are unrated, which is
# -1. So recall is unknown, but true and false positives can be counted.

# sphinx_gallery_thumbnail_path = "_static/drawings/joint.svg"
import numpy as np


def draw(n_documents, rng):
    """Return scores of both detectors, and the truth."""
    truth = (rng.random(n_documents) < 0.01).astype(int)
    strength = truth * rng.gamma(4, 0.5, n_documents)
    kind = rng.choice(3, n_documents, p=[0.1, 0.1, 0.8])
    shows = np.column_stack([kind != 1, kind != 0])
    scores = rng.normal(size=(n_documents, 2)) + 1.7 * shows * strength[:, np.newaxis]
    return scores, truth


def rate(scores, truth):
    """Return the truth about what a detector reports, and -1 for the rest."""
    is_reported = (scores >= np.quantile(scores, 0.97, axis=0)).any(axis=1)
    return np.where(is_reported, truth, -1)


rng = np.random.default_rng(0)
scores, truth = draw(50_000, rng)
ratings = rate(scores, truth)

# %%
# Joint thresholds
# ----------------
#
# ``max_fp_per_tp=3`` accepts three false positives for one more true positive.
# `estimators` is None, because X has the scores. If it is a list of classifiers, they
# are fitted, and score the documents. `cross_validated_point_` counts what thresholds
# find in documents that did not choose them.

from sklearn_reject import EnsembleThresholdTuner

tuner = EnsembleThresholdTuner(None, max_fp_per_tp=3, cv=5).fit(scores, ratings)
print("thresholds", tuner.thresholds_.round(2))
points = tuner.operating_point_, tuner.cross_validated_point_
for name, point in zip(("tuned", "cross-validated"), points, strict=True):
    print(f"{name:15} {point.tp:.0f} true and {point.fp:.0f} false positives")

# %%
# The PN curve shows true against false positives. Lowering the thresholds pays up to
# the marker, where the curve has the slope of the dashed line. Each detector alone
# finds less.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import PNCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
PNCurveDisplay.from_estimator(tuner, scores, ratings, name="joint", ax=ax)
for name, column in zip(("first alone", "second alone"), scores.T, strict=True):
    PNCurveDisplay.from_predictions(ratings, column, name=name, ax=ax)
plt.show()

# %%
# One threshold at a time
# -----------------------
#
# Some of the last documents that a detector reports are found by the other one as well.
# If each threshold is tuned alone, both take the credit for them, and together they
# report too much. The gain is TP - FP / 3, in new documents with known labels.

import warnings


def gain(thresholds, scores, truth):
    """Return what the reports of both detectors gain."""
    found = truth[(scores >= thresholds).any(axis=1)]
    return found.sum() - (1 - found).sum() / 3


def tune(scores, ratings):
    """Return tuned thresholds."""
    tuner = EnsembleThresholdTuner(None, max_fp_per_tp=3, cv="prefit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few positives, all reported
        return tuner.fit(scores, ratings).thresholds_


X_new, truth_new = draw(200_000, rng)


alone = np.concatenate([tune(scores[:, [k]], ratings) for k in (0, 1)])
for name, thresholds in {"one by one": alone, "jointly": tuner.thresholds_}.items():
    found = gain(thresholds, X_new, truth_new)
    print(f"{name:10} thresholds {thresholds.round(2)}, gain {found:.0f}")

# %%
# How many positives?
# -------------------
#
# The tuned gain is too good, because the same positives chose the thresholds. With ten
# positives it is far above what new documents bring. With three hundred, both nearly
# agree.

print("gain in 1,000 documents\npositives  tuned  new documents")
for number in (10, 30, 100, 300):
    gains = []
    for _ in range(2000 // (number + 40)):
        X, y = draw(100 * number, rng)
        thresholds = tune(X, rate(X, y))
        samples = (X, y), (X_new, truth_new)
        gains.append(
            [1000 * gain(thresholds, *each) / len(each[0]) for each in samples]
        )
    tuned, new = np.mean(gains, axis=0)
    print(f"{number:9}{tuned:7.1f}{new:15.1f}")
