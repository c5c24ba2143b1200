"""
==================================================
Is one score better than another, or is it chance?
==================================================

On a test set of a few hundred samples, the area under the risk-coverage curve (AuRC)
depends on a few dozen errors. Would another test set prefer the same score? Bootstrap
confidence intervals answer this. You will see intervals of two areas that overlap, and
an interval of their difference that still shows which score is better.
"""

# %%
# Two scores
# ----------
#
# Naive Bayes is sure of nearly all digits, including those that it gets wrong. We
# compare its own uncertainty with a score that learns from its errors on further
# samples.

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
# An interval for each area
# -------------------------
#
# The metric comes first, then the arrays that it takes. The bootstrap draws rows of all
# arrays together, with replacement.

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
# The intervals overlap. This looks as if 200 samples could not tell which score is
# better.
#
# An interval for the difference
# ------------------------------
#
# But both scores are computed on the same samples. If many hard samples are drawn, both
# areas are large, and this does not affect which one is smaller. With `other`, each
# resample is used for both scores, and the interval is that of the difference:

difference = bootstrap_interval(aurc_score, of_learned, other=of_own, **options)
value, low, high, _ = difference
print(f"AuRC, learned - own {value:.4f}  [{low:.4f}, {high:.4f}]")

# %%
# The whole interval is below zero: the learned score is better, and this is not due to
# chance.

import matplotlib.pyplot as plt

rows = {**areas, "learned - own": difference}
fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
for row, interval in enumerate(rows.values()):
    ax.plot([interval.low, interval.high], [row, row], color="C0", linewidth=3)
    ax.plot(interval.value, row, "o", color="C0")
ax.axvline(0, color="0.5", linestyle="--", linewidth=1)
ax.set(yticks=range(len(rows)), yticklabels=rows, xlabel="AuRC, 95 % interval")
ax.margins(y=0.2)
ax.invert_yaxis()
plt.show()

# %%
# Any other metric
# ----------------
#
# You can use any metric of scikit-learn or of your own. Everything that depends on the
# samples must be computed inside the metric. Here the threshold is fixed, and the
# number of accepted samples varies from resample to resample.

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
# Bands around a curve
# --------------------
#
# A display can draw the interval of the risk at each coverage. Such a band holds for
# one coverage at a time. It is wide on the left, where few samples are accepted. None
# of them is an error, but so few samples cannot prove that errors are rare.

from sklearn_reject.metrics import RiskCoverageDisplay

# sphinx_gallery_thumbnail_number = 2
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for name, samples in {"own": of_own, "learned": of_learned}.items():
    RiskCoverageDisplay.from_predictions(
        *samples, name=name, ax=ax, confidence_level=0.95, random_state=0
    )
ax.set(title="Two scores of naive Bayes, bands of 95 %", ylim=(0, 0.3))
plt.show()
