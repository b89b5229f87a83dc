"""An emulation from beginning to end: namespaces, driver, commands, and what it came to."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from nodeb import _core
from nodeb.emulate import flights
from nodeb.emulate.addresses import SERVER, Addresses
from nodeb.emulate.ends import End
from nodeb.emulate.outside import Outside
from nodeb.emulate.plan import Phone, Plan
from nodeb.emulate.told import ending
from nodeb.emulate.watching import ENDING_S, end_commands, signals, watch
from nodeb.errors import RunError

__all__ = ["STOPPED", "Options", "Outcome", "emulate", "go_first", "make_end"]

SERVER_READY_S = 5.0
"""How long a server may take until it listens; the commands then start all the same."""
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
    number: int = 0
    """The signal that ended it; 0 if none did."""
    server_ended: str = ""
    """How the server ended before the commands did, by itself and not as it should; else empty."""

    @property
    def status(self) -> int:
        """Exit status of the commands: of the first that did not end well, or 0."""
        if self.ended == "duration":
            return STOPPED
        codes = [128 - code if code < 0 else code for code in self.exits.values()]
        # Who was asked to end did not end by itself, whatever the command made of it.
        asked = 128 + self.number if self.number else 0
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
            self.is_new = not options.record.exists()
            header = flights.header(self.scenario, plan, options.seed)
            self.log = (options.record, header, options.kept_bytes)
        self.real_time = False
        self.error: BaseException | None = None
        self.found: tuple[dict[str, Any], Any] | None = None
        self.cpu_s = 0.0
        self.is_needed = False
        """Whether a command has begun; what is recorded before is not kept."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.emulation.stop()
        self.join()
        if self.log is not None and self.is_new and not self.is_needed:
            self.log[0].unlink(missing_ok=True)

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
    with ExitStack() as until_it_has_ended, ExitStack() as stack:
        ends = _ends(stack, driving.emulation.fileno(), plan, options)
        outside = stack.enter_context(Outside(ends[0])) if options.nat else None
        stack.enter_context(driving)
        server_ended = _start_server(ends[0], options.server) if options.server else ""
        # From here on an interrupt is the commands', and takes no results with it.
        received = until_it_has_ended.enter_context(signals())
        driving.is_needed = True
        _start(ends[1:], plan.phones)
        why, number = watch(ends, received, driving.is_alive, lambda: _tell(driving, status))
        if ends[0].exit and not received:  # else by what ended everything
            server_ended = f"{ending(ends[0].exit)} while commands ran"
        end_commands(ends, number or signal.SIGTERM)
        driving.emulation.stop()
        report, tables = driving.result()
        report["late_share"], report["cpu_s"] = options.late_share, driving.cpu_s
        for phone, end in zip(report["phones"], ends[1:], strict=True):
            phone["name"], phone["device"] = end.name, _counted(end)
        report["server_device"] = _counted(ends[0])
        if outside is not None:
            report["outside"] = outside.report()
    return Outcome(
        report,
        tables,
        {end.name: end.exit for end in ends[1:] if end.exit is not None},
        {end.name: end.failed for end in ends[1:] if end.failed is not None},
        why,
        driving.real_time,
        time.monotonic() - begun,
        number,
        server_ended,
    )


def _ends(stack: ExitStack, doorway: int, plan: Plan, options: Options) -> list[End]:
    """The server and the phones, ready."""
    wanted = [("server", SERVER), *((one.name, one.addresses) for one in plan.phones)]
    ends = [
        stack.enter_context(make_end(doorway, options, number, name, addresses))
        for number, (name, addresses) in enumerate(wanted)
    ]
    for end in ends:
        end.await_ready()
    return ends


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


SHARED = {"NODEB_SERVER": SERVER.v4, "NODEB_SERVER6": SERVER.v6}
"""What every command finds in its environment."""


def _start_server(server: End, command: Sequence[str]) -> str:
    """Starts the server and waits until it listens, or has waited long enough.

    Returns:
        How it ended if it did so without a complaint and nothing listens; else nothing.

    Raises:
        RunError: it cannot be started, or ended as if something was wrong.
    """
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


def _start(phones: Sequence[End], plan: Sequence[Phone]) -> None:
    """Starts the commands of the phones."""
    for end, phone in zip(phones, plan, strict=True):
        own = {"NODEB_PHONE": phone.addresses.v4, "NODEB_PHONE6": phone.addresses.v6}
        end.start(phone.command, {**SHARED, **own}, silent=end is not phones[0])


def _tell(driving: Driving, status: Callable[[Mapping[str, Any]], None] | None) -> None:
    if status is not None:
        status(driving.emulation.status())


def _counted(end: End) -> dict[str, int]:
    """What the kernel counted at an end's device."""
    end.ask(count=True)
    found: dict[str, int] = end.answer("device", ENDING_S) or {}
    return found
