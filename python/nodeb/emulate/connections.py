"""TCP connections in a recording of an emulation, and the critical path of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.answer.words import counted
from nodeb.base.table import Table
from nodeb.base.units import NS_PER_S
from nodeb.emulate.recordings import CUT_OFF, Recording
from nodeb.errors import InputError
from nodeb.explanation import Explanation
from nodeb.explanation.replications import path_of
from nodeb.terminal.progress import ProgressCallback

LISTED = 20
"""Maximum number of connections in a printed list; those with most data are listed."""


@dataclass(frozen=True)
class Connection:
    """A TCP connection in a recording."""

    number: int
    user: int
    server: str
    client: str
    begun_s: float
    ended_s: float
    """Last arrival of a packet, or acceptance of a packet that did not arrive if later."""
    packets: int
    down_bytes: int
    """Bytes of data that the phone received in order, without headers."""
    up_bytes: int
    """Bytes of data that the server received in order, without headers."""

    @property
    def data_bytes(self) -> int:
        """Bytes in the direction with more data, which explanations are about."""
        return max(self.down_bytes, self.up_bytes)


@dataclass(frozen=True)
class Connections:
    """Traffic of a recording."""

    all: list[Connection]
    others: int
    """Number of packets that are not TCP."""
    unknown: int
    """Number of packets that may be TCP but cannot be assigned to a connection."""
    is_whole: bool = True
    """Whether the log is complete; false if it was cut off, for example when nodeb was killed."""

    def of(self, user: int | None) -> list[Connection]:
        return [connection for connection in self.all if user in (None, connection.user)]

    @property
    def notes(self) -> list[str]:
        notes = [] if self.is_whole else [CUT_OFF]
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
    users = recording.users
    found = [
        Connection(
            number=row["connection"],
            user=users[row["phone"]] if row["phone"] < len(users) else 0,
            server=row["server"],
            client=row["client"],
            begun_s=row["begun_ns"] / NS_PER_S,
            ended_s=row["ended_ns"] / NS_PER_S,
            packets=row["packets"],
            down_bytes=row["down_bytes"],
            up_bytes=row["up_bytes"],
        )
        for row in Table(columns["connections"])
    ]
    return Connections(found, others, unknown, is_whole)


def explain(
    recording: Recording, connection: Connection, progress: ProgressCallback | None = None
) -> Explanation:
    """Explains the duration of a connection, from its first packet to the end of its data.

    The data is that of the direction with more data. Without data, the last arrival is the end.

    Raises:
        InputError, RunError: see `Recording.explained`.
    """
    tables = recording.explained(connection.number, progress)
    ends = [connection.server, connection.client]
    if connection.up_bytes > connection.down_bytes:
        ends.reverse()
    what = f"user {connection.user}, connection {connection.number}, {' to '.join(ends)}"
    return Explanation(
        recording.scenario, connection.user, connection.number, [path_of(0, tables)], what
    )


def choose(traffic: Connections, user: int | None, number: int | None) -> Connection:
    """Chooses the connection of this number, by default the one with most data."""
    choices = traffic.of(user)
    whose = "the recording has" if user is None else f"user {user} has"
    if not choices:
        more = "; ".join(traffic.notes)
        raise InputError(f"{whose} no TCP connection to explain" + (f": {more}" if more else ""))
    if number is None:
        return max(choices, key=lambda connection: connection.data_bytes)
    for connection in choices:
        if connection.number == number:
            return connection
    raise InputError(f"{whose} no connection {number}; there is:\n{listed(choices)}")


def listed(choices: Sequence[Connection]) -> str:
    most = sorted(choices, key=lambda connection: -connection.data_bytes)[:LISTED]
    rows = [["connection", "user", "server", "phone", "down B", "up B", "packets", "from", "lasts"]]
    for c in sorted(most, key=lambda connection: connection.number):
        times = f"{c.begun_s:.3f} s", f"{c.ended_s - c.begun_s:.3f} s"
        amounts = map(str, (c.down_bytes, c.up_bytes, c.packets))
        rows.append([str(c.number), str(c.user), c.server, c.client, *amounts, *times])
    table = "\n".join(aligned(rows, (0, 1, 4, 5, 6, 7, 8), min_width=0))
    rest = len(choices) - len(most)
    return f"{table}\n... and {rest} more, none with more data" if rest else table
