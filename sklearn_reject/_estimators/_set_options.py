"""What strategy, calibration and batch size may be, and what they ask for."""

from numbers import Integral, Real

import numpy as np

from sklearn_reject._estimators._set_calibration import CALIBRATIONS
from sklearn_reject._estimators._set_choice import STRATEGIES
from sklearn_reject._fitting import inner_folds
from sklearn_reject._validation import check_number
from sklearn_reject.decoding import number_sets
from sklearn_reject.exceptions import warn_user

# Of the rarer class so many samples are to be expected in a set of its own.
_FEWEST_EXPECTED = 5

# Of sparse probabilities so many at most are compared, as a dense matrix.
_MOST_ENTRIES = 2**21


def check_open_choices(decoder):
    """Raise for a strategy, a calibration or a batch size that is none."""
    _check_strategy(decoder.strategy)
    calibration, batch_size = decoder.calibration, decoder.batch_size
    if not (calibration is None or calibration in ("auto", *CALIBRATIONS)):
        raise ValueError(
            f"calibration must be one of {['auto', *CALIBRATIONS]} or None, got "
            f"{calibration!r}."
        )
    is_int = isinstance(batch_size, Integral) and not isinstance(batch_size, bool)
    if batch_size is not None and not (is_int and batch_size > 0):
        raise ValueError(f"batch_size must be None or an int > 0, got {batch_size!r}.")


def _check_strategy(strategy):
    if isinstance(strategy, str) and strategy in ("auto", *STRATEGIES):
        return
    if isinstance(strategy, Real) and not isinstance(strategy, bool):
        check_number(strategy, "strategy, as a threshold,", high=1.0)
        return
    raise ValueError(
        f"strategy must be one of {['auto', *STRATEGIES]} or a threshold in [0, 1], "
        f"got {strategy!r}."
    )


def check_choices_for(decoder, items):
    """Raise for a choice that such items do not have."""
    each_is_a_set = items.target_type != "binary" and decoder.average == "samples"
    if decoder.batch_size is not None and each_is_a_set:
        raise ValueError(
            f"batch_size={decoder.batch_size} is for two classes, where the samples of "
            f"a call are a set, but y is {items.target_type} and each sample is a set. "
            "Set it to None."
        )
    if decoder.calibration in CALIBRATIONS and items.target_type == "multiclass":
        raise ValueError(
            f"calibration={decoder.calibration!r} is for items that are positive "
            "independently of each other, but y has more than two classes. Use 'auto' "
            "or None, and wrap the classifier: CalibratedClassifierCV(classifier)."
        )


def check_batches(decoder, groups):
    """Raise for a size of batches beside groups, which have their sizes."""
    if decoder.batch_size is not None and groups is not None:
        raise ValueError(
            f"batch_size={decoder.batch_size} and groups were both given, but both "
            "define which samples are decided together. Omit one of them."
        )


def is_threshold(strategy):
    """Tell whether a strategy is the threshold itself."""
    return not isinstance(strategy, str)


def needs_folds(decoder):
    """Tell whether something is learned, or compared, out of sample."""
    if decoder.strategy in ("auto", "eum") or decoder.calibration in CALIBRATIONS:
        return True
    # A threshold is one on the probabilities as they are, unless it is said otherwise.
    return decoder.calibration == "auto" and not is_threshold(decoder.strategy)


def can_do_without_folds(decoder):
    """Tell whether all that folds are for was left to us."""
    return (
        decoder.strategy in ("auto", "dta")
        and decoder.calibration in ("auto", None)
        and decoder.cv is None
    )


def choice_without_folds(decoder):
    """Return the attributes of a fit that evaluates nothing."""
    strategy = "dta" if decoder.strategy == "auto" else decoder.strategy
    found = {
        "strategy_": strategy,
        "calibration_": None,
        "calibration_gap_": None,
        "_calibrate": None,
    }
    if is_threshold(strategy):
        found["threshold_"] = float(strategy)
    return found


def warn_without_folds(reason):
    """Warn that nothing could be compared."""
    warn_user(
        "Strategies and calibrations could not be compared out of sample, so "
        "strategy='dta' decodes the probabilities without calibration. The error in a "
        f"fold was: {str(reason).rstrip('. ')}. Pass more samples, cv=, or "
        "strategy='dta' with calibration=None.",
        once=True,
    )


def parts_of(plan, rows, y):
    """Return pairs (train, test) of positions of evaluated rows, which share no row.

    They are those of the folds or, where one part was held out, folds of it.
    """
    tests = _fold_numbers(plan, len(rows))
    if tests[-1] == 0:
        if len(rows) < 2:
            every = np.arange(len(rows))
            return ((every, every),)
        return inner_folds(np.arange(len(rows)), y[rows], y.ndim == 1)
    tests = [np.flatnonzero(tests == number) for number in range(tests[-1] + 1)]
    return _usable((np.flatnonzero(~np.isin(rows, rows[t])), t) for t in tests)


def dense_rows(decoder, eta, parts):
    """Return which rows of sparse probabilities are compared, and their parts.

    As many as take little memory when they are dense; all for "eum", if it is named.
    """
    n_rows = max(1, _MOST_ENTRIES // eta.shape[1])
    if decoder.strategy == "eum" or eta.shape[0] <= n_rows:
        return np.arange(eta.shape[0]), parts
    rows = np.sort(np.random.default_rng(0).permutation(eta.shape[0])[:n_rows])
    place = np.full(eta.shape[0], -1)
    place[rows] = np.arange(n_rows)
    left = ((place[train], place[test]) for train, test in parts)
    return rows, _usable((a[a >= 0], b[b >= 0]) for a, b in left)


def _usable(parts):
    """Return the pairs that have a test part, which is all where nothing is left."""
    # Such as where splits repeat one test part.
    return tuple(
        (train if len(train) else test, test) for train, test in parts if len(test)
    )


def _fold_numbers(plan, n_rows):
    sizes = [len(test) for _, test in plan.folds] or [n_rows]
    return np.repeat(np.arange(len(sizes)), sizes)


def fewest_rows(loss, truth, batch_size, groups, average="samples"):
    """Return how many rows of a call are a set whose expected loss means something.

    As many as the user named or, of the samples of `fit`, had in a group, or as it
    takes to expect a few positives and, where they count, a few negatives.
    """
    each_is_a_set = truth.ndim > 1 and average == "samples"
    if each_is_a_set or _counts_items_one_by_one(loss):
        return 1
    if batch_size is not None:
        return batch_size
    share = truth.mean()
    if _sees_negatives(loss):
        share = min(share, 1 - share)
    n_samples = truth.shape[0]
    items_of_row = truth.shape[1] if average == "micro" else 1
    n_rows = n_samples
    if share > 0:
        n_rows = min(n_samples, _FEWEST_EXPECTED / (share * items_of_row))
    if groups is not None:
        n_rows = min(n_rows, number_sets(truth.shape, groups)[1].min())
    # A share of 0.2 is not 1/5 to the last digit.
    return int(np.ceil(np.round(n_rows, 6)))


def _counts_items_one_by_one(loss):
    """Tell whether the best decision on an item leaves the others alone."""
    counts = np.array([[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 3]])
    alone = loss(*counts)
    mixed = loss(*np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]).T)
    expected = (alone.sum() - alone) / 3
    return bool(np.allclose(mixed, expected[::-1]))


def _sees_negatives(loss):
    """Tell whether negatives that are left alone change the loss."""
    few, many = (
        loss([3, 1], [2, 2], [1, 3], [4, 4]),
        loss([3, 1], [2, 2], [1, 3], [9, 9]),
    )
    return not np.array_equal(few, many)


def warn_of_few_rows(n_rows, fewest, target_type):
    """Warn where the samples of a call are too few to be a set of their own."""
    if n_rows >= fewest:
        return
    is_binary = target_type == "binary"
    groups = ", or groups= if these are the sets that are scored" if is_binary else ""
    warn_user(
        f"{n_rows} rows were decoded as one set. With fewer than {fewest} rows, the "
        "predictions can differ from those of a call with all rows. Pass more rows at "
        f"once{groups}; or, for calls as small as this, fit with strategy='eum', or "
        f"with batch_size={max(n_rows, 1)} and strategy='auto'.",
    )
