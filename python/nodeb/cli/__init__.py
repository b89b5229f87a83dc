"""The command line: `nodeb run`, `life`, `sweep`, `plot`, `link`, `fit`, `validate`, ...

A file for each command. Tables go to stdout, progress and errors to stderr. An error is one
paragraph that begins with `error:`. Exit status: 0 done, 1 failed while running, 2 bad input,
130 interrupted. Modules that are slow to import are imported where they are needed.
"""

from __future__ import annotations

import contextlib
import os
from typing import Annotated

import typer

from nodeb.base.signals import received
from nodeb.cli import link
from nodeb.cli.compare import compare
from nodeb.cli.emulate import emulate
from nodeb.cli.explain import explain
from nodeb.cli.fit import fit
from nodeb.cli.importing import import_
from nodeb.cli.life import life
from nodeb.cli.lists import list_, schema
from nodeb.cli.options import BAD_INPUT, FAILED, INTERRUPTED, Stopped, print_error
from nodeb.cli.plot import plot
from nodeb.cli.replay import replay
from nodeb.cli.reproduce import reproduce
from nodeb.cli.run import run
from nodeb.cli.sweep import sweep
from nodeb.cli.validate import validate
from nodeb.errors import InputError, NodebError, OutputError, os_reason
from nodeb.terminal import streams

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


app.command()(run)
app.command()(life)
app.command()(compare)
app.command()(emulate)
app.command()(explain)
app.command()(sweep)
app.command()(plot)
app.add_typer(link.app, name="link")
app.command()(fit)
app.command()(validate)
app.command("import")(import_)
app.command()(schema)
app.command("list")(list_)
app.command()(replay)
app.command()(reproduce)


def invoke(arguments: list[str]) -> int:
    """Runs the command line; returns the exit status. Nothing escapes as a traceback."""
    status = _invoke(arguments)
    unwritten = streams.finish()
    if unwritten is None or isinstance(unwritten, BrokenPipeError):
        return status if unwritten is None else FAILED
    if status == 0:  # else what went wrong has been told
        _complain(f"cannot print to stdout: {os_reason(unwritten)}")
    return status or FAILED


def _invoke(arguments: list[str]) -> int:
    try:
        status = app(args=arguments, prog_name="nodeb", standalone_mode=False)
        if status == INTERRUPTED:  # Typer swallows a Ctrl-C that comes between our lines
            _complain("interrupted")
        return status if isinstance(status, int) else 0
    except (InputError, OutputError) as error:
        _complain(error)
        return BAD_INPUT
    except Stopped as error:
        _complain(error)
        return INTERRUPTED
    except NodebError as error:
        _complain(error)
        return FAILED
    except BrokenPipeError:  # the reader of stdout has gone, as in `nodeb list | head -1`
        return FAILED
    except OSError as error:
        return _refused(error)
    except MemoryError:
        _complain("there is not enough memory for this; fewer --jobs, users or records need less")
        return FAILED
    except Exception as error:
        return _other(error)


def _complain(error: object) -> None:
    """Tells what was wrong, where stderr can still be written to."""
    with contextlib.suppress(OSError):
        print_error(error)


def _refused(error: OSError) -> int:
    """The system did not let us do something: the fault is in the environment."""
    if os.environ.get("NODEB_DEBUG"):
        raise error
    streams.finish()
    what = error.filename or "cannot print to stdout, or write a file"
    _complain(f"{what}: {os_reason(error)}")
    return FAILED


def _other(error: Exception) -> int:
    """A complaint of the command-line parser, or a mistake of ours."""
    if hasattr(error, "format_message"):
        message = str(error.format_message())
        if not message.strip():  # called without arguments: the help was printed
            return BAD_INPUT
        _complain(f"{message[:1].lower()}{message[1:].rstrip('.')}; see `nodeb --help`")
        return BAD_INPUT
    if received:  # a library that was loading turns Ctrl-C into an error of its own
        _complain("interrupted")
        return INTERRUPTED
    if os.environ.get("NODEB_DEBUG"):
        raise error
    _complain(
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows where)"
    )
    return FAILED
