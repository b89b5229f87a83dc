"""Scenarios that many tests use."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

SMALL = """
name = "small"
runs = 4
[radio.dch]
bler = 0.1
[[users]]
count = 2
traffic.ftp.size = "20 kB"
"""


@pytest.fixture
def scenario_file(tmp_path):
    """A small scenario with chance in it, as a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def small(scenario_file):
    """The same, loaded."""
    import nodeb

    return nodeb.load(scenario_file)
