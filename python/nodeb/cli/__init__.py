"""The command line: `nodeb run`, `life`, `sweep`, `plot`, `link`, `fit`, `validate`, ...

A file for each command. Tables go to stdout, progress and errors to stderr. An error is one
paragraph that begins with `error:`. Exit status: 0 done, 1 failed while running (a full disk, too,
after the results are printed), 2 bad input, 130 interrupted. Modules that are slow to import are
imported where they are needed, and of commands only the one that is asked for.
"""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from typing import Annotated

import typer

from nodeb.base import streams
from nodeb.base.signals import received
from nodeb.cli.options import BAD_INPUT, FAILED, INTERRUPTED, Stopped, print_error
from nodeb.errors import FullError, InputError, NodebError, OutputError, os_reason

COMMANDS = {
    "run": "run:run",
    "life": "life:life",
    "compare": "compare:compare",
    "emulate": "emulate:emulate",
    "explain": "explain:explain",
    "sweep": "sweep:sweep",
    "plot": "plot:plot",
    "link": "link:app",
    "fit": "fit:fit",
    "validate": "validate:validate",
    "import": "importing:import_",
    "schema": "lists:schema",
    "list": "lists:list_",
    "replay": "replay:replay",
    "reproduce": "reproduce:reproduce",
}
"""Every command, its module and what it is there, in the order of the help."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from nodeb import _core

        print(f"nodeb {_core.version()}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    del version


def _app(arguments: list[str]) -> typer.Typer:
    """The command line with the command that is asked for; with all if that is none of them."""
    app = typer.Typer(
        name="nodeb",
        help="What does a cellular radio link do to TCP? Simulates TCP over UMTS and HSDPA.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_common)
    for name in COMMANDS.keys() & arguments[:1] or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"nodeb.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


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
        if os.environ.get("MPLBACKEND"):
            _check_backend()
        status = _app(arguments)(args=arguments, prog_name="nodeb", standalone_mode=False)
        if status == INTERRUPTED:  # Typer swallows a Ctrl-C that comes between our lines
            _complain("interrupted")
        return status if isinstance(status, int) else 0
    except FullError as error:
        _complain(error)
        return FAILED
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


def _check_backend() -> None:
    """Refuses a backend that matplotlib does not have, before a simulation whose pictures need it.

    Raises:
        InputError: there is no such backend.
    """
    try:
        import matplotlib  # noqa: F401
    except ValueError as error:
        backend = os.environ["MPLBACKEND"]
        raise InputError(
            f"MPLBACKEND={backend}: matplotlib has no such backend; "
            "unset it, nodeb opens no windows"
        ) from error


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
    """A complaint of the command-line parser, about the environment, or a mistake of ours."""
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
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        _complain(
            "an argument has characters that cannot be read in this locale (LC_ALL, LANG); "
            "set PYTHONUTF8=1, or a locale such as C.UTF-8"
        )
        return BAD_INPUT
    _complain(
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows where)"
    )
    return FAILED
