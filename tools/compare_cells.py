"""Compares two results of `nodeb reproduce`, cell by cell and claim by claim.

    python tools/compare_cells.py BEFORE AFTER [--exact]

BEFORE and AFTER are folders with a `cells.csv` and optionally a `claims.csv`.

A cell is identical, within the interval, or outside. It is within the interval if the values differ
by at most the root of the sum of the squares of the two half-widths. A claim is identical, has the
same verdict with other evidence, or has another verdict.

All differences are printed. The exit status is 1 if a cell is outside, a verdict differs, or a row
is in one file only; with --exact, if there is any difference.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

Row = Mapping[str, str]
HARMLESS = ("identical", "within the interval", "same verdict, other evidence")


def judge_cell(before: Row, after: Row) -> str:
    if any(before[name] != after[name] for name in ("unit", "published")):
        return "outside"
    (old, old_width), (new, new_width) = map(measured, (before, after))
    near = abs(old - new) <= math.hypot(old_width, new_width) or (
        math.isnan(old) and math.isnan(new)
    )
    return "within the interval" if near else "outside"


def measured(row: Row) -> tuple[float, float]:
    """Value and half-width; a value without interval has the half-width 0."""
    names = "measured", "ci95_low", "ci95_high"
    value, low, high = (float(row[name] or "nan") for name in names)
    width = (high - low) / 2
    return value, width if math.isfinite(width) else 0.0


def judge_claim(before: Row, after: Row) -> str:
    same = before["verdict"] == after["verdict"]
    return "same verdict, other evidence" if same else "another verdict"


def show_cell(row: Row) -> str:
    ends = f" [{row['ci95_low']} .. {row['ci95_high']}]" if row["ci95_low"] else ""
    return f"{row['measured'] or '-'}{ends} {row['unit']}".rstrip()


def show_claim(row: Row) -> str:
    return f"{row['verdict']}: {row['evidence']}"


FILES: dict[str, tuple[list[str], Callable[[Row, Row], str], Callable[[Row], str]]] = {
    "cells.csv": (["study", "item", "row", "column"], judge_cell, show_cell),
    "claims.csv": (["study", "id"], judge_claim, show_claim),
}
"""Columns that identify a row, comparison of two rows, and text of a row, by file."""


def read(file: Path, key: list[str]) -> dict[str, Row]:
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {", ".join(row[name] for name in key): row for row in csv.DictReader(lines)}


def compare(before: Path, after: Path, exact: bool) -> int:
    """Prints the differences. Returns 1 if a difference is worse than allowed, else 0."""
    worst = 0
    for name, (key, judge, show) in FILES.items():
        old, new = read(before / name, key), read(after / name, key)
        counts: Counter[str] = Counter()
        for row in {**old, **new}:
            texts = [show(rows[row]) for rows in (old, new) if row in rows]
            if len(texts) < 2:
                how = "only before" if row in old else "only after"
            else:
                how = "identical" if old[row] == new[row] else judge(old[row], new[row])
            counts[how] += 1
            if how != "identical":
                print(f"{how}: {row}: {' -> '.join(texts)}")
            if how not in (HARMLESS[:1] if exact else HARMLESS):
                worst = 1
        summary = ", ".join(f"{count} {how}" for how, count in counts.most_common())
        print(f"{name}: {summary or 'nothing in it'}")
    return worst


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--exact", action="store_true", help="fail for any difference")
    options = parser.parse_args()
    raise SystemExit(compare(options.before, options.after, options.exact))
