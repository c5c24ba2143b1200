"""
=================================
Decide by cost: predict or refer?
=================================

Missing a tumor is worse than alarming a healthy patient, and referring a patient to a
further examination costs something, too. Which decision is cheapest for each patient:
benign, malignant or refer? You will see how many tumors are missed and what a patient
costs, for four ways to decide and for many prices of a referral.
"""

# %%
# Data and costs
# --------------
#
# We use the ten mean features of the breast cancer data and hold out half of the
# patients. A missed tumor costs as much as ten false alarms, a referral 0.3 of a false
# alarm. In the cost matrix, rows are true labels and columns are predicted labels, in
# sorted order. The numbers are made up for this example.

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
    [10, 0],  # truly malignant: a missed tumor costs 10
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
# By default the classifier predicts the more probable class, as if both errors cost the
# same. ``ConditionalRisk(decision="bayes")`` predicts the class with the smallest
# expected cost instead. Both can refer a patient when this costs less than the expected
# cost of the prediction. ``cv="plug_in"`` uses the probabilities of the logistic
# regression as they are, without a tuned threshold. With ``target_coverage=1`` nobody
# is referred.

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
# The last two rows are equal: when referrals are cheap, the patients on whom the two
# decisions disagree are referred anyway.
#
# The price of a referral
# -----------------------
#
# A missed tumor weighs so much that one split is mostly noise, so we average over 40
# splits. The models differ only in the threshold, which is the price of a referral. So
# one fit serves all prices.

import matplotlib.pyplot as plt

from sklearn_reject.selection import RejectionRule

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
        accepted = [RejectionRule(price, 1).accept(uncertainty) for price in prices]
        patient_costs = np.where(accepted, label_costs, prices[:, np.newaxis])
        mean_costs[decision].append(patient_costs.mean(axis=1))
        referred[decision].append(1 - np.mean(accepted, axis=1))

fig, (ax_cost, ax_referred) = plt.subplots(
    2, 1, figsize=(6, 6), sharex=True, layout="constrained"
)
labels = {"predict": "most probable class, or refer", "bayes": "least cost, or refer"}
for decision, label in labels.items():
    ax_cost.plot(prices, np.mean(mean_costs[decision], axis=0), label=label)
    ax_referred.plot(prices, np.mean(referred[decision], axis=0), label=label)
ax_cost.set(ylabel="Mean cost of a test patient")
ax_referred.set(xlabel="Price of a referral", ylabel="Share of patients referred")
for ax in (ax_cost, ax_referred):
    ax.set_ylim(bottom=0)
    ax.axvline(10 / 11, color="0.3", linestyle=":")
ax_cost.legend(loc="lower right")
plt.show()

# %%
# Up to a price of 1/2 both are equal. Above it, choosing the label by its cost needs
# fewer referrals, and none from 10/11 on (the dotted line). A price of 10/11 is the
# largest expected cost that the better label can have. It is reached when the
# probability of a tumor is 1/11 and both labels cost the same.
