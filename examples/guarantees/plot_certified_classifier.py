"""
===============================================
A bound on the error that holds for new samples
===============================================

A rule that meets a target risk on the samples that it was solved on breaks the target
on new ones about every other time. With a `confidence` the target is kept, but for a
share of unlucky draws that is agreed beforehand. Here the distribution is known, so
that the true risk of each rule can be looked up.
"""

# %%
# A known distribution
# --------------------
#
# Two normal distributions that overlap; one sample in four is positive. The classifier
# is fitted once, and half a million further samples tell the truth about it.

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
# Draw, calibrate, look up
# ------------------------
#
# Again and again, samples are drawn that the classifier has not seen, and solve the
# rule for an error of at most 5 %. Where no threshold can be certified, `fit` raises an
# :class:`~sklearn_reject.InfeasibleTargetError`, and we accept nothing.

from sklearn.frozen import FrozenEstimator

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier


def calibrate(n_samples, repetitions, confidence):
    """Return true coverages and risks of rules that are solved on new samples."""
    rng = np.random.default_rng(1)
    model = SelectiveClassifier(
        FrozenEstimator(classifier), target_risk=TARGET, confidence=confidence
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
    "confidence=None": calibrate(1000, 500, None),
    "confidence=0.9": calibrate(1000, 500, 0.9),
}
print(f"{'':17}{'mean risk':10}{'largest':10}{'over 0.05':12}mean coverage")
for name, (coverage, risk) in found.items():
    print(
        f"{name:17}{risk.mean():<10.4f}{risk.max():<10.4f}"
        f"{np.mean(risk > TARGET):<12.3f}{coverage.mean():.3f}"
    )

# %%
# Without a confidence the risks scatter around the target. With it the whole heap has
# moved to the left, by just so much that few rules are over the line.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
bins = np.linspace(0.01, 0.09, 41)
for name, (_, risk) in found.items():
    ax.hist(risk, bins, alpha=0.6, label=name)
ax.axvline(TARGET, color="0.2", linewidth=1, label="target")
ax.set(title="1000 samples each", xlabel="True risk of the rule", ylabel="Rules of 500")
ax.legend()
plt.show()

# %%
# What it costs
# -------------
#
# The price is coverage, and it falls with the number of samples. With a hundred of them
# next to nothing can be certified at a confidence of 0.9, even though half of all
# samples could be accepted with an error of 2 %.

sizes = {100: 200, 300: 200, 1000: 100, 3000: 60, 10_000: 40, 30_000: 20}
means = {
    confidence: [calibrate(n, k, confidence)[0].mean() for n, k in sizes.items()]
    for confidence in (0.8, 0.9, 0.99)
}
print("samples  " + "".join(f"{size:8}" for size in sizes))
for confidence, row in means.items():
    print(f"{confidence:<9}" + "".join(f"{mean:8.3f}" for mean in row))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.axhline(most, color="0.4", linestyle="--", label="largest possible")
for marker, (confidence, row) in zip("os^", means.items(), strict=True):
    ax.semilogx(list(sizes), row, marker=marker, label=f"confidence={confidence}")
ax.set(xlabel="Calibration samples", ylabel="Mean coverage", ylim=(0, 0.8))
ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# What is not promised
# --------------------
#
# The bound is one on the mean over all accepted samples, drawn as the calibration
# samples were. It holds neither for each class nor for another mix of them.

model = SelectiveClassifier(
    FrozenEstimator(classifier), target_risk=TARGET, confidence=0.9
).fit(*draw(10_000, rng))
certificate = model.rule_.certificate
print(
    f"{certificate.quantity} <= {certificate.target} with confidence "
    f"{certificate.confidence}: {certificate.n_accepted} of {certificate.n_samples} "
    f"samples accepted, p-value {certificate.p_value:.3f}"
)


def error_on_accepted(X, y):
    """Return the share of errors among accepted samples."""
    accepted = model.accept(X)
    return (model.predict_label(X) != y)[accepted].mean()


print(f"as calibrated     {error_on_accepted(X_all, y_all):.3f}")
for label, name in enumerate(("truly negative", "truly positive")):
    X_class, y_class = X_all[y_all == label], y_all[y_all == label]
    print(f"{name:17} {error_on_accepted(X_class, y_class):.3f}")
for share in (0.1, 0.5):
    X_new, y_new = draw(100_000, rng, positives=share)
    print(f"{share:.0%} positives{'':5} {error_on_accepted(X_new, y_new):.3f}")
