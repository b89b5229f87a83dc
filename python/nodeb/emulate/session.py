"""One emulation from start to end: namespaces, driver, commands and outcome."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from nodeb import _core
from nodeb.emulate import recordings
from nodeb.emulate.addresses import SERVER, Addresses
from nodeb.emulate.endpoint import Endpoint
from nodeb.emulate.labels import ending
from nodeb.emulate.nat import Nat
from nodeb.emulate.plan import Phone, Plan
from nodeb.emulate.recordings import claimed
from nodeb.emulate.supervision import ENDING_S, received_signals, terminate_commands, wait
from nodeb.errors import RunError

__all__ = ["STOPPED", "Options", "Outcome", "emulate", "set_real_time_priority", "start_endpoint"]

SERVER_READY_S = 5.0
"""Maximum time to wait for the server to listen, seconds; then the phones start anyway."""
PRIORITY = 10
"""SCHED_FIFO priority of the driver, from 1 (lowest) to 99 (highest)."""
STOPPED = 124
"""Exit status of `nodeb emulate` if the time limit ended it, as of the program `timeout`."""


@dataclass(frozen=True)
class Options:
    """Options of an emulation, such as its seed, time limit, MTU and recording."""

    seed: int
    server: tuple[str, ...] = ()
    """Command that runs in the server's namespace: program and arguments; empty for none."""
    duration_s: float | None = None
    """Maximum duration of the emulation, s; None for no limit."""
    mtu: int = 1500
    memory_bytes: int = 256 << 20
    late_s: float = 0.002
    """Lateness above which a delivery counts as late, s."""
    late_share: float = 0.01
    """Share of late deliveries, 0 to 1, above which the timing counts as inaccurate."""
    attach: Mapping[str, str] = field(default_factory=dict)
    """Files of existing network namespaces to use, by `server` or the name of a phone.

    Endpoints that are not in it get new namespaces.
    """
    nat: bool = False
    """Whether the phones reach outside networks through the server's namespace."""
    nameservers: tuple[str, ...] = ()
    """Addresses of the DNS servers that the commands use; if empty, those of the host."""
    record: Path | None = None
    """File of the recording; None for no recording."""
    kept_bytes: int = 96
    """Maximum number of bytes recorded of each packet; the default suffices for usual headers."""
    real_time: bool = True


@dataclass
class Outcome:
    """Outcome of an emulation: report, result tables, and exit statuses of the commands."""

    report: dict[str, Any]
    """Counts, delays and losses of real packets, and the lateness of deliveries."""
    tables: Mapping[str, Mapping[str, Any]]
    """Result tables of all users, links and bearers by name, like those of a run."""
    exits: dict[str, int]
    """Exit status of each phone's command that has ended, by the phone's name.

    It is the negative signal number if a signal killed the command.
    """
    failed: dict[str, str]
    """Reasons why phones' commands could not be started, by the phone's name."""
    ended: str
    """Cause of the end: `command` (all have ended), `duration` (the time limit) or `signal`."""
    real_time: bool
    """Whether the driver ran with real-time priority."""
    wall_s: float
    """Real time that the emulation took, s."""
    number: int = 0
    """Number of the signal that ended the emulation; 0 if no signal did."""
    server_ended: str = ""
    """Description of the server command's end if it was unexpected; else "".

    It is unexpected with status 0 before anything listened, or with another status while the
    phones' commands ran.
    """

    @property
    def status(self) -> int:
        """Exit status of `nodeb emulate`, unless its timing or its recording failed.

        It is `STOPPED` if the time limit ended the emulation. Otherwise, it is that of the first
        phone's command that failed, or 128 plus the number of the signal that killed this command.
        If no command failed, it is 128 plus the number of the signal that ended the emulation, or 0
        without a signal.
        """
        if self.ended == "duration":
            return STOPPED
        codes = [128 - code if code < 0 else code for code in self.exits.values()]
        # After a signal, the status reflects the signal even if all commands handled it and
        # returned 0.
        signalled = 128 + self.number if self.number else 0
        return next((code for code in codes if code), signalled)

    @property
    def too_late(self) -> str | None:
        """Reason why the timing was inaccurate (late deliveries, suspended machine); else None."""
        late = self.report["lateness"]
        if late["share_beyond"] > self.report["late_share"]:
            return (
                f"{late['share_beyond']:.2%} of the deliveries were more than "
                f"{late['limit_s'] * 1e3:g} ms late; {self.report['late_share']:.2%} are allowed"
            )
        if self.report["slept_s"] > late["limit_s"]:
            return f"the machine slept for {self.report['slept_s']:.1f} s, and the cell with it"
        return None


class DriverThread(threading.Thread):
    """Thread that runs the driver: the simulation that carries real packets in real time."""

    def __init__(self, plan: Plan, options: Options) -> None:
        super().__init__(name="nodeb-driver", daemon=True)
        self.emulation = _core.Emulation()
        self.scenario = plan.scenario.compiled()
        self.phones = [(one.user, one.addresses.both()) for one in plan.phones]
        self.options = options
        self.log = None
        if options.record is not None:
            header = recordings.header(self.scenario, plan, options.seed)
            self.log = (options.record, header, options.kept_bytes)
        self.real_time = False
        self.error: BaseException | None = None
        self.found: tuple[dict[str, Any], Any] | None = None
        self.cpu_s = 0.0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.emulation.stop()
        self.join()

    def run(self) -> None:
        o = self.options
        if o.real_time:
            self.real_time = set_real_time_priority()
        try:
            self.found = self.emulation.drive(
                self.scenario,
                o.seed,
                self.phones,
                o.mtu,
                o.memory_bytes,
                o.late_s,
                o.duration_s,
                self.log,
            )
        except BaseException as error:
            self.error = error
        self.cpu_s = time.thread_time()

    def result(self) -> tuple[dict[str, Any], Any]:
        self.join()
        if self.found is None:
            if isinstance(self.error, OSError):
                raise RunError(str(self.error)) from None
            assert self.error is not None
            raise self.error
        return self.found


def set_real_time_priority() -> bool:
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(PRIORITY))
    except (OSError, AttributeError):
        return False
    return True


def emulate(
    plan: Plan, options: Options, status: Callable[[Mapping[str, Any]], None] | None = None
) -> Outcome:
    """Runs commands as phones, until all have ended, the time limit is over or a signal arrives."""
    begun = time.monotonic()
    driving = DriverThread(plan, options)
    record = nullcontext(recordings.Claim()) if options.record is None else claimed(options.record)
    with record as recording, ExitStack() as outer, ExitStack() as stack:
        endpoints = _start_endpoints(stack, driving.emulation.fileno(), plan, options)
        nat = stack.enter_context(Nat(endpoints[0])) if options.nat else None
        stack.enter_context(driving)
        server_ended = _start_server(endpoints[0], options.server) if options.server else ""
        # From here on, signals are collected and do not raise exceptions, which would discard the
        # results.
        received = outer.enter_context(received_signals())
        recording.is_needed = True
        _start(endpoints[1:], plan.phones)
        why, number = wait(endpoints, received, driving.is_alive, lambda: _report(driving, status))
        # After a signal to nodeb, the same signal may have ended the server's command, so an end of
        # this command is reported as unexpected only if no signal was received.
        if endpoints[0].exit and not received:
            server_ended = f"{ending(endpoints[0].exit)} while commands ran"
        terminate_commands(endpoints, number or signal.SIGTERM)
        driving.emulation.stop()
        report, tables = driving.result()
        report["late_share"], report["cpu_s"] = options.late_share, driving.cpu_s
        for phone, endpoint in zip(report["phones"], endpoints[1:], strict=True):
            phone["name"], phone["device"] = endpoint.name, _counted(endpoint)
        report["server_device"] = _counted(endpoints[0])
        if nat is not None:
            report["outside"] = nat.report()
    return Outcome(
        report,
        tables,
        {endpoint.name: endpoint.exit for endpoint in endpoints[1:] if endpoint.exit is not None},
        {
            endpoint.name: endpoint.failed
            for endpoint in endpoints[1:]
            if endpoint.failed is not None
        },
        why,
        driving.real_time,
        time.monotonic() - begun,
        number,
        server_ended,
    )


def _start_endpoints(
    stack: ExitStack, doorway: int, plan: Plan, options: Options
) -> list[Endpoint]:
    """Starts the endpoints of the server and the phones, and waits until they are ready."""
    wanted = [("server", SERVER), *((one.name, one.addresses) for one in plan.phones)]
    endpoints = [
        stack.enter_context(start_endpoint(doorway, options, number, name, addresses))
        for number, (name, addresses) in enumerate(wanted)
    ]
    for endpoint in endpoints:
        endpoint.await_ready()
    return endpoints


def start_endpoint(
    doorway: int, options: Options, number: int, name: str, addresses: Addresses
) -> Endpoint:
    attached = options.attach.get(name)
    about = {
        "namespace": attached,
        "attached": attached is not None,
        "device": f"nodeb{number}",
        "mtu": options.mtu,
        "nameservers": options.nameservers,
        "addresses": addresses.interfaces(alone=number > 0 and attached is None),
        "default_route": number > 0 and attached is None,
    }
    return Endpoint(number, name, doorway, about)


SHARED = {"NODEB_SERVER": SERVER.v4, "NODEB_SERVER6": SERVER.v6}


def _start_server(server: Endpoint, command: Sequence[str]) -> str:
    """Starts the server's command and waits until it listens, at most `SERVER_READY_S`."""
    server.start(command, SHARED, silent=True)
    server.ask(**{"await": SERVER_READY_S})
    listens = server.answer("listening", SERVER_READY_S + ENDING_S)
    if server.failed is not None:
        raise RunError(f"the server cannot be started: {command[0]}: {server.failed}")
    if server.exit is None or listens:
        return ""
    ended = f"{ending(server.exit)} before anything listened"
    if server.exit:
        words = shlex.join(map(os.fsdecode, command))
        raise RunError(f"the server ended {ended}: {words}")
    return ended


def _start(phones: Sequence[Endpoint], plan: Sequence[Phone]) -> None:
    """Starts the phones' commands. Only the first one reads nodeb's standard input."""
    for endpoint, phone in zip(phones, plan, strict=True):
        own = {"NODEB_PHONE": phone.addresses.v4, "NODEB_PHONE6": phone.addresses.v6}
        endpoint.start(phone.command, {**SHARED, **own}, silent=endpoint is not phones[0])


def _report(driving: DriverThread, status: Callable[[Mapping[str, Any]], None] | None) -> None:
    if status is not None:
        status(driving.emulation.status())


def _counted(endpoint: Endpoint) -> dict[str, int]:
    """The result is empty if the endpoint does not answer within `ENDING_S`."""
    endpoint.ask(count=True)
    found: dict[str, int] = endpoint.answer("device", ENDING_S) or {}
    return found
