"""
====================================
Costs: when a second look is cheaper
====================================

To miss a tumour is worse than to alarm a healthy patient, and to refer a patient to a
further examination has its price as well. With the three costs on one scale, the
decision of least expected cost follows from the classifier's probabilities: benign,
malignant, or refer.
"""

# %%
# Data and costs
# --------------
#
# The breast cancer data, of which we take the ten mean features and keep half of the
# patients out. A missed tumour costs as much as ten false alarms, a referral as much as
# 0.3. The matrix has true labels by row and predicted labels by column, in sorted
# order. The numbers are made up for the example.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer()
X = data.data[:, :10]
y = data.target_names[data.target]
costs = [
    [0, 1],  # truly benign: a false alarm costs 1
    [10, 0],  # truly malignant: a missed tumour costs 10
]
refer_cost = 0.3

X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(StandardScaler(), LogisticRegression())

# %%
# Four ways to decide
# -------------------
#
# The classifier predicts the more probable class, as if both errors cost the same.
# ``ConditionalRisk(decision="bayes")`` takes its probabilities and predicts the class
# of least expected cost. Either may refer a patient where that is cheaper than the
# expected cost of the prediction: ``cv="plug_in"`` takes the probabilities of a
# logistic regression at their word. With ``target_coverage=1`` nobody is referred.

from sklearn_reject import SelectiveClassifier
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.scores import ConditionalRisk


def make_model(decision, cv=None, **target):
    """Return a classifier that decides by cost."""
    score = ConditionalRisk(decision=decision)
    return SelectiveClassifier(
        classifier,
        **target,
        loss=costs,
        uncertainty_score=score,
        cv=cv,
        reject_label="refer",
    )


models = {
    "most probable class": make_model("predict", target_coverage=1),
    "least cost": make_model("bayes", target_coverage=1),
    "most probable, or refer": make_model(
        "predict", reject_cost=refer_cost, cv="plug_in"
    ),
    "least cost, or refer": make_model("bayes", reject_cost=refer_cost, cv="plug_in"),
}
loss = CostMatrixLoss(costs, labels=["benign", "malignant"])

print(f"{'':25}missed  false alarms  referred  mean cost")
for name, model in models.items():
    decision = model.fit(X_train, y_train).predict(X_test)
    missed = np.sum((y_test == "malignant") & (decision == "benign"))
    alarms = np.sum((y_test == "benign") & (decision == "malignant"))
    referred = np.sum(decision == "refer")
    label_costs = loss(y_test, model.predict_label(X_test))
    cost = np.where(decision == "refer", refer_cost, label_costs).mean()
    print(f"{name:25}{missed:6}{alarms:14}{referred:10}{cost:11.3f}")

# %%
# The last two rows are the same: with a cheap referral, the patients on whom the two
# decisions disagree are referred anyway.
#
# The price of a referral
# -----------------------
#
# A single missed tumour weighs ten times as much as a false alarm, so that a mean over
# one split is mostly noise. Here are means over 40 splits. The models differ by the
# threshold alone, which is the price itself, so that one fit serves all prices.

import matplotlib.pyplot as plt

from sklearn_reject.selection import chow_rule

prices = np.linspace(0.02, 1.2, 60)
mean_costs = {"predict": [], "bayes": []}
referred = {"predict": [], "bayes": []}
for split in range(40):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=split
    )
    for decision in ("predict", "bayes"):
        model = make_model(decision, reject_cost=1, cv="plug_in").fit(X_train, y_train)
        label_costs = loss(y_test, model.predict_label(X_test))
        uncertainty = model.uncertainty(X_test)
        accepted = [chow_rule(price).accept(uncertainty) for price in prices]
        patient_costs = np.where(accepted, label_costs, prices[:, np.newaxis])
        mean_costs[decision].append(patient_costs.mean(axis=1))
        referred[decision].append(1 - np.mean(accepted, axis=1))

fig, (ax_cost, ax_referred) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
labels = {"predict": "most probable class, or refer", "bayes": "least cost, or refer"}
for decision, label in labels.items():
    ax_cost.plot(prices, np.mean(mean_costs[decision], axis=0), label=label)
    ax_referred.plot(prices, np.mean(referred[decision], axis=0), label=label)
ax_cost.set(xlabel="Price of a referral", ylabel="Mean cost of a held-out patient")
ax_referred.set(xlabel="Price of a referral", ylabel="Share of patients referred")
for ax in (ax_cost, ax_referred):
    ax.set_ylim(bottom=0)
    ax.axvline(10 / 11, color="0.6", linewidth=0.8)
ax_cost.legend(loc="lower right")
plt.show()

# %%
# Up to a price of 1/2 the two agree. Beyond it, choosing the label by its cost needs
# fewer referrals. From 10/11 on (the vertical line) it needs none: that is the expected
# cost of the better label where both are equally good, at a probability of 1/11 of a
# tumour.
