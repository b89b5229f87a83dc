"""Comparison with ns-2: packet-level traces, row by row."""

from __future__ import annotations

import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import oracle

from nodeb import _core
from references.row import Row

ARCHIVE = Path(__file__).parents[2] / "tests" / "data" / "ns2-traces.tar.xz"
LIMIT = "every row: 1 \N{MICRO SIGN}s, 0.001 packet"
COMMAND = "python -m pytest tests/python/tools/test_oracle.py"


def rows() -> Iterator[Row]:
    """Yields one row per TCP variant, with the number of its traces that differ from ns-2."""
    differ: dict[str, list[bool]] = defaultdict(list)
    for variant, text in traces():
        differ[variant].append(oracle.check(text) is not None)
    for variant, found in sorted(differ.items()):
        distance = f"{sum(found)} differ" if any(found) else "none differs"
        yield Row("ns-2.35", f"traces of `{variant}`", len(found), distance, LIMIT, COMMAND)


def traces() -> Iterator[tuple[str, str]]:
    """Yields each trace of the archive as a pair of its TCP variant and its text."""
    variants = {name for kind, name, _ in _core.registry() if kind == "control"}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            parts = member.name.split("_")
            file = archive.extractfile(member)
            if len(parts) > 1 and parts[1] in variants and file is not None:
                yield parts[1], file.read().decode()
