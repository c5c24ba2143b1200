"""
==================================
Curves and rules of a file on disk
==================================

Scores and losses of five million decisions lie in a file that need not fit into memory.
A summary of less than a megabyte gives the curve, with a band that is certain to
contain it, and the rule; a second look at a few thousand rows makes the rule exact.
"""

# %%
# Five million decisions
# ----------------------
#
# They are written in parts, as a log would be: an uncertainty, and whether the
# prediction was wrong. The file is read part by part, too, and never as a whole.

import tempfile
from pathlib import Path

import numpy as np

N_PARTS, A_PART = 20, 250_000
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "decisions.npy"
rng = np.random.default_rng(0)
log = np.lib.format.open_memmap(path, "w+", np.float64, (N_PARTS * A_PART, 2))
for number in range(N_PARTS):
    uncertainty = rng.beta(0.6, 3.0, A_PART)
    is_wrong = rng.random(A_PART) < 0.6 * uncertainty**1.5
    rows = slice(number * A_PART, (number + 1) * A_PART)
    log[rows, 0], log[rows, 1] = uncertainty, is_wrong
del log


def read():
    """Yield scores and losses, one part at a time."""
    stored = np.load(path, mmap_mode="r")
    for number in range(N_PARTS):
        part = stored[number * A_PART : (number + 1) * A_PART]
        yield np.ascontiguousarray(part[:, 0]), np.ascontiguousarray(part[:, 1])


print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# One pass
# --------
#
# Each part is counted in cells of its scores. Summaries add up, so that parts may be
# counted wherever they are, and merged.

from sklearn_reject.selection import RiskCoverageSummary

summary = RiskCoverageSummary()
for scores, losses in read():
    summary.update(scores, losses)
area = summary.aurc()
print(summary, f"{summary.nbytes / 1e6:.2f} MB")
print(f"AuRC {area.value:.6f}, certain to be in [{area.low:.6f}, {area.high:.6f}]")

# %%
# The curve
# ---------
#
# Between cells its points are exact; inside of a cell it stays in the band. With
# 22 bits nobody could see that band, so the picture has cells of 14 and of 16 bits.

import matplotlib.pyplot as plt

coverages = np.linspace(0.01, 1, 400)
figure, axes = plt.subplots(figsize=(6.5, 4.2))
for n_bits, color in ((14, "C0"), (16, "C1")):
    coarse = RiskCoverageSummary(n_bits)
    for scores, losses in read():
        coarse.update(scores, losses)
    low, high = coarse.risk_coverage_band(coverages)
    label = f"{n_bits} bits: {coarse.n_cells} cells, {coarse.nbytes / 1e3:.0f} kB"
    axes.fill_between(coverages, low, high, color=color, alpha=0.5, lw=0, label=label)
coverage, risk, _ = summary.risk_coverage_curve(max_points=300)
label = f"22 bits: {summary.n_cells} cells, {summary.nbytes / 1e3:.0f} kB"
axes.plot(coverage, risk, "k", lw=1, label=label)
axes.set(xlabel="coverage", ylabel="selective risk", xlim=(0, 1), ylim=(0, None))
axes.legend(loc="upper left")
figure.tight_layout()

# %%
# The rule
# --------
#
# At once, the threshold is between two cells, and what the rule says of itself is
# exact. From a second reading comes the rule that all samples at once would have: the
# summary knows in which cells it can end, and asks for the rows of these.

from sklearn_reject.selection import rows_in_ranges

n_read = []


def read_again(ranges):
    """Yield the rows of each part whose score is in one of the ranges."""
    for scores, losses in read():
        rows = rows_in_ranges(scores, losses, None, ranges)
        n_read.append(len(rows[0]))
        yield rows


at_once = summary.solve_target_risk(0.02)
exact = summary.solve_target_risk(0.02, parts=read_again)
certified = summary.solve_target_risk(0.02, confidence=0.95)
for name, rule in (("at once", at_once), ("exact", exact), ("certified", certified)):
    print(f"{name:10}", f"{rule.threshold:.6f}", f"{rule.coverage:.6f}")
print(f"{sum(n_read)} of {summary.n_samples} rows were read again")

# %%
# Day by day
# ----------
#
# A summary next to a deployed model takes each day's outcomes, goes through JSON, and
# solves the rule again, as often as one likes.

import json

text = json.dumps(summary.to_dict())
today = RiskCoverageSummary.from_dict(json.loads(text))
uncertainty = rng.beta(0.6, 3.0, 10_000)
today.update(uncertainty, rng.random(10_000) < 0.6 * uncertainty**1.5)
print(today, f"coverage {today.solve_target_risk(0.02).coverage:.4f}")
folder.cleanup()
