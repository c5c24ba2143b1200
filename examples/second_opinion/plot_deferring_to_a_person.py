"""
==========================
Learn when to ask a person
==========================

A classifier can pass difficult samples to a person. But samples that are difficult for
the classifier are often difficult for the person, too. Which samples should the person
see? We learn from past answers where the person is better (learning to defer). You will
see that this makes far fewer errors than asking about all samples that the classifier
is unsure of.
"""

# %%
# A classifier and a person
# -------------------------
#
# The classifier reads digits from the amount of ink in each row of the image. It is
# weakest on 1 and 8. The person is simulated: right about 98 % of the other digits, but
# only about 20 % of these two. In the past, the person saw six in ten of the training
# digits, drawn at random. For the others there is no answer, which is NaN.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

rng = np.random.default_rng(0)
X, y = load_digits(return_X_y=True)
SKILL = np.full(10, 0.98)
SKILL[[1, 8]] = 0.2


def ink_of_rows(X):
    """Return the sums of the eight rows of each image."""
    return X.reshape(-1, 8, 8).sum(axis=2)


def ask_person(y):
    """Return what the person says about digits, some other digit where wrong."""
    is_right = rng.random(len(y)) < SKILL[y]
    return np.where(is_right, y, (y + rng.integers(1, 10, len(y))) % 10)


order = rng.permutation(len(y))
train, new = order[:1100], order[1100:]
answers = ask_person(y[train]).astype(float)
answers[rng.random(len(train)) > 0.6] = np.nan

classifier = make_pipeline(
    FunctionTransformer(ink_of_rows), StandardScaler(), LogisticRegression()
)
label = cross_val_predict(classifier, X[train], y[train])
print("digit      " + "".join(f"{digit:6}" for digit in range(10)))
for name, said in {"classifier": label, "person": answers}.items():
    known = ~np.isnan(said)
    wrong = [np.mean((said != y[train])[known & (y[train] == k)]) for k in range(10)]
    print(f"{name:11}" + "".join(f"{share:6.2f}" for share in wrong))

# %%
# Two ways to choose
# ------------------
#
# The person has time for one digit in five. ``expert=None`` (the default) means that
# `fit` gets the answers of the expert and cannot call it.

from sklearn_reject import DeferringClassifier

models = {
    name: DeferringClassifier(
        classifier, max_deferral=0.2, gain_score=name, random_state=0
    ).fit(X[train], y[train], expert_labels=answers)
    for name in ("confidence", "gain")
}

# %%
# `predict` marks the samples to ask about with `defer_label_`, which is -1 here. The
# person's answer replaces it.

y_new, answer = y[new], ask_person(y[new])
print("to be asked:", models["gain"].predict(X[new])[:16])

found = {"nobody is asked": (np.zeros(len(new)), models["gain"].predict_first(X[new]))}
for name, model in models.items():
    label = model.predict(X[new])
    is_asked = label == model.defer_label_
    found[f"asked by {name}"] = is_asked, np.where(is_asked, answer, label)
found["all are asked"] = np.ones(len(new)), answer
for name, (is_asked, label) in found.items():
    error = np.mean(label != y_new)
    print(f"{name:20} {np.mean(is_asked):.3f} asked, error {error:.3f}")

# %%
# If the classifier asks about its least confident predictions, it asks mostly about 1
# and 8, and most answers are wrong. With the learned gain it asks half as often about
# them, and more often about digits that the person can read. In use the true digit is
# unknown: the gain depends on the pixels and the classifier's probabilities.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for shift, (name, model) in zip((-0.2, 0.2), models.items(), strict=True):
    is_asked = model.defer(X[new])
    shares = [is_asked[y_new == digit].mean() for digit in range(10)]
    ax.bar(np.arange(10) + shift, shares, width=0.38, label=name)
ax.set_xticks(range(10))
ax.set(xlabel="True digit", ylabel="Share shown to the person")
ax.legend()
plt.show()

# %%
# The deferral curves show the error rate of classifier and person together, for each
# share of samples that the person sees.

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(6, 5.4), layout="constrained")
for name, model in models.items():
    last = name == "gain"
    DeferralCurveDisplay.from_estimator(
        model,
        X[new],
        y_new,
        expert_labels=answer,
        name=name,
        ax=ax,
        plot_oracle=last,
        plot_random=last,
    )
ax.set(ylim=(0, None))
ax.get_legend().remove()
fig.legend(loc="outside lower center", fontsize="small")
plt.show()

# %%
# The curve of the gain rises at its right end, which is 1 and 8: asking about them does
# harm. So `max_deferral` is an upper limit. The rule asks about fewer samples if more
# questions made the risk worse by more than one standard error:

for limit in (0.1, 0.2, 0.5, 1.0):
    rule = models["gain"].retarget(max_deferral=limit).rule_
    print(
        f"at most {limit:.1f}: asks about {rule.deferral_rate:.3f}, "
        f"risk {rule.system_risk:.3f}"
    )

# %%
# Which past answers are needed?
# ------------------------------
#
# Missing answers must be missing at random. If the person was only asked about
# uncertain samples, nobody knows what the answers to the others would be. `fit` gives a
# warning if it can tell:

import warnings

proba = cross_val_predict(classifier, X[train], y[train], method="predict_proba")
confidence = proba.max(axis=1)
is_unsure = confidence < np.median(confidence)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    DeferringClassifier(classifier, max_deferral=0.2, gain_score="confidence").fit(
        X[train],
        y[train],
        expert_labels=np.where(is_unsure, ask_person(y[train]), np.nan),
    )
for warning in caught:
    print(warning.message)
