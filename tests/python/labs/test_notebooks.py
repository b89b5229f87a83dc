"""Tests: the labs' notebooks run."""

from __future__ import annotations

import subprocess
import sys

import notebooks
import pytest

from nodeb import labs


@pytest.mark.slow
@pytest.mark.parametrize("name", labs.names())
def test_notebooks_run(name, tmp_path):
    file = tmp_path / "notebook.py"
    file.write_text(notebooks.notebook(name), "utf-8")
    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_exercises_are_asked_and_judged_in_markdown():
    lab = labs.load("1-slow-start")
    assert "1. a channel of twice the rate" in lab.ask("remedy", None)
    assert lab.ask("remedy", 2).endswith(f"**Right: {lab.exercises['remedy'].right}**")
