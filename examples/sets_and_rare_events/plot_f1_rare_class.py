"""
===========================================
Maximize F1 on a rare class, batch by batch
===========================================

Three samples in a hundred are positive, and they come in batches of fifty. We have to
pick samples in each batch and are evaluated by F1. Which ones should we pick? You will
see three strategies: the threshold 0.5, a tuned threshold, and the set with the best
expected F1 for each batch. You will also see when the simple threshold is enough, and
what the default does.
"""

# %%
# A rare class
# ------------
#
# Two normal distributions overlap. The second and third feature repeat the first one
# with some noise. This matters in the last section.

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
# Three strategies
# ----------------
#
# - ``strategy=0.5``: predict samples that are more likely positive than not.
# - ``strategy="eum"``: predict samples above a threshold. The threshold has the best F1
#   on the batches of the training data, by cross-validation.
# - ``strategy="dta"``: predict the set with the best *expected* F1. It consists of the
#   most probable samples of the batch. How many they are depends on all probabilities
#   in the batch. The default "auto" does the same, after calibrating the probabilities.
#
# The batches are passed as `groups`. A batch without positives has an F1 of zero
# whatever is predicted, so no strategy can exceed 0.78.

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss


def compare(classifier):
    """Print how good the sets of a classifier are, and how good it expects them."""
    print(f"{'strategy':10}{'F1':>7}{'expected':>10}{'predicted':>11}")
    for strategy in (0.5, "eum", "dta", "auto"):
        model = ExpectedLossDecoder(classifier, loss="f1", strategy=strategy)
        model.fit(X_train, y_train, groups=batches_train)
        y_pred = model.predict(X_test, groups=batches_test)
        loss = set_loss(y_test, y_pred, groups=batches_test)
        expected = model.expected_loss(X_test, groups=batches_test).mean()
        size = y_pred.sum() / len(n_positive)
        print(f"{strategy!s:10}{1 - loss:7.3f}{1 - expected:10.3f}{size:11.2f}")


compare(LogisticRegression())

# %%
# With the threshold 0.5 much of the F1 is lost, since in more than half of the batches
# nothing is predicted. The tuned threshold and the sets pick about the same number of
# samples, but not in the same batches. The expected F1 is a little too high, because
# the classifier has only seen 153 positives. Its probabilities are calibrated already,
# so to calibrate them costs a little here.
#
# Two batches
# -----------
#
# The solid lines show the expected loss (one minus F1) of predicting the k most
# probable samples, for all k. The dots are the predicted sets. The dotted lines show
# the loss that k samples turn out to have. In the first batch one sample stands out,
# and it is predicted alone. In the second batch none stands out, and five improbable
# samples are better than one. The tuned threshold picks three more in the first batch
# and four fewer in the second.

import matplotlib.pyplot as plt

from sklearn_reject.decoding import expected_loss_curve

model = ExpectedLossDecoder(LogisticRegression(), strategy="dta").fit(X_train, y_train)
tuned = ExpectedLossDecoder(LogisticRegression(), strategy="eum")
tuned.fit(X_train, y_train, groups=batches_train)
print(f"tuned threshold {tuned.threshold_:.3f}")

fig, axes = plt.subplots(2, 1, figsize=(6, 7.5), layout="constrained")
for ax, batch in zip(axes, (9, 6), strict=True):
    rows = batches_test == batch
    probabilities = np.sort(model.predict_proba(X_test[rows])[:, 1])[::-1]
    print(
        f"probabilities {probabilities[:6].round(2)}, "
        f"over the threshold {(probabilities >= tuned.threshold_).sum()}"
    )
    expected = expected_loss_curve(probabilities, loss="f1")
    truth = y_test[rows][np.argsort(-model.predict_proba(X_test[rows])[:, 1])]
    k = np.arange(len(expected))
    realized = [set_loss(truth, k[:-1] < size, pos_label=1) for size in k]
    size = expected.argmin()
    ax.plot(k, expected, label="expected F1 loss")
    ax.plot(k, realized, color="C0", linestyle=":", label="realized F1 loss")
    ax.plot(size, expected[size], "o", color="C0", label=f"predicted, k = {size}")
    ax.set(title=f"Batch {batch}", xlim=(0, 20), ylim=(0, 1.3))
    ax.set(xlabel="Number of predicted samples k", xticks=range(0, 21, 5))
    ax.set(ylabel="Loss", yticks=np.linspace(0, 1, 6))
    ax.legend(loc="upper right")
plt.show()

# %%
# For a single batch the right size is luck. Here, as the dotted lines show, the
# threshold is as good in the first batch and better in the second. On average the sets
# are better.
#
# The size of a batch
# -------------------
#
# In large batches chance evens out. The best set is nearly the same share of each
# batch, and one threshold is as good. Small batches differ. A batch with a single
# sample is always predicted positive: otherwise nothing can be gained.

sizes = [10, 30, 100, 300, 1000, 3000]
scores = {0.5: [], "eum": [], "dta": []}
for size in sizes:
    parts_train, parts_test = np.arange(5000) // size, np.arange(40_000) // size
    for strategy, found in scores.items():
        model = ExpectedLossDecoder(LogisticRegression(), strategy=strategy)
        model.fit(X_train, y_train, groups=parts_train)
        y_pred = model.predict(X_test, groups=parts_test)
        found.append(1 - set_loss(y_test, y_pred, groups=parts_test))

# sphinx_gallery_thumbnail_number = 2
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for marker, (strategy, found) in zip("so^", scores.items(), strict=True):
    ax.semilogx(sizes, found, marker=marker, label=f"strategy={strategy!r}")
ax.set(xlabel="Samples in a batch", ylabel="Mean F1 of the batches", ylim=(0, 0.55))
ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# Probabilities that are not calibrated
# -------------------------------------
#
# Naive Bayes treats the three features as independent. It counts nearly the same
# evidence three times and is far too sure of itself. If its probabilities are decoded
# as they are, with "dta", the F1 that they promise is more than twice the real one, and
# the sets are no better than a tuned threshold, which depends only on the order of the
# probabilities. "auto" calibrates them by cross-validation: the sets are better than
# the threshold again, and what they promise is close to the real F1. With "eum",
# `expected_loss` says that it cannot be trusted:

import warnings

from sklearn.naive_bayes import GaussianNB

with warnings.catch_warnings(record=True, action="always") as caught:
    compare(GaussianNB())
print(caught[0].message)

# %%
# In short: never keep the threshold 0.5 for a rare class if you are evaluated by F1.
# With batches, pass them as `groups` and keep the default. Without, the default tunes a
# threshold: in large batches it is as good, and a label does not depend on the other
# samples of the call.
