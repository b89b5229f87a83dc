"""Writes what the core says of itself into the pages: keys, tables of results, variants."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import gallery
import measured
import trusted
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import Reference

from nodeb import _core, studies
from nodeb.results import glossary
from nodeb.results.metrics import METRICS

RESULTS = """# Tables of results

Every table and column that a run can have; this page comes from the definitions that fill them.
A result is a folder with a Parquet file for each table, or `nodeb.Result` with its `tables`. In
units, 1 is a ratio; counts, numbers and names have none. NaN stands for what did not happen.

## summary {#summary}

One row per group of users and metric: the mean over runs of the mean over the group's users, with
its 95 % interval.

"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page of results."""
    files.append(File.generated(config, "results.md", content=results()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replaces marks such as `{{ registry: KIND }}`, `{{ gallery }}` and `{{ keys: KEY }}`."""
    markdown = gallery.expand(trusted.expand(measured.expand(markdown)))
    for name in studies.names():
        markdown = markdown.replace("{{ assumptions: " + name + " }}", assumptions(name))
    for kind in dict.fromkeys(entry[0] for entry in _core.registry()):
        markdown = markdown.replace("{{ registry: " + kind + " }}", registry_table(kind))
    sys.path.append(str(Path(__file__).parents[1] / "tools"))
    import linux_downloads as kernel

    for cases in kernel.FILES:
        mark = "{{ kernel: " + cases.stem + " }}"
        if mark in markdown:
            markdown = markdown.replace(mark, kernel.markdown(kernel.compare(cases)))
    markdown = markdown.replace("{{ eras }}", eras())
    if "{{ life }}" in markdown:
        markdown = markdown.replace("{{ life }}", declared(_core.timeline_tables()))
    if "{{ emulation }}" in markdown:
        markdown = markdown.replace("{{ emulation }}", declared(_core.emulation_tables()))
    file = Path(page.file.src_uri)
    return scenario().expand(file.name, markdown) if file.parts[0] == "scenario" else markdown


@cache
def scenario() -> Reference:
    """The scenario reference."""
    pages = sorted((Path(__file__).parent / "scenario").glob("*.md"))
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    return Reference(json.loads(_core.schema()), texts)


def assumptions(name: str) -> str:
    return "\n\n".join(f"**{a['text']}** {a['reason']}" for a in studies.load(name).assumptions)


def registry_table(kind: str) -> str:
    rows = [f"| `{name}` | {text} |" for k, name, text in _core.registry() if k == kind]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def eras() -> str:
    """The defaults of ns-2 that changed, in order of time."""

    def shown(value: str) -> str:
        return {"true": "yes", "false": "no"}.get(value, str(json.loads(value)))

    rows = [
        f"| {since} | `{key}` | `{variable}` | {shown(before)} | {shown(after)} | {meaning} |"
        for key, variable, since, before, after, meaning in _core.era_switches()
    ]
    head = [
        "| since | key | ns-2's variable | before | since then | what it is |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def results() -> str:
    """The page of results: the metrics of a summary, then every table."""
    parts = [RESULTS, columns("metric", METRICS.values())]
    for table in glossary.tables().values():
        parts += [f"\n## {table.name} {{#{table.name}}}\n", f"{table.meaning}\n"]
        parts.append(columns("column", table.columns.values()))
    return "\n".join(parts)


def declared(tables: Iterable[tuple[str, str, Iterable[tuple[str, str, str]]]]) -> str:
    """Tables that the core declares beside those of a run."""
    parts = []
    for name, meaning, found in tables:
        rows = [f"| `{column}` | {unit} | {text} |" for column, unit, text in found]
        head = ["| column | unit | meaning |", "|---|---|---|"]
        parts.append("\n".join([f"### {name} {{#{name}}}\n", f"{meaning}\n", *head, *rows]))
    return "\n\n".join(parts)


def columns(title: str, found: Iterable[glossary.Column]) -> str:
    rows = [f"| `{one.name}` | {one.unit} | {one.meaning} |" for one in found]
    return "\n".join([f"| {title} | unit | meaning |", "|---|---|---|", *rows])
