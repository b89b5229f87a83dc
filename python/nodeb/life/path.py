"""Critical paths of a user's transfers in the window of a packet timeline."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from nodeb.base.units import NS_PER_S, in_ns
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import run_with_progress

if TYPE_CHECKING:
    from nodeb.life.life import About, Life

MAX_TRANSFERS = 20
"""Maximum number of explained transfers: each one is simulated again, up to its end."""


@dataclass(frozen=True)
class Span:
    """Part of a transfer's critical path: a period with a single cause of delay, at one place."""

    begin: int
    """Begin of the span, ns."""
    end: int
    """End of the span, ns."""
    cause: str
    """Cause of the delay in the span."""
    place: str
    """Place of the delay, such as a link."""
    packet: int
    """Number of the packet that the span belongs to, from 1; 0 if none."""
    seq: int
    """Sequence number of that packet; for an ACK, the number acknowledged. 0 without a packet."""
    transfer: int = 0
    """Index, from 0, of the user's transfer whose critical path has the span."""


@dataclass
class CriticalPath:
    """Critical paths of a user's transfers as spans, with a note on unexplained transfers."""

    user: int
    """Index of the user whose transfers are explained."""
    spans: list[Span] = field(default_factory=list)
    """Spans of all transfers; those of a transfer follow each other in time without gaps."""
    transfers: list[int] = field(default_factory=list)
    """Indices of the explained transfers, in increasing order."""
    note: str = ""
    """Note on unexplained or incomplete transfers, with the reason; empty if there are none."""
    what: str = "transfer"
    """Word for what is explained: `transfer`, or `connection` (TCP) in a recording."""

    @property
    def summary(self) -> str:
        """Explained and unexplained transfers, in one or more sentences."""
        if not self.transfers:
            return self.note
        return f"On the page: {self._title}. {self.note}".strip()

    @property
    def _title(self) -> str:
        """Description of the explained transfers; `transfers` must not be empty."""
        first, last = self.transfers[0], self.transfers[-1]
        what = self.what
        which = f"{what} {first}" if first == last else f"{what}s {first} to {last}"
        return f"the critical path of user {self.user}'s {which}"

    def __str__(self) -> str:
        if not self.transfers:
            return self.note
        return f"{self._title}: {len(self.spans)} spans. {self.note}".strip()

    def __repr__(self) -> str:
        return f"<{self}>"  # The spans are omitted: there may be a million.


def critical_path(life: Life) -> CriticalPath:
    """Explains one user's transfers in the window.

    The user is the only one in the timeline, or else the first user with events. A transfer that is
    not complete at the end of the window is explained up to there. If an error occurs, the
    remaining transfers are omitted and the note has the reason; no exception is raised.
    """
    about = life.about
    users = np.asarray(life.events["user"])
    first = int(users.min()) if len(users) else 0
    path = CriticalPath(first if about.user is None else about.user)
    try:
        path.note = _explain(path, about)
    except (NodebError, ValueError, RuntimeError, OSError) as error:
        which = "Later transfers" if path.transfers else f"The transfers of user {path.user}"
        path.note = f"{which} are not explained: {error}."
    return path


def _explain(path: CriticalPath, about: About) -> str:
    """Adds the transfers in the window to `path`. Returns its note."""
    scenario = _cut(about)
    compiled = scenario.compiled()

    @cache
    def transfer(number: int) -> dict[str, Any] | None:
        """Returns the core's tables about a transfer, or None if the transfer does not begin."""
        arguments = about.seed, about.run, path.user, number
        try:
            return run_with_progress(lambda control: compiled.explain(*arguments, control), None)
        except ValueError as error:
            if "begun no transfer" in str(error):
                return None
            raise

    def is_later(number: int) -> bool:
        tables = transfer(number)
        return tables is None or int(tables["transfer"]["ended_ns"][0]) > about.begin_ns

    # The first transfer that ended after the begin of the window, by bisection.
    reach = 1
    while about.begin_ns and not is_later(reach - 1):
        reach *= 2
    number = bisect_left(range(reach), True, reach // 2, reach - 1, key=is_later)
    note = ""
    while (tables := transfer(number)) is not None:
        row = {name: column[0] for name, column in tables["transfer"].items()}
        if about.end_ns is not None and row["begun_ns"] >= about.end_ns:
            break
        if len(path.transfers) == MAX_TRANSFERS:
            return f"Later transfers are not explained: {MAX_TRANSFERS} are the most."
        if not row["complete"]:
            end = "run" if scenario is about.scenario else "window"
            note = f"Transfer {number} was not complete at the {end}'s end."
        path.transfers.append(number)
        path.spans += spans_of(tables["spans"], number)
        number += 1
    return note if path.transfers else f"User {path.user} has no transfer in this time to explain."


def _cut(about: About) -> Scenario:
    """Returns the scenario with its duration shortened to the end of the window.

    Returns the unchanged scenario if the window ends with the run, or is too short for a run.
    """
    if about.end_ns is None or about.end_ns >= in_ns(about.scenario.duration):
        return about.scenario
    try:
        return about.scenario.with_(duration=f"{about.end_ns / NS_PER_S:.9f} s")
    except NodebError:  # The window may be too short for a run, for example below the warm-up.
        return about.scenario


def spans_of(columns: dict[str, Any], transfer: int) -> list[Span]:
    """Converts the core's columns of spans to the spans of the transfer with index `transfer`."""
    begins, ends, packets, seqs = (
        columns[name].tolist() for name in ("begin_ns", "end_ns", "packet", "seq")
    )
    causes, places = (
        [names[code] for code in codes] for codes, names in (columns["cause"], columns["place"])
    )
    columns_of_span = begins, ends, causes, places, packets, seqs, repeat(transfer, len(begins))
    return [Span(*row) for row in zip(*columns_of_span, strict=True)]
