"""CONTRIBUTING.md says of all tests what they prove, and of no others."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def table():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Tests, and what each proves\n")[1].split("\n## ")[0]
    return [row.split("|")[1] for row in section.splitlines() if row.startswith("|")]


def test_every_folder_and_file_of_tests_is_in_the_table():
    tests = ROOT / "tests"
    present = {
        path.relative_to(ROOT).as_posix()
        for path in tests.iterdir()
        if path.match("test_*.py") or any(path.glob("**/test_*.py"))
    }
    listed = {name for cell in table() for name in re.findall("`(tests/.*?)`", cell)}
    assert listed == present


def test_everything_in_the_table_is_there():
    names = [name for cell in table() for name in re.findall("`(.*?)`", cell)]
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []
