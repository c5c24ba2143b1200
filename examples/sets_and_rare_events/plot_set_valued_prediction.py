"""
============================================
Predict several labels when one is uncertain
============================================

A classifier that hesitates between a 3 and a 9 can predict both. When is a set of
labels better than a single one, and how large should it be? This follows from the loss.
You will see the images on which a classifier hesitates most, and sets for four losses.
"""

# %%
# Where does the classifier hesitate?
# -----------------------------------
#
# If a set of k digits contains the true one, its F2 score is 5 / (k + 4): 1 for one
# digit, 0.83 for two, 0.71 for three. If it does not, the score is 0. Naive Bayes is
# too sure of itself, so it is calibrated first.

# sphinx_gallery_thumbnail_path = "_static/drawings/sets.svg"
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = CalibratedClassifierCV(GaussianNB(), method="isotonic")
model = ExpectedLossDecoder(classifier, loss="f_beta", beta=2.0)
sets = model.fit(X_train, y_train).predict_set(X_test)
sizes, hits = sets.sum(axis=1), sets[np.arange(len(y_test)), y_test]

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
# Where a set has several digits, the most probable one is often wrong, but the true one
# is usually in the set:

wrong = model.predict(X_test) != y_test
print("digits  images  most probable is wrong  truth not in the set")
for size in np.unique(sizes):
    rows = sizes == size
    print(
        f"{size:6}{rows.sum():8}{wrong[rows].mean():24.3f}{1 - hits[rows].mean():22.3f}"
    )

# %%
# When do sets pay?
# -----------------
#
# With the Jaccard index (1, 1/2, 1/3) a second digit never pays, with F1 (1, 2/3, 1/2)
# hardly ever. With F2, and with the balanced error ("am"), which is 1/2 if the true
# digit is missing plus 1/18 for each wrong digit, sets are better than single digits.
# The last column is the loss of predicting only the most probable digit.

from sklearn_reject.metrics import set_loss

print(f"{'':9}size  truth in it  expected loss  realized  single digit")
for options in (
    {"loss": "jaccard"},
    {"loss": "f1"},
    {"loss": "f_beta", "beta": 2.0},
    {"loss": "am"},
):
    model = ExpectedLossDecoder(classifier, **options).fit(X_train, y_train)
    sets = model.predict_set(X_test)
    single = model.predict(X_test)[:, np.newaxis] == model.classes_
    print(
        f"{options['loss']:9}{sets.sum(axis=1).mean():.2f}"
        f"{sets[np.arange(len(y_test)), y_test].mean():13.3f}"
        f"{model.expected_loss(X_test).mean():15.3f}"
        f"{set_loss(y_test, sets, **options, labels=model.classes_):10.3f}"
        f"{set_loss(y_test, single, **options, labels=model.classes_):14.3f}"
    )

# %%
# In short: sets pay if the loss forgives a further label, and if the probabilities are
# calibrated. If you would rather predict nothing, for a price, use
# :class:`~sklearn_reject.SelectiveClassifier`.
