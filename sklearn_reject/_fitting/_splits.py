"""Which samples are fitted on, and which are held out to evaluate the fit."""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

from sklearn_reject._sklearn import _num_samples
from sklearn_reject.exceptions import warn_user

DEFAULT_FOLDS = 5

#: The share that `cv=None` holds out where folds will not do. On nine sets, with two
#: classifiers and two targets, .95 certified a coverage of .053 / .43 / .64 with 500 /
#: 2,000 / 10,000 samples. A share of .3 certified .025 / .35 / .65, one of .4 .037 /
#: .42 / .65, and one of .6 .060 / .44 / .63.
DEFAULT_SHARE = 0.5

#: The `cv` that asks for a rule which compares probabilities as they are.
PLUG_IN = "plug_in"

#: Every row, without a copy of the samples.
ALL_ROWS = slice(None)


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows each fit sees, and which rows evaluate it.

    `folds` are (train, test) of fits that only serve to evaluate; `final` are the rows
    of the fit that is kept, and `held_out` the rows that evaluate it, None where the
    folds do or nothing does; they were drawn class by class if it `is_stratified`.
    It `is_default` where `cv` leaves the folds to us.
    """

    final: np.ndarray | slice
    folds: tuple = ()
    held_out: np.ndarray | slice | None = None
    is_stratified: bool = False
    is_default: bool = False

    @property
    def tested(self):
        """The rows that folds evaluate, one fold after the other, None without any."""
        return np.concatenate([test for _, test in self.folds]) if self.folds else None


def plan_fits(owner, samples, *, learns, stratify, needs_data=True, outside=None):
    """Return the plan that the `cv` of a meta-estimator stands for.

    `learns` says whether a score learns from samples, `stratify` whether all parts get
    their share of each class, and `needs_data` whether a rule cannot do without
    evaluation. One that can is evaluated where `cv` asks for it, or where that takes no
    fit: it tells what the rule achieves. `outside` tells which samples no fit sees.
    """
    is_frozen = isinstance(owner.estimator, FrozenEstimator)
    if is_frozen and not learns:
        return Plan(ALL_ROWS, held_out=ALL_ROWS)
    cv = cv_of(owner)
    if not needs_data and not learns and is_default(cv):
        return Plan(ALL_ROWS)
    splits = make_splits(cv, samples, stratify, owner.random_state, outside)
    plan = plan_of_splits(cv, splits)
    return replace(plan, is_stratified=stratify, is_default=is_default(cv))


def plan_to_hold_out(samples, stratify, random_state):
    """Return the plan that holds a share out where default folds will not do."""
    splits = make_splits(DEFAULT_SHARE, samples, stratify, random_state)
    return replace(plan_of_splits(DEFAULT_SHARE, splits), is_stratified=stratify)


def plan_of_splits(cv, splits):
    """Return the plan of a share held out, or of folds and a fit on everything."""
    if not is_share(cv):
        return Plan(final=ALL_ROWS, folds=tuple(splits))
    [(train, test)] = splits
    return Plan(final=train, held_out=test)


def inner_folds(rows, samples, stratify):
    """Return the default folds of some rows."""
    if samples.clusters is None:
        splits = _default_folds(samples.y[rows], stratify)
    else:
        given = samples.y[rows], samples.clusters.codes[rows], stratify
        splits = _split_clusters(None, *given)
    return tuple((rows[train], rows[test]) for train, test in splits)


def cv_of(owner):
    """Return the `cv` of a meta-estimator; None with a confidence holds a share out."""
    if owner.cv is None and getattr(owner, "confidence_level", None) is not None:
        return DEFAULT_SHARE
    return owner.cv


def is_default(cv):
    """Tell whether `cv` leaves the folds to us."""
    return cv is None or (isinstance(cv, str) and cv == PLUG_IN)


def check_cv_choice(owner, *, learns, takes_plug_in=False):
    """Raise unless `cv` is None, a number of folds, a share, or a splitter.

    Or "plug_in", for what needs no data.
    """
    cv, estimator = owner.cv, getattr(owner, "estimator", None)
    if takes_plug_in and is_default(cv):
        return
    if isinstance(estimator, FrozenEstimator) and cv is not None and not learns:
        raise ValueError(
            f"cv={cv!r} has no meaning for a FrozenEstimator, evaluated on all data of "
            "`fit`. Set cv=None, and pass data that it was not trained on."
        )
    if isinstance(cv, (bool, str)) or (isinstance(cv, Integral) and cv < 2):
        raise ValueError(
            "cv must be None, at least 2 folds, the share to hold out, a splitter or "
            f"an iterable of splits, got {cv!r}."
        )
    if is_share(cv) and not 0 < cv < 1:
        raise ValueError(
            f"cv as a float, the share to hold out, must be in (0, 1), got {cv!r}."
        )


def is_share(cv):
    """Tell whether `cv` is the share of samples to hold out."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def make_splits(cv, samples, stratify, random_state, outside=None):
    """Return the list of (train, test) row indices that `cv` stands for."""
    X, y, clusters = samples.X, samples.y, samples.clusters
    clusters = clusters and clusters.codes
    if clusters is not None and (is_default(cv) or isinstance(cv, Real)):
        return _split_clusters(cv, y, clusters, stratify, random_state)
    if is_default(cv):
        return _default_folds(y, stratify, outside)
    if is_share(cv):
        return [_hold_out(cv, y, stratify, random_state, outside)]
    splitter, n_samples = check_cv(cv, y, classifier=stratify), _num_samples(y)
    splits = [
        tuple(_rows_of_part(part, n_samples) for part in split)
        for split in splitter.split(X, y, **samples.split_params)
    ]
    if not any(len(test) for _, test in splits):
        raise ValueError(f"cv={cv!r} leaves no samples to evaluate the classifier on.")
    if clusters is not None:
        for train, test in splits:
            shared = np.intersect1d(clusters[train], clusters[test])
            if len(shared):
                raise ValueError(
                    f"cv has a split with rows of {len(shared)} of the groups in both "
                    "parts. Use cv=None, a share, a number of folds or GroupKFold."
                )
    return splits


def _split_clusters(cv, y, clusters, stratify, random_state=None):
    """Return folds, or a share held out, of whole clusters."""
    n_clusters = len(np.unique(clusters))
    if n_clusters < 2:
        raise ValueError(
            "groups has one group in all the rows to split: at least two are needed. "
            "Pass more, or a FrozenEstimator."
        )
    if is_share(cv):
        splitter = GroupShuffleSplit(1, test_size=cv, random_state=random_state)
    else:
        n_folds = min(DEFAULT_FOLDS, n_clusters) if is_default(cv) else cv
        kind = StratifiedGroupKFold if stratify and np.ndim(y) == 1 else GroupKFold
        splitter = kind(n_folds)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(np.zeros(len(y)), y, clusters))


def _rows_of_part(part, n_samples):
    """Return the rows, from zero on, of a list of them or of a mask."""
    part = np.asarray(part)
    try:
        return np.arange(n_samples)[part if part.size else part.astype(np.intp)]
    except IndexError as error:
        raise ValueError(
            f"cv has a split of other than these {n_samples} samples: {error}. Give it "
            f"row numbers below {n_samples}, or a boolean mask of all samples."
        ) from error


def _default_folds(y, stratify, outside=None):
    """Return five folds, or fewer where no class has as many members.

    A class of one member is in all training parts: a fold without it may leave a
    single class, which most classifiers refuse to be fitted on.
    """
    n_samples, stratify = _num_samples(y), stratify and np.ndim(y) == 1
    single = _rows_of_single_members(y, stratify, outside)
    others = np.delete(np.arange(n_samples), single)
    if len(others) < 2:
        raise ValueError(
            f"{n_samples} samples are too few to fit on some and evaluate on others; "
            "at least two of a class are needed. Pass more, or a FrozenEstimator."
        )
    y = y[others] if stratify else None
    largest = np.unique(y, return_counts=True)[1].max() if stratify else n_samples
    n_folds = int(min(DEFAULT_FOLDS, largest))
    splitter = StratifiedKFold(n_folds) if stratify else KFold(n_folds)
    with warnings.catch_warnings():
        # That some folds lack a class is what scores and losses can deal with.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = list(splitter.split(np.zeros(len(others)), y))
    return [
        (np.sort(np.append(others[train], single), kind="stable"), others[test])
        for train, test in folds
    ]


def _hold_out(share, y, stratify, random_state, outside=None):
    """Return the rows to fit on and those held out, of all classes where possible."""
    n_samples, stratify = _num_samples(y), stratify and np.ndim(y) == 1
    single = _rows_of_single_members(y, stratify, outside)
    if len(single) == n_samples:  # nothing else could be held out
        single = single[:0]
    others = np.delete(np.arange(n_samples), single)
    if len(single):
        warn_user(
            f"The class {y[single].tolist()[0]!r} has only one member, which is not "
            f"held out with cv={share:g}. Pass more samples of it, or remove it."
        )
    kinds = (StratifiedShuffleSplit, ShuffleSplit) if stratify else (ShuffleSplit,)
    for kind in kinds:
        splitter = kind(1, test_size=share, random_state=random_state)
        try:
            labels = y[others] if stratify else None
            [(train, test)] = splitter.split(np.zeros(len(others)), labels)
        except ValueError:
            # Fewer samples would be held out than there are classes.
            if kind is kinds[-1] or n_samples < 2:
                raise
            warn_user(
                f"cv={share:g} of {n_samples} samples is drawn without stratification, "
                "as it cannot contain each class. Pass more samples, or use folds."
            )
        else:
            return np.append(others[train], single), others[test]
    return None


def _rows_of_single_members(y, stratify, outside):
    """Return the rows of classes that have no other member.

    None where classes do not matter, nor of what is `outside` of all fits.
    """
    if not stratify:
        return np.zeros(0, dtype=np.intp)
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    single = np.sort(first[counts == 1])
    return single if outside is None else single[~outside[single]]


def check_splits(splits):
    """Raise for splits whose test parts overlap."""
    n_times = np.bincount(np.concatenate([test for _, test in splits]))
    if n_times.max() > 1:
        raise ValueError(
            f"cv: {np.sum(n_times > 1)} samples are in several test parts. Use a "
            "splitter without repeats."
        )


def splits_by_groups(cv):
    """Tell whether a splitter asks for groups."""
    if not hasattr(cv, "get_metadata_routing"):
        return False
    return cv.get_metadata_routing().split.requests.get("groups") is True
