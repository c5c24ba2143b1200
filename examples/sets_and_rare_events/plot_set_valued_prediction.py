"""
=====================================
Several answers where one is not sure
=====================================

A classifier that hesitates between a 3 and a 9 can say so: it predicts both. What that
is worth is for the loss to say, and from the loss follows how many digits are named for
each image.
"""

# %%
# Calibrated probabilities
# ------------------------
#
# Naive Bayes on the pixels of the digits, calibrated on folds of the training images.
# One image in eight is classified wrongly.

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
# A set of k digits either has the truth in it or not. If it has, its F-beta is
# :math:`(1 + \beta^2) / (k + \beta^2)`: for F1 that is 1 for one digit, 2/3 for two and
# 1/2 for three. With a larger beta a further digit costs less. With the Jaccard index,
# 1, 1/2 and 1/3, a second one never pays. The balanced error ("am") is one half for a
# missed truth, and 1/18 for each wrong digit.
#
# The last column is the loss of the most probable digit alone.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

HEADER = f"{'':9}  size  largest  truth in it  expected loss  realised    alone"


def describe(classifier, name, **options):
    """Print how large the sets are, how often they are right, and what they cost."""
    model = ExpectedLossDecoder(FrozenEstimator(classifier), **options)
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
# For F0.5 and F1 there is next to nothing in it: a second digit is dear, and the first
# one is right too often. For F2 and AM sets are better than single digits, and the
# expected losses are close to the realised ones.
#
# Where the classifier hesitates
# ------------------------------
#
# The sets for F2, by their size. Where there are several digits, the most probable one
# is often wrong, and the truth mostly among the others.

model = ExpectedLossDecoder(FrozenEstimator(classifier), loss="f_beta", beta=2.0)
sets = model.fit(X_train, y_train).predict_set(X_test)
sizes, hits = sets.sum(axis=1), sets[np.arange(len(y_test)), y_test]
print("digits  images  error of the first  truth not in the set")
for size in np.unique(sizes):
    rows = sizes == size
    print(
        f"{size:6}{rows.sum():8}{wrong[rows].mean():20.3f}{1 - hits[rows].mean():22.3f}"
    )

# %%
# The images with the most digits. Above each are its set and, in brackets, the truth;
# red where that is not in the set.

import matplotlib.pyplot as plt

shown = np.argsort(-sizes, kind="stable")[:24]
fig, axes = plt.subplots(3, 8, figsize=(9, 4.4), layout="constrained")
for ax, row in zip(axes.flat, shown, strict=True):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    digits = " ".join(map(str, np.flatnonzero(sets[row])))
    color = "C0" if hits[row] else "C3"
    ax.set_title(f"{digits} ({y_test[row]})", fontsize="small", color=color)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
plt.show()

# %%
# Probabilities that are not honest
# ---------------------------------
#
# Naive Bayes as it is gives most of its predictions a probability near one. It hardly
# ever hesitates, and expects next to no loss:

print(HEADER)
describe(GaussianNB().fit(X_train, y_train), "F2", loss="f_beta", beta=2.0)

# %%
# A loss of one's own
# -------------------
#
# Two digits with the truth among them may be worth 0.8, three of them 0.6, and so on. A
# function of the confusion matrix says so. One digit is true, so that tp is 1 or 0, and
# fp is the number of wrong ones.


def count_wrong_digits(tp, fp, fn, tn):
    """Return one minus 1, 0.8, 0.6, ... for sets with the truth in them."""
    return 1 - tp * np.maximum(1 - 0.2 * fp, 0)


print(HEADER)
describe(classifier, "own", loss=count_wrong_digits)

# %%
# To take away: sets pay where the loss forgives a further answer, and where the
# probabilities are honest. They say between what the classifier hesitates. To say
# nothing instead, for a price, is what :class:`~sklearn_reject.SelectiveClassifier`
# does.
