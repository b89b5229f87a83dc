"""Answer of `nodeb explain`: where the time of a transfer went, and which change would save most.

If changes were simulated, the headline names the largest gain that differs from 0 significantly. If
no gain does, it names the largest gain and says that it is not significant; for a single pair, it
names the largest gain without a test. If no change saves time, it says that. The headline also
names the change with which most transfers finish, if more finish than without that change.

Without simulated changes, the headline names the causes that take half of the time, and the change
that targets most of the time. If the largest cause is an outage, or no change targets a tenth of
the time, it names the remedy of the largest cause instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nodeb.answer.answer import ONE_REPLICATION, SURVIVORS, Answer, Mark, Rows
from nodeb.answer.numbers import Shown, number, shown
from nodeb.answer.words import counted, joined, sentence
from nodeb.base.units import in_s
from nodeb.explanation.causes import Explanation
from nodeb.explanation.text import best_change, incomplete, sizes
from nodeb.results.causes import cause_bars, cause_name, cause_percent, main_causes

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.explanation.what_if import WhatIf

__all__ = ["answer"]

UNDECIDED = "?"
ON_PATH = (
    "Time on the path is the time that a change targets: it would save all of it if TCP did "
    "everything else at the same times."
)
PARTIAL = (
    "Only of pairs of replications in which the transfer finishes with the change and without; `at "
    "least`: only of those in which it finishes only with the change, up to the end of the run."
)


def answer(
    found: Explanation,
    tried: Sequence[WhatIf] | None = None,
    arguments: Arguments | None = None,
    beside: Mapping[str, Explanation] | None = None,
) -> Answer:
    known = [one for one in tried or () if one.won.n]
    helps = [one for one in known if not _is_nothing(one)]
    return Answer(
        command="nodeb explain",
        subject=found.scenario.name or "",
        headline=" ".join(_headline(found, tried)),
        lead=_lead(found),
        picture=cause_bars(found, "where the time went"),
        table=savings(helps) if helps else None,
        marks=list(_marks(found, helps)),
        notes=list(_notes(found, tried, known, helps, arguments)),
        everything=[
            every_cause(found),
            *(verdicts(tried) if tried else ()),
            *(every_cause(one, whose) for whose, one in (beside or {}).items()),
        ],
        folded="all causes, with intervals" if arguments else "",
    )


def _headline(found: Explanation, tried: Sequence[WhatIf] | None) -> Iterator[str]:
    latest_s = math.inf if found.what else in_s(found.scenario.duration)
    whole = found.time.within(0.0, latest_s)
    time = shown(whole.mean, whole.low, whole.high, "s").with_level
    open_ = sum(not path.complete for path in found.paths)
    if open_:
        runs = f"{open_} of {counted(len(found.paths), 'replication')}"
        least = number(whole.mean, "s")
        yield f"{_whose(found)} had not finished at the end of {runs}; it takes at least {least}."
    else:
        yield f"{_whose(found)} took {time}."
    if not tried:
        yield from main_causes(found)
    yield best_change(found, tried or ())


def _whose(found: Explanation) -> str:
    """Returns the transfer with its user and size, such as `user 0's first transfer (1 byte)`."""
    if found.what:
        return found.what
    which = "first transfer" if found.transfer == 0 else f"transfer {found.transfer}"
    return f"user {found.user}'s {which} ({sizes(found)})"


def _lead(found: Explanation) -> str:
    runs = counted(len(found.paths), "replication")
    return f"Mean of {runs}; every nanosecond belongs to one cause."


def _is_nothing(one: WhatIf) -> bool:
    """Returns true if the mean saving of a change is exactly 0, or its interval is only 0."""
    return one.won.low == one.won.high == 0 or one.won.mean == 0


def _is_undecided(one: WhatIf) -> bool:
    """Returns true if the interval of a change's saving contains 0; false without an interval."""
    return one.won.low <= 0 <= one.won.high


def savings(tried: Sequence[WhatIf]) -> Rows:
    """The columns are its name, the simulated saving with its interval, and the time on the
    critical path that the change targets. That time is empty if it is unknown."""
    rows: list[list[str | Shown]] = []
    for one in tried:
        won = one.won
        found = shown(won.mean, won.low, won.high, "s")
        least = "" if one.pairs.both else "at least "
        mark = SURVIVORS if not one.complete else UNDECIDED if _is_undecided(one) else ""
        saved = Shown(f"{least}{found.number}", f"{found.unit} {mark}".strip())
        path = "" if math.isnan(one.path_s) else shown(one.path_s, unit="s")
        rows.append([one.name, saved, found.interval, path])
    return Rows(("what would help", "saves", "95 % interval", "time on the path"), rows)


def verdicts(tried: Sequence[WhatIf]) -> Iterator[Rows]:
    title = "Simulated effect of each change, compared with the time on the path that it targets"
    yield Rows(("change", "simulated"), [[one.name, one.outcome] for one in tried], title)


def every_cause(found: Explanation, whose: str = "") -> Rows:
    """Returns a table of all causes of a transfer's time, with intervals, by decreasing time."""
    rows: list[list[str | Shown]] = []
    for row in found.table:
        cell = shown(row["mean_s"], row["ci95_low"], row["ci95_high"], "s")
        packets = f"{row['packets']:.3g}"
        percent = cause_percent(found, row["cause"])
        rows.append([cause_name(row["cause"]), cell, cell.interval, percent, packets])
    title = f"All causes of {whose}" if whose else "All causes"
    return Rows(("cause", "time", "95 % interval", "share", "packets"), rows, title)


def _marks(found: Explanation, helps: Sequence[WhatIf]) -> Iterator[Mark]:
    open_ = incomplete(found)
    if open_:
        yield Mark("!", f"{sentence(open_)}.")
    if not all(one.complete for one in helps):
        yield Mark(SURVIVORS, PARTIAL)
    if any(one.complete and _is_undecided(one) for one in helps):
        yield Mark(UNDECIDED, "It may save nothing: its interval contains 0.")


def _notes(
    found: Explanation,
    tried: Sequence[WhatIf] | None,
    known: Sequence[WhatIf],
    helps: Sequence[WhatIf],
    arguments: Arguments | None,
) -> Iterator[str]:
    for one in helps:
        if one.why:
            yield f"With {one.name}, {one.why}."
        if not one.complete and one.pairs.summary:
            yield f"{sentence(one.name)}: {one.pairs.summary}."
    if any(math.isfinite(one.path_s) for one in helps):
        yield ON_PATH
    idle = [one.name for one in known if one not in helps]
    if idle:
        yield f"No effect: {joined(idle)}."
    unknown: dict[str, list[str]] = {}
    for one in tried or ():
        if not one.won.n:
            unknown.setdefault(one.outcome, []).append(one.name)
    for outcome, names in unknown.items():
        yield f"{sentence(joined(names))}: {outcome}."
    runs = counted(len(found.paths), "pair" if tried else "replication")
    of = " of replications" if tried else ""
    adds = " The savings do not add up." if helps else ""
    yield f"{runs}{of}, seed {found.scenario.seed}.{adds}"
    if len(found.paths) == 1 and not found.what:
        yield ONE_REPLICATION
    if found.what:
        return
    if arguments and tried is None:
        yield f"What would help, simulated: {arguments.command('explain', what_if=True)}"
    elif arguments:
        page = arguments.command("explain", what_if=True, out="why.html")
        yield f"The path moment by moment: {page}"
