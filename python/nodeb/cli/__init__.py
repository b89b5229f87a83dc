"""The command line of `nodeb`: one module per command.

Answers and tables go to stdout, progress and errors to stderr. The answer of `nodeb emulate` goes
to stderr, too, because stdout belongs to the emulated command. An error begins with `error:`.

Exit status: 0 success, 1 failure while running, 2 invalid input or output folder, 130 interrupted.
A full disk is a failure while running; results that exist are printed first. `nodeb emulate` also
returns the status of its command.

Only the module of the requested command is imported.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from textwrap import fill
from typing import Any

from nodeb.base import signals
from nodeb.cli.messages import print_error
from nodeb.cli.options import Parser
from nodeb.errors import FullError, InputError, NodebError, OutputError, nearest, os_reason

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
ABOUT = "Simulate TCP over UMTS, HSDPA and LTE radio access, packet by packet."
GROUPS = {
    "Begin": {
        "new": "Print a ready cell, the beginning of a scenario file of your own.",
        "list": "List components of scenarios, their keys, ready cells, or metrics.",
        "schema": "Print the JSON Schema of a scenario file, or describe one key.",
        "validate": "Check scenario files without running them.",
        "play": "Open a page that simulates a scenario in the browser; it needs no network.",
    },
    "Simulate": {
        "run": "Simulate a scenario, print a summary and save tables. A sweep table is ignored.",
        "compare": "Compare scenarios with common random numbers, replication by replication.",
        "sweep": "Simulate all cells of a scenario's sweep table that the results folder lacks.",
    },
    "Understand": {
        "explain": "Explain how long a transfer took, with one cause per nanosecond.",
        "life": "Save what happened to every packet: tables, an interactive page, a trace.",
        "plot": "Draw curves with 95 % confidence bands from a table of results. Columns of "
        "several tables in a folder are joined on run and user.",
    },
    "Real programs and measurements": {
        "emulate": "Run commands as phones of a scenario, whose cell carries their packets.",
        "replay": "Replay a recorded emulation in virtual time. Fails if any arrival or loss "
        "differs.",
        "import": "Convert a measured channel or traffic to a trace file for scenarios.",
    },
    "The radio link alone": {
        "link": "Simulate the chip-level radio link alone.",
        "link run": "Simulate a link at each Eb/N0; print error rates, and save rates and error "
        "sequences.",
        "link curve": "Plot error rates over Eb/N0 with 95 % intervals, one curve per folder.",
        "link schema": "Print the JSON Schema of a link configuration file, for editors.",
        "fit": "Fit error models to an error sequence; write model files and figures.",
    },
    "Published studies": {
        "reproduce": "Reproduce tables and figures of a published study, next to its values. `all` "
        "reproduces every study in its own folder and summarizes the results.",
    },
    "Shell": {
        "completion": "Print a script for a shell, which then completes commands, keys and names.",
    },
}
"""What each command does, by group. `link` has commands of its own."""
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
EXAMPLES = {
    "new": "nodeb new lte-evening > my.toml",
    "list": "nodeb list keys radio.dch",
    "schema": "nodeb schema radio.dch.bler",
    "validate": "nodeb validate my.toml",
    "play": "nodeb play cell:lte-evening",
    "run": "nodeb run cell:umts-2004 --set record.cwnd=true --report",
    "compare": "nodeb compare cell:lte-evening --with tcp.linux.control=bbr",
    "sweep": "nodeb sweep study.toml",
    "explain": "nodeb explain cell:umts-2004 --what-if",
    "life": 'nodeb life cell:hsdpa-suburb --user 0 --to "5 s"',
    "plot": "nodeb plot out/umts-2004 --x t_s --y cwnd_packets",
    "emulate": "nodeb emulate cell.toml -- curl http://server/",
    "replay": "nodeb replay recording.log --out out/replay",
    "import": "nodeb import drive.csv --as cqi",
    "link run": "nodeb link run vehicular-384k.toml",
    "link curve": "nodeb link curve out/vehicular-384k --rate bler",
    "link schema": "nodeb link schema > link.json",
    "fit": "nodeb fit errors.txt",
    "reproduce": "nodeb reproduce wang --quick",
    "completion": "nodeb completion bash > ~/.nodeb-completion",
}
MODULES = {"import": "importing", "list": "lists", "new": "lists", "schema": "lists"}


def parser(name: str) -> tuple[Parser, Any]:
    """The parser of a command, and the function that takes its values."""
    module, _, own = name.partition(" ")
    home = import_module(f"nodeb.cli.{MODULES.get(module, module)}")
    function = getattr(home, f"{own or module}_" if name in ("import", "list") else own or module)
    return Parser(f"nodeb {name}", COMMANDS[name], function.options, EXAMPLES[name]), function


def invoke(arguments: list[str]) -> int:
    """Runs the command line and returns the exit status; prints errors without a traceback.

    NODEB_DEBUG=1 raises errors of the operating system and defects of nodeb instead.
    """
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as error:
        signals.ignore()
        print_error(str(error) or "interrupted")
        return INTERRUPTED
    except NodebError as error:
        print_error(error)
        is_input = isinstance(error, InputError | OutputError) and not isinstance(error, FullError)
        return BAD_INPUT if is_input else FAILED
    except MemoryError:
        print_error("out of memory; reduce --jobs, the users or the recorded series")
        return FAILED
    except Exception as error:
        if signals.received:  # A library turned Ctrl-C during its import into another exception.
            print_error("interrupted")
            return INTERRUPTED
        if isinstance(error, OSError) and error.filename is None:
            # What stdout has not printed is dropped: the interpreter would try again at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # The reader has exited: `nodeb list | head -1`.
            return FAILED
        if os.environ.get("NODEB_DEBUG"):
            raise
        print_error(_described(error))
        return FAILED


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    name = " ".join(arguments[:2]) if arguments[:1] == ["link"] else "".join(arguments[:1])
    if name not in COMMANDS or name == "link":
        return _help(arguments)
    options, function = parser(name)
    signals.handle(signals.interrupt)
    values = options.read(arguments[len(name.split()) :])
    return 0 if values is None else function(values) or 0


def _help(arguments: list[str]) -> int:
    """Prints the version or the list of commands."""
    group = ["link"] if arguments[:1] == ["link"] else []
    first = "".join(arguments[len(group) :][:1])
    if first == "--version" and not group:
        from nodeb import _core

        print(f"nodeb {_core.version()}")
        return 0
    path = " ".join(["nodeb", *group])
    names = [name for name in COMMANDS if name.split()[:-1] == group]
    if first not in ("", "-h", "--help"):
        what = "option" if first.startswith("-") else "command"
        own = [name.split()[-1] for name in names]
        raise InputError(f"no such {what}: {first}{nearest(first, own)}; see `{path} --help`")
    lines = [f"usage: {path} [OPTIONS] COMMAND ...", "", COMMANDS["link"] if group else ABOUT]
    for title, texts in GROUPS.items():
        shown = {name: text for name, text in texts.items() if name in names}
        lines += ["", f"{title}:"] if shown else []
        for name, text in shown.items():
            lines.append(_wrapped(name.split()[-1], text.partition(". ")[0].rstrip(".")))
    lines += ["", _wrapped("-h, --help", "Show this message and exit")]
    lines += [] if group else [_wrapped("--version", "Show the version and exit")]
    print("\n".join(lines))
    return 0 if first else BAD_INPUT


def _wrapped(name: str, text: str) -> str:
    return fill(f"  {name:<10}  {text}", 79, subsequent_indent=" " * 14)


def _described(error: Exception) -> str:
    if isinstance(error, OSError):
        what = error.filename or "cannot print to stdout, or write a file"
        return f"{what}: {os_reason(error)}"
    return (
        f"nodeb itself failed, please report it: {type(error).__name__}: {error} "
        "(NODEB_DEBUG=1 shows the traceback)"
    )
