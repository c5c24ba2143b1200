"""Functions of the user: called as documented, and refused otherwise by what is."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import aurc_score

X, Y = load_iris(return_X_y=True)
WITH_OOD = np.where(Y == 2, -1, Y)


def nothing():
    return 0


def of_three(a, b, c):
    return np.zeros(len(a))


@pytest.mark.parametrize("function", [nothing, of_three, lambda *, X: X, len])
@pytest.mark.parametrize(
    ("estimator", "parameter", "wanted"),
    [
        (SelectiveClassifier(GaussianNB()), "loss", "y_true, y_pred"),
        (SelectiveClassifier(GaussianNB()), "uncertainty_score", "estimator, X"),
        (SelectiveClassifier(GaussianNB()), "group_by", "X"),
        (
            SelectiveRegressor(LinearRegression(), reject_cost=1),
            "loss",
            "y_true, y_pred",
        ),
        (DeferringClassifier(GaussianNB()), "expert", "X"),
        (DeferringClassifier(GaussianNB(), GaussianNB()), "gain_score", "estimator, X"),
        (DeferringClassifier(GaussianNB(), GaussianNB()), "group_by", "X"),
        (
            DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.5),
            "novelty_score",
            "estimator, X",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_another_number_of_arguments_is_refused(estimator, parameter, wanted, function):
    if function is len and wanted == "X":
        return  # which is called like that
    y = WITH_OOD if parameter == "novelty_score" else Y
    match = rf"{parameter}.* callable \({wanted}\)"
    with pytest.raises(ValueError, match=match):
        estimator.set_params(**{parameter: function}).fit(X, y)


def test_names_of_arguments_do_not_matter():
    def loss(y_pred, y_true):  # not what they are
        return 1.0 * (y_true > y_pred)

    expected = aurc_score([0, 1], [1, 0], [0.1, 0.2], loss=lambda a, b: 1.0 * (a < b))
    assert aurc_score([0, 1], [1, 0], [0.1, 0.2], loss=loss) == expected
