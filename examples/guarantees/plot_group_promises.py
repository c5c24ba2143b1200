"""
==========================
A guarantee for each class
==========================

At most 5% errors among all accepted samples can hide a class that is wrong far more
often. With ``group_by="prediction"`` each predicted class gets its own threshold, and
all of them keep the target together. Here samples can be drawn without end, so you will
see the true error rate of each class.
"""

# %%
# One of five classes has become rare
# -----------------------------------
#
# The classifier was fitted when all classes were equally frequent. Since then the last
# class has become rare. So its label is wrong more often than the probabilities say.

# sphinx_gallery_thumbnail_path = "_static/drawings/groups.svg"
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
# A threshold for each class
# --------------------------
#
# It is certified on 12,000 calibration samples. For comparison, one threshold for all
# classes is certified on the same samples.

TARGET = 0.05
options = {"target_risk": TARGET, "confidence_level": 0.9, "random_state": 0}
one = SelectiveClassifier(classifier, **options).fit(X, y)
each = one.retarget(group_by="prediction")


def by_class(selective):
    """Return error and coverage of each predicted class, and of all samples."""
    label, _, accepted = selective.predict_all(X_all)
    parts = [label == k for k in range(5)] + [np.ones(len(label), dtype=bool)]
    wrong = label != y_all
    risk = [wrong[part & accepted].mean() for part in parts]
    return np.array(risk), np.array([accepted[part].mean() for part in parts])


found = {"one for each class": by_class(each), "one threshold": by_class(one)}
print(f"{'':20}" + "".join(f"class {k:<4}" for k in range(5)) + "all")
for name, (risk, coverage) in found.items():
    print(f"{name:20}" + "".join(f"{x:<10.3f}" for x in risk))
    print(f"{'  accepted':20}" + "".join(f"{x:<10.3f}" for x in coverage))

# %%
# With a threshold for each class, all classes are below the target. The rare class is
# accepted less often, the easiest one more often. The single threshold keeps its
# promise, which is about all samples together. But among the samples that it labels as
# the rare class, the error rate is three times the target.

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
# A promise for each class needs more samples: each class is certified on those that get
# its label.

for label, rule in each.rule_.rules.items():
    certificate = rule.certificate
    print(f"class {label}: {certificate.n_samples} calibration samples")
