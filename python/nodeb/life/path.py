"""Critical paths of a user's transfers in the window of a packet timeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from nodeb import _core
from nodeb.base.units import NS_PER_S, in_ns
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import run_with_progress

if TYPE_CHECKING:
    from nodeb.life.life import About, Life

__all__ = ["MAX_TRANSFERS", "CriticalPath", "Span", "critical_path", "spans_of"]

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
    user = about.user
    if user is None:
        user = min(pc.unique(life.events["user"]).to_pylist(), default=0)
    found = CriticalPath(user)
    scenario = _cut(about)
    until = "run" if scenario is about.scenario else "window"
    try:
        found.note = _explained(found, _Transfers(scenario, about, user), about, until)
    except (NodebError, ValueError, RuntimeError, OSError) as error:  # The error becomes a note.
        which = "Later transfers" if found.transfers else f"The transfers of user {user}"
        found.note = f"{which} are not explained: {error}."
    return found


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


class _Transfers:
    """Transfers of a user; each is simulated and explained when it is first requested."""

    def __init__(self, scenario: Scenario, about: About, user: int) -> None:
        self._compiled, self._about, self._user = scenario.compiled(), about, user
        self._known: dict[int, dict[str, Any] | None] = {}

    def get(self, number: int) -> dict[str, Any] | None:
        """Returns the core's tables about a transfer, or None if the transfer does not begin."""
        if number not in self._known:
            self._known[number] = self._explained(number)
        return self._known[number]

    def _explained(self, number: int) -> dict[str, Any] | None:
        about = self._about

        def work(control: _core.Control) -> dict[str, Any]:
            return self._compiled.explain(about.seed, about.run, self._user, number, control)

        try:
            return run_with_progress(work, None)
        except ValueError as error:
            if "begun no transfer" in str(error):
                return None
            raise

    def is_before(self, number: int, time_ns: int) -> bool:
        """Returns true if transfer `number` begins, and ended at `time_ns` or before."""
        found = self.get(number)
        return found is not None and int(found["transfer"]["ended_ns"][0]) <= time_ns

    def first(self, begin_ns: int) -> int:
        """Returns the index of the first transfer that ended after `begin_ns`, by bisection.

        If there is no such transfer, it is the number of transfers.
        """
        if begin_ns == 0:
            return 0
        reach = 1
        while self.is_before(reach - 1, begin_ns):
            reach *= 2
        low, high = reach // 2, reach - 1
        while low < high:
            middle = (low + high) // 2
            if self.is_before(middle, begin_ns):
                low = middle + 1
            else:
                high = middle
        return low


def _explained(found: CriticalPath, transfers: _Transfers, about: About, until: str) -> str:
    """Adds the transfers in the window to `found`. Returns a note, as for `CriticalPath.note`.

    Args:
        found: critical paths of the user.
        transfers: source of the transfers.
        about: description of the timeline, with the window.
        until: word in the note for what the simulation ends with: `run`, or `window` if the
            scenario was shortened.
    """
    note, number = "", transfers.first(about.begin_ns)
    while (one := transfers.get(number)) is not None:
        begun = int(one["transfer"]["begun_ns"][0])
        if about.end_ns is not None and begun >= about.end_ns:
            break
        if len(found.transfers) == MAX_TRANSFERS:
            return f"Later transfers are not explained: {MAX_TRANSFERS} are the most."
        if not one["transfer"]["complete"][0]:
            note = f"Transfer {number} was not complete at the {until}'s end."
        found.transfers.append(number)
        found.spans += spans_of(one["spans"], number)
        number += 1
    return (
        note if found.transfers else f"User {found.user} has no transfer in this time to explain."
    )


def spans_of(columns: dict[str, Any], transfer: int) -> list[Span]:
    """Converts the core's columns of spans to the spans of the transfer with index `transfer`."""

    def texts(name: str) -> list[str]:
        codes, names = columns[name]
        return [names[code] for code in codes]

    times = columns["begin_ns"].tolist(), columns["end_ns"].tolist()
    about = columns["packet"].tolist(), columns["seq"].tolist()
    rows = zip(*times, texts("cause"), texts("place"), *about, strict=True)
    return [
        Span(begin, end, cause, place, packet, seq, transfer)
        for begin, end, cause, place, packet, seq in rows
    ]
