"""
===============================================
Choose tags for documents: how many, and which?
===============================================

A document can have several of many tags, or none. Which tags should we predict? That
depends on the loss you are evaluated with: errors on single tags, F1 or the Jaccard
index of each document. You will see that the best tags for one loss are poor for
another, and that the classifier need not be trained again.
"""

# %%
# Documents
# ---------
#
# There are thirty tags, some frequent and some rare. Each adds its own words to those
# that every document has. The classifier is one logistic regression for each tag.

# sphinx_gallery_thumbnail_path = "_static/drawings/tags.svg"
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

N_TAGS, N_WORDS = 30, 300
rng = np.random.default_rng(0)
frequency = 0.3 / np.arange(1, N_TAGS + 1) ** 0.7
vocabulary = rng.dirichlet(np.full(N_WORDS, 0.05), N_TAGS + 1)


def draw(n_documents):
    """Return word counts and indicators of the tags."""
    Y = (rng.random((n_documents, N_TAGS)) < frequency).astype(int)
    emphasis = rng.uniform(0.1, 1, Y.shape)
    rates = np.hstack([np.full((n_documents, 1), 2), Y * emphasis]) @ vocabulary
    return csr_matrix(rng.poisson(10 * rates)), Y


(X_train, Y_train), (X_tune, Y_tune), (X_test, Y_test) = map(draw, (2000, 2000, 5000))
classifier = make_pipeline(
    FunctionTransformer(np.sqrt), OneVsRestClassifier(LogisticRegression(max_iter=300))
).fit(X_train, Y_train)
proba = classifier.predict_proba(X_test)

# %%
# Two documents
# -------------
#
# Bars are the probabilities of tags, blue if the tag is there. The orange bars below
# show how many tags are best for each loss.

import matplotlib.pyplot as plt

from sklearn_reject.decoding import decode

LOSSES = "hamming", "jaccard", "f1", "am"
fig, axes = plt.subplots(2, 1, figsize=(6, 7), sharex=True, layout="constrained")
for ax, document in zip(axes, (31, 26), strict=True):
    order = np.argsort(-proba[document])[:12]
    colors = np.where(Y_test[document, order] == 1, "C0", "0.75")
    ax.bar(np.arange(1, 13), proba[document, order], color=colors)
    for height, loss in zip((-0.08, -0.16, -0.24, -0.32), LOSSES, strict=True):
        size = decode(proba[document], loss=loss)[0].sum()
        ax.barh(height, size, 0.04, left=0.5, color="C1")
        ax.text(12.5, height, f"{loss}, {size}", ha="right", va="center")
    ax.set(ylabel="Probability (blue: true tag)", yticks=np.linspace(0, 1, 6))
axes[1].set_xlabel("Tags, most probable first")
plt.show()

# %%
# Each loss has its own best sets
# -------------------------------
#
# Rows say which loss the tags were chosen for, columns which loss they are evaluated
# with. The classifier is already fitted, so it is frozen. For the Hamming loss all tags
# above 0.5 are predicted. F1 and the Jaccard index always want the most probable tag.
# The balanced error ("am") leads to large sets, since it counts a missed tag as a share
# of the few true ones.

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

frozen = FrozenEstimator(classifier)
print(f"{'chosen for':12}" + "".join(f"{loss:>10}" for loss in LOSSES) + "      tags")
for wanted in LOSSES:
    tags = ExpectedLossDecoder(frozen, loss=wanted).fit(X_tune, Y_tune).predict(X_test)
    row = [set_loss(Y_test, tags, loss=loss) for loss in LOSSES]
    row.append(tags.sum() / len(tags))
    print(f"{wanted:12}" + "".join(f"{value:10.3f}" for value in row))

# %%
# What is an empty prediction worth?
# ----------------------------------
#
# If a document has no tags and none are predicted, F1 is 0/0. With ``zero_division=0``
# this counts as zero, so an empty set is never predicted. With ``zero_division=1`` it
# counts as perfect, and pays if it is likely to be right. Sets ("dta") are compared
# with tags above 0.5, and above one tuned threshold ("eum").

print("zero_division  strategy    F1    no tags")
for zero_division in (0.0, 1.0):
    for strategy in (0.5, "eum", "dta"):
        model = ExpectedLossDecoder(
            frozen, zero_division=zero_division, strategy=strategy
        )
        tags = model.fit(X_tune, Y_tune).predict(X_test)
        score = 1 - set_loss(Y_test, tags, zero_division=zero_division)
        empty = (tags.sum(axis=1) == 0).mean()
        print(f"{zero_division:<15.0f}{strategy!s:9}{score:.3f}    {empty:.3f}")
