"""Rejecting at a cost: the probabilities as they are, or a threshold solved on data."""

import warnings
from collections import namedtuple
from functools import partial

import numpy as np
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks._real_sets import available_sets, load_set, missing_sets
from benchmarks._report import Row, at_most
from sklearn_reject.selection import RejectionRule, solve_reject_cost

TITLE = "mean cost of an optional rejection above that of the best threshold"


def _scaled(classifier):
    return make_pipeline(StandardScaler(), classifier)


def _forest(seed):
    return RandomForestClassifier(30, random_state=seed)


_FAST = {
    "naive Bayes": lambda seed: GaussianNB(),
    "logistic regression": lambda seed: _scaled(LogisticRegression(max_iter=300)),
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    "5 neighbors": lambda seed: _scaled(KNeighborsClassifier(5)),
    "naive Bayes, sigmoid": lambda seed: CalibratedClassifierCV(GaussianNB()),
    "naive Bayes, isotonic": lambda seed: CalibratedClassifierCV(
        GaussianNB(), method="isotonic"
    ),
}
_SLOW = {
    "forest": _forest,
    "perceptron": lambda seed: _scaled(
        MLPClassifier((30,), max_iter=100, random_state=seed)
    ),
    "boosting": lambda seed: HistGradientBoostingClassifier(
        max_iter=50, random_state=seed
    ),
    "forest, sigmoid": lambda seed: CalibratedClassifierCV(_forest(seed)),
    "forest, isotonic": lambda seed: CalibratedClassifierCV(
        _forest(seed), method="isotonic"
    ),
}
_CALIBRATED = ("sigmoid", "isotonic")

# How many seeds for each number of training samples.
_SEEDS = {
    False: (
        (_FAST, {30: 3, 100: 3, 300: 3, 1000: 3, 10_000: 1}),
        (_SLOW, {30: 1, 100: 1, 300: 1}),
    ),
    True: (
        (_FAST, {30: 5, 100: 5, 300: 5, 1000: 5, 10_000: 5}),
        (_SLOW, {30: 5, 100: 5, 300: 5, 1000: 5, 10_000: 1}),
    ),
}
_N_TEST = 4000
_COSTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)

# A mistake on the rarer of two classes costs ten on the other. The label is the most
# probable one or, in the last, the one of least expected loss.
_LOSSES = ("0/1", "1:10", "1:10, Bayes")
_RARE = 10.0

# A cell where a rule is worse than the plain one by more than this counts as a loss.
_MARGIN = 0.0025

# The rule of SelectiveClassifier, which the table is about.
_OURS = "30 rows"

# Mean costs of the rules on the test rows, above the cost of the best threshold.
Cell = namedtuple("Cell", "classifier n_samples loss regrets")


def run_in_full():
    """Return the rows of the table, from all sizes, classifiers and seeds."""
    yield from run(full=True)


def run(full=False):
    """Return the rows of the table."""
    if missing_sets():
        yield Row("sets that are not there", measured=", ".join(missing_sets()))
    with warnings.catch_warnings():
        # Few samples: classes that a fold does not have, networks that do not converge.
        warnings.simplefilter("ignore")
        cells = [cell for fit in _fits(full) for cell in _measure(*fit)]
    for n_samples in sorted({cell.n_samples for cell in cells}):
        yield from _size_rows([c for c in cells if c.n_samples == n_samples])
    for classifier in (*_FAST, *_SLOW):
        yield from _classifier_rows([c for c in cells if c.classifier == classifier])


# Measuring


def _fits(full):
    """Yield a set, the name of a classifier, a number of samples and a seed."""
    for classifiers, seeds in _SEEDS[full]:
        for n_samples, n_seeds in seeds.items():
            for name in available_sets():
                if n_samples <= len(load_set(name)[1]) / 1.5:
                    for classifier in classifiers:
                        for seed in range(n_seeds):
                            yield name, classifier, n_samples, seed


def _measure(name, classifier, n_samples, seed):
    """Yield a cell for each loss and cost, none where the samples are too few to fit.

    At least two classes must have five samples, one a fold.
    """
    X, y = load_set(name)
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[:n_samples], rows[n_samples : n_samples + _N_TEST]
    if np.sort(np.bincount(y[train], minlength=2))[-2] < 5:
        return
    estimator = (_FAST | _SLOW)[classifier](seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    try:
        inside = cross_val_predict(
            estimator, X[train], y[train], cv=folds, method="predict_proba"
        )
        outside = estimator.fit(X[train], y[train]).predict_proba(X[test])
    except ValueError:  # a classifier that needs more samples of each class
        return
    for loss in _LOSSES:
        matrix = _loss_matrix(loss, y[train], y.max() + 1)
        if matrix is None:
            continue
        is_bayes = loss.endswith("Bayes")
        tuning = _score(inside, y[train], estimator.classes_, matrix, is_bayes)
        held_out = _score(outside, y[test], estimator.classes_, matrix, is_bayes)
        for cost in _COSTS:
            regrets = _regrets(tuning, held_out, cost, matrix.max())
            yield Cell(classifier, n_samples, loss, regrets)


def _loss_matrix(loss, y_train, n_classes):
    """Return losses by true label and prediction, None where the loss is for two."""
    if loss == "0/1":
        return 1.0 - np.eye(n_classes)
    if n_classes != 2:
        return None
    is_rare = np.arange(2) == np.bincount(y_train, minlength=2).argmin()
    return np.where(is_rare, _RARE, 1.0)[:, np.newaxis] * (1 - np.eye(2))


def _score(probabilities, y, classes, matrix, is_bayes):
    """Return conditional risks of the labels that are predicted, and losses."""
    risks = probabilities @ matrix[np.ix_(classes, classes)]
    places = risks.argmin(axis=1) if is_bayes else probabilities.argmax(axis=1)
    return risks[np.arange(len(y)), places], matrix[y, classes[places]]


def _regrets(tuning, held_out, cost, largest):
    """Return what each rule costs more than the best threshold on the test rows."""
    scores, losses = held_out

    def mean_cost(accepted):
        return np.where(accepted, losses, cost).mean()

    best = mean_cost(solve_reject_cost(scores, losses, cost).accept(scores))
    costs = {
        name: mean_cost(rule(*tuning, cost, largest)(scores))
        for name, rule in _RULES.items()
    }
    costs["constant"] = min(cost, losses.mean())
    return {name: float(value - best) for name, value in costs.items()}


# Rules: each is made of scores and losses out of fold, and tells what to accept


def _plain(scores, losses, cost, largest):
    return RejectionRule(cost, 1.0).accept


def _solved(scores, losses, cost, largest):
    return solve_reject_cost(scores, losses, cost).accept


def _blended(scores, losses, cost, largest, n_claimed):
    """Count what the score claims as so many rows of evidence."""
    share = n_claimed / (n_claimed + len(scores))
    claimed = (1 - share) * losses + share * scores
    return solve_reject_cost(scores, claimed, cost).accept


def _one_error(scores, losses, cost, largest):
    """Take the solved rule where it is better by a standard error, else the plain."""
    plain, solved = (
        np.where(make(scores, losses, cost, largest)(scores), losses, cost)
        for make in (_plain, _solved)
    )
    gains = plain - solved
    is_clear = gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains))
    return (_solved if is_clear else _plain)(scores, losses, cost, largest)


def _sigmoid(scores, losses, cost, largest):
    """Compare a sigmoid of the score, fitted to the losses, with the cost."""
    shares = losses / largest
    if shares.min() == shares.max():
        mean = (losses.sum() + largest / 2) / (len(losses) + 1)
        return lambda scores: np.full(len(scores), mean <= cost)

    def feature(scores):
        return logit(np.clip(scores / largest, 1e-6, 1 - 1e-6))[:, np.newaxis]

    labels = np.repeat([1, 0], len(scores))
    fitted = LogisticRegression().fit(
        np.tile(feature(scores), (2, 1)), labels, np.append(shares, 1 - shares)
    )
    slope, shift = max(fitted.coef_[0, 0], 0.0), fitted.intercept_[0]
    return lambda scores: largest * expit(slope * feature(scores)[:, 0] + shift) <= cost


_RULES = {
    "plain": _plain,
    "solved": _solved,
    "20 rows": partial(_blended, n_claimed=20),
    "30 rows": partial(_blended, n_claimed=30),
    "50 rows": partial(_blended, n_claimed=50),
    "one error": _one_error,
    "sigmoid": _sigmoid,
}


# Rows


def _size_rows(cells):
    """Yield rows for samples of one size, by loss and whether it is calibrated."""
    for loss in _LOSSES:
        for is_calibrated in (False, True):
            some = [
                cell
                for cell in cells
                if cell.loss == loss
                and cell.classifier.endswith(_CALIBRATED) == is_calibrated
            ]
            if some:
                calibrated = "calibrated" if is_calibrated else "not calibrated"
                what = f"{some[0].n_samples:,} samples, {loss}, {calibrated}"
                yield from _group_rows(what, some)


def _group_rows(what, cells):
    regrets = _table(cells)
    yield _mean_row(f"{what}, {len(cells)} cells", regrets)
    worst = {name: values.max() for name, values in regrets.items()}
    yield Row(f"{what}: worst cell", "", f"{worst[_OURS]:.3g}", "", _show(worst))
    plain = regrets.pop("plain")
    lost = {name: values - plain > _MARGIN for name, values in regrets.items()}
    shares = {name: values.mean() for name, values in lost.items()}
    details = _show(shares)
    if lost[_OURS].any():
        by = (regrets[_OURS] - plain)[lost[_OURS]].mean()
        details = f"{details}; {_OURS} by {by:.4f} on average"
    what = f"{what}: cells worse than plain by > {_MARGIN}"
    yield Row(what, "", f"{shares[_OURS]:.3g}", "", details)


def _mean_row(what, regrets):
    """Judge the mean regret by that of the plain rule."""
    means = {name: float(values.mean()) for name, values in regrets.items()}
    return at_most(what, round(means["plain"], 5), means[_OURS], "", _show(means))


def _classifier_rows(cells):
    """Yield a row for each size, of one classifier and 0/1 loss."""
    for n_samples in sorted({cell.n_samples for cell in cells}):
        some = [c for c in cells if c.n_samples == n_samples and c.loss == "0/1"]
        if some:
            what = f"{some[0].classifier}, {n_samples:,} samples, 0/1"
            yield _mean_row(what, _table(some))


def _table(cells):
    """Return the regrets of each rule, an array over cells."""
    return {
        name: np.array([cell.regrets[name] for cell in cells])
        for name in cells[0].regrets
    }


def _show(values):
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())
