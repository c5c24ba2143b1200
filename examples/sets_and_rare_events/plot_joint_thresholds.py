"""
=============================================
Tune the thresholds of two detectors together
=============================================

Two detectors look for the one document in a hundred that is positive. A person rates
what they report, and nothing else. How high should the threshold of each detector be,
if three false reports are worth one more true one? You will see thresholds that are
tuned together, the curve of true against false positives, and what happens if each
threshold is tuned alone.
"""

# %%
# Two detectors
# -------------
#
# The first detector sees three features, the second one three others. Eight in ten
# positive documents show in both, more or less strongly, the others in one of them.
# Both detectors are fitted on 20,000 older documents with known labels.

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
# Each detector reports the three documents in a hundred that it finds most suspicious.
# These are rated. The others are unrated, which is -1 in `ratings`. Some of them are
# positive, but nobody knows how many. So recall and false positive rate are unknown,
# but true and false positives can be counted.


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
# ``max_fp_per_tp=3`` accepts three false positives for one more true positive: one in
# four of the *last* documents that are reported is positive. The detectors are frozen,
# so `cv` is only used for the thresholds. It estimates what they reach on documents
# that did not choose them.

from sklearn_reject import EnsembleThresholdTuner

tuner = EnsembleThresholdTuner(
    detectors, max_fp_per_tp=3, response_method="decision_function", cv=5
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
# The first figure shows true against false positives. Lowering the thresholds pays up
# to the marker, where the curve has the slope of the dashed line. Each detector alone
# finds less. The curve of a single detector ends where its ratings end: below, only
# documents that the other detector reported are rated, and they say nothing about the
# rest.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import PNCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
display = PNCurveDisplay.from_estimator(
    tuner,
    X,
    ratings,
    plot_single=True,
    plot_tangent=True,
    name=["joint", *VIEWS],
    ax=ax,
)
plt.show()

# %%
# The second figure shows the path of the joint thresholds among the rated documents.
# Documents above or to the right of the dashed border are reported. The path starts
# where ratings are complete and ends beyond all scores.

is_rated = ratings >= 0
scores = tuner.joint_scores(X)[is_rated]
x, y = tuner.thresholds_
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for label, (name, color) in enumerate([("negative", "0.6"), ("positive", "C3")]):
    ax.scatter(*scores[ratings[is_rated] == label].T, s=6, color=color, label=name)
ax.autoscale(False)
(low_x, high_x), (low_y, high_y) = ax.get_xlim(), ax.get_ylim()
# What is infinite is drawn on the border.
path = np.minimum(tuner.path_.thresholds, [high_x, high_y])
ax.plot(*path.T, drawstyle="steps-post", label="path")
ax.plot([low_x, x, x], [y, y, low_y], "--", color="0.55", linewidth=1)
ax.plot(x, y, "o", color="0.2", label="operating point")
names = list(VIEWS)
ax.set(xlabel=f"Threshold of {names[0]}", ylabel=f"Threshold of {names[1]}")
ax.legend()
plt.show()

# %%
# One threshold at a time
# -----------------------
#
# We could tune each threshold alone for the same price. But some of the
# last documents that a detector reports are found by the other one as well. Both take
# the credit for them, so together they report too much. The table shows 100,000 new
# documents with known labels. The gain is TP - FP / 3, since a true positive is worth
# three false ones.

from sklearn_reject.thresholds import operating_point

TARGET = {"max_fp_per_tp": 3}


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
# Is this chance?
# ---------------
#
# With joint thresholds fewer documents are reported, a larger share of them is
# positive, and the gain is about the same. A single draw says little. So we repeat it
# eight times with new detectors, ratings and documents, and vary the share of positive
# documents that show in both views. The last column is the difference of the gains with
# its standard error. The more the detectors have in common, the more joint thresholds
# gain.


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
