"""Measures the numbers quoted in the documentation: docs/numbers.toml to docs/numbers.json."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
PLAN, FOUND = ROOT / "docs" / "numbers.toml", ROOT / "docs" / "numbers.json"
TABLES = {"sweep": "sweep.parquet", "compare": "comparison.parquet"}
Row = dict[str, Any]


def main(names: Iterable[str]) -> None:
    plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    chosen = list(names) or list(plan)
    if unknown := set(chosen) - set(plan):
        sys.exit(f"error: no set {', '.join(sorted(unknown))} (there is: {', '.join(plan)})")
    known = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    found = {name: known[name] for name in plan if name in known}
    for name in chosen:
        print(f"{name}: {plan[name]['command']}", flush=True)
        found[name] = measured(plan[name])
    ordered = {name: found[name] for name in plan if name in found}
    FOUND.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def measured(entry: Mapping[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        program, verb, *rest = shlex.split(entry["command"])
        if program != "nodeb":
            raise ValueError(f"`{program}` is not `nodeb`")
        printed = subprocess.run(
            [sys.executable, "-m", "nodeb", verb, *rest, "--out", str(out)],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        if "show" in entry:
            return {"command": entry["command"], "output": shortened(printed, entry["show"])}
        rows = pq.read_table(out / TABLES[verb]).to_pylist()
    numbers = {name: number(rows, verb, wanted) for name, wanted in entry["numbers"].items()}
    (seed,) = {row["seed"] for row in rows}
    about = {key: entry[key] for key in ("command", "means")}
    return {**about, "seed": seed, "numbers": numbers}


def shortened(text: str, show: Iterable[str]) -> str:
    left, skipped = list(show), False
    shown: list[str] = []
    for line in text.splitlines():
        if left and re.search(left[0], line):
            shown += ["..."] if skipped and line and shown and shown[-1] else []
            shown.append(line.rstrip())
            left.pop(0)
            skipped = False
        else:
            skipped = True
    if left:
        raise ValueError(f"no line with `{left[0]}` was printed")
    return "\n".join(shown)


def number(rows: Iterable[Row], verb: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    where = dict(wanted["where"]) | ({"metric": wanted["metric"]} if verb == "compare" else {})
    found = [row for row in rows if all(row[key] == value for key, value in where.items())]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows have {where}")
    shown, scale = wanted.get("as", "mean"), float(wanted.get("scale", 1))
    value, low, high = (of_compare if verb == "compare" else of_sweep)(found[0], wanted, shown)
    same = {"unit": wanted["unit"], "digits": wanted["digits"], "as": shown}
    runs = found[0]["pairs" if verb == "compare" else "runs"]
    return {"value": value * scale, "low": low * scale, "high": high * scale, "n": runs, **same}


def of_sweep(row: Row, wanted: Mapping[str, Any], shown: str) -> tuple[float, float, float]:
    """Returns the mean or difference of a metric in a cell, with its 95 % interval."""
    name = wanted["metric"] + {"mean": "", "difference": "_diff"}[shown]
    return row[name], row[f"{name}_ci95_low"], row[f"{name}_ci95_high"]


def of_compare(row: Row, wanted: Mapping[str, Any], shown: str) -> tuple[float, float, float]:
    """Returns the difference from the baseline with its 95 % interval, absolute or in percent."""
    del wanted
    if row["confidence"] != 0.95:
        raise ValueError("several scenarios were compared: the intervals are wider than 95 %")
    if shown == "percent":
        return tuple(100 * (row[key] - 1) for key in ("ratio", "ratio_low", "ratio_high"))
    return row["difference"], row["difference_low"], row["difference_high"]


if __name__ == "__main__":
    main(sys.argv[1:])
