"""
============================
Tagging: how many, and which
============================

A document has some tags out of many, or none. Which ones to predict depends on how the
prediction is scored: by single tags, by the F1 or the Jaccard index of each document,
and by what it is worth to say nothing where there is nothing to say.
"""

# %%
# Documents
# ---------
#
# Forty tags, the first one on three documents in ten and the last one on two in a
# hundred. Each tag adds words of its own to those that any document has. One logistic
# regression a tag works on the square roots of the counts.

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
    FunctionTransformer(np.sqrt),
    OneVsRestClassifier(LogisticRegression(max_iter=300)),
).fit(X_train, Y_train)
eta = classifier.predict_proba(X_test)

# %%
# Are the probabilities honest? Of tags with about the same probability, this is how
# many are there:

for low in (0, 0.1, 0.3, 0.5, 0.7, 0.9):
    near = (eta >= low) & (eta < low + 0.1)
    print(f"{near.sum():7} tags of {eta[near].mean():.2f}: {Y_test[near].mean():.2f}")

# %%
# Each loss has its own sets
# --------------------------
#
# Rows say which loss the tags were chosen for, columns by which they are scored, and
# the last column how many they are. The classifier is fitted, so it is frozen.

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
# The smallest loss of each column is on the diagonal. The Hamming loss takes what is
# above 0.5. F1 and the Jaccard index are about the tags alone, and want the
# most probable one anyhow. The balanced error ("am") counts a missed tag as a share of
# the few that are there, and a wrong one as a share of the many that are not, so that
# it is generous.
#
# Two documents, their tags in the order of the probability. The orange bars are what is
# predicted for each loss, 0 to 8 tags:

import matplotlib.pyplot as plt

from sklearn_reject.decoding import decode

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, document in zip(axes, (31, 26), strict=True):
    order = np.argsort(-eta[document])[:12]
    colors = np.where(Y_test[document, order] == 1, "C0", "0.75")
    ax.bar(np.arange(1, 13), eta[document, order], color=colors)
    for height, loss in zip((-0.08, -0.14, -0.20, -0.26), LOSSES, strict=True):
        size = decode(eta[document], loss=loss)[0].sum()
        ax.barh(height, size, 0.03, left=0.5, color="C1")
        ax.text(12.5, height, f"{loss}, {size}", ha="right", va="center")
    ax.set(title=f"Document {document}", xlabel="Tag, by probability")
    ax.set_yticks(np.linspace(0, 1, 6))
axes[0].set(ylabel="Probability (blue: the tag is there)")
plt.show()

# %%
# To say nothing
# --------------
#
# A document without tags that gets none has an F1 of 0/0. With ``zero_division=0`` that
# is zero, nothing is gained by an empty set, and none is predicted. With one it is as
# good as any correct prediction, and pays where it is likely. Three strategies: the
# tags above 0.5, those above one threshold that is tuned on other documents, and the
# set of least expected loss.

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
# With ``zero_division=0`` the sets are well ahead of both thresholds, which leave
# documents empty. With one, a good threshold does nearly as well. In both cases the
# expected F1 is off by little more than 0.02 at most.
#
# Many tags
# ---------
#
# With thousands of tags, most probabilities are too small to matter. A sparse matrix
# has room for the others only. What it does not store counts as surely not there, and
# the sets come back sparse:

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
# To take away: the sets follow from the loss, so choose the one that you are scored by,
# and say what an empty set is worth. The classifier stays as it is, and needs no other
# training for another loss.
