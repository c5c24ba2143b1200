"""
=========================================
Which uncertainty score finds the errors?
=========================================

A good uncertainty score is high on the samples that the classifier gets wrong. The area
under the risk-coverage curve (AuRC) compares scores over all thresholds. You will see
it for three scores, and which of their differences are more than chance.
"""

# %%
# A classifier that makes errors
# ------------------------------
#
# Naive Bayes is sure of nearly all digits, including those that it gets wrong.

# sphinx_gallery_thumbnail_path = "_static/drawings/scores.svg"
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=500, stratify=y, random_state=0
)
X_more, X_test, y_more, y_test = train_test_split(
    X_rest, y_rest, train_size=700, stratify=y_rest, random_state=0
)
classifier = GaussianNB(var_smoothing=1e-3).fit(X_train, y_train)
y_pred = classifier.predict(X_test)
print(f"{(y_pred != y_test).sum()} errors on {len(y_test)} new samples")

# %%
# The scores
# ----------
#
# A score of the package is an object that is fitted on the classifier.
# :class:`~sklearn_reject.scores.ConditionalRisk` needs nothing but its probabilities.
# :class:`~sklearn_reject.scores.ErrorProbability` learns from errors on further
# samples. A score of your own is a function of the classifier and the samples, here the
# distance to the nearest class mean. Each of the three can be the `uncertainty_score`
# of a :class:`~sklearn_reject.SelectiveClassifier`.

from sklearn.metrics import pairwise_distances

from sklearn_reject.scores import ConditionalRisk, ErrorProbability


def distance_to_class(classifier, X):
    """Return the distance of each sample to the nearest class mean."""
    return pairwise_distances(X, classifier.theta_).min(axis=1)


own = ConditionalRisk().fit(estimator=classifier)
learned = ErrorProbability(random_state=0).fit(X_more, y_more, estimator=classifier)
scores = {
    "learned from errors": learned.uncertainty(X_test),
    "conditional risk": own.uncertainty(X_test),
    "distance to class": distance_to_class(classifier, X_test),
}

# %%
# The curves
# ----------
#
# A smaller area is better. Naive Bayes is too sure of itself, so its own probabilities
# find fewer errors than the other two scores.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
for name, score in scores.items():
    last = name == "distance to class"
    RiskCoverageDisplay.from_predictions(
        y_test, y_pred, score, name=name, ax=ax, plot_oracle=last, plot_random=last
    )
ax.legend(fontsize="small")
plt.show()

# %%
# Is the difference chance?
# -------------------------
#
# Each area depends on 67 errors. The intervals of the bootstrap say how much it would
# vary from test set to test set. Two scores see the same samples, so do not compare
# their intervals: with `other`, each resample is used for both scores, and the interval
# is that of the difference.

from sklearn_reject.metrics import aurc_score, bootstrap_interval

of_learned, *others = ((y_test, y_pred, score) for score in scores.values())
fig, ax = plt.subplots(figsize=(6, 2), layout="constrained")
for row, (name, other) in enumerate(zip(list(scores)[1:], others, strict=True)):
    value, low, high, _ = bootstrap_interval(
        aurc_score, of_learned, other=other, random_state=0
    )
    print(f"learned - {name:17} {value:.4f} [{low:.4f}, {high:.4f}]")
    ax.plot([low, high], [row, row], color="C0", linewidth=3)
    ax.plot(value, row, "o", color="C0")
ax.axvline(0, color="0.5", linestyle="--", linewidth=1)
ax.set(yticks=[0, 1], yticklabels=[f"learned - {name}" for name in list(scores)[1:]])
ax.set(xlabel="Difference of AuRC, 95% interval", ylim=(1.5, -0.5))
plt.show()

# %%
# The learned score is better than the probabilities, and this is not chance. Between
# the learned score and the distance, this test set cannot tell.
