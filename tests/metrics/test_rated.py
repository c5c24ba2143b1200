"""Scorers of rated documents are those scorers without the others."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer, precision_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.metrics import make_rated_scorer


def draw_documents():
    """Return scores of two detectors, the truth, and what either of them reached."""
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.3).astype(int)
    scores = rng.normal(size=(300, 2)) + truth[:, np.newaxis]
    return scores, truth, (scores >= 0).any(axis=1)


X, TRUTH, IS_RATED = draw_documents()
PARTLY = np.where(IS_RATED, TRUTH, -1)
MODEL = LogisticRegression().fit(X, TRUTH)
RATED = X[IS_RATED], TRUTH[IS_RATED]
TUNER = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")


def hide(missing, dtype=object):
    y = TRUTH.astype(dtype)
    y[~IS_RATED] = missing
    return y


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", ["precision", "f1", "balanced_accuracy", "roc_auc"])
@pytest.mark.parametrize(
    ("y", "label"),
    [
        (PARTLY, -1),
        (hide(np.nan, float), None),
        (hide(None), -1),
        (hide("?"), "?"),
        (np.ma.masked_array(TRUTH, mask=~IS_RATED), -1),
        (PARTLY[:, np.newaxis].tolist(), -1),
    ],
    ids=["integer", "nan", "none", "text", "masked", "column"],
)
def test_unrated_documents_are_left_out(name, y, label):
    scorer = make_rated_scorer(name, unrated_label=label)
    assert scorer(MODEL, X, y) == pytest.approx(get_scorer(name)(MODEL, *RATED))


def test_labels_of_text_and_frames():
    frame, names = pd.DataFrame(X), np.where(TRUTH == 1, "yes", "no")
    model = LogisticRegression().fit(frame, names)
    inner = make_scorer(f1_score, pos_label="yes")
    scorer = make_rated_scorer(inner)
    expected = inner(model, frame[IS_RATED], names[IS_RATED])
    assert scorer(model, frame, pd.Series(names).where(IS_RATED, None)) == expected
    assert "f1_score" in repr(scorer)


def test_weights_are_those_of_rated_documents():
    weight = np.random.default_rng(1).random(300)
    scorer = make_rated_scorer(make_scorer(precision_score))
    predicted = MODEL.predict(RATED[0])
    expected = precision_score(RATED[1], predicted, sample_weight=weight[IS_RATED])
    assert scorer(MODEL, X, PARTLY, sample_weight=weight) == pytest.approx(expected)
    with config_context(enable_metadata_routing=True):
        inner = get_scorer("precision").set_score_request(sample_weight=True)
        scorer = make_rated_scorer(inner).set_score_request(sample_weight=True)
        model = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")
        model.set_fit_request(sample_weight=False)
        folds = [(np.arange(300), np.arange(300))]
        options = {"cv": folds, "params": {"sample_weight": weight}}
        (value,) = cross_val_score(model, X, PARTLY, scoring=scorer, **options)
    fitted = model.fit(X, PARTLY)
    assert value == make_rated_scorer("precision")(fitted, X, PARTLY, weight)


def test_in_cross_validation_and_searches():
    folds = list(StratifiedKFold(3).split(X, PARTLY))
    values = cross_val_score(
        TUNER, X, PARTLY, scoring=make_rated_scorer("precision"), cv=folds
    )
    for value, (train, test) in zip(values, folds, strict=True):
        tuned = TUNER.fit(X[train], PARTLY[train])
        found = test[(tuned.predict(X[test]) == 1) & IS_RATED[test]]
        assert value == pytest.approx(TRUTH[found].mean())
    search = GridSearchCV(
        TUNER,
        {"max_fp_per_tp": [3, 1]},
        scoring={"f1": make_rated_scorer("f1"), "p": make_rated_scorer("precision")},
        refit="f1",
        cv=3,
    ).fit(X, PARTLY)
    precision = search.cv_results_["mean_test_p"]
    assert precision[1] > precision[0]


def test_no_ratings_and_no_scorer():
    with pytest.raises(ValueError, match="no rated documents: all 300 are missing"):
        make_rated_scorer("f1")(MODEL, X, np.full(300, -1))
    with pytest.raises(ValueError, match="scoring"):
        make_rated_scorer("no such scorer")
    for several in (None, ["f1", "precision"], {"f1": "f1"}):
        with pytest.raises(ValueError, match="scoring must be the name of one"):
            make_rated_scorer(several)
