"""The three things that sklearn-reject is for, on handwritten digits.

`make demo` runs this script:

1. Abstain with a promise: the error on accepted digits stays below a target.
2. Novel inputs: digits of classes that the classifier was never shown are rejected.
3. A second opinion: a better model is asked about the digits where that helps most.

All numbers are measured on digits that no model was fitted on.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # draws to a file, so that no display is needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
)
from sklearn_reject.metrics import RiskCoverageDisplay

TARGET_RISK = 0.02
NOVEL_DIGITS = (4, 7)
PICTURE = Path("risk_coverage.png")

WHAT_TO_LOOK_AT = """\
sklearn-reject on handwritten digits: two thirds to fit on, one third new.
What to look at:

  1. "target kept": how often the error on new digits is at most the target.
  2. "novel accepted": digits of unknown classes that are taken for known ones.
  3. "error": how far it falls when a better model answers a few of the digits."""

PROMISE = """
   target_risk alone holds on the digits that the threshold was chosen on. On new
   digits the error is above the target in many splits. With confidence_level=0.95 the
   target holds for new digits as well, with a probability of at least 95%."""

NOVELTY = """
   The classifier can be sure of a digit that it was never shown. The double score
   also measures how novel a digit is. No novel digit was needed to tune it."""

OPINION = """
   DeferringClassifier finds the digits where asking helps most. The expert may also
   be a person, and with a confidence_level the error of all answers keeps a target."""


def main(n_splits=20):
    """Show the three parts, and draw the curve of the first one."""
    print(WHAT_TO_LOOK_AT)
    show_promise(n_splits)
    show_novel_inputs()
    show_second_opinion()
    draw_curve()
    print(
        f"\nThe risk-coverage curve of part 1 is in {PICTURE}. The documentation is at"
    )
    print("https://sklearn-reject.readthedocs.io, with an example of each class.")


def split_digits(seed=0):
    """Return two thirds of the digits to fit on, and one third as new digits."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)


def linear_model():
    """Return the classifier of parts 1 and 2."""
    return make_pipeline(StandardScaler(), LogisticRegression())


# 1. Abstain with a promise


def show_promise(n_splits):
    """Print how often each model keeps the target on new digits."""
    print(f"\n1. Abstain with a promise: an error of at most {TARGET_RISK:.0%}\n")
    measured = measure_promise(n_splits)
    print(f"   {'':34}{'accepted':>10}{'error':>9}{'target kept':>18}")
    for name, (coverage, error) in measured.items():
        kept = f"{count_kept(error)} of {n_splits} splits"
        print(f"   {name:34}{coverage.mean():10.0%}{error.mean():9.1%}{kept:>18}")
    print(PROMISE)


def measure_promise(n_splits):
    """Return coverage and error on new digits, in each split, of three models."""
    certified = {"target_risk": TARGET_RISK, "confidence_level": 0.95, "cv": 0.4}
    models = {
        f"target_risk={TARGET_RISK}": {"target_risk": TARGET_RISK},
        f"target_risk={TARGET_RISK}, confidence_level=0.95": certified,
    }
    measured = {name: [] for name in ("plain classifier", *models)}
    for seed in range(n_splits):
        X_fit, X_new, y_fit, y_new = split_digits(seed)
        plain = linear_model().fit(X_fit, y_fit)
        error = np.mean(plain.predict(X_new) != y_new)
        measured["plain classifier"].append((1.0, error))
        for name, options in models.items():
            model = SelectiveClassifier(linear_model(), random_state=0, **options)
            model.fit(X_fit, y_fit)
            measured[name].append(coverage_and_error(model, X_new, y_new))
    return {name: np.transpose(pairs) for name, pairs in measured.items()}


def coverage_and_error(model, X, y):
    """Return the share of accepted samples, and the error on them."""
    accepted = model.accept(X)
    wrong = model.predict_label(X) != y
    return accepted.mean(), wrong[accepted].mean()


def count_kept(errors):
    """Count the splits in which the error is at most the target."""
    return np.sum(errors <= TARGET_RISK)


# 2. Novel inputs


def show_novel_inputs():
    """Print how many known and novel digits each model accepts."""
    print(
        f"\n2. Novel inputs: {' and '.join(map(str, NOVEL_DIGITS))} were never shown\n"
    )
    print(f"   {'':34}{'known accepted':>16}{'novel accepted':>17}")
    for name, (known, novel) in measure_novel_inputs().items():
        print(f"   {name:34}{known:16.0%}{novel:17.0%}")
    print(NOVELTY)


def measure_novel_inputs():
    """Return the shares of known and of novel new digits that two models accept."""
    X_fit, X_new, y_fit, y_new = split_digits()
    known = ~np.isin(y_fit, NOVEL_DIGITS)
    models = {
        "confidence of the classifier": SelectiveClassifier(
            linear_model(), target_coverage=0.9
        ),
        "DoubleScoreOODClassifier": DoubleScoreOODClassifier(
            linear_model(), min_tpr=0.9
        ),
    }
    is_novel = np.isin(y_new, NOVEL_DIGITS)
    shares = {}
    for name, model in models.items():
        accepted = model.fit(X_fit[known], y_fit[known]).accept(X_new)
        shares[name] = accepted[~is_novel].mean(), accepted[is_novel].mean()
    return shares


# 3. A second opinion


def show_second_opinion():
    """Print how much a better model is asked, and the error of whoever answers."""
    print("\n3. A second opinion: a linear model answers, an SVC may be asked\n")
    print(f"   {'':34}{'asked':>10}{'error':>9}")
    for name, (asked, error) in measure_second_opinion().items():
        print(f"   {name:34}{asked:10.0%}{error:9.1%}")
    print(OPINION)


def measure_second_opinion():
    """Return the share asked about and the error of each rule, on new digits."""
    X_fit, X_new, y_fit, y_new = split_digits()
    simple = make_pipeline(PCA(10, random_state=0), LogisticRegression(max_iter=1000))
    model = DeferringClassifier(simple, SVC(), max_deferral=0.1, random_state=0)
    model.fit(X_fit, y_fit)
    measured = {
        "linear model alone": (0.0, np.mean(model.predict_first(X_new) != y_new))
    }
    for share in (0.05, 0.1, 0.2):
        rule = model.retarget(max_deferral=share)
        error = np.mean(rule.predict(X_new) != y_new)
        measured[f"max_deferral={share}"] = rule.defer(X_new).mean(), error
    measured["SVC alone"] = 1.0, np.mean(model.expert_.predict(X_new) != y_new)
    return measured


def draw_curve():
    """Draw the error on new digits against the share that is accepted."""
    X_fit, X_new, y_fit, y_new = split_digits()
    model = SelectiveClassifier(linear_model(), target_risk=TARGET_RISK, random_state=0)
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    RiskCoverageDisplay.from_estimator(
        model.fit(X_fit, y_fit), X_new, y_new, ax=ax, plot_oracle=True, plot_random=True
    )
    ax.set_title("Handwritten digits")
    figure.savefig(PICTURE, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    # The matrices are small: several threads would only wait for each other.
    with threadpool_limits(1):
        main()
