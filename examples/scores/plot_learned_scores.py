"""
===================================
Learn where a classifier goes wrong
===================================

A classifier that is too simple for its task is wrong in whole regions, and is sure of
itself there. Its probabilities do not reveal this, but its errors do. Can a second
model learn where the errors are? You will see a map of both uncertainties, a comparison
of seven scores, and how many labeled samples are needed.
"""

# %%
# A straight line between two moons
# ---------------------------------
#
# Logistic regression separates the two classes by a straight line, although the classes
# are curved.

from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression


def draw(n_samples, seed):
    """Return samples of the two moons."""
    return make_moons(n_samples, noise=0.25, random_state=seed)


X_train, y_train = draw(500, seed=0)
X_test, y_test = draw(5000, seed=1)
classifier = LogisticRegression().fit(X_train, y_train)
y_pred = classifier.predict(X_test)
print(f"error on {len(y_test)} new samples: {(y_pred != y_test).mean():.3f}")

# %%
# Two kinds of scores
# -------------------
#
# A plug-in score computes the uncertainty from the classifier's probabilities. A
# learned score is fitted to the classifier's errors on further labeled samples, here a
# thousand. Both are used in the same way.

from sklearn_reject.scores import ConditionalRisk, ErrorProbability

X_more, y_more = draw(1000, seed=2)
own = ConditionalRisk().fit(estimator=classifier)
learned = ErrorProbability(random_state=0).fit(X_more, y_more, estimator=classifier)

# %%
# The classifier's own probability of an error depends only on the distance to its line.
# But the errors (dots) are concentrated at the inner end of each moon, which reaches
# far across the line. The learned score has found these regions.

import matplotlib.pyplot as plt
import numpy as np

x_grid, y_grid = np.meshgrid(np.linspace(-1.7, 2.7, 221), np.linspace(-1.3, 1.8, 156))
grid = np.column_stack([x_grid.ravel(), y_grid.ravel()])
wrong = X_test[:1000][y_pred[:1000] != y_test[:1000]]

fig, axes = plt.subplots(2, 1, figsize=(6, 7), sharex=True, layout="constrained")
titles = {"The classifier's own score": own, "The learned score": learned}
for ax, (title, score) in zip(axes, titles.items(), strict=True):
    uncertainty = score.uncertainty(grid).reshape(x_grid.shape)
    image = ax.pcolormesh(x_grid, y_grid, uncertainty, cmap="YlGnBu", vmin=0, vmax=1)
    ax.contour(
        x_grid,
        y_grid,
        classifier.decision_function(grid).reshape(x_grid.shape),
        levels=[0],
        colors="0.2",
        linestyles="--",
    )
    ax.scatter(*wrong.T, s=9, color="C1", edgecolor="white", linewidth=0.3)
    ax.set(title=title, aspect="equal", ylabel="Feature 2")
axes[1].set_xlabel("Feature 1")
fig.colorbar(image, ax=axes, shrink=0.8, label="Estimated probability of an error")
plt.show()

# %%
# All scores
# ----------
#
# The linear score of :class:`~sklearn_reject.scores.SELE` sees only what the classifier
# sees, and gains nothing. With nonlinear features, here polynomials of degree four, it
# is among the best. If you have no such features, use the scores that are based on
# trees.

from time import perf_counter

from sklearn.preprocessing import PolynomialFeatures

from sklearn_reject.metrics import aurc_score
from sklearn_reject.scores import SELE

quartic = PolynomialFeatures(4, include_bias=False)
scores = {
    "conditional risk": ConditionalRisk(),
    "SELE": SELE(random_state=0),
    "SELE of polynomials": SELE(features=quartic, alphas=(1e-5, 1e-3), random_state=0),
    "error probability": ErrorProbability(random_state=0),
}
uncertainties, areas = {}, {}
print(f"{'':24}AuRC     PRR   seconds")
for name, score in scores.items():
    start = perf_counter()
    uncertainty = score.fit(X_more, y_more, estimator=classifier).uncertainty(X_test)
    seconds = perf_counter() - start
    uncertainties[name] = uncertainty
    areas[name] = aurc_score(y_test, y_pred, uncertainty)
    prr = aurc_score(y_test, y_pred, uncertainty, normalize="prr")
    print(f"{name:24}{areas[name]:.4f}  {prr:.3f}  {seconds:.1f}")

# %%
# The risk-coverage curves show the same. When one sample in five is rejected, the error
# rate on the others is about 7 % with the classifier's own score, and about 3 % with a
# learned one.

from sklearn_reject.metrics import RiskCoverageDisplay

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
shown = "conditional risk", "error probability", "SELE of polynomials"
for name in shown:
    last = name == shown[-1]
    RiskCoverageDisplay.from_predictions(
        y_test,
        y_pred,
        uncertainties[name],
        name=name,
        ax=ax,
        plot_oracle=last,
        plot_random=last,
    )
ax.set(title="One classifier, three scores", ylim=(0, 0.22))
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# How many samples are needed?
# ----------------------------
#
# The number of errors among the samples counts. A hundred samples contain about
# fourteen errors. This is too few for trees, which are then worse than the classifier's
# own score. From a few dozen errors on, learning pays. The figure shows means and
# standard deviations over three draws.

sizes = [100, 300, 1000, 3000]
choices = ("error probability", "SELE of polynomials")
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.axhline(areas["conditional risk"], color="0.4", label="conditional risk")
for marker, name in zip("os", choices, strict=True):
    curve = []
    for n_samples in sizes:
        samples = [draw(n_samples, seed) for seed in (10, 11, 12)]
        fitted = (scores[name].fit(X, y, estimator=classifier) for X, y in samples)
        found = [aurc_score(y_test, y_pred, s.uncertainty(X_test)) for s in fitted]
        curve.append((np.mean(found), np.std(found)))
    mean, deviation = np.transpose(curve)
    ax.errorbar(sizes, mean, deviation, marker=marker, capsize=3, label=name)
ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="Samples to learn the score from", ylabel="AuRC on new samples")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# In a selective classifier
# -------------------------
#
# :class:`~sklearn_reject.SelectiveClassifier` needs no further samples. It learns the
# score by cross-validation on the training data, and chooses the threshold with scores
# of samples that the score has not seen.

from sklearn_reject import SelectiveClassifier

X_all, y_all = np.vstack([X_train, X_more]), np.append(y_train, y_more)
for name in ("conditional_risk", "error_probability"):
    model = SelectiveClassifier(
        LogisticRegression(), target_coverage=0.8, uncertainty_score=name
    ).fit(X_all, y_all)
    accepted = model.accept(X_test)
    errors = model.predict_label(X_test) != y_test
    print(
        f"{name:18} coverage {accepted.mean():.3f}, "
        f"error on accepted {errors[accepted].mean():.3f}"
    )
