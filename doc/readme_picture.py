"""Draw the risk-coverage curve of README into ``doc/_static/risk_coverage.png``.

Run it as ``python doc/readme_picture.py`` when the look of the displays changes.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import RiskCoverageDisplay

TARGET = 0.02
PICTURE = Path(__file__).parent / "_static" / "risk_coverage.png"


def fit_selective():
    """Return the classifier of README, which may abstain, and samples held out."""
    X_train, X_test, y_train, y_test = train_test_split(
        *load_digits(return_X_y=True), test_size=0.2, random_state=0
    )
    model = make_pipeline(StandardScaler(), LogisticRegression())
    selective = SelectiveClassifier(
        model, target_risk=TARGET, confidence_level=0.95, random_state=0
    )
    return selective.fit(X_train, y_train), X_test, y_test


def draw(selective, X_test, y_test, ax):
    """Draw the curve, the target and the threshold that was chosen for it."""
    y_pred, uncertainty, accepted = selective.predict_all(X_test)
    display = RiskCoverageDisplay.from_predictions(
        y_test, y_pred, uncertainty, ax=ax, plot_random=True
    )
    display.line_.set_linewidth(2.5)
    ax.get_legend().remove()
    wrong = y_pred[accepted] != y_test[accepted]
    point = accepted.mean(), wrong.mean()
    ax.axhline(TARGET, color="C2", linewidth=1.5, linestyle="--")
    ax.plot(*point, "o", color="C3", markersize=9, zorder=3)
    ax.text(0.02, 0.0428, "reject at random", color="0.35")
    ax.text(0.02, TARGET + 0.001, "target: at most 2% errors", color="C2")
    ax.annotate(
        f"chosen threshold:\n{point[0]:.0%} accepted,\n{point[1]:.1%} of them wrong",
        point,
        (0.3, 0.026),
        color="C3",
        arrowprops={"arrowstyle": "->", "color": "C3", "relpos": (0.8, 0)},
    )
    ax.set(
        title="Reject the most uncertain digits",
        xlabel="Coverage (share of digits accepted)",
        ylabel="Risk (error rate on accepted)",
        ylim=(-0.002, 0.05),
    )


def main():
    """Draw the picture and save it."""
    plt.rcParams.update({"font.size": 13, "axes.titlesize": 14})
    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    draw(*fit_selective(), ax)
    PICTURE.parent.mkdir(exist_ok=True)
    fig.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
