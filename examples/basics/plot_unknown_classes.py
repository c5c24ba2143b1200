"""
================================
Reject inputs of unknown classes
================================

In production a classifier meets inputs that belong to none of its classes. It labels
them anyway, often with a high probability. How do we reject them, together with the
inputs that it is likely to get wrong? A
:class:`~sklearn_reject.DoubleScoreOODClassifier` combines two scores: how uncertain
the label is, and how far the input is from the training data. You will see both scores
for handwritten digits, two of which the classifier has never learned.
"""

# %%
# Two digits are unknown
# ----------------------
#
# Zeros and sixes are not among the classes. The training data have 179 of them, with
# the label -1, which stands for out-of-distribution (OOD). The classifier is never
# fitted on them. They only help to choose the threshold. If you have no such samples,
# see :ref:`the guide <ood>`, "Without OOD samples".

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DoubleScoreOODClassifier

X, y = load_digits(return_X_y=True)
y = np.where(np.isin(y, [0, 6]), -1, y)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(
    PCA(15, random_state=0), StandardScaler(), LogisticRegression()
)

# %%
# Choose what to accept
# ---------------------
#
# We want to accept at least 90 % of the known digits (`min_tpr`) and at most 5 % of the
# unknown ones (`max_fpr`). Among all rules that do so, `fit` takes one with a low error
# rate on the accepted known digits.

model = DoubleScoreOODClassifier(
    classifier, min_tpr=0.9, max_fpr=0.05, random_state=0
).fit(X_train, y_train)

is_unknown = y_test == -1
wrong = model.predict_label(X_test) != y_test
print(f"error rate on all known digits: {wrong[~is_unknown].mean():.3f}")
print(model.report(X_test, y_test))

# %%
# Both scores of each test digit. Unknown digits have a high novelty, errors have a high
# uncertainty. Digits above the line are rejected.

import matplotlib.pyplot as plt

uncertainty, novelty = model.risk_and_novelty(X_test)
rule = model.rule_
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
groups = {
    "known, label right": (~is_unknown & ~wrong, "o", "C0"),
    "unknown": (is_unknown, "^", "C2"),
    "known, label wrong": (~is_unknown & wrong, "X", "C1"),
}
for name, (rows, marker, color) in groups.items():
    style = {"marker": marker, "color": color, "alpha": 0.6, "linewidth": 0}
    ax.scatter(uncertainty[rows], novelty[rows], label=name, **style)
ends = np.array([0, uncertainty.max()])
ax.plot(ends, (rule.threshold - ends) / rule.mu, color="black", label="the rule")
ax.set(xlabel="Uncertainty of the label", ylabel="Novelty of the input")
ax.set_ylim(0, 1.05 * novelty.max())
fig.legend(loc="outside upper center", ncols=2)
plt.show()
