"""
=====================================================
How much to abstain: by cost, error rate or coverage?
=====================================================

You can say what a rejection costs, how many errors you tolerate, or how many samples
have to get a label. All three choose a point on the same risk-coverage curve. At the
end you see when such a target holds on new data.
"""

# %%
# Three targets
# -------------
#
# - ``reject_cost=0.05``: a rejection costs a twentieth of an error.
# - ``target_risk=0.03``: at most 3% of the accepted samples may be wrong.
# - ``target_coverage=0.75``: at least three of four samples have to be accepted.
#
# The last two shall hold on new data with a probability of 95%.

# sphinx_gallery_thumbnail_path = "_static/drawings/targets.svg"
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

X, y = load_digits(return_X_y=True)


def fit_and_measure(seed=1, **options):
    """Return coverage and error rate on new samples; the model, and these samples."""
    X_old, X_new, y_old, y_new = train_test_split(
        X, y, test_size=1 / 3, random_state=seed
    )
    fitted = make_pipeline(StandardScaler(), LogisticRegression())
    fitted.fit(X_old[::2], y_old[::2])
    model = SelectiveClassifier(FrozenEstimator(fitted), random_state=seed, **options)
    accepted = model.fit(X_old[1::2], y_old[1::2]).accept(X_new)
    wrong = model.predict_label(X_new) != y_new
    return (accepted.mean(), wrong[accepted].mean()), (model, X_new, y_new)


points = {}
for name, options in {
    "reject_cost=0.05": {"reject_cost": 0.05},
    "target_risk=0.03": {"target_risk": 0.03, "confidence_level": 0.95},
    "target_coverage=0.75": {"target_coverage": 0.75, "confidence_level": 0.95},
}.items():
    points[name], (model, X_new, y_new) = fit_and_measure(**options)
    print("{:21} coverage {:.3f}, error {:.3f}".format(name, *points[name]))

# %%
# Each dot is on the right side of its dotted line.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_reject.metrics import RiskCoverageDisplay

curve = RiskCoverageDisplay.from_estimator(model.estimator_, X_new, y_new, name="new")
for color, (name, point) in zip(("C1", "C2", "C3"), points.items(), strict=True):
    curve.ax_.plot(*point, "o", color=color, label=name)
curve.ax_.axhline(0.03, color="C2", linestyle=":")
curve.ax_.axvline(0.75, color="C3", linestyle=":")
curve.ax_.set_xlim(0.5, 1.005)
curve.ax_.legend(loc="upper left")
plt.show()

# %%
# When does a target hold on new data?
# ------------------------------------
#
# Without a `confidence_level`, the target is just met on the samples that choose the
# threshold, and missed on new samples about half of the time. Each dot is one of sixty
# splits. New samples have noise of their own, so a few rules that hold seem not to.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for level, color in ((None, "C1"), (0.95, "C2")):
    options = {"target_risk": 0.03, "confidence_level": level}
    found = np.array([fit_and_measure(seed, **options)[0] for seed in range(60)])
    ax.scatter(*found.T, color=color, alpha=0.6, label=f"confidence_level={level}")
    print(f"{level}: {np.mean(found[:, 1] > 0.03):.0%} above the target")
ax.axhline(0.03, color="0.2", linestyle="--", label="target")
ax.set(xlabel="Coverage", ylabel="Error rate of accepted samples", ylim=(0, None))
ax.legend(loc="upper left")
plt.show()
