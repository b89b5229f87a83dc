"""Checks that the cells of a text are separated in the same way on all lines."""

from __future__ import annotations

import io
import re
from pathlib import Path

from nodeb.errors import ScenarioError

__all__ = ["check_separators"]

MARKS = {b",": "commas", b";": "semicolons", b"\t": "tabs"}
"""Separators and their names, in order of precedence, as in the core.

A line that has several of them is split only at the first of these; one that has none is split at
blanks.
"""


def check_separators(data: bytes, path: Path) -> None:
    """Checks that lines of several cells have the separator of the first line, and no more
    cells.

    Empty lines, comments and lines of one cell are not checked.

    Without this check a decimal comma would be taken for a separator.
    """
    heading = None
    for number, line in enumerate(map(bytes.strip, io.BytesIO(data)), 1):
        if not line or line.startswith(b"#"):
            continue
        mark, cells = _split(line)
        if heading is None:
            heading = number, mark, cells
        first, separator, width = heading
        if cells > 1 and (mark != separator or cells > width):
            hint = "; numbers need a decimal point, not a comma" if _has_comma(line) else ""
            raise ScenarioError(
                f"{path}:{number}: this line has {_described(mark, cells)}, line {first} has "
                f"{_described(separator, width)}; expected the same separator, and no more cells "
                f"than in line {first}{hint}"
            )


def _split(line: bytes) -> tuple[bytes, int]:
    """Empty cells at the end of the line are not counted."""
    mark = next((mark for mark in MARKS if mark in line), b"")
    return mark, line.rstrip(mark).count(mark) + 1 if mark else len(line.split())


def _has_comma(line: bytes) -> bool:
    return re.search(rb"\d,\d", line) is not None


def _described(mark: bytes, cells: int) -> str:
    separated = f"cells separated by {MARKS.get(mark, 'blanks')}"
    return "1 cell" if cells == 1 else f"{cells} {separated}"
