"""Scorers of rated documents against the same scorers without the others."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer, precision_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.metrics import make_rated_scorer

rng = np.random.default_rng(0)
truth = (rng.random(300) < 0.3).astype(int)
scores = rng.normal(size=(300, 2)) + truth[:, np.newaxis]
is_rated = (scores >= 0).any(axis=1)
tuner = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")


def hide(missing, dtype=object):
    y = truth.astype(dtype)
    y[~is_rated] = missing
    return y


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", ["precision", "f1", "balanced_accuracy", "roc_auc"])
@pytest.mark.parametrize(
    ("y", "label"),
    [
        (hide(-1, int), -1),
        (hide(np.nan, float), None),
        (hide(None), -1),
        (hide("?"), "?"),
        (np.ma.masked_array(truth, mask=~is_rated), -1),
        (hide(-1, int)[:, np.newaxis].tolist(), -1),
    ],
    ids=["integer", "nan", "none", "text", "masked", "column"],
)
def test_unrated_documents_are_left_out(name, y, label):
    model = LogisticRegression().fit(scores, truth)
    scorer = make_rated_scorer(name, unrated_label=label)
    expected = get_scorer(name)(model, scores[is_rated], truth[is_rated])
    assert scorer(model, scores, y) == pytest.approx(expected)


def test_labels_that_are_text_and_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(scores, columns=["a", "b"])
    names = np.where(truth == 1, "yes", "no")
    y = pd.Series(names).where(is_rated, None)
    model = LogisticRegression().fit(frame, names)
    scorer = make_rated_scorer(make_scorer(f1_score, pos_label="yes"))
    predicted = model.predict(frame)
    expected = f1_score(names[is_rated], predicted[is_rated], pos_label="yes")
    assert scorer(model, frame, y) == expected
    assert "f1_score" in repr(scorer)


def test_weights_are_those_of_rated_documents():
    weight = rng.random(300)
    model = LogisticRegression().fit(scores, truth)
    scorer = make_rated_scorer(make_scorer(precision_score))
    expected = precision_score(
        truth[is_rated],
        model.predict(scores[is_rated]),
        sample_weight=weight[is_rated],
    )
    y = hide(-1, int)
    assert scorer(model, scores, y, sample_weight=weight) == pytest.approx(expected)


def test_in_cross_validation_and_searches():
    y = hide(-1, int)
    folds = list(StratifiedKFold(3).split(scores, y))
    values = cross_val_score(
        tuner, scores, y, scoring=make_rated_scorer("precision"), cv=folds
    )
    for value, (train, test) in zip(values, folds, strict=True):
        tuned = tuner.fit(scores[train], y[train])
        found = test[(tuned.predict(scores[test]) == 1) & is_rated[test]]
        assert value == pytest.approx(truth[found].mean())
    search = GridSearchCV(
        tuner,
        {"max_fp_per_tp": [3, 1.5]},
        scoring={"f1": make_rated_scorer("f1"), "p": make_rated_scorer("precision")},
        refit="f1",
        cv=3,
    ).fit(scores, y)
    results = search.cv_results_
    assert np.isfinite(results["mean_test_p"]).all()
    assert results["mean_test_p"][1] > results["mean_test_p"][0]


def test_weights_are_routed_where_they_are_requested():
    y, weight = hide(-1, int), rng.random(300)
    with config_context(enable_metadata_routing=True):
        scorer = make_rated_scorer(
            get_scorer("precision").set_score_request(sample_weight=True)
        ).set_score_request(sample_weight=True)
        model = EnsembleThresholdTuner(None, max_fp_per_tp=2, cv="prefit")
        model.set_fit_request(sample_weight=False)
        values = cross_val_score(
            model, scores, y, scoring=scorer, cv=3, params={"sample_weight": weight}
        )
        plain = cross_val_score(
            model, scores, y, scoring=make_rated_scorer("precision"), cv=3, params={}
        )
    assert np.isfinite(values).all()
    assert values.tolist() != plain.tolist()


def test_no_ratings_and_no_scorer():
    model = LogisticRegression().fit(scores, truth)
    with pytest.raises(ValueError, match="no rated documents: all 300 are missing"):
        make_rated_scorer("f1")(model, scores, np.full(300, -1))
    with pytest.raises(ValueError, match="scoring"):
        make_rated_scorer("no such scorer")
    for several in (None, ["f1", "precision"], {"f1": "f1"}):
        with pytest.raises(ValueError, match="scoring must be the name of one"):
            make_rated_scorer(several)
