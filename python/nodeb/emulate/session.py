"""One emulation from start to end: namespaces, driver, commands and outcome."""

from __future__ import annotations

import math
import os
import shlex
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from nodeb import _core
from nodeb.emulate import recordings
from nodeb.emulate.endpoint import Endpoint, stop_signals, terminate_commands, wait
from nodeb.emulate.nat import Nat
from nodeb.emulate.plan import SERVER, Addresses, Phone, Plan
from nodeb.errors import RunError

SERVER_READY_S = 5.0
"""Maximum time to wait for the server to listen, s; then the phones start anyway."""
LISTEN_POLL_S = 0.01
PRIORITY = 10
"""SCHED_FIFO priority of the driver, from 1 (lowest) to 99 (highest)."""
STOPPED = 124
"""Exit status of `nodeb emulate` if the time limit ended it, as of the program `timeout`."""
SHARED = {"NODEB_SERVER": SERVER.v4, "NODEB_SERVER6": SERVER.v6}
"""Environment of all commands."""
MEMORY_BYTES = 256 << 20
"""Maximum size of the payloads in transit."""


@dataclass(frozen=True)
class Options:
    """Options of an emulation."""

    seed: int
    server: tuple[str, ...] = ()
    """Command that runs in the server's namespace: program and arguments; empty for none."""
    duration_s: float | None = None
    """Maximum duration of the emulation; None for no limit."""
    mtu: int = 1500
    late_s: float = 0.002
    """Lateness above which a delivery counts as late."""
    late_share: float = 0.01
    """Share of late deliveries, 0 to 1, above which the timing counts as inaccurate."""
    attach: Mapping[str, str] = field(default_factory=dict)
    """Files of existing network namespaces to use, by `server` or the name of a phone."""
    nat: bool = False
    """Whether the phones reach outside networks through the server's namespace."""
    nameservers: tuple[str, ...] = ()
    """Addresses of the DNS servers that the commands use; if empty, those of the host."""
    record: Path | None = None
    """File of the recording; None for no recording."""
    kept_bytes: int = 96
    """Maximum number of bytes recorded of each packet; the default suffices for usual headers."""


@dataclass
class Outcome:
    """Outcome of an emulation."""

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
    """Real time that the emulation took."""
    commands_s: float = math.nan
    """Real time from the start of the phones' commands to the end of the last."""
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

        `STOPPED` if the time limit ended the emulation; else that of the first phone's command that
        failed, as in a shell; else 128 plus the number of the signal that ended the emulation.
        """
        if self.ended == "duration":
            return STOPPED
        codes = [128 - code if code < 0 else code for code in self.exits.values()]
        return next(filter(None, codes), 128 + self.number if self.number else 0)

    @property
    def command_s(self) -> float:
        """Time that the commands took, s; NaN if one failed or did not end by itself."""
        is_whole = self.ended == "command" and self.status == 0 and not self.failed
        return self.commands_s if is_whole else math.nan

    @property
    def too_late(self) -> str | None:
        """Reason why the timing was inaccurate (late deliveries, suspended machine); else None."""
        late, allowed = self.report["lateness"], self.report["late_share"]
        if late["share_beyond"] > allowed:
            return (
                f"{late['share_beyond']:.2%} of the deliveries were more than "
                f"{late['limit_s'] * 1e3:g} ms late; {allowed:.2%} are allowed"
            )
        if self.report["slept_s"] > late["limit_s"]:
            return f"the machine slept for {self.report['slept_s']:.1f} s, and the cell with it"
        return None


class Driver:
    """Simulation in a thread of its own, which carries real packets in real time."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.emulation = _core.Emulation()
        self.real_time = False
        self.cpu_s = 0.0
        scenario, log = plan.scenario.compiled(), None
        if options.record is not None:
            header = recordings.header(scenario, plan, options.seed)
            log = (options.record, header, options.kept_bytes)
        self._arguments = (
            scenario,
            options.seed,
            [(phone.user, [*phone.addresses]) for phone in plan.phones],
            options.mtu,
            MEMORY_BYTES,
            options.late_s,
            options.duration_s,
            log,
        )
        self._thread = ThreadPoolExecutor(1, "nodeb-driver")

    def __enter__(self) -> Self:
        self._driven = self._thread.submit(self._drive)
        return self

    def __exit__(self, *error: object) -> None:
        self.emulation.stop()
        self._thread.shutdown()

    def _drive(self) -> tuple[dict[str, Any], Any]:
        self.real_time = _set_real_time_priority()
        try:
            return self.emulation.drive(*self._arguments)
        finally:
            self.cpu_s = time.thread_time()

    def is_driving(self) -> bool:
        return not self._driven.done()

    def result(self) -> tuple[dict[str, Any], Any]:
        """Stops the emulation; returns its report and its tables."""
        self.emulation.stop()
        try:
            return self._driven.result()
        except OSError as error:
            raise RunError(str(error)) from None


def _set_real_time_priority() -> bool:
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
    driver = Driver(plan, options)

    def report_status() -> None:
        if status is not None:
            status(driver.emulation.status())

    with ExitStack() as outer, ExitStack() as stack:
        recording = outer.enter_context(recordings.claimed(options.record))
        ends = [("server", SERVER), *((phone.name, phone.addresses) for phone in plan.phones)]
        endpoints = [
            stack.enter_context(start_endpoint(driver.emulation.fileno(), options, number, *end))
            for number, end in enumerate(ends)
        ]
        for endpoint in endpoints:
            endpoint.await_ready()
        server, *phones = endpoints
        nat = stack.enter_context(Nat(server)) if options.nat else None
        stack.enter_context(driver)
        server_ended = _start_server(server, options.server) if options.server else ""
        # From here on signals are collected, as an exception would discard the results.
        signals = outer.enter_context(stop_signals())
        recording.is_needed = True
        started = time.monotonic()
        _start(phones, plan.phones)
        ended = wait(endpoints, signals, driver.is_driving, report_status)
        commands_s = time.monotonic() - started
        # A signal to nodeb's group may have ended the server's command too.
        if server.exit and not signals:
            server_ended = f"{_ending(server.exit)} while commands ran"
        number = signals[0] if ended == "signal" else 0
        terminate_commands(endpoints, number or signal.SIGTERM)
        report, tables = driver.result()
        report["late_share"], report["cpu_s"] = options.late_share, driver.cpu_s
        for entry, phone in zip(report["phones"], phones, strict=True):
            entry["name"], entry["device"] = phone.name, phone.ask("count") or {}
        report["server_device"] = server.ask("count") or {}
        if nat is not None:
            report["outside"] = nat.report()
    return Outcome(
        report,
        tables,
        exits={phone.name: phone.exit for phone in phones if phone.exit is not None},
        failed={phone.name: phone.failed for phone in phones if phone.failed is not None},
        ended=ended,
        real_time=driver.real_time,
        wall_s=time.monotonic() - begun,
        commands_s=commands_s,
        number=number,
        server_ended=server_ended,
    )


def start_endpoint(
    device_socket: int, options: Options, number: int, name: str, addresses: Addresses
) -> Endpoint:
    """Starts the process of the server, number 0, or of a phone."""
    attached = options.attach.get(name)
    leads = number > 0 and attached is None
    # A phone's address is alone in its network, so that all packets take the device.
    lengths = (32, 128) if leads else (16, 64)
    about = {
        "namespace": attached,
        "device": f"nodeb{number}",
        "mtu": options.mtu,
        "nameservers": options.nameservers,
        "addresses": [f"{text}/{n}" for text, n in zip(addresses, lengths, strict=True)],
        "default_route": leads,
    }
    return Endpoint(number, name, device_socket, about)


def _start_server(server: Endpoint, command: Sequence[str]) -> str:
    """Starts the server's command and waits until it listens, at most `SERVER_READY_S`.

    Returns how the command ended if nothing listens any more.
    """
    server.start(command, SHARED, silent=True)
    listens = _awaits_listening(server)
    if server.failed is not None:
        raise RunError(f"the server cannot be started: {command[0]}: {server.failed}")
    if server.exit is None or listens:
        return ""
    ended = f"{_ending(server.exit)} before anything listened"
    if server.exit:
        words = shlex.join(map(os.fsdecode, command))
        raise RunError(f"the server ended {ended}: {words}")
    return ended


def _awaits_listening(server: Endpoint) -> bool:
    """Children of a command that ended with status 0 may still open a listening socket."""
    until = time.monotonic() + SERVER_READY_S
    while time.monotonic() < until and not server.exit:
        state = server.ask("listens") or {"listens": False, "runs": True}
        if state["listens"]:
            return True
        if server.gone or (server.exit == 0 and not state["runs"]):
            return False
        time.sleep(LISTEN_POLL_S)
    return False


def _start(phones: Sequence[Endpoint], plan: Sequence[Phone]) -> None:
    """Only the first phone's command reads nodeb's standard input."""
    for endpoint, phone in zip(phones, plan, strict=True):
        own = {"NODEB_PHONE": phone.addresses.v4, "NODEB_PHONE6": phone.addresses.v6}
        endpoint.start(phone.command, {**SHARED, **own}, silent=endpoint is not phones[0])


def _ending(code: int) -> str:
    if code >= 0:
        return f"with exit status {code}"
    numbers = {int(number) for number in signal.Signals}
    return f"by {signal.Signals(-code).name if -code in numbers else f'signal {-code}'}"
