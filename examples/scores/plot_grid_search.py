"""
=======================================================
Choosing hyper-parameters for a classifier that rejects
=======================================================

The most accurate classifier need not be the one that knows best when it is wrong. If
doubtful samples are going to be rejected, the latter is what matters, and a parameter
search can look for it: with the area under the risk-coverage curve, AuRC, as the score.
"""

# %%
# Search by accuracy and by AuRC
# ------------------------------
#
# The smallest leaf of a decision tree is searched by both. A tree that is grown to the
# end has one class in each leaf. It is always certain, and knows nothing about its
# errors: its AuRC is the same as its error. Larger leaves cost some accuracy, and tell
# the clear cases from the doubtful ones.

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject.metrics import neg_aurc_scorer

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
sizes = [1, 2, 3, 5, 8, 12, 20, 30]
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0),
    {"min_samples_leaf": sizes},
    scoring={"accuracy": "accuracy", "neg_aurc": neg_aurc_scorer},
    refit="neg_aurc",
    cv=5,
).fit(X_train, y_train)
errors = 1 - search.cv_results_["mean_test_accuracy"]
areas = -search.cv_results_["mean_test_neg_aurc"]
by_accuracy, by_aurc = sizes[errors.argmin()], sizes[areas.argmin()]
print(f"best smallest leaf by accuracy: {by_accuracy}, by AuRC: {by_aurc}")

# %%
# The two on held-out samples
# ---------------------------
#
# The first tree is more accurate on all samples, and no better on any share of them.
# The second has the lower error once its most doubtful tenth is rejected.

from sklearn_reject.metrics import make_selective_accuracy_scorer

classifiers = {
    f"leaves of at least {size}": DecisionTreeClassifier(
        min_samples_leaf=size, random_state=0
    ).fit(X_train, y_train)
    for size in (by_accuracy, by_aurc)
}
accuracy_at_70 = make_selective_accuracy_scorer(coverage=0.7)
for name, tree in classifiers.items():
    print(
        f"{name}: accuracy {tree.score(X_test, y_test):.3f}, "
        f"at coverage 0.7 {accuracy_at_70(tree, X_test, y_test):.3f}, "
        f"AuRC {-neg_aurc_scorer(tree, X_test, y_test):.3f}"
    )

# %%
# The curve of the first tree is a single point, as all samples are tied: no threshold
# separates them, and a share of them can be accepted at random only.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

fig, (ax_grid, ax_curve) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ax_grid.semilogx(sizes, errors, "o-", label="error = 1 - accuracy")
ax_grid.semilogx(sizes, areas, "o-", label="AuRC")
ax_grid.set(xlabel="Smallest leaf", ylabel="Mean over five folds", ylim=(0, None))
ax_grid.set_xticks(sizes, sizes)
ax_grid.minorticks_off()
ax_grid.legend()
for name, tree in classifiers.items():
    RiskCoverageDisplay.from_estimator(
        tree, X_test, y_test, name=name, ax=ax_curve, curve_kwargs={"marker": "."}
    )
ax_curve.set(title="Held-out samples", ylim=(0, 0.25))
plt.show()
