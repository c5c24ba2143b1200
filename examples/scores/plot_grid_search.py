"""
==========================================
Grid search for a classifier that abstains
==========================================

The most accurate classifier is not always the one that knows best when it is wrong. If
uncertain samples will be rejected, how do we choose hyper-parameters? We give
`GridSearchCV` the area under the risk-coverage curve (AuRC) as its score. You will see
that it selects another decision tree than accuracy does.
"""

# %%
# Search by accuracy and by AuRC
# ------------------------------
#
# We search the minimum number of samples in a leaf of a decision tree. A fully grown
# tree has one class in each leaf. It is always certain, so its uncertainty does not
# help to find its errors. Larger leaves cost some accuracy, but they tell clear cases
# from uncertain ones.

from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject.metrics import get_selective_scorer, make_selective_scorer

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
    cv=5,
).fit(X_train, y_train)
errors = 1 - search.cv_results_["mean_test_accuracy"]
areas = -search.cv_results_["mean_test_neg_aurc"]
by_accuracy, by_aurc = sizes[errors.argmin()], sizes[areas.argmin()]
print(f"min_samples_leaf: {by_accuracy} by accuracy, {by_aurc} by AuRC")

# %%
# The error grows with the size of the leaves, while the AuRC has its minimum at
# leaves of medium size.

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
# The tree selected by accuracy is more accurate on all samples, but abstaining does not
# improve it. The tree selected by AuRC has the lower error rate as soon as the most
# uncertain tenth is rejected.

classifiers = {
    f"min_samples_leaf={size}": DecisionTreeClassifier(
        min_samples_leaf=size, random_state=0
    ).fit(X_train, y_train)
    for size in (by_accuracy, by_aurc)
}
accuracy_at_70 = make_selective_scorer(accuracy_score, on_reject="drop", coverage=0.7)
for name, tree in classifiers.items():
    print(
        f"{name}: accuracy {tree.score(X_test, y_test):.3f}, "
        f"at coverage 0.7 {accuracy_at_70(tree, X_test, y_test):.3f}, "
        f"AuRC {-neg_aurc(tree, X_test, y_test):.3f}"
    )

# %%
# The curve of the first tree is a single point. All its samples have the same
# uncertainty, so no threshold can separate them.

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, tree in classifiers.items():
    RiskCoverageDisplay.from_estimator(
        tree,
        X_test,
        y_test,
        name=name,
        ax=ax,
        curve_kwargs={"marker": "o", "markersize": 4},
    )
ax.set(title="Test data", ylim=(0, 0.3))
plt.show()
