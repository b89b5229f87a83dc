"""The command line: `nodeb run`, `sweep`, `plot`, `link`, `fit`, `validate`, `reproduce`, ...

Tables go to stdout, progress and errors to stderr. An error is one paragraph that begins with
`error:`. Exit status: 0 done, 1 failed while running, 2 bad input, 130 interrupted.
Modules that are slow to import are imported where they are needed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodeb import cli_fit, cli_link, cli_sweep
from nodeb.cli_options import (
    File,
    Force,
    Jobs,
    Out,
    Precision,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_replaced,
    print_warnings,
)
from nodeb.errors import InputError, Interrupted, NodebError, OutputError, os_reason

if TYPE_CHECKING:
    from nodeb.folders import Place
    from nodeb.result import Result
    from nodeb.scenario import Scenario

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="nodeb",
    help="What does a cellular radio link do to TCP? Simulates TCP over UMTS and HSDPA.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from nodeb import _core

        print(f"nodeb {_core.version()}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    del version


@app.command()
def run(
    file: File,
    settings: Settings = None,
    seed: Seed = None,
    runs: Runs = None,
    precision: Precision = None,
    jobs: Jobs = None,
    out: Out = None,
    force: Force = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write a page with pictures beside the tables.")
    ] = False,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Packets of the first replication go here (pcapng)."),
    ] = None,
    snap_length: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes kept of each packet; default: the headers, 80."),
    ] = None,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE", help="Only packets at server, phone or proxy; may be repeated."
        ),
    ] = None,
) -> None:
    """Simulate a scenario; print a summary and save the tables. Leaves a sweep table aside."""
    from nodeb import folders, named_files
    from nodeb.runner import check_jobs
    from nodeb.scenario import load
    from nodeb.sweep import has_sweep

    check_jobs(jobs)
    if snap_length is not None and pcap is None:
        raise InputError("--snap-length says how much to keep of captured packets; give --pcap too")
    if pcap_at and pcap is None:
        raise InputError("--pcap-at says where packets are captured; give --pcap too")
    scenario = load(file, settings or ()).planned(runs, precision, seed)
    folder = Path("out") / file.stem if out is None else out
    inputs = [file, *named_files.paths(scenario.to_dict(), file.parent)]
    owner = folders.Owner("run", file.name)
    with folders.claim(folder, owner, force=force, inputs=inputs) as place:
        if pcap is not None:
            _check_capture(pcap, place)
        print_replaced(place)
        if has_sweep(file):
            hint = f"`nodeb sweep {file}` does all of it"
            text = f"note: this simulates {file} without its [sweep] table; {hint}"
            print(text, file=sys.stderr)
        print_warnings(scenario.warnings())
        capture = {"pcap": pcap, "snap_length": snap_length, "pcap_at": pcap_at or ()}
        result = _simulated(scenario, scenario.name or file.stem, place, jobs, capture)
        result.put(place, report=report)
    _print_summary(result, scenario.name or file.stem)
    print(f"\nresults: {folder}")
    if report:
        print(f"report: {folder / 'report.html'}")
    if pcap is not None:
        print(f"packets: {pcap}")


def _simulated(
    scenario: Scenario, title: str, place: Place, jobs: int | None, capture: dict[str, Any]
) -> Result:
    """Runs a scenario; what had finished when it was interrupted is put into the folder."""
    from nodeb.progress import progress_bar

    try:
        with progress_bar(title) as bar:
            return scenario.run(jobs=jobs, progress=bar, **capture)
    except Interrupted as stop:
        if stop.result is None:
            raise Stopped(str(stop)) from None
        raise Stopped(f"{stop}; those are in {stop.result.put(place)}") from None


def _check_capture(pcap: Path, place: Place) -> None:
    """Complains about a capture in the folder of results, which is replaced as a whole."""
    if pcap.resolve().is_relative_to(place.path):
        raise OutputError(
            f"{pcap} lies in {place.shown}, which is put in place as a whole with the results; "
            "give another file with --pcap"
        )


app.command()(cli_sweep.sweep)
app.command()(cli_sweep.plot)
app.add_typer(cli_link.app, name="link")
app.command()(cli_fit.fit)


@app.command()
def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files.")],
) -> None:
    """Check scenario files without running them."""
    from nodeb.scenario import load
    from nodeb.sweep import Sweep, has_sweep

    bad = 0
    for file in files:
        try:
            found = Sweep.load(file) if has_sweep(file) else load(file)
        except InputError as error:
            bad += 1
            _print_error(error)
        else:
            about = [found.name] if found.name else []
            about += [f"sweep of {len(found.cells)} cells"] if isinstance(found, Sweep) else []
            print(f"{file}: valid" + (f" ({', '.join(about)})" if about else ""))
            print_warnings(found.warnings())
    if bad:
        raise typer.Exit(BAD_INPUT)


@app.command()
def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it here instead of to stdout.")
    ] = None,
) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
    from nodeb import files
    from nodeb.sweep.schema import file_schema

    text = file_schema().rstrip() + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    files.refuse_other(out, b"{", "a JSON Schema", "--out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(out, text.encode())
    except OSError as error:
        raise OutputError(f"cannot write the schema to {out}: {os_reason(error)}") from None
    print(out)


@app.command("list")
def list_(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Only this kind.")] = None,
) -> None:
    """List what a scenario can choose from: schedulers, radio accesses, traffic, ..."""
    from nodeb import _core
    from nodeb.text import align

    entries = _core.registry()
    if kind is not None:
        _check_name("kind", kind, list(dict.fromkeys(entry[0] for entry in entries)))
        entries = [entry for entry in entries if entry[0] == kind]
    print(align(["kind", "name", "what it is"], [list(entry) for entry in entries]))


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="Name of a published study, such as `wang`.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results go here; default: out/<name>.")
    ] = None,
    item: Annotated[
        list[str] | None, typer.Option(help='Only this table or figure, as in "Table 12".')
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short version, less precise.")] = False,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random streams.")] = 1,
    force: Force = False,
) -> None:
    """Regenerate the tables and figures of a published study, next to its own figures."""
    from nodeb import reproduce as studies
    from nodeb.progress import progress_bar
    from nodeb.runner import check_jobs
    from nodeb.text import align

    _check_name("study", name, studies.names())
    check_jobs(jobs)
    folder = Path("out") / name if out is None else out
    try:
        with progress_bar(f"reproducing {name}") as bar:
            outcome = studies.run(name, folder, item or None, quick, jobs, seed, bar, force=force)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; what was simulated until then is in {folder}, and the same command goes "
            "on from there"
        ) from None
    if outcome.replaced is not None:
        print(f"note: replaced {outcome.replaced} in {folder}", file=sys.stderr)
    for file in outcome.damaged:
        print(f"warning: {file} was damaged and was simulated again", file=sys.stderr)
    if outcome.headline_rows:
        print(f"{outcome.headline_title}\n")
        print(align(outcome.headline_columns, outcome.headline_rows))
        print()
    for line in outcome.summary_lines:
        print(line)
    print(f"report: {outcome.report}")


def invoke(arguments: list[str]) -> int:
    """Runs the command line; returns the exit status. Nothing escapes as a traceback."""
    try:
        status = app(args=arguments, prog_name="nodeb", standalone_mode=False)
        if status == INTERRUPTED:  # Typer swallows a Ctrl-C that comes between our lines
            _print_error("interrupted")
        return status if isinstance(status, int) else 0
    except (InputError, OutputError) as error:
        _print_error(error)
        return BAD_INPUT
    except Stopped as error:
        _print_error(error)
        return INTERRUPTED
    except NodebError as error:
        _print_error(error)
        return FAILED
    except BrokenPipeError:  # the reader of stdout has gone, as in `nodeb list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _other(error)


def _other(error: Exception) -> int:
    """A complaint of the command-line parser, or a mistake of ours."""
    if hasattr(error, "format_message"):
        message = str(error.format_message())
        if not message.strip():  # called without arguments: the help was printed
            return BAD_INPUT
        _print_error(f"{message[:1].lower()}{message[1:].rstrip('.')}; see `nodeb --help`")
        return BAD_INPUT
    if os.environ.get("NODEB_DEBUG"):
        raise error
    _print_error(
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows where)"
    )
    return FAILED


def _print_error(error: object) -> None:
    print(f"error: {error}", file=sys.stderr)


def _check_name(what: str, name: str, allowed: list[str]) -> None:
    """Complains about a name that is not among those allowed."""
    from nodeb.table import nearest

    if name not in allowed:
        raise InputError(f"there is no {what} `{name}`{nearest(name, allowed)}")


def _print_summary(result: Result, name: str) -> None:
    from nodeb.text import summary_text

    about = result.provenance
    print(f"{name}: {about.stopping}; seed {about.seed}, {about.wall_time_s:.2f} s\n")
    print(summary_text(result.summary))
