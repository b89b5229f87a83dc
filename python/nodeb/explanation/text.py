"""Sentences of an explanation: what would help most, what was not complete, how much it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodeb.answer.numbers import number, shown
from nodeb.answer.words import counted
from nodeb.explanation.causes import Explanation
from nodeb.explanation.levers import levers

if TYPE_CHECKING:
    from nodeb.explanation.replications import Lost
    from nodeb.explanation.what_if import WhatIf

__all__ = [
    "help_most",
    "incomplete",
    "incomplete_note",
    "remedy",
    "sizes",
]

PATIENCE = "where nothing was lost, a retransmission timer that waits longer"
"""What helps where data are sent again although their ACK is only late."""
REMEDIES = {
    "application": "asking earlier, or writing without a pause",
    "handshake": "a connection that is open already, or a shorter round trip",
    "request": "a shorter way of the request, or a request that rides on the SYN",
    "server": "a faster server",
    "propagation": "a shorter way",
    "transmission": "a faster channel",
    "queue behind own data": "less of the connection's other data at the same time",
    "queue behind others": "fewer others on the link, or a queue that serves flows in turn",
    "waiting for the scheduler": "fewer others in the cell, or another scheduler",
    "segmentation": "a shorter TTI",
    "HARQ round trips": "fewer block errors, or a shorter round trip of HARQ",
    "reordering wait": "a shorter T1, or more transmissions of a block",
    "RLC retransmission": "fewer block errors, or repetition at the Node B",
    "channel set-up and release": "channels that are held longer, or set up sooner",
    "credits": "more room at the Node B, or more frequent credits",
    "handover": "a shorter interruption, or fewer handovers",
    "delayed ACK": "ACKs at once",
    "window: slow start": "a larger initial window, or a shorter round trip",
    "window: congestion avoidance": "a window that grows faster, or a shorter round trip",
    "window: receiver": "a larger receive window",
    "window: proxy": "a larger window of the proxy",
    "recovery": f"fewer losses, or repairing them nearer to the phone; {PATIENCE}",
    "timeout": f"losses that are noticed sooner; {PATIENCE}",
    "pacing": "a higher pace",
}
"""What makes a cause smaller."""
NOT_SERVED = "a better channel: nearer to the Node B, or less fading"
"""What makes the scheduler's wait smaller where nobody else was served meanwhile."""
ON_FACH = "a dedicated channel sooner: the FACH is shared, and signalling goes first"
"""What makes the wait on the FACH smaller: alone, a queue may be too short to be switched."""
FEWER = {
    "links": "no packet losses on links",
    "queues": "longer queues, or a smaller window",
    "radio": "blocks that are not given up",
    "marks": "queues that mark later",
}
"""What makes losses fewer, by what lost packets, or marked them."""
LEAST_SHARE = 0.1
"""The share of the time from which on what a change is aimed at is worth to be named first."""
NO_OPPORTUNITY = "another trace, as this one delivered nothing meanwhile"
"""The same on a recorded link."""
PLACED = ("transmission", "queue behind own data", "queue behind others")
"""Causes of which it matters at which link: a faster downlink is of no use to ACKs."""


def help_most(found: Explanation, tried: Sequence[WhatIf] = ()) -> str:
    """Returns what would help most: simulated where it was, else by time on the path."""
    if not found.causes:
        return "The transfer took no time."
    known = [one for one in tried if one.won.n]
    if known:
        return _largest_gain(known[0])
    lever = next(iter(levers(found)), None)
    if lever is None or lever.path_s < LEAST_SHARE * found.time.mean:
        return remedy(found)
    most = f"{number(lever.path_s, 's')} of {number(found.time.mean, 's')}"
    return f"Not simulated, the change that is aimed at most of it: {lever.name}, {most}."


def remedy(found: Explanation) -> str:
    """Returns what the cause that takes most asks for; it has one."""
    cause = found.causes[0]
    share = found.table["share"][0]
    where = f", most of it at: {found.place(cause)}" if cause in PLACED else ""
    about = f"{cause}, {100 * share:.0f} % of the time{where}"
    return f"What would help most: {_remedy(found, cause)} ({about})."


def _largest_gain(one: WhatIf) -> str:
    """Returns what is won most of all changes that were simulated."""
    if one.won.mean <= 0:
        return "Simulated: no change wins any time."
    won = shown(one.won.mean, one.won.low, one.won.high, "s")
    known = won.sure.removeprefix(won.value)
    if not one.pairs.both:
        return f"Simulated, largest gain: {one.name}, at least {won.sure}."
    whole = f"{won.value} of {number(one.baseline_s, 's')}"
    return f"Simulated, largest gain: {one.name}, {whole}{known}."


def _remedy(found: Explanation, cause: str) -> str:
    """What makes a cause of an explanation smaller."""
    lost = [path.lost for path in found.paths]
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
    """Returns what keeps the window from being cut by what cut it most."""
    most = max(FEWER, key=lambda reason: sum(getattr(one, reason) for one in lost))
    return f"{FEWER[most]}, which cut the window"


def sizes(found: Explanation) -> str:
    """How much the transfer is, which may differ between replications."""
    known = sorted({path.bytes for path in found.paths})
    return counted(known[0], "byte") if len(known) == 1 else f"{known[0]} to {known[-1]} bytes"


def incomplete(found: Explanation, where: str = "") -> str | None:
    """That the transfer did not end, of a scenario called so; None where it did."""
    broken = [path for path in found.paths if not path.complete]
    if not broken:
        return None
    what = "the run" if len(found.paths) == 1 else f"{len(broken)} of {len(found.paths)} runs"
    of = f" of {where}" if where else ""
    text = f"the transfer was not complete at the end of {what}{of}"
    return f"{text}; the explanation covers only the time until the run ended"


def incomplete_note(found: Explanation, where: str = "") -> str | None:
    """The same, as a note."""
    text = incomplete(found, where)
    return text and f"note: {text}"
