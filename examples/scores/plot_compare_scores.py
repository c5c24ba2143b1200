"""
=========================================
Which uncertainty score finds the errors?
=========================================

A selective classifier rejects the samples with the highest uncertainty score. So a good
score is high on the samples that the classifier gets wrong. How do we compare scores?
The area under the risk-coverage curve (AuRC) summarizes all thresholds in one number.
You will see it, and the curves, for three scores that come with the package and two
that we write ourselves.
"""

# %%
# A classifier that makes errors
# ------------------------------
#
# Linear discriminant analysis on five principal components of the digits is wrong often
# enough to tell the scores apart.

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(PCA(5, random_state=0), LinearDiscriminantAnalysis())
y_pred = classifier.fit(X_train, y_train).predict(X_test)
print(f"error on held-out samples: {(y_pred != y_test).mean():.3f}")

# %%
# The scores
# ----------
#
# A score of the package is an object. It is fitted on the classifier and then scores
# samples. A score of our own is a function of the fitted classifier and the samples.
# Ours are the entropy of the probabilities, and the distance to the mean of the nearest
# class, in the space where the classifier works. All of them can also be the
# `uncertainty_score` of a :class:`~sklearn_reject.SelectiveClassifier`.

import numpy as np
from scipy.special import entr

from sklearn_reject.scores import ConditionalRisk, Margin


def entropy(classifier, X):
    """Return the entropy of the class probabilities of each sample."""
    return entr(classifier.predict_proba(X)).sum(axis=1)


def distance_to_class(classifier, X):
    """Return the distance of each sample to the nearest class mean."""
    lda = classifier[-1]
    projected = lda.transform(classifier[:-1].transform(X))
    means = (lda.means_ - lda.xbar_) @ lda.scalings_[:, : projected.shape[1]]
    return np.linalg.norm(projected[:, np.newaxis] - means, axis=2).min(axis=1)


scores = {
    "conditional risk": ConditionalRisk(),
    "margin, top two": Margin(),
    "margin, max": Margin(kind="max"),
}
uncertainties = {
    name: score.fit(estimator=classifier).uncertainty(X_test)
    for name, score in scores.items()
}
uncertainties["entropy"] = entropy(classifier, X_test)
uncertainties["distance to class"] = distance_to_class(classifier, X_test)

# %%
# The areas
# ---------
#
# A smaller AuRC is better. The prediction rejection ratio (PRR) puts the AuRC on a
# scale from 0 for a random order to 1 for the best possible order, in which all errors
# come last.

from sklearn_reject.metrics import aurc_score

areas = {
    name: aurc_score(y_test, y_pred, uncertainty)
    for name, uncertainty in uncertainties.items()
}
print(f"{'':20}AuRC     PRR")
for name in sorted(areas, key=areas.get):
    prr = aurc_score(y_test, y_pred, uncertainties[name], normalize="prr")
    print(f"{name:20}{areas[name]:.4f}  {prr:6.3f}")

# %%
# The curves
# ----------
#
# The scores that use the two largest probabilities, or all of them, are nearly equal.
# The distance to a class is worse: it says whether a sample is typical, which is not
# the same as whether its label is right.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for name in sorted(areas, key=areas.get, reverse=True):
    last = name == min(areas, key=areas.get)
    RiskCoverageDisplay.from_predictions(
        y_test,
        y_pred,
        uncertainties[name],
        name=name,
        ax=ax,
        plot_oracle=last,
        plot_random=last,
    )
ax.set_title("Scores of one classifier on digits")
ax.get_legend().remove()
fig.legend(loc="outside lower center", ncols=2, fontsize="small")
plt.show()
