"""The largest grid that fits into the memory scikit-learn may work with."""

from decimal import Context, Decimal
from math import prod

from sklearn import get_config

# Counts of both classes, as integers and as sums of doubles. The search for the best
# path needs less: the sums, the best area up to a node, and some rows at a time.
BYTES_PER_NODE = 32


def grid_fits(shape):
    """Tell whether a grid fits into the working memory.

    Parameters
    ----------
    shape : tuple of int
        Number of thresholds of each classifier.

    Returns
    -------
    fits : bool
        Whether `sklearn.get_config()["working_memory"]`, in MiB, is enough.
    """
    return prod(shape) * BYTES_PER_NODE <= _working_bytes()


def check_grid_fits(shape):
    """Raise unless a grid fits into the working memory.

    Parameters
    ----------
    shape : tuple of int
        Number of thresholds of each classifier.

    Raises
    ------
    ValueError
        If `sklearn.get_config()["working_memory"]` is too small. Says how much it
        takes, and the largest `n_thresholds` that would do.
    """
    if grid_fits(shape):
        return
    needed = -(-prod(shape) * BYTES_PER_NODE // 2**20)
    raise ValueError(
        f"n_thresholds is too large: {len(shape)} classifiers with up to {max(shape)} "
        f"thresholds each make a grid of {_spell(prod(shape))} nodes, which takes "
        f"{_spell(needed)} MiB, more than scikit-learn's working_memory of "
        f"{get_config()['working_memory']:g} MiB. {_largest_that_fits(shape)}, allow "
        f"more by sklearn.set_config(working_memory={_spell(needed)}), or, for a path "
        'of more than two classifiers, take search="pairs".'
    )


def _working_bytes():
    return get_config()["working_memory"] * 2**20


def _spell(number):
    if number < 10**9:
        return str(number)
    # A float would not hold the nodes of hundreds of classifiers.
    return f"{Decimal(number).normalize(Context(prec=3)):g}"


def _largest_that_fits(shape):
    largest = 1
    while grid_fits([min(largest + 1, length) for length in shape]):
        largest += 1
    if largest == 1:
        return "Not even n_thresholds=2 fits: take fewer classifiers"
    return f"Take n_thresholds={largest} at most"
