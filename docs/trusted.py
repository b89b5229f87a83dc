"""Inserts the results of the comparisons with references, which `make trust` runs, into the
validation page.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("trust.json")
NAME = re.compile(r"\{\{ trust: ([\w-]+) \}\}")
COLUMNS = ("witness", "compared", "count", "distance", "limit")


@cache
def load() -> dict[str, Any]:
    """Returns the results of each reference from `trust.json`, by the reference's name."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def expand(markdown: str) -> str:
    """Replaces marks such as `{{ trust: NAME }}` in a page by the results of the reference."""
    return NAME.sub(lambda found: table(load().get(found[1])), markdown)


def table(said: dict[str, Any] | None) -> str:
    """Returns a table of one reference's results, followed by the commands that reproduce them."""
    if not said or not said["rows"]:
        return "*This reference was not compared: software or data that it needs was missing.*"
    head = ["reference", "compared", "number", "distance", "limit of the test"]
    lines = [head, ["---"] * len(head)]
    lines += [[str(row[name]) for name in COLUMNS] for row in said["rows"]]
    commands = dict.fromkeys(f"`{row['command']}`" for row in said["rows"])
    made = said["made"]
    told = f"{', '.join(commands)}; compared on {made['when'][:10]}, nodeb {made['version']}."
    if "--quick" in told:
        told += (
            " Short versions: their intervals are wide, and many claims stay undecided. The pages "
            "of the studies have the results of the complete versions."
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{told}"
