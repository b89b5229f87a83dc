"""What the witnesses say, in the page on how far nodeb can be trusted; `make trust` asks them."""

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
    """What each witness said."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def expand(markdown: str) -> str:
    """Puts in what witnesses say."""
    return NAME.sub(lambda found: table(load().get(found[1])), markdown)


def table(said: dict[str, Any] | None) -> str:
    """The rows of a witness, and what shows them again."""
    if not said or not said["rows"]:
        return "*This witness was not asked: what it needs was not at hand.*"
    head = ["witness", "compared", "how many", "distance", "a test asks for"]
    lines = [head, ["---"] * len(head)]
    lines += [[str(row[name]) for name in COLUMNS] for row in said["rows"]]
    commands = dict.fromkeys(f"`{row['command']}`" for row in said["rows"])
    made = said["made"]
    told = f"{', '.join(commands)}; asked {made['when'][:10]}, nodeb {made['version']}."
    if "--quick" in told:
        told += " Short versions: their intervals are wide, and many claims stay undecided."
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{told}"
