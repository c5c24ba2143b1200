"""
=============================================
Three ways to say how much should be rejected
=============================================

A rejection has a price, or the error must not exceed a bound, or somebody can look at
one sample in ten and no more. These are the three rejection models of
:class:`~sklearn_reject.SelectiveClassifier`. Here each of them is solved for the same
classifier, to see that they are three ways to choose a point on one curve.
"""

# %%
# The classifier
# --------------
#
# Logistic regression reads handwritten digits. Half of the samples are held out.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(StandardScaler(), LogisticRegression())
error = 1 - classifier.fit(X_train, y_train).score(X_test, y_test)
print(f"error on all {len(y_test)} held-out samples: {error:.3f}")

# %%
# Three targets
# -------------
#
# The rules are solved on predictions out of fold. `rule_` has the coverage and the risk
# that they achieve there, and `equivalent_targets` the other two targets that would
# have led to the same rule. To ask for an error of at most 1 % is to act as if a
# rejection cost a quarter of an error.

from sklearn_reject import SelectiveClassifier

targets = [{"reject_cost": 0.05}, {"target_risk": 0.01}, {"target_coverage": 0.9}]
models = {}
for target in targets:
    name = "{}={}".format(*next(iter(target.items())))
    models[name] = SelectiveClassifier(classifier, **target, cv=5, random_state=0)
    models[name].fit(X_train, y_train)

print(f"{'':20} coverage  risk   equivalent reject cost")
for name, model in models.items():
    rule = model.rule_
    cost = rule.equivalent_targets()["reject_cost"]
    print(f"{name:20} {rule.coverage:.3f}     {rule.selective_risk:.3f}  {cost:.3f}")

# %%
# The target risk and the target coverage are met exactly, since a sample at the
# threshold is accepted with just the probability that makes it so.
#
# The reject cost is compared with the estimated probability of an error as it is, and
# no threshold is tuned: this model is as good as the probabilities are.
#
# Where they sit on the curve
# ---------------------------
#
# All three models use the same uncertainty, one minus the largest probability. So on
# the held-out samples they lie on one risk-coverage curve, beside what was asked for.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
model = models["target_risk=0.01"]
RiskCoverageDisplay.from_estimator(
    model, X_test, y_test, name="held out", ax=ax, plot_oracle=True, plot_random=True
)
ax.axhline(0.01, color="C2", linewidth=0.8, label="target risk")
ax.axvline(0.9, color="C3", linewidth=0.8, label="target coverage")
for color, (name, model) in zip(("C1", "C2", "C3"), models.items(), strict=True):
    accepted = model.accept(X_test)
    wrong = model.predict_label(X_test)[accepted] != y_test[accepted]
    point = {"marker": "o", "clip_on": False, "zorder": 3, "linestyle": ""}
    ax.plot(accepted.mean(), wrong.mean(), color=color, label=name, **point)
    print(
        f"{name:20} held out: coverage {accepted.mean():.3f}, risk {wrong.mean():.3f}"
    )
ax.set(title="Three models, one curve", xlim=(0.6, 1.005))
ax.legend(loc="upper left")
plt.show()

# %%
# The points miss their targets by sampling noise: 1 % of the accepted samples are about
# eight errors, give or take three.
