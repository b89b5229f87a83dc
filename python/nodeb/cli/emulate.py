"""`nodeb emulate`: runs commands whose real packets pass a scenario's cell in real time."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb.base.command_line import command_line
from nodeb.base.signals import ignore
from nodeb.cli import FAILED, messages
from nodeb.cli import options as of
from nodeb.errors import InputError, nearest, os_reason
from nodeb.inputs.scenario import load

if TYPE_CHECKING:
    from nodeb.emulate.session import Options, Outcome

MAX_PACKET_BYTES = 65_535
"""Maximum size of an IPv4 packet, bytes; upper limit of `--mtu` and `--kept`."""
AGAIN = (
    "as", "phone", "server", "duration", "attach", "nat", "nameserver", "set", "mtu", "late",
    "late-share", "at-most",
)  # fmt: skip
"""Options that change what an emulation does; a page prints those that were given."""


@of.command(
    of.place("file", "FILE", "Scenario file (TOML).", nargs="?"),
    of.place("command", "-- COMMAND...", "Command to run as the phone.", str, nargs="*"),
    of.AS,
    of.repeated("--phone", "USER:COMMAND", "Another real phone and its command."),
    of.SERVER,
    of.option("--duration", "TIME", "Maximum duration, such as `30 s`; default: none."),
    of.repeated(
        "--attach", "ENDPOINT=NAMESPACE",
        "Existing namespace of `server` or a user: a name of `ip netns`, or a file.",
    ),
    of.flag("--nat", "Connect the phones to the host's networks with NAT; needs root."),
    of.repeated("--nameserver", "ADDRESS", "DNS server for the commands."),
    of.SET, of.SEED,
    of.option(
        "--runs", "N", "Emulations, with seeds from --seed on; prints means with 95 % intervals.",
        of.whole(1), default=1,
    ),
    of.repeated(
        "--at-most", "METRIC=VALUE",
        "Fail if the mean of a metric, such as `command_s`, is above a value in its unit.",
    ),
    of.option(
        "--mtu", "N", "Maximum packet size, bytes; IPv6 needs 1280.",
        of.whole(1280, MAX_PACKET_BYTES), default=1500,
    ),
    of.LATE,
    of.option(
        "--late-share", "SHARE", "Maximum share of late deliveries.", of.share, default=0.01
    ),
    of.TABLES, of.FORCE, of.REPORT,
    of.option("--record", "FILE", "Record the emulation for `nodeb replay`.", Path),
    of.option(
        "--kept", "N", "Bytes recorded per packet.", of.whole(0, MAX_PACKET_BYTES), default=96
    ),
    of.ALL,
    of.flag("--check", "Only measure the rates that this machine can emulate."),
)  # fmt: skip
def emulate(given: Namespace) -> int:
    from nodeb.base.table import Table
    from nodeb.emulate import plan, results, samples, session
    from nodeb.emulate.endpoint import check_system
    from nodeb.emulate.status import status_line

    check_system()
    if given.check:
        return _check()
    if given.file is None:
        raise InputError("no scenario given; give a FILE and a command, or --check")
    if given.nat and any(one.startswith("server=") for one in given.attach):
        raise InputError("--nat and --attach server= cannot be combined")
    wanted: list[tuple[str | None, tuple[str, ...]]] = [
        plan.parse_phone(one) for one in given.phone
    ]
    if given.command:
        wanted.insert(0, (given.user, tuple(given.command)))
    elif given.user is not None or not wanted:
        hint = "give a command after `--`, or --phone USER:COMMAND"
        raise InputError(f"no phone has a command; {hint}")
    scenario = load(given.file, given.set).planned(runs=1, seed=given.seed)
    planned = plan.make(scenario, wanted)
    server = () if given.server is None else plan.split(given.server, f"--server {given.server!r}")
    if given.server is not None and not server:
        raise InputError("--server is empty; expected a command")
    options = session.Options(
        seed=scenario.seed,
        server=server,
        duration_s=None if given.duration is None else of.duration("--duration", given.duration),
        mtu=given.mtu,
        late_s=of.duration("--late", given.late),
        late_share=given.late_share,
        attach=_attached(given.attach, ["server", *(one.name for one in planned.phones)]),
        nat=given.nat,
        nameservers=_nameservers(given.nameserver, nat=given.nat),
        record=given.record,
        kept_bytes=given.kept,
    )
    report = of.page_of(
        given,
        Path("report.html") if given.out else of.default_folder(None, given.file, "-emulated.html"),
    )
    if report is not None and given.runs > 1:
        raise InputError("--report shows one emulation; give it without --runs")
    limits = dict(map(_limit, given.at_most))
    page = results.page_place(report, given.out, force=given.force)
    outcomes: list[Outcome] = []
    with results.claimed(given.out, given.file, force=given.force, once=True) as place:
        for number in range(given.runs):
            each = replace(options, seed=options.seed + number)
            if given.record is not None and given.runs > 1:
                name = f"{given.record.stem}-{each.seed}{given.record.suffix or '.log'}"
                each = replace(each, record=given.record.with_name(name))
            with status_line(sys.stderr) as line:
                outcomes.append(session.emulate(planned, each, line))
            if outcomes[-1].ended == "signal":
                break
        outcome = outcomes[0]
        where = ""
        ignore()  # From here on: an emulation cannot be repeated.
        try:
            if place is not None:
                results.write_emulations(place, planned, options, outcomes)
                where = f"The tables are in {given.out}."
        finally:  # Printed even if the tables cannot be written.
            measured = [
                samples.sample(one.report, options.seed + number, one.command_s)
                for number, one in enumerate(outcomes)
            ]
            rows = Table.concat(measured)
            if len(outcomes) == 1:
                answer = results.emulated(planned, options, outcome, where)
            else:
                subject = planned.scenario.name or "an emulation"
                marks = results.failures(outcomes, options.seed)
                answer = samples.repeated(rows, subject, marks, where)
            messages.print_answer(answer, given.all, sys.stderr)
            statuses = [_print_problems(one, options) for one in outcomes]
            status = next(filter(None, statuses), 0)
    for name, limit in limits.items():
        if (mean := samples.mean_of(rows, name)).mean > limit:
            messages.print_error(f"{name} is {mean.mean:.4g}, above --at-most {name}={limit:g}")
            status = status or FAILED
    if page is not None:
        from nodeb.emulate.page import of_emulation

        given_again = of.chosen(given, *AGAIN, "report") | {"seed": options.seed}
        again = command_line("emulate", given.file, options=given_again, program=given.command)
        content = of_emulation(planned, options, outcome, again)
        of.write_page(page, content)
        messages.print_file("Page", page, sys.stderr)
    return status


def _limit(text: str) -> tuple[str, float]:
    from nodeb.emulate.samples import METRICS

    name, equals, value = text.partition("=")
    if not equals or name not in METRICS:
        raise InputError(
            f"--at-most {text}: expected METRIC=VALUE with one of {', '.join(METRICS)}"
        )
    try:
        return name, float(value)
    except ValueError:
        raise InputError(f"--at-most {text}: `{value}` is not a number") from None


def _check() -> int:
    from nodeb.emulate.check import measure, text

    found = list(measure())
    print(text(found))
    return 0 if found[0].well else FAILED


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

    from nodeb.emulate.nat import reachable_nameservers

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
