"""Writes the descriptions of the metrics for the page in a browser."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from nodeb.results.metrics import METRICS


def text() -> str:
    found = [
        {
            "name": one.name,
            "unit": one.unit,
            "meaning": one.meaning,
            "label": one.label,
            "better": one.better,
            "low": one.low,
            "high": one.high if math.isfinite(one.high) else None,
            "percent": one.percent,
            "completed": one.completed,
            "canFail": one.can_fail,
            "column": one.column,
        }
        for one in METRICS.values()
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Returns 1 if a checked file differs."""
    *options, name = arguments
    file = Path(name)
    if options == ["--check"]:
        if file.read_text("utf-8") == text():
            return 0
        print(f"{file} differs; write it with `python tools/web_metrics.py {file}`")
        return 1
    file.write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
