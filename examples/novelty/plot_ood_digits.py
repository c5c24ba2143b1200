"""
================================
Reject inputs of unknown classes
================================

A classifier meets images that show none of its classes (out-of-distribution, OOD), and
labels them anyway. A :class:`~sklearn_reject.DoubleScoreOODClassifier` rejects them,
together with the images that it is likely to get wrong. For this it combines two
scores: how uncertain the label is, and how far the image is from the training data.
"""

# %%
# Two digits are unknown
# ----------------------
#
# Zeros and sixes get the label -1, which stands for OOD. The classifier is never fitted
# on them. They only help to choose the rule. If you have no such samples, see
# :ref:`the guide <ood>`. We want to accept at least 90% of the known digits (the true
# positive rate, TPR) and at most 5% of the unknown ones (the false positive rate, FPR).

# sphinx_gallery_thumbnail_path = "_static/drawings/novelty.svg"
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier

X, digits = load_digits(return_X_y=True)
y = np.where(np.isin(digits, [0, 6]), -1, digits)
X_train, X_test, y_train, y_test, _, digits_test = train_test_split(
    X, y, digits, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(
    PCA(15, random_state=0), StandardScaler(), LogisticRegression()
)
model = DoubleScoreOODClassifier(
    classifier, min_tpr=0.9, max_fpr=0.05, random_state=0
).fit(X_train, y_train)

accepted, y_pred = model.accept(X_test), model.predict_label(X_test)
is_ood = y_test == -1
wrong = (y_pred != y_test) & ~is_ood
print(f"accepted: {accepted[~is_ood].mean():.1%} of the known digits")
print(f"          {accepted[is_ood].mean():.1%} of the unknown digits")
print(f"errors:   {wrong[~is_ood].mean():.1%} of the known digits")
print(f"          {wrong[accepted & ~is_ood].mean():.1%} of those that are accepted")

# %%
# Among all rules within the bounds, `fit` chose one with few errors on accepted digits.
# Both bounds hold on the new digits. To be sure of this in advance, add a
# `confidence_level`, and more unknown digits.
#
# Both scores of each new digit. Errors (crosses) are on the right, unknown digits
# (triangles) at the top. The rule is the sloping line, and accepts what is below.

import matplotlib.pyplot as plt

risk, novelty = model.risk_and_novelty(X_test)
rule = model.rule_
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
groups = {
    "known, label right": (~is_ood & ~wrong, "o", "C0"),
    "unknown": (is_ood, "^", "C2"),
    "known, label wrong": (wrong, "X", "C1"),
}
for name, (rows, marker, color) in groups.items():
    style = {"marker": marker, "color": color, "alpha": 0.6, "linewidth": 0}
    ax.scatter(risk[rows], novelty[rows], label=name, **style)
ends = np.array([0, risk.max()])
ax.plot(ends, (rule.threshold - ends) / rule.mu, color="black", label="the rule")
ax.set(xlabel="Uncertainty of the label", ylabel="Novelty of the image")
ax.set_ylim(0, 1.05 * novelty.max())
fig.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# Which bounds can be met?
# ------------------------
#
# The frontier shows the largest TPR that a rule can reach for each FPR. Both bounds can
# be met together if the curve passes above the marked corner. The uncertainty alone is
# far below: it cannot tell unknown digits from difficult ones. The novelty alone is
# nearly as good here, but does not see wrong labels.

from sklearn_reject.metrics import OODFrontierDisplay

display = OODFrontierDisplay.from_predictions(
    y_test,
    y_pred,
    risk,
    novelty=novelty,
    name="risk and novelty",
    target={"max_fpr": 0.05, "min_tpr": 0.9},
)
for name, score in {"risk alone": risk, "novelty alone": novelty}.items():
    OODFrontierDisplay.from_predictions(
        y_test, y_pred, score, name=name, ax=display.ax_
    )
plt.show()

# %%
# Accepted and rejected images
# ----------------------------
#
# Titles are the true digit and, for accepted images, the predicted one.

combined = rule.combine(risk, novelty)
rows_shown = {
    "known,\njust accepted": (accepted & ~is_ood, combined),
    "known,\nuncertain": (~accepted & ~is_ood, risk),
    "unknown": (~accepted & is_ood, novelty),
}
fig, axes = plt.subplots(3, 6, figsize=(6, 3.8), layout="constrained")
for line, (name, (rows, score)) in zip(axes, rows_shown.items(), strict=True):
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for ax, row in zip(line, np.argsort(-np.where(rows, score, -np.inf)), strict=False):
        ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
        said = f" as {y_pred[row]}" if accepted[row] else ""
        ax.set(title=f"{digits_test[row]}{said}", xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
plt.show()
