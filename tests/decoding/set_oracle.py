"""Expected losses of sets from all outcomes, and the losses by their definitions."""

from itertools import product
from math import fsum, prod, sqrt

import numpy as np
from hypothesis import strategies as st

from sklearn_reject.losses import CallableSetLoss, check_set_loss


def ratio(numerator, denominator, z):
    return z if denominator == 0 else numerator / denominator


def rates(tp, fp, fn, tn, z):
    return ratio(tp, tp + fn, z), ratio(tn, tn + fp, z)


def f1(tp, fp, fn, tn, beta, z):
    return 1 - ratio(2 * tp, 2 * tp + fp + fn, z)


def f_beta(tp, fp, fn, tn, beta, z):
    if tp + fp + fn == 0:
        return 1 - z
    return 1 - (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def jaccard(tp, fp, fn, tn, beta, z):
    return 1 - z if tp + fp + fn == 0 else (fp + fn) / (tp + fp + fn)


def am(tp, fp, fn, tn, beta, z):
    return 1 - sum(rates(tp, fp, fn, tn, z)) / 2


def balanced_accuracy(tp, fp, fn, tn, beta, z):
    found = []
    if tp + fn:
        found.append(tp / (tp + fn))
    if tn + fp:
        found.append(tn / (tn + fp))
    return 1 - sum(found) / len(found)


def g_tp_pr(tp, fp, fn, tn, beta, z):
    return 1 - sqrt(ratio(tp, tp + fn, z) * ratio(tp, tp + fp, z))


def g_mean(tp, fp, fn, tn, beta, z):
    tpr, tnr = rates(tp, fp, fn, tn, z)
    return 1 - sqrt(tpr * tnr)


def h_mean(tp, fp, fn, tn, beta, z):
    tpr, tnr = rates(tp, fp, fn, tn, z)
    return 1.0 if tpr == 0 or tnr == 0 else 1 - 2 / (1 / tpr + 1 / tnr)


def hamming(tp, fp, fn, tn, beta, z):
    return (fp + fn) / (tp + fp + fn + tn)


def auc(tp, fp, fn, tn, beta, z):
    tpr, tnr = rates(tp, fp, fn, tn, z)
    return (1 - tpr) * (1 - tnr)


def precision(tp, fp, fn, tn, beta, z):
    return 1 - ratio(tp, tp + fp, z)


def recall(tp, fp, fn, tn, beta, z):
    return 1 - ratio(tp, tp + fn, z)


# Name to a function (tp, fp, fn, tn, beta, zero_division) of single counts.
DEFINITIONS = {
    function.__name__: function
    for function in (
        f1,
        f_beta,
        jaccard,
        am,
        balanced_accuracy,
        g_tp_pr,
        g_mean,
        h_mean,
        hamming,
        auc,
        precision,
        recall,
    )
}

# Losses that are never 0/0.
DEFINED_EVERYWHERE = {"balanced_accuracy", "hamming"}

BETAS = [0.5, 2.0]  # one is "f1"
ZERO_DIVISIONS = [0.0, 0.5, 1.0]

# Loss 1 - Phi and Phi itself rising with u on all of [0, 1]^3.
FRACTIONAL = np.array([[1.0, -1.5, 0.75, 0.5], [1.0, -0.25, 1.0, 0.5]])


def priced(tp, fp, fn, tn):
    """Cost of a mistake that grows with their number, not within [0, 1]."""
    return 2.0 * fn + (fp > 0) + fp**1.5 - 3.0


def options_of(name, beta=1.0, z=0.0):
    """Return the loss and those of its parameters that it takes."""
    options = {"loss": name}
    if isinstance(name, str) and name == "f_beta":
        options["beta"] = beta
    if not isinstance(name, str) or name not in DEFINED_EVERYWHERE:
        options["zero_division"] = z
    return options


def all_losses():
    """Return every loss, (name, beta, zero_division) to the object."""
    found = {}
    for name in DEFINITIONS:
        betas = BETAS if name == "f_beta" else [1.0]
        values = [0.0] if name in DEFINED_EVERYWHERE else ZERO_DIVISIONS
        for beta, z in product(betas, values):
            found[name, beta, z] = check_set_loss(**options_of(name, beta, z))
    found["fractional_linear", 1.0, 0.0] = check_set_loss(FRACTIONAL)
    found["callable", 1.0, 0.0] = CallableSetLoss(priced)
    return found


LOSSES = all_losses()


def loss_names(key):
    """Return a name for pytest.mark.parametrize(..., LOSSES, ids=loss_names)."""
    return "-".join(map(str, key))


def outcomes(n):
    """Return all outcomes of n items, shape (2^n, n); bit i of its row is item i."""
    return (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1


def expected_losses_by_enumeration(eta, loss, sets="top_k"):
    """Return the expected loss of sets, summed over all outcomes.

    `sets="top_k"`: the first k items for k = 0..n, shape (n + 1,). `sets="all"`: every
    subset, shape (2^n,), in the order of `outcomes(n)`.
    """
    eta = np.asarray(eta, dtype=np.float64)
    n = len(eta)
    truths = outcomes(n)
    weights = np.array([prod(row) for row in np.where(truths, eta, 1 - eta)])
    chosen = np.tri(n + 1, n, -1, dtype=int) if sets == "top_k" else truths
    return np.array([_expected_loss(row, truths, weights, loss) for row in chosen])


def _expected_loss(chosen, truths, weights, loss):
    k, positives = chosen.sum(), truths.sum(axis=1)
    tp = truths @ chosen
    losses = loss(tp, k - tp, positives - tp, len(chosen) - k - positives + tp)
    return fsum((weights * losses).tolist())


def expected_losses_by_convolution(eta, loss):
    """Return them for the first k items: algorithm 1 of NKRD16, from its formula.

    All terms are sums and products of numbers that are not negative.
    """
    of_first = _laws_of_prefixes(eta)
    of_others = _laws_of_prefixes(eta[::-1])[::-1]
    found = []
    for of_tp, of_fn in zip(of_first, of_others, strict=True):
        k, n_others = len(of_tp) - 1, len(of_fn) - 1
        tp, fn = np.arange(k + 1)[:, np.newaxis], np.arange(n_others + 1)
        found.append(of_tp @ loss(tp, k - tp, fn, n_others - fn) @ of_fn)
    return np.array(found)


def _laws_of_prefixes(eta):
    laws = [np.ones(1)]
    for p in eta:
        laws.append(np.convolve(laws[-1], [1 - p, p]))
    return laws


KINDS = ["uniform", "few", "many", "tiny", "certain", "ties"]


def draw_probabilities(kind, n, rng):
    """Return n probabilities of one of the KINDS, sorted decreasing."""
    eta = {
        "uniform": lambda: rng.random(n),
        "few": lambda: rng.beta(0.3, 3, n),
        "many": lambda: rng.beta(5, 1, n),
        "tiny": lambda: 1e-6 * rng.random(n),
        "certain": lambda: rng.choice([0.0, 1.0, 0.3, 0.8, 1e-9], n),
        "ties": lambda: rng.choice([0.1, 0.25, 0.5, 0.75], n),
    }[kind]()
    return np.sort(eta)[::-1]


@st.composite
def probabilities(draw, min_size=1, max_size=10):
    """Draw probabilities of a set, sorted decreasing, of all kinds."""
    n = draw(st.integers(min_size, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return draw_probabilities(draw(st.sampled_from(KINDS)), n, rng)
