"""Parts of pages that are made when the site is built: keys, result tables, variants, commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import command_reference
import features
from key_reference import Reference

from nodeb import _core, studies
from nodeb.results import glossary
from nodeb.results.metrics import METRICS, Metric

DOCS = Path(__file__).parent
PART = re.compile(
    r"^<!-- (?!end -->)(\w+)(?:: ([^\n]*?))? -->\n(?:.*?\n)??<!-- end -->$", re.M | re.S
)
Declared = Iterable[tuple[str, str, Iterable[tuple[str, str, str]]]]


def pages() -> dict[str, str]:
    """Texts of the pages with a part, by path below `docs`."""
    texts = {
        page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in DOCS.rglob("*.md")
    }
    return {path: text for path, text in sorted(texts.items()) if PART.search(text)}


def expanded(texts: dict[str, str]) -> dict[str, str]:
    scenario = {
        Path(path).name: text for path, text in texts.items() if path.startswith("scenario/")
    }
    reference = Reference(json.loads(_core.schema()), scenario)

    def page(path: str, text: str) -> str:
        def part(mark: re.Match[str]) -> str:
            kind, argument = mark[1], mark[2] or ""
            if kind == "keys":
                return reference.sections_of(Path(path).name, argument).strip()
            if kind not in KINDS:
                raise ValueError(f"{path}: no part is of the kind `{kind}`")
            return KINDS[kind](argument).strip()

        return PART.sub(part, text)

    return {path: page(path, text) for path, text in texts.items()}


def assumptions(name: str) -> str:
    found = studies.load(name).texts.assumptions
    return "\n\n".join(f"**{one['text']}** {one['reason']}" for one in found)


def registry(kind: str) -> str:
    found = [(name, text) for of, name, text in _core.registry() if of == kind]
    if not found:
        raise ValueError(f"no component is of the kind `{kind}`")
    return table(["name", "meaning"], [[f"`{name}`", text] for name, text in found])


def eras(_: str) -> str:
    """Returns a table of ns-2's changed defaults, in order of their dates."""

    def shown(value: str) -> str:
        return {"true": "yes", "false": "no"}.get(value, str(json.loads(value)))

    rows = [
        [since, f"`{key}`", f"`{variable}`", shown(before), shown(after), meaning]
        for key, variable, since, before, after, meaning in _core.era_switches()
    ]
    return table(["since", "key", "ns-2's variable", "before", "since then", "meaning"], rows)


def metrics(_: str) -> str:
    return columns("metric", METRICS.values())


def tables(_: str) -> str:
    """Returns a section for each table of results, with its meaning and its columns."""
    parts: list[str] = []
    for one in glossary.tables().values():
        parts += [f"## {one.name} {{#{one.name}}}\n", f"{described(one.name, one.meaning)}\n"]
        parts.append(columns("column", one.columns.values()) + "\n")
    return "\n".join(parts)


def declared(found: Declared) -> str:
    """Returns sections about tables that the core declares, in addition to the tables of a run."""
    parts = []
    for name, meaning, listed in found:
        rows = [[f"`{column}`", unit, text] for column, unit, text in listed]
        content = table(["column", "unit", "meaning"], rows)
        parts.append(f"### {name} {{#{name}}}\n\n{described(name, meaning)}\n\n{content}")
    return "\n\n".join(parts)


def described(name: str, meaning: str) -> str:
    for begin, verb in (("One row ", "has one row "), ("Histogram ", "is a histogram ")):
        if meaning.startswith(begin):
            return f"The table `{name}` {verb}{meaning.removeprefix(begin)}"
    return f"`{name}`: {meaning}"


def columns(title: str, found: Iterable[glossary.Column | Metric]) -> str:
    rows = [[f"`{one.name}`", one.unit, one.meaning] for one in found]
    return table([title, "unit", "meaning"], rows)


def lte_features(_: str) -> str:
    marks = features.core()
    if marks.errors:
        raise ValueError("\n".join(marks.errors))
    head = ["feature", "clause", "tested against", "state"]
    parts = []
    for title, found in features.sections(marks).items():
        parts.append(f"### {title}\n\n{table(head, map(features.row, found))}")
    return "\n\n".join(parts)


def lte_missing(_: str) -> str:
    found = sorted(features.core().missing, key=lambda one: features.order(one[0]))
    return table(["feature", "clause", "reason"], [[name, of, why] for of, name, why in found])


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|---", "| ---") for line in lines)


KINDS: dict[str, Callable[[str], str]] = {
    "assumptions": assumptions,
    "commands": lambda _: command_reference.reference(),
    "emulation": lambda _: declared(_core.emulation_tables()),
    "eras": eras,
    "features": lte_features,
    "life": lambda _: declared(_core.timeline_tables()),
    "metrics": metrics,
    "missing": lte_missing,
    "registry": registry,
    "tables": tables,
}
