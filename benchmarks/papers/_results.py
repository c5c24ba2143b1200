"""Measurements kept in files, one for each table, set and split.

A run that was cut short goes on where it stopped. After a change of what is measured,
delete the folder.
"""

import json

from joblib import Parallel, delayed

from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._measure import measure


class Results:
    """Records of all splits of all sets.

    Parameters
    ----------
    folder : Path
        Where the files are.

    n_splits : int
        Number of splits; the seed of a split is its number.
    """

    def __init__(self, folder, n_splits):
        self.folder = folder
        self.n_splits = n_splits

    def measure(self, table, sets, n_jobs):
        """Measure what is not there yet."""
        tasks = [(name, seed) for name in sets for seed in range(self.n_splits)]
        tasks = [(*task, self._missing(table, *task)) for task in tasks]
        Parallel(n_jobs=n_jobs)(
            delayed(self._measure)(table, *task) for task in tasks if task[-1]
        )

    def records(self, table, name):
        """Return the records of a set, or an empty list unless all splits are there."""
        records = [
            self._read(table, name, seed)
            for seed in range(self.n_splits)
            if not self._missing(table, name, seed)
        ]
        return records if len(records) == self.n_splits else []

    def _missing(self, table, name, seed):
        known = self._read(table, name, seed)["aurc"]
        return [method for method in EXPERIMENTS[table].methods if method not in known]

    def _measure(self, table, name, seed, methods):
        try:
            new = measure(table, name, seed, methods)
        except MissingDatasetError as error:
            if seed == 0:
                print(f"  {table}: {error}", flush=True)
            return
        old = self._read(table, name, seed)
        for key, value in new.items():
            new[key] = old[key] | value if isinstance(value, dict) else value
        path = self._path(table, name, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(new, indent=1))
        print(f"  measured {table} {name}, split {seed + 1}", flush=True)

    def _read(self, table, name, seed):
        path = self._path(table, name, seed)
        if not path.exists():
            return {"aurc": {}, "seconds": {}, "validation": {}}
        return json.loads(path.read_text())

    def _path(self, table, name, seed):
        return self.folder / table / f"{name}-{seed}.json"
