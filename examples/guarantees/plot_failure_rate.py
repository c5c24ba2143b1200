"""
==========================================
A guarantee from sixty calibration samples
==========================================

We want at most 2 of 100 samples to be accepted and wrong, and have only sixty
calibration samples. They are too few to certify the error rate *among accepted
samples*. But they are enough to bound the *failure rate*: the share of *all* samples
that are accepted and wrong (`target_failure_rate`). You will see the true failure rates
of many rules under four kinds of targets, and how many samples each of them accepts.
"""

# %%
# A known distribution
# --------------------
#
# Two normal distributions overlap. The classifier is fitted once. We use fifty thousand
# further samples to compute true rates.

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import ConditionalRisk


def draw(n_samples, rng):
    """Return samples of both classes."""
    y = (rng.random(n_samples) < 0.3).astype(int)
    X = rng.normal(size=(n_samples, 2))
    X[:, 0] += 3 * y
    return X, y


rng = np.random.default_rng(0)
classifier = LogisticRegression().fit(*draw(1000, rng))
X_all, y_all = draw(50_000, rng)
wrong = classifier.predict(X_all) != y_all
uncertainty = ConditionalRisk().fit(estimator=classifier).uncertainty(X_all)
order = np.argsort(uncertainty)
possible = np.searchsorted(np.cumsum(wrong[order]), 0.02 * len(order)) / len(order)
print(f"wrong, of all samples: {wrong.mean():.4f}")
print(f"largest coverage with 0.02 accepted and wrong: {possible:.3f}")

# %%
# What sixty samples can promise
# ------------------------------
#
# One error among sixty-one samples is a share of 0.016. So everything can be accepted
# up to the first error of the calibration samples, as the next sample may be the wrong
# one. With less than 49 samples there would be no room for any error, and `fit` would
# say so. To certify an error rate *among accepted samples*, sixty are too few.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier

frozen = FrozenEstimator(classifier)
rule = SelectiveClassifier(frozen, target_failure_rate=0.02).fit(*draw(60, rng)).rule_
print(f"coverage {rule.coverage:.3f}")
for options in (
    {"target_failure_rate": 0.01},
    {"target_risk": 0.02, "confidence_level": 0.9},
):
    try:
        SelectiveClassifier(frozen, **options).fit(*draw(60, rng))
    except InfeasibleTargetError as error:
        print(error)

# %%
# Many rules
# ----------
#
# We choose many rules on new calibration samples and compute their true failure rates.
# For comparison we also use a `target_risk`. It bounds errors divided by accepted
# samples, which is never less than errors divided by all samples.

PROMISES = {
    "target_risk": {"target_risk": 0.02},
    "target_risk, confidence 0.9": {"target_risk": 0.02, "confidence_level": 0.9},
    "target_failure_rate": {"target_failure_rate": 0.02},
    "target_failure_rate, confidence 0.9": {
        "target_failure_rate": 0.02,
        "confidence_level": 0.9,
    },
}


def achieve(n_samples, repetitions, options):
    """Return true coverages and failure rates of rules solved on new samples."""
    rng = np.random.default_rng(1)
    found = np.zeros((repetitions, 2))
    for result in found:
        model = SelectiveClassifier(frozen, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectionWarning)  # of nothing accepted
            try:
                rule = model.fit(*draw(n_samples, rng)).rule_
            except InfeasibleTargetError:
                continue
        accepted = rule.accept_proba(uncertainty)
        result[:] = accepted.mean(), accepted @ wrong / len(wrong)
    return found.T


sizes = {60: 500, 200: 300, 1000: 100, 5000: 20}
found = {
    name: {n: achieve(n, repetitions, options) for n, repetitions in sizes.items()}
    for name, options in PROMISES.items()
}
print(f"{'':37}{'samples':9}{'coverage':10}{'failures: mean':16}over 0.02")
for name, of_size in found.items():
    for n_samples, (coverage, failures) in of_size.items():
        print(
            f"{name:37}{n_samples:<9}{coverage.mean():<10.3f}{failures.mean():<16.4f}"
            f"{np.mean(failures > 0.02):.2f}"
        )

# %%
# With a `target_failure_rate`, the mean failure rate over all rules is at most 2 in
# 100, for each number of calibration samples. Single rules can exceed the bound. If
# that must not happen, set a `confidence_level`: with 0.9, a rule exceeds the bound
# with a probability of at most 0.1, and it accepts fewer samples. (The numbers above
# are from a few hundred rules at most: means can be off by 0.001, shares by 0.03.) A
# certified error rate among accepted samples is the strongest statement, and needs most
# samples.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for place, of_size in enumerate(found.values()):
    _, failures = of_size[60]
    jitter = place + 0.4 * (rng.random(len(failures)) - 0.5)
    color = f"C{place}"
    ax.plot(failures, jitter, ".", markersize=4, alpha=0.5, color=color)
    ax.plot(failures.mean(), place, "D", color=color, markeredgecolor="black")
ax.axvline(0.02, color="0.2", linestyle="--", linewidth=1)
ax.set_yticks(range(len(found)), [name.replace(", ", ",\n") for name in found])
ax.invert_yaxis()
ax.set(
    title="60 calibration samples: each rule, and the mean",
    xlabel="Failure rate: share of all samples accepted and wrong",
)
plt.show()

# %%
# With more calibration samples, the guarantees cost less coverage. Without a
# `confidence_level`, a `target_failure_rate` reaches nearly the largest possible
# coverage from a thousand samples on.

fig, ax = plt.subplots(figsize=(6, 4.8), layout="constrained")
for name, of_size in found.items():
    means = [coverage.mean() for coverage, _ in of_size.values()]
    ax.semilogx(list(of_size), means, marker="o", label=name)
ax.axhline(possible, color="0.2", linestyle="--")
ax.text(5000, possible + 0.02, "largest possible", ha="right")
ax.set(xlabel="Calibration samples", ylabel="Mean coverage", ylim=(-0.03, 1))
ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
ax.minorticks_off()
fig.legend(loc="outside lower center", ncols=2)
plt.show()
