"""Changes of a scenario that remove causes of waiting, or reduce them.

The function of each change modifies the data of a resolved scenario, mostly for all users. It
returns true if there was anything to change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodeb import _core
from nodeb.base.units import in_ns
from nodeb.explanation.on_path import (
    OnPath,
    among_others,
    behind_losses,
    block_errors,
    of_causes,
    of_rounds,
    of_steps,
    on_links,
    opening,
    serving,
    was_lost,
    without_channel,
)
from nodeb.inputs.recording import min_snr_db
from nodeb.scenario_types import Ue

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["CHANGES", "Change"]

Data = dict[str, Any]
LARGE = 10_000
"""Window in segments, or queue limit in packets, that is assumed never to be reached."""
MAX_BYTES_FAMILY = 1000
"""Largest initial window of the `linux` family, segments."""
MAX_USUAL = 4
"""Largest usual initial window (RFC 3390), segments; `_large_window` sets only larger ones."""
LARGE_SIZE = "1 GB"
"""Size of a receive buffer, or of the Node B's buffer, that is assumed never to fill."""
MIN_BLER = 1e-12
"""Block error rate at which no block fails in practice; curves cannot contain zero."""
TARGET_BLER = 0.1
"""Block error rate for which transport formats are chosen (TS 25.214, 6A.2)."""
CQIS = range(1, 31)


def _always(_found: Explanation) -> bool:
    return True


@dataclass(frozen=True)
class Change:
    """A change of a scenario that removes or reduces causes of a transfer's time."""

    name: str
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""
    on_path: OnPath
    """Function that returns the time on the path that the change targets, s."""
    apply: Callable[[Data, int], bool]
    """Changes a scenario's data in place; returns true if there was anything to change.

    The second argument is the index of the phone whose transfer is explained.
    """
    is_offered: Callable[[Explanation], bool] = _always
    """Returns true if the problem that the change removes has occurred in some replication.

    The default always returns true, for changes whose need is clear from scenario and path.
    """


def _tcps(data: Data) -> Iterator[Data]:
    """Yields the parameters of every TCP in a scenario: those of all users, groups and proxies."""
    for holder in (data, *data["users"], *(data.get("proxy") or {}).values()):
        yield from (holder.get("tcp") or {}).values()


def _links(data: Data) -> Iterator[Data]:
    """Yields the parameters of every link of a scenario.

    These are the wired link, the uplink unless the base station schedules it, the links of the core
    network, and the radio if its model is `link` or `trace`.
    """
    yield from (data["wired"], *_core_links(data))
    if _scheduled_uplink(data) is None:
        yield data["uplink"]
    yield from (radio for name, radio in data["radio"].items() if name in ("link", "trace"))


def _core_links(data: Data) -> list[Data]:
    """Returns the parameters of the links of a scenario's core network; [] if it has none."""
    core = data.get("core") or []
    return core if isinstance(core, list) else [core]


def _radio(data: Data) -> Data:
    radio: Data
    (radio,) = data["radio"].values()
    return radio


def _set(table: Data, **values: Any) -> bool:
    """Sets `values` in a table, but only for keys that the table has.

    Returns true if a value changed.
    """
    changed = False
    for key, value in values.items():
        if key in table and table[key] != value:
            table[key], changed = value, True
    return changed


def _set_all(tables: Iterable[Data], **values: Any) -> bool:
    """Sets `values` in each table, but only for keys that the table has.

    Returns true if a value changed.
    """
    return sum(_set(table, **values) for table in tables) > 0


def _half(text: str) -> str:
    number, unit = text.split()
    return f"{float(number) / 2:.12g} {unit}"


def _halve(table: Data, *keys: str) -> bool:
    """Halves the times that a table has under `keys`; missing keys are skipped.

    Returns true if a time changed. A time that would become 0 is left as it is.
    """
    halved = {key: _half(table[key]) for key in keys if table.get(key)}
    return _set(table, **{key: text for key, text in halved.items() if not text.startswith("0 ")})


def _double_rates(table: Data, *keys: str) -> bool:
    """Doubles the bit rates that a table has under `keys`; missing keys are skipped.

    Returns true if a rate changed.
    """
    rates = {key: table[key].split() for key in keys if table.get(key)}
    return _set(
        table, **{key: f"{2 * float(rate):.12g} {unit}" for key, (rate, unit) in rates.items()}
    )


def _double_opportunities(recorded: Data) -> bool:
    """Doubles the delivery opportunities of a link's recording. Returns true if it has any."""
    times = recorded.get("times_ms") or []
    return _set(recorded, times_ms=[time for time in times for _ in range(2)])


def _acks_at_once(data: Data, _phone: int) -> bool:
    return _set_all(_tcps(data), delayed_ack="0 s")


def _acks_sooner(data: Data, _phone: int) -> bool:
    return sum(_halve(tcp, "delayed_ack") for tcp in _tcps(data)) > 0


def _snr_db_at_target(points: list[tuple[float, float]]) -> float:
    """Returns the smallest SNR, dB, at which a curve of (SNR, BLER) falls to `TARGET_BLER`.

    The logarithm of the BLER is interpolated. A curve that begins at or below `TARGET_BLER` gives
    the SNR of its first point.
    """
    target = math.log(TARGET_BLER)
    curve = [(snr, math.log(bler)) for snr, bler in sorted(points)]
    at = next(place for place, (_, bler) in enumerate(curve) if bler <= target)
    if at == 0:
        return curve[0][0]
    (x0, y0), (x1, y1) = curve[at - 1 : at + 1]
    return x0 + (x1 - x0) * (target - y0) / (y1 - y0)


def _curves_without_errors(measured: Data | None) -> Data:
    """Returns link curves that lead to the same CQI reports, and with which no block fails.

    Args:
        measured: the scenario's own curves; None if it uses the built-in ones.
    """
    if measured is None:
        known = {cqi: min_snr_db(cqi) for cqi in CQIS}
    else:
        points: dict[int, list[tuple[float, float]]] = {}
        for cqi, *point in zip(measured["cqi"], measured["snr_db"], measured["bler"], strict=True):
            points.setdefault(cqi, []).append((point[0], point[1]))
        known = {cqi: _snr_db_at_target(points[cqi]) for cqi in sorted(points)}
    return {"cqi": [*known], "snr_db": [*known.values()], "bler": [MIN_BLER for _ in known]}


def _no_block_errors(data: Data, _phone: int) -> bool:
    radio = _radio(data)
    model = radio.pop("errors", None) is not None
    if "cqi" in radio.get("link_adaptation", {}):
        radio["link_curve"], model = _curves_without_errors(radio.get("link_curve")), True
    return _set(radio, bler=0.0, ack_error=0.0, nack_error=0.0, frame_errors=False) or model


def _half_the_block_errors(data: Data, _phone: int) -> bool:
    radio = _radio(data)
    bler = radio.get("bler") or 0.0
    return radio.get("errors") is None and _set(radio, bler=bler / 2)


def _half_the_retransmission_delay(data: Data, _phone: int) -> bool:
    return _halve(_radio(data), "retransmission_delay")


def _no_loss(data: Data, _phone: int) -> bool:
    return _set_all(_links(data), loss=0.0, ack_loss=0.0, drop_list=[])


def _large_queues(data: Data, _phone: int) -> bool:
    queues = _set_all(_links(data), queue={"drop_tail": {"limit": LARGE}})
    return _set(_radio(data), buffer=LARGE) or queues


def _large_window(data: Data, _phone: int) -> bool:
    """Sets the initial window to what the shortest queue holds, but not to less than before.

    A larger window would overflow that queue at once. All users share the queue of a link, so its
    limit is divided by their number; the radio has a buffer for each user. For the `linux` family
    the window is at most `MAX_BYTES_FAMILY`.

    Returns true if a window changed. Returns false, without a change, if the shortest queue holds
    at most `MAX_USUAL` packets.
    """
    users = sum(group["count"] for group in data["users"])
    limits = (next(iter(link["queue"].values())).get("limit") for link in _links(data))
    shared = min((limit // users for limit in limits if limit), default=LARGE)
    room = min(shared, _radio(data).get("buffer", LARGE))
    if room <= MAX_USUAL:
        return False
    changed = False
    # Without `initial_window` the default depends on the key `era`, so the window counts as 1.
    for tcp in _tcps(data):
        most = LARGE if "era" in tcp else MAX_BYTES_FAMILY
        window = max(min(room, most), tcp.get("initial_window", 1))
        changed |= tcp.get("initial_window") != window
        tcp["initial_window"] = window
    return changed


def _large_receive_window(data: Data, _phone: int) -> bool:
    sizes = {"receive_buffer": LARGE_SIZE, "initial_receive_buffer": LARGE_SIZE}
    return _set_all(_tcps(data), max_window=LARGE, **sizes)


def _server_at_once(data: Data, _phone: int) -> bool:
    downloads = (group.get("traffic") or {} for group in data["users"])
    traffics = (kind for traffic in downloads for kind in traffic.values())
    return _set_all(traffics, server_delay="0 s")


def _no_pacing(data: Data, _phone: int) -> bool:
    return _set_all(_tcps(data), pacing=False)


def _alone(data: Data, phone: int) -> bool:
    """Lets all phones but `phone` start 1 ns before the end of the run.

    These phones are not removed, so that every user keeps its index and random streams. Returns
    false if there is only one phone.
    """
    never = f"{in_ns(data['duration']) - 1} ns"
    groups: list[Data] = []
    first = 0
    for group in data["users"]:
        count, place = group["count"], phone - first
        first += count
        is_own = 0 <= place < count
        start = f"{in_ns(group['start']) + place * in_ns(group['stagger'])} ns" if is_own else never
        parts = [(place, never), (1, start), (count - place - 1, never)]
        for many, begins in parts if is_own else [(count, never)]:
            more = {"count": many, "start": begins, "stagger": "0 s", "name": f"{len(groups)}"}
            groups += [group | more] if many else []
    data["users"] = groups
    return first > 1


def _many_credits(data: Data, _phone: int) -> bool:
    return _set(_radio(data).get("iub") or {}, room=LARGE_SIZE)


def _handover_at_once(data: Data, _phone: int) -> bool:
    return _set(_radio(data).get("handover") or {}, interruption="0 s", data="forwarded")


def _no_handover(data: Data, _phone: int) -> bool:
    return _radio(data).pop("handover", None) is not None


def _switched_at_once(data: Data, _phone: int) -> bool:
    return _set(_radio(data), switch_time="0 s", paging_time="0 s")


def _switched_sooner(data: Data, _phone: int) -> bool:
    return _halve(_radio(data), "switch_time", "paging_time")


def _half_the_propagation_delays(data: Data, _phone: int) -> bool:
    iub = _radio(data).get("iub") or {}
    return sum(_halve(link, "delay") for link in (*_links(data), iub)) > 0


def _radio_faster(data: Data, phone: int) -> bool:
    """Doubles the capacity of the radio: its rates, channels and recorded opportunities.

    If the radio has slots, their duration is halved. If it has none of these keys, the block sizes
    are doubled. Returns false for the radio `lte`, for which nothing can be doubled.
    """
    radio = _radio(data)
    times = _double_opportunities(radio.get("down") or {})
    rates = _double_rates(radio, "rate", "dch_rate")
    channels = _set(radio, channels=2 * radio.get("channels", 0))
    slots = _halve(radio, "slot")
    return times or rates or channels or slots or _larger_blocks(radio, data["users"], phone)


def _larger_blocks(radio: Data, groups: list[Data], phone: int) -> bool:
    """Doubles the bits of the block of each CQI.

    A scenario without a table of blocks gets the standard's table for the category of `phone`, with
    twice the bits. Returns false unless the radio is `hsdpa` with link adaptation by CQI.
    """
    reports = radio.get("link_adaptation", {}).get("cqi")
    if reports is None:
        return False
    ue = next(itertools.islice(_each(groups), phone, None)).get("ue") or {}
    known = reports.get("table") or [
        {"cqi": cqi, "bits": bits, "codes": codes}
        for cqi, bits, codes in _core.hsdpa_blocks(ue.get("category", Ue().category))
    ]
    reports["table"] = [{**row, "bits": 2 * row["bits"]} for row in known]
    return True


def _each(groups: list[Data]) -> Iterator[Data]:
    """Yields for every phone, in order, the group to which the phone belongs."""
    for group in groups:
        yield from itertools.repeat(group, group["count"])


def _scheduled_uplink(data: Data) -> Data | None:
    """Returns the parameters of the scheduled uplink, or `None` if phones have links instead."""
    uplink = _radio(data).get("uplink")
    return uplink.get("scheduled") if isinstance(uplink, dict) else None


def _frequent_requests(data: Data, _phone: int) -> bool:
    uplink = _scheduled_uplink(data)
    return uplink is not None and _set(uplink, request_period="1 ms")


def _always_awake(data: Data, _phone: int) -> bool:
    return _set(_radio(data), drx=None)


def _always_connected(data: Data, _phone: int) -> bool:
    return _set(_radio(data), rrc=None)


def _wired_faster(data: Data, _phone: int) -> bool:
    return _double_rates(data["wired"], "rate")


def _core_faster(data: Data, _phone: int) -> bool:
    return sum(_double_rates(link, "rate") for link in _core_links(data)) > 0


def _uplink_faster(data: Data, _phone: int) -> bool:
    if _scheduled_uplink(data) is not None:
        return False
    up = _radio(data).get("up")
    return _double_rates(data["uplink"], "rate") if up is None else _double_opportunities(up)


def _always_dedicated(data: Data, _phone: int) -> bool:
    """Gives every phone a dedicated channel, which it keeps for the whole run.

    Returns false if the radio has no dedicated channels, or if nothing changed.
    """
    radio = _radio(data)
    if "dch_channels" not in radio:
        return False
    users = sum(group["count"] for group in data["users"])
    return _set(radio, policy={"always_dch": {}}, dch_channels=max(radio["dch_channels"], users))


DELAYED, RECEIVER, HANDED = ("delayed ACK",), ("window: receiver",), ("handover",)
LOSSES = ("recovery", "timeout")
QUEUES = ("queues", "marks")
"""Fields of `Lost` that count effects of queues: packets lost in them, and windows cut by marks."""
RETRANSMITTED = ("HARQ round trips", "RLC retransmission", "reordering wait")
OTHERS = ("waiting for the scheduler", "queue behind others")
SWITCHED = ("channel set-up and release",)
REQUESTS = ("request awaited",)
CONNECTED = ("connection set up",)

CHANGES = (
    Change("ACKs at once", DELAYED, of_causes(DELAYED), _acks_at_once),
    Change("ACKs held back half as long", DELAYED, of_causes(DELAYED, 0.5), _acks_sooner),
    Change("no block errors", RETRANSMITTED, block_errors, _no_block_errors),
    Change(
        "half the block errors",
        RETRANSMITTED,
        of_causes(RETRANSMITTED, 0.5),
        _half_the_block_errors,
    ),
    Change(
        "half the retransmission delay",
        RETRANSMITTED,
        of_causes(RETRANSMITTED, 0.5),
        _half_the_retransmission_delay,
    ),
    Change("no packet losses", LOSSES, behind_losses("links"), _no_loss),
    Change(
        "queues that never fill", LOSSES, behind_losses(*QUEUES), _large_queues, was_lost(*QUEUES)
    ),
    Change("a window that is open at once", ("window: slow start",), opening, _large_window),
    Change("a large receive window", RECEIVER, of_rounds(*RECEIVER), _large_receive_window),
    Change("a server that answers at once", ("server",), of_causes(("server",)), _server_at_once),
    Change("no pacing", ("pacing",), of_causes(("pacing",)), _no_pacing),
    Change("alone in the cell", OTHERS, among_others, _alone),
    Change("credits for everything", ("credits",), of_causes(("credits",)), _many_credits),
    Change(
        "requests in every subframe", ("uplink grant",), of_steps(REQUESTS, 0.9), _frequent_requests
    ),
    Change("phones that always listen", ("DRX",), of_causes(("DRX",)), _always_awake),
    Change(
        "phones that are always connected",
        SWITCHED,
        of_steps(CONNECTED, 1.0),
        _always_connected,
    ),
    Change("handovers at once, without loss", HANDED, of_causes(HANDED), _handover_at_once),
    Change("no handovers", HANDED, of_causes(HANDED), _no_handover),
    Change("channels switched at once", SWITCHED, of_causes(SWITCHED), _switched_at_once),
    Change(
        "channels switched in half the time", SWITCHED, of_causes(SWITCHED, 0.5), _switched_sooner
    ),
    Change("a dedicated channel from the start", (), without_channel, _always_dedicated),
    Change("radio twice as fast", (), serving(("bearer",), 0.5), _radio_faster),
    Change("wired link twice as fast", (), on_links("wired", 0.5), _wired_faster),
    Change("core links twice as fast", (), on_links("core", 0.5), _core_faster),
    Change("uplink twice as fast", (), serving(("uplink",), 0.5), _uplink_faster),
    Change(
        "half the propagation delays",
        (),
        of_steps(("propagates", "crosses the Iub"), 0.5),
        _half_the_propagation_delays,
    ),
)
"""All changes, in the order in which they are simulated."""
