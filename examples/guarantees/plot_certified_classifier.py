"""
========================================
How much coverage does a guarantee cost?
========================================

A rule that just meets a target on its calibration samples exceeds the target on new
samples about half of the time. With a `confidence_level`, the target holds for new
samples except with a small probability. What does this cost in coverage? Here the
distribution is known, so you will see the true error rate of hundreds of rules, and how
the coverage grows with the number of calibration samples.
"""

# %%
# A known distribution
# --------------------
#
# Two normal distributions overlap, and one sample in four is positive. The classifier
# is fitted once. We use half a million further samples to compute the true coverage and
# error rate of any threshold.

import numpy as np
from sklearn.linear_model import LogisticRegression

from sklearn_reject.metrics import risk_coverage_curve
from sklearn_reject.scores import ConditionalRisk


def draw(n_samples, rng, positives=0.25):
    """Return samples of both classes."""
    y = (rng.random(n_samples) < positives).astype(int)
    X = rng.normal(size=(n_samples, 2))
    X[:, 0] += 2 * y
    return X, y


rng = np.random.default_rng(0)
classifier = LogisticRegression().fit(*draw(1000, rng))
X_all, y_all = draw(500_000, rng)
uncertainty = ConditionalRisk().fit(estimator=classifier).uncertainty(X_all)
wrong = classifier.predict(X_all) != y_all
coverages, risks, thresholds = risk_coverage_curve(None, None, uncertainty, loss=wrong)


def look_up(threshold):
    """Return true coverage and true risk of accepting below a threshold."""
    place = np.searchsorted(thresholds, threshold) - 1
    return (coverages[place], risks[place]) if place >= 0 else (0.0, 0.0)


TARGET = 0.05
most = coverages[risks <= TARGET].max()
print(f"error on all samples {wrong.mean():.3f}")
print(f"largest coverage with an error of at most {TARGET}: {most:.3f}")

# %%
# Calibrate many rules
# --------------------
#
# We draw calibration samples that the classifier has not seen, choose a threshold for
# an error rate of at most 5 %, look up its true error rate, and repeat. If no threshold
# can be certified, `fit` raises an :class:`~sklearn_reject.InfeasibleTargetError`, and
# we count it as a rule that accepts nothing.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier


def calibrate(n_samples, repetitions, confidence_level):
    """Return true coverages and risks of rules that are solved on new samples."""
    rng = np.random.default_rng(1)
    model = SelectiveClassifier(
        FrozenEstimator(classifier),
        target_risk=TARGET,
        confidence_level=confidence_level,
    )
    found = []
    for _ in range(repetitions):
        try:
            threshold = model.fit(*draw(n_samples, rng)).rule_.threshold
        except InfeasibleTargetError:
            threshold = -np.inf
        found.append(look_up(threshold))
    return np.transpose(found)


found = {
    "confidence_level=None": calibrate(1000, 300, None),
    "confidence_level=0.9": calibrate(1000, 300, 0.9),
}
print(f"{'':17}{'mean risk':10}{'largest':10}{'over 0.05':12}mean coverage")
for name, (coverage, risk) in found.items():
    print(
        f"{name:17}{risk.mean():<10.4f}{risk.max():<10.4f}"
        f"{np.mean(risk > TARGET):<12.3f}{coverage.mean():.3f}"
    )

# %%
# Without a `confidence_level`, half of the rules exceed the target. With
# ``confidence_level=0.9`` the whole histogram moves to the left, and at most one rule
# in ten exceeds the target.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
bins = np.linspace(0.01, 0.09, 41)
for name, (_, risk) in found.items():
    ax.hist(risk, bins, alpha=0.6, label=name)
ax.axvline(TARGET, color="0.2", linestyle="--", label="target")
ax.set(
    title="300 rules, 1000 calibration samples each",
    xlabel="True error rate of accepted samples",
    ylabel="Number of rules",
)
ax.legend()
plt.show()

# %%
# The cost in coverage
# --------------------
#
# The more calibration samples there are, the less the guarantee costs. With a hundred
# samples almost nothing can be certified, although half of all samples could be
# accepted with an error rate of 2 %.

sizes = {100: 100, 300: 100, 1000: 60, 3000: 40, 10_000: 20, 30_000: 10}
means = {
    confidence_level: [
        calibrate(n, k, confidence_level)[0].mean() for n, k in sizes.items()
    ]
    for confidence_level in (0.8, 0.9, 0.99)
}
print("samples  " + "".join(f"{size:8}" for size in sizes))
for confidence_level, row in means.items():
    print(f"{confidence_level:<9}" + "".join(f"{mean:8.3f}" for mean in row))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.axhline(most, color="0.4", linestyle="--", label="largest possible")
for marker, (confidence_level, row) in zip("os^", means.items(), strict=True):
    ax.semilogx(
        list(sizes), row, marker=marker, label=f"confidence_level={confidence_level}"
    )
ax.set(xlabel="Calibration samples", ylabel="Mean coverage", ylim=(-0.03, 0.8))
ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# What is not guaranteed
# ----------------------
#
# The guarantee is about the error rate over all accepted samples, if new samples come
# from the same distribution as the calibration samples. It does not hold for each class
# separately, and not when the share of positives changes.
# :ref:`sphx_glr_auto_examples_guarantees_plot_group_promises.py` shows guarantees for
# each class.

model = SelectiveClassifier(
    FrozenEstimator(classifier), target_risk=TARGET, confidence_level=0.9
).fit(*draw(10_000, rng))
certificate = model.rule_.certificate
print(
    f"{certificate.quantity} <= {certificate.target} with confidence "
    f"{certificate.confidence_level}: {certificate.n_accepted} of "
    f"{certificate.n_samples} samples accepted, p-value {certificate.p_value:.3f}"
)


def error_on_accepted(X, y):
    """Return the share of errors among accepted samples."""
    accepted = model.accept(X)
    return (model.predict_label(X) != y)[accepted].mean()


print(f"same distribution {error_on_accepted(X_all, y_all):.3f}")
for label, name in enumerate(("truly negative", "truly positive")):
    X_class, y_class = X_all[y_all == label], y_all[y_all == label]
    print(f"{name:17} {error_on_accepted(X_class, y_class):.3f}")
for share in (0.1, 0.5):
    X_new, y_new = draw(100_000, rng, positives=share)
    print(f"{share:.0%} positives{'':5} {error_on_accepted(X_new, y_new):.3f}")
