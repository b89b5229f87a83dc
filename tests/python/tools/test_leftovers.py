"""A test run that leaves something behind fails, and names the thing and the test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emulations import gone, long_time

HELPERS = Path(__file__).parents[1] / "helpers"


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a file of tests. It returns the exit status and the output."""

    def run(program, *options):
        (tmp_path / "test_it.py").write_text(program)
        command = [sys.executable, "-m", "pytest", "-p", "leftovers", "-c", os.devnull, *options]
        environment = {**os.environ, "PYTHONPATH": f"{HELPERS}", "NODEB_TESTS": "another"}
        done = subprocess.run(
            [*command, "--rootdir", tmp_path, tmp_path / "test_it.py"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=environment,
        )
        return done.returncode, done.stdout + done.stderr

    return run


LEAVES = """
import subprocess, sys, tempfile
def test_that_is_tidy():
    subprocess.run(["true"], check=True)
    tempfile.TemporaryDirectory().cleanup()
def test_that_leaves():
    {}
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_leftover_process_is_named_with_its_test_and_ended(run, options):
    mark = f"sleep {long_time()}"
    orphan = f"subprocess.run(['sh', '-c', 'setsid {mark} >/dev/null 2>&1 &'], check=True)"
    begun = time.monotonic()
    status, output = run(LEAVES.format(orphan), *options)
    assert status == 1
    assert "2 passed" in output
    (line,) = (line for line in output.splitlines() if mark in line)
    assert line.startswith("process ")
    assert line.endswith("test_it.py::test_that_leaves")
    assert "test_that_is_tidy" not in output
    assert gone(mark)
    assert time.monotonic() - begun < 60


def test_leftover_file_is_named(run):
    status, output = run(LEAVES.format("tempfile.mkstemp(prefix='of-a-test-')"))
    assert status == 1
    assert "\ntemporary file of-a-test-" in output


def test_leftover_device_is_named(tmp_path):
    """A device that exists after a test run but did not exist before is reported."""
    from leftovers import Leftovers

    found = Leftovers("nobody", tmp_path)
    names = {"device nodeb-7": "", "network namespace other": ""}
    found._looks = [lambda: names]
    assert found.found() == names


def test_clean_run_passes(run):
    status, output = run(LEAVES.format("pass"))
    assert (status, "left behind" in output) == (0, False), output
