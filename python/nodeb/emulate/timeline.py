"""Packet timeline of a recording; purposes and connections of real packets come from headers."""

from __future__ import annotations

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

__all__ = ["RecordedLife", "recorded_life"]

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
        """Critical paths of a real user's TCP connections in the window.

        They are those of the first `MAX_TRANSFERS` connections with data.
        """
        about = self.about
        found = CriticalPath(
            self._recording.users[0] if about.user is None else about.user, what="connection"
        )
        try:
            found.note = self._explained(found, connections(self._recording))
        except (NodebError, ValueError, RuntimeError, OSError) as error:
            found.note = f"The other connections are not explained: {error}."
        return found

    def _explained(self, found: CriticalPath, known: Connections) -> str:
        about, recording = self.about, self._recording
        end_s = float("inf") if about.end_ns is None else about.end_ns / NS_PER_S
        wanted = [
            one
            for one in known.of(found.user)
            if one.begun_s < end_s and one.ended_s >= about.begin_ns / NS_PER_S and one.data_bytes
        ]
        for one in wanted[:MAX_TRANSFERS]:
            explained = recording.explained(one.number)
            found.transfers.append(one.number)
            found.spans += spans_of(explained["spans"], one.number)
        found.spans.sort(key=lambda span: span.begin)
        if len(wanted) > MAX_TRANSFERS:
            return f"Later connections are not explained: the limit is {MAX_TRANSFERS}."
        if wanted:
            return ""
        if found.user not in recording.users:
            return f"User {found.user} is simulated: a recording explains real users only."
        return f"User {found.user} has no TCP connection to explain in this window."


def recorded_life(
    recording: Recording,
    user: int | None = None,
    window_ns: tuple[int, int | None] = (0, None),
    most: int = MAX_EVENTS,
    progress: ProgressCallback | None = None,
) -> RecordedLife:
    check_limits(user, most)
    path, compiled = recording.path, recording.scenario.compiled()

    def work(control: _core.Control) -> dict[str, Any]:
        return _core.flight_timeline(
            path, compiled, recording.seed, recording.users, control, *window_ns, user, most
        )

    found = recording.process(work, progress)
    parsed, is_whole = recording.process(lambda control: _core.flight_packets(path, control))
    headers, cut = parsed["packets"], "" if is_whole else CUT_OFF
    known = {"scenario": recording.scenario, "seed": recording.seed, "run": 0, "user": user}
    about = About.of(found, window_ns, flight="A replayed recording", cut=cut, **known)
    _name(found["tables"], found["names"], headers)
    return RecordedLife(about, arrows(found, about), recording)


def _name(tables: dict[str, Columns], names: dict[str, list[str]], headers: Columns) -> None:
    """Adds header fields and connections of real packets to the tables.

    For TCP packets, also replaces purpose and sequence number, and marks retransmissions.
    """
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
    found = np.zeros(len(where), values.dtype)
    found[where] = values
    return found


def _is_bare(headers: Columns, rows: NDArray[Any]) -> NDArray[Any]:
    """Returns a mask of the packets with neither payload nor SYN flag, which count as pure ACKs."""
    found: NDArray[Any] = (headers["payload"][rows] == 0) & (headers["flags"][rows] & SYN == 0)
    return found


def _purposes(
    rows: NDArray[Any], origin: NDArray[Any], headers: Columns, names: dict[str, list[str]]
) -> NDArray[Any]:
    """Returns the purposes of real TCP packets as indices; those of other packets have no meaning.

    Payload in the direction that carries more bytes of a connection is data, payload in the other
    direction a request; if both carry equally many, data comes from the server. A SYN is
    `connect`, a SYN-ACK data, and any other packet without payload an ACK.
    """
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
    """Replaces purpose, sequence number and kind (`resent`) in the events of real TCP packets."""
    at = np.searchsorted(packets["packet"], events["packet"])
    at = np.minimum(at, len(packets["packet"]) - 1)
    own = (packets["packet"][at] == events["packet"]) & (events["packet"] > 0) & is_tcp[at]
    events["seq"] = np.where(own, packets["seq"][at], events["seq"]).astype(np.uint64)
    external = names["detail"].index("external")
    named = own & (events["detail"] == external)
    events["detail"] = np.where(named, packets["purpose"][at], events["detail"]).astype(np.uint32)
    sent, resent = names["kind"].index("sent"), names["kind"].index("resent")
    again = own & (events["kind"] == sent) & packets["again"][at]
    events["kind"] = np.where(again, resent, events["kind"]).astype(np.uint32)
