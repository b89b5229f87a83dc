"""Command-line reference in Markdown, generated from the commands."""

from __future__ import annotations

import re

from nodeb.cli import COMMANDS, parser


def reference() -> str:
    """Returns the reference: per command a description, the usage, and a table of its options."""
    return "\n\n".join(section(name) for name in COMMANDS if name != "link")


def section(name: str) -> str:
    """Returns the section of one command."""
    options, _ = parser(name)
    options.whole_help()  # Adds the arguments without names.
    lines = [f"## nodeb {name} {{#{name.replace(' ', '-')}}}", "", COMMANDS[name], ""]
    lines += [f"```text\n{options.usage}\n```", ""]
    lines += ["| argument or option | meaning |", "| --- | --- |"]
    shown = [(one.option_strings, one.metavar, one.help) for one in options._actions]
    for names, metavar, meaning in sorted(shown, key=lambda one: bool(one[0])):
        place = " ".join(filter(None, [" / ".join(names), str(metavar or "")]))
        lines.append(f"| `{place}` | {cell(meaning or '')} |")
    return "\n".join(lines)


def cell(text: str) -> str:
    """Returns a help text as a table cell."""
    return re.sub(r"\s+", " ", text).replace("%%", "%").replace("|", "\\|")
