"""
=========================================
Which uncertainty score finds the errors?
=========================================

A good uncertainty score is high on the samples that the classifier gets wrong. The area
under the risk-coverage curve (AuRC) compares scores over all thresholds. You will see
it for three scores, and whether the difference of two of them is more than chance.
"""

# %%
# A classifier that makes errors
# ------------------------------
#
# Naive Bayes is sure of nearly all digits, including those that it gets wrong.

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
# A smaller area is better. The learned score finds the errors best. The distance says
# whether a digit is typical, which is not the same as whether its label is right.

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
# Both areas depend on a few dozen errors, and their bootstrap intervals overlap. But
# both scores see the same samples. With `other`, each resample is used for both of
# them, and the interval is that of the difference.

from sklearn_reject.metrics import aurc_score, bootstrap_interval

of_learned = y_test, y_pred, scores["learned from errors"]
of_own = y_test, y_pred, scores["conditional risk"]
intervals = {
    "conditional risk": bootstrap_interval(aurc_score, of_own, random_state=0),
    "learned": bootstrap_interval(aurc_score, of_learned, random_state=0),
    "learned - conditional": bootstrap_interval(
        aurc_score, of_learned, other=of_own, random_state=0
    ),
}
fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
for row, (name, interval) in enumerate(intervals.items()):
    print(f"{name:22} {interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]")
    ax.plot([interval.low, interval.high], [row, row], color="C0", linewidth=3)
    ax.plot(interval.value, row, "o", color="C0")
ax.axvline(0, color="0.5", linestyle="--", linewidth=1)
ax.set(yticks=range(3), yticklabels=intervals, xlabel="AuRC, 95% interval")
ax.margins(y=0.2)
ax.invert_yaxis()
plt.show()
