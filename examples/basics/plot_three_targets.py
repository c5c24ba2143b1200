"""
==================================================
How much to abstain: cost, error rate or coverage?
==================================================

There are three common ways to say how often a classifier should abstain. Either a
rejection has a price, or the error rate must stay below a bound, or there is only time
to check a certain share of the samples by hand. They are parameters of
:class:`~sklearn_reject.SelectiveClassifier`. You will see that each of them chooses a
point on the same risk-coverage curve.
"""

# %%
# Three targets
# -------------
#
# - ``reject_cost=0.05``: a rejection costs a twentieth of an error.
# - ``target_risk=0.01``: at most 1 % of the accepted samples may be wrong.
# - ``target_coverage=0.9``: accept nine of ten samples.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(StandardScaler(), LogisticRegression())
targets = [{"reject_cost": 0.05}, {"target_risk": 0.01}, {"target_coverage": 0.9}]
models = {
    f"{name}={value}": SelectiveClassifier(
        classifier, **{name: value}, random_state=0
    ).fit(X_train, y_train)
    for target in targets
    for name, value in target.items()
}

# %%
# What each rule does
# -------------------
#
# `rule_` has the coverage and the error rate that were reached by cross-validation on
# the training data. The last column says which cost of a rejection leads to the same
# rule: asking for an error rate of 1 % amounts to saying that a rejection costs a
# quarter of an error.

points = {}
print(f"{'':20} {'training':16}{'test':16}equivalent")
print(f"{'':20} {'cover.  error   ' * 2}reject cost")
for name, model in models.items():
    rule, accepted = model.rule_, model.accept(X_test)
    error = (model.predict_label(X_test) != y_test)[accepted].mean()
    points[name] = accepted.mean(), error
    print(
        f"{name:20} {rule.coverage:.3f}   {rule.selective_risk:.3f}   "
        f"{accepted.mean():.3f}   {error:.3f}   {rule.reject_cost:.3f}"
    )

# %%
# The two targets are met exactly on the training data and approximately on the test
# data. The reject cost needs no tuned threshold. It is compared with the estimated
# probability of an error, so this rule is as good as the classifier's probabilities.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

# The three models share one curve: that of the classifier inside.
fitted = models["target_risk=0.01"].estimator_
display = RiskCoverageDisplay.from_estimator(fitted, X_test, y_test, name="test data")
for color, (name, point) in zip(("C1", "C2", "C3"), points.items(), strict=True):
    display.ax_.plot(*point, "o", color=color, label=name)
display.ax_.axhline(0.01, color="C2", linestyle=":", label="target risk")
display.ax_.axvline(0.9, color="C3", linestyle=":", label="target coverage")
display.ax_.set_xlim(0.6, 1.005)
display.ax_.legend(loc="upper left")
plt.show()
