"""
=====================================
Bounds on sensitivity and specificity
=====================================

A bound on the error rate of all accepted samples says little about a rare and difficult
class. `min_recall` and `min_precision` bound each class, with one threshold for all.
Here a tumor is called malignant or benign, or is left to a second examination. You
will see how the bounds change the share of tumors that get a label.
"""

# %%
# One error rate for all
# ----------------------
#
# At most 3 % of the accepted samples may be wrong. We use naive Bayes, which is fast
# but not the best classifier for these data.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
plain = SelectiveClassifier(GaussianNB(), target_risk=0.03, random_state=0).fit(X, y)


def recall_of_accepted(selective, label):
    """Return the share labeled right of what is accepted of a class."""
    found = selective.calibration_
    rows = found.labels == label
    accepted = selective.rule_.accept_proba(found.scores[rows])
    return float(np.average(found.losses[rows] == 0, weights=accepted))


print(f"coverage {plain.rule_.coverage:.3f}")
for label in plain.classes_:
    print(f"recall of {label}: {recall_of_accepted(plain, label):.3f}")

# %%
# The target is met. But among the accepted malignant tumors, more than 3 % are called
# benign.
#
# A bound for each class
# ----------------------
#
# Missed cancers are worse than false alarms, so the bounds need not be equal.
# `retarget` chooses the threshold for another target without a new fit.

bounds = {"malignant": 0.97, "benign": 0.95}
bounded = plain.retarget(min_recall=bounds)
print(f"coverage {bounded.rule_.coverage:.3f}")
for (name, label), found in bounded.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")

# %%
# The bound for malignant tumors is the tight one. It decides how many samples are
# accepted. We can add bounds on the precision: how often a tumor that is called benign
# is benign.

both = plain.retarget(min_recall=bounds, min_precision={"benign": 0.985})
print(f"coverage {both.rule_.coverage:.3f}")
for (name, label), found in both.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")

# %%
# With a guarantee
# ----------------
#
# A bound that is just met on the samples used to choose the threshold is missed on new
# samples about half of the time. With a `confidence_level`, half of the samples are
# held out for calibration. With this probability, all bounds then hold for new samples
# at the same time. There are few malignant tumors, so we have to ask for less.

certified = SelectiveClassifier(
    GaussianNB(),
    min_recall={"malignant": 0.9, "benign": 0.9},
    confidence_level=0.9,
    random_state=0,
).fit(X, y)
certificate = certified.rule_.certificate
print(f"coverage {certified.rule_.coverage:.3f}")
for part, p_value in zip(certificate.parts, certificate.p_values, strict=True):
    print(f"{part}: p-value {p_value:.4f}")

# %%
# Recall of each class at every threshold
# ---------------------------------------
#
# The curves show the recall among accepted samples of each class as the coverage grows.
# The vertical lines show the first two rules, the dotted lines the two bounds.

import matplotlib.pyplot as plt

found = plain.calibration_
order = np.argsort(found.scores)
coverage = np.arange(1, len(order) + 1) / len(order)
figure, axes = plt.subplots(figsize=(6, 4.4), layout="constrained")
for label, color in zip(plain.classes_, ("tab:blue", "tab:red"), strict=True):
    members = found.labels[order] == label
    right = np.cumsum(members & (found.losses[order] == 0))
    number = np.cumsum(members)
    some = number > 20
    axes.plot(coverage[some], right[some] / number[some], color=color, label=label)
    axes.axhline(bounds[label], color=color, linestyle=":", linewidth=1)
marks = ("target_risk=0.03", plain, "--"), ("min_recall of each class", bounded, "-")
for name, selective, style in marks:
    axes.axvline(
        selective.rule_.coverage,
        color="black",
        linestyle=style,
        linewidth=1,
        label=name,
    )
axes.set(
    xlabel="Coverage",
    ylabel="Recall of accepted samples",
    xlim=(0, 1),
    ylim=(0.85, 1.005),
)
axes.legend(loc="lower left")
plt.show()
