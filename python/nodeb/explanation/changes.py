"""Changes of a scenario that take causes of waiting away, or halve them.

Each has the data of a resolved scenario and the user who is explained, and says whether there was
anything to change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nodeb.base.units import in_ns
from nodeb.inputs.recording import least_snr_db

__all__ = ["CHANGES", "Change"]

Data = dict[str, Any]
LARGE = 10_000
"""Segments of a window, and packets of a queue, that never fill."""
MOST_BYTES_FAMILY = 1000
"""Segments of an initial window that the `linux` family takes at most."""
LARGE_SIZE = "1 GB"
"""A buffer that never fills."""
NEVER = 1e-12
"""A block error rate at which no block fails; curves know no zero."""
TARGET_BLER = 0.1
"""The block error rate for which formats are chosen (TS 25.214, 6A.2)."""
CQIS = range(1, 31)


@dataclass(frozen=True)
class Change:
    """Something that takes causes away, or halves them."""

    name: str
    causes: tuple[str, ...]
    """What it is aimed at."""
    factor: float
    """The share of these that it takes away."""
    apply: Callable[[Data, int], bool]
    """Changes a scenario's data for a user; whether there was anything to change."""
    only_steps: tuple[str, ...] = ()
    """What was happening meanwhile, where that counts and not the causes."""


def _tcps(data: Data) -> Iterator[Data]:
    """The parameters of every TCP in a scenario."""
    for holder in (data, *data["users"], *(data.get("proxy") or {}).values()):
        yield from (holder.get("tcp") or {}).values()


def _links(data: Data) -> Iterator[Data]:
    """Every link of a scenario."""
    core = data.get("core") or []
    yield from (data["wired"], data["uplink"], *(core if isinstance(core, list) else [core]))
    yield from (radio for name, radio in data["radio"].items() if name in ("link", "trace"))


def _radio(data: Data) -> Data:
    radio: Data
    (radio,) = data["radio"].values()
    return radio


def _set(table: Data, **values: Any) -> bool:
    """Sets the keys that a table has; whether one was another."""
    changed = False
    for key, value in values.items():
        if key in table and table[key] != value:
            table[key], changed = value, True
    return changed


def _set_all(tables: Iterable[Data], **values: Any) -> bool:
    """The same for several tables."""
    return sum(_set(table, **values) for table in tables) > 0


def _half(text: str) -> str:
    number, unit = text.split()
    return f"{float(number) / 2:.12g} {unit}"


def _halve(table: Data, *keys: str) -> bool:
    """Halves the times that a table has; whether one was more than none."""
    halved = {key: _half(table[key]) for key in keys if table.get(key)}
    return _set(table, **{key: text for key, text in halved.items() if not text.startswith("0 ")})


def _acks_at_once(data: Data, _user: int) -> bool:
    return _set_all(_tcps(data), delayed_ack="0 s")


def _acks_sooner(data: Data, _user: int) -> bool:
    return sum(_halve(tcp, "delayed_ack") for tcp in _tcps(data)) > 0


def _snr_db_at_target(points: list[tuple[float, float]]) -> float:
    """The least SNR, dB, at which a curve of such points (SNR, BLER) comes down to the target."""
    target = math.log(TARGET_BLER)
    curve = [(snr, math.log(bler)) for snr, bler in sorted(points)]
    at = next(place for place, (_, bler) in enumerate(curve) if bler <= target)
    if at == 0:
        return curve[0][0]
    (x0, y0), (x1, y1) = curve[at - 1 : at + 1]
    return x0 + (x1 - x0) * (target - y0) / (y1 - y0)


def _curves_without_errors(measured: Data | None) -> Data:
    """Curves by which the same CQIs are reported, and no block fails."""
    if measured is None:
        known = {cqi: least_snr_db(cqi) for cqi in CQIS}
    else:
        points: dict[int, list[tuple[float, float]]] = {}
        for cqi, *point in zip(measured["cqi"], measured["snr_db"], measured["bler"], strict=True):
            points.setdefault(cqi, []).append((point[0], point[1]))
        known = {cqi: _snr_db_at_target(points[cqi]) for cqi in sorted(points)}
    return {"cqi": [*known], "snr_db": [*known.values()], "bler": [NEVER for _ in known]}


def _no_block_errors(data: Data, _user: int) -> bool:
    radio = _radio(data)
    model = radio.pop("errors", None) is not None
    if "cqi" in radio.get("link_adaptation", {}):
        radio["link_curve"], model = _curves_without_errors(radio.get("link_curve")), True
    return _set(radio, bler=0.0, ack_error=0.0, nack_error=0.0, frame_errors=False) or model


def _half_the_block_errors(data: Data, _user: int) -> bool:
    radio = _radio(data)
    bler = radio.get("bler") or 0.0
    return radio.get("errors") is None and _set(radio, bler=bler / 2)


def _repeated_sooner(data: Data, _user: int) -> bool:
    return _halve(_radio(data), "retransmission_delay")


def _no_loss(data: Data, _user: int) -> bool:
    return _set_all(_links(data), loss=0.0, ack_loss=0.0, drop_list=[])


def _large_queues(data: Data, _user: int) -> bool:
    queues = _set_all(_links(data), queue={"drop_tail": {"limit": LARGE}})
    return _set(_radio(data), buffer=LARGE) or queues


def _large_window(data: Data, _user: int) -> bool:
    for tcp in _tcps(data):  # where it is absent the era says what it is
        tcp["initial_window"] = LARGE if "era" in tcp else MOST_BYTES_FAMILY
    return True


def _large_receive_window(data: Data, _user: int) -> bool:
    sizes = {"receive_buffer": LARGE_SIZE, "initial_receive_buffer": LARGE_SIZE}
    return _set_all(_tcps(data), max_window=LARGE, **sizes)


def _server_at_once(data: Data, _user: int) -> bool:
    traffics = (kind for group in data["users"] for kind in group["traffic"].values())
    return _set_all(traffics, server_delay="0 s")


def _no_pacing(data: Data, _user: int) -> bool:
    return _set_all(_tcps(data), pacing=False)


def _alone(data: Data, user: int) -> bool:
    """The others come at the run's very end: so every user keeps its number and random streams."""
    never = f"{in_ns(data['duration']) - 1} ns"
    groups: list[Data] = []
    first = 0
    for group in data["users"]:
        count, place = group["count"], user - first
        first += count
        is_own = 0 <= place < count
        start = f"{in_ns(group['start']) + place * in_ns(group['stagger'])} ns" if is_own else never
        parts = [(place, never), (1, start), (count - place - 1, never)]
        for many, begins in parts if is_own else [(count, never)]:
            more = {"count": many, "start": begins, "stagger": "0 s", "name": f"{len(groups)}"}
            groups += [group | more] if many else []
    data["users"] = groups
    return first > 1


def _many_credits(data: Data, _user: int) -> bool:
    return _set(_radio(data).get("iub") or {}, room=LARGE_SIZE)


def _handover_at_once(data: Data, _user: int) -> bool:
    return _set(_radio(data).get("handover") or {}, interruption="0 s", data="forwarded")


def _no_handover(data: Data, _user: int) -> bool:
    return _radio(data).pop("handover", None) is not None


def _switched_at_once(data: Data, _user: int) -> bool:
    return _set(_radio(data), switch_time="0 s", paging_time="0 s")


def _switched_sooner(data: Data, _user: int) -> bool:
    return _halve(_radio(data), "switch_time", "paging_time")


def _half_the_way(data: Data, _user: int) -> bool:
    return sum(_halve(link, "delay") for link in _links(data)) > 0


REPEATED = ("HARQ round trips", "RLC retransmission", "reordering wait")
OTHERS = ("waiting for the scheduler", "queue behind others")
SWITCHED = ("channel set-up and release",)

CHANGES = (
    Change("ACKs at once", ("delayed ACK",), 1.0, _acks_at_once),
    Change("ACKs held back half as long", ("delayed ACK",), 0.5, _acks_sooner),
    Change("no block errors", REPEATED, 1.0, _no_block_errors),
    Change("half the block errors", REPEATED, 0.5, _half_the_block_errors),
    Change("half the time to a repetition", REPEATED, 0.5, _repeated_sooner),
    Change("no packet losses on links", ("recovery", "timeout"), 1.0, _no_loss),
    Change("queues that never fill", ("recovery", "timeout"), 1.0, _large_queues),
    Change("a window that is open at once", ("window: slow start",), 1.0, _large_window),
    Change("a large receive window", ("window: receiver",), 1.0, _large_receive_window),
    Change("a server that answers at once", ("server",), 1.0, _server_at_once),
    Change("no pacing", ("pacing",), 1.0, _no_pacing),
    Change("alone in the cell", OTHERS, 1.0, _alone),
    Change("credits for everything", ("credits",), 1.0, _many_credits),
    Change("handovers at once, without loss", ("handover",), 1.0, _handover_at_once),
    Change("no handovers", ("handover",), 1.0, _no_handover),
    Change("channels switched at once", SWITCHED, 1.0, _switched_at_once),
    Change("channels switched in half the time", SWITCHED, 0.5, _switched_sooner),
    Change("half the propagation delays", (), 0.5, _half_the_way, ("propagates",)),
)
"""What is tried."""
