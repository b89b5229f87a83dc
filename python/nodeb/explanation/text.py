"""Sentences of an explanation: most helpful change, incomplete transfers, size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nodeb.answer.numbers import number, shown
from nodeb.answer.words import counted
from nodeb.explanation.causes import Explanation
from nodeb.explanation.changes import levers
from nodeb.results.causes import OUTAGE, cause_percent

if TYPE_CHECKING:
    from nodeb.explanation.replications import Lost
    from nodeb.explanation.what_if import WhatIf

__all__ = [
    "best_change",
    "incomplete",
    "incomplete_note",
    "remedy",
    "sizes",
]

LONGER_TIMEOUT = "if nothing was lost, a longer retransmission timeout"
"""Remedy for data that are retransmitted although their ACK is only late."""
REMEDIES = {
    "application": "an earlier request, or writing without pauses",
    "handshake": "a connection that is open already, or a shorter round trip",
    "request": "a shorter path for the request, or a request in the SYN",
    "server": "a faster server",
    "propagation": "a shorter path",
    "transmission": "a faster channel",
    "queue behind own data": "less of the connection's other data at the same time",
    "queue behind others": "fewer other users on the link, or a fair queue",
    "waiting for the scheduler": "fewer other users in the cell, or another scheduler",
    "uplink grant": "more frequent scheduling requests, or grants ahead of data",
    "segmentation": "a shorter TTI",
    "HARQ round trips": "fewer block errors, or a shorter round trip of HARQ",
    "reordering wait": "a shorter T1, or more transmissions of a block",
    "RLC retransmission": "fewer block errors, or retransmission by the Node B",
    "channel set-up and release": "channels that are kept longer, or set up earlier",
    "credits": "a larger buffer at the Node B, or more frequent credits",
    "DRX": "a shorter DRX cycle, or a longer inactivity timer",
    "handover": "a shorter interruption, or fewer handovers",
    "delayed ACK": "immediate ACKs",
    "window: slow start": "a larger initial window, or a shorter round trip",
    "window: congestion avoidance": "a window that grows faster, or a shorter round trip",
    "window: receiver": "a larger receive window",
    "window: send buffer": "a larger send buffer",
    "window: proxy": "a larger window of the proxy",
    "recovery": f"fewer losses, or their repair closer to the phone; {LONGER_TIMEOUT}",
    "timeout": f"earlier detection of losses; {LONGER_TIMEOUT}",
    "pacing": "a higher pacing rate",
}
NOT_SERVED = "a better channel: nearer to the Node B, or less fading"
"""Remedy for waiting for the scheduler if no other user was served meanwhile."""
ON_FACH = "a dedicated channel earlier: the FACH is shared, and signalling has priority"
"""Remedy for waiting on the FACH.

It also helps a single user, whose queue may stay too short to trigger a switch to a dedicated
channel.
"""
FEWER = {
    "links": "no packet losses on links",
    "queues": "longer queues, or a smaller window",
    "radio": "more transmissions of a block",
    "marks": "a higher marking threshold",
}
LEAST_SHARE = 0.1
"""Smallest share of the duration that a change must target to be named instead of a remedy.

It applies only if no changes were simulated.
"""
NO_OPPORTUNITY = "another trace: this one had no delivery opportunity meanwhile"
"""Remedy for waiting on a radio `trace` that has no delivery opportunity meanwhile."""
PLACED = ("transmission", "queue behind own data", "queue behind others")
"""Causes for which `remedy` names the link: a faster downlink, for example, does not help ACKs."""


def best_change(found: Explanation, tried: Sequence[WhatIf] = ()) -> str:
    """Returns a sentence on the change that helps most in simulation, or else on one that could.

    If no change was simulated and none targets enough time, the sentence names the remedy of the
    largest cause.
    """
    if not found.causes:
        return "The transfer took no time."
    known = [one for one in tried if one.won.n]
    if known:
        return " ".join([_largest_gain(known), *_more_complete(tried)])
    lever = next(iter(levers(found)), None)
    is_outage = found.step(found.causes[0]) == OUTAGE
    if lever is None or is_outage or lever.path_s < LEAST_SHARE * found.time.mean:
        return remedy(found)
    time = f"{number(lever.path_s, 's')} of {number(found.time.mean, 's')}"
    gain = "its gain is unknown" if tried else "not simulated"
    return f"What could help: {lever.name}, which targets {time} ({gain})."


def remedy(found: Explanation) -> str:
    """`causes` must not be empty."""
    cause = found.causes[0]
    what = "an outage at" if found.step(cause) == OUTAGE else "at"
    where = f", most of it {what}: {found.place(cause)}" if cause in PLACED else ""
    about = f"{cause}, {cause_percent(found, cause)} of the time{where}"
    return f"What could help: {_remedy(found, cause)} ({about})."


def _largest_gain(known: Sequence[WhatIf]) -> str:
    """Returns a sentence on the largest simulated gain, a significant one if there is any.

    Without a gain, the sentence says that no change saves time. `known` has the largest gain first.
    """
    if known[0].won.mean <= 0:
        return "Simulated: no change saves time."
    if known[0].pairs.all == 1:
        return f"Simulated, largest gain: {_gain(known[0])}."
    significant = [one for one in known if one.won.low > 0]
    if not significant:
        return f"Simulated: no gain differs from 0 significantly; the largest is {_gain(known[0])}."
    return f"Simulated, largest gain: {_gain(significant[0])}."


def _gain(one: WhatIf) -> str:
    """Returns a text on a simulated change: its name, its saving, and the duration without it.

    If no pair has two complete transfers, only the lower limit of the saving is stated.
    """
    won = shown(one.won.mean, one.won.low, one.won.high, "s")
    if not one.pairs.both:
        return f"{one.name}, at least {won.with_level}"
    whole = number(one.baseline_s, "s")
    if one.complete:
        return f"{one.name}, {won.value} of {whole}{won.with_level.removeprefix(won.value)}"
    pairs = f"the {one.pairs.of(one.pairs.both)} that finish with it and without"
    return f"{one.name}, {won.with_level} of the {whole} in {pairs}"


def _more_complete(tried: Sequence[WhatIf]) -> Iterator[str]:
    """Yields a sentence on the change with which most transfers finish.

    Yields nothing if no change lets more transfers finish than finish without it.
    """
    best = max(tried, key=lambda one: one.pairs.more, default=None)
    if best is not None and best.pairs.more > 0:
        pairs = best.pairs
        now, before = pairs.both + pairs.only_changed, pairs.both + pairs.only_plain
        yield f"With {best.name}, {now} of {pairs.all} transfers finish instead of {before}."


def _remedy(found: Explanation, cause: str) -> str:
    """Returns a phrase that names what would reduce a cause of the transfer's duration."""
    lost = [path.lost for path in found.paths]
    if found.step(cause) == OUTAGE:
        return "no outage of the link"
    if cause == "window: congestion avoidance" and any(map(any, lost)):
        return _fewer_losses(lost)
    if cause == "queue behind others" and found.place(cause) == "bearer" and _has_fach(found):
        return ON_FACH
    if cause == "waiting for the scheduler" and found.step(cause) == "not served":
        is_trace = "trace" in found.scenario.to_dict()["radio"]
        return NO_OPPORTUNITY if is_trace else NOT_SERVED
    return REMEDIES[cause]


def _has_fach(found: Explanation) -> bool:
    return "fach_dch" in found.scenario.to_dict()["radio"]


def _fewer_losses(lost: Sequence[Lost]) -> str:
    """Returns the remedy for the most frequent reason of losses in all replications together."""
    most = max(FEWER, key=lambda reason: sum(getattr(one, reason) for one in lost))
    return f"{FEWER[most]}, which cut the window"


def sizes(found: Explanation) -> str:
    """Returns the size of the transfer in words; its range if it differs between replications."""
    known = sorted({path.bytes for path in found.paths})
    return counted(known[0], "byte") if len(known) == 1 else f"{known[0]} to {known[-1]} bytes"


def incomplete(found: Explanation, where: str = "") -> str | None:
    broken = [path for path in found.paths if not path.complete]
    if not broken:
        return None
    what = "the run" if len(found.paths) == 1 else f"{len(broken)} of {len(found.paths)} runs"
    of = f" of {where}" if where else ""
    text = f"the transfer was not complete at the end of {what}{of}"
    return f"{text}; the explanation covers only the time until the run ended"


def incomplete_note(found: Explanation, where: str = "") -> str | None:
    text = incomplete(found, where)
    return text and f"note: {text}"
