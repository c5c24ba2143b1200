"""
=========================================
Which score knows best when it is wrong?
=========================================

An uncertainty score is good if it puts the errors of a classifier last. The area under
the risk-coverage curve, AuRC, measures this at all thresholds at once. Scores that read
the classifier's probabilities and decision values are compared here with a score of our
own, and with the best and the uninformed order.
"""

# %%
# A classifier with some errors
# -----------------------------
#
# Linear discriminant analysis on five principal components of the digits errs often
# enough that the scores can be told apart.

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
# Names, score objects and functions can be used alike, also as `uncertainty_score` of a
# :class:`~sklearn_reject.SelectiveClassifier`. A function gets the fitted classifier
# and the samples. Ours is the distance to the mean of the nearest class, in the space
# where the classifier works: large for samples that look like no class.

import numpy as np

from sklearn_reject.scores import Margin, resolve_score


def distance_to_class(classifier, X):
    """Return the distance of each sample to the nearest class mean."""
    lda = classifier[-1]
    projected = lda.transform(classifier[:-1].transform(X))
    means = (lda.means_ - lda.xbar_) @ lda.scalings_[:, : projected.shape[1]]
    return np.linalg.norm(projected[:, np.newaxis] - means, axis=2).min(axis=1)


scores = {
    "conditional_risk": "conditional_risk",
    "entropy": "entropy",
    "top_two_gap": "top_two_gap",
    "margin, top two": "margin",
    "margin, max": Margin(kind="max"),
    "distance to class": distance_to_class,
}
uncertainties = {
    name: resolve_score(score, classifier).fit(estimator=classifier).uncertainty(X_test)
    for name, score in scores.items()
}

# %%
# Areas
# -----
#
# The prediction rejection ratio, PRR, puts the AuRC on a scale where the oracle, which
# knows the errors, is 1 and a random order is 0.

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
# Curves
# ------

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
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
ax.legend(fontsize="small")
plt.show()
