"""Three promises on two data sets: what `make demo` shows.

A classifier that may abstain is given one of three things: what a rejection costs, how
large the error on accepted samples may be, or how many samples to accept. This script
fits one classifier of each kind, compares what it promises with what it does on samples
that it has never seen, compares several scores of uncertainty, and draws the
risk-coverage curves.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # draws to a file, so that no display is needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    aurc_score,
    selective_cost_score,
)
from sklearn_reject.scores import resolve_score

REJECT_COST = 0.1
PICTURE = Path("risk_coverage.png")

# Data, classifier, target risk (about a third of the classifier's error), coverage.
PROBLEMS = {
    "digits": (
        load_digits,
        make_pipeline(StandardScaler(), LogisticRegression()),
        0.01,
        0.9,
    ),
    "breast cancer": (load_breast_cancer, LinearDiscriminantAnalysis(), 0.02, 0.8),
}


def main():
    """Run the demo on each data set and draw the curves."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for (name, problem), ax in zip(PROBLEMS.items(), axes, strict=True):
        load, classifier, risk, coverage = problem
        X, y = load(return_X_y=True)
        data = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        X_train, X_test, y_train, y_test = data
        print(
            f"\n{name}: {classifier_name(classifier)}, {len(y_train)} samples to fit "
            f"and {len(y_test)} held out\n"
        )
        show_targets(classifier, risk, coverage, *data)
        classifier.fit(X_train, y_train)
        scores = score_uncertainty(classifier, X_train, X_test)
        show_areas(classifier, scores, X_test, y_test)
        draw(ax, name, classifier, scores, X_test, y_test)
    figure.savefig(PICTURE, dpi=100)
    print(f"\nThe risk-coverage curves are in {PICTURE}")


def show_targets(classifier, risk, coverage, X_train, X_test, y_train, y_test):
    """Print what each target promises and what it achieves."""
    row = "{:<21}{:>17}  |{:>9}{:>7}  |{:>15}{:>15}{:>8}".format
    print(f"{'':<38}  |{'out of fold':^16}  |{'held out':^38}".rstrip())
    print(row("model", "promised", "coverage", "risk", "coverage", "risk", "cost*"))

    wrong = classifier.fit(X_train, y_train).predict(X_test) != y_test
    measured = "1.000", share(wrong), f"{wrong.mean():.3f}"
    print(row("plain classifier", "-", "-", "-", *measured))

    for target, value, promise in [
        ("reject_cost", REJECT_COST, "least cost"),
        ("target_risk", risk, f"risk <= {risk:.3f}"),
        ("target_coverage", coverage, f"coverage >= {coverage:.2f}"),
    ]:
        model = SelectiveClassifier(classifier, **{target: value}, cv=5, random_state=0)
        model.fit(X_train, y_train)
        # What the rule does on the predictions out of fold that it was solved on.
        achieved = f"{model.rule_.coverage:.3f}", f"{model.rule_.selective_risk:.3f}"
        y_pred, _, accepted = model.predict_all(X_test)
        measured = held_out(y_test, y_pred, accepted)
        print(row(f"{target}={value}", promise, *achieved, *measured))

    print(
        f"\n* mean cost of a sample: 1 if accepted and wrong, {REJECT_COST} if rejected"
        "\n± is one standard error. Promises hold in expectation on the calibration"
        "\nset; numbers on held-out samples scatter around them."
    )


def held_out(y_true, y_pred, accepted):
    """Format coverage, risk and cost on samples that were held out."""
    cost = selective_cost_score(y_true, y_pred, accepted, reject_cost=REJECT_COST)
    wrong = (y_pred != y_true)[accepted]
    return share(accepted), share(wrong), f"{cost:.3f}"


def share(events):
    """Format the share of True with its standard error."""
    # Laplace's estimate: no error seen among n samples does not mean that none exist.
    likely = (np.sum(events) + 1) / (len(events) + 2)
    error = np.sqrt(likely * (1 - likely) / len(events))
    return f"{np.mean(events):.3f} ± {error:.3f}"


def score_uncertainty(classifier, X_train, X):
    """Return the uncertainty of each prediction by several scores."""
    scores = {
        "conditional_risk": "conditional_risk",
        "entropy": "entropy",
        "margin": "margin",
        "top_two_gap": "top_two_gap",
        "neighbor distance": distance_to(X_train),  # any callable(classifier, X)
    }
    return {
        name: resolve_score(score, classifier).fit(estimator=classifier).uncertainty(X)
        for name, score in scores.items()
    }


def distance_to(X_train):
    """Return a score of our own: the mean distance to the five nearest neighbours."""
    scaler = StandardScaler().fit(X_train)
    neighbors = NearestNeighbors(n_neighbors=5).fit(scaler.transform(X_train))

    def distance(estimator, X):
        return neighbors.kneighbors(scaler.transform(X))[0].mean(axis=1)

    return distance


def show_areas(classifier, scores, X_test, y_test):
    """Print the area under the risk-coverage curve of each score."""
    y_pred = classifier.predict(X_test)
    losses = (y_pred != y_test).astype(float)
    areas = {name: aurc_score(y_test, y_pred, s) for name, s in scores.items()}
    print("\nAuRC on held-out samples (lower is better)\n")
    print(f"  {'oracle':<22}{aurc_score(y_test, y_pred, losses):.5f}")
    for name, area in sorted(areas.items(), key=lambda item: item[1]):
        print(f"  {name:<22}{area:.5f}")
    print(f"  {'random':<22}{losses.mean():.5f}")


def draw(ax, title, classifier, scores, X_test, y_test):
    """Draw the curves of two scores with the oracle and a random score."""
    y_pred = classifier.predict(X_test)
    for name in ("neighbor distance", "conditional_risk"):
        last = name == "conditional_risk"
        RiskCoverageDisplay.from_predictions(
            y_test,
            y_pred,
            scores[name],
            name=name,
            ax=ax,
            plot_oracle=last,
            plot_random=last,
        )
    ax.set_title(title)


def classifier_name(classifier):
    """Return the class name of the classifier, the last step of a pipeline."""
    last = classifier[-1] if hasattr(classifier, "steps") else classifier
    return type(last).__name__


if __name__ == "__main__":
    main()
