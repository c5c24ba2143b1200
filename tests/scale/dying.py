"""A classifier whose fit kills the process that it runs in."""

import os
import signal
from pathlib import Path

from sklearn.naive_bayes import GaussianNB


class DyingNB(GaussianNB):
    """Kills the process of a fit by its own id, if it is not that of the tests.

    `marks` is a folder in which each death is marked by a file, and `n_deaths` how many
    there are to be.
    """

    def __init__(self, marks=None, home=None, n_deaths=1):
        super().__init__()
        self.marks = marks
        self.home = home
        self.n_deaths = n_deaths

    def fit(self, X, y, sample_weight=None):
        if os.getpid() != self.home and self._is_to_die():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)

    def _is_to_die(self):
        """Tell whether a mark is left to be made, and make it."""
        for number in range(self.n_deaths):
            try:
                (Path(self.marks) / f"{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            return True
        return False
