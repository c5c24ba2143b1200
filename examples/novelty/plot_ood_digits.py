"""
=========================================================
Reject unknown classes and uncertain labels with one rule
=========================================================

A classifier should reject two kinds of images: those that it is likely to get wrong,
and those that show none of its classes (out-of-distribution, OOD). A score that finds
the first kind can miss the second, and vice versa. You will see a rule that combines
two scores, compared with a threshold on each score alone, and images that it accepts
and rejects.
"""

# %%
# Digits that were never learned
# ------------------------------
#
# We hold out zeros and sixes and give them the label -1, which stands for OOD. The
# classifier is a small one, logistic regression on six principal components, so that it
# makes some errors.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, digits = load_digits(return_X_y=True)
y = np.where(np.isin(digits, [0, 6]), -1, digits)
X_train, X_test, y_train, y_test, _, digits_test = train_test_split(
    X, y, digits, test_size=0.5, stratify=digits, random_state=0
)
classifier = make_pipeline(
    PCA(6, random_state=0), StandardScaler(), LogisticRegression()
)
is_ood = y_test == -1
n_known = (y_train != -1).sum()
print(f"training data: {n_known} known digits, {(y_train == -1).sum()} unknown")
print(f"test data:     {(~is_ood).sum()} known digits, {is_ood.sum()} unknown")

# %%
# One rule of two scores
# ----------------------
#
# We want to accept at least 70 % of the known digits (the true positive rate, TPR) and
# at most 10 % of the unknown ones (the false positive rate, FPR). The novelty score is
# the distance to the nearest training images, in terms of their pixels. The samples
# with label -1 only tune the rule. The classifier is never fitted on them.

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.scores import KNN


def get_pixels(classifier, X):
    """Return what the distances are measured on: the images as they are."""
    return X


BOUNDS = {"min_tpr": 0.7, "max_fpr": 0.1}
model = DoubleScoreOODClassifier(
    classifier, novelty_score=KNN(features=get_pixels), **BOUNDS
)
model.fit(X_train, y_train)
rule = model.rule_
print(f"accepted where risk + {rule.mu:.2f} novelty < {rule.threshold:.2f}")
print(f"train: TPR {rule.tpr:.3f}, FPR {rule.fpr:.3f}, risk {rule.selective_risk:.3f}")

accepted = model.accept(X_test)
y_pred = model.predict_label(X_test)
wrong = (y_pred != y_test) & ~is_ood
print(
    f"test:  TPR {accepted[~is_ood].mean():.3f}, FPR {accepted[is_ood].mean():.3f}, "
    f"risk {wrong[accepted & ~is_ood].mean():.3f}"
)
print(f"error on all known digits {wrong[~is_ood].mean():.3f}")

# %%
# The rates on new digits scatter around those on the training data. With 719 known and
# 180 unknown digits, the standard error is 0.017 at a TPR of 0.7 and 0.007 at an FPR of
# 0.01. The error rate was nearly the lowest of many rules on the training data, so it
# is higher on new digits. The rule does not use all of the FPR that is allowed: of all
# rules within one standard error of the lowest error rate, it is the one that accepts
# the fewest unknown digits.
#
# Each score alone
# ----------------
#
# Now we use each score alone, with its best threshold within the bounds on the test
# images. To be fair, we also choose the best combination of both scores on the test
# images. With the risk score no threshold keeps both bounds. The metric is then NaN and
# gives a warning, which we silence here. With the novelty score both bounds can be
# kept, but more accepted digits are wrong.

import warnings

from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject.metrics import ood_auroc_score, selective_risk_at_tpr_fpr_score

risk, novelty = model.risk_and_novelty(X_test)
methods = {"risk": (risk, None), "novelty": (novelty, None), "both": (risk, novelty)}
print(f"{'':10}{'risk at bounds':>16}{'AUROC':>9}")
for name, (score, second) in methods.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        best = selective_risk_at_tpr_fpr_score(
            y_test, y_pred, score, novelty=second, **BOUNDS
        )
    auroc = ood_auroc_score(y_test, score, novelty=second)
    print(f"{name:10}{best:16.3f}{auroc:9.3f}")

# %%
# The plane of both scores shows why. Errors (crosses) are on the right, unknown digits
# (triangles) at the top. A threshold on one score is a vertical or a horizontal line.
# The rule is the sloping line, and accepts what is below it.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 4.8), layout="constrained")
groups = {
    "known, predicted right": (~is_ood & ~wrong, "o", "C0", 14),
    "known, predicted wrong": (wrong, "X", "C1", 34),
    "unknown": (is_ood, "^", "C2", 22),
}
for name, (rows, marker, color, size) in groups.items():
    ax.scatter(
        risk[rows],
        novelty[rows],
        size,
        color=color,
        marker=marker,
        linewidth=0,
        alpha=0.7,
        label=name,
    )
ends = np.array([0.0, 0.8])
ax.plot(ends, (rule.threshold - ends) / rule.mu, color="black", label="the rule")
ax.set(xlabel="Risk: estimated probability of an error")
ax.set(ylabel="Novelty: distance to training images")
ax.set(xlim=(-0.02, 0.82), ylim=(0.05, novelty.max() + 0.02))
fig.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# Accepted and rejected images
# ----------------------------
#
# The first row shows known digits that are only just accepted. The second row shows
# known digits with the highest risk, the third unknown digits with the highest novelty.
# The last row shows the unknown digits that are accepted, which are mistakes. Titles
# are the true digit and, for accepted images, the predicted one.

uncertainty = rule.combine(risk, novelty)
rows_shown = {
    "known,\naccepted": np.flatnonzero(accepted & ~is_ood)[
        np.argsort(-uncertainty[accepted & ~is_ood])
    ],
    "known,\nhigh risk": np.flatnonzero(~accepted & ~is_ood)[
        np.argsort(-risk[~accepted & ~is_ood])
    ],
    "unknown,\nrejected": np.flatnonzero(~accepted & is_ood)[
        np.argsort(-novelty[~accepted & is_ood])
    ],
    "unknown,\naccepted": np.flatnonzero(accepted & is_ood),
}
fig, axes = plt.subplots(4, 6, figsize=(6, 5), layout="constrained")
for line, (name, rows) in zip(axes, rows_shown.items(), strict=True):
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for ax in line:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for ax, row in zip(line, rows, strict=False):
        ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
        said = f" as {y_pred[row]}" if accepted[row] else ""
        ax.set_title(f"{digits_test[row]}{said}")
plt.show()

# %%
# How many neighbors?
# --------------------
#
# `GridSearchCV` can tune the novelty score. The scorer is minus the lowest error rate
# within the bounds, on each validation fold. ``infeasible=1`` gives a candidate that
# cannot keep the bounds on a fold the error rate of the worst classifier. Otherwise it
# would have no score at all.

from sklearn.model_selection import GridSearchCV

from sklearn_reject.metrics import get_selective_scorer

search = GridSearchCV(
    model,
    {"novelty_score__n_neighbors": [1, 3, 10, 30]},
    scoring=get_selective_scorer(
        "neg_selective_risk_at_tpr_fpr", **BOUNDS, infeasible=1.0
    ),
    cv=5,
).fit(X_train, y_train)
results = search.cv_results_
columns = "param_novelty_score__n_neighbors", "mean_test_score", "std_test_score"
print(f"{'neighbors':12}{'score':>7}{'deviation':>11}")
for n_neighbors, mean, deviation in zip(*map(results.get, columns), strict=True):
    print(f"{n_neighbors:<12}{mean:7.3f}{deviation:11.3f}")

accepted = search.best_estimator_.accept(X_test)
print(
    f"{search.best_params_['novelty_score__n_neighbors']} neighbors on test images: "
    f"TPR {accepted[~is_ood].mean():.3f}, FPR {accepted[is_ood].mean():.3f}, "
    f"risk {wrong[accepted & ~is_ood].mean():.3f}"
)
