"""Figure 1 of NKRD16: the best of all sets of ten points, by enumeration.

Points and weights are Gaussian in the plane, and a point is positive with probability
1 / (1 + exp(-<w, x>)). The expected loss of each of the 2^10 sets is a sum over as many
outcomes. Nothing is assumed of the best set; the package says that it consists of the
k most probable points, for all seven losses of table 1.
"""

from collections import namedtuple

import numpy as np
from scipy.special import expit

from benchmarks._report import Row, at_most, print_table
from sklearn_reject.decoding import decode, expected_loss_curve
from sklearn_reject.losses import check_set_loss

N_ITEMS = 10
N_DRAWS = 2000

NAMES = {
    "am": "AM",
    "f1": "F1",
    "jaccard": "Jaccard",
    "g_tp_pr": "G-TP/PR",
    "g_mean": "G-mean",
    "h_mean": "H-mean",
    "auc": "AUC",
}

_TOLERANCE = 1e-12  # what rounding may do to a sum over a thousand outcomes

# Of all draws: where the best of all sets, but for rounding, has the most probable
# points, and where it is the one decoded; and by how much the expected losses differ.
Verified = namedtuple("Verified", "n_draws n_top n_ours largest_error")


def draw(n_draws, seed=0):
    """Return probabilities of shape (n_draws, N_ITEMS)."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_draws, 2, 1))
    return expit(rng.normal(size=(n_draws, N_ITEMS, 2)) @ weights)[..., 0]


def loss_of(name):
    """Return the loss of a name, a function where the package has none."""
    return _FUNCTIONS.get(name, name)


def _product_of_error_rates(tp, fp, fn, tn):
    """Return ``fp fn / ((tp + fn) (fp + tn))``, the rate of no items being one."""
    pairs = (fn, tp + fn), (fp, fp + tn)
    return np.prod([np.where(n > 0, k / np.maximum(n, 1), 1) for k, n in pairs], axis=0)


def _harmonic_mean(tp, fp, fn, tn):
    """Return one minus the harmonic mean of TPR and TNR, rates of no items being 0."""
    pairs = (tp, tp + fn), (tn, tn + fp)
    tpr, tnr = (np.where(n > 0, k / np.maximum(n, 1), 0) for k, n in pairs)
    product, total = 2 * tpr * tnr, tpr + tnr
    return 1 - np.divide(product, total, out=0 * total, where=total > 0)


_FUNCTIONS = {"auc": _product_of_error_rates, "h_mean": _harmonic_mean}


def bounds(name):
    """Return the bounds on the size of a set; without them AUC is best at the ends."""
    return {"min_positive": 1, "max_positive": N_ITEMS - 1} if name == "auc" else {}


def all_sets():
    """Return the masks of all sets, shape (2^N_ITEMS, N_ITEMS), in binary counting."""
    return (np.arange(2**N_ITEMS)[:, np.newaxis] >> np.arange(N_ITEMS)) % 2 == 1


def expected_losses(name, eta):
    """Return the expected loss of all sets, shape (n_draws, 2^N_ITEMS)."""
    outcomes = all_sets()
    chances = np.ones((len(eta), len(outcomes)))
    for item, is_positive in enumerate(outcomes.T):
        chance = eta[:, [item]]
        chances *= np.where(is_positive, chance, 1 - chance)
    return chances @ _losses(check_set_loss(loss_of(name)), outcomes).T


def _losses(loss, sets):
    """Return the loss of predicting one set where another is the outcome."""
    counts = sets.astype(np.intp)
    tp = counts @ counts.T
    sizes = counts.sum(axis=1)
    fp, fn = sizes[:, np.newaxis] - tp, sizes - tp
    return loss(tp, fp, fn, N_ITEMS - tp - fp - fn)


def numbers_of(masks):
    """Return the positions of sets among `all_sets`."""
    return masks @ (1 << np.arange(N_ITEMS))


def verify(name, n_draws=N_DRAWS):
    """Compare enumeration with the sets that are decoded and with the whole curve."""
    eta = draw(n_draws)
    expected = expected_losses(name, eta)
    is_allowed = np.ones(len(all_sets()), dtype=bool)
    is_allowed[[0, -1]] = not bounds(name)
    least = expected[:, is_allowed].min(axis=1)
    draws = np.arange(n_draws)
    best_top, curve_error = _compare_curves(name, eta, expected, is_allowed)
    masks, claimed = decode(eta, loss=loss_of(name), **bounds(name))
    ours = expected[draws, numbers_of(masks)]
    return Verified(
        n_draws,
        int((best_top <= least + _TOLERANCE).sum()),
        int((ours <= least + _TOLERANCE).sum()),
        float(max(curve_error, np.abs(claimed - least).max())),
    )


def _compare_curves(name, eta, expected, is_allowed):
    """Return the least loss of the most probable points, and the error of curves."""
    order = np.argsort(-eta, axis=1, kind="stable")
    numbers = np.cumsum(1 << order, axis=1)
    numbers = np.column_stack([np.zeros(len(eta), dtype=np.intp), numbers])
    enumerated = np.take_along_axis(expected, numbers, axis=1)
    curves = expected_loss_curve(
        np.take_along_axis(eta, order, axis=1), loss=loss_of(name)
    )
    best = np.where(is_allowed[numbers], enumerated, np.inf).min(axis=1)
    return best, np.abs(curves - enumerated).max()


def print_verification(n_draws=N_DRAWS):
    """Print for each loss in how many draws the theory and the decoder are right."""
    print_table(
        f"Figure 1: all sets of {N_ITEMS} points by enumeration, {n_draws} draws",
        verdicts({name: verify(name, n_draws) for name in NAMES}),
    )


def verdicts(verified):
    """Yield the rows of what is asked."""
    for name, found in verified.items():
        yield _count_row(f"{NAMES[name]}: best set is a top-k set", found, found.n_top)
        yield _count_row(f"{NAMES[name]}: best set is decoded", found, found.n_ours)
        what = f"{NAMES[name]}: error of expected losses, all k and the best"
        yield at_most(what, _TOLERANCE, found.largest_error)


def _count_row(what, found, count):
    verdict = "ok" if count == found.n_draws else "miss"
    return Row(what, f"{found.n_draws}", f"{count}", verdict)
