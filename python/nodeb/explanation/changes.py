"""Changes of a scenario that remove causes of waiting, or reduce them.

The function of each change modifies the data of a resolved scenario, mostly for all users. It
returns true if there was anything to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb import _core
from nodeb.base.units import in_ns
from nodeb.errors import InputError, ScenarioError
from nodeb.explanation.lte import LTE_CHANGES
from nodeb.explanation.on_path import (
    Change,
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
from nodeb.explanation.tables import (
    Data,
    assign,
    assign_all,
    core_links,
    double_rates,
    group_of,
    halve,
    links,
    phones,
    queued,
    radio_of,
    scheduled_uplink,
    tcps,
)
from nodeb.inputs.scenario import Scenario
from nodeb.scenario_types import Ue

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["CHANGES", "Lever", "changed", "levers"]

LARGE = 10_000
"""Window in segments, or queue limit in packets, that is assumed never to be reached."""
MAX_BYTES_FAMILY = 1000
"""Largest initial window of the `linux` family, segments."""
MAX_USUAL = 4
"""Largest usual initial window (RFC 3390), segments; `_large_window` sets only larger ones."""
LARGE_SIZE = "1 GB"
"""Size of a buffer that is assumed never to fill."""


def _double_opportunities(recorded: Data) -> bool:
    times = recorded.get("times_ms") or []
    return assign(recorded, times_ms=[time for time in times for _ in range(2)])


def _acks_at_once(data: Data, _phone: int) -> bool:
    return assign_all(tcps(data), delayed_ack="0 s")


def _acks_sooner(data: Data, _phone: int) -> bool:
    return sum(halve(tcp, "delayed_ack") for tcp in tcps(data)) > 0


def _no_block_errors(data: Data, _phone: int) -> bool:
    radio = radio_of(data)
    has_model = radio.pop("errors", None) is not None
    without = {"bler": 0.0, "decoding": "error_free", "frame_errors": False}
    return assign(radio, **without, ack_error=0.0, nack_error=0.0) or has_model


def _half_the_block_errors(data: Data, _phone: int) -> bool:
    radio = radio_of(data)
    bler = radio.get("bler") or 0.0
    return radio.get("errors") is None and assign(radio, bler=bler / 2)


def _half_the_retransmission_delay(data: Data, _phone: int) -> bool:
    return halve(radio_of(data), "retransmission_delay")


def _no_loss(data: Data, _phone: int) -> bool:
    return assign_all(links(data), loss=0.0, ack_loss=0.0, drop_list=[])


def _large_queues(data: Data, _phone: int) -> bool:
    queues = assign_all(queued(data), queue={"drop_tail": {"limit": LARGE}})
    return assign(radio_of(data), buffer=LARGE) or queues


def _limit(table: Data) -> int:
    (queue,) = table.get("queue", {"none": {}}).values()
    return int(queue.get("limit") or LARGE)


def _large_window(data: Data, _phone: int) -> bool:
    """Sets the initial window to what the shortest queue holds, but not to less than before.

    A larger window would overflow that queue at once. All users share the queue of a link, so its
    limit is divided by their number; the radio has a buffer or queues for each user. For the
    `linux` family the window is at most `MAX_BYTES_FAMILY`.

    Returns false, without a change, if the shortest queue holds at most `MAX_USUAL` packets.
    """
    users = phones(data)
    shared = [limit // users for limit in map(_limit, links(data))]
    own = map(_limit, (radio_of(data), scheduled_uplink(data)))
    room = min(*shared, *own, radio_of(data).get("buffer", LARGE))
    if room <= MAX_USUAL:
        return False
    changed = False
    # Without `initial_window` the default depends on the key `era`, so the window counts as 1.
    for tcp in tcps(data):
        most = LARGE if "era" in tcp else MAX_BYTES_FAMILY
        window = max(min(room, most), tcp.get("initial_window", 1))
        changed |= tcp.get("initial_window") != window
        tcp["initial_window"] = window
    return changed


def _large_send_buffer(data: Data, _phone: int) -> bool:
    return assign_all(tcps(data), send_buffer=LARGE_SIZE)


def _large_receive_window(data: Data, _phone: int) -> bool:
    sizes = {"receive_buffer": LARGE_SIZE, "initial_receive_buffer": LARGE_SIZE}
    return assign_all(tcps(data), max_window=LARGE, **sizes)


def _server_at_once(data: Data, _phone: int) -> bool:
    downloads = (group.get("traffic") or {} for group in data["users"])
    traffics = (kind for traffic in downloads for kind in traffic.values())
    return assign_all(traffics, server_delay="0 s")


def _no_pacing(data: Data, _phone: int) -> bool:
    return assign_all(tcps(data), pacing=False)


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
    return assign(radio_of(data).get("iub") or {}, room=LARGE_SIZE)


def _handover_at_once(data: Data, _phone: int) -> bool:
    return assign(radio_of(data).get("handover") or {}, interruption="0 s", data="forwarded")


def _no_handover(data: Data, _phone: int) -> bool:
    return radio_of(data).pop("handover", None) is not None


def _switched_at_once(data: Data, _phone: int) -> bool:
    return assign(radio_of(data), switch_time="0 s", paging_time="0 s")


def _switched_sooner(data: Data, _phone: int) -> bool:
    return halve(radio_of(data), "switch_time", "paging_time")


def _half_the_propagation_delays(data: Data, _phone: int) -> bool:
    iub = radio_of(data).get("iub") or {}
    return sum(halve(link, "delay") for link in (*links(data), iub)) > 0


def _radio_faster(data: Data, phone: int) -> bool:
    """Doubles the capacity of the radio: its rates, channels and recorded opportunities.

    If it has none of these keys, the block sizes are doubled. `_wider_band` and others apply to
    `lte`.
    """
    radio = radio_of(data)
    times = _double_opportunities(radio.get("down") or {})
    rates = double_rates(radio, "rate", "dch_rate")
    channels = assign(radio, channels=2 * radio.get("channels", 0))
    slots = halve(radio, "slot")
    return times or rates or channels or slots or _larger_blocks(radio, data["users"], phone)


def _larger_blocks(radio: Data, groups: list[Data], phone: int) -> bool:
    """A scenario without a table of blocks gets the standard's table for the category of
    `phone`, with twice the bits. Returns false unless the radio is `hsdpa` with link adaptation
    by CQI."""
    reports = radio.get("link_adaptation", {}).get("cqi")
    if reports is None:
        return False
    ue = group_of(groups, phone).get("ue") or {}
    known = reports.get("table") or [
        {"cqi": cqi, "bits": bits, "codes": codes}
        for cqi, bits, codes in _core.hsdpa_blocks(ue.get("category", Ue().category))
    ]
    reports["table"] = [{**row, "bits": 2 * row["bits"]} for row in known]
    return True


def _wired_faster(data: Data, _phone: int) -> bool:
    return double_rates(data["wired"], "rate")


def _core_faster(data: Data, _phone: int) -> bool:
    return sum(double_rates(link, "rate") for link in core_links(data)) > 0


def _uplink_faster(data: Data, _phone: int) -> bool:
    if scheduled_uplink(data):
        return False
    up = radio_of(data).get("up")
    return double_rates(data["uplink"], "rate") if up is None else _double_opportunities(up)


def _always_dedicated(data: Data, _phone: int) -> bool:
    """Gives every phone a dedicated channel, which it keeps for the whole run."""
    radio = radio_of(data)
    if "dch_channels" not in radio:
        return False
    channels = max(radio["dch_channels"], phones(data))
    return assign(radio, policy={"always_dch": {}}, dch_channels=channels)


DELAYED, HANDED, PACED = ("delayed ACK",), ("handover",), ("pacing",)
RECEIVER, SENDER = ("window: receiver",), ("window: send buffer",)
LOSSES = ("recovery", "timeout")
QUEUES = ("queues", "marks")
"""Fields of `Lost` that count effects of queues: packets lost in them, and windows cut by marks."""
RETRANSMITTED = ("HARQ round trips", "RLC retransmission", "reordering wait")
OTHERS = ("waiting for the scheduler", "queue behind others")
SWITCHED = ("channel set-up and release",)

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
    Change("a large send buffer", SENDER, of_rounds(*SENDER), _large_send_buffer),
    Change("a server that answers at once", ("server",), of_causes(("server",)), _server_at_once),
    Change("no pacing", PACED, of_rounds(*PACED), _no_pacing),
    Change("alone in the cell", OTHERS, among_others, _alone),
    Change("credits for everything", ("credits",), of_causes(("credits",)), _many_credits),
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
    *LTE_CHANGES,
)


@dataclass(frozen=True)
class Lever:
    """A change that the scenario allows, and the time on the path that it targets."""

    name: str
    path_s: float
    """The change may save more or less."""
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""


def levers(found: Explanation) -> list[Lever]:
    """Returns the changes that the scenario allows and that target any time on the path.

    They are in order of decreasing time.
    """
    if found.what:
        return []  # A real connection cannot be repeated with a changed scenario.
    aimed = [(change, sum(change.on_path(found).values())) for change in CHANGES]
    return sorted(
        (
            Lever(change.name, path_s, change.causes)
            for change, path_s in aimed
            if path_s > 0 and changed(found, change) is not None
        ),
        key=lambda one: -one.path_s,
    )


def changed(found: Explanation, change: Change) -> Scenario | None:
    data = found.scenario.to_dict()
    _, phone, _ = found.scenario.compiled().connections[found.user]
    if not change.is_offered(found) or not change.apply(data, phone):
        return None
    try:
        return type(found.scenario).from_dict(data).planned(len(found.paths))
    except (InputError, ScenarioError):
        return None
