"""Makes the parts of the site for which pages have marks, such as `{{ nodeb list keys wired }}`.

mkdocs calls the functions `on_...`. Measured parts are read: `numbers.json` and `gallery.json` are
written by `refresh.py`, `trust.json` and `fairness.json` by the programs in `validation`.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import features
import live
import notebooks
from key_reference import Reference

from nodeb import _core, studies
from nodeb.cli import COMMANDS, parser
from nodeb.emulate import samples
from nodeb.inputs import cells
from nodeb.results import glossary
from nodeb.results.metrics import METRICS, Metric

DOCS = Path(__file__).parent
MARK = re.compile(r"\{\{ (?:nodeb (?=list ))?([a-z0-9]+)(?:(?:: | )([^{}]+))? \}\}")
TRUST = {
    "reference": "witness",
    "compared": "compared",
    "number": "count",
    "distance": "distance",
    "limit of the test": "limit",
}
"""Heads of the columns of a comparison with a reference, and their keys in `trust.json`."""

OF_A_FOLDER = """if (location.protocol === "file:") {
  const search = %s;
  window.Worker = class extends Worker {
    constructor(script, options) {
      const own = String(script).includes("/workers/search.");
      super(own ? URL.createObjectURL(new Blob([search])) : script, options);
    }
  };
}
"""
"""Script of a site in a folder, where browsers start no worker from a file: the source is `%s`."""


class Place(NamedTuple):
    """Path of a page below `docs`, and its address on the site."""

    path: str
    url: str


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return expanded(markdown, Place(page.file.src_uri, page.url))


def on_post_build(config: Any, **_: Any) -> None:
    """Adds the playground and the labs' notebooks to the site, and a search without a server."""
    site = Path(config["site_dir"])
    scripts = site / "assets" / "javascripts"
    (worker,) = scripts.glob("workers/search.*.js")
    source = json.dumps(worker.read_text("utf-8"))
    (scripts / "iframe-worker.js").write_text(OF_A_FOLDER % source, "utf-8")
    live.copy(site)
    notebooks.write(site / "labs" / "notebooks")


def expanded(markdown: str, place: Place) -> str:
    """Replaces the marks of a page.

    Raises:
        ValueError: a mark has no such part.
    """
    kinds = set()

    def part(mark: re.Match[str]) -> str:
        kind, argument = mark[1], mark[2] or ""
        kinds.add(kind)
        try:
            return PARTS[kind](argument, place).strip()
        except KeyError as error:
            raise ValueError(f"{place.path}: `{mark[0]}`: there is no {error}") from None

    return MARK.sub(part, markdown) + (live.script(place.url) if kinds & live.KINDS else "")


# --- Lists of what the package has ---


def listed(argument: str, place: Place) -> str:
    """Returns what `nodeb list ARGUMENT` prints, as tables."""
    kind, _, path = argument.partition(" ")
    if kind == "keys":
        return reference().sections_of(place.path, path)
    if kind == "cells":
        return table(
            ["cell", "question"], [[f"`{one}`", cells.title(one)] for one in cells.names()]
        )
    if kind == "metrics":
        return described("metric", METRICS.values())
    variants = [(name, text) for of, name, text in _core.registry() if of == argument.strip('"')]
    if not variants:
        raise KeyError(argument)
    return table(["name", "meaning"], [[f"`{name}`", text] for name, text in variants])


@cache
def reference() -> Reference:
    pages = {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
    texts = {path: page.read_text("utf-8") for path, page in pages.items()}
    return Reference(json.loads(_core.schema()), texts)


def commands() -> str:
    return "\n\n".join(command(name) for name in COMMANDS if name != "link")


def command(name: str) -> str:
    """Returns the section of a command: description, usage, a table of its options."""
    options, _ = parser(name)
    options.whole_help()  # Adds the arguments without names.
    lines = [f"## nodeb {name} {{#{name.replace(' ', '-')}}}", "", COMMANDS[name], ""]
    lines += [f"```sh\n{options.usage}\n{options.example}\n```", ""]
    rows = []
    for action in sorted(options._actions, key=lambda one: bool(one.option_strings)):
        names = filter(None, [" / ".join(action.option_strings), str(action.metavar or "")])
        meaning = re.sub(r"\s+", " ", action.help or "").replace("%%", "%").replace("|", "\\|")
        rows.append([f"`{' '.join(names)}`", meaning])
    return "\n".join([*lines, table(["argument or option", "meaning"], rows)])


def eras() -> str:
    """Returns a table of ns-2's changed defaults, in order of their dates."""

    def shown(value: str) -> str:
        return {"true": "yes", "false": "no"}.get(value, str(json.loads(value)))

    rows = [
        [since, f"`{key}`", f"`{variable}`", shown(before), shown(after), meaning]
        for key, variable, since, before, after, meaning in _core.era_switches()
    ]
    return table(["since", "key", "ns-2's variable", "before", "since then", "meaning"], rows)


def tables() -> str:
    """Returns a section for each table of results, with its meaning and its columns."""
    parts = []
    for one in glossary.tables().values():
        parts.append(f"## {one.name} {{#{one.name}}}\n\n{meaning(one.name, one.meaning)}\n")
        parts.append(described("column", one.columns.values()) + "\n")
    return "\n".join(parts)


def declared(tables: Iterable[tuple[str, str, Iterable[tuple[str, str, str]]]]) -> str:
    """Returns sections on tables that the core declares in addition to the tables of a run."""
    parts = []
    for name, text, columns in tables:
        rows = [[f"`{column}`", unit, of] for column, unit, of in columns]
        content = table(["column", "unit", "meaning"], rows)
        parts.append(f"### {name} {{#{name}}}\n\n{meaning(name, text)}\n\n{content}")
    return "\n\n".join(parts)


def meaning(name: str, text: str) -> str:
    for begin, verb in (("One row ", "has one row "), ("Histogram ", "is a histogram ")):
        if text.startswith(begin):
            return f"The table `{name}` {verb}{text.removeprefix(begin)}"
    return f"`{name}`: {text}"


def described(title: str, items: Iterable[glossary.Column | Metric]) -> str:
    rows = [[f"`{one.name}`", one.unit, one.meaning] for one in items]
    return table([title, "unit", "meaning"], rows)


def causes() -> str:
    """Returns the causes of `nodeb explain`, as the terminal shows them."""
    rows = [[f"`{name.removeprefix('window: ')}`", text] for name, text in _core.causes()]
    return table(["cause", "meaning"], rows)


def assumptions(name: str) -> str:
    texts = studies.load(name).texts["assumptions"]
    return "\n\n".join(f"**{one['text']}** {one['reason']}" for one in texts)


def lte_features() -> str:
    head = ["feature", "clause", "tested against", "state"]
    sections = features.sections(features.core()).items()
    return "\n\n".join(
        f"### {title}\n\n{table(head, map(features.row, rows))}" for title, rows in sections
    )


def lte_missing() -> str:
    missing = sorted(features.core().missing, key=lambda one: features.order(one[0]))
    rows = [[name, clause, reason] for clause, name, reason in missing]
    return table(["feature", "clause", "reason"], rows)


# --- What was measured ---


@cache
def data(file: str) -> Any:
    return json.loads((DOCS / file).read_text("utf-8"))


def rows_of(file: str) -> str:
    """Returns the measured values of a CSV file as a table."""
    with (DOCS / file).open(newline="", encoding="utf-8") as lines:
        head, *rows = csv.reader(lines)
    return table(head, rows)


def number(name: str) -> str:
    """Returns a measured number with its 95 % interval, such as `+3.9 [2.8, 5.1] s`."""
    of, _, key = name.partition(".")
    measured = data("numbers.json")[of]["numbers"][key]
    sign = "+" if measured["as"] != "mean" else ""
    value, low, high = (
        f"{measured[end]:{sign}.{measured['digits']}f}".replace("-", "\N{MINUS SIGN}")
        for end in ("value", "low", "high")
    )
    return f"{value} [{low}, {high}] {measured['unit']}"


def numbers(name: str) -> str:
    """Returns how a set of numbers was measured: command, replications, seed, intervals."""
    measured = data("numbers.json")[name]
    runs = " or ".join(map(str, sorted({one["n"] for one in measured["numbers"].values()})))
    return (
        f"`{measured['command']}`: {runs} replications, seed {measured['seed']}, in brackets 95 % "
        f"intervals; {measured['means']}."
    )


def trust(name: str) -> str:
    """Returns a table of the comparison with a reference, and the commands that repeat it."""
    said = data("trust.json").get(name)
    if not said or not said["rows"]:
        return "*This reference was not compared: software or data that it needs was missing.*"
    rows = [[str(row[key]) for key in TRUST.values()] for row in said["rows"]]
    programs = ", ".join(dict.fromkeys(f"`{row['command']}`" for row in said["rows"]))
    made = said["made"]
    text = f"{programs}; compared on {made['when'][:10]}, nodeb {made['version']}."
    if "--quick" in text:
        text += (
            " Short versions: their intervals are wide, and many claims stay undecided. The pages "
            "of the studies have the results of the complete versions."
        )
    return f"{table(list(TRUST), rows)}\n\n{text}"


def fairness() -> str:
    measured = data("fairness.json")
    index, share = measured["index"], measured["share"]
    rows = [
        [name, "{:.3f} ± {:.3f}".format(*index[name]), *(str(row.get(of, "")) for of in share)]
        for name, row in share.items()
    ]
    text = (
        f"The half-widths of the intervals of the percentages are at most {measured['half_width']}"
    )
    return f"{table(['', 'alone', *share], rows)}\n\n{text} (nodeb {measured['version']})."


def comparison(program: str) -> Any:
    """Returns a program of `validation`."""
    sys.path.append(str(DOCS.parent / "validation"))
    return importlib.import_module(program)


def kernel(name: str) -> str:
    downloads = comparison("linux_downloads")
    (cases,) = (file for file in downloads.FILES if file.stem == name)
    return str(downloads.markdown(downloads.compare(cases)))


def gallery(place: Place) -> str:
    """Returns all examples of `gallery.toml` with their figures."""
    plan = tomllib.loads((DOCS / "gallery.toml").read_text("utf-8"))
    return "\n\n".join(
        example(name, entry, data("gallery.json")[name], place.url) for name, entry in plan.items()
    )


def file_of(name: str) -> str:
    """Returns the path of an example, or of a ready cell."""
    cell = name in cells.names()
    return f"{'python/nodeb/cells' if cell else 'examples'}/{name}.toml"


def picture(name: str) -> str:
    """Returns the path of an example's figure, relative to the documentation's folder."""
    return f"images/gallery/{name.replace('/', '-')}.png"


def example(name: str, entry: Mapping[str, str], drawn: Mapping[str, Any], url: str) -> str:
    file = file_of(name)
    play = live.link(file, url) if live.can_play(file) else ""
    image = picture(name)
    language, code = ("sh", entry["plot"]) if "plot" in entry else ("python", entry["python"])
    return "\n\n".join(
        [
            f"## {entry['title']} {{#{name.replace('/', '-')}}}",
            f"`{file}`. {entry['shows']} {play}".strip(),
            f"```sh\n{entry['command']}\n```",
            f"[![{entry['picture']}]({image})]({image})",
            f"*{entry['picture']} Seed {drawn['seed']}, nodeb {drawn['nodeb']}. Drawn by:*",
            f"```{language}\n{code.strip()}\n```",
        ]
    )


def table(head: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PARTS: dict[str, Callable[[str, Place], str]] = {
    "answers": lambda _, place: live.answers(),
    "assumptions": lambda name, _: assumptions(name),
    "causes": lambda *_: causes(),
    "commands": lambda *_: commands(),
    "csv": lambda file, _: rows_of(file),
    "samples": lambda *_: described("column", samples.METRICS.values()),
    "emulation": lambda *_: declared(_core.emulation_tables()),
    "eras": lambda *_: eras(),
    "exercise": lambda name, _: live.element("exercise", name),
    "fairness": lambda *_: fairness(),
    "features": lambda *_: lte_features(),
    "gallery": lambda _, place: gallery(place),
    "kernel": lambda name, _: kernel(name),
    "life": lambda *_: declared(_core.timeline_tables()),
    "list": listed,
    "live": lambda name, _: live.element("live", name),
    "missing": lambda *_: lte_missing(),
    "ns3": lambda *_: str(comparison("ns3_lte").markdown()),
    "number": lambda name, _: number(name),
    "numbers": lambda name, _: numbers(name),
    "play": lambda file, place: live.link(file, place.url),
    "tables": lambda *_: tables(),
    "trust": lambda name, _: trust(name),
}
