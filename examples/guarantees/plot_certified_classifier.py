"""
========================================
How much coverage does a guarantee cost?
========================================

A rule that just meets its target on the calibration samples misses it on new samples
about half of the time. With a `confidence_level` it holds, except with a small
probability. What does this cost? Here the distribution is known, so you will see the
true error rate of many rules, and what to do with as few as sixty samples.
"""

# %%
# A known distribution
# --------------------
#
# Two normal distributions overlap. The classifier is fitted once. With 100,000 further
# samples we can look up the true error rate of any rule.

# sphinx_gallery_thumbnail_path = "_static/drawings/guarantee.svg"
import warnings

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning


def draw(n_samples, rng):
    """Return samples of both classes."""
    y = (rng.random(n_samples) < 0.25).astype(int)
    X = rng.normal(size=(n_samples, 2))
    X[:, 0] += 2 * y
    return X, y


rng = np.random.default_rng(0)
classifier = FrozenEstimator(LogisticRegression().fit(*draw(1000, rng)))
X_all, y_all = draw(100_000, rng)
wrong = classifier.predict(X_all) != y_all
uncertainty = 1 - classifier.predict_proba(X_all).max(axis=1)
order = np.argsort(uncertainty)
n_wrong = np.append(0, np.cumsum(wrong[order]))


def calibrate(n_samples, repetitions, **options):
    """Return true coverage, risk and failure rate of rules of new samples."""
    rng = np.random.default_rng(1)
    found = np.zeros((repetitions, 3))
    for row in found:
        model = SelectiveClassifier(classifier, random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectionWarning)  # of nothing accepted
            try:
                threshold = model.fit(*draw(n_samples, rng)).rule_.threshold
            except InfeasibleTargetError:  # the rule accepts nothing
                continue
        n = np.searchsorted(uncertainty[order], threshold)
        row[:] = n / len(order), n_wrong[n] / max(n, 1), n_wrong[n] / len(order)
    return found.T


# %%
# At most 5% errors
# -----------------
#
# Each rule chooses its threshold on 1,000 samples. With a `confidence_level` the whole
# histogram moves to the left, and at most one rule in ten exceeds the target. (The bar
# at 0 is a rule that accepts nothing, since no threshold could be certified.)

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for level, color in ((0.9, "C0"), (None, "C1")):
    coverage, risk, _ = calibrate(1000, 150, target_risk=0.05, confidence_level=level)
    name = f"confidence_level={level}"
    ax.hist(risk, np.linspace(0, 0.08, 41), alpha=0.6, color=color, label=name)
    over = np.mean(risk > 0.05)
    print(f"{name:22} {over:.0%} over the target, coverage {coverage.mean():.3f}")
ax.axvline(0.05, color="0.2", linestyle="--", label="target")
ax.set(xlabel="True error rate of accepted samples", ylabel="Number of rules")
ax.legend(loc="upper left")
plt.show()

# %%
# The cost in coverage
# --------------------
#
# The more calibration samples there are, the less the guarantee costs.

sizes = {100: 40, 300: 40, 1000: 30, 3000: 20, 10_000: 10, 30_000: 5}
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for level in (0.8, 0.9, 0.99):
    options = {"target_risk": 0.05, "confidence_level": level}
    means = [calibrate(n, k, **options)[0].mean() for n, k in sizes.items()]
    ax.semilogx(list(sizes), means, marker="o", label=f"confidence_level={level}")
share = np.flatnonzero(n_wrong <= 0.05 * np.arange(len(n_wrong))).max() / len(order)
ax.axhline(share, color="0.4", linestyle="--", label="largest possible")
ax.set(xlabel="Calibration samples", ylabel="Mean coverage", ylim=(-0.03, 0.8))
ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
ax.legend(loc="lower right")
plt.show()

# %%
# Only sixty samples
# ------------------
#
# Too few to certify an error rate among accepted samples. But they can bound the
# *failure rate*, the share of all samples that are accepted and wrong, in the mean over
# many rules (`target_failure_rate`). A single rule may exceed it.

for name, options in {
    "target_risk, confidence 0.9": {"target_risk": 0.05, "confidence_level": 0.9},
    "target_failure_rate": {"target_failure_rate": 0.05},
}.items():
    coverage, _, failures = calibrate(60, 150, **options)
    print(f"{name}: failure rate {failures.mean():.3f}, coverage {coverage.mean():.3f}")

# %%
# All of this is about new samples of the same distribution, and about all accepted
# samples together. :ref:`sphx_glr_auto_examples_guarantees_plot_group_promises.py`
# shows promises for each class.
