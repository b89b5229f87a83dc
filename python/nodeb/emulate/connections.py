"""The TCP connections of a recorded flight, and why one of them took so long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.base.units import NS_PER_S
from nodeb.emulate.flights import CUT_OFF, Flight
from nodeb.errors import InputError
from nodeb.explanation import Explanation
from nodeb.explanation.replications import path_of
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Connection", "Connections", "choose", "connections", "explain", "listed"]

LISTED = 20
"""Connections that a list for people has at most."""


@dataclass(frozen=True)
class Connection:
    """A TCP connection of a flight."""

    number: int
    """Its number in the flight, from 0."""
    user: int
    """The user whose phone has it."""
    phone: str
    """That user's name."""
    server: str
    """Address and port of the server's end."""
    client: str
    """Those of the phone's."""
    begun_s: float
    """When its first packet was accepted."""
    ended_s: float
    """When the last of it arrived or was accepted."""
    packets: int
    """Both ways."""
    down_bytes: int
    """Data that came to the phone in order."""
    up_bytes: int
    """Data that came to the server in order."""

    @property
    def data_bytes(self) -> int:
        """Data of the way that most went: what is explained."""
        return max(self.down_bytes, self.up_bytes)


@dataclass(frozen=True)
class Connections:
    """What a flight carried."""

    all: list[Connection]
    """Its TCP connections, in the order in which they began."""
    others: int
    """Packets of other protocols."""
    unknown: int
    """Packets of which too little was kept to know what they are."""
    is_whole: bool = True
    """Whether the log has its end."""

    def of(self, user: int | None) -> list[Connection]:
        """Those of a user; of all for None."""
        return [one for one in self.all if user in (None, one.user)]

    @property
    def notes(self) -> list[str]:
        """What there is beside the connections, and what there is not, in words."""
        told = []
        if not self.is_whole:
            told.append(CUT_OFF)
        if self.others:
            told.append(f"{self.others} packets are no TCP: `nodeb life` shows their ways")
        if self.unknown:
            told.append(
                f"of {self.unknown} packets too little was kept to know what they are; "
                "record with --kept 96"
            )
        return told


def connections(flight: Flight) -> Connections:
    """The TCP connections of a flight.

    Raises:
        RunError: the log cannot be read.
    """
    columns, others, unknown, is_whole = flight.look(
        lambda control: _core.flight_connections(flight.path, control)
    )
    phones = flight.about["phones"]
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
    flight: Flight, connection: Connection, progress: ProgressCallback | None = None
) -> Explanation:
    """Why a connection took so long: from its first packet to the last of its data.

    Args:
        flight: the recorded flight.
        connection: one of its connections.
        progress: called with the fraction done and a few words.

    Raises:
        InputError: nothing of it arrived.
        RunError: the log cannot be flown again.
    """
    found = flight.explained(connection.number, progress)
    way = f"{connection.server} to {connection.client}"
    if connection.up_bytes > connection.down_bytes:
        way = f"{connection.client} to {connection.server}"
    what = f"user {connection.user}, connection {connection.number}, {way}"
    return Explanation(
        flight.scenario, connection.user, connection.number, [path_of(0, found)], what
    )


def choose(found: Connections, user: int | None, number: int | None) -> Connection:
    """The connection with a number, or the one with most data, of a user if one is named.

    Raises:
        InputError: there is none.
    """
    known = found.of(user)
    whose = "the flight has" if user is None else f"user {user} has"
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
    """Connections as a table for people: all, or the few with most data and how many more."""
    most = sorted(known, key=lambda one: -one.data_bytes)[:LISTED]
    most.sort(key=lambda one: one.number)
    table = _table(most)
    rest = len(known) - len(most)
    return f"{table}\n... and {rest} more, none of them with more data" if rest else table


def _table(known: Sequence[Connection]) -> str:
    """Connections as a table, a row for each."""
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
