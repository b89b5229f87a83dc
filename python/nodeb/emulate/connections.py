"""TCP connections in a recording of an emulation, and the critical path of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.answer.words import counted
from nodeb.base.units import NS_PER_S
from nodeb.emulate.recordings import CUT_OFF, Recording
from nodeb.errors import InputError
from nodeb.explanation import Explanation
from nodeb.explanation.replications import path_of
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Connection", "Connections", "choose", "connections", "explain", "listed"]

LISTED = 20
"""Maximum number of connections in a printed list; those with most data are listed."""


@dataclass(frozen=True)
class Connection:
    """A TCP connection in a recording: its user, ports, times and amounts of data."""

    number: int
    user: int
    phone: str
    server: str
    client: str
    begun_s: float
    ended_s: float
    """Time of the connection's last event, s.

    It is the last arrival of a packet, or the acceptance of a packet that did not arrive if later.
    """
    packets: int
    down_bytes: int
    """Bytes of data that the phone received in order, without headers."""
    up_bytes: int
    """Bytes of data that the server received in order, without headers."""

    @property
    def data_bytes(self) -> int:
        """Larger one of `down_bytes` and `up_bytes`; explanations are about this direction."""
        return max(self.down_bytes, self.up_bytes)


@dataclass(frozen=True)
class Connections:
    """Traffic of a recording: TCP connections, and counts of other packets."""

    all: list[Connection]
    others: int
    unknown: int
    """Number of packets that may be TCP but cannot be assigned to a connection."""
    is_whole: bool = True
    """Whether the log is complete; false if it was cut off, for example when nodeb was killed."""

    def of(self, user: int | None) -> list[Connection]:
        return [one for one in self.all if user in (None, one.user)]

    @property
    def notes(self) -> list[str]:
        """Notes on an incomplete log and on packets outside the connections; empty without both."""
        notes = []
        if not self.is_whole:
            notes.append(CUT_OFF)
        if self.others:
            who = "1 packet is" if self.others == 1 else f"{self.others} packets are"
            notes.append(f"{who} not TCP: `nodeb life` shows packet timelines")
        if self.unknown:
            notes.append(
                f"{counted(self.unknown, 'packet')} cannot be assigned to a connection: later IP "
                "fragments, invalid TCP headers, or headers that were not recorded in full (record "
                "with --kept 96)"
            )
        return notes


def connections(recording: Recording) -> Connections:
    columns, others, unknown, is_whole = recording.process(
        lambda control: _core.flight_connections(recording.path, control)
    )
    phones = recording.about["phones"]
    table = columns["connections"]
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    found = [
        Connection(
            number=int(row["connection"]),
            user=int(phones[row["phone"]]["user"]) if row["phone"] < len(phones) else 0,
            phone=str(phones[row["phone"]]["name"]) if row["phone"] < len(phones) else "",
            server=str(row["server"]),
            client=str(row["client"]),
            begun_s=int(row["begun_ns"]) / NS_PER_S,
            ended_s=int(row["ended_ns"]) / NS_PER_S,
            packets=int(row["packets"]),
            down_bytes=int(row["down_bytes"]),
            up_bytes=int(row["up_bytes"]),
        )
        for row in rows
    ]
    return Connections(found, others, unknown, is_whole)


def explain(
    recording: Recording, connection: Connection, progress: ProgressCallback | None = None
) -> Explanation:
    """Explains the duration of a connection, from its first packet to the end of its data.

    The data is that of the direction with more data. Without data, the last arrival is the end.

    Args:
        recording: the recording.
        connection: one of the recording's connections.
        progress: called with the fraction done and a short text.

    Raises:
        InputError: no packet of the connection arrived, the log is damaged, or a packet's fate in
            the replay differs from the recording.
        RunError: the log cannot be read.
    """
    found = recording.explained(connection.number, progress)
    way = f"{connection.server} to {connection.client}"
    if connection.up_bytes > connection.down_bytes:
        way = f"{connection.client} to {connection.server}"
    what = f"user {connection.user}, connection {connection.number}, {way}"
    return Explanation(
        recording.scenario, connection.user, connection.number, [path_of(0, found)], what
    )


def choose(found: Connections, user: int | None, number: int | None) -> Connection:
    known = found.of(user)
    whose = "the recording has" if user is None else f"user {user} has"
    if not known:
        more = "; ".join(found.notes)
        raise InputError(f"{whose} no TCP connection to explain" + (f": {more}" if more else ""))
    if number is None:
        return max(known, key=lambda one: one.data_bytes)
    for one in known:
        if one.number == number:
            return one
    raise InputError(f"{whose} no connection {number}; there is:\n{listed(known)}")


def listed(known: Sequence[Connection]) -> str:
    most = sorted(known, key=lambda one: -one.data_bytes)[:LISTED]
    most.sort(key=lambda one: one.number)
    table = _table(most)
    rest = len(known) - len(most)
    return f"{table}\n... and {rest} more, none with more data" if rest else table


def _table(known: Sequence[Connection]) -> str:
    """Returns a text table with a row for each connection, below a row of column heads."""
    head = ["connection", "user", "server", "phone", "down B", "up B", "packets", "from", "lasts"]
    rows = [
        [
            str(one.number),
            str(one.user),
            one.server,
            one.client,
            str(one.down_bytes),
            str(one.up_bytes),
            str(one.packets),
            f"{one.begun_s:.3f} s",
            f"{one.ended_s - one.begun_s:.3f} s",
        ]
        for one in known
    ]
    return "\n".join(aligned([head, *rows], (0, 1, 4, 5, 6, 7, 8), min_width=0))
