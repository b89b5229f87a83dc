"""An emulation from beginning to end: namespaces, driver, commands, and what it came to."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.emulate import flights
from nodeb.emulate.addresses import SERVER, Addresses
from nodeb.emulate.ends import End
from nodeb.emulate.outside import Outside
from nodeb.emulate.plan import Phone, Plan
from nodeb.errors import RunError

__all__ = ["STOPPED", "Options", "Outcome", "emulate", "go_first", "make_end"]

LOOK_EVERY_S = 0.13
"""How often the status is told, and it is looked whether the driver goes on. Not as often as the
driver says how it stands, or what is seen would always be equally old."""
SERVER_READY_S = 5.0
"""How long a server may take until it listens; the commands then start all the same."""
ENDING_S = 2.0
"""How long a command is given to end after it was asked to."""
PRIORITY = 10
"""Of the driver among what is to run in real time."""
STOPPED = 124
"""Exit status where the duration ended before the command, as that of `timeout`."""


@dataclass(frozen=True)
class Options:
    """How a scenario is emulated."""

    seed: int
    """Seed of the named random streams."""
    server: tuple[str, ...] = ()
    """What runs as the server; nothing if empty."""
    duration_s: float | None = None
    """When it ends though commands still run, s; None waits for them."""
    mtu: int = 1500
    """The largest packet, bytes."""
    memory_bytes: int = 256 << 20
    """What the payloads of packets on their way may take, bytes."""
    late_s: float = 0.002
    """From when on a delivery counts as late, s."""
    late_share: float = 0.01
    """Share of late deliveries beyond which the emulation was not true to time."""
    attach: Mapping[str, str] = field(default_factory=dict)
    """Namespaces that are there, by `server` and the names of users, instead of new ones."""
    nat: bool = False
    """Whether the server's end leads outside."""
    nameservers: tuple[str, ...] = ()
    """Whom commands ask for names; those of the host if empty."""
    record: Path | None = None
    """Where the flight is recorded."""
    kept_bytes: int = 96
    """Bytes that are recorded of each packet: its headers."""
    real_time: bool = True
    """Whether the driver is to go before everything else, where that is allowed."""


@dataclass
class Outcome:
    """What an emulation came to."""

    report: dict[str, Any]
    """What became of real packets, and how late they were delivered."""
    tables: Mapping[str, Mapping[str, Any]]
    """The tables of the whole world, as a run has them."""
    exits: dict[str, int]
    """How the command of each phone ended; negative for a signal."""
    failed: dict[str, str]
    """Why commands could not be started."""
    ended: str
    """What ended it: `command`, `duration`, `signal`."""
    real_time: bool
    """Whether the driver went before everything else."""
    wall_s: float
    """Duration on the clock, s."""

    @property
    def status(self) -> int:
        """Exit status of the commands: of the first that did not end well, or 0."""
        if self.ended == "duration":
            return STOPPED
        codes = [128 - code if code < 0 else code for code in self.exits.values()]
        # Who was asked to end did not end by itself, whatever the command made of it.
        asked = 128 + signal.SIGTERM if self.ended == "signal" else 0
        return next((code for code in codes if code), asked)

    @property
    def too_late(self) -> str | None:
        """Why it was not true to time; None if it was."""
        late = self.report["lateness"]
        if late["share_beyond"] > self.report["late_share"]:
            return (
                f"{late['share_beyond']:.2%} of the deliveries were more than "
                f"{late['limit_s'] * 1e3:g} ms late, and {self.report['late_share']:.2%} may be"
            )
        if self.report["slept_s"] > late["limit_s"]:
            return f"the machine slept for {self.report['slept_s']:.1f} s, and the cell with it"
        return None


class Driving(threading.Thread):
    """The thread in which the driver runs."""

    def __init__(self, plan: Plan, options: Options) -> None:
        super().__init__(name="nodeb-driver", daemon=True)
        self.emulation = _core.Emulation()
        self.scenario = plan.scenario.compiled()
        self.phones = [(one.user, one.addresses.both()) for one in plan.phones]
        self.options = options
        self.log = None
        if options.record is not None:
            flights.check_place(options.record)
            header = flights.header(self.scenario, plan, options.seed)
            self.log = (options.record, header, options.kept_bytes)
        self.real_time = False
        self.error: BaseException | None = None
        self.found: tuple[dict[str, Any], Any] | None = None
        self.cpu_s = 0.0

    def run(self) -> None:
        """Drives until it is stopped."""
        o = self.options
        if o.real_time:
            self.real_time = go_first()
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
        """What came of it, once it has ended.

        Raises:
            NodebError: it failed.
        """
        self.join()
        if self.found is None:
            if isinstance(self.error, OSError):
                raise RunError(str(self.error)) from None
            assert self.error is not None
            raise self.error
        return self.found


def go_first() -> bool:
    """Puts this thread before all that is not to run in real time; whether that is allowed."""
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(PRIORITY))
    except (OSError, AttributeError):
        return False
    return True


def emulate(
    plan: Plan, options: Options, status: Callable[[Mapping[str, Any]], None] | None = None
) -> Outcome:
    """Runs commands as phones of a scenario, until they have ended.

    Args:
        plan: the scenario and its real phones.
        options: how.
        status: told how it stands a few times a second.

    Raises:
        RunError: the machine does not let real packets through, or the driver failed.
        ScenarioError: the scenario cannot be emulated.
        OutputError: the flight cannot be recorded where it was asked to be.
    """
    begun = time.monotonic()
    driving = Driving(plan, options)
    with ExitStack() as ends, _signals() as received:
        doorway = driving.emulation.fileno()
        server = ends.enter_context(make_end(doorway, options, 0, "server", SERVER))
        phones = [
            ends.enter_context(make_end(doorway, options, number, one.name, one.addresses))
            for number, one in enumerate(plan.phones, 1)
        ]
        for end in (server, *phones):
            end.await_ready()
        outside = ends.enter_context(Outside(server)) if options.nat else None
        driving.start()
        try:
            _start(server, phones, plan.phones, options)
            ended = _watch(driving, server, phones, received, status)
            _end_commands(server, phones)
        finally:
            driving.emulation.stop()
        report, tables = driving.result()
        report["late_share"], report["cpu_s"] = options.late_share, driving.cpu_s
        for phone, end in zip(report["phones"], phones, strict=True):
            phone["name"], phone["device"] = end.name, _counted(end)
        report["server_device"] = _counted(server)
        if outside is not None:
            report["outside"] = outside.report()
    return Outcome(
        report,
        tables,
        {end.name: end.exit for end in phones if end.exit is not None},
        {end.name: end.failed for end in phones if end.failed is not None},
        ended,
        driving.real_time,
        time.monotonic() - begun,
    )


def make_end(doorway: int, options: Options, number: int, name: str, addresses: Addresses) -> End:
    """The process of the server, number 0, or of a phone."""
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
    return End(number, name, doorway, about)


def _start(server: End, phones: Sequence[End], plan: Sequence[Phone], options: Options) -> None:
    """Starts the server, waits until it listens, and starts the commands of the phones."""
    shared = {"NODEB_SERVER": SERVER.v4, "NODEB_SERVER6": SERVER.v6}
    if options.server:
        server.start(options.server, shared, silent=True)
        server.ask(**{"await": SERVER_READY_S})
        server.answer("listening", SERVER_READY_S + ENDING_S)
        if server.failed is not None:
            raise RunError(f"the server cannot be started: {options.server[0]}: {server.failed}")
    for end, phone in zip(phones, plan, strict=True):
        own = {"NODEB_PHONE": phone.addresses.v4, "NODEB_PHONE6": phone.addresses.v6}
        end.start(phone.command, {**shared, **own}, silent=end is not phones[0])


def _watch(
    driving: Driving,
    server: End,
    phones: Sequence[End],
    received: list[int],
    status: Callable[[Mapping[str, Any]], None] | None,
) -> str:
    """Waits until the commands have ended, time is up or a signal has come; which of these it was.

    Raises:
        RunError: a process that holds a namespace was killed.
    """
    watched = select.poll()
    for end in (server, *phones):
        watched.register(end, select.POLLIN)
    while True:
        watched.poll(LOOK_EVERY_S * 1e3)
        for end in (server, *phones):
            end.listen()
            if end.gone:
                raise RunError(f"the process that holds the namespace of the {end.name} was killed")
        if status is not None:
            status(driving.emulation.status())
        if all(end.exit is not None for end in phones):
            return "command"
        if received:
            return "signal"
        if not driving.is_alive():
            return "duration"


def _counted(end: End) -> dict[str, int]:
    """What the kernel counted at an end's device."""
    end.ask(count=True)
    found: dict[str, int] = end.answer("device", ENDING_S) or {}
    return found


def _end_commands(server: End, phones: Sequence[End]) -> None:
    """Asks the commands that still run to end; what does not is killed with its namespace."""
    for ends in (phones, [server]):
        for end in ends:
            end.ask(signal=int(signal.SIGTERM))
        until = time.monotonic() + ENDING_S
        for end in ends:
            while end.started and end.exit is None and time.monotonic() < until and not end.gone:
                time.sleep(0.005)
                end.listen()


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Signals that end the emulation, as they come; Ctrl-C is the command's."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, _: received.append(number)),
        signal.SIGHUP: signal.signal(signal.SIGHUP, lambda number, _: received.append(number)),
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
