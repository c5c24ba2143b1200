"""
===================================
Learn where a classifier goes wrong
===================================

A classifier that is too simple for its task is wrong in whole regions, and is sure of
itself there. Its probabilities do not show this, but its errors do. A second model can
learn from them. You will see a map of both uncertainties, what a learned score gains,
and how many samples it needs.
"""

# %%
# A straight line between two moons
# ---------------------------------
#
# Logistic regression separates the two classes by a straight line, although the classes
# are curved. A plug-in score computes the uncertainty from its probabilities. A learned
# score is fitted to its errors on further labeled samples, here a thousand.

# sphinx_gallery_thumbnail_path = "_static/drawings/map.svg"
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

from sklearn_reject.scores import SELE, ConditionalRisk, ErrorProbability


def draw(n_samples, seed):
    """Return samples of the two moons."""
    return make_moons(n_samples, noise=0.25, random_state=seed)


X_train, y_train = draw(500, seed=0)
X_more, y_more = draw(1000, seed=2)
X_test, y_test = draw(5000, seed=1)
classifier = LogisticRegression().fit(X_train, y_train)
y_pred = classifier.predict(X_test)

quartic = PolynomialFeatures(4, include_bias=False)
scores = {
    "conditional risk": ConditionalRisk(),
    "error probability": ErrorProbability(random_state=0),
    "SELE of polynomials": SELE(features=quartic, alphas=(1e-5, 1e-3), random_state=0),
}
for score in scores.values():
    score.fit(X_more, y_more, estimator=classifier)

# %%
# The classifier's own probability of an error depends only on the distance to its line.
# But the errors (dots) are at the inner end of each moon, which reaches far across the
# line. The learned score has found them.

import matplotlib.pyplot as plt
import numpy as np

x_grid, y_grid = np.meshgrid(np.linspace(-1.7, 2.7, 221), np.linspace(-1.3, 1.8, 156))
grid = np.column_stack([x_grid.ravel(), y_grid.ravel()])
side = classifier.decision_function(grid).reshape(x_grid.shape)
wrong = X_test[:1000][y_pred[:1000] != y_test[:1000]]

fig, axes = plt.subplots(2, 1, figsize=(6, 7), sharex=True, layout="constrained")
titles = {
    "The classifier's own score": scores["conditional risk"],
    "The learned score": scores["error probability"],
}
for ax, (title, score) in zip(axes, titles.items(), strict=True):
    uncertainty = score.uncertainty(grid).reshape(x_grid.shape)
    image = ax.pcolormesh(x_grid, y_grid, uncertainty, cmap="YlGnBu", vmin=0, vmax=1)
    ax.contour(x_grid, y_grid, side, levels=[0], colors="0.2", linestyles="--")
    ax.scatter(*wrong.T, s=9, color="C1", edgecolor="white", linewidth=0.3)
    ax.set(title=title, aspect="equal", ylabel="Feature 2")
axes[1].set_xlabel("Feature 1")
fig.colorbar(image, ax=axes, shrink=0.8, label="Estimated probability of an error")
plt.show()

# %%
# What does it gain?
# ------------------
#
# When one sample in five is rejected, the error rate on the others is about 7% with the
# classifier's own score, and about 3% with a learned one.
# :class:`~sklearn_reject.scores.SELE` is linear, so it gets polynomials. If you have no
# such features, use the scores that are based on trees.

from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for name, score in scores.items():
    RiskCoverageDisplay.from_predictions(
        y_test, y_pred, score.uncertainty(X_test), name=name, ax=ax
    )
ax.set_ylim(0, 0.2)
plt.show()

# %%
# How many samples are needed?
# ----------------------------
#
# The number of errors among the samples counts. A hundred samples contain about
# fourteen, from which trees learn almost nothing. From a few dozen on, learning pays.

sizes = [100, 300, 1000, 3000]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, score in scores.items():
    means = []
    for size in sizes:
        samples = [draw(size, seed) for seed in (10, 11, 12)]
        fitted = (score.fit(*sample, estimator=classifier) for sample in samples)
        found = [aurc_score(y_test, y_pred, s.uncertainty(X_test)) for s in fitted]
        means.append(np.mean(found))
    ax.semilogx(sizes, means, "o-", label=name)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="Samples to learn the score from", ylabel="AuRC, mean of three draws")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# :class:`~sklearn_reject.SelectiveClassifier` needs no further samples: with
# ``uncertainty_score="error_probability"`` it learns the score by cross-validation.
