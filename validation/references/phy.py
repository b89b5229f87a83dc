"""Comparison of the chip-level link with other decoders and with closed forms of the rake."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from references.row import Row, spread

RATIO = re.compile(r", ratio ([\d.]+)$", re.MULTILINE)
TESTS = (
    (
        "turbo",
        "reference_error_rates",
        "AFF3CT 3.0.2 and IT++ 4.3.1",
        "frame error rates of the turbo code",
        "20 %",
    ),
    (
        "link",
        "maximum_ratio_combining",
        "Proakis, Digital Communications, 14.4-15",
        "bit error rates of the rake",
        "10 %",
    ),
)
"""Test file, beginning of the test's name, reference, quantity compared, limit of the test."""


def rows(everything: bool) -> Iterator[Row]:
    """Yields the rows that compare error rates of the turbo code and of the rake."""
    for file, test, witness, compared, limit in TESTS:
        command = f"cargo test --release -p nodeb-phy --test {file} {test} -- --nocapture"
        command += " --include-ignored" if everything else ""
        done = subprocess.run(
            command.split(),
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
        )
        ratios = [float(ratio) for ratio in RATIO.findall(done.stdout)]
        yield Row(witness, compared, len(ratios), spread(ratios), limit, command)
