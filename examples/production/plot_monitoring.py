"""
======================================
Watching a rule while the world drifts
======================================

A classifier is certified to be wrong in at most 4 % of what it accepts. Half a year
later the samples are not what they were. Labels are expensive in use, so that few of
them are looked up. Who notices, and when?
"""

# %%
# The rule
# --------
#
# Handwritten digits: a third trains the classifier, a third certifies the rule, and
# from the last third comes, drawn again and again, what is seen day by day.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
known, rest = order[:1200], order[1200:]
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
selective = SelectiveClassifier(
    model, target_risk=0.04, confidence=0.95, cv=0.5, random_state=0
).fit(X[known], y[known])
rule = selective.rule_
print(f"coverage {rule.coverage:.3f}, certified risk {rule.certificate.target}")

# %%
# Half a year
# -----------
#
# 200 digits come in a day, for 180 days. From day 90 on the scanner gets worse, a bit
# each day: images become fainter, and there is noise in them.

N_DAYS, A_DAY, CHANGE = 180, 200, 90


def draw_day(day, rng):
    """Return the samples of a day, and their labels."""
    rows = rng.choice(rest, A_DAY)
    wear = max(0, day - CHANGE) / N_DAYS
    images = (1 - wear) * X[rows] + 4 * wear * rng.normal(size=X[rows].shape)
    return np.clip(images, 0, 16), y[rows]


rng = np.random.default_rng(1)
accepted, losses = [], []
for day in range(N_DAYS):
    images, labels = draw_day(day, rng)
    accepted.append(selective.accept(images))
    wrong = selective.predict_label(images) != labels
    losses.append(wrong[accepted[-1]].astype(float))

# %%
# Three monitors
# --------------
#
# The first gets all labels, as somebody might who has them anyway. The second gets one
# in ten, those of an audit: each accepted sample is looked up with a probability of
# 0.1, by a draw of its own, and the others are NaN. The third gets no labels, but who
# was accepted.

from sklearn_reject.selection import CoverageMonitor

P = 0.1
audit = []
for of_day in losses:
    is_known = rng.random(len(of_day)) < P
    seen = np.where(is_known, of_day, np.nan)
    audit.append({"losses": seen, "inclusion_proba": P})

n_known = sum(np.count_nonzero(~np.isnan(day["losses"])) for day in audit)
print(f"labels: {sum(map(len, losses))} or, in the audit, {n_known}")

monitors = {
    "all labels": rule.monitor(confidence=0.99),
    "one label in ten": rule.monitor(confidence=0.99, min_inclusion_proba=P),
    "no labels": CoverageMonitor(rule.coverage - 0.02, alternative="less"),
}

# %%
# The coverage of the rule is that of its calibration set, and the true one may be a bit
# smaller. So the third monitor watches for a coverage that is more than .02 smaller.
#
# Each band holds the mean so far, every day, with the confidence of its monitor.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import MonitorDisplay


def watch(monitors):
    """Draw what each monitor says day by day, and print the day of its alarm."""
    axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")[1]
    for ax, (name, monitor) in zip(axes, monitors.items(), strict=True):
        display = MonitorDisplay.from_updates(
            monitor, updates[name], times=range(N_DAYS), ax=ax
        )
        ax.axvline(CHANGE, color="0.8", zorder=0)
        is_risk = display.quantity == "risk"
        ax.set(title=name, xlabel="Day", ylim=(0, 0.12) if is_risk else (0.7, 1))
        first = np.argmax(display.alarms) if any(display.alarms) else None
        print(f"{name:17} alarm on day {first}")


updates = {"all labels": losses, "one label in ten": audit, "no labels": accepted}
watch(monitors)
plt.show()

# %%
# What the risk was
# -----------------
#
# The first thirty days of wear hardly hurt, and the rule did not break its promise.
# Then the risk rises fast. But the alarms are about the mean since the start, in which
# ninety good days weigh a lot: all labels take twenty days longer than they have to.

for start in range(60, N_DAYS, 20):
    days = slice(start, start + 20)
    print(f"days {start} to {start + 19}: {np.concatenate(losses[days]).mean():.3f}")

# %%
# Since any day
# -------------
#
# With ``since="any"`` the alarm is about the samples since any one update, so that bad
# days do not have to outweigh what was good before. It still is false with a
# probability of at most 0.01, for all days together.

since = {"since": "any"}
monitors = {
    "all labels": rule.monitor(confidence=0.99, **since),
    "one label in ten": rule.monitor(confidence=0.99, min_inclusion_proba=P, **since),
    "no labels": CoverageMonitor(rule.coverage - 0.02, alternative="less", **since),
}
watch(monitors)
plt.show()

# %%
# The band is about the mean since the start as before, and so may still be on the good
# side of the target when the alarm comes.

# %%
# Monitors of several machines, or of single days, can be merged, and are as small after
# years as at the start:

import json

north, south = rule.monitor(), rule.monitor()
for of_day in losses[:60]:
    north.update(of_day[::2])
    south.update(of_day[1::2])
both = north.merge(south)
print(both)
print(len(json.dumps(both.to_dict())), "bytes")
