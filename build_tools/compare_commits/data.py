"""Samples for the calls: made up, or from the folder that SKLEARN_REJECT_DATA names."""

import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

FOLDER = os.environ.get("SKLEARN_REJECT_DATA")
SHARES = {"two": [0.5, 0.5], "minus": [0.5, 0.5], "rare": [0.94, 0.06]}


def draw(kind, rng):
    """Return rows with labels, `new` rows, and arrays of scores and losses."""
    n, n_new = (14, 8) if kind == "few" else (150, 50)
    rows = draw_rows(kind, n + n_new, rng)
    d = SimpleNamespace(**{name: rows[name][:n] for name in rows})
    d.new = SimpleNamespace(**{name: rows[name][n:] for name in rows})
    draw_arrays(d, kind, n, rng)
    for name, value in vars(d).items():
        if kind == "frame" and np.ndim(value) == 1:
            setattr(d, name, pd.Series(value, index=range(5, n + 5)))
        if kind == "list" and isinstance(value, np.ndarray):
            setattr(d, name, value.tolist())
    d.site = "site" if kind == "frame" else 3
    d.weight = rng.integers(0, 4, n) / 2 if kind == "weights" else None
    return d


def draw_rows(kind, n, rng):
    """Return what has a row or a value a sample, and is drawn for new samples, too."""
    shares = SHARES.get(kind, [0.4, 0.3, 0.3])
    y = rng.choice(len(shares), n, p=shares)
    X = rng.normal(size=(n, 4)) + 1.4 * np.eye(3, 4)[y]
    if kind == "real":
        table = read("spambase.csv.gz")
        rows = rng.choice(len(table), n, replace=False)
        X, y = np.sqrt(table.iloc[rows, 48:57].to_numpy()), table["target"][rows]
        y = y.to_numpy()
    if kind == "ties":
        X = np.round(X)
    X[:, 3] = rng.integers(0, 3, n)
    is_ood = rng.random(n) < 0.25
    if kind == "text":
        y = np.array(["ann", "bob", "cyd"])[y]
    if kind == "minus":
        y = 2 * y - 1
    several = (X[:, :3] + rng.normal(size=(n, 3)) > 0.8).astype(int)
    return {
        "X": pd.DataFrame(X, columns=[*"abc", "site"]) if kind == "frame" else X,
        "X_ood": X + is_ood[:, None] * np.where(np.arange(X.shape[1]) < 2, 2, 0),
        "y": y,
        "y_ood": np.where(is_ood, "ood" if kind == "text" else -1, y),
        "number": X[:, 0] + rng.normal(size=n) * (0.2 + abs(X[:, 1])),
        "several": several,
        "expert": np.where(rng.random(n) < 0.1, rng.permutation(y), y),
        "rated": np.where(X.max(axis=1) > 1, several[:, 0], -1),
        "inclusion": np.where(rng.random(n) < 0.5, 0.5, 1),
        "keys": rng.integers(-(2**62), 2**62, n),
    }


def draw_arrays(d, kind, n, rng):
    """Add scores, losses and what else functions of arrays take."""
    model = GaussianNB().fit(d.new.X, d.new.y)
    d.predicted = model.predict(d.X)
    d.score = 1 - model.predict_proba(d.X).max(axis=1) + 1e-3 * rng.random(n)
    d.novelty = rng.random(n) + 0.5 * (d.y_ood != d.y)
    d.loss = (d.predicted != d.y) * (rng.random(n) if kind == "losses" else 1.0)
    if kind in ("ties", "weights", "constant"):
        d.score = np.round(8 * d.score) / 8 * (kind != "constant")
        d.novelty = np.round(4 * d.novelty) / 4
    if kind == "infinite":
        d.novelty[d.novelty > 0.9] = np.inf
    d.other = rng.permutation(d.score)
    d.is_ood = d.y_ood != d.y
    d.group = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    d.draws = rng.random(n)
    d.gain = d.score - 0.1
    d.second = 1.0 * (rng.random(n) < 0.1)
    if kind == "weights":
        d.second[rng.random(n) < 0.3] = np.nan
    d.eta = np.round(rng.random((n, 4)) ** 2, 1 if kind == "ties" else 15)
    d.truth = (rng.random((n, 4)) < d.eta).astype(int)
    d.found = rng.random((n, 2))
    best = d.found.max(axis=1)
    d.judged = np.where(best > 0.5, rng.random(n) < best**6, -1)


@cache
def read(name):
    """Return a real data set."""
    return pd.read_csv(Path(FOLDER) / name)
