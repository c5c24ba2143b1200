"""
=========================================
Two detectors, and only their finds rated
=========================================

One document in a hundred is what two detectors look for, each with its own evidence.
What either of them reports is rated by a person, and nothing else is. How sure does
each detector have to be, if one in four of the last reports is to be right?
"""

# %%
# Two detectors
# -------------
#
# The first detector sees three features, and the second one three others. Eight in ten
# positive documents show in both, more or less strongly, and the rest in one of the
# two. Both detectors have learned from 20,000 older documents of which everything is
# known.

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

VIEWS = {"first": slice(0, 3), "second": slice(3, 6)}


def draw(n_documents, share_in_both, rng):
    """Return documents, and whether they are positive."""
    truth = (rng.random(n_documents) < 0.01).astype(int)
    strength = truth * rng.gamma(4, 0.5, n_documents)
    in_one = (1 - share_in_both) / 2
    seen_by = rng.choice(
        ["first", "second", "both"], n_documents, p=[in_one] * 2 + [share_in_both]
    )
    X = rng.normal(size=(n_documents, 6))
    for name, other in (("first", "second"), ("second", "first")):
        X[:, VIEWS[name]] += (strength * (seen_by != other))[:, np.newaxis]
    return X, truth


def fit_detectors(X, truth):
    """Return fitted detectors with their names and columns."""
    return [
        (name, FrozenEstimator(LogisticRegression().fit(X[:, view], truth)), view)
        for name, view in VIEWS.items()
    ]


rng = np.random.default_rng(0)
detectors = fit_detectors(*draw(20_000, 0.8, rng))
X, truth = draw(50_000, 0.8, rng)
print(f"{len(X)} logged documents, {truth.sum()} of them positive")

# %%
# What is known
# -------------
#
# Each detector reports the three documents in a hundred that it finds most suspicious,
# and these are rated. The others are unrated, -1 in `ratings`. Some of them are
# positive, but nobody knows how many: recall and false positive rate are unknown.
# True and false positives can be counted.


def score_all(detectors, X):
    """Return the scores of the detectors, log-odds."""
    return np.column_stack(
        [detector.decision_function(X[:, view]) for _, detector, view in detectors]
    )


def rate_reported(scores, truth):
    """Return the truth about what any detector reports, and -1 for the rest."""
    is_reported = (scores >= np.quantile(scores, 0.97, axis=0)).any(axis=1)
    return np.where(is_reported, truth, -1)


ratings = rate_reported(score_all(detectors, X), truth)
print(f"{(ratings >= 0).sum()} rated, {(ratings == 1).sum()} of them positive")

# %%
# Joint thresholds
# ----------------
#
# The last documents that are reported are to be positive one time in four:
# ``marginal_precision=0.25``, or three false positives for one more true positive. The
# detectors are frozen, so that `cv` is about the thresholds alone, and tells what they
# attain on documents that did not choose them.

from sklearn_reject import EnsembleThresholdTuner

tuner = EnsembleThresholdTuner(
    detectors, marginal_precision=0.25, response_method="decision_function", cv=5
)
tuner.fit(X, ratings)


def describe(point):
    """Return counts and precision, with its interval."""
    low, high = point.precision_interval
    counts = f"{point.tp:.0f} true and {point.fp:.0f} false positives"
    return f"{counts}, precision {point.precision:.2f} ({low:.2f} to {high:.2f})"


print("ratings are complete from", tuner.base_thresholds_.round(2), "on")
print("joint thresholds", tuner.thresholds_.round(2))
print("tuned:          ", describe(tuner.operating_point_))
print("cross-validated:", describe(tuner.cross_validated_point_))

# %%
# The PN curve
# ------------
#
# On the left, true against false positives. What the joint curve reports up to the dot
# pays, by the slope of the dashed line, and each detector alone finds less. The axes
# show what is near the dot. The curve of a detector ends at its own base threshold:
# below it, there are only documents that the other one has chosen, which say nothing
# about the rest.
#
# On the right, the path of joint thresholds among the rated documents. What is above or
# to the right of the dashed border is reported. The path starts where ratings are
# complete, and ends beyond all scores.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import PNCurveDisplay

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
display = PNCurveDisplay.from_estimator(
    tuner,
    X,
    ratings,
    plot_single=True,
    plot_tangent=True,
    name=["joint", *VIEWS],
    ax=left,
)
display.plot_thresholds(right, plot_documents=True, name="path")
plt.show()

# %%
# One by one
# ----------
#
# Each threshold could be chosen alone, for the same marginal precision. But the last
# documents that a detector reports were found by the other one in part. Each of the two
# takes the credit for them, and both together report too much. The gain is TP - FP / 3,
# as three false positives are the price of a true one, in 100,000 fresh documents whose
# truth is known.

from sklearn_reject.thresholds import operating_point

TARGET = {"marginal_precision": 0.25}


def one_by_one(scores, ratings):
    """Return thresholds, each of them chosen without the others."""
    points = [operating_point(column, ratings, **TARGET) for column in scores.T]
    return np.concatenate([point.thresholds for point in points])


def count(thresholds, scores, truth):
    """Return true and false positives of the union."""
    found = truth[(scores >= thresholds).any(axis=1)]
    return np.array([found.sum(), (1 - found).sum()])


X_fresh, truth_fresh = draw(100_000, 0.8, rng)
separate = one_by_one(score_all(detectors, X), ratings)
print(f"{'':11}{'thresholds':>14}{'TP':>7}{'FP':>7}{'gain':>7}")
for name, thresholds in (("one by one", separate), ("jointly", tuner.thresholds_)):
    tp, fp = count(thresholds, score_all(detectors, X_fresh), truth_fresh)
    print(f"{name:11}{thresholds.round(2)!s:>14}{tp:7}{fp:7}{tp - fp / 3:7.0f}")

# %%
# Is it luck?
# -----------
#
# The joint thresholds report less, a larger share of it is positive, and the gain is
# about the same. A single draw says little. So there are new detectors, ratings and
# documents, eight times each, and more or less that shows in both views. The difference
# of the gains is given with its standard error. The more the detectors see the same,
# the more it matters to choose their thresholds together.


def repeat(share_in_both, rng):
    """Return the gains of thresholds one by one and jointly, in fresh documents."""
    detectors = fit_detectors(*draw(20_000, share_in_both, rng))
    X, truth = draw(50_000, share_in_both, rng)
    X_fresh, truth_fresh = draw(100_000, share_in_both, rng)
    scores, fresh = score_all(detectors, X), score_all(detectors, X_fresh)
    ratings = rate_reported(scores, truth)
    joint = operating_point(scores, ratings, **TARGET).thresholds
    separate = one_by_one(scores, ratings)
    counts = [count(chosen, fresh, truth_fresh) for chosen in (separate, joint)]
    return np.array(counts) @ [1, -1 / 3]


print("seen by both  one by one  jointly  difference")
for share_in_both in (0.2, 0.6, 1):
    gains = np.array([repeat(share_in_both, rng) for _ in range(8)])
    more = np.diff(gains)
    error = more.std(ddof=1) / len(more) ** 0.5
    print(
        f"{share_in_both:12}{gains[:, 0].mean():12.0f}{gains[:, 1].mean():9.0f}"
        f"{more.mean():7.1f} ± {error:.1f}"
    )
