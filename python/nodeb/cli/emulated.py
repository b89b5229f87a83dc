"""The part of `nodeb compare` for real packets: recordings, stored emulations, and commands."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb.base.command_line import command_line
from nodeb.cli import FAILED, messages
from nodeb.cli import options as of
from nodeb.comparison.experiment import DEFAULT_RUNS, settings_of
from nodeb.errors import InputError
from nodeb.inputs.reading import RECORDING_MAGIC

if TYPE_CHECKING:
    from nodeb.base.table import Table
    from nodeb.inputs.scenario import Scenario


def are_emulations(files: Sequence[Path]) -> bool:
    return all(map(_is_emulation, files))


def _is_emulation(file: Path) -> bool:
    if file.is_dir():
        return True
    try:
        with file.open("rb") as stream:
            return stream.read(len(RECORDING_MAGIC)) == RECORDING_MAGIC
    except OSError:
        return False


def compare(given: Namespace) -> int:
    """Compares stored or new emulations, seed by seed; returns the exit status."""
    from nodeb.comparison.answer import answers
    from nodeb.emulate import samples
    from nodeb.emulate.endpoint import check_system

    check_system()
    of.check_page(given.report)
    if given.explain is not None:
        raise InputError("--explain needs simulations; `nodeb explain` explains one recording")
    sides: Mapping[str, Table]
    if given.emulate:
        sides, status = _emulated(given)
    else:
        status = 0
        sides = {str(file): samples.read(file) for file in given.files}
    if len(sides) < len(given.files):
        twice = next(file for file in given.files if given.files.count(file) > 1)
        raise InputError(f"{twice} is given twice; give the recording of another emulation")
    if len(sides) < 2:
        raise InputError("there is nothing to compare with; give a second command or recording")
    comparison = samples.compare(sides, given.margin, given.metric)
    stream = messages.print_answers(given, answers(comparison), comparison.table)
    place = of.page_of(given, of.default_folder(None, given.files[0], "-compared.html"))
    if place is not None:
        from nodeb.report.compared import page

        options = of.chosen(
            given, "emulate", "as", "server", "late", "set", "with", "metric", "margin", "runs",
            "seed", "report",
        )  # fmt: skip
        command = command_line("compare", *given.files, options=options)
        of.write_page(place, page(comparison, samples.paired(sides), (), command))
        messages.print_file("Page", place, stream)
    return status


def _emulated(given: Namespace) -> tuple[Mapping[str, Table], int]:
    """Emulates the sides in turn with each seed; returns their samples and the exit status."""
    from nodeb.base.table import Table
    from nodeb.emulate import plan, results, samples, session
    from nodeb.errors import Interrupted
    from nodeb.terminal.progress import progress_bar

    late_s = of.duration("--late", given.late)
    server = () if given.server is None else plan.split(given.server, f"--server {given.server!r}")
    sides = dict(_sides(given))
    first = next(iter(sides.values()))[0]
    seed, runs = first.seed, given.runs or DEFAULT_RUNS
    options = session.Options(seed=seed, server=server, late_s=late_s)
    outcomes: dict[str, list[session.Outcome]] = {name: [] for name in sides}
    with progress_bar("emulating") as progress:
        for number in range(runs):
            for at, (name, (scenario, command)) in enumerate(sides.items()):
                if progress is not None:
                    done = (number + at / len(sides)) / runs
                    progress(done, f"{number} of {runs} pairs")
                planned = plan.make(scenario, [(given.user, command)])
                one = session.emulate(planned, replace(options, seed=seed + number))
                if one.ended == "signal":
                    raise Interrupted(f"interrupted after {number} of {runs} pairs")
                outcomes[name].append(one)
    status = 0
    for name, some in outcomes.items():
        for mark in results.failures(some, seed):
            print(f"warning: {name}: {mark.text}", file=sys.stderr)
            status = FAILED
        for number, one in enumerate(some):
            if one.too_late is not None:
                why = f"seed {seed + number}: inaccurate timing: {one.too_late}"
                messages.print_error(f"{name}: {why}")
                status = FAILED
    tables = {
        name: Table.concat(
            samples.sample(one.report, seed + number, one.command_s)
            for number, one in enumerate(some)
        )
        for name, some in outcomes.items()
    }
    return tables, status


def _sides(given: Namespace) -> Iterator[tuple[str, tuple[Scenario, tuple[str, ...]]]]:
    """Yields name, scenario and command of each side.

    Raises:
        InputError: several commands and several scenarios are given, or a command is given twice.
    """
    from nodeb.emulate import plan
    from nodeb.inputs.scenario import load

    commands = {text: plan.split(text, f"--emulate {text!r}") for text in given.emulate}
    if len(commands) < len(given.emulate) or not all(commands.values()):
        raise InputError("--emulate: a command is empty, or given twice")
    wanted: dict[str, tuple[Path, list[str]]] = {file.stem: (file, []) for file in given.files}
    wanted |= {text: (given.files[0], settings_of(text)) for text in given.changes}
    scenarios = {
        name: load(file, [*given.set, *settings]) for name, (file, settings) in wanted.items()
    }
    if len(commands) > 1 and len(scenarios) > 1:
        raise InputError("give several commands for one scenario, or one command for several")
    for name, scenario in scenarios.items():
        for text, command in commands.items():
            planned = scenario.planned(runs=1, seed=given.seed)
            yield (text if len(commands) > 1 else name), (planned, command)
