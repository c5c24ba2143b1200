"""
==========================================================
Sensitivity and specificity of what is decided, by request
==========================================================

A bound on the risk of everything that is accepted says little about a class: the rarer
and harder one may be wrong far more often than the bound allows, as long as the other
makes up for it. `min_recall` and `min_precision` bound the classes themselves, all of
them by one threshold. Here a tumour is to be called malignant or benign, or to be left
to a second look.
"""

# %%
# One risk for all
# ----------------
#
# Of what is decided, at most 3 % may be wrong. The classifier is quick, not the best.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
plain = SelectiveClassifier(GaussianNB(), target_risk=0.03, random_state=0).fit(X, y)


def recall_of_accepted(selective, label):
    """Return the share labelled right of what is accepted of a class."""
    found = selective.calibration_
    rows = found.labels == label
    accepted = selective.rule_.accept_proba(found.scores[rows])
    return float(np.average(found.losses[rows] == 0, weights=accepted))


print(f"coverage {plain.rule_.coverage:.3f}")
for label in plain.classes_:
    print(f"recall of {label}: {recall_of_accepted(plain, label):.3f}")

# %%
# The bound is met, yet of the malignant tumours that are decided, more than 3 % are
# called benign.
#
# A bound for each class
# ----------------------
#
# Missed cancers are worse than false alarms, so the bounds need not be equal. No other
# fit is needed for another target.

bounds = {"malignant": 0.97, "benign": 0.95}
bounded = plain.retarget(min_recall=bounds)
print(f"coverage {bounded.rule_.coverage:.3f}")
for (name, label), found in bounded.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")

# %%
# The bound on the malignant ones is tight, and decides how much is accepted. Bounds on
# precision, what a *malignant* or a *benign* is worth when it is said, may come on top.

both = plain.retarget(min_recall=bounds, min_precision={"benign": 0.985})
print(f"coverage {both.rule_.coverage:.3f}")
for (name, label), found in both.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")

# %%
# Certified
# ---------
#
# What is met on the samples that chose the threshold is missed on new ones about every
# other time. With a `confidence`, half of the samples are held out, and all bounds hold
# at once for new ones with that probability. So few malignant samples cannot show much,
# and less has to be asked for.

certified = SelectiveClassifier(
    GaussianNB(),
    min_recall={"malignant": 0.9, "benign": 0.9},
    confidence=0.9,
    cv=0.5,
    random_state=0,
).fit(X, y)
certificate = certified.rule_.certificate
print(f"coverage {certified.rule_.coverage:.3f}")
for part, p_value in zip(certificate.parts, certificate.p_values, strict=True):
    print(f"{part}: p-value {p_value:.4f}")

# %%
# What a threshold does to each class
# -----------------------------------
#
# Recall of what is accepted of each class, as more and more is accepted, and where the
# first two rules stop.

import matplotlib.pyplot as plt

found = plain.calibration_
order = np.argsort(found.scores)
coverage = np.arange(1, len(order) + 1) / len(order)
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
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
    ylabel="Recall of what is accepted",
    xlim=(0, 1),
    ylim=(0.85, 1.005),
)
axes.legend(loc="lower left")
plt.show()
