"""
====================================================
Tune a threshold on data that do not fit into memory
====================================================

The scores and losses of five million predictions are in a file that is too large for
memory. How do we draw the risk-coverage curve and choose a threshold? A summary of less
than one megabyte is enough for both: for the curve with a band that is certain to
contain it. You will also see how to update a summary day by day.
"""

# %%
# Five million predictions
# ------------------------
#
# The file is written in parts, like a log. Each row has an uncertainty score, and
# whether the prediction was wrong. The file is also read in parts, never as a whole.

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
# One pass over the data
# ----------------------
#
# The summary counts the rows in small cells of the score. Summaries can be added, so
# the parts can be counted anywhere and merged.

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
# The points of the curve between cells are exact. Inside a cell the curve stays in the
# band. With the default of 22 bits the band would be too narrow to see, so the figure
# shows bands for 14 and 16 bits.

import matplotlib.pyplot as plt

coverages = np.linspace(0.01, 1, 400)
figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
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
axes.set(xlabel="Coverage", ylabel="Selective risk", xlim=(0, 1), ylim=(0, None))
axes.legend(loc="upper left")
plt.show()

# %%
# The threshold
# -------------
#
# The threshold lies between two cells, and the coverage and risk that the rule reports
# are exact. With a `confidence_level` the rule is certified, without random draws: the
# borders of cells do not depend on the data.

at_once = summary.solve_target_risk(0.02)
certified = summary.solve_target_risk(0.02, confidence_level=0.95)
for name, rule in (("at once", at_once), ("certified", certified)):
    print(f"{name:10}", f"{rule.threshold:.6f}", f"{rule.coverage:.6f}")

# %%
# Day by day
# ----------
#
# A summary can be stored next to a deployed model. It takes the outcomes of each day,
# can be written to JSON, and chooses the threshold again whenever needed.

import json

text = json.dumps(summary.to_dict())
today = RiskCoverageSummary.from_dict(json.loads(text))
uncertainty = rng.beta(0.6, 3.0, 10_000)
today.update(uncertainty, rng.random(10_000) < 0.6 * uncertainty**1.5)
print(today, f"coverage {today.solve_target_risk(0.02).coverage:.4f}")
folder.cleanup()
