"""
=====================
From logs to a rule
=====================

A model has answered for a while, and its confidence in each answer was logged. Some
time later we know which answers were right. From these two arrays, and nothing else, we
get a threshold on the confidence with a promise: at most 5% of the answers that we
accept are wrong. Here the model is naive Bayes, which is often too sure of itself.
"""

# %%
# The log
# -------
#
# The model reads handwritten digits. It was trained on 400 of them, and has answered
# the other 1,397. The older half of the log makes the rule.

# sphinx_gallery_thumbnail_path = "_static/drawings/log.svg"
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

X_train, X, y_train, y = train_test_split(
    *load_digits(return_X_y=True), train_size=400, random_state=0
)
model = make_pipeline(PCA(15, random_state=0), GaussianNB()).fit(X_train, y_train)
confidence = model.predict_proba(X).max(axis=1)
correct = model.predict(X) == y
old, new = slice(0, 700), slice(700, None)
print(f"confidence {confidence.mean():.2f}, right {correct.mean():.2f}")

# %%
# The rule
# --------
#
# We say by name which way the arrays point. `confidence_level` asks for a promise that
# holds for new answers: with 700 samples, the error rate on the log is well below 5%.

from sklearn_reject import calibrate

rule = calibrate(
    confidence=confidence[old],
    correct=correct[old],
    target_risk=0.05,
    confidence_level=0.9,
)
print(rule)
print(rule.report(confidence=confidence[new], correct=correct[new]))

# %%
# The error at every threshold
# ----------------------------
#
# The band is an interval of the curve on new answers. The rule is a dot on it, below
# the dashed line of its target.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

wrong = 1 - correct[new]
accepted = rule.accept(confidence=confidence[new])
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
RiskCoverageDisplay.from_predictions(
    None, None, -confidence[new], loss=wrong, confidence_level=0.9, ax=ax
)
ax.axhline(0.05, color="0.3", linestyle="--", label="target")
ax.plot(accepted.mean(), wrong[accepted].mean(), "o", color="C3", label="rule")
ax.set(xlabel="Share of answers accepted", ylabel="Error rate of these")
ax.legend()
plt.show()
