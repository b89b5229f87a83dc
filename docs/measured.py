"""Inserts the numbers that `make numbers` has measured into the pages."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("numbers.json")
NAME = re.compile(r"\{\{ (number|numbers|output): ([\w.-]+) \}\}")


@cache
def load() -> dict[str, Any]:
    """Returns the measured sets of `numbers.json` by name: numbers, output and provenance."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def expand(markdown: str) -> str:
    """Replaces marks such as `{{ number: SET.NAME }}` in a page by measured numbers."""
    return NAME.sub(lambda found: _shown(found[1], found[2]), markdown)


def _shown(kind: str, name: str) -> str:
    of, _, key = name.partition(".")
    try:
        measured = load()[of]
        if kind == "number":
            return text(measured["numbers"][key])
        return str(measured["output"]) if kind == "output" else how(measured)
    except KeyError:
        raise ValueError(f"`{{{{ {kind}: {name} }}}}` was not measured; see numbers.toml") from None


def text(number: dict[str, Any]) -> str:
    digits = number["digits"]
    sign = "+" if number["as"] != "mean" else ""
    value, low, high = (
        f"{number[key]:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}")
        for key in ("value", "low", "high")
    )
    return f"{value} [{low}, {high}] {number['unit']}"


def how(measured: dict[str, Any]) -> str:
    """Returns a sentence about a measured set: command, replications, seed and type of the
    intervals.
    """
    several = {number["n"] for number in measured["numbers"].values()}
    runs = " or ".join(map(str, sorted(several)))
    return (
        f"`{measured['command']}`: {runs} replications, seed {measured['seed']}, in brackets 95 % "
        f"intervals; {measured['means']}."
    )
