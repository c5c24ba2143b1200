"""
==========================
Learn when to ask a person
==========================

A classifier can pass difficult samples to a person. But what is difficult for the
classifier is often difficult for the person, too. From past answers we can learn where
the person is better (learning to defer). You will see that this leaves far fewer errors
than asking about all samples that the classifier is unsure of.
"""

# %%
# A classifier and a person
# -------------------------
#
# The classifier reads digits from the amount of ink in each row of the image. The
# person is simulated: right about 98% of most digits, but only about 20% of 1 and 8,
# which the classifier finds difficult, too. In the past, the person saw six in ten of
# the training digits, drawn at random. For the others there is no answer, which is NaN.

# sphinx_gallery_thumbnail_path = "_static/drawings/opinion.svg"
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_reject import DeferringClassifier

rng = np.random.default_rng(0)
X, y = load_digits(return_X_y=True)


def ink_of_rows(X):
    """Return the sums of the eight rows of each image."""
    return X.reshape(-1, 8, 8).sum(axis=2)


def ask_person(y):
    """Return what the person says about digits, some other digit where wrong."""
    is_right = rng.random(len(y)) < np.where(np.isin(y, [1, 8]), 0.2, 0.98)
    return np.where(is_right, y, (y + rng.integers(1, 10, len(y))) % 10)


order = rng.permutation(len(y))
train, new = order[:1100], order[1100:]
answers = ask_person(y[train]).astype(float)
answers[rng.random(len(train)) > 0.6] = np.nan
y_new, answer = y[new], ask_person(y[new])
classifier = make_pipeline(
    FunctionTransformer(ink_of_rows), StandardScaler(), LogisticRegression()
)

# %%
# Which digits should the person see?
# -----------------------------------
#
# The person has time for one digit in four. ``gain_score="gain"`` learns where the
# person is right more often than the classifier; "confidence" asks where the classifier
# is least sure. `predict` returns -1 for samples to ask about, and the person's answer
# replaces it.

models = {
    name: DeferringClassifier(
        classifier, max_deferral=0.25, gain_score=name, random_state=0
    ).fit(X[train], y[train], expert_labels=answers)
    for name in ("gain", "confidence")
}
print("labels, -1 to ask:", models["gain"].predict(X[new])[:16])

first = models["gain"].predict_first(X[new])
print(f"nobody is asked: error {np.mean(first != y_new):.3f}")
for name, model in models.items():
    label = model.predict(X[new])
    is_asked = label == model.defer_label_
    error = np.mean(np.where(is_asked, answer, label) != y_new)
    print(f"{name:10} asks about {is_asked.mean():.1%}, error {error:.3f}")
print(f"all are asked:   error {np.mean(answer != y_new):.3f}")

# %%
# The deferral curves show the error rate of both together, for each share of samples
# that the person sees.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
for name, model in models.items():
    DeferralCurveDisplay.from_estimator(
        model,
        X[new],
        y_new,
        expert_labels=answer,
        name=name,
        ax=ax,
        plot_random=name == "confidence",
    )
ax.set_ylim(0, 0.3)
plt.show()

# %%
# The confidence asks mostly about 1 and 8, and most answers are wrong. The learned gain
# asks about digits that the person can read:

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for shift, (name, model) in zip((-0.2, 0.2), models.items(), strict=True):
    is_asked = model.defer(X[new])
    shares = [is_asked[y_new == digit].mean() for digit in range(10)]
    ax.bar(np.arange(10) + shift, shares, width=0.38, label=name)
ax.set(xticks=range(10), xlabel="True digit", ylabel="Share shown to the person")
ax.legend()
plt.show()

# %%
# Answers must be missing at random. If the person was only asked about uncertain
# samples, nobody knows what the answers to the others would be, and `fit` warns if it
# can tell.
