"""What commands print: answers and files to stdout; notes, warnings and errors to stderr."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nodeb.base.streams import printable, printable_lines

if TYPE_CHECKING:
    from argparse import Namespace

    from nodeb import _core
    from nodeb.answer import Answer, Rows
    from nodeb.base.table import Table
    from nodeb.results.result import Result
    from nodeb.storage.folders import Place
    from nodeb.sweep import Outcome, Sweep

RED, GREEN, YELLOW, BLUE, CYAN, BOLD = "31", "32", "33", "34", "36", "1"
"""Codes of ECMA-48 for the look of characters."""
KINDS = {"error": f"{BOLD};{RED}", "warning": YELLOW, "note": CYAN}
COLORS = {"\N{CHECK MARK}": GREEN, "\N{BALLOT X}": RED, "!": YELLOW, "?": YELLOW}
SIGNS = re.compile(f"(?m)(?<=^  )[{''.join(COLORS)}](?= )|^[{''.join(COLORS)}](?= )")
"""Signs at the beginning of a line or of a row of a table."""
BARS = re.compile("\N{FULL BLOCK}+")


def print_message(kind: str, text: object) -> None:
    """Prints to stderr, with control characters escaped."""
    print(
        f"{painted(f'{kind}:', KINDS[kind], sys.stderr)} {printable_lines(text)}", file=sys.stderr
    )


def painted(text: str, color: str, stream: TextIO) -> str:
    """Colours a text on a terminal (ECMA-48), unless NO_COLOR is set (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not stream.isatty() else f"\x1b[{color}m{text}\x1b[0m"


def print_error(error: object) -> None:
    print_message("error", error)


def print_notes(notes: Iterable[object]) -> None:
    for note in notes:
        print_message("note", note)


def print_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print_message("warning", warning)


def print_file(what: str, path: Path | None, stream: TextIO | None = None) -> None:
    """Prints where a page or capture is, if one was asked for."""
    if path is not None:
        print(f"{what}: {printable(path)}", file=stream)


def print_answer(answer: Answer, everything: bool = False, stream: TextIO | None = None) -> None:
    """Prints an answer in the terminal's width and encoding."""
    from nodeb.answer import text

    to = sys.stdout if stream is None else stream
    shown = text(answer, everything=everything, encoding=to.encoding, width=_width())
    headline, gap, rest = shown.partition("\n\n")
    rest = SIGNS.sub(lambda sign: painted(sign[0], COLORS[sign[0]], to), rest)
    rest = BARS.sub(lambda bar: painted(bar[0], BLUE, to), rest)
    print(painted(headline, BOLD, to) + gap + rest, file=to)


def print_answers(given: Namespace, answers: Sequence[Answer], table: Table) -> TextIO:
    """Prints answers or, with `--json`, them and a table as JSON; returns the stream for the rest.

    A value of the table that is missing is null.
    """
    if given.json:
        _print_json(answers, table)
        return sys.stderr
    for number, answer in enumerate(answers):
        print("\n" if number else "", end="")
        print_answer(answer, given.all)
    return sys.stdout


def _print_json(answers: Sequence[Answer], table: Table) -> None:
    lines = [f"{one.subject}: {one.headline}" if one.subject else one.headline for one in answers]
    marks = [mark.text for one in answers for mark in one.marks]
    rows = [{name: _plain(value) for name, value in row.items()} for row in table]
    print(json.dumps({"answer": lines, "remarks": marks, "rows": rows}, indent=1))


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_rows(tables: Iterable[Rows]) -> None:
    """Prints tables below an answer, each after an empty line."""
    from nodeb.answer.terminal import block, for_stream

    for one in tables:
        print(f"\n{for_stream(block(one, _width()), sys.stdout.encoding)}")


def _width() -> int:
    """Columns of the terminal; the variable `COLUMNS` takes precedence."""
    from shutil import get_terminal_size

    from nodeb.answer.terminal import WIDTH

    return get_terminal_size((WIDTH, 24)).columns


def print_place(place: Place) -> None:
    print_other_folder(place.shown, place.beside)
    if place.replaces is not None:
        print_notes([f"the results will replace {place.replaces} in {place.shown}"])


def print_other_folder(folder: Path, why: str | None) -> None:
    if why is not None:
        print_notes([f"results go to {folder}, because {why}; --force replaces that"])


def print_replaced(folder: Path, what: str | None) -> None:
    if what is not None:
        print_notes([f"replaced {what} in {folder}"])


def print_nothing_arrived(result: Result) -> None:
    """Notes the groups of users for whom no byte was delivered, unless that are all groups."""
    flows = result.flows
    groups = flows.distinct("group")
    empty = [one for one in groups if not flows["delivered_bytes"][flows["group"] == one].any()]
    if empty and empty != groups:
        from nodeb import _core
        from nodeb.answer.words import joined

        whose = f"group{'s' if len(empty) > 1 else ''} {joined(empty)}"
        why = _core.no_arrival_hint(float(result.bearers["end_s"].max()))
        print_notes([f"no data of {whose} arrived in {result.scenario.duration}; {why}"])


def print_superfluous(scenario: _core.CompiledScenario) -> None:
    print_notes(scenario.superfluous())


def print_of_sweep(sweep: Sweep, outcome: Outcome, metric: str | None) -> None:
    """Notes keys without effect, rows in which nothing arrived, and a metric without values."""
    import numpy as np

    from nodeb import _core
    from nodeb.answer.words import counted
    from nodeb.results.metrics import METRICS
    from nodeb.sweep.results import without_effect

    table = outcome.table
    rates = table["received_bps"]
    if rates.any():
        idle = without_effect(table, sweep.axes)
        print_notes(f"{keys}: no effect; all values gave the same results" for keys in idle)
    if (rates == 0).any():
        rows = f"{(rates == 0).sum()} of {counted(len(rates), 'row')} of the table"
        print_notes([f"nothing arrived in {rows}; {_core.no_arrival_hint(outcome.duration_s)}"])
    names = [name for name in METRICS if name in table.columns]
    if metric is not None and not (metric in names and np.isfinite(table[metric]).any()):
        whole = [name for name in names if np.isfinite(table[name]).all()]
        hint = f"; `--metric {whole[0]}` has a value in each" if whole else ""
        print_notes([f"no row has a value of {metric} ({METRICS[metric].label}){hint}"])
