"""
=======================================
Ties: why a threshold misses its target
=======================================

Some scores have only a few values. Five nearest neighbors vote for a digit, and most
votes are unanimous. A threshold accepts or rejects all samples with the same score
together: it cannot cover 60 % of the samples if 83 % are tied. How can the target still
be met? The rule accepts samples *at* the threshold with a certain probability. You will
see the coverage with and without this randomization.
"""

# %%
# Few distinct scores
# -------------------
#
# One part of the digits fits the classifier, one chooses the threshold, and one is the
# test set.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

X, y = load_digits(return_X_y=True)
X_fit, X_rest, y_fit, y_rest = train_test_split(
    X, y, train_size=500, stratify=y, random_state=0
)
X_tune, X_test, y_tune, y_test = train_test_split(
    X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0
)
classifier = KNeighborsClassifier(n_neighbors=5).fit(X_fit, y_fit)
dissent = 1 - classifier.predict_proba(X_tune).max(axis=1)
for value, count in zip(*np.unique(dissent.round(1), return_counts=True), strict=True):
    print(f"{value:.1f} of the votes dissent: {count} samples")

# %%
# Target coverage
# ---------------
#
# The classifier is already fitted, so we pass it as a
# :class:`~sklearn.frozen.FrozenEstimator`, and `fit` only chooses the threshold. With
# ``randomize=False`` all samples at the threshold are accepted, since a target coverage
# is a lower bound. `accept_proba` returns the probability that a sample is accepted, so
# its mean is the expected coverage.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import SelectiveClassifier


def fit_rule(randomize, **target):
    """Solve the rule for one target."""
    model = SelectiveClassifier(
        FrozenEstimator(classifier), randomize=randomize, random_state=0, **target
    )
    return model.fit(X_tune, y_tune)


for randomize in (True, False):
    model = fit_rule(randomize, target_coverage=0.6)
    rule, held_out = model.rule_, model.accept_proba(X_test).mean()
    print(
        f"randomize={randomize}: threshold {rule.threshold:.1f}, accepted at it with "
        f"probability {rule.proba_at_threshold:.2f}, "
        f"coverage {rule.coverage:.3f} on the calibration set, {held_out:.3f} held out"
    )

# %%
# Over a range of targets, the coverage without randomization is a staircase. If you
# have scores and losses already, you need no classifier: the function
# `solve_target_coverage` chooses the threshold.

import matplotlib.pyplot as plt

from sklearn_reject.selection import solve_target_coverage

scores, test_scores = model.uncertainty(X_tune), model.uncertainty(X_test)
losses = (model.predict_label(X_tune) != y_tune).astype(float)
coverages = np.linspace(0.6, 1, 81)
styles = {True: {"color": "C0"}, False: {"color": "C1", "linestyle": "--"}}

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for randomize, style in styles.items():
    rules = [
        solve_target_coverage(scores, losses, target, randomize=randomize)
        for target in coverages
    ]
    achieved = [rule.accept_proba(test_scores).mean() for rule in rules]
    ax.plot(coverages, achieved, label=f"randomize={randomize}", **style)
ax.plot([0.6, 1], [0.6, 1], color="0.4", linestyle=":", label="target")
ax.set(xlabel="Target coverage", ylabel="Coverage of test samples")
ax.legend()
plt.show()

# %%
# Target risk
# -----------
#
# A target risk is an upper bound, so without randomization all samples at the threshold
# are rejected. This loses coverage:

from sklearn_reject.selection import solve_target_risk

risks = np.linspace(0.01, 0.05, 81)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for randomize, style in styles.items():
    rules = [
        solve_target_risk(scores, losses, target, randomize=randomize)
        for target in risks
    ]
    achieved = [rule.coverage for rule in rules]
    ax.plot(risks, achieved, label=f"randomize={randomize}", **style)
ax.set(xlabel="Target risk", ylabel="Coverage of calibration samples")
ax.set_xticks([0.01, 0.02, 0.03, 0.04, 0.05])
ax.legend()
plt.show()

# %%
# Which samples are accepted?
# ---------------------------
#
# Each sample at the threshold has its own random number. It depends only on the pixels
# of the sample and on a seed that `fit` draws from `random_state`. So the decision is
# the same whether the sample is passed alone or with others.

model = fit_rule(True, target_coverage=0.6)
at_threshold = model.rule_.at_threshold(model.uncertainty(X_test))
accepted = model.accept(X_test)
print(
    f"{at_threshold.sum()} held-out samples are at the threshold, "
    f"{accepted[at_threshold].sum()} of them accepted"
)
one_by_one = np.concatenate([model.accept(image[np.newaxis]) for image in X_test])
print(f"decisions that differ one by one: {(accepted != one_by_one).sum()}")

# %%
# As a consequence, equal images get equal decisions. If this is not what you want, pass
# `keys`, for instance identifiers (integers or text), to tell them apart.

same_image = X_test[at_threshold][[0] * 1000]
print(f"accepted of 1,000 equal images: {model.accept(same_image).sum()}")
print(f"with keys: {model.accept(same_image, keys=range(1000)).sum()}")

# %%
# Decision trees are a special case. The scores of a tree are the class shares in its
# leaves, and trees that are fitted on other folds have other leaves. So no new sample
# has exactly the score of a threshold found on folds, and randomization does not help.
# `fit` sees this and holds half of the samples out instead, so that the threshold is
# chosen for the tree that predicts:

from sklearn.tree import DecisionTreeClassifier

X_train, y_train = np.concatenate([X_fit, X_tune]), np.concatenate([y_fit, y_tune])
tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=5, random_state=0)
model = SelectiveClassifier(tree, target_coverage=0.7, random_state=0)
model.fit(X_train, y_train)
print(f"{len(model.calibration_.rows)} of {len(X_train)} samples held out")
tied = model.rule_.at_threshold(model.uncertainty(X_test)).sum()
coverage = model.accept_proba(X_test).mean()
print(f"{tied} new samples at the threshold, coverage {coverage:.3f}")
