"""The images of FPP23, table 2: MNIST, and three sets that are not digits.

They are read from the folder that SKLEARN_REJECT_DATA names: 28 x 28 grey pixels, also
of CIFAR-10. The letters of notMNIST and the photographs are parts of the sets in the
paper. No image of an OOD set is seen before the test.
"""

import os
from pathlib import Path

import numpy as np

from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._fpp23_published import MAX_FPR

_FILES = {
    "notMNIST": "notmnist_10k.npz",
    "FashionMNIST": "fashion_mnist_test.npz",
    "CIFAR-10": "cifar10_gray28_test5k.npz",
}
_DIGITS = "mnist.npz"


def missing_files():
    """Return the names of the files that table 2 needs and that are not there."""
    names = (_DIGITS, *_FILES.values())
    return [name for name in names if not _path(name).exists()]


def load_digits(part):
    """Return pixels in [0, 1], shape (n_samples, 784), and labels of "train"/"test"."""
    arrays = _read(_DIGITS)
    return _as_rows(arrays[f"X_{part}"]), arrays[f"y_{part}"].astype(np.intp)


def load_ood():
    """Return {set: pixels} of the sets that are not digits."""
    return {name: _as_rows(_read(_FILES[name])["X"]) for name in MAX_FPR}


def _as_rows(images):
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def _read(name):
    if not _path(name).exists():
        raise MissingDatasetError(
            f"{name} is not in the folder that SKLEARN_REJECT_DATA names "
            f"({os.environ.get('SKLEARN_REJECT_DATA') or 'which is not set'})."
        )
    with np.load(_path(name)) as arrays:
        return dict(arrays)


def _path(name):
    # Without a folder, a path that does not exist.
    return Path(os.environ.get("SKLEARN_REJECT_DATA") or "no-such-folder", name)
