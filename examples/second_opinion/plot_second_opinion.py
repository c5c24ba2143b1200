"""
=============================================
Ask a stronger model only when it is worth it
=============================================

A cheap model is right about most samples. A strong model is right about nearly all, but
asking it costs money or time. A :class:`~sklearn_reject.DeferringClassifier` lets the
cheap model answer, and defers to the strong one where this pays: for a price, for a
budget, or to keep an error rate. At the end, three models answer in a cascade.
"""

# %%
# Two models
# ----------
#
# The cheap model is linear and only sees how much ink is in each row of a digit. The
# strong one sees all pixels. An error costs 1, and asking costs 0.1.

# sphinx_gallery_thumbnail_path = "_static/drawings/cascade.svg"
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from sklearn_reject import DeferringClassifier


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
cheap, strong, PRICE = linear_on(ink_of_rows), SVC(), 0.1

# %%
# Three targets
# -------------
#
# - ``max_deferral=0.3``: at most three questions for ten samples.
# - ``target_risk=0.1``: at most 10% errors, whoever answers.
# - ``deferral_cost=0.1``: the least cost of errors and questions.
#
# The first two shall hold on new samples with a probability of 90%. For this, `fit`
# holds out half of the samples. `retarget` chooses the threshold for another target
# without a new fit.

asking = {"max_deferral": 0.3, "confidence_level": 0.9}
model = DeferringClassifier(cheap, strong, random_state=0, **asking)
model.fit(X_train, y_train)
none = dict.fromkeys(asking)
rules = {
    "max_deferral=0.3": model,
    "target_risk=0.1": model.retarget(max_deferral=None, target_risk=0.1),
    "deferral_cost=0.1": model.retarget(**none, deferral_cost=PRICE),
}
points = {"cheap alone": (0, np.mean(model.predict_first(X_test) != y_test))}
for name, rule in rules.items():
    points[name] = rule.defer(X_test).mean(), np.mean(rule.predict(X_test) != y_test)
points["strong alone"] = 1, np.mean(model.expert_.predict(X_test) != y_test)
print(f"{'':18} asked  error  cost")
for name, (asked, error) in points.items():
    print(f"{name:18} {asked:.3f}  {error:.3f}  {error + PRICE * asked:.3f}")

# %%
# The *deferral curve* shows the error rate for each share of samples that are deferred.
# The dotted lines are the targets.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
DeferralCurveDisplay.from_predictions(
    y_test,
    model.predict_first(X_test),
    model.expert_.predict(X_test),
    model.gain(X_test),
    name="all thresholds",
    ax=ax,
    plot_random=True,
)
for color, name in zip(("C1", "C2", "C3"), rules, strict=True):
    ax.plot(*points[name], "o", color=color, label=name)
ax.axvline(0.3, color="C1", linestyle=":")
ax.axhline(0.1, color="C2", linestyle=":")
ax.set_ylim(0, 0.3)
ax.legend()
plt.show()

# %%
# Three models
# ------------
#
# The expert can be a deferring classifier, too. Here a linear model on 16 blocks of
# pixels comes between the two. Asking it costs 0.02, and asking the strong model after
# it another 0.1. `report` has the error
# rate and the cost of asking of the whole system, and of each model.


def ink_of_blocks(X):
    """Return the means of blocks of two by two pixels."""
    return X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)


options = {"gain_score": "confidence", "random_state": 0}
middle = linear_on(ink_of_blocks)
inner = DeferringClassifier(middle, strong, deferral_cost=PRICE, **options)
cascade = DeferringClassifier(cheap, inner, deferral_cost=0.02, **options)
three, *_ = cascade.fit(X_train, y_train).report(X_test, y_test).parts
pair = DeferringClassifier(cheap, strong, deferral_cost=PRICE, **options)
two, *_ = pair.fit(X_train, y_train).report(X_test, y_test).parts

for name, found in {"two models": two, "three models": three}.items():
    risk, cost = found.risk.value, found.cost
    print(f"{name:12} error {risk:.3f} + asking {cost:.3f} = {risk + cost:.3f}")
