"""
=================================
A second opinion, where it counts
=================================

A cheap classifier is right about most samples. A strong one is right about nearly all,
but nobody wants to pay for it each time. So the cheap one answers, and the strong one
is asked where that is worth the price.
"""

# %%
# Two models
# ----------
#
# Handwritten digits. The cheap model knows how much ink there is in each of the eight
# rows of an image, and is linear. The strong one sees all pixels. A third of the digits
# is kept out.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC


def ink_of_rows(X):
    """Return the sum of each row of the images."""
    return X.reshape(-1, 8, 8).sum(axis=2)


def linear_on(features):
    """Return a linear model on features that a function makes of the pixels."""
    steps = FunctionTransformer(features), StandardScaler(), LogisticRegression()
    return make_pipeline(*steps)


X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, stratify=y, random_state=0
)
cheap, strong = linear_on(ink_of_rows), SVC()

# %%
# Which samples to ask about
# --------------------------
#
# What counts is the *gain*: the expected loss of the cheap model, less that of the
# strong one. That the cheap one is unsure ("confidence") is one estimate of it. Others
# are learned from predictions out of fold: where the cheap model errs
# ("error_probability"), and where it errs more than the strong one ("gain"). By default
# the one with the smallest area under the deferral curve is taken, or the confidence if
# no other is better by more than chance.
#
# An error costs 1 here, and to ask costs 0.1.

from sklearn_reject import DeferringClassifier

PRICE = 0.1
model = DeferringClassifier(cheap, strong, deferral_cost=PRICE, random_state=0)
model = model.fit(X_train, y_train)
for name, area in model.areas_.items():
    print(f"{name:18} area {area:.4f}")
print("taken:", model.gain_score_.name)

# %%
# The *deferral curve* of the digits that were kept out: the share of wrong answers,
# whoever gives them, against the share that the strong model is asked about. An oracle
# would know beforehand who is right. The dot is the rule for the cost.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
first = model.predict_first(X_test)
DeferralCurveDisplay.from_predictions(
    y_test,
    first,
    model.expert_.predict(X_test),
    1 - model.estimator_.predict_proba(X_test).max(axis=1),
    name="confidence",
    ax=ax,
)
DeferralCurveDisplay.from_estimator(
    model,
    X_test,
    y_test,
    name="learned",
    ax=ax,
    plot_oracle=True,
    plot_random=True,
)
ax.set(title="Ink of rows, and a second opinion", ylim=(0, None))
ax.legend()
plt.show()

# %%
# What it costs, and what it saves
# --------------------------------
#
# An error costs 1, and a question 0.1 and the error of its answer. `retarget` solves
# the rule again, and fits nothing: for a cost, for a budget of questions, or for the
# risk of the whole system.

import numpy as np

from sklearn_reject.metrics import selective_cost_score

asked = {
    "cheap alone": np.zeros(len(y_test), dtype=bool),
    "cost 0.1": model.defer(X_test),
    "share 0.2": model.retarget(max_deferral=0.2).defer(X_test),
    "risk 0.05": model.retarget(target_risk=0.05).defer(X_test),
    "strong alone": np.ones(len(y_test), dtype=bool),
}
strong_wrong = model.expert_.predict(X_test) != y_test
print(f"{'':14}asked  error  cost")
for name, asks in asked.items():
    error = np.where(asks, strong_wrong, first != y_test).mean()
    cost = selective_cost_score(y_test, first, ~asks, reject_cost=PRICE + strong_wrong)
    print(f"{name:14}{asks.mean():.3f}  {error:.3f}  {cost:.3f}")

# %%
# Each of the three rules costs less than either model alone.
#
# With a guarantee
# ----------------
#
# These rules keep their targets on the samples that they were solved on, and so about
# every other time on new ones. With a `confidence` of 0.9, the risk of the population
# is at most 0.1, except with a probability of 0.1. That takes samples that nothing was
# fitted on, here four in ten. On these, the rule stays below 0.1 as far as it takes to
# be sure.

certified = DeferringClassifier(
    cheap,
    strong,
    target_risk=0.1,
    confidence=0.9,
    cv=0.4,
    gain_score="error_probability",
    random_state=0,
).fit(X_train, y_train)
rule = certified.rule_
print(f"calibration: asked {rule.deferral_rate:.3f}, risk {rule.system_risk:.3f}")
error = np.mean(certified.predict(X_test) != y_test)
print(f"new digits:  asked {certified.defer(X_test).mean():.3f}, risk {error:.3f}")

# %%
# Three models
# ------------
#
# An expert may defer in turn. Between the two comes a linear model on 16 blocks of
# pixels; to ask it costs 0.02, and to ask the strong one after it another 0.1.
# `measure` tells of each level how often it answers, how well, and what it costs, each
# share and risk with an interval of 95 % confidence. All thresholds are on the
# confidence here, which takes no learning.


def ink_of_blocks(X):
    """Return the means of blocks of two by two pixels."""
    return X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)


options = {"gain_score": "confidence", "random_state": 0}
middle = linear_on(ink_of_blocks)
inner = DeferringClassifier(middle, strong, deferral_cost=PRICE, **options)
cascade = DeferringClassifier(cheap, inner, deferral_cost=0.02, **options)
measured = cascade.fit(X_train, y_train).measure(X_test, y_test)

print(f"{'':15}answers  risk   at most  cost of asking")
names = "ink of rows", "ink of blocks", "all pixels"
for name, stage in zip(names, measured.stages, strict=True):
    print(
        f"{name:15}{stage.share.value:.3f}    {stage.risk.value:.3f}  "
        f"{stage.risk.high:.3f}    {stage.cost:.3f}"
    )

# %%
# The middle model answers two of three digits that get to it, which makes it all
# cheaper:

pair = DeferringClassifier(cheap, strong, deferral_cost=PRICE, **options)
pair = pair.fit(X_train, y_train).measure(X_test, y_test)
for name, found in {"two models": pair, "three models": measured}.items():
    print(
        f"{name:13} risk {found.system_risk.value:.3f} + "
        f"asking {found.deferral_cost:.3f} = {found.total_cost:.3f}"
    )
