"""scikit-fallback: a share to be rejected, and the area of its quality curve."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._data import make_sample
from benchmarks._peers import load_scikit_fallback
from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians, seconds
from benchmarks.comparison import Measured, split_digits
from sklearn_reject import SelectiveClassifier, metrics

PACKAGE = "scikit-fallback"

_N_SPLITS = 20
_CLASSIFIERS = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "5 nearest neighbors, tied scores": KNeighborsClassifier(5),
}


def measure():
    """Yield the lines of the table."""
    for name, classifier in _CLASSIFIERS.items():
        yield _coverage(name, classifier)
    yield _threshold()
    yield _time()


def _threshold():
    """Count the digits that both reject, at a probability of at least 0.6."""
    from skfb.estimators import ThresholdFallbackClassifier

    X, X_test, y, _ = split_digits(seed=0)
    classifier = _CLASSIFIERS["logistic regression"]
    contenders = (
        ThresholdFallbackClassifier(classifier, threshold=0.6, fallback_mode="return"),
        SelectiveClassifier(classifier, reject_cost=0.4, cv="plug_in"),
    )
    theirs, ours = (each.fit(X, y).predict(X_test) == -1 for each in contenders)
    what = "digits rejected at a probability below 0.6"
    same = "the same" if (theirs == ours).all() else "others"
    return Measured(what, f"{theirs.sum()}", f"{ours.sum()}, {same}")


def _coverage(name, classifier):
    found = np.array([_coverages(classifier, seed) for seed in range(_N_SPLITS)])
    theirs, ours = (
        f"{values.mean():.3f}, {values.std():.3f} between splits" for values in found.T
    )
    return Measured(f"coverage for 0.8 asked, digits held out, {name}", theirs, ours)


def _coverages(classifier, seed):
    """Return the coverages of held-out digits, theirs and ours."""
    from skfb.estimators import RateFallbackClassifierCV

    X, X_test, y, _ = split_digits(seed)
    theirs = RateFallbackClassifierCV(
        classifier, fallback_rate=0.2, cv=5, fallback_mode="return"
    )
    ours = SelectiveClassifier(classifier, target_coverage=0.8, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            np.mean(each.fit(X, y).predict(X_test) != -1) for each in (theirs, ours)
        ]


def _time():
    """Take the time once there, where it grows with the square of the samples."""
    sample = make_sample("uniform", n_samples=2000)
    positive = np.where(sample.y_pred == 1, 1 - sample.scores / 2, sample.scores / 2)
    probabilities = np.column_stack([1 - positive, positive])
    area, labels = load_scikit_fallback(), (sample.y_true, sample.y_pred, sample.scores)
    theirs = seconds(lambda: area(sample.y_true, probabilities))
    ours = interleaved_medians({"ours": lambda: metrics.aurc_score(*labels)}, 5)
    what = "time of the area, 2,000 samples"
    return Measured(what, show_time(theirs), show_time(ours["ours"]))
