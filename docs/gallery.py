"""Inserts the examples and their figures, which `make gallery` draws, into the gallery page."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import live

DOCS = Path(__file__).parent
PLAN, DRAWN = DOCS / "gallery.toml", DOCS / "gallery.json"
PICTURES = Path("images") / "gallery"
MARK = "{{ gallery }}"


def plan() -> dict[str, dict[str, str]]:
    """Returns the entries of `gallery.toml`: title, commands and captions, by the example's path
    without suffix.
    """
    return tomllib.loads(PLAN.read_text(encoding="utf-8"))


def drawn() -> dict[str, dict[str, Any]]:
    """Returns the provenance of each drawn figure, such as seed and version, by the example's path
    without suffix.
    """
    found: dict[str, dict[str, Any]] = json.loads(DRAWN.read_text(encoding="utf-8"))
    return found


def picture(name: str) -> Path:
    """Returns the path of an example's figure, relative to the documentation's folder."""
    return PICTURES / f"{name.replace('/', '-')}.png"


def expand(markdown: str, url: str) -> str:
    """Replaces the mark `{{ gallery }}` in a page by all examples with their figures."""
    if MARK not in markdown:
        return markdown
    of = drawn()
    parts = [_entry(name, entry, of[name], url) for name, entry in plan().items()]
    return markdown.replace(MARK, "\n\n".join(parts))


def _play(name: str, url: str) -> str:
    """Returns a link that opens an example in the playground, if a page can simulate it."""
    file = f"examples/{name}.toml"
    return live.link(file, url) if live.can_play(file) else ""


def _entry(name: str, entry: dict[str, str], of: dict[str, Any], url: str) -> str:
    image = picture(name).as_posix()
    anchor = name.replace("/", "-")
    language, code = ("sh", entry["plot"]) if "plot" in entry else ("python", entry["python"])
    return "\n\n".join(
        [
            f"## {entry['title']} {{#{anchor}}}",
            f"`examples/{name}.toml`. {entry['shows']} {_play(name, url)}".strip(),
            f"```sh\n{entry['command']}\n```",
            f"[![{entry['picture']}]({image})]({image})",
            f"*{entry['picture']} Seed {of['seed']}, nodeb {of['nodeb']}. Drawn by:*",
            f"```{language}\n{code.strip()}\n```",
        ]
    )
