"""Labels of several sources in one array lose nothing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from sklearn_reject import DeferringClassifier

HUGE = 2**53 + 1


class Saying(ClassifierMixin, BaseEstimator):
    """Predicts a label for each row, which is told by its number."""

    def __init__(self, labels):
        self.labels = np.array(labels)
        self.classes_ = np.unique(labels)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.labels[X[:, 0].astype(int)]

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.parametrize(
    ("labels", "found", "dtype"),
    [
        ([0, 1, 2], 5, int),
        ([0, 1, 2], 5.0, int),
        ([0.0, 1.0, 2.0], HUGE, object),
        ([False, True, False], True, bool),
        ([False, True, False], -1, int),
        (["a", "b", "a"], "long", "<U4"),
        (["a", "b", "a"], 3, object),
        ([0, 1, 2], "unsure", object),
    ],
)
@pytest.mark.parametrize("as_objects", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_merged_labels_are_exact(labels, found, dtype, as_objects):
    def expert(X):
        said = [found if number == 1 else labels[0] for number in X[:, 0]]
        return np.array(said, dtype=object) if as_objects else np.array(said)

    X = np.arange(3.0)[:, np.newaxis]
    model = DeferringClassifier(
        FrozenEstimator(Saying(labels)),
        expert,
        gain_score=lambda estimator, X: X[:, 0] == 1,
        deferral_cost=0,
    ).fit(X, [labels[0], labels[0], labels[2]], expert_labels=[labels[0]] * 3)
    assert model.defer(X).tolist() == [False, True, False]
    merged = model.predict(X)
    assert merged.tolist() == [labels[0], found, labels[2]]
    assert merged.dtype == np.dtype(dtype)
