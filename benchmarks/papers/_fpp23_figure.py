"""Figure 1 of FPP23: what methods A to D attain on the synthetic example.

matplotlib is imported where a figure is made, as the tables do without it.
"""

from benchmarks.papers import _fpp23_population as population
from benchmarks.papers._fpp23_synthetic import N_SAMPLES, NAMES, draw
from sklearn_reject import _curves as curves

_SEED = 0
_STYLES = {
    "A": {"color": "C0"},
    "B": {"color": "C1"},
    "C": {"color": "C2"},
    # Wide and pale: it lies behind those that it is as good as.
    "D": {"color": "0.75", "linewidth": 5, "zorder": 1},
}


def draw_figure(path, n_samples=N_SAMPLES):
    """Draw risk against coverage, ROC and precision against recall into a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    panels = figure.subplots(1, 3)
    samples = draw(_SEED, n_samples)
    for method in sorted(samples, reverse=True):
        _draw_method(panels, samples[method], label=NAMES[method], **_STYLES[method])
    _mark_bounds(panels)
    _style(panels)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


def _draw_method(panels, sample, **style):
    """Draw three frontiers; between two points they are steps."""
    scores, _, is_ood = sample
    risk_coverage, roc, precision_recall = panels
    tpr, risk = curves.risk_coverage_frontier(*sample, max_fpr=population.MAX_FPR)
    risk_coverage.step(tpr, risk, where="pre", **style)
    risk_coverage.plot(tpr[-1], risk[-1], "o", color=style["color"], zorder=3)
    fpr, tpr = curves.roc_frontier(scores, is_ood)
    roc.step([0, *fpr, 1], [0, *tpr, tpr[-1]], where="post", **style)
    precision, recall = curves.precision_recall_frontier(
        scores, is_ood, ood_prior=population.OOD_PRIOR
    )
    precision_recall.step(
        [0, *recall], [precision[0], *precision], where="pre", **style
    )


def _mark_bounds(panels):
    """Mark the bounds of table 1 with crosses and lines."""
    risk_coverage, roc, precision_recall = panels
    risk_coverage.axvline(population.MIN_TPR, color="k", linestyle=":", linewidth=1)
    roc.plot(population.MAX_FPR, population.MIN_TPR, "kx", zorder=4)
    bounds = population.MIN_RECALL, population.MIN_PRECISION
    precision_recall.plot(*bounds, "kx", zorder=4)


def _style(panels):
    risk_coverage, roc, precision_recall = panels
    risk_coverage.set(
        title=f"risk and coverage at FPR {population.MAX_FPR:g}",
        xlabel="TPR (coverage of ID samples)",
        ylabel="selective risk",
        xlim=(0, 1),
        ylim=(0, None),
    )
    roc.set(title="ROC, bounds x", xlabel="FPR", ylabel="TPR", xlim=(0, 1), ylim=(0, 1))
    precision_recall.set(
        title="precision and recall, bounds x",
        xlabel="recall (TPR)",
        ylabel="precision",
        xlim=(0, 1),
    )
    risk_coverage.legend(reverse=True)
