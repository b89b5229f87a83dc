"""The command line of `nodeb`: one module per command.

Answers and tables go to stdout, progress and errors to stderr. The answer of `nodeb emulate` goes
to stderr, too, because stdout belongs to the emulated command. An error begins with `error:`.

Exit status: 0 success, 1 failure while running, 2 invalid input or output folder, 130 interrupted.
A full disk is a failure while running; results that exist are printed first. `nodeb emulate` also
returns the status of its command.

Modules that are slow to import are imported inside functions. Of the modules of commands, only that
of the requested command is imported.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from nodeb.base import signals
from nodeb.cli.options import BAD_INPUT, FAILED, INTERRUPTED, Stopped, print_error
from nodeb.errors import FullError, InputError, NodebError, OutputError, os_reason

COMMANDS = {
    "run": "run:run",
    "life": "life:life",
    "play": "play:play",
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
"""Module and attribute of each command, `module:attribute`, in the order of the help."""

OTHER_NAMES = {"--replications": "--runs"}
"""Options to suggest for unknown ones, where the parser's own suggestion would be misleading."""


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
    """Returns the command line with the requested command only, to save import time.

    If the first argument is not a command, all commands are included.
    """
    app = typer.Typer(
        name="nodeb",
        help="Simulate TCP over UMTS, HSDPA and LTE radio access, packet by packet.",
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
    """Runs the command line and returns the exit status; prints errors without a traceback.

    NODEB_DEBUG=1 raises errors of the operating system and defects of nodeb instead.
    """
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # The reader of stdout has exited, as in `nodeb list | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print_error(f"cannot print to stdout: {os_reason(error)}")
        return FAILED
    return status


def _invoke(arguments: list[str]) -> int:
    try:
        if os.environ.get("MPLBACKEND"):
            _check_backend()
        app = _app(arguments)
        signals.handle(signals.interrupt)
        status = app(args=arguments, prog_name="nodeb", standalone_mode=False)
        if status == INTERRUPTED:  # Typer turns a KeyboardInterrupt into this status.
            print_error("interrupted")
        return status if isinstance(status, int) else 0
    except (InputError, OutputError) as error:
        print_error(error)
        return FAILED if isinstance(error, FullError) else BAD_INPUT
    except Stopped as error:
        print_error(error)
        return INTERRUPTED
    except NodebError as error:
        print_error(error)
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        return _print_os_error(error)
    except MemoryError:
        print_error("out of memory; reduce --jobs, the users or the recorded series")
        return FAILED
    except Exception as error:
        return _print_other(error)


def _check_backend() -> None:
    """Checks the environment variable MPLBACKEND before a simulation.

    Otherwise, a wrong value would become an error only when figures are drawn.

    Raises:
        InputError: matplotlib has no such backend.
    """
    try:
        import matplotlib  # noqa: F401
    except ValueError as error:
        backend = os.environ["MPLBACKEND"]
        raise InputError(
            f"MPLBACKEND={backend}: matplotlib has no such backend; "
            "unset it, nodeb opens no windows"
        ) from error


def _print_os_error(error: OSError) -> int:
    """Prints an error of the operating system and returns the exit status.

    Raises it instead if NODEB_DEBUG is set.
    """
    if os.environ.get("NODEB_DEBUG"):
        raise error
    what = error.filename or "cannot print to stdout, or write a file"
    print_error(f"{what}: {os_reason(error)}")
    return FAILED


def _print_other(error: Exception) -> int:
    """Prints an error of the command-line parser, or an unexpected one. Returns the exit status.

    Raises an unexpected error instead if NODEB_DEBUG is set.
    """
    if hasattr(error, "format_message"):
        if (option := getattr(error, "option_name", None)) in OTHER_NAMES:
            error.possibilities = [OTHER_NAMES[option]]  # type: ignore[attr-defined]
        message = str(error.format_message())
        # The message is empty if the command was called without arguments. The help has been
        # printed already then, so no error is printed.
        if not message.strip():
            return BAD_INPUT
        of = getattr(getattr(error, "ctx", None), "command_path", "nodeb")
        print_error(f"{message[:1].lower()}{message[1:].rstrip('.')}; see `{of} --help`")
        return BAD_INPUT
    if signals.received:  # A library turned Ctrl-C during its import into another exception.
        print_error("interrupted")
        return INTERRUPTED
    if os.environ.get("NODEB_DEBUG"):
        raise error
    print_error(
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows the traceback)"
    )
    return FAILED
