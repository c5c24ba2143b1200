"""Run thousands of public calls in another commit and in this checkout, and compare.

    python build_tools/compare_commits BASE [--only PATTERN] [--jobs 2] [--times]

prints each call whose result, error or warning differs from that in BASE, a commit: to
the last bit, and for numbers by how much. Run it after a change that should change no
results, or to see which ones a change has changed. Differences of one kind are counted,
with an example; `--only` takes a regular expression that the name of a call, "family |
data | expression", must match. `--times` compares the CPU time of the families. It
needs what `pip install -e .[test]` installs, and takes some minutes on two cores. With
the environment variable SKLEARN_REJECT_DATA there are calls on real data, too.

The exit status is 1 if anything differs. `calls.txt` has the calls. They are written
with the names of today; `record.py` has the names of before.
"""

import argparse
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SKIPPED = {"absent": "not asked, as the first expression did not succeed"}
ONLY_BASE, ONLY_HERE = "only in the base", "only here"
Difference = namedtuple("Difference", "name where base here size")


def main():
    """Compare two trees as the command line says."""
    parser = argparse.ArgumentParser(prog="compare_commits")
    parser.add_argument("base", help="a commit")
    parser.add_argument("--only", default="", help="pattern of names of calls")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--times", action="store_true", help="compare times, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        check_out(options.base, folder)
        base, here = record(folder, [folder, ROOT], options.only, options.jobs)
    differences = compare(base, here)
    print_differences(differences, base, here)
    if options.times:
        print_times(base, here)
    sys.exit(bool(differences))


def check_out(commit, folder):
    """Put the package of a commit into a folder."""
    archive = folder / "base.zip"
    command = ["git", "-C", str(ROOT), "archive", "-o", str(archive), commit]
    subprocess.run([*command, "sklearn_reject"], check=True)
    shutil.unpack_archive(archive, folder)


def record(folder, trees, only, n_jobs):
    """Return the records of the calls in each tree: name -> (parts, seconds)."""
    n_shards = max(1, n_jobs // len(trees))
    variables = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | dict(os.environ)

    def run(job):
        place, shard = job
        path = folder / f"{place}-{shard}.pkl"
        command = [sys.executable, str(FOLDER / "record.py"), str(path), only]
        environment = {"PYTHONPATH": str(trees[place]), "MPLBACKEND": "Agg"}
        command += [str(shard), str(n_shards)]
        subprocess.run(command, check=True, env=variables | environment)
        return pickle.loads(path.read_bytes())

    jobs = [(place, shard) for shard in range(n_shards) for place in range(len(trees))]
    records = [{} for _ in trees]
    with ThreadPoolExecutor(n_jobs) as pool:
        for (place, _), part in zip(jobs, pool.map(run, jobs), strict=True):
            records[place] |= part
    return records


def compare(base, here):
    """Return the differences of one kind together: kind -> list of Difference."""
    kinds = defaultdict(list)
    for name in dict.fromkeys([*base, *here]):
        parts = [tree[name][0] if name in tree else SKIPPED for tree in (base, here)]
        for found in find_differences(name, *parts):
            is_part = found.base in (ONLY_BASE, ONLY_HERE)
            family = "" if is_part else name.split(" | ")[0]
            where = re.sub(r"\[\d+\]", "[]", found.where)
            texts = "" if found.size is not None else found.base + found.here
            kinds[family, where, re.sub(r"[\d.]+", "0", texts)].append(found)
    return kinds


def find_differences(name, base, here):
    """Yield the parts that one record lacks, and the first part that differs."""
    for what in ("absent", "raises"):
        texts = [record.get(what, "a result") for record in (base, here)]
        if texts[0] != texts[1] or what in base.keys() & {"absent"}:
            yield Difference(name, what, *texts, None)
            return
    for path in sorted(base.keys() ^ here.keys()):
        match = re.fullmatch(r"(.*)(?:\.|\[')(\w+)(?:'\])?", path)
        if match and match[1] in base and match[1] in here:
            where = ONLY_BASE if path in base else ONLY_HERE
            yield Difference(name, match[2], where, "", None)
    for path in base:
        if path in here and not is_equal(base[path], here[path]):
            one, other = base[path], here[path]
            texts = show(one, other), show(other, one)
            yield Difference(name, path, *texts, distance(one, other))
            return


def is_equal(one, other):
    """Return whether two texts or arrays are equal in type, shape and each bit."""
    if is_alike(one, other):
        return one.tobytes() == other.tobytes()
    return isinstance(one, str) and isinstance(other, str) and one == other


def is_alike(one, other):
    """Return whether both are arrays of one type and shape."""
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return arrays and one.dtype == other.dtype and one.shape == other.shape


def show(one, other):
    """Return a text or an array in short, or the first value that differs."""
    if isinstance(one, str):
        return one[:1000]
    if not is_alike(one, other):
        return f"{one.dtype} array of shape {one.shape}"
    pairs = zip(one.flat, other.flat, strict=True)
    values = [value for value, there in pairs if value.tobytes() != there.tobytes()]
    return f"{values[0]!r}, the first of {len(values)} in {one.size}"


def distance(one, other):
    """Return the largest relative difference of floats, None of anything else."""
    if not is_alike(one, other) or one.dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        shares = abs(one - other) / np.maximum(abs(one), abs(other))
    return np.max(shares, initial=0, where=~np.isnan(shares))


def print_differences(kinds, base, here):
    """Print each kind of difference with an example, and the numbers by family."""
    different, incomplete = set(), set()
    for (family, where, _), found in sorted(kinds.items()):
        names = [each.name for each in found]
        if not family:
            print(f"{len(found)} x {where}, {found[0].base}: {names[0]}")
            incomplete.update(names)
            continue
        size = max(each.size or 0 for each in found)
        largest = f", relative difference up to {size:.2g}" * bool(size)
        print(f"{len(found)} x {where or 'result'}{largest}\n    {names[0]}")
        print(f"      base: {found[0].base}\n      here: {found[0].here}")
        different.update(names)
    columns = {**base, **here}, different, incomplete - different
    counts = [Counter(name.split(" | ")[0] for name in names) for names in columns]
    print("\nfamily                 calls  differ  differ only in what they have")
    for family in counts[0]:
        numbers = [count[family] for count in counts]
        print(f"{family:21} {numbers[0]:6} {numbers[1]:7} {numbers[2]:7}")
    totals = [count.total() for count in counts]
    print(f"{'all':21} {totals[0]:6} {totals[1]:7} {totals[2]:7}")


def print_times(base, here):
    """Print the CPU time of the calls of each family that both trees made."""
    seconds = defaultdict(lambda: np.zeros(2))
    for name in base.keys() & here.keys():
        seconds[name.split(" | ")[0]] += base[name][1], here[name][1]
    for family, (one, other) in sorted(seconds.items()):
        print(f"{family:22} {one:8.2f} s, here {other:8.2f} s, {other / one:5.2f} x")


if __name__ == "__main__":
    main()
