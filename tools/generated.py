"""Updates the generated parts of the documentation: keys, result tables, variants, commands.

    python tools/generated.py            # compare, and list the pages that differ
    python tools/generated.py --write    # replace the parts

A part is the text between a line `<!-- KIND: ARGUMENT -->` and a line `<!-- end -->`, with a KIND
of `KINDS`, or `keys`. The parts are committed, so that the pages are complete in the repository.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import command_reference
import features
from key_reference import Reference

from nodeb import _core, studies
from nodeb.results import glossary
from nodeb.results.metrics import METRICS, Metric

DOCS = Path(__file__).parents[1] / "docs"
PART = re.compile(
    r"^<!-- (?!end -->)(\w+)(?:: ([^\n]*?))? -->\n(?:.*?\n)??<!-- end -->$", re.M | re.S
)
Declared = Iterable[tuple[str, str, Iterable[tuple[str, str, str]]]]


def main(arguments: list[str]) -> int:
    """Compares the generated parts of the pages, or writes them.

    Returns 1 if a page differed and was not written.
    """
    is_written = "--write" in arguments
    different = 0
    for page, text in refreshed({page: page.read_text("utf-8") for page in pages()}).items():
        if text != page.read_text("utf-8"):
            print(f"{page.relative_to(DOCS)}: {'written' if is_written else 'differs'}")
            different += not is_written
            if is_written:
                page.write_text(text, "utf-8")
    return int(different > 0)


def pages() -> list[Path]:
    """Returns the pages in `docs` that have a generated part."""
    return [page for page in sorted(DOCS.rglob("*.md")) if PART.search(page.read_text("utf-8"))]


def refreshed(texts: dict[Path, str]) -> dict[Path, str]:
    """Returns the given pages with current generated parts.

    Raises:
        ValueError: a part's kind or argument is unknown.
    """
    of_keys = {page.name: text for page, text in texts.items() if page.parent.name == "scenario"}
    reference = Reference(json.loads(_core.schema()), of_keys)

    def page(path: Path, text: str) -> str:
        def part(found: re.Match[str]) -> str:
            kind, argument = found[1], found[2] or ""
            if kind == "keys":
                content = reference.sections_of(path.name, argument)
            elif kind in KINDS:
                content = KINDS[kind](argument)
            else:
                raise ValueError(f"{path.name}: no part is of the kind `{kind}`")
            head = f"{kind}: {argument}" if argument else kind
            return f"<!-- {head} -->\n\n{content.strip()}\n\n<!-- end -->"

        return PART.sub(part, text)

    return {path: page(path, text) for path, text in texts.items()}


def assumptions(name: str) -> str:
    """Returns the assumptions of the study `name` in Markdown."""
    found = studies.load(name).texts.assumptions
    return "\n\n".join(f"**{one['text']}** {one['reason']}" for one in found)


def registry(kind: str) -> str:
    """Returns a table of the variants of one kind of component."""
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
    """Returns a table of the metrics in a summary."""
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
    """Returns the meaning of a table as a sentence that names the table."""
    for begin, verb in (("One row ", "has one row "), ("Histogram ", "is a histogram ")):
        if meaning.startswith(begin):
            return f"The table `{name}` {verb}{meaning.removeprefix(begin)}"
    return f"`{name}`: {meaning}"


def columns(title: str, found: Iterable[glossary.Column | Metric]) -> str:
    """Returns a table with name, unit and meaning of columns or metrics."""
    rows = [[f"`{one.name}`", one.unit, one.meaning] for one in found]
    return table([title, "unit", "meaning"], rows)


def lte_features(_: str) -> str:
    """Returns a table of LTE's features for each specification.

    Raises:
        ValueError: there are errors in the marks, such as a feature without a test.
    """
    marks = features.core()
    if marks.errors:
        raise ValueError("\n".join(marks.errors))
    head = ["feature", "clause", "tested against", "state"]
    parts = []
    for title, found in features.sections(marks).items():
        parts.append(f"### {title}\n\n{table(head, map(features.row, found))}")
    return "\n\n".join(parts)


def lte_missing(_: str) -> str:
    """Returns a table of the features that LTE does not model."""
    found = sorted(features.core().missing, key=lambda one: features.order(one[0]))
    return table(["feature", "clause", "reason"], [[name, of, why] for of, name, why in found])


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a table in Markdown with the head `head`."""
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

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
