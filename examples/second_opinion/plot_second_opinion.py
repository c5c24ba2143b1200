"""
=============================================
Ask a stronger model only when it is worth it
=============================================

A cheap model is right about most samples. A strong model is right about nearly all, but
asking it costs money or time. When is asking worth the price? A
:class:`~sklearn_reject.DeferringClassifier` lets the cheap model answer and defers to
the strong one where this pays. You will see the error rate and the cost for several
budgets, a guarantee for the whole system, and a cascade of three models.
"""

# %%
# Two models
# ----------
#
# The cheap model is linear and only sees how much ink is in each of the eight rows of a
# digit. The strong one sees all pixels. A third of the digits is the test set.

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
# Which samples should be deferred?
# ---------------------------------
#
# What counts is the *gain*: the expected loss of the cheap model minus that of the
# strong one. The simplest estimate uses the confidence of the cheap model
# ("confidence"). The other one is learned by cross-validation: where the cheap model is
# wrong more often than the strong one ("gain"). By default `fit` takes the confidence,
# unless the area under the deferral curve of the other one is smaller by more than
# chance.
#
# Here an error costs 1, and asking costs 0.1.

from sklearn_reject import DeferringClassifier

PRICE = 0.1
model = DeferringClassifier(cheap, strong, deferral_cost=PRICE, random_state=0)
model = model.fit(X_train, y_train)
for name, area in model.areas_.items():
    print(f"{name:18} area {area:.4f}")
print("taken:", model.gain_score_.name)

# %%
# The *deferral curve* on the test set shows the error rate of the whole system for each
# share of deferred samples. The oracle would know in advance who is right. The marker
# shows the rule for our cost.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
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
    model, X_test, y_test, name="learned", ax=ax, plot_oracle=True, plot_random=True
)
ax.set(title="Cheap model with a strong second opinion", ylim=(0, 0.28))
ax.legend(loc="upper right")
plt.show()

# %%
# What does it cost, and what does it save?
# -----------------------------------------
#
# An error costs 1. A question costs 0.1, plus 1 if the answer is wrong. `retarget`
# chooses the threshold for another target without a new fit: for a cost, for a budget
# of questions, or for the error rate of the whole system.

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
# These rules keep their targets on the samples that were used to choose the threshold.
# On new samples the target is missed about half of the time. With
# ``confidence_level=0.9``, the error rate of the whole system is at most 0.1, except
# with a probability of at most 0.1. This needs calibration samples that nothing was
# fitted on, here four in ten. The rule stays below the target on these samples, by
# enough to be sure.

certified = DeferringClassifier(
    cheap,
    strong,
    target_risk=0.1,
    confidence_level=0.9,
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
# The expert can be a deferring classifier, too. Here a linear model on 16 blocks of
# pixels comes between the two. Asking it costs 0.02, and asking the strong model after
# it another 0.1. `report` says for each model how many samples it answers, its
# error rate and the cost of asking. "At most" is the upper end of an interval with 95 %
# confidence. All thresholds are on the confidence, which needs no learning.


def ink_of_blocks(X):
    """Return the means of blocks of two by two pixels."""
    return X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)


options = {"gain_score": "confidence", "random_state": 0}
middle = linear_on(ink_of_blocks)
inner = DeferringClassifier(middle, strong, deferral_cost=PRICE, **options)
cascade = DeferringClassifier(cheap, inner, deferral_cost=0.02, **options)
three, *stages = cascade.fit(X_train, y_train).report(X_test, y_test).parts

print(f"{'':15}answers  risk   at most  cost of asking")
names = "ink of rows", "ink of blocks", "all pixels"
for name, stage in zip(names, stages, strict=True):
    print(
        f"{name:15}{stage.coverage.value:.3f}    {stage.risk.value:.3f}  "
        f"{stage.risk.high:.3f}    {stage.cost:.3f}"
    )

# %%
# The middle model answers two thirds of the digits that reach it. This makes the whole
# system cheaper:

pair = DeferringClassifier(cheap, strong, deferral_cost=PRICE, **options)
two, *_ = pair.fit(X_train, y_train).report(X_test, y_test).parts
for name, found in {"two models": two, "three models": three}.items():
    risk, cost = found.risk.value, found.cost
    print(f"{name:13} risk {risk:.3f} + asking {cost:.3f} = {risk + cost:.3f}")
