"""
=====================================
Bounds on sensitivity and specificity
=====================================

A small error rate among all accepted samples says little about a rare class.
`min_recall` and `min_precision` bound each class, with one threshold for all. Here a
tumor is called malignant or benign, or is left to a second examination.
"""

# %%
# At most 3% errors are not enough
# --------------------------------
#
# We start with one error rate for all. Naive Bayes is fast but not the best classifier
# for these data.

# sphinx_gallery_thumbnail_path = "_static/drawings/bounds.svg"
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
plain = SelectiveClassifier(GaussianNB(), target_risk=0.03, random_state=0).fit(X, y)

# %%
# `retarget` chooses the threshold for other bounds without a new fit. Missed cancers
# are worse than false alarms, so the bounds need not be equal.

bounds = {"malignant": 0.97, "benign": 0.95}
bounded = plain.retarget(min_recall=bounds)
for (name, label), found in bounded.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")
print(f"coverage {bounded.rule_.coverage:.3f} instead of {plain.rule_.coverage:.3f}")

# %%
# The curves show the recall of each class among accepted samples as the coverage grows,
# and the dotted lines what we ask for. With 3% errors in total (dashed), more than 3%
# of the accepted malignant tumors are called benign. With a bound for each class
# (solid), both curves are above their lines.

import matplotlib.pyplot as plt

found = plain.calibration_
order = np.argsort(found.scores)
coverage = np.arange(1, len(order) + 1) / len(order)
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
for label, color in zip(plain.classes_, ("C0", "C3"), strict=True):
    members = found.labels[order] == label
    number = np.cumsum(members)
    recall = np.cumsum(members & (found.losses[order] == 0)) / np.maximum(number, 1)
    ax.plot(coverage[number > 20], recall[number > 20], color=color, label=label)
    ax.axhline(bounds[label], color=color, linestyle=":", linewidth=1)
for name, model, style in (
    ("target_risk=0.03", plain, "--"),
    ("min_recall of each class", bounded, "-"),
):
    ax.axvline(model.rule_.coverage, color="0.2", linestyle=style, lw=1, label=name)
ax.set(xlabel="Coverage", ylabel="Recall of accepted samples", ylim=(0.85, 1.005))
ax.set_xlim(0.4, 1)
ax.legend(loc="lower left")
plt.show()

# %%
# Precision, too
# --------------
#
# A bound on the precision says how often a tumor that is called benign has to be
# benign.

both = plain.retarget(min_recall=bounds, min_precision={"benign": 0.985})
for (name, label), found in both.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")
print(f"coverage {both.rule_.coverage:.3f}")

# %%
# With a guarantee
# ----------------
#
# These bounds are met by cross-validation, and can be missed on new samples. With a
# `confidence_level`, half of the samples are held out for calibration, and all bounds
# hold together for new samples with this probability. There are few malignant tumors,
# so we have to ask for less.

certified = SelectiveClassifier(
    GaussianNB(),
    min_recall={"malignant": 0.9, "benign": 0.9},
    confidence_level=0.9,
    random_state=0,
).fit(X, y)
print(f"coverage {certified.rule_.coverage:.3f}")
for (name, label), found in certified.bounds_.items():
    print(f"{name} of {label}: {found.achieved:.3f}, asked {found.bound}")
