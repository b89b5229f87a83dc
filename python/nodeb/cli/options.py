"""What commands of the command line share: options, exit status, notes, how one ends early."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar

import typer

from nodeb.base.signals import ignore
from nodeb.base.streams import printable, printable_lines
from nodeb.errors import FullError, InputError, NodebError, OutputError

if TYPE_CHECKING:
    from nodeb.answer import Answer, Rows
    from nodeb.replication.pool import Jobs as Workplace
    from nodeb.storage.folders import Place

T = TypeVar("T")

File = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (TOML).")]
FileOrLog = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Scenario (TOML), or log of `nodeb emulate --record`."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key, as in `--set wired.loss=0.01`; `--set KEY=` removes it.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the random streams.")]
Runs = Annotated[int | None, typer.Option(help="Number of replications.")]
Precision = Annotated[
    float | None,
    typer.Option(help="Replicate until the 95 % half-width is this share of the mean bit rate."),
]
Margin = Annotated[
    float, typer.Option(help="Two are the same within this share of the baseline's mean.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Results go here; default: out/<file name>.")
]
Tables = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for tables and provenance; default: none."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="PAGE", help="Write a page with pictures; a bare name goes into --out."
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace whatever results are in the folder."),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print everything, not only the answer and key figures.")
]
Jobs = Annotated[
    int | None, typer.Option(help="Replications simulated at a time; default: one per processor.")
]


At = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Simulate on a Dask cluster instead: its scheduler's address (tcp://host:8786), or "
        "local:N for N worker processes here.",
    ),
]


@contextmanager
def workplace(jobs: int | None, cluster: str | None) -> Iterator[Workplace]:
    """Who simulates, as `--jobs` and `--cluster` say; a cluster is connected and then left.

    Raises:
        InputError: both are given, or one makes no sense.
        RunError: the cluster cannot be used.
    """
    from nodeb.replication.pool import check_jobs

    if cluster is None:
        yield check_jobs(jobs)
        return
    if jobs is not None:
        raise InputError("--jobs is about threads here, --cluster about workers; give one of them")
    from nodeb.replication.cluster import Cluster

    with Cluster(cluster) as found:
        found.client()
        yield found


FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
"""Exit status."""


class Stopped(NodebError):
    """Ctrl-C, after tidying up. Not a KeyboardInterrupt, which Typer would keep to itself.

    From here on another one is ignored: while a folder or a cluster is left it would only take the
    message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        ignore()


def stopped(place: Place) -> Stopped:
    """Returns what to raise after Ctrl-C: all results are in the folder, or none."""
    if place.is_put:
        return Stopped(f"stopped after everything was done; the results are in {place.shown}")
    return Stopped("interrupted; nothing was written")


def refuse(options: Mapping[str, object], file: Path) -> None:
    """Complains about options that a recorded flight has no use for.

    Raises:
        InputError: one of them was given.
    """
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is for scenarios, and {file} is a recorded flight")


def again(file: Path, settings: Iterable[str] | None, **more: object) -> str:
    """A file as it stands in a command that asks about the same: with settings and options."""
    words = [printable(str(file)), *(word for one in settings or () for word in ("--set", one))]
    for name, value in more.items():
        words += [f"--{name}", str(value)] if value is not None else []
    return shlex.join(words)


def print_answer(answer: Answer, everything: bool = False, stream: TextIO | None = None) -> None:
    """Prints an answer as the terminal can show it; on stdout unless told otherwise."""
    from nodeb.answer import text

    to = sys.stdout if stream is None else stream
    print(text(answer, everything=everything, encoding=to.encoding, width=_width()), file=to)


def print_rows(tables: Iterable[Rows]) -> None:
    """Prints tables below an answer."""
    from nodeb.answer.terminal import block, for_stream

    for one in tables:
        print(f"\n{for_stream(block(one, _width()), sys.stdout.encoding)}")


def _width() -> int:
    """Columns of the terminal, or as `COLUMNS` says."""
    from nodeb.answer.terminal import WIDTH

    return shutil.get_terminal_size((WIDTH, 24)).columns


@contextmanager
def shown_if_full(show: Callable[[Any], None], outcome: object = None) -> Iterator[None]:
    """Prints results that a full disk has no room for, before the error ends the command.

    Args:
        show: prints results, without naming a folder that has them.
        outcome: the results; None takes those that the error has.
    """
    try:
        yield
    except FullError as error:
        found = error.outcome if outcome is None else outcome
        if found is not None:
            show(found)
        raise


def as_far_as_there_is_room(work: Callable[[], T]) -> tuple[T, FullError | None]:
    """Returns what work came to, and the error if there was no room for a file beside its results.

    Raises:
        FullError: there was no room, and there are no results.
    """
    try:
        return work(), None
    except FullError as full:
        if full.outcome is None:
            raise
        return full.outcome, full


def print_place(place: Place) -> None:
    """Tells what `--force` replaces, or that results go beside others."""
    print_beside(place.shown, place.beside)
    if place.replaces is not None:
        print_message("note", f"replaces {place.replaces} in {place.shown}")


def print_beside(folder: Path, why: str | None) -> None:
    """Tells that results go into another folder than usual, if they do."""
    if why is not None:
        print_message("note", f"results go to {folder}, because {why}; --force replaces that")


def print_changed(replaced: Mapping[Path, str], damaged: Iterable[Path]) -> None:
    """What of another was replaced, by folder, and what had to be simulated again."""
    for folder, what in replaced.items():
        print_message("note", f"replaced {what} in {folder}")
    for file in damaged:
        print_message("warning", f"{file} was damaged and was simulated again")


def print_warnings(warnings: Iterable[str]) -> None:
    """Tells what is doubtful about a scenario, and goes on."""
    for warning in warnings:
        print_message("warning", warning)


def print_error(error: object) -> None:
    """Tells what was wrong."""
    print_message("error", error)


def print_message(kind: str, text: object) -> None:
    """Prints a message to stderr, with escapes for control characters of names."""
    print(f"{kind}: {printable_lines(text)}", file=sys.stderr)


def print_file(what: str, path: Path, stream: TextIO | None = None) -> None:
    """Prints where a file is, with escapes for control characters of its name."""
    print(f"{what}: {printable(path)}", file=stream)


def check_name(what: str, name: str, allowed: list[str]) -> None:
    """Complains about a name that is not among those allowed.

    Raises:
        InputError: it is not.
    """
    from nodeb.errors import nearest

    if name not in allowed:
        raise InputError(f"there is no {what} `{name}`{nearest(name, allowed)}")


def check_capture(pcap: Path, place: Place) -> None:
    """Complains about a capture in the folder of results, which is replaced as a whole."""
    if pcap.resolve().is_relative_to(place.path):
        raise OutputError(
            f"{pcap} lies in {place.shown}, which is put in place as a whole with the results; "
            "give another file with --pcap"
        )
