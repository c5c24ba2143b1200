"""Random splits into the five parts of FPV23, section 5.2."""

from collections import namedtuple

import numpy as np

Split = namedtuple("Split", "trn1 val1 trn2 val2 tst")

# Percent of the samples.
_USUAL = Split(30, 10, 30, 10, 20)
_SPECIAL = {"codrna": Split(25, 5, 20, 20, 30), "covtype": Split(28, 20, 2, 20, 30)}


def split_rows(name, n_samples, seed):
    """Return the rows of each part, in random order.

    The classifier is fitted on `trn1` and tuned on `val1`, the uncertainty score on
    `trn2` and `val2`, and `tst` measures both.
    """
    percents = _SPECIAL.get(name, _USUAL)
    ends = np.cumsum(percents)[:-1] * n_samples // 100
    rows = np.random.default_rng(seed).permutation(n_samples)
    return Split(*np.split(rows, ends))
