"""The command line: `nodeb run`, `sweep`, `plot`, `link`, `fit`, `validate`, `reproduce`, ...

A file for each command. Tables go to stdout, progress and errors to stderr. An error is one
paragraph that begins with `error:`. Exit status: 0 done, 1 failed while running, 2 bad input,
130 interrupted. Modules that are slow to import are imported where they are needed.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from nodeb.cli import link
from nodeb.cli.compare import compare
from nodeb.cli.fit import fit
from nodeb.cli.lists import list_, schema
from nodeb.cli.options import BAD_INPUT, FAILED, INTERRUPTED, Stopped, print_error
from nodeb.cli.plot import plot
from nodeb.cli.reproduce import reproduce
from nodeb.cli.run import run
from nodeb.cli.sweep import sweep
from nodeb.cli.validate import validate
from nodeb.errors import InputError, NodebError, OutputError

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
app.command()(compare)
app.command()(sweep)
app.command()(plot)
app.add_typer(link.app, name="link")
app.command()(fit)
app.command()(validate)
app.command()(schema)
app.command("list")(list_)
app.command()(reproduce)


def invoke(arguments: list[str]) -> int:
    """Runs the command line; returns the exit status. Nothing escapes as a traceback."""
    try:
        status = app(args=arguments, prog_name="nodeb", standalone_mode=False)
        if status == INTERRUPTED:  # Typer swallows a Ctrl-C that comes between our lines
            print_error("interrupted")
        return status if isinstance(status, int) else 0
    except (InputError, OutputError) as error:
        print_error(error)
        return BAD_INPUT
    except Stopped as error:
        print_error(error)
        return INTERRUPTED
    except NodebError as error:
        print_error(error)
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
        print_error(f"{message[:1].lower()}{message[1:].rstrip('.')}; see `nodeb --help`")
        return BAD_INPUT
    if os.environ.get("NODEB_DEBUG"):
        raise error
    print_error(
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows where)"
    )
    return FAILED
