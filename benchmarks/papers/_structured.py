"""Figure 4 of FPV23 on other data: scores of a predictor of points in the plane.

The paper predicts 68 landmarks of a face; its images (300-W) are not available. Here
the second half of a pen stroke, four points, is predicted from the first (pendigit).

The predictor is an ensemble of trees as in the paper, its loss the mean distance of the
points. The baseline says how typical the input is, as the score of the face detector
does in the paper: it is the distance to the closest inputs that the trees were fitted
to. The learned scores are linear in the input, the prediction, and products of two of
their numbers.
"""

import json
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    StandardScaler,
)

from benchmarks.papers._datasets import load
from benchmarks.papers._splits import split_rows
from benchmarks.papers._summary import spread
from sklearn_reject import _curves as curves
from sklearn_reject import scores

_SET = "pendigit"
_N_GIVEN = 8  # coordinates, of 16
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of the samples for the scores
METHODS = ("SELE", "REG", "distance to inputs")
_COVERAGES = np.linspace(0.02, 1, 50)


def mean_distance(y_true, y_pred):
    """Return the mean Euclidean distance of the points, shape (n_samples,)."""
    differences = np.reshape(y_true - y_pred, (len(y_true), -1, 2))
    return np.linalg.norm(differences, axis=2).mean(axis=1)


def measure_structured(folder, n_splits, n_jobs):
    """Return a record for each split, from files as far as they are there."""
    folder = folder / "structured"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{seed}.json" for seed in range(n_splits)]
    Parallel(n_jobs=n_jobs)(
        delayed(_write)(path, seed)
        for seed, path in enumerate(paths)
        if not path.exists()
    )
    return [json.loads(path.read_text()) for path in paths]


def _write(path, seed):
    path.write_text(json.dumps(_measure(seed), indent=1))


def _measure(seed):
    """Return losses, areas by share of the samples, and curves, of one split."""
    X = load(_SET).X
    X, Y = X[:, :_N_GIVEN], X[:, _N_GIVEN:]
    rows = split_rows(_SET, len(X), seed)
    trees = ExtraTreesRegressor(50, min_samples_leaf=2, random_state=seed)
    trees.fit(X[rows.trn1], Y[rows.trn1])
    losses = mean_distance(Y[rows.tst], trees.predict(X[rows.tst]))
    second = np.concatenate([rows.trn2, rows.val2])
    record = {"risk": losses.mean(), "oracle": curves.aurc_score(losses, losses)}
    record |= {"aurc": {method: [] for method in METHODS}, "curves": {}}
    for share in SHARES:
        part = second[: round(share * len(second))]
        for method, uncertainty in _scores(trees, X, Y, rows, part, seed):
            area = curves.aurc_score(uncertainty, losses)
            record["aurc"][method].append(area)
            record["curves"][method] = _curve(uncertainty, losses)
    return record


def _scores(trees, X, Y, rows, part, seed):
    """Yield each method and its uncertainty on the test part."""
    for method in ("SELE", "REG"):
        score = _MAKERS[method](_features(trees), seed)
        score.fit(X[part], Y[part], estimator=trees)
        yield method, score.uncertainty(X[rows.tst])
    neighbors = NearestNeighbors(n_neighbors=10).fit(X[rows.trn1])
    distances, _ = neighbors.kneighbors(X[rows.tst])
    yield "distance to inputs", distances.mean(axis=1)


_MAKERS = {
    "SELE": lambda features, seed: scores.SELE(
        features=features, loss=mean_distance, random_state=seed
    ),
    "REG": lambda features, seed: scores.LossRegression(
        make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 11))),
        features,
        loss=mean_distance,
    ),
}


def _features(regressor):
    return make_pipeline(
        FunctionTransformer(partial(_with_prediction, regressor)),
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
    )


def _with_prediction(regressor, X):
    return np.hstack([X, regressor.predict(X)])


def _curve(uncertainty, losses):
    coverage, risk, _ = curves.risk_coverage_curve(uncertainty, losses)
    return np.interp(_COVERAGES, coverage, risk).tolist()


def print_structured(records):
    """Print the areas and what stands in for the paper's data."""
    print("\nFigure 4: structured output. The paper's faces (300-W) are not available;")
    print("instead: the second half of a pen stroke from its first half (pendigit).")
    print(f"test AuRC, mean distance of 4 points, {len(records)} splits\n")
    for method in METHODS:
        mean, deviation = spread([record["aurc"][method][-1] for record in records])
        print(f"  {method:<20}{mean:>8.2f} ± {deviation:.2f}")
    for name, key in (("none rejected", "risk"), ("oracle", "oracle")):
        mean, deviation = spread([record[key] for record in records])
        print(f"  {name:<20}{mean:>8.2f} ± {deviation:.2f}")


def draw_structured(records, path):
    """Draw curves (a) and areas against the number of samples (b)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for method in METHODS:
        risks = [record["curves"][method] for record in records]
        left.plot(_COVERAGES, np.mean(risks, axis=0), label=method)
        areas = np.array([record["aurc"][method] for record in records])
        deviations = areas.std(axis=0, ddof=min(1, len(records) - 1))
        right.errorbar(SHARES, areas.mean(axis=0), deviations, capsize=2, label=method)
    left.set(xlabel="coverage", ylabel="mean distance of accepted")
    right.set(xlabel="share of the samples for the score", ylabel="test AuRC")
    right.set_xscale("log")
    left.legend()
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")
