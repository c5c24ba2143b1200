"""What README promises of `make demo` is what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NUMBER = r"\d\.\d+"
ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_readme_shows_what_the_demo_prints(tmp_path):
    pytest.importorskip("matplotlib")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```\ndigits:")[1].split("```")[0].splitlines()
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = run.stdout.split("\nbreast cancer:")[0].splitlines()
    table, result = (
        [line for line in lines if "|" in line] for lines in (shown, printed)
    )
    assert len(table) == len(result) == 6
    for expected, line in zip(table, result, strict=True):
        assert re.split(NUMBER, line) == re.split(NUMBER, expected)
        numbers = [np.float64(re.findall(NUMBER, text)) for text in (line, expected)]
        # On another processor a few samples may fall on the other side.
        np.testing.assert_allclose(*numbers, atol=0.01)
