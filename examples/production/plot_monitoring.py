"""
============================================
Monitor a selective classifier in production
============================================

A classifier is certified to be wrong on at most 4% of the samples it accepts. Half a
year later the inputs have changed. Labels are expensive in production, so only a few
are checked. When is the change noticed? You will see three monitors: with all labels,
with one label in ten, and with no labels.
"""

# %%
# The rule
# --------
#
# We use handwritten digits. Two thirds of them train the classifier and certify the
# rule. The last third is drawn again and again, 200 digits a day for 180 days. From
# day 90 on the scanner gets a little worse every day: images become fainter and
# noisier.

# sphinx_gallery_thumbnail_path = "_static/drawings/monitor.svg"
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

N_DAYS, CHANGE = 180, 90
X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
known, rest = order[:1200], order[1200:]
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
selective = SelectiveClassifier(
    model, target_risk=0.04, confidence_level=0.95, random_state=0
).fit(X[known], y[known])
rule = selective.rule_

rng = np.random.default_rng(1)
accepted, losses = [], []
for day in range(N_DAYS):
    rows = rng.choice(rest, 200)
    wear = max(0, day - CHANGE) / N_DAYS
    images = (1 - wear) * X[rows] + 4 * wear * rng.normal(size=X[rows].shape)
    images = np.clip(images, 0, 16)
    accepted.append(selective.accept(images))
    wrong = selective.predict_label(images) != y[rows]
    losses.append(wrong[accepted[-1]].astype(float))

# %%
# Three monitors
# --------------
#
# The first monitor gets all labels. The second gets one in ten: each accepted sample is
# checked with a probability of 0.1, and the losses of the others are NaN. The third
# gets no labels, only which samples were accepted. Its target is a little below the
# coverage of the rule, as that was measured on calibration samples.

from sklearn_reject.selection import CoverageMonitor

P = 0.1
audit = [np.where(rng.random(len(loss)) < P, loss, np.nan) for loss in losses]
least = rule.coverage - 0.02


def watch(**options):
    """Return intervals and alarms of three monitors, day by day."""
    options["confidence_level"] = 0.99
    found = {"all labels": [], "one label in ten": [], "no labels": []}
    labeled = rule.monitor(**options)
    audited = rule.monitor(**options, max_weight=1 / P)
    unlabeled = CoverageMonitor(least, alternative="less", **options)
    monitors = labeled, audited, unlabeled
    for day in range(N_DAYS):
        labeled.update(losses[day])
        audited.update(audit[day], inclusion_proba=P)
        unlabeled.update(accepted[day])
        for monitor, history in zip(monitors, found.values(), strict=True):
            history.append((*monitor.interval()[:3], monitor.alarm))
    return {name: np.transpose(history) for name, history in found.items()}


# %%
# The band contains the mean since the start, on all days at the same time, with a
# confidence of 99%. The alarm comes when the band leaves the target.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(3, 1, figsize=(6, 8), sharex=True, layout="constrained")
for ax, (name, history) in zip(axes, watch().items(), strict=True):
    mean, low, high, alarm = history
    ax.plot(mean, label="mean so far")
    ax.fill_between(range(N_DAYS), low, high, alpha=0.2, label="interval")
    target, limits = (least, (0.7, 1)) if name == "no labels" else (0.04, (0, 0.12))
    ax.axhline(target, color="0.2", linestyle="--", label="target")
    ax.axvline(CHANGE, color="0.5", linestyle=":", label="scanner gets worse")
    ax.axvline(alarm.argmax(), color="C3", linestyle=":", label="alarm")
    ax.set(title=name, ylim=limits)
    print(f"{name:17} alarm on day {alarm.argmax()}")
axes[-1].set_xlabel("Day")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Alarms about recent days
# ------------------------
#
# In the first thirty days the worse scanner hardly matters. Then the error rises fast.
# But the mean since the start includes ninety good days. With ``since="any"`` an alarm
# is about the samples since any earlier day, and comes much sooner. The probability of
# a false alarm is still at most 0.01, for all days together.

for name, (*_, alarm) in watch(since="any").items():
    print(f"{name:17} alarm on day {alarm.argmax()}")
