"""The critical paths of a user's transfers in the window of a life, from the same replication."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from nodeb import _core
from nodeb.base.units import NS_PER_S, in_ns
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.threaded import run_with_progress

if TYPE_CHECKING:
    from nodeb.life.life import About, Life

__all__ = ["MAX_TRANSFERS", "CriticalPath", "Span", "critical_path", "spans_of"]

MAX_TRANSFERS = 20
"""Transfers that are explained at most: each is one more simulation, as far as it goes."""


@dataclass(frozen=True)
class Span:
    """A span of time that has one cause."""

    begin: int
    """When it begins, ns."""
    end: int
    """When it ends, ns."""
    cause: str
    """What was waited for."""
    place: str
    """Where."""
    packet: int
    """Number of the packet that waited, or was waited for."""
    seq: int
    """Its sequence number."""
    transfer: int = 0
    """Number of the transfer that took this time."""


@dataclass
class CriticalPath:
    """Why transfers took as long as they did, span by span, and what is to be said of it."""

    user: int
    """Whose transfers."""
    spans: list[Span] = field(default_factory=list)
    """Those of all transfers, in order; within each they follow each other without gaps."""
    transfers: list[int] = field(default_factory=list)
    """Numbers of the transfers that are explained."""
    note: str = ""
    """What is not explained, and why."""
    what: str = "transfer"
    """What the numbers are of: of a real phone, TCP connections of its flight."""

    @property
    def told(self) -> str:
        """What is explained and what is not, in a sentence or two."""
        if not self.transfers:
            return self.note
        return f"On the page: {self._title}. {self.note}".strip()

    @property
    def _title(self) -> str:
        """Of which transfers it is the path; there are some."""
        first, last = self.transfers[0], self.transfers[-1]
        what = self.what
        which = f"{what} {first}" if first == last else f"{what}s {first} to {last}"
        return f"the critical path of user {self.user}'s {which}"

    def __str__(self) -> str:
        if not self.transfers:
            return self.note
        return f"{self._title}: {len(self.spans)} spans. {self.note}".strip()

    def __repr__(self) -> str:
        return f"<{self}>"  # not span by span, of which there may be a million


def critical_path(life: Life) -> CriticalPath:
    """Explains the transfers of the user who was followed, or of the first one, in the window.

    A transfer that is not complete when the window ends is explained up to there. What cannot be
    explained is left out, and the note says so: this never fails.
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
    except (NodebError, ValueError, RuntimeError, OSError) as error:  # OSError: too many records
        which = "Later transfers" if found.transfers else f"The transfers of user {user}"
        found.note = f"{which} are not explained: {error}."
    return found


def _cut(about: About) -> Scenario:
    """The scenario until the window ends: the path beyond is not shown."""
    if about.end_ns is None or about.end_ns >= in_ns(about.scenario.duration):
        return about.scenario
    try:
        return about.scenario.with_(duration=f"{about.end_ns / NS_PER_S:.9f} s")
    except NodebError:  # such as a warm-up that lasts longer
        return about.scenario


class _Transfers:
    """Transfers of a user, simulated and explained when they are asked for."""

    def __init__(self, scenario: Scenario, about: About, user: int) -> None:
        self._compiled, self._about, self._user = scenario.compiled(), about, user
        self._known: dict[int, dict[str, Any] | None] = {}

    def get(self, number: int) -> dict[str, Any] | None:
        """A transfer and its spans as the core gives them; None where it does not begin."""
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
        """Whether a transfer is over by then."""
        found = self.get(number)
        return found is not None and int(found["transfer"]["ended_ns"][0]) <= time_ns

    def first(self, begin_ns: int) -> int:
        """The first one that is not over when the window begins: they end in their order."""
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
    """Puts the transfers in the window on the path; what is to be said of the others.

    `until` says what ends there: the run, or the window before it.
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
    """The spans of a transfer as the core gives them."""

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
