"""Shared parts of the commands: options, exit statuses, messages, interruption."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from nodeb.base.streams import printable, printable_lines
from nodeb.errors import InputError, NodebError, OutputError

if TYPE_CHECKING:
    from nodeb.answer import Answer, Rows
    from nodeb.replication.pool import Jobs as Workers
    from nodeb.storage.folders import Place

File = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (TOML).")]
FileOrLog = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Scenario (TOML), or recording of `nodeb emulate`."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key, such as `--set wired.loss=0.01`; `--set KEY=` removes it; repeatable.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the random streams.")]
Runs = Annotated[int | None, typer.Option(help="Number of replications.")]
Precision = Annotated[
    float | None,
    typer.Option(help="Replicate until the 95 % half-width is this fraction of the mean bit rate."),
]
Margin = Annotated[
    float, typer.Option(help="Equivalence margin, as a fraction of the baseline mean.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Results folder; default: out/<file name>.")
]
Tables = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for tables and provenance; default: none."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="PAGE",
        help="Write an HTML page with figures; a bare name is put in --out.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace existing results in the folder."),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print all tables, not only the answer and key figures.")
]
Jobs = Annotated[
    int | None, typer.Option(help="Replications run in parallel; default: one per processor.")
]


ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Simulate on a Dask cluster: its scheduler's address (tcp://host:8786).",
    ),
]


@contextmanager
def worker_pool(jobs: int | None, cluster: str | None) -> Iterator[Workers]:
    """Provides the workers chosen by `--jobs` or `--cluster`; disconnects a cluster after use.

    Without either option, replications run in parallel in this process, one per processor.

    Raises:
        InputError: both options are given, or one is invalid.
        RunError: the cluster cannot be used.
    """
    from nodeb.replication.pool import check_jobs

    if cluster is None:
        yield check_jobs(jobs)
        return
    if jobs is not None:
        raise InputError("--jobs and --cluster cannot be combined")
    from nodeb.replication.pool import cluster as connected

    with connected(cluster) as executor:
        yield executor


FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
"""Exit statuses: failure while running, invalid input or output folder, interruption."""


class Stopped(NodebError):
    """Exception that ends a command after Ctrl-C, once the command has cleaned up.

    It is not a KeyboardInterrupt, because Typer would catch that.
    """


def interruption(place: Place) -> Stopped:
    """Returns the exception for Ctrl-C in a command that writes all its results at the end.

    Its message states whether they were written.
    """
    if place.is_put:
        return Stopped(f"stopped after all results were written; they are in {place.shown}")
    return Stopped("interrupted; nothing was written")


def refuse_for_recordings(options: Mapping[str, object], file: Path) -> None:
    """Rejects options that do not apply to recordings.

    Args:
        options: values of the options by name; None if an option was not given.
        file: the recording.

    Raises:
        InputError: one of the options was given.
    """
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is for scenarios, and {file} is a recording")


def print_answer(answer: Answer, everything: bool = False, stream: TextIO | None = None) -> None:
    """Prints an answer to a stream (stdout by default), in the terminal's width and encoding."""
    from nodeb.answer import text

    to = sys.stdout if stream is None else stream
    print(text(answer, everything=everything, encoding=to.encoding, width=_width()), file=to)


def print_rows(tables: Iterable[Rows]) -> None:
    """Prints tables to stdout below an answer, each after an empty line."""
    from nodeb.answer.terminal import block, for_stream

    for one in tables:
        print(f"\n{for_stream(block(one, _width()), sys.stdout.encoding)}")


def _width() -> int:
    """Returns the width of the terminal in characters; the variable `COLUMNS` takes precedence.

    Returns `WIDTH` if neither is known.
    """
    from nodeb.answer.terminal import WIDTH

    return shutil.get_terminal_size((WIDTH, 24)).columns


def print_place(place: Place) -> None:
    """Prints a note if `--force` will replace results, or if results go to another folder."""
    print_other_folder(place.shown, place.beside)
    if place.replaces is not None:
        print_message("note", f"the results will replace {place.replaces} in {place.shown}")


def print_other_folder(folder: Path, why: str | None) -> None:
    """Prints that results go to another folder than usual, and why; nothing if `why` is None.

    The note adds that with `--force` the content of the usual folder would be replaced.
    """
    if why is not None:
        print_message("note", f"results go to {folder}, because {why}; --force replaces that")


def print_changed(replaced: Mapping[Path, str]) -> None:
    """Prints which results were replaced, and which damaged files were simulated again.

    Args:
        replaced: description of the replaced results, by folder.
        damaged: damaged files.
    """
    for folder, what in replaced.items():
        print_message("note", f"replaced {what} in {folder}")


def print_warnings(warnings: Iterable[str]) -> None:
    """Prints each warning about a scenario to stderr, after `warning:`."""
    for warning in warnings:
        print_message("warning", warning)


def print_error(error: object) -> None:
    """Prints an error to stderr, after `error:`."""
    print_message("error", error)


def print_message(kind: str, text: object) -> None:
    """Prints a message to stderr, with control characters escaped."""
    print(f"{kind}: {printable_lines(text)}", file=sys.stderr)


def print_file(what: str, path: Path, stream: TextIO | None = None) -> None:
    """Prints `what` and the path of a file to a stream (stdout by default)."""
    print(f"{what}: {printable(path)}", file=stream)


def check_name(what: str, name: str, allowed: list[str]) -> None:
    """Checks that a name is one of the allowed names.

    Raises:
        InputError: the name is not allowed; the message suggests the most similar one.
    """
    from nodeb.errors import nearest

    if name not in allowed:
        raise InputError(f"there is no {what} `{name}`{nearest(name, allowed)}")


def check_capture(pcap: Path, place: Place) -> None:
    """Checks that a capture will not be in the results folder, which is replaced as a whole.

    Raises:
        OutputError: the capture is in the results folder.
    """
    if pcap.resolve().is_relative_to(place.path):
        raise OutputError(
            f"{pcap} is in the results folder {place.shown}, which is replaced as a whole; "
            "give another file with --pcap"
        )
