"""`make demo` says what to look at, keeps its promises, and is short."""

import os
import subprocess
import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "demo.py"


@pytest.fixture(scope="module")
def demo():
    pytest.importorskip("matplotlib")
    spec = util.spec_from_file_location("demo", DEMO)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_promise_is_counted_on_new_digits(demo, capsys):
    demo.show_promise(n_splits=2)
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.endswith("of 2 splits")]
    kept = [int(row.split()[-4]) for row in rows]
    assert [row.split("  ")[0] for row in map(str.strip, rows)] == [
        "plain classifier",
        "target_risk=0.02",
        "target_risk=0.02, confidence_level=0.95",
    ]
    assert kept[0] == 0
    assert kept[-1] == 2


def test_errors_at_the_target_keep_it(demo):
    assert demo.count_kept(np.array([0.0, 0.02, 0.021])) == 2


def test_novel_digits_are_rejected_by_the_double_score(demo):
    alone, double = demo.measure_novel_inputs().values()
    # As many known digits are accepted, and a few of the novel ones that were.
    assert abs(alone[0] - double[0]) < 0.03
    assert double[1] < 0.2 < 0.4 < alone[1]


@pytest.mark.slow
def test_a_few_questions_remove_most_of_the_avoidable_errors(demo):
    first, *rules, last = demo.measure_second_opinion().values()
    asked, errors = np.transpose([first, *rules, last])
    assert asked[0] == 0
    assert asked[-1] == 1
    assert np.all(np.diff(asked) > 0)
    assert np.all(np.diff(errors) < 0)
    assert errors[0] - errors[2] > 0.5 * (errors[0] - errors[-1])
    assert asked[2] < 0.15


@pytest.mark.slow
def test_it_prints_at_most_sixty_lines_and_opens_with_what_to_look_at(tmp_path):
    pytest.importorskip("matplotlib")
    run = subprocess.run(
        [sys.executable, "-W", "error", DEMO],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = run.stdout.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 88
    assert "What to look at" in lines[1]
    headings = [line for line in lines if line[:3] in ("1. ", "2. ", "3. ")]
    assert [line[:2] for line in headings] == ["1.", "2.", "3."]
    assert (tmp_path / "risk_coverage.png").stat().st_size > 10_000
