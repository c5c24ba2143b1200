"""
==================================
F1 on a rare class, batch by batch
==================================

Three samples in a hundred are positive, and they come in batches of fifty. Some of each
batch are to be picked out, and the F1 score says how well they were. A threshold of 0.5
is a poor choice, a tuned one is better, and a set that suits each batch is best, if the
probabilities are honest.
"""

# %%
# A rare class
# ------------
#
# Two normal distributions that overlap. The second and the third feature repeat the
# first one with some noise, which will matter in the end.

import numpy as np
from sklearn.linear_model import LogisticRegression


def draw(n_samples, rng):
    """Return samples and labels."""
    y = (rng.random(n_samples) < 0.03).astype(int)
    X = rng.normal(size=(n_samples, 3))
    X[:, 0] += 2 * y
    X[:, 1:] = X[:, :1] + X[:, 1:] / 2
    return X, y


rng = np.random.default_rng(0)
X_train, y_train = draw(5000, rng)
X_test, y_test = draw(40_000, rng)
batches_train, batches_test = np.arange(5000) // 50, np.arange(40_000) // 50
n_positive = np.bincount(batches_test, y_test)
print(f"{len(n_positive)} batches with {n_positive.mean():.1f} positives each")
print(f"batches without any: {(n_positive == 0).mean():.3f}")

# %%
# Three ways to choose
# --------------------
#
# - ``strategy=0.5``: what is more likely positive than not.
# - ``strategy="eum"``: what reaches a threshold, the one with the best F1 on the
#   batches of the training data, out of fold.
# - ``strategy="dta"``: the set with the best *expected* F1. It is made of the most
#   probable samples of the batch, and how many they are depends on all probabilities of
#   the batch.
#
# The batches go in as `groups`. A batch without positives has an F1 of zero whatever is
# predicted, which keeps all of them below 0.78.

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss


def compare(classifier):
    """Print how good the sets of a classifier are, and how good it expects them."""
    print(f"{'strategy':10}{'F1':>7}{'expected':>10}{'predicted':>11}")
    for strategy in (0.5, "eum", "dta"):
        model = ExpectedLossDecoder(classifier, loss="f1", strategy=strategy)
        model.fit(X_train, y_train, groups=batches_train)
        y_pred = model.predict(X_test, groups=batches_test)
        loss = set_loss(y_test, y_pred, groups=batches_test)
        expected = model.expected_loss(X_test, groups=batches_test).mean()
        size = y_pred.sum() / len(n_positive)
        print(f"{strategy!s:10}{1 - loss:7.3f}{1 - expected:10.3f}{size:11.2f}")


compare(LogisticRegression())

# %%
# At 0.5 much of the F1 is lost: in more than half of the batches nothing is predicted.
# The threshold and the sets pick about as many samples as each other, but not in the
# same batches. What is expected is a little too good: the classifier has learned from
# 5000 samples, of which 153 are positive.
#
# Two batches
# -----------
#
# Drawn is the expected loss of the k most probable samples, for all k, and the loss
# that they turn out to have. The dot is what is predicted. In the first batch one
# sample stands out, and is predicted alone. In the second none does, and five of small
# probability are better than one. The tuned threshold picks three more in the first
# batch, and four fewer in the second.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import ExpectedLossDisplay

model = ExpectedLossDecoder(LogisticRegression(), strategy="dta").fit(X_train, y_train)
tuned = ExpectedLossDecoder(LogisticRegression(), strategy="eum")
tuned.fit(X_train, y_train, groups=batches_train)
print(f"tuned threshold {tuned.threshold_:.3f}")

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, batch in zip(axes, (9, 6), strict=True):
    rows = batches_test == batch
    probabilities = np.sort(model.predict_proba(X_test[rows])[:, 1])[::-1]
    print(
        f"probabilities {probabilities[:6].round(2)}, "
        f"over the threshold {(probabilities >= tuned.threshold_).sum()}"
    )
    ExpectedLossDisplay.from_estimator(
        model, X_test[rows], y=y_test[rows], name="F1 loss", ax=ax
    )
    ax.set(title=f"Batch {batch}", xlim=(0, 20), ylim=(0, 1.02))
    ax.set_xticks(range(0, 21, 5))
plt.show()

# %%
# Which size is right for a single batch is luck. Here, as the dotted lines say, the
# threshold is as good in the first batch and better in the second. On average the sets
# are better.
#
# The size of a batch
# -------------------
#
# In large batches chance evens out, the best size is nearly the same share of each of
# them, and one threshold does as well. Small ones differ. A sample on its own would
# always be predicted positive: if it is not, nothing can be gained.

sizes = [10, 30, 100, 300, 1000, 3000]
scores = {0.5: [], "eum": [], "dta": []}
for size in sizes:
    parts_train, parts_test = np.arange(5000) // size, np.arange(40_000) // size
    for strategy, found in scores.items():
        model = ExpectedLossDecoder(LogisticRegression(), strategy=strategy)
        model.fit(X_train, y_train, groups=parts_train)
        y_pred = model.predict(X_test, groups=parts_test)
        found.append(1 - set_loss(y_test, y_pred, groups=parts_test))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for marker, (strategy, found) in zip("so^", scores.items(), strict=True):
    ax.semilogx(sizes, found, marker=marker, label=f"strategy={strategy!r}")
ax.set(xlabel="Samples in a batch", ylabel="Mean F1 of the batches", ylim=(0, 0.55))
ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# Probabilities that are not honest
# ---------------------------------
#
# Naive Bayes takes the three features for independent, counts much the same evidence
# three times, and is far too sure of itself. The F1 that it expects is more than twice
# the real one. Sets that follow such probabilities gain nothing over a threshold, which
# needs no more than their order:

from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import GaussianNB

compare(GaussianNB())

# %%
# Calibrated, they are ahead again, although what is expected is still too good:

compare(CalibratedClassifierCV(GaussianNB(), method="isotonic"))

# %%
# To take away: never leave a rare class at 0.5 if F1 is what counts. Take "dta" for
# small batches and for those that differ, with probabilities that are calibrated. Take
# "eum" for large ones, where a label must not depend on the other samples of the call,
# and where the probabilities are good for their order and not for more.
