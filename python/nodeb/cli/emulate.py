"""The command `nodeb emulate`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodeb.base.signals import undisturbed
from nodeb.cli import times
from nodeb.cli.options import (
    FAILED,
    Everything,
    Force,
    Report,
    Seed,
    Settings,
    Tables,
    print_answer,
    print_file,
)
from nodeb.errors import InputError, RunError, nearest
from nodeb.inputs.scenario import load

if TYPE_CHECKING:
    from nodeb.emulate.session import Options, Outcome

__all__ = ["emulate"]

LARGEST = 65_535
"""Bytes of the largest IP packet."""


def emulate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Scenario file (TOML)."),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="What runs as the phone.", show_default=False),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="USER", help="Which user it is; default: the first that is real."
        ),
    ] = None,
    phone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USER:COMMAND", help="Another real phone and what it runs; may be repeated."
        ),
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What runs as the server.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="End after this, such as `30 s`, though commands run."),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="END=NAMESPACE",
            help="Where `server` or a user is: a name of `ip netns`, or a file.",
        ),
    ] = None,
    nat: Annotated[
        bool,
        typer.Option(
            "--nat", help="The server's end leads to the outside of the host; needs root."
        ),
    ] = False,
    nameserver: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Who is asked for names; may be repeated."),
    ] = None,
    settings: Settings = None,
    seed: Seed = None,
    mtu: Annotated[
        int, typer.Option(min=1280, max=LARGEST, help="The largest packet, bytes; IPv6 needs 1280.")
    ] = 1500,
    late: Annotated[
        str, typer.Option(metavar="TIME", help="From when on a delivery counts as late.")
    ] = "2 ms",
    late_share: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.0, max=1.0, help="Share of late deliveries that is allowed."
        ),
    ] = 0.01,
    out: Tables = None,
    force: Force = False,
    report: Report = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Record the flight; `nodeb replay` flies it again."),
    ] = None,
    kept: Annotated[
        int,
        typer.Option(
            "--kept", metavar="N", min=0, max=LARGEST, help="Bytes of each packet recorded."
        ),
    ] = 96,
    everything: Everything = False,
    check: Annotated[
        bool, typer.Option("--check", help="Measure what this machine can carry, and nothing else.")
    ] = False,
) -> int:
    """Run commands as phones of a scenario: their packets pass its cell, in real time."""
    from nodeb.emulate import folder, pages, plan, session
    from nodeb.emulate.answer import emulated
    from nodeb.emulate.problems import check_system

    check_system()
    if check:
        return _check()
    if file is None:
        raise InputError("there is no scenario; give a FILE and a command, or --check")
    wanted: list[tuple[str | None, tuple[str, ...]]] = [plan.spoken(one) for one in phone or ()]
    if command:
        wanted.insert(0, (as_, tuple(command)))
    elif as_ is not None or not wanted:
        hint = "give a command after `--`, or --phone USER:COMMAND"
        raise InputError(f"nothing runs as a phone; {hint}")
    scenario = load(file, settings or ()).planned(runs=1, seed=seed)
    planned = plan.make(scenario, wanted)
    options = session.Options(
        seed=scenario.seed,
        server=_words(server),
        duration_s=None if duration is None else times.duration("--duration", duration),
        mtu=mtu,
        late_s=times.duration("--late", late),
        late_share=late_share,
        attach=_attached(attach or (), ["server", *(one.name for one in planned.phones)]),
        nat=nat,
        nameservers=_nameservers(nameserver or (), nat=nat),
        record=record,
        kept_bytes=kept,
    )
    page_place = pages.checked(report, out, force=force)
    if nat and "server" in options.attach:
        raise InputError("--nat leads a namespace of our own outside; leave out --attach server=")
    with folder.claimed(out, file, force=force, once=True) as place:
        outcome = _emulated(planned, options)
        where = "" if place is None else f"{out} has the tables."
        with undisturbed():  # it cannot be repeated
            print_answer(emulated(planned, options, outcome, where), everything, sys.stderr)
            status = _told(outcome, options)
            if place is not None:
                folder.put(place, planned, options, outcome)
    if page_place is not None:
        from nodeb.emulate.page import of_emulation

        page_place = pages.write(page_place, of_emulation(planned, options, outcome), force=force)
        print_file("Page", page_place, sys.stderr)
    if (why := outcome.report.get("unrecorded")) is not None:
        raise RunError(f"the recording {record} is not whole: {why}")
    return status


def _check() -> int:
    from nodeb.emulate.check import measure, text

    found = list(measure())
    print(text(found))
    return 0 if found[0].well else FAILED


def _emulated(planned: Any, options: Options) -> Outcome:
    from nodeb.emulate.session import emulate as run
    from nodeb.emulate.status import StatusLine

    with StatusLine(sys.stderr) as line:
        return run(planned, options, line)


def _told(outcome: Outcome, options: Options) -> int:
    """Tells what went wrong on stderr, as stdout is the command's; the exit status."""

    def tell(text: str) -> None:
        print(text, file=sys.stderr)

    for version, why in outcome.report.get("outside", {}).get("missing", {}).items():
        tell(f"note: {version.replace('ip', 'IP')} did not lead outside: {why}")
    for name, why in outcome.failed.items():
        tell(f"error: the command of `{name}` cannot be started: {why}")
    if outcome.server_ended:
        tell(f"warning: the server ended {outcome.server_ended}")
    if outcome.ended == "duration":
        over = f"{options.duration_s:g} s were over before the command had ended"
        tell(f"note: {over}, so it was stopped")
    if outcome.too_late is not None:
        tell(f"error: not true to time: {outcome.too_late}")
        return outcome.status or FAILED
    return outcome.status


def _words(command: str | None) -> tuple[str, ...]:
    if command is None:
        return ()
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"--server {command!r}: {error}") from None
    if not words:
        raise InputError("--server is empty; expected a command")
    return words


def _attached(wanted: Sequence[str], ends: list[str]) -> dict[str, str]:
    """The namespaces of ends, as files."""
    found = {}
    for text in wanted:
        name, equals, place = text.rpartition("=")
        if not (equals and place):
            raise InputError(f"--attach {text}: expected an end and a namespace, as server=NAME")
        if name not in ends:
            raise InputError(f"--attach {text}: there is no end `{name}`{nearest(name, ends)}")
        found[name] = place if "/" in place else f"/run/netns/{place}"
    return found


def _nameservers(wanted: Sequence[str], *, nat: bool) -> tuple[str, ...]:
    """Whom commands ask for names; nobody in particular if the host's nameservers will do."""
    from ipaddress import ip_address

    from nodeb.emulate.names import reachable

    for text in wanted:
        try:
            ip_address(text)
        except ValueError:
            raise InputError(f"--nameserver {text}: expected an address of IPv4 or IPv6") from None
    if wanted or not nat:
        return tuple(wanted)
    found = reachable()
    if found is None or found:
        return tuple(found or ())
    why = "the host's nameserver is itself, which phones do not reach"
    print(f"note: names are not looked up: {why}; --nameserver ADDRESS says who", file=sys.stderr)
    return ()
