"""Changes of a scenario, and how much time on the critical path each targets.

A change would save the targeted time if everything else stayed as it was. TCP reacts, so the
simulated saving can be smaller or larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodeb.base.units import NS_PER_S, in_ns
from nodeb.explanation.tables import Data, phones, radio_of

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation
    from nodeb.explanation.replications import Lost, Share

__all__ = [
    "FURTHER",
    "Change",
    "OnPath",
    "Times",
    "among_others",
    "behind_losses",
    "block_errors",
    "of_causes",
    "of_rounds",
    "of_steps",
    "on_links",
    "opening",
    "serving",
    "was_lost",
    "without_channel",
]

Times = dict[str, float]
"""Mean time on the paths of an explanation, s, by the cause to which it is charged."""
OnPath = Callable[["Explanation"], Times]
"""Function that returns the time on the paths of an explanation that a change would save."""
SLOW_START, AVOIDANCE = "window: slow start", "window: congestion avoidance"
SWITCHED = "channel set-up and release"
REPAIRS = ("recovery", "timeout")
RETRANSMITTED = ("HARQ round trips", "RLC retransmission", "reordering wait")
OF_TCP = (
    *("delayed ACK", SLOW_START, AVOIDANCE, "window: receiver", "window: proxy"),
    *("window: send buffer", *REPAIRS, "pacing"),
)
"""Causes within TCP. During them the path does not wait for the transmission of a packet."""
WITH_ROUNDS = ("delayed ACK", "segmentation", "pacing")
"""Causes whose time also counts as time of the cause of the round trip in which they occur.

The busy time of a channel, for example, does not.
"""
FURTHER = "further grant awaited"
"""Step in which the base station knows of a phone's data, but has not granted a block for them."""
SENDS = ("sends", "own data ahead")
"""Steps in which a link sends data or ACKs of the explained connection."""
SERVES = (*SENDS, "others served")


def of_causes(causes: tuple[str, ...], factor: float = 1.0) -> OnPath:
    """`factor` is the share of the causes' time on the path that a change would save."""
    return lambda found: _by_cause(found, lambda share: share.cause in causes, factor)


def of_steps(steps: tuple[str, ...], factor: float) -> OnPath:
    """As `of_causes`, of the path's time in some steps."""
    return lambda found: _by_cause(found, lambda share: share.step in steps, factor)


def serving(places: tuple[str, ...], factor: float) -> OnPath:
    """As `of_causes`, of the time in which links or channels named `places` send.

    They may send other users' data ahead.
    """
    return lambda found: _by_cause(
        found, lambda share: share.place in places and share.step in SERVES, factor
    )


def on_links(links: str, factor: float) -> OnPath:
    """As `of_causes`, of the time in which `wired` or `core` links send."""

    def times(found: Explanation) -> Times:
        known = found.scenario.to_dict().get(links) or []
        tables = known if isinstance(known, list) else [known]
        names = [
            table.get("name") or (links if len(tables) == 1 else f"{links}_{number}")
            for number, table in enumerate(tables, 1)
        ]
        return serving(tuple(f"{name} {way}" for name in names for way in ("down", "up")), factor)(
            found
        )

    return times


def among_others(found: Explanation) -> Times:
    """Returns the time in which the transfer waited while other users were served.

    At a scheduled uplink, this is the other phones' share of the waits for further grants.
    """
    others = 1.0 - 1.0 / phones(found.scenario.to_dict())
    served = _by_cause(found, lambda share: share.step == "others served")
    return served | _by_cause(found, lambda share: share.step == FURTHER, others)


def without_channel(found: Explanation) -> Times:
    """Returns the time that a dedicated channel from the start would save.

    This is the wait on the FACH behind other data and signalling, and the time of channel switches
    beyond one set-up (`switch_time`).
    """
    waits = _by_cause(
        found, lambda share: share.cause == "queue behind others" and share.place == "bearer"
    )
    radio = radio_of(found.scenario.to_dict())
    first = in_ns(radio.get("switch_time", "0 s")) / NS_PER_S
    switched = of_causes((SWITCHED,))(found).get(SWITCHED, 0.0)
    return waits | {SWITCHED: max(switched - first, 0.0)}


def block_errors(found: Explanation) -> Times:
    """Returns the time that failed blocks cost: retransmissions and repairs of lost packets.

    With a discard timer, the timer lost the packets that a radio loses.
    """
    has_timer = "discard_timer" in radio_of(found.scenario.to_dict())
    lost = {} if has_timer else behind_losses("radio")(found)
    return of_causes(RETRANSMITTED)(found) | lost


def opening(found: Explanation) -> Times:
    """Returns the time of slow start before the first repair of a loss.

    If no replication had a loss or a mark, congestion avoidance counts too. The share of the time
    in which the busiest link was sending anyway is subtracted (`_less_hidden`).
    """
    opens = (SLOW_START,) if any(map(any, _lost(found))) else (SLOW_START, AVOIDANCE)
    return _less_hidden(found, lambda share: not share.after_loss and _in_round(share, opens))


def of_rounds(cause: str) -> OnPath:
    """Returns a function that computes the time of the round trips caused by `cause`.

    The share of the time in which the busiest link was sending anyway is subtracted
    (`_less_hidden`).
    """
    return lambda found: _less_hidden(found, lambda share: _in_round(share, (cause,)))


def behind_losses(*reasons: str) -> OnPath:
    """Returns a function that computes the time that losses for the given reasons cost.

    Losses cost the time of their repair, and the time in which the reduced window opens again. Each
    reason gets a part of this time in proportion to its number of losses in all replications.
    """

    def times(found: Explanation) -> Times:
        every = sum(sum(one) for one in _lost(found))
        own = sum(getattr(one, reason) for one in _lost(found) for reason in reasons)
        return _less_hidden(found, _is_behind_loss, own / every) if own else {}

    return times


def was_lost(*reasons: str) -> Callable[[Explanation], bool]:
    """Returns a function that is true if a loss or mark for one of `reasons` has occurred.

    One in any replication suffices. `reasons` are names of fields of `Lost`.
    """
    return lambda found: any(getattr(one, reason) for one in _lost(found) for reason in reasons)


def _lost(found: Explanation) -> list[Lost]:
    return [path.lost for path in found.paths]


def _is_behind_loss(share: Share) -> bool:
    """Returns true if a share is time of repairing a loss, or of opening the reduced window.

    Congestion avoidance always counts as opening, slow start only after the first repair.
    """
    opens = (*REPAIRS, AVOIDANCE, SLOW_START) if share.after_loss else (*REPAIRS, AVOIDANCE)
    return _in_round(share, opens)


def _in_round(share: Share, causes: tuple[str, ...]) -> bool:
    """Returns true if one of `causes` is the cause of a share, or of the share's round trip.

    The cause of the round trip counts only if the share's own cause is one of `WITH_ROUNDS`.
    """
    return share.cause in causes or (share.round in causes and share.cause in WITH_ROUNDS)


def _by_cause(found: Explanation, of: Callable[[Share], bool], factor: float = 1.0) -> Times:
    """Returns the time of the shares for which `of` returns true, multiplied by `factor`."""
    times: Times = {}
    scale = factor / (NS_PER_S * len(found.paths))
    for path in found.paths:
        for share, ns in path.shares.items():
            if of(share):
                times[share.cause] = times.get(share.cause, 0.0) + scale * ns
    return times


def _less_hidden(found: Explanation, of: Callable[[Share], bool], factor: float = 1.0) -> Times:
    """Returns the time that a change would save of the shares for which `of` returns true.

    A larger window, or the absence of a loss, does not save transmission time. Therefore the time
    of these shares is multiplied by the idle fraction (`_idle`) of the busiest link, and `factor`.
    """
    idle = min((_idle(found, place) for place in _places(found)), default=1.0)
    return _by_cause(found, of, idle * factor)


def _places(found: Explanation) -> set[str]:
    return {place for path in found.paths for place in path.busy}


def _idle(found: Explanation, place: str) -> float:
    """Returns the fraction of time, 0 to 1, in which `place`, a link or channel, was idle.

    Only the time in which the critical path was elsewhere counts; if there is none, the result
    is 1.
    """
    busy = float(np.mean([path.busy.get(place, 0) / NS_PER_S for path in found.paths]))
    steps = (*SENDS, "block repeated")
    seen = found.mean_s(
        lambda share: share.place == place and share.step in steps and share.cause not in OF_TCP
    )
    elsewhere = found.time.mean - seen
    return max(1.0 - max(busy - seen, 0.0) / elsewhere, 0.0) if elsewhere > 0 else 1.0


def _always(_found: Explanation) -> bool:
    return True


@dataclass(frozen=True)
class Change:
    """A change of a scenario that removes or reduces causes of a transfer's time."""

    name: str
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""
    on_path: OnPath
    apply: Callable[[Data, int], bool]
    """Changes a scenario's data in place; the second argument is the explained phone's index."""
    is_offered: Callable[[Explanation], bool] = _always
