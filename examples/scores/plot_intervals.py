"""
==================================================
Is one score better than another, or is it chance?
==================================================

On a test set of some hundred samples, the area under the risk-coverage curve rests on a
few dozen errors. Before one score is preferred to another, it should be clear that
other samples would say the same. Bootstrap intervals tell how far they may differ.
"""

# %%
# A learned score and one that needs no fit
# -----------------------------------------
#
# Naive Bayes is sure of nearly all digits, also of those that it gets wrong. Its own
# uncertainty is compared with a score that was fitted to its errors on further samples.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_reject.scores import ConditionalRisk, ErrorProbability

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=500, stratify=y, random_state=0
)
X_more, X_test, y_more, y_test = train_test_split(
    X_rest, y_rest, train_size=700, stratify=y_rest, random_state=0
)
X_test, y_test = X_test[:200], y_test[:200]

classifier = GaussianNB(var_smoothing=1e-3).fit(X_train, y_train)
own = ConditionalRisk().fit(estimator=classifier)
learned = ErrorProbability(random_state=0).fit(X_more, y_more, estimator=classifier)

y_pred = classifier.predict(X_test)
n_errors = (y_pred != y_test).sum()
print(f"{n_errors} errors on {len(y_test)} test samples")

# %%
# An interval of each area
# ------------------------
#
# The metric comes first, then the arrays that it takes. Rows of all of them are drawn
# together, with replacement.

from sklearn_reject.metrics import aurc_score, bootstrap_interval

of_own = (y_test, y_pred, own.uncertainty(X_test))
of_learned = (y_test, y_pred, learned.uncertainty(X_test))
options = {"n_resamples": 4000, "random_state": 0}

areas = {
    "own score": bootstrap_interval(aurc_score, of_own, **options),
    "learned score": bootstrap_interval(aurc_score, of_learned, **options),
}
for name, (value, low, high, _) in areas.items():
    print(f"AuRC, {name:13} {value:.4f}  [{low:.4f}, {high:.4f}]")

# %%
# The intervals overlap, and so one might think that 200 samples cannot tell.
#
# An interval of the difference
# -----------------------------
#
# But both scores saw the same samples. Where many hard ones were drawn, both areas are
# large, and what is common to them does not matter to which one is smaller. With
# `other`, each resample is taken of both, and the interval is that of the difference:

difference = bootstrap_interval(aurc_score, of_learned, other=of_own, **options)
value, low, high, _ = difference
print(f"AuRC, learned - own {value:.4f}  [{low:.4f}, {high:.4f}]")

# %%
# It is below zero as a whole: the learned score is better, also on other samples.

import matplotlib.pyplot as plt

rows = {**areas, "learned - own": difference}
fig, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
for row, interval in enumerate(rows.values()):
    ax.plot([interval.low, interval.high], [row, row], color="C0", linewidth=3)
    ax.plot(interval.value, row, "o", color="C0")
ax.axvline(0, color="0.5", linestyle="--", linewidth=1)
ax.set(yticks=range(len(rows)), yticklabels=rows, xlabel="AuRC")
ax.margins(y=0.2)
ax.invert_yaxis()
plt.show()

# %%
# Any other metric
# ----------------
#
# is used alike, also one of scikit-learn or of our own. What depends on the samples
# belongs inside: here the threshold is given, and how many samples it accepts varies.

from sklearn.metrics import accuracy_score


def accepted_accuracy(y_true, y_pred, accepted):
    """Return the accuracy on accepted samples."""
    return accuracy_score(y_true[accepted], y_pred[accepted])


accepted = learned.uncertainty(X_test) <= 0.2
value, low, high, _ = bootstrap_interval(
    accepted_accuracy, (y_test, y_pred, accepted), **options
)
print(f"accepted: {accepted.mean():.0%}, accuracy {value:.3f}  [{low:.3f}, {high:.3f}]")

# %%
# Bands
# -----
#
# A display draws an interval of the risk at each coverage. Such a band holds for one
# coverage at a time. It is wide at the left end, where few samples are accepted. None
# of them is an error, but that is no proof that there are no errors among others.

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, samples in {"own": of_own, "learned": of_learned}.items():
    RiskCoverageDisplay.from_predictions(
        *samples, name=name, ax=ax, confidence_level=0.95, random_state=0
    )
ax.set_title(f"Two scores of naive Bayes, {len(y_test)} digits, bands of 95 %")
plt.show()
