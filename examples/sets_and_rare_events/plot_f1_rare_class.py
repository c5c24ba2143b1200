"""
===========================================
Maximize F1 on a rare class, batch by batch
===========================================

Three samples in a hundred are positive, and they come in batches of fifty. We have to
pick samples in each batch and are evaluated by F1. You will see three ways to pick: the
threshold 0.5, a tuned threshold, and the set with the best expected F1 of each batch;
and when a simple threshold is enough.
"""

# %%
# A rare class
# ------------
#
# Two normal distributions overlap. The other features repeat the first one with some
# noise, which matters in the last section.

# sphinx_gallery_thumbnail_path = "_static/drawings/batches.svg"
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

# %%
# Two batches
# -----------
#
# The solid lines show the expected loss (one minus F1) of predicting the k most
# probable samples, for all k, and the dots the best k. In the first batch one sample
# stands out, and it is predicted alone. In the second none does, and five improbable
# samples are better than one.

import matplotlib.pyplot as plt

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import expected_loss_curve

proba = LogisticRegression().fit(X_train, y_train).predict_proba(X_test)[:, 1]
fig, axes = plt.subplots(2, 1, figsize=(6, 6), sharex=True, layout="constrained")
for ax, batch in zip(axes, (9, 6), strict=True):
    of_batch = np.sort(proba[50 * batch : 50 * batch + 50])[::-1]
    expected = expected_loss_curve(of_batch, loss="f1")
    size = expected.argmin()
    ax.bar(range(1, 21), of_batch[:20], color="0.8", label="probabilities")
    ax.plot(expected, label="expected F1 loss")
    ax.plot(size, expected[size], "o", color="C0", label=f"best, k = {size}")
    ax.set(xlim=(0, 20.5), ylim=(0, 1.02), ylabel="Loss, probability")
    ax.legend(loc="center right")
axes[1].set_xlabel("Number of predicted samples k")
plt.show()

# %%
# The size of a batch
# -------------------
#
# Batches are passed as `groups`. ``strategy="eum"`` tunes one threshold for all
# batches, ``strategy="dta"`` chooses the best set in each. With the threshold 0.5 much
# of the F1 is lost. In large batches chance evens out, and a tuned threshold is as good
# as a set for each batch. In small ones the sets are better. (A batch without positives
# has an F1 of zero, so no way can reach 1 in small batches.)

from sklearn_reject.metrics import set_loss


def measure(classifier, strategy, size):
    """Return F1 on new batches, and what the decoder expects it to be."""
    model = ExpectedLossDecoder(classifier, loss="f1", strategy=strategy)
    model.fit(X_train, y_train, groups=np.arange(len(y_train)) // size)
    batches = np.arange(len(y_test)) // size
    loss = set_loss(y_test, model.predict(X_test, groups=batches), groups=batches)
    return 1 - loss, 1 - model.expected_loss(X_test, groups=batches).mean()


sizes = [10, 30, 100, 300, 1000, 3000]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for marker, strategy in zip("^os", ("dta", "eum", 0.5), strict=True):
    found = [measure(LogisticRegression(), strategy, size)[0] for size in sizes]
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
# Naive Bayes counts nearly the same evidence three times and is too sure of itself.
# Decoded as they are, its probabilities promise more than twice the real F1. The
# default "auto" calibrates them by cross-validation first.

from sklearn.naive_bayes import GaussianNB

for strategy in ("dta", "auto"):
    f1, expected = measure(GaussianNB(), strategy, size=50)
    print(f"{strategy:5} F1 {f1:.3f}, expected {expected:.3f}")

# %%
# In short: never keep the threshold 0.5 for a rare class if you are evaluated by F1.
# With batches, pass them as `groups` and keep the default.
