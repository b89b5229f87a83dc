"""Packet timeline of a recording; purposes and connections of real packets come from headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.units import NS_PER_S
from nodeb.emulate.connections import Connections, connections
from nodeb.emulate.recordings import CUT_OFF, Recording
from nodeb.errors import NodebError
from nodeb.life.life import MAX_EVENTS, About, Life, arrows, check_limits
from nodeb.life.path import MAX_TRANSFERS, CriticalPath, spans_of
from nodeb.terminal.progress import ProgressCallback

SYN, ACK = 2, 16
Columns = dict[str, NDArray[Any]]


class RecordedLife(Life):
    """Packet timelines of a recording.

    Unlike in a `Life`, `packets` has the columns `from_port`, `to_port`, `ack` and `connection`.
    Connections count from 0; -1 stands for packets outside TCP connections, such as those of
    simulated users. The `seq` of a real TCP packet is relative to the SYN of its sender, which has
    0; that of a pure ACK is the acknowledgment number. For other real packets `seq` is the packet's
    index in the recording.
    """

    def __init__(self, about: About, tables: dict[str, pa.Table], recording: Recording) -> None:
        super().__init__(about, tables)
        self._recording = recording

    @cached_property
    def critical_path(self) -> CriticalPath:
        """Critical paths of a real user's first `MAX_TRANSFERS` connections in the window."""
        user = self._recording.users[0] if self.about.user is None else self.about.user
        path = CriticalPath(user, what="connection")
        try:
            path.note = self._explained(path, connections(self._recording))
        except NodebError as error:
            path.note = f"The other connections are not explained: {error}."
        return path

    def _explained(self, path: CriticalPath, traffic: Connections) -> str:
        """Adds the spans of connections with data; returns a note on what is not explained."""
        about, recording = self.about, self._recording
        end_s = float("inf") if about.end_ns is None else about.end_ns / NS_PER_S
        numbers = [
            connection.number
            for connection in traffic.of(path.user)
            if connection.begun_s < end_s
            and connection.ended_s >= about.begin_ns / NS_PER_S
            and connection.data_bytes
        ]
        for number in numbers[:MAX_TRANSFERS]:
            tables = recording.explained(number)
            path.transfers.append(number)
            path.spans += spans_of(tables["spans"], number)
        path.spans.sort(key=lambda span: span.begin)
        if len(numbers) > MAX_TRANSFERS:
            return f"Later connections are not explained: the limit is {MAX_TRANSFERS}."
        if numbers:
            return ""
        if path.user not in recording.users:
            return f"User {path.user} is simulated: a recording explains real users only."
        return f"User {path.user} has no TCP connection to explain in this window."


def recorded_life(
    recording: Recording,
    user: int | None = None,
    window_ns: tuple[int, int | None] = (0, None),
    most: int = MAX_EVENTS,
    progress: ProgressCallback | None = None,
) -> RecordedLife:
    """Replays a recording and keeps the events of its packets; see `nodeb.life`."""
    check_limits(user, most)
    inputs = recording.inputs
    timeline = recording.process(
        lambda control: _core.flight_timeline(*inputs, control, *window_ns, user, most), progress
    )
    parsed, is_whole = recording.process(
        lambda control: _core.flight_packets(recording.path, control)
    )
    origin = {"scenario": recording.scenario, "seed": recording.seed, "run": 0, "user": user}
    cut = "" if is_whole else CUT_OFF
    about = About.of(timeline, window_ns, flight="A replayed recording", cut=cut, **origin)
    _classify(timeline["tables"], timeline["names"], parsed["packets"])
    return RecordedLife(about, arrows(timeline, about), recording)


def _classify(tables: dict[str, Columns], names: dict[str, list[str]], headers: Columns) -> None:
    """Adds header fields and connections of real packets to the tables.

    For TCP packets, also replaces purpose and sequence number, and marks retransmissions.
    """
    packets = tables["packets"]
    real = packets["purpose"] == names["purpose"].index("external")
    rows = packets["seq"][real]
    own = {name: column[rows] for name, column in headers.items()}
    bare = (own["payload"] == 0) & (own["flags"] & SYN == 0)
    from_server = packets["origin"][real] == names["place"].index("server")
    new = {
        "from_port": own["from_port"],
        "to_port": own["to_port"],
        "ack": own["ack"],
        "connection": own["connection"].astype(np.int64),
        "purpose": _purposes(own, bare, from_server, names["purpose"].index),
        "seq": np.where(bare, own["ack"], own["seq"]),
        "again": own["again"],
    }
    new = {name: _spread(real, column) for name, column in new.items()}
    is_tcp = new["connection"] > 0
    packets["purpose"] = np.where(is_tcp, new.pop("purpose"), packets["purpose"]).astype(np.uint32)
    packets["seq"] = np.where(is_tcp, new.pop("seq"), packets["seq"]).astype(np.uint64)
    packets["again"] = packets["again"] | (new.pop("again") & is_tcp)
    new["connection"] -= 1
    packets.update(new)
    _classify_events(tables["events"], packets, is_tcp, names)


def _spread(where: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Places values where a mask is true; elsewhere they are 0."""
    column = np.zeros(len(where), values.dtype)
    column[where] = values
    return column


def _purposes(
    own: Columns, bare: NDArray[Any], from_server: NDArray[Any], code: Callable[[str], int]
) -> NDArray[Any]:
    """Purposes of real TCP packets as indices; those of other packets have no meaning.

    Payload in the direction that carries more bytes of a connection is data, payload in the other
    direction a request; if both carry equally many, data comes from the server. A SYN is
    `connect`, a SYN-ACK data, and any other packet without payload an ACK.
    """
    connection, flags = own["connection"], own["flags"]
    sums = np.zeros((int(connection.max(initial=0)) + 1, 2))
    np.add.at(sums, (connection, from_server.astype(int)), own["payload"])
    is_main = (sums[:, 1] >= sums[:, 0])[connection] == from_server
    has_syn, has_ack = flags & SYN > 0, flags & ACK > 0
    return np.select(
        [has_syn & has_ack, has_syn, bare, is_main],
        [code("data"), code("connect"), code("ack"), code("data")],
        code("request"),
    )


def _classify_events(
    events: Columns, packets: Columns, is_tcp: NDArray[Any], names: dict[str, list[str]]
) -> None:
    """Replaces purpose, sequence number and kind (`resent`) in the events of real TCP packets."""
    at = np.searchsorted(packets["packet"], events["packet"])
    at = np.minimum(at, len(packets["packet"]) - 1)
    own = (packets["packet"][at] == events["packet"]) & (events["packet"] > 0) & is_tcp[at]
    sent, resent = (names["kind"].index(name) for name in ("sent", "resent"))
    named = own & (events["detail"] == names["detail"].index("external"))
    again = own & (events["kind"] == sent) & packets["again"][at]
    events["seq"] = np.where(own, packets["seq"][at], events["seq"]).astype(np.uint64)
    events["detail"] = np.where(named, packets["purpose"][at], events["detail"]).astype(np.uint32)
    events["kind"] = np.where(again, resent, events["kind"]).astype(np.uint32)
