"""
=======================================
Ties: why a threshold misses its target
=======================================

Five nearest neighbours vote for a digit, so that the share of dissenting votes, the
classifier's uncertainty, has a handful of values. Most samples share one of them, and a
threshold accepts or rejects them together. It cannot cover 60 % of the samples if 83 %
are unanimous. A rule that accepts samples *at* the threshold with a certain probability
can.
"""

# %%
# Few distinct scores
# -------------------
#
# One part of the digits fits the classifier, one is the calibration set of the rules,
# and one is held out.

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
# The classifier is fitted already, so that it goes in as a
# :class:`~sklearn.frozen.FrozenEstimator`, and `fit` only solves the rule. With
# ``randomize=False`` the group at the threshold is accepted as a whole: the safe side
# for a coverage. `accept_proba` is the probability that a sample is accepted, so that
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
# Target risk
# -----------
#
# Under a target risk the safe side is to reject the group at the threshold. That gives
# away coverage. Over a range of targets, the rule without randomization is a staircase.
# With scores and losses at hand, the functions that `fit` calls do without the
# classifier:

import matplotlib.pyplot as plt

from sklearn_reject.selection import solve_target_coverage, solve_target_risk

scores = model.uncertainty(X_tune)
losses = (model.predict_label(X_tune) != y_tune).astype(float)
held_out_scores = model.uncertainty(X_test)

coverages = np.linspace(0.6, 1, 81)
risks = np.linspace(0.01, 0.05, 81)
styles = {True: {"color": "C0"}, False: {"color": "C1", "linestyle": "--"}}

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for randomize, style in styles.items():
    label = f"randomize={randomize}"
    rules = [
        solve_target_coverage(scores, losses, target, randomize=randomize)
        for target in coverages
    ]
    achieved = [rule.accept_proba(held_out_scores).mean() for rule in rules]
    axes[0].plot(coverages, achieved, label=label, **style)
    rules = [
        solve_target_risk(scores, losses, target, randomize=randomize)
        for target in risks
    ]
    axes[1].plot(risks, [rule.coverage for rule in rules], label=label, **style)
axes[0].plot([0.6, 1], [0.6, 1], color="0.6", linewidth=0.8, label="as promised")
axes[0].set(xlabel="Target coverage", ylabel="Coverage of held-out samples")
axes[1].set(xlabel="Target risk", ylabel="Coverage of the calibration set")
axes[1].set_xticks([0.01, 0.02, 0.03, 0.04, 0.05])
axes[0].legend()
axes[1].legend()
plt.show()

# %%
# Who is accepted at the threshold
# --------------------------------
#
# Each sample at the threshold has a draw of its own, which depends on its pixels and on
# the seed that `fit` has drawn from `random_state`. So the answer is the same in one
# call for all samples and in one call for each.

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
# Equal images therefore get equal decisions. Where that is not wanted, `keys` tell them
# apart: identifiers, or any other integers or text.

same_image = X_test[at_threshold][[0] * 1000]
print(f"accepted of 1,000 equal images: {model.accept(same_image).sum()}")
print(f"with keys: {model.accept(same_image, keys=range(1000)).sum()}")

# %%
# Trees are a special case. Each has the shares of its own leaves as scores, and those
# of the trees that are fitted on folds do not occur in the final tree. There is nobody
# at the threshold then, and the target is missed by a whole leaf in spite of the
# randomization. Hold out a part of the samples instead (a float as `cv`), so that the
# rule is solved on the very tree that predicts:

from sklearn.tree import DecisionTreeClassifier

X_train, y_train = np.concatenate([X_fit, X_tune]), np.concatenate([y_fit, y_tune])
tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=5, random_state=0)
for cv in (5, 0.5):
    model = SelectiveClassifier(tree, target_coverage=0.7, cv=cv, random_state=0)
    model.fit(X_train, y_train)
    tied = model.rule_.at_threshold(model.uncertainty(X_test)).sum()
    held_out = model.accept_proba(X_test).mean()
    print(f"cv={cv}: {tied} samples at the threshold, coverage {held_out:.3f} held out")
