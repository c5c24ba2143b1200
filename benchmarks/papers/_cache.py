"""Records kept in files, a folder for each table and a file for each seed or split.

A run that was cut short goes on where it stopped. After a change of what is measured,
delete the folder.
"""

import json
from time import perf_counter

from joblib import Parallel, delayed


def measured(folder, seeds, measure, n_jobs):
    """Return `measure(seed)` for each seed, from files as far as they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [seed for seed in seeds if not _path(folder, seed).exists()]
    Parallel(n_jobs=n_jobs)(delayed(_write)(folder, seed, measure) for seed in missing)
    return [json.loads(_path(folder, seed).read_text()) for seed in seeds]


def _write(folder, seed, measure):
    start = perf_counter()
    record = measure(seed)
    path = _path(folder, seed)
    # Renamed when it is complete: half a file would be taken for a record.
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(record, indent=1))
    unfinished.replace(path)
    print(f"  measured seed {seed}, {perf_counter() - start:.0f} s", flush=True)


def _path(folder, seed):
    return folder / f"{seed}.json"
