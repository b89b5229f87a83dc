"""Tests: on the page of recordings, each form leads from a file to a run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs/logs.md").read_text("utf-8")
SECTIONS = re.findall(
    r"^## [^\n]*\{#([a-z-]+)\}\n.*?^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("commands", [pytest.param(text, id=name) for name, text in SECTIONS])
def test_recording_is_imported_and_simulated(commands, tmp_path):
    nodeb = f'set -eu\nnodeb() {{ "{sys.executable}" -m nodeb "$@"; }}\n'
    environment = {**os.environ, "COLUMNS": "80"}
    run = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(["bash", "-c", nodeb + commands], check=False, **run)
    assert done.returncode == 0, done.stderr
    assert "3 replications" in done.stdout
    assert "finished" in done.stdout


def test_all_forms_that_import_takes_have_a_section():
    imported = re.findall(r"--as ([a-z]+)", PAGE)
    assert {"cqi", "snr", "rates", "mahimahi", "eurane", "traffic"} <= set(imported)
