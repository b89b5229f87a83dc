"""`nodeb emulate`: runs commands whose real packets pass a scenario's cell in real time."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodeb.base.command_line import command_line
from nodeb.base.signals import ignore
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
from nodeb.errors import InputError, nearest, os_reason
from nodeb.inputs.scenario import load

if TYPE_CHECKING:
    from nodeb.emulate.session import Options, Outcome

__all__ = ["emulate"]

MAX_PACKET_BYTES = 65_535
"""Maximum size of an IPv4 packet, bytes; upper limit of `--mtu` and `--kept`."""
USUAL_MTU, USUAL_LATE, USUAL_LATE_SHARE = 1500, "2 ms", 0.01


def emulate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Scenario file (TOML)."),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...", help="Command to run as the phone.", show_default=False
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="USER", help="User that runs the command; default: the first real user."
        ),
    ] = None,
    phone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USER:COMMAND", help="Another real phone and its command; repeatable."
        ),
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Command to run as the server.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Maximum duration, such as `30 s`; default: none."),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENDPOINT=NAMESPACE",
            help="Existing namespace of `server` or a user: a name of `ip netns`, or a file.",
        ),
    ] = None,
    nat: Annotated[
        bool,
        typer.Option(
            "--nat", help="Connect the phones to the host's networks with NAT; needs root."
        ),
    ] = False,
    nameserver: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="DNS server for the commands; repeatable."),
    ] = None,
    settings: Settings = None,
    seed: Seed = None,
    mtu: Annotated[
        int,
        typer.Option(
            min=1280, max=MAX_PACKET_BYTES, help="Maximum packet size, bytes; IPv6 needs 1280."
        ),
    ] = USUAL_MTU,
    late: Annotated[
        str, typer.Option(metavar="TIME", help="Lateness above which a delivery counts as late.")
    ] = USUAL_LATE,
    late_share: Annotated[
        float,
        typer.Option(metavar="SHARE", min=0.0, max=1.0, help="Maximum share of late deliveries."),
    ] = USUAL_LATE_SHARE,
    out: Tables = None,
    force: Force = False,
    report: Report = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Record the emulation for `nodeb replay`."),
    ] = None,
    kept: Annotated[
        int,
        typer.Option(
            "--kept", metavar="N", min=0, max=MAX_PACKET_BYTES, help="Bytes recorded per packet."
        ),
    ] = 96,
    everything: Everything = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only measure the rates that this machine can emulate.")
    ] = False,
) -> int:
    """Run commands as phones of a scenario; their packets pass the simulated cell."""
    from nodeb.emulate import page_file, plan, results_folder, session
    from nodeb.emulate.answer import emulated
    from nodeb.emulate.problems import check_system

    check_system()
    if check:
        return _check()
    if file is None:
        raise InputError("no scenario given; give a FILE and a command, or --check")
    if nat and any(one.startswith("server=") for one in attach or ()):
        raise InputError("--nat and --attach server= cannot be combined")
    wanted: list[tuple[str | None, tuple[str, ...]]] = [
        plan.parse_phone(one) for one in phone or ()
    ]
    if command:
        wanted.insert(0, (as_, tuple(command)))
    elif as_ is not None or not wanted:
        hint = "give a command after `--`, or --phone USER:COMMAND"
        raise InputError(f"no phone has a command; {hint}")
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
    page_place = page_file.checked(report, out, force=force)
    with results_folder.claimed(out, file, force=force, once=True) as place:
        outcome = _emulated(planned, options)
        where = ""
        ignore()  # From here on: an emulation cannot be repeated.
        try:
            if place is not None:
                results_folder.write_emulation(place, planned, options, outcome)
                where = f"The tables are in {out}."
        finally:  # Printed even if the tables cannot be written.
            print_answer(emulated(planned, options, outcome, where), everything, sys.stderr)
            status = _print_problems(outcome, options)
    if page_place is not None:
        from nodeb.emulate.page import of_emulation

        given = {
            "as": as_,
            "phone": phone,
            "server": server,
            "duration": duration,
            "attach": attach,
            "nat": nat,
            "nameserver": nameserver,
            "set": settings,
            "seed": options.seed,
            "mtu": None if mtu == USUAL_MTU else mtu,
            "late": None if late == USUAL_LATE else late,
            "late_share": None if late_share == USUAL_LATE_SHARE else late_share,
            "report": report,
        }
        again = command_line("emulate", file, options=given, program=command or ())
        content = of_emulation(planned, options, outcome, again)
        page_place = page_file.write(page_place, content, force=force)
        print_file("Page", page_place, sys.stderr)
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


def _print_problems(outcome: Outcome, options: Options) -> int:
    """Prints problems to stderr, because stdout belongs to the command. Returns the exit status.

    It is `outcome.status`. Two problems replace it by `FAILED`: an incomplete recording, and, if it
    is 0, inaccurate timing.
    """

    def note(text: str) -> None:
        print(text, file=sys.stderr)

    for version, why in outcome.report.get("outside", {}).get("missing", {}).items():
        note(f"note: no {version.replace('ip', 'IP')} beyond the host: {why}")
    for name, why in outcome.failed.items():
        note(f"error: the command of `{name}` cannot be started: {why}")
    if outcome.server_ended:
        note(f"warning: the server ended {outcome.server_ended}")
    if outcome.ended == "duration":
        note(f"note: the command was stopped after {options.duration_s:g} s (--duration)")
    status = outcome.status
    if outcome.too_late is not None:
        note(f"error: inaccurate timing: {outcome.too_late}")
        status = status or FAILED
    if (why := outcome.report.get("unrecorded")) is not None:
        note(f"error: the recording {options.record} is incomplete: {why}")
        status = FAILED
    return status


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


def _attached(wanted: Sequence[str], endpoints: list[str]) -> dict[str, str]:
    """Returns the namespace files that `--attach` names, by endpoint.

    Args:
        wanted: values of the option, each `ENDPOINT=NAMESPACE`.
        endpoints: names of the server and of all phones.

    Raises:
        InputError: a value has another form, the endpoint does not exist, or the file does not.
    """
    found = {}
    for text in wanted:
        name, equals, place = text.rpartition("=")
        if not (equals and place):
            raise InputError(f"--attach {text}: expected ENDPOINT=NAMESPACE, such as server=NAME")
        if name not in endpoints:
            hint = nearest(name, endpoints)
            raise InputError(f"--attach {text}: there is no endpoint `{name}`{hint}")
        found[name] = place if "/" in place else f"/run/netns/{place}"
        try:
            os.stat(found[name])
        except OSError as error:
            raise InputError(f"--attach {text}: {found[name]}: {os_reason(error)}") from None
    return found


def _nameservers(wanted: Sequence[str], *, nat: bool) -> tuple[str, ...]:
    """Returns the DNS servers for the commands; empty if they use the host's `resolv.conf`.

    These are the `wanted` servers, if there are any. Otherwise they are found, but only for phones
    behind NAT. If such phones cannot reach any known server, a note is printed.
    """
    from ipaddress import ip_address

    from nodeb.emulate.resolver import reachable_nameservers

    for text in wanted:
        try:
            ip_address(text)
        except ValueError:
            raise InputError(f"--nameserver {text}: expected an IPv4 or IPv6 address") from None
    if wanted or not nat:
        return tuple(wanted)
    found = reachable_nameservers()
    if found is None or found:
        return tuple(found or ())
    why = "the host's nameserver is on the host itself, which phones cannot reach"
    print(f"note: no DNS: {why}; give another with --nameserver ADDRESS", file=sys.stderr)
    return ()
