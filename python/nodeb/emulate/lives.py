"""The life of every packet of a recorded flight: real ones as their headers say."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.units import NS_PER_S
from nodeb.emulate.connections import Connections, connections
from nodeb.emulate.flights import CUT_OFF, Flight
from nodeb.errors import NodebError
from nodeb.life.columns import arrow
from nodeb.life.life import About, Life
from nodeb.life.path import MAX_TRANSFERS, CriticalPath, spans_of
from nodeb.life.watching import MOST
from nodeb.terminal.progress import ProgressCallback

__all__ = ["FlightLife", "watch"]

SYN, ACK = 2, 16
Columns = dict[str, NDArray[Any]]


class FlightLife(Life):
    """What happened in a flight: as a `Life`, with real packets in it.

    `packets` has four more columns: `from_port`, `to_port`, `connection` (from 0; -1 where one
    is of no TCP connection, as those of simulated users) and `ack`. `seq` of TCP packets is
    counted from the SYN's 0, and of a bare ACK what it acknowledges; of other protocols it is the
    packet's number in the flight.
    """

    def __init__(self, about: About, tables: dict[str, pa.Table], flight: Flight) -> None:
        super().__init__(about, tables)
        self._flight = flight

    @cached_property
    def critical_path(self) -> CriticalPath:
        """Why the real user's TCP connections in the window took so long.

        The user is the one that was followed, or else the first real one; at most 20 are explained.
        """
        about = self.about
        found = CriticalPath(
            self._flight.users[0] if about.user is None else about.user, what="connection"
        )
        try:
            found.note = self._explained(found, connections(self._flight))
        except (NodebError, ValueError, RuntimeError, OSError) as error:
            found.note = f"What else there is is not explained: {error}."
        return found

    def _explained(self, found: CriticalPath, known: Connections) -> str:
        """Puts connections in the window on the path; what is to be said of the others."""
        about, flight = self.about, self._flight
        end_s = float("inf") if about.end_ns is None else about.end_ns / NS_PER_S
        wanted = [
            one
            for one in known.of(found.user)
            if one.begun_s < end_s and one.ended_s >= about.begin_ns / NS_PER_S and one.data_bytes
        ]
        for one in wanted[:MAX_TRANSFERS]:
            told = flight.explained(one.number)
            found.transfers.append(one.number)
            found.spans += spans_of(told["spans"], one.number)
        found.spans.sort(key=lambda span: span.begin)
        if len(wanted) > MAX_TRANSFERS:
            return f"Later connections are not explained: {MAX_TRANSFERS} are the most."
        if wanted:
            return ""
        if found.user not in flight.users:
            return f"User {found.user} is simulated: in a flight, paths are told of real users."
        return f"User {found.user} has no TCP connection in this time to explain."


def watch(
    flight: Flight,
    user: int | None = None,
    window_ns: tuple[int, int | None] = (0, None),
    most: int = MOST,
    progress: ProgressCallback | None = None,
) -> FlightLife:
    """Flies a log again and keeps what happens to every packet.

    Args:
        flight: the recorded flight.
        user: the only user who is followed; None for all.
        window_ns: where the window begins and ends, ns; None for the end of the flight.
        most: events kept at most.
        progress: called with the fraction done and a few words.

    Raises:
        InputError: there is no such user, nothing happens in the window, or too much.
        RunError: the log cannot be flown again.
    """
    path, compiled = flight.path, flight.scenario.compiled()

    def work(control: _core.Control) -> dict[str, Any]:
        return _core.flight_timeline(
            path, compiled, flight.seed, flight.users, control, *window_ns, user, most
        )

    found = flight.look(work, progress)
    said, is_whole = flight.look(lambda control: _core.flight_packets(path, control))
    headers, cut = said["packets"], "" if is_whole else CUT_OFF
    known = {"scenario": flight.scenario, "seed": flight.seed, "run": 0, "user": user}
    about = About.of(found, window_ns, flight="A flight flown again", cut=cut, **known)
    _name(found["tables"], found["names"], headers)
    kept = {"nodeb": _core.version(), "seed": str(flight.seed), "run": "0"}
    tables = {name: arrow(table, found["names"], kept) for name, table in found["tables"].items()}
    return FlightLife(about, tables, flight)


def _name(tables: dict[str, Columns], names: dict[str, list[str]], headers: Columns) -> None:
    """Says of real packets, which nobody has looked at, what their headers say."""
    packets = tables["packets"]
    details = names["purpose"]
    real = packets["purpose"] == details.index("external")
    rows = packets["seq"][real]
    more = {key: _spread(real, headers[key][rows]) for key in ("from_port", "to_port", "ack")}
    more["connection"] = _spread(real, headers["connection"][rows].astype(np.int64)) - 1
    is_tcp = _spread(real, headers["connection"][rows] > 0)
    purpose = _purposes(_spread(real, rows), packets["origin"], headers, names)
    seq = _spread(
        real, np.where(_is_bare(headers, rows), headers["ack"][rows], headers["seq"][rows])
    )
    packets["purpose"] = np.where(is_tcp, purpose, packets["purpose"]).astype(np.uint32)
    packets["seq"] = np.where(is_tcp, seq, packets["seq"]).astype(np.uint64)
    packets["again"] = packets["again"] | (_spread(real, headers["again"][rows]) & is_tcp)
    packets.update(more)
    _name_events(tables["events"], packets, is_tcp, names)


def _spread(where: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Values at the places where something holds; 0 elsewhere."""
    found = np.zeros(len(where), values.dtype)
    found[where] = values
    return found


def _is_bare(headers: Columns, rows: NDArray[Any]) -> NDArray[Any]:
    """Whether packets are there for what they acknowledge."""
    found: NDArray[Any] = (headers["payload"][rows] == 0) & (headers["flags"][rows] & SYN == 0)
    return found


def _purposes(
    rows: NDArray[Any], origin: NDArray[Any], headers: Columns, names: dict[str, list[str]]
) -> NDArray[Any]:
    """What packets are for: data go the way that most of their connection's go."""
    code = names["purpose"].index
    from_server = origin == names["place"].index("server")
    sums = np.zeros((int(headers["connection"].max(initial=0)) + 1, 2))
    np.add.at(
        sums, (headers["connection"][rows], from_server.astype(int)), headers["payload"][rows]
    )
    goes_down = sums[:, 1] >= sums[:, 0]
    is_main = goes_down[headers["connection"][rows]] == from_server
    has_syn = headers["flags"][rows] & SYN > 0
    answers = headers["flags"][rows] & ACK > 0
    purpose = np.where(is_main, code("data"), code("request"))
    purpose = np.where(_is_bare(headers, rows), code("ack"), purpose)
    found: NDArray[Any] = np.where(
        has_syn, np.where(answers, code("data"), code("connect")), purpose
    )
    return found


def _name_events(
    events: Columns, packets: Columns, is_tcp: NDArray[Any], names: dict[str, list[str]]
) -> None:
    """The same in the events of these packets."""
    at = np.searchsorted(packets["packet"], events["packet"])
    at = np.minimum(at, len(packets["packet"]) - 1)
    own = (packets["packet"][at] == events["packet"]) & (events["packet"] > 0) & is_tcp[at]
    events["seq"] = np.where(own, packets["seq"][at], events["seq"]).astype(np.uint64)
    external = names["detail"].index("external")
    told = own & (events["detail"] == external)
    events["detail"] = np.where(told, packets["purpose"][at], events["detail"]).astype(np.uint32)
    sent, resent = names["kind"].index("sent"), names["kind"].index("resent")
    again = own & (events["kind"] == sent) & packets["again"][at]
    events["kind"] = np.where(again, resent, events["kind"]).astype(np.uint32)
