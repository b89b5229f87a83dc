"""Compares two results of `nodeb reproduce`, cell by cell and claim by claim.

    python tools/compare_cells.py BEFORE AFTER [--exact]

BEFORE and AFTER are folders with a `cells.csv` and optionally a `claims.csv`, or two such files.

A cell is identical, within the interval, or outside. It is within the interval if the values differ
by at most the root of the sum of the squares of the two half-widths.

A claim is identical, has the same verdict with other evidence, or has another verdict. A claim that
`does not hold` in an older file may be contradicted or undecided in a newer one.

All differences are printed. The exit status is 1 if a cell is outside, a verdict differs, or a row
is in one file only; with --exact, if there is any difference. It is 2 if the files cannot be
compared.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Row = Mapping[str, str]
Key = tuple[str, ...]

IDENTICAL, WITHIN, OUTSIDE = "identical", "within the interval", "outside"
EVIDENCE, VERDICT = "same verdict, other evidence", "another verdict"
GONE, NEW = "only before", "only after"
HARMLESS = (IDENTICAL, WITHIN, EVIDENCE)
# In an older file, "does not hold" stands for both "contradicted" and "undecided".
_HOLDS, _FAILS = "holds", "does not hold"


@dataclass(frozen=True)
class Kind:
    """Kind of file to compare: columns that identify its rows, and comparison of two rows."""

    file: str
    key: Key
    judge: Callable[[Row, Row], str]
    show: Callable[[Row], str]


def judge_cell(before: Row, after: Row) -> str:
    """Returns how a cell has changed: identical, within the interval, or outside.

    An older file may lack columns.
    """
    if all(before[name] == after[name] for name in before.keys() & after.keys()):
        return IDENTICAL
    fixed = ("unit", "published")
    if any(before[name] != after[name] for name in fixed):
        return OUTSIDE
    old, new = _number(before["measured"]), _number(after["measured"])
    if math.isnan(old) or math.isnan(new):
        return WITHIN if math.isnan(old) and math.isnan(new) else OUTSIDE
    allowed = math.hypot(_half_width(before), _half_width(after))
    return WITHIN if abs(old - new) <= allowed else OUTSIDE


def judge_claim(before: Row, after: Row) -> str:
    """Returns how a claim has changed: identical, same verdict, or another verdict.

    An older file only states whether the claim holds.
    """
    verdicts = {_verdict(row) for row in (before, after)}
    common = before.keys() & after.keys()
    if len(verdicts) == 1 and all(before[name] == after[name] for name in common):
        return IDENTICAL
    if _FAILS in verdicts:
        verdicts = {one if one == _HOLDS else _FAILS for one in verdicts}
    return EVIDENCE if len(verdicts) == 1 else VERDICT


def _number(text: str) -> float:
    return float(text) if text else math.nan


def _half_width(row: Row) -> float:
    width = (_number(row["ci95_high"]) - _number(row["ci95_low"])) / 2
    return width if math.isfinite(width) else 0.0


def _show_cell(row: Row) -> str:
    ends = f" [{row['ci95_low']} .. {row['ci95_high']}]" if row["ci95_low"] else ""
    return f"{row['measured'] or '-'}{ends} {row['unit']}".rstrip()


def _verdict(row: Row) -> str:
    return row.get("verdict") or (_HOLDS if row["holds"] == "true" else _FAILS)


def _show_claim(row: Row) -> str:
    return f"{_verdict(row)}: {row['evidence']}"


CELLS = Kind("cells.csv", ("study", "item", "row", "column"), judge_cell, _show_cell)
CLAIMS = Kind("claims.csv", ("study", "id"), judge_claim, _show_claim)


def read(path: Path, kind: Kind) -> dict[Key, Row]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    found: dict[Key, Row] = {}
    for line, row in enumerate(rows, 2):
        try:
            key = tuple(row[name] for name in kind.key)
        except KeyError as error:
            raise ValueError(f"{path}: there is no column {error}; is it a {kind.file}?") from None
        if key in found:
            raise ValueError(f"{path}:{line}: {', '.join(key)} is a duplicate")
        found[key] = row
    return found


def changes(
    before: Mapping[Key, Row], after: Mapping[Key, Row], kind: Kind
) -> Iterator[tuple[Key, str, str]]:
    for key in {**before, **after}:
        if key not in after:
            yield key, GONE, kind.show(before[key])
        elif key not in before:
            yield key, NEW, kind.show(after[key])
        else:
            old, new = before[key], after[key]
            yield key, kind.judge(old, new), f"{kind.show(old)} -> {kind.show(new)}"


def pairs(before: Path, after: Path) -> list[tuple[Kind, Path, Path]]:
    if before.is_dir() and after.is_dir():
        claims = (before / CLAIMS.file).exists() or (after / CLAIMS.file).exists()
        kinds = [CELLS, CLAIMS] if claims else [CELLS]
        return [(kind, before / kind.file, after / kind.file) for kind in kinds]
    kind = CLAIMS if before.name.startswith("claims") else CELLS
    return [(kind, before, after)]


def compare(before: Path, after: Path, exact: bool) -> int:
    """Prints the differences. Returns 1 if a difference is worse than allowed, else 0."""
    worst = 0
    for kind, one, other in pairs(before, after):
        counts: Counter[str] = Counter()
        for key, how, text in changes(read(one, kind), read(other, kind), kind):
            counts[how] += 1
            if how != IDENTICAL:
                print(f"{how}: {', '.join(key)}: {text}")
            if how not in ((IDENTICAL,) if exact else HARMLESS):
                worst = 1
        summary = ", ".join(f"{count} {how}" for how, count in counts.most_common())
        print(f"{kind.file}: {summary or 'nothing in it'}")
    return worst


def main() -> int:
    """Compares the files or folders that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--exact", action="store_true", help="fail for any difference")
    options = parser.parse_args()
    try:
        return compare(options.before, options.after, options.exact)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
