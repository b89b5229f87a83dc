"""Live figures and exercises of pages, and links that open scenarios in the playground.

The page's script (`web/src/live`) draws figures and exercises if the playground was built (`make
playground`); without it a figure is a sentence, and an exercise its question.
"""

from __future__ import annotations

import html
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

from nodeb import _core, labs, play
from nodeb.inputs.scenario import Scenario

DOCS = Path(__file__).parent
LABS = DOCS.parent / "python" / "nodeb" / "labs"
KINDS = {"exercise", "live"}
"""Marks whose parts need the page's script."""
SCRIPT, PAGE = play.PAGE.with_name("live.js"), play.PAGE
FOLDER = "play"


def script(url: str) -> str:
    """Returns the script of a page with figures or exercises; empty if it was not built."""
    if not SCRIPT.exists():
        return ""
    return f'\n\n<script src="{_up(url)}{FOLDER}/live.js" defer></script>\n'


def link(file: str, url: str) -> str:
    """Returns a link that opens a scenario in the playground; empty if it was not built."""
    if not PAGE.exists():
        return ""
    path = DOCS.parent / file
    is_start = path.parent.name in ("starts", "cells")
    fragment = f"start={path.stem}" if is_start else play.link(path.read_text("utf-8"))
    address = html.escape(f"{_up(url)}{FOLDER}/index.html#{fragment}")
    return f'<a class="play" href="{address}">Open in the playground</a>'


def can_play(file: str) -> bool:
    """Returns true if the playground can simulate the file: a scenario that names no other
    files."""
    text = (DOCS.parent / file).read_text("utf-8")
    try:
        return not _core.CompiledScenario.from_toml(text, file, []).unread
    except _core.ScenarioError:  # It describes something else, such as a chip-level link.
        return False


def answers() -> str:
    """Returns the exercises of all labs with their answers, simulated now, and their hints."""
    parts = []
    for name in labs.names():
        lab = labs.load(name)
        parts.append(f"### {lab.title}")
        parts += [f"- {_answer(exercise)}" for exercise in lab.exercises.values()]
    return "\n\n".join(parts)


def _answer(one: labs.Exercise) -> str:
    hints = [choice["hint"] for choice in (*one.wrong, *one.choices)]
    if one.answer is None:
        [place] = [at for at in range(len(one.choices)) if one.check(at + 1).right]
        answer = one.choices[place]["text"]
        del hints[len(one.wrong) + place]
    else:
        value = one.answer.simulate(Scenario.from_toml(one.scenario))
        answer = f"{value.mean:.3g} {one.unit}".strip()
        answer += f" (tolerance {one.tolerance:.0%})".replace("%", " %")
    mistakes = "".join(f"\n    - {hint[0].upper()}{hint[1:]}" for hint in hints)
    return f"{one.question} **{answer}** {one.right}{mistakes}"


def copy(site: Path) -> None:
    """Copies the playground, if it was built, into the folder of the site."""
    if PAGE.exists():
        (site / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(PAGE, site / FOLDER / "index.html")
        shutil.copyfile(SCRIPT, site / FOLDER / "live.js")


def _up(url: str) -> str:
    return "../" * url.count("/")


def element(kind: str, of: str) -> str:
    """Returns the figure or exercise `FILE.NAME`."""
    file, _, name = of.partition(".")
    place = next(one for one in (DOCS / f"{file}.toml", LABS / f"{file}.toml") if one.exists())
    found = tomllib.loads(place.read_text("utf-8"))
    one = found[kind][name]
    if kind == "exercise":
        one = {**one, "scenario": found["live"][one["live"]]["scenario"]}
    data = json.dumps({"name": f"{file}.{name}", **one}, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<div><nodeb-{kind}><script type="application/json">{data}</script>'
        f"{html.escape(_plain(kind, one))}</nodeb-{kind}></div>"
    )


def _plain(kind: str, one: dict[str, Any]) -> str:
    """Returns what a reader sees without the script."""
    if kind == "live":
        return f"Figure: {one['title']}. It needs JavaScript, and a site with the playground."
    choices = "; ".join(choice["text"] for choice in one.get("choices", ()))
    return f"Exercise: {one['question']}" + (f" ({choices})" if choices else "")
