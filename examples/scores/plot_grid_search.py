"""
===============================================
Tune a classifier and its score by grid search
===============================================

The most accurate classifier is not always the one that knows best when it is wrong. If
uncertain samples will be rejected, give `GridSearchCV` the area under the risk-coverage
curve (AuRC). You will see that it chooses another decision tree than accuracy does, and
that it can choose the uncertainty score, too.
"""

# %%
# Search by AuRC
# --------------
#
# A fully grown tree has one class in each leaf. It is always certain, so its
# uncertainty does not find its errors. Larger leaves cost some accuracy, but they tell
# clear cases from uncertain ones.

# sphinx_gallery_thumbnail_path = "_static/drawings/search.svg"
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject.metrics import get_selective_scorer

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
neg_aurc = get_selective_scorer("neg_aurc")
sizes = [1, 2, 3, 5, 8, 12, 20, 30]
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0),
    {"min_samples_leaf": sizes},
    scoring={"accuracy": "accuracy", "neg_aurc": neg_aurc},
    refit="neg_aurc",
).fit(X_train, y_train)
errors = 1 - search.cv_results_["mean_test_accuracy"]
areas = -search.cv_results_["mean_test_neg_aurc"]

# %%
# The error grows with the size of the leaves. The AuRC is smallest for leaves of medium
# size.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.semilogx(sizes, errors, "o-", label="error = 1 - accuracy")
ax.semilogx(sizes, areas, "o-", label="AuRC")
ax.set(xlabel="min_samples_leaf", ylabel="Mean over five folds", ylim=(0, None))
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# Both trees on test data
# -----------------------
#
# As soon as the most uncertain tenth is rejected, the tree with larger leaves makes
# fewer errors. The curve of the other tree is a single point: all its samples have the
# same uncertainty, so no threshold can separate them.

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for size in (sizes[areas.argmin()], sizes[errors.argmin()]):
    tree = DecisionTreeClassifier(min_samples_leaf=size, random_state=0)
    RiskCoverageDisplay.from_estimator(
        tree.fit(X_train, y_train),
        X_test,
        y_test,
        name=f"min_samples_leaf={size}",
        ax=ax,
        curve_kwargs={"marker": "o", "markersize": 4},
    )
ax.set(xlim=(0.6, 1.02), ylim=(0, 0.3))
ax.legend(loc="upper left")
plt.show()

# %%
# Classifier and score together
# -----------------------------
#
# The parameters of the classifier and the uncertainty score are searched at once. Naive
# Bayes is too sure of itself: `var_smoothing` makes it less so, and a score that learns
# from its errors repairs the rest. The AuRC does not depend on the threshold, so the
# target does not matter here.

import pandas as pd
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier
from sklearn_reject.scores import SELE

model = SelectiveClassifier(GaussianNB(), target_coverage=0.8, cv=0.2, random_state=0)
both = GridSearchCV(
    model,
    {
        "estimator__var_smoothing": [1e-9, 1e-4, 1e-1],
        "uncertainty_score": ["conditional_risk", SELE(1e-2, random_state=0)],
    },
    scoring=neg_aurc,
    cv=3,
).fit(X_train, y_train)
table = pd.DataFrame(
    {
        "score": [str(score) for score in both.cv_results_["param_uncertainty_score"]],
        "var_smoothing": both.cv_results_["param_estimator__var_smoothing"],
        "AuRC": -both.cv_results_["mean_test_score"],
    }
)
table.pivot(index="score", columns="var_smoothing", values="AuRC").round(4)

# %%
# Both help. The winner of a search looks a little better than it is, so we measure it
# on test data.

print(f"AuRC on test data: {-both.score(X_test, y_test):.4f}")
