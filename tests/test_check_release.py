"""`make release-check` finds versions that differ and archives that are incomplete."""

import tarfile
from importlib import util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def check():
    path = ROOT / "build_tools" / "check_release.py"
    spec = util.spec_from_file_location("check_release", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_versions(root, package, citation, changelog):
    (root / "sklearn_reject").mkdir()
    init = root / "sklearn_reject" / "__init__.py"
    init.write_text(f'"""Doc."""\n\n__version__ = "{package}"\n')
    (root / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {changelog}\n\n## 0.0.1\n")


@pytest.mark.parametrize(
    ("versions", "named"),
    [
        (("0.2.0", "0.2.0", "0.2.0 (May 2030)"), []),
        (("0.3.0.dev0", "0.3.0.dev0", "Unreleased"), []),
        (("0.2.0", "0.1.0", "0.2.0"), ["CITATION"]),
        (("0.2.0", "0.2.0", "Unreleased"), ["CHANGELOG"]),
        (("0.3.0.dev0", "0.2.0", "0.2.0"), ["CITATION", "CHANGELOG"]),
    ],
)
def test_versions_that_differ_are_named(check, tmp_path, versions, named):
    write_versions(tmp_path, *versions)
    problems = list(check.version_problems(*check.read_versions(tmp_path)))
    assert [problem.split(".")[0] for problem in problems] == named


def test_citation_has_the_version_of_the_package(check):
    package, citation, _ = check.read_versions(ROOT)
    assert package == citation


def test_an_incomplete_sdist_is_found(check):
    tracked = {"Makefile", "tests/a.py", ".github/x.yml", ".ci/run", ".gitignore"}
    added = {"PKG-INFO", "setup.cfg", "sklearn_reject.egg-info/SOURCES.txt"}
    assert list(check.sdist_problems({"Makefile", "tests/a.py", *added}, tracked)) == []
    problems = list(check.sdist_problems({"Makefile", "tests/a.pyc"}, tracked))
    assert [problem.split()[-1] for problem in problems[:1]] == ["tests/a.py."]
    assert "not tracked" in problems[1]
    assert len(problems) == 3


def test_files_of_an_sdist_are_read_without_its_folder(check, tmp_path):
    (tmp_path / "Makefile").write_text("all:\n")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "Makefile", arcname="sklearn_reject-0.1.0/Makefile")
    assert check.names_in_sdist(tmp_path / "a.tar.gz") == {"Makefile"}


def test_a_wheel_holds_the_package_alone(check):
    package = {"sklearn_reject/py.typed", "sklearn_reject-0.1.0.dist-info/METADATA"}
    assert list(check.wheel_problems(package)) == []
    assert len(list(check.wheel_problems({*package, "tests/a.py"}))) == 1
    assert len(list(check.wheel_problems(set()))) == 1
