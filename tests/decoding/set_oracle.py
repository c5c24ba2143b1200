"""Expected losses of sets from all outcomes, and the losses by their definitions."""

from itertools import product
from math import fsum, prod, sqrt

import numpy as np
from hypothesis import strategies as st

from sklearn_reject.losses import check_set_loss


def ratio(numerator, denominator, z):
    return z if denominator == 0 else numerator / denominator


def rates(tp, fp, fn, tn, z):
    return ratio(tp, tp + fn, z), ratio(tn, tn + fp, z)


def f_beta(tp, fp, fn, tn, beta, z):
    if tp + fp + fn == 0:
        return 1 - z
    return 1 - (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def balanced_accuracy(tp, fp, fn, tn, beta, z):
    found = [tp / (tp + fn)] if tp + fn else []
    found += [tn / (tn + fp)] if tn + fp else []
    return 1 - sum(found) / len(found)


# Name to a function (tp, fp, fn, tn, beta, zero_division) of single counts.
DEFINITIONS = {
    "f1": lambda tp, fp, fn, tn, beta, z: f_beta(tp, fp, fn, tn, 1, z),
    "hamming": lambda tp, fp, fn, tn, beta, z: (fp + fn) / (tp + fp + fn + tn),
    "f_beta": f_beta,
    "jaccard": lambda tp, fp, fn, tn, _, z: 1 - ratio(tp, tp + fp + fn, z),
    "am": lambda tp, fp, fn, tn, _, z: 1 - sum(rates(tp, fp, fn, tn, z)) / 2,
    "balanced_accuracy": balanced_accuracy,
    "g_tp_pr": lambda tp, fp, fn, tn, _, z: (
        1 - sqrt(ratio(tp, tp + fn, z) * ratio(tp, tp + fp, z))
    ),
    "g_mean": lambda tp, fp, fn, tn, _, z: 1 - sqrt(prod(rates(tp, fp, fn, tn, z))),
}

# Losses that are never 0/0.
DEFINED_EVERYWHERE = {"balanced_accuracy", "hamming"}

BETAS = [0.5, 2.0]  # one is "f1"
ZERO_DIVISIONS = [0.0, 0.5, 1.0]


def precision_loss(tp, fp, fn, tn):
    """One minus precision, one where nothing is predicted."""
    return np.where(tp + fp > 0, fp / np.maximum(tp + fp, 1), 1.0)


def recall_loss(tp, fp, fn, tn):
    """One minus recall, one where nothing is positive."""
    return np.where(tp + fn > 0, fn / np.maximum(tp + fn, 1), 1.0)


def priced(tp, fp, fn, tn):
    """Cost of a mistake that grows with their number, not within [0, 1]."""
    return 2.0 * fn + (fp > 0) + fp**1.5 - 3.0


def options_of(name, beta=1.0, z=0.0):
    """Return the loss and those of its parameters that it takes."""
    options = {"loss": name}
    if name == "f_beta":
        options["beta"] = beta
    if name not in DEFINED_EVERYWHERE:
        options["zero_division"] = z
    return options


def all_losses():
    """Return every loss, (name, beta, zero_division) to the object."""
    found = {
        (name, beta, z): check_set_loss(**options_of(name, beta, z))
        for name in DEFINITIONS
        for beta in (BETAS if name == "f_beta" else [1.0])
        for z in ([0.0] if name in DEFINED_EVERYWHERE else ZERO_DIVISIONS)
    }
    found["callable", 1.0, 0.0] = check_set_loss(priced)
    found["recall", 1.0, 0.0] = check_set_loss(recall_loss)
    return found


LOSSES = all_losses()
KEYS = sorted(LOSSES)

# The sets of a matrix, by the average over them.
SETS = {
    "samples": list,
    "macro": lambda values: list(np.transpose(values)),
    "micro": lambda values: [np.ravel(values)],
}


def outcomes(n):
    """Return all outcomes of n items, shape (2^n, n); bit i of its row is item i."""
    return (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1


def expected_losses(eta, loss, sets="top_k", distribution="independent"):
    """Return the expected loss of sets, summed over all outcomes.

    `sets="top_k"`: the first k items for k = 0..n, shape (n + 1,). `sets="all"`: every
    subset, shape (2^n,), in the order of `outcomes(n)`.
    """
    n = len(eta)
    truths = outcomes(n)
    if distribution == "independent":
        weights = [prod(row) for row in np.where(truths, eta, 1 - eta).tolist()]
    else:  # exactly one item is positive
        truths, weights = np.eye(n, dtype=int), eta
    chosen = np.tri(n + 1, n, -1, dtype=int) if sets == "top_k" else outcomes(n)
    return np.array([_expected_loss(row, truths, weights, loss) for row in chosen])


def _expected_loss(chosen, truths, weights, loss):
    k, positives = chosen.sum(), truths.sum(axis=1)
    tp = truths @ chosen
    losses = loss(tp, k - tp, positives - tp, len(chosen) - k - positives + tp)
    return fsum((weights * losses).tolist())


def table(y_true, y_pred):
    """Return the confusion matrix of two vectors: tp, fp, fn, tn."""
    columns = (np.asarray(y, dtype=bool).tolist() for y in (y_true, y_pred))
    pairs = list(zip(*columns, strict=True))
    return tuple(pairs.count(kind) for kind in ((1, 1), (0, 1), (1, 0), (0, 0)))


def tables_of(n):
    """Return all confusion matrices of n items, a row each: tp, fp, fn, tn."""
    firsts = (cells for cells in product(range(n + 1), repeat=3) if sum(cells) <= n)
    return np.array([(*cells, n - sum(cells)) for cells in firsts])


MAGNITUDES = [0, 5e-324, 1e-308, 1e-100, 1e-17, 1e-9, 0.5, 1 - 1e-9, 1 - 2**-53, 1]
KINDS = ["uniform", "few", "many", "tiny", "certain", "ties"]


def draw_probabilities(kind, n, rng):
    """Return n probabilities of some kind, sorted decreasing."""
    eta = {
        "uniform": lambda: rng.random(n),
        "few": lambda: rng.beta(0.3, 3, n),
        "many": lambda: rng.beta(5, 1, n),
        "tiny": lambda: 1e-6 * rng.random(n),
        "certain": lambda: rng.choice([0.0, 1.0, 0.3, 0.8, 1e-9], n),
        "ties": lambda: rng.choice([0.1, 0.25, 0.5, 0.75], n),
        "magnitudes": lambda: rng.choice(MAGNITUDES, n),
    }[kind]()
    return np.sort(eta)[::-1]


@st.composite
def probabilities(draw, min_size=1, max_size=10):
    """Draw probabilities of one of the KINDS, sorted decreasing."""
    n = draw(st.integers(min_size, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return draw_probabilities(draw(st.sampled_from(KINDS)), n, rng)
