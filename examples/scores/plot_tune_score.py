"""
========================================
Tuning the uncertainty score in a search
========================================

Which score, which features, how strong a penalty: these are hyper-parameters as any
other. `GridSearchCV` chooses them by the area under the risk-coverage curve, AuRC, in
one search with the parameters of the classifier.
"""

# %%
# A sure and simple classifier
# ----------------------------
#
# Naive Bayes counts the same evidence many times over. On the digits it gives most of
# its predictions a probability close to 1, the wrong ones included.

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
# A dictionary in the grid gives a score, and its own parameters behind two
# underscores. The AuRC does not depend on the threshold, so the target does not matter
# here. With a float as `cv`, each fit learns the score once, whereas folds would learn
# it once more for each of them to solve a rule that nobody looks at.

import pandas as pd
from sklearn.model_selection import GridSearchCV

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import neg_aurc_scorer
from sklearn_reject.scores import SELE, ErrorProbability

model = SelectiveClassifier(GaussianNB(), target_coverage=0.8, cv=0.2, random_state=0)
linear, trees = SELE(random_state=0), ErrorProbability(random_state=0)
grid = [
    {"uncertainty_score": ["conditional_risk", "entropy"]},
    {
        "uncertainty_score": [linear],
        "uncertainty_score__alphas": [1e-4, 1e-3, 1e-2, 1e-1, 1],
    },
    {
        "uncertainty_score": [trees],
        "uncertainty_score__features": ["input", "response", "input+response"],
    },
]
search = GridSearchCV(model, grid, scoring=neg_aurc_scorer, cv=5)
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
# Linear scores win: each predicted digit has weights of its own for the 64 pixels, and
# from fewer than 200 errors trees learn less. Trees do best with the samples and the
# probabilities as features, ``features="input+response"``.
#
# On held-out samples
# -------------------
#
# The winner of a search looks a little better than it is, so it is measured on samples
# that the search has not seen.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

plain = SelectiveClassifier(GaussianNB()).fit(X_train, y_train)

fig, (ax_search, ax_curve) = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", width_ratios=(1, 1.15)
)
ordered = table.sort_values("AuRC", ascending=False)
ax_search.errorbar(
    ordered["AuRC"], range(len(ordered)), xerr=ordered["deviation"], fmt="o", capsize=3
)
ax_search.set_yticks(range(len(ordered)), ordered.index)
ax_search.set(title="Five folds", xlabel="AuRC, mean and deviation", xlim=(0, None))
for name, fitted in {"conditional_risk": plain, "best of the search": search}.items():
    fitted = getattr(fitted, "best_estimator_", fitted)
    RiskCoverageDisplay.from_estimator(
        fitted, X_test, y_test, name=name, ax=ax_curve, plot_oracle=fitted is not plain
    )
ax_curve.set(title="Held-out samples", ylim=(0, 0.25))
plt.show()

# %%
# Classifier and score together
# -----------------------------
#
# ``var_smoothing`` widens the normal distributions of naive Bayes. One search can weigh
# it against the score: a better classifier, or a better judge of it?

both = GridSearchCV(
    model,
    {
        "estimator__var_smoothing": [1e-9, 1e-4, 1e-2, 1e-1],
        "uncertainty_score": ["conditional_risk", SELE(1e-2, random_state=0)],
    },
    scoring=neg_aurc_scorer,
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
# Both, and the classifier first: probabilities that are not as sure of themselves leave
# less to learn. The learned score is ahead in each column all the same, and on held-out
# samples the AuRC has come down from 0.10 to this:

area = -both.score(X_test, y_test)
error = (both.best_estimator_.predict_label(X_test) != y_test).mean()
print(f"AuRC {area:.4f}, error without rejections {error:.3f}")
