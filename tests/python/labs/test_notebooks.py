"""Tests: the labs' notebooks are current, and run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nodeb import labs

sys.path.append(str(Path(__file__).parents[3] / "tools"))
import lab_notebooks as tool


@pytest.mark.parametrize("name", labs.names())
def test_notebooks_are_current_and_run(name, tmp_path):
    pytest.importorskip("marimo")
    file = tool.place(name)
    assert file.read_text("utf-8") == tool.notebook(name), "run `tools/lab_notebooks.py --write`"
    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_exercises_are_asked_and_judged_in_markdown():
    lab = labs.load("1-slow-start")
    assert "1. a channel of twice the rate" in lab.ask("remedy", None)
    assert lab.ask("remedy", 2).endswith(f"**Right: {lab.exercises['remedy'].right}**")
