"""
============================================
Monitor a selective classifier in production
============================================

A classifier is certified to be wrong on at most 4 % of the samples it accepts. Half a
year later the inputs have changed. Labels are expensive in production, so only a few
are checked. When is the change noticed? You will see three monitors, with all labels,
with one label in ten and with no labels, and the day on which each raises an alarm.
"""

# %%
# The rule
# --------
#
# We use handwritten digits. A third of them trains the classifier and a third certifies
# the rule. The last third is drawn again and again, as the inputs of each day.

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
    model, target_risk=0.04, confidence_level=0.95, random_state=0
).fit(X[known], y[known])
rule = selective.rule_
print(f"coverage {rule.coverage:.3f}, certified risk {rule.certificate.target}")

# %%
# Half a year
# -----------
#
# 200 digits arrive each day, for 180 days. From day 90 on the scanner gets a little
# worse every day: images become fainter and noisier.

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
# The first monitor gets all labels. The second gets one in ten: each accepted sample is
# checked with a probability of 0.1, and the losses of the others are NaN. The third
# gets no labels, only which samples were accepted.

from sklearn_reject.selection import CoverageMonitor

P = 0.1
audit = []
for of_day in losses:
    is_known = rng.random(len(of_day)) < P
    seen = np.where(is_known, of_day, np.nan)
    audit.append(seen)

n_known = sum(np.count_nonzero(~np.isnan(of_day)) for of_day in audit)
print(f"labels: {sum(map(len, losses))} or, in the audit, {n_known}")

monitors = {
    "all labels": rule.monitor(confidence_level=0.99),
    "one label in ten": rule.monitor(confidence_level=0.99, min_inclusion_proba=P),
    "no labels": CoverageMonitor(rule.coverage - 0.02, alternative="less"),
}

# %%
# The coverage of the rule was measured on its calibration samples, and the true
# coverage can be a little smaller. So the third monitor raises an alarm if the coverage
# is more than 0.02 smaller.
#
# The band contains the mean so far, on all days at the same time, with the confidence
# of its monitor.

import matplotlib.pyplot as plt


def watch(monitors):
    """Draw what each monitor says day by day, and print the day of its alarm."""
    fig, axes = plt.subplots(3, 1, figsize=(6, 8), sharex=True, layout="constrained")
    for ax, (name, monitor) in zip(axes, monitors.items(), strict=True):
        intervals, alarms = [], []
        for update in updates[name]:
            # A monitor keeps no history, so what it says is kept day by day.
            monitor.update(update, **options.get(name, {}))
            intervals.append(monitor.interval())
            alarms.append(monitor.alarm)
        mean, low, high, _ = np.transpose(intervals)
        ax.plot(mean, label="mean so far")
        ax.fill_between(range(N_DAYS), low, high, alpha=0.2, label="interval")
        ax.axhline(targets[name], color="0.2", linestyle="--", label="target")
        ax.set(title=name, ylim=(0.7, 1) if name == "no labels" else (0, 0.12))
        ax.axvline(CHANGE, color="0.5", linestyle=":", label="scanner gets worse")
        if any(alarms):
            ax.axvline(np.argmax(alarms), color="C3", linestyle=":", label="alarm")
        print(f"{name:17} alarm on day {np.argmax(alarms) if any(alarms) else None}")
    axes[-1].set_xlabel("Day")
    entries = axes[0].get_legend_handles_labels()
    fig.legend(*entries, loc="outside lower center", ncols=3)


updates = {"all labels": losses, "one label in ten": audit, "no labels": accepted}
options = {"one label in ten": {"inclusion_proba": P}}
targets = dict.fromkeys(updates, rule.certificate.target)
targets["no labels"] = rule.coverage - 0.02
watch(monitors)
plt.show()

# %%
# What was the true risk?
# -----------------------
#
# In the first thirty days the worse scanner hardly matters, and the target is still
# met. Then the risk rises fast. But these alarms are about the mean since the start,
# which includes ninety good days. So the monitor with all labels raises its alarm
# twenty days later than necessary.

for start in range(60, N_DAYS, 20):
    days = slice(start, start + 20)
    print(f"days {start} to {start + 19}: {np.concatenate(losses[days]).mean():.3f}")

# %%
# Alarms about recent days
# ------------------------
#
# With ``since="any"`` the alarm is about the samples since any earlier day. Good days
# in the past cannot hide bad days. The probability of a false alarm is still at most
# 0.01, for all days together.

since = {"since": "any"}
monitors = {
    "all labels": rule.monitor(confidence_level=0.99, **since),
    "one label in ten": rule.monitor(
        confidence_level=0.99, min_inclusion_proba=P, **since
    ),
    "no labels": CoverageMonitor(rule.coverage - 0.02, alternative="less", **since),
}
watch(monitors)
plt.show()

# %%
# The band still shows the mean since the start. So it can be on the good side of the
# target when the alarm comes.

# %%
# Merging monitors
# ----------------
#
# Monitors of several machines or days can be merged. Their size does not grow with the
# number of samples:

import json

north, south = rule.monitor(), rule.monitor()
for of_day in losses[:60]:
    north.update(of_day[::2])
    south.update(of_day[1::2])
both = north.merge(south)
print(both)
print(len(json.dumps(both.to_dict())), "bytes")
