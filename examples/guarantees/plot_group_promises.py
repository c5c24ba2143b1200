"""
==========================
A guarantee for each class
==========================

An error rate of at most 5 % among all accepted samples can hide a class that is wrong
far more often, because easy classes make up for it. How do we keep the target in every
class? With ``group_by="prediction"`` each predicted class gets its own threshold, and
together they keep the target with the given `confidence_level`. Here samples can be
drawn without end, so you will see the true error rate and the coverage of each class.
"""

# %%
# Five classes, one of which has become rare
# ------------------------------------------
#
# The classifier was fitted when all classes were equally frequent. Since then the last
# class has become rare. So its label is wrong more often than the probabilities say.

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_reject import SelectiveClassifier

THEN = [0.2, 0.2, 0.2, 0.2, 0.2]
NOW = [0.35, 0.27, 0.2, 0.12, 0.06]
ANGLES = 2 * np.pi * np.arange(5) / 5
CORNERS = 2.9 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def draw(n_samples, shares, rng):
    """Return samples around the corners of a pentagon."""
    y = rng.choice(5, n_samples, p=shares)
    return CORNERS[y] + rng.normal(size=(n_samples, 2)), y


rng = np.random.default_rng(0)
classifier = FrozenEstimator(LogisticRegression().fit(*draw(2000, THEN, rng)))
X, y = draw(12_000, NOW, rng)
X_all, y_all = draw(400_000, NOW, rng)

# %%
# One threshold, and one for each class
# -------------------------------------
#
# Both are certified with a confidence of 0.9 on the same 12,000 calibration samples.

TARGET = 0.05
options = {"target_risk": TARGET, "confidence_level": 0.9, "random_state": 0}
one = SelectiveClassifier(classifier, **options).fit(X, y)
each = one.retarget(group_by="prediction")


def by_class(selective):
    """Return error and coverage of what is taken for each class, and of all of it."""
    label, _, accepted = selective.predict_all(X_all)
    parts = [label == k for k in range(5)] + [np.ones(len(label), dtype=bool)]
    wrong = label != y_all
    risk = [wrong[part & accepted].mean() for part in parts]
    return np.array(risk), np.array([accepted[part].mean() for part in parts])


found = {"one threshold": by_class(one), "one for each class": by_class(each)}
print(f"{'':20}" + "".join(f"class {k:<4}" for k in range(5)) + "all")
for name, (risk, coverage) in found.items():
    print(f"{name:20}" + "".join(f"{x:<10.3f}" for x in risk))
    print(f"{'  accepted':20}" + "".join(f"{x:<10.3f}" for x in coverage))

# %%
# The single threshold keeps its guarantee, which is about all classes together. But it
# accepts most samples that are labeled as the rare class, and the error rate among
# them is three times the target. With one threshold for each class, the rare class is
# accepted less often, the easiest class more often, and each class is within the
# target.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(2, 1, figsize=(6, 6.5), sharex=True, layout="constrained")
places, names = np.arange(6), [*map(str, range(5)), "all"]
for shift, (name, values) in zip((-0.2, 0.2), found.items(), strict=True):
    for ax, heights in zip(axes, values, strict=True):
        ax.bar(places + shift, heights, width=0.38, label=name)
axes[0].axhline(TARGET, color="0.2", linestyle="--", linewidth=1, label="target")
axes[0].set(ylabel="True error rate, accepted")
axes[1].set(ylabel="Coverage", ylim=(0, 1), xlabel="Predicted class")
axes[1].set_xticks(places, names)
axes[0].legend(loc="upper left")
plt.show()

# %%
# A guarantee for each class needs more samples. Each class is certified on the samples
# that get its label, with a fifth of the allowed probability of a failure.

for label, rule in each.rule_.rules.items():
    certificate = rule.certificate
    print(
        f"class {label}: {certificate.n_samples} samples, confidence "
        f"{certificate.confidence_level:.2f}, risk at most {certificate.target}"
    )
