"""
===============================================
Choose tags for documents: how many, and which?
===============================================

A document can have several of many tags, or none. Which tags should we predict? The
answer depends on the loss: errors on single tags, F1 or the Jaccard index of each
document. It also depends on what an empty prediction is worth. You will see that the
best set for one loss is poor for another, and that a classifier need not be trained
again for another loss.
"""

# %%
# Documents
# ---------
#
# There are forty tags. The first is on three documents in ten, the last on two in a
# hundred. Each tag adds its own words to those that every document has. The classifier
# is one logistic regression for each tag, on square roots of word counts.

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

N_TAGS, N_WORDS = 40, 400
rng = np.random.default_rng(0)
frequency = 0.3 / np.arange(1, N_TAGS + 1) ** 0.7
vocabulary = rng.dirichlet(np.full(N_WORDS, 0.05), N_TAGS + 1)


def draw(n_documents):
    """Return word counts and indicators of the tags."""
    Y = (rng.random((n_documents, N_TAGS)) < frequency).astype(int)
    emphasis = rng.uniform(0.1, 1, Y.shape)
    rates = np.hstack([np.full((n_documents, 1), 2), Y * emphasis]) @ vocabulary
    return csr_matrix(rng.poisson(10 * rates)), Y


X_train, Y_train = draw(3000)
X_tune, Y_tune = draw(3000)
X_test, Y_test = draw(10_000)
n_tags = Y_test.sum(axis=1)
print(
    f"{n_tags.mean():.1f} tags a document, none on {(n_tags == 0).mean():.0%} of them"
)

classifier = make_pipeline(
    FunctionTransformer(np.sqrt), OneVsRestClassifier(LogisticRegression(max_iter=300))
).fit(X_train, Y_train)
eta = classifier.predict_proba(X_test)

# %%
# Are the probabilities calibrated? The table groups tags by their predicted
# probability, and shows how many of them are there:

for low in (0, 0.1, 0.3, 0.5, 0.7, 0.9):
    near = (eta >= low) & (eta < low + 0.1)
    print(f"{near.sum():7} tags of {eta[near].mean():.2f}: {Y_test[near].mean():.2f}")

# %%
# Each loss has its own best sets
# -------------------------------
#
# Rows say which loss the tags were chosen for, columns which loss they are evaluated
# with. The last column is the number of tags. The classifier is already fitted, so it
# is frozen.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

LOSSES = "hamming", "jaccard", "f1", "am"
frozen = FrozenEstimator(classifier)
print(f"{'chosen for':12}" + "".join(f"{loss:>10}" for loss in LOSSES) + "      tags")
for wanted in LOSSES:
    model = ExpectedLossDecoder(frozen, loss=wanted).fit(X_tune, Y_tune)
    tags = model.predict(X_test)
    row = [set_loss(Y_test, tags, loss=loss) for loss in LOSSES]
    row.append(tags.sum() / len(tags))
    print(f"{wanted:12}" + "".join(f"{value:10.3f}" for value in row))

# %%
# In each column, the smallest loss is on the diagonal or within 0.001 of it. For the
# Hamming loss all tags above 0.5 are predicted. F1 and the Jaccard index always want
# the most probable tag. The balanced error ("am") counts a missed tag as a share of the
# few true ones and a wrong tag as a share of the many others, so it leads to large
# sets.
#
# The figure shows two documents. Bars are the probabilities of their tags, blue if the
# tag is there. The orange bars below show how many tags are predicted for each loss.

import matplotlib.pyplot as plt

from sklearn_reject.decoding import decode

fig, axes = plt.subplots(2, 1, figsize=(6, 8), sharex=True, layout="constrained")
for ax, document in zip(axes, (31, 26), strict=True):
    order = np.argsort(-eta[document])[:12]
    colors = np.where(Y_test[document, order] == 1, "C0", "0.75")
    ax.bar(np.arange(1, 13), eta[document, order], color=colors)
    for height, loss in zip((-0.08, -0.16, -0.24, -0.32), LOSSES, strict=True):
        size = decode(eta[document], loss=loss)[0].sum()
        ax.barh(height, size, 0.04, left=0.5, color="C1")
        ax.text(12.5, height, f"{loss}, {size}", ha="right", va="center")
    ax.set(title=f"Document {document}", ylabel="Probability (blue: true tag)")
    ax.set_yticks(np.linspace(0, 1, 6))
axes[1].set(xlabel="Tags, most probable first")
plt.show()

# %%
# What is an empty prediction worth?
# ----------------------------------
#
# If a document has no tags and none are predicted, F1 is 0/0. With ``zero_division=0``
# this counts as zero. Then an empty set never pays, and is never predicted. With
# ``zero_division=1`` it counts as a perfect prediction, and pays if it is likely to be
# right. We compare three strategies: tags above 0.5, tags above one tuned threshold
# ("eum"), and the set with the smallest expected loss ("dta").

print(f"zero_division  {'strategy':9}{'F1':>7}{'expected':>10}{'no tags':>9}")
for zero_division in (0.0, 1.0):
    for strategy in (0.5, "eum", "dta"):
        model = ExpectedLossDecoder(
            frozen, zero_division=zero_division, strategy=strategy
        ).fit(X_tune, Y_tune)
        tags = model.predict(X_test)
        score = 1 - set_loss(Y_test, tags, zero_division=zero_division)
        expected = 1 - model.expected_loss(X_test).mean()
        empty = (tags.sum(axis=1) == 0).mean()
        print(
            f"{zero_division:<15.0f}{strategy!s:9}{score:7.3f}{expected:10.3f}{empty:9.3f}"
        )

# %%
# With ``zero_division=0`` the sets are clearly better than both thresholds, which leave
# some documents without tags. With ``zero_division=1`` a tuned threshold is nearly as
# good.
#
# Many tags
# ---------
#
# With thousands of tags, most probabilities are too small to matter. Pass a sparse
# matrix with the others. A tag that is not stored has the probability zero, and the
# sets are returned as a sparse matrix.

sparse_eta = csr_matrix(np.where(eta < 0.01, 0, eta))
mask, expected_loss = decode(eta, loss="f1")
sparse_mask, sparse_loss = decode(sparse_eta, loss="f1")
same = (sparse_mask.toarray() == mask).all(axis=1).mean()
print(f"stored: {sparse_eta.nnz / eta.size:.0%} of the probabilities")
print(f"same tags for {same:.1%} of the documents")
for name, tags, losses in (
    ("dense", mask, expected_loss),
    ("sparse", sparse_mask, sparse_loss),
):
    score = 1 - set_loss(Y_test, tags)
    print(f"{name:7} F1 {score:.3f}, expected {1 - losses.mean():.3f}")

# %%
# In short: the best tags depend on the loss. Choose the loss that you are evaluated
# with, and decide what an empty set is worth. The classifier stays the same.
