"""One split of one set: fit the classifier once, then every score on top of it."""

from time import perf_counter

import numpy as np

from benchmarks.papers._classifiers import fit_tuned
from benchmarks.papers._datasets import load
from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._methods import MAKERS, NON_LINEAR, Context
from benchmarks.papers._splits import Split, split_rows
from sklearn_reject.losses import check_loss
from sklearn_reject.metrics import aurc_score


def measure(table, name, seed, methods):
    """Return what one split says about some methods of a table.

    Returns
    -------
    record : dict
        `risk` of the classifier and `share` of the paper's samples; for each method in
        `aurc` the test area, in `seconds` the time to fit it and, for the non-linear
        scores, in `validation` the area on the part for validation.
    """
    experiment = EXPERIMENTS[table]
    data = load(name)
    rows = split_rows(name, len(data.y), seed)
    parts = Split(*((data.X[part], data.y[part]) for part in rows))
    loss = check_loss(experiment.loss)
    classifier = fit_tuned(experiment.classifier, loss, parts.trn1, parts.val1)
    X, y = parts.tst
    record = {"risk": loss(y, classifier.predict(X)).mean(), "share": data.share}
    record |= {"aurc": {}, "seconds": {}, "validation": {}}
    for method in methods:
        _add(record, method, experiment, classifier, parts, seed)
    return record


def _add(record, method, experiment, classifier, parts, seed):
    name = experiment.methods[method]
    start = perf_counter()
    score = _fit_score(name, experiment.loss, classifier, parts, seed)
    record["seconds"][method] = perf_counter() - start
    record["aurc"][method] = _area(score, classifier, experiment.loss, *parts.tst)
    if name in NON_LINEAR:
        area = _area(score, classifier, experiment.loss, *parts.val2)
        record["validation"][method] = area


def _fit_score(name, loss, classifier, parts, seed):
    """Fit a score; a linear one divides the samples for training and choice itself."""
    X, y = parts.trn2
    X_validation, y_validation = parts.val2
    if name not in NON_LINEAR:
        X, y = np.vstack([X, X_validation]), np.concatenate([y, y_validation])
    score = MAKERS[name](Context(loss, len(y_validation) / len(y), seed))
    return score.fit(X, y, estimator=classifier)


def _area(score, classifier, loss, X, y):
    uncertainty = score.uncertainty(X)
    return aurc_score(y, classifier.predict(X), uncertainty, loss=loss)
