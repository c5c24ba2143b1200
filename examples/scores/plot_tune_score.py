"""
===========================================
Tune the uncertainty score in a grid search
===========================================

Which uncertainty score should we use, with which features and how strong a penalty?
These are hyper-parameters like any other. You will see `GridSearchCV` choose them by
the area under the risk-coverage curve (AuRC), alone and together with a parameter of
the classifier.
"""

# %%
# An overconfident classifier
# ---------------------------
#
# Naive Bayes treats the pixels as independent and counts the same evidence many times.
# On the digits it gives most predictions a probability close to 1, including the wrong
# ones.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=0
)
classifier = GaussianNB().fit(X_train, y_train)
wrong = classifier.predict(X_test) != y_test
largest = classifier.predict_proba(X_test).max(axis=1)
print(f"error on held-out samples: {wrong.mean():.3f}")
print(f"errors with a probability over 0.99: {(largest[wrong] > 0.99).mean():.3f}")

# %%
# The candidates
# --------------
#
# Each dictionary in the grid sets a score and the parameters of this score, after two
# underscores. The AuRC does not depend on the threshold, so the target does not matter
# here. A float as `cv` makes each fit learn the score only once. With folds, it would
# be learned once more in each fold to choose a threshold that nobody uses.

import pandas as pd
from sklearn.model_selection import GridSearchCV

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import get_selective_scorer
from sklearn_reject.scores import SELE, ErrorProbability

model = SelectiveClassifier(GaussianNB(), target_coverage=0.8, cv=0.2, random_state=0)
linear, trees = SELE(random_state=0), ErrorProbability(random_state=0)
grid = [
    {"uncertainty_score": ["conditional_risk"]},
    {
        "uncertainty_score": [linear],
        "uncertainty_score__alphas": [1e-4, 1e-3, 1e-2, 1e-1, 1],
    },
    {
        "uncertainty_score": [trees],
        "uncertainty_score__features": ["input", "response", "input+response"],
    },
]
neg_aurc = get_selective_scorer("neg_aurc")
search = GridSearchCV(model, grid, scoring=neg_aurc, cv=5)
search.fit(X_train, y_train)


def describe(params):
    """Return a short name of a candidate."""
    score = params["uncertainty_score"]
    parts = [score if isinstance(score, str) else type(score).__name__]
    short = {name.split("__")[-1]: value for name, value in params.items()}
    parts += [f"{k}={v}" for k, v in short.items() if k in ("alphas", "features")]
    return ", ".join(parts)


table = pd.DataFrame(
    {
        "AuRC": -search.cv_results_["mean_test_score"],
        "deviation": search.cv_results_["std_test_score"],
    },
    index=[describe(params) for params in search.cv_results_["params"]],
)
table.sort_values("AuRC").round(4)

# %%
# Linear scores are best: they have weights for each of the 64 pixels and each predicted
# digit. Trees learn less from fewer than 200 errors. They do best with the samples and
# the probabilities as features, ``features="input+response"``.
#
# On test data
# ------------
#
# The winner of a search looks a little better than it is. So we measure it on samples
# that the search has not seen.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

plain = SelectiveClassifier(GaussianNB()).fit(X_train, y_train)

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ordered = table.sort_values("AuRC", ascending=False)
ax.errorbar(
    ordered["AuRC"], range(len(ordered)), xerr=ordered["deviation"], fmt="o", capsize=3
)
ax.set_yticks(range(len(ordered)), ordered.index)
ax.set(title="Five folds", xlabel="AuRC, mean and deviation", xlim=(0, None))

# sphinx_gallery_thumbnail_number = 2
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for name, fitted in {"conditional_risk": plain, "best of the search": search}.items():
    fitted = getattr(fitted, "best_estimator_", fitted)
    RiskCoverageDisplay.from_estimator(
        fitted, X_test, y_test, name=name, ax=ax, plot_oracle=fitted is not plain
    )
ax.set(title="Test data", ylim=(0, 0.3))
ax.legend(loc="upper left", bbox_to_anchor=(0.12, 1))
plt.show()

# %%
# Classifier and score together
# -----------------------------
#
# `var_smoothing` widens the normal distributions of naive Bayes. One search can find
# out what helps more: a better classifier, or a better uncertainty score.

both = GridSearchCV(
    model,
    {
        "estimator__var_smoothing": [1e-9, 1e-4, 1e-2, 1e-1],
        "uncertainty_score": ["conditional_risk", SELE(1e-2, random_state=0)],
    },
    scoring=neg_aurc,
    cv=5,
).fit(X_train, y_train)
areas = pd.DataFrame(
    {
        "score": [describe(p).split(",")[0] for p in both.cv_results_["params"]],
        "var_smoothing": both.cv_results_["param_estimator__var_smoothing"],
        "AuRC": -both.cv_results_["mean_test_score"],
    }
)
areas.pivot(index="score", columns="var_smoothing", values="AuRC").round(4)

# %%
# Both help, and the classifier helps more: when its probabilities are less
# overconfident, there is less to learn. Still, the learned score is better in each
# column. On the test data, the AuRC has fallen from 0.10 to this value:

area = -both.score(X_test, y_test)
error = (both.best_estimator_.predict_label(X_test) != y_test).mean()
print(f"AuRC {area:.4f}, error without rejections {error:.3f}")
