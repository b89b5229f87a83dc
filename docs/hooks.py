"""Writes the scenario reference, the tables of results and those of variants from the core."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from nodeb import _core
from nodeb.reproduce import study
from nodeb.results import glossary
from nodeb.results.metrics import METRICS

INTRODUCTION = """# Scenario reference

A scenario is a TOML file. Every key is listed here with its type, its default and its meaning;
this page comes from the same definitions that read the file. Quantities are strings with a unit,
such as `"110 ms"`, `"384 kbps"` or `"50 kB"` (1 kB is 1000 bytes). A registered variant is written
as its name (`scheduler = "round_robin"`) or, to set its parameters, as a table with one key
(`scheduler.proportional_fair.window = "2 s"`). An unknown key, a missing unit or an impossible
value is an error that names the line and what is allowed.
"""


RESULTS = """# Tables of results

Every table and column that a run can have; this page comes from the definitions that fill them.
A result is a folder with a Parquet file for each table, or `nodeb.Result` with its `tables`. In
units, 1 is a ratio; counts, numbers and names have none. NaN stands for what did not happen.

## summary {#summary}

One row per group of users and metric: the mean over runs of the mean over the group's users, with
its 95 % interval.

"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    files.append(File.generated(config, "scenario.md", content=reference()))
    files.append(File.generated(config, "results.md", content=results()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces `{{ registry: KIND }}` and `{{ assumptions: STUDY }}` by what nodeb says itself."""
    for name in study.names():
        markdown = markdown.replace("{{ assumptions: " + name + " }}", assumptions(name))
    for kind in dict.fromkeys(entry[0] for entry in _core.registry()):
        markdown = markdown.replace("{{ registry: " + kind + " }}", registry_table(kind))
    return markdown


def assumptions(name: str) -> str:
    return "\n\n".join(f"**{a['text']}** {a['reason']}" for a in study.load(name).assumptions)


def registry_table(kind: str) -> str:
    rows = [f"| `{name}` | {text} |" for k, name, text in _core.registry() if k == kind]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def reference() -> str:
    """The whole page: the scenario itself, then every part of it."""
    schema = json.loads(_core.schema())
    parts = [INTRODUCTION, section(schema, "The file", schema)]
    for name, part in sections(schema):
        parts.append(section(schema, name, part))
    return "\n".join(parts)


def results() -> str:
    """The page of results: the metrics of a summary, then every table."""
    parts = [RESULTS, columns("metric", METRICS.values())]
    for table in glossary.tables().values():
        parts += [f"\n## {table.name} {{#{table.name}}}\n", f"{table.meaning}\n"]
        parts.append(columns("column", table.columns.values()))
    return "\n".join(parts)


def columns(title: str, found: Iterable[glossary.Column]) -> str:
    rows = [f"| `{one.name}` | {one.unit} | {one.meaning} |" for one in found]
    return "\n".join([f"| {title} | unit | meaning |", "|---|---|---|", *rows])


def sections(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts that have keys of their own or are a choice of names."""
    for name, part in schema["$defs"].items():
        if part.get("properties") or "anyOf" in part or "oneOf" in part:
            yield name, part


def section(schema: dict[str, Any], title: str, part: dict[str, Any]) -> str:
    anchor = f" {{#{title.lower()}}}" if title != "The file" else ""
    text = [f"## {title}{anchor}\n", part.get("description", ""), ""]
    if "properties" in part:
        text += ["| key | type | default | meaning |", "|---|---|---|---|"]
        required = set(part.get("required", ()))
        for key, value in part["properties"].items():
            text.append(row(schema, key, value, key in required))
    else:
        text += ["| value | meaning |", "|---|---|", *choices(schema, part)]
    return "\n".join([*text, ""])


def row(schema: dict[str, Any], key: str, value: dict[str, Any], required: bool) -> str:
    default = "**required**" if required else code(value.get("default"))
    return f"| `{key}` | {kind(schema, value)} | {default} | {one_line(value)} |"


def choices(schema: dict[str, Any], part: dict[str, Any]) -> Iterator[str]:
    for option in part.get("anyOf", part.get("oneOf", ())):
        if "const" in option:
            yield f"| `{option['const']}` | {one_line(option)} |"
        elif "properties" in option:
            (name, parameters), *_ = option["properties"].items()
            yield f"| `{name}` | {one_line(option)} Parameters: {kind(schema, parameters)} |"


def kind(schema: dict[str, Any], value: dict[str, Any]) -> str:
    """Type of a value, linked to its section where it has one."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        part = schema["$defs"][name]
        if dict(sections(schema)).get(name):
            return f"[{name}](#{name.lower()})"
        return "none" if part.get("type") == "object" else name.lower()
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in value:
            kinds = [kind(schema, one) for one in value[choice] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"list of {kind(schema, value.get('items', {}))}"
    types = value.get("type", "any")
    if isinstance(types, list):
        types = " or ".join(name for name in types if name != "null")
    return str(types)


def code(value: Any) -> str:
    return "" if value is None else f"`{json.dumps(value)}`"


def one_line(value: dict[str, Any]) -> str:
    return " ".join(value.get("description", "").split()).replace("|", "\\|")
