"""
============================================
Predict several labels when one is uncertain
============================================

A classifier that hesitates between a 3 and a 9 can predict both. When is a set of
labels better than a single one, and how large should it be? This follows from the loss.
You will see sets of digits for five losses, and the images on which the classifier
hesitates most.
"""

# %%
# Calibrated probabilities
# ------------------------
#
# We use naive Bayes on the pixels of the digits, calibrated on folds of the training
# images. It gets one image in eight wrong.

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = CalibratedClassifierCV(GaussianNB(), method="isotonic")
classifier.fit(X_train, y_train)
wrong = classifier.predict(X_test) != y_test
print(f"error {wrong.mean():.3f}")

# %%
# Sets of digits
# --------------
#
# A set of k digits either contains the true digit or not. If it does, its F-beta score
# is :math:`(1 + \beta^2) / (k + \beta^2)`. For F1 this is 1 for one digit, 2/3 for two
# and 1/2 for three. With a larger beta a further digit costs less. With the Jaccard
# index (1, 1/2, 1/3) a second digit never pays. The balanced error ("am") is 1/2 if the
# true digit is missing, plus 1/18 for each wrong digit.
#
# The last column of the table is the loss of predicting only the most probable digit.

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

HEADER = f"{'':9}  size  largest  truth in it  expected loss  realized    alone"


def describe(classifier, name, strategy="auto", **options):
    """Print how large the sets are, how often they are right, and what they cost."""
    model = ExpectedLossDecoder(classifier, strategy=strategy, **options)
    sets = model.fit(X_train, y_train).predict_set(X_test)
    alone = model.predict(X_test)[:, None] == model.classes_
    sizes, hits = sets.sum(axis=1), sets[np.arange(len(y_test)), y_test]
    losses = [
        set_loss(y_test, mask, **options, labels=model.classes_)
        for mask in (sets, alone)
    ]
    print(
        f"{name:9}{sizes.mean():6.2f}{sizes.max():9}{hits.mean():13.3f}"
        f"{model.expected_loss(X_test).mean():15.3f}{losses[0]:10.3f}{losses[1]:9.3f}"
    )


print(HEADER)
describe(classifier, "Jaccard", loss="jaccard")
describe(classifier, "F0.5", loss="f_beta", beta=0.5)
describe(classifier, "F1", loss="f1")
describe(classifier, "F2", loss="f_beta", beta=2.0)
describe(classifier, "AM", loss="am")

# %%
# For F0.5 and F1 there is almost nothing to gain: a second digit costs too much, and
# the first one is usually right. For F2 and AM, sets are better than single digits. The
# expected losses are close to the realized ones.
#
# Where does the classifier hesitate?
# -----------------------------------
#
# The table shows the sets for F2 by their size. If a set has several digits, the most
# probable one is often wrong, but the true one is usually in the set.

model = ExpectedLossDecoder(classifier, loss="f_beta", beta=2.0)
sets = model.fit(X_train, y_train).predict_set(X_test)
sizes, hits = sets.sum(axis=1), sets[np.arange(len(y_test)), y_test]
print("digits  images  error of the first  truth not in the set")
for size in np.unique(sizes):
    rows = sizes == size
    print(
        f"{size:6}{rows.sum():8}{wrong[rows].mean():20.3f}{1 - hits[rows].mean():22.3f}"
    )

# %%
# The images with the most digits. The title shows the set and, in brackets, the true
# digit. It is red if the set does not contain the true digit.

import matplotlib.pyplot as plt

shown = np.argsort(-sizes, kind="stable")[:15]
fig, axes = plt.subplots(3, 5, figsize=(6, 4.6), layout="constrained")
for ax, row in zip(axes.flat, shown, strict=True):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    digits = " ".join(map(str, np.flatnonzero(sets[row])))
    color = "C0" if hits[row] else "C3"
    ax.set_title(f"{digits} ({y_test[row]})", fontsize="medium", color=color)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
plt.show()

# %%
# Probabilities that are not calibrated
# -------------------------------------
#
# Naive Bayes gives most predictions a probability close to one. If they are decoded as
# they are, with "dta", the expected loss is far too small, and so are the sets. The
# default calibrates the probabilities by cross-validation:

print(HEADER)
describe(GaussianNB(), "as is", strategy="dta", loss="f_beta", beta=2.0)
describe(GaussianNB(), "auto", loss="f_beta", beta=2.0)

# %%
# Your own loss
# -------------
#
# Suppose that two digits with the true one among them are worth 0.8, three are worth
# 0.6, and so on. Write this as a function of the confusion matrix. There is one true
# digit, so tp is 1 or 0, and fp is the number of wrong digits.


def count_wrong_digits(tp, fp, fn, tn):
    """Return one minus 1, 0.8, 0.6, ... for sets with the truth in them."""
    return 1 - tp * np.maximum(1 - 0.2 * fp, 0)


print(HEADER)
describe(classifier, "own", loss=count_wrong_digits)

# %%
# In short: sets pay if the loss forgives a further label and if the probabilities are
# calibrated. They say between which labels the classifier hesitates. If you would
# rather predict nothing, for a price, use :class:`~sklearn_reject.SelectiveClassifier`.
