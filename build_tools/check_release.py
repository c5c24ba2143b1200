"""Check what is about to be released: versions that agree, and complete archives.

`make release-check` runs this script on the archives in `dist/`. It exits with the
list of all problems.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What is of no use without a repository.
ONLY_IN_REPOSITORY = re.compile(r"\.(ci|github)/|\.git|\.pre-commit|\.readthedocs")
BUILT = re.compile(r"\.py[co]$|\.so$|\.npz$|\.csv\.gz$|(^|/)(__pycache__|_build)/")
# What setuptools adds to an archive.
ADDED = re.compile(r"PKG-INFO$|\.egg-info/")


def main():
    """Check the versions and the archives, and report the problems."""
    sdists = list(ROOT.glob("dist/*.tar.gz"))
    wheels = list(ROOT.glob("dist/*.whl"))
    if len(sdists) != 1 or len(wheels) != 1:
        sys.exit("dist/ must hold one sdist and one wheel.")
    problems = [
        *version_problems(*read_versions(ROOT)),
        *sdist_problems(names_in_sdist(sdists[0]), tracked_files(ROOT)),
        *wheel_problems(names_in_wheel(wheels[0])),
    ]
    if problems:
        sys.exit("\n".join(problems))
    print("release-check: versions agree and the archives are complete")


def read_versions(root):
    """Return the versions of the package, CITATION.cff and CHANGELOG.md."""
    return (
        find(root / "sklearn_reject" / "__init__.py", r'^__version__ = "(.+)"$'),
        find(root / "CITATION.cff", r"^version: (\S+)$"),
        find(root / "CHANGELOG.md", r"^## (\S+)"),
    )


def find(path, pattern):
    """Return the group of the first match of a pattern in a file, or None."""
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match and match[1]


def version_problems(package, citation, changelog):
    """Yield where CITATION.cff and CHANGELOG.md differ from the package."""
    if citation != package:
        yield f"CITATION.cff has version {citation}, the package {package}."
    expected = "Unreleased" if ".dev" in package else package
    if changelog != expected:
        yield f"CHANGELOG.md starts with {changelog} instead of {expected}."


def names_in_sdist(path):
    """Return the files of an sdist, without the folder that they are in."""
    with tarfile.open(path) as archive:
        return {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}


def names_in_wheel(path):
    """Return the files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def tracked_files(root):
    """Return the files that git tracks."""
    command = ["git", "-C", str(root), "ls-files"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines())


def sdist_problems(names, tracked):
    """Yield what an sdist lacks, and what it should not have."""
    expected = {name for name in tracked if not ONLY_IN_REPOSITORY.match(name)}
    for name in sorted(expected - names):
        yield f"The sdist lacks {name}."
    for name in sorted(names - tracked):
        if not ADDED.search(name) and name != "setup.cfg":
            yield f"The sdist has {name}, which is not tracked."
    yield from (
        f"The sdist has {name}." for name in sorted(filter(BUILT.search, names))
    )


def wheel_problems(names):
    """Yield what a wheel lacks, and what it should not have."""
    folders = re.compile(r"sklearn_reject(-[^/]+\.dist-info)?/")
    for name in sorted(names):
        if not folders.match(name) or BUILT.search(name):
            yield f"The wheel has {name}."
    if "sklearn_reject/py.typed" not in names:
        yield "The wheel lacks sklearn_reject/py.typed."


if __name__ == "__main__":
    main()
