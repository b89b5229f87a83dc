"""Tests of the modules that each command imports, which determine the time of its start."""

import subprocess
import sys

import pytest

from scenarios import EXAMPLES

SLOW = (
    "scipy",
    "matplotlib",
    "pandas",
    "polars",
    "hmmlearn",
    "jinja2",
    "rich",
    "nodeb.plot",
    "typer",
)
SLOW += ("pydantic", "numpy.ma", "sqlite3", "statistics")
"""Modules that no command needs until it draws, fits or waits."""

EXAMPLE = str(next(path for path in EXAMPLES if path.stem == "dch-50k"))
FOR_RESULTS = ("numpy", "pyarrow", "nodeb.scenario_types")
COMMANDS = {
    "import nodeb": (*SLOW, *FOR_RESULTS, "nodeb._core"),
    f"from nodeb.cli import invoke; invoke(['validate', {EXAMPLE!r}])": (*SLOW, *FOR_RESULTS),
    f"from nodeb.cli import invoke; invoke(['run', {EXAMPLE!r}, '--runs', '2'])": SLOW,
}


@pytest.mark.parametrize("command", COMMANDS, ids=["import", "validate", "run"])
def test_commands_import_only_what_they_need(command, tmp_path):
    program = f"import sys\n{command}\nprint('imported:', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imported = done.stdout.rpartition("imported:")[2].split()
    assert not set(COMMANDS[command]) & set(imported)
