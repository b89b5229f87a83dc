"""What if a cause were smaller: the changed scenario is simulated, beside what the path says.

With everything else as it was, a cause removed wins at most the time that it has on the path. TCP
reacts, so that what is simulated can be more or less; where they part, the causes that have grown
or shrunk meanwhile say why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodeb.errors import InputError, ScenarioError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.differences import Part, difference
from nodeb.explanation.replications import paths
from nodeb.replication.pool import check_jobs
from nodeb.stats import Interval

if TYPE_CHECKING:
    from nodeb.replication.pool import Jobs
    from nodeb.terminal.progress import ProgressCallback

__all__ = ["CHANGES", "WhatIf", "what_if"]

Data = dict[str, Any]
LARGE = 10_000
"""Segments of a window, and packets of a queue, that never fill."""


@dataclass(frozen=True)
class Change:
    """Something that takes causes away, or halves them."""

    name: str
    causes: tuple[str, ...]
    """What it is aimed at."""
    factor: float
    """The share of these that it takes away."""
    apply: Callable[[Data], bool]
    """Changes a scenario's data; whether there was anything to change."""
    only_steps: tuple[str, ...] = ()
    """What was happening meanwhile, where that counts and not the causes."""


@dataclass(frozen=True)
class WhatIf:
    """What a change wins."""

    name: str
    path_s: float
    """What the path says, s, at most, with all else as it was."""
    gain: Interval
    """What the simulation says, s: baseline less changed, over the pairs."""
    parts: list[Part]
    """What the difference is made of."""
    causes: tuple[str, ...]
    """What the change was aimed at."""

    @property
    def told(self) -> str:
        """How the two agree, and why they part."""
        if self.gain.low == self.gain.high == 0:
            return "as the path says" if self.path_s == 0 else "it changes nothing here"
        slack = max(0.02 * abs(self.path_s), 1e-6)
        near = self.gain.low - slack <= self.path_s <= self.gain.high + slack
        if near or abs(self.gain.mean - self.path_s) <= slack:
            return "as the path says"
        less = self.gain.mean < self.path_s
        moved = [p for p in self.parts if p.cause and p.cause not in self.causes]
        found = [p for p in moved if (p.difference.mean > 0) == less and p.difference.mean]
        why = max(found, key=lambda p: abs(p.difference.mean), default=None)
        if why is None:
            return "less: it goes only in part" if less else "more: it goes twice"
        way = "grows" if less else "shrinks"
        return (
            f"{'less' if less else 'more'}: {why.cause} {way} by {abs(why.difference.mean):.3g} s"
        )


def _tcps(data: Data) -> Iterator[Data]:
    """The parameters of every TCP in a scenario."""
    for holder in (data, *data["users"], *(data.get("proxy") or {}).values()):
        yield from (holder.get("tcp") or {}).values()


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


def _links(data: Data) -> Iterator[Data]:
    """Every link of a scenario."""
    core = data.get("core") or []
    yield from (data["wired"], data["uplink"], *(core if isinstance(core, list) else [core]))
    yield from (radio for name, radio in data["radio"].items() if name == "link")


def _radio(data: Data) -> Data:
    radio: Data
    (radio,) = data["radio"].values()
    return radio


def _acks_at_once(data: Data) -> bool:
    return _set_all(_tcps(data), delayed_ack="0 s")


def _no_block_errors(data: Data) -> bool:
    radio = _radio(data)
    model = radio.pop("errors", None) is not None
    return _set(radio, bler=0.0) or model


def _no_loss(data: Data) -> bool:
    return _set_all(_links(data), loss=0.0, ack_loss=0.0, drop_list=[])


def _large_queues(data: Data) -> bool:
    queues = _set_all(_links(data), queue={"drop_tail": {"limit": LARGE}})
    return _set(_radio(data), buffer=LARGE) or queues


def _large_window(data: Data) -> bool:
    for tcp in _tcps(data):
        tcp["initial_window"] = LARGE  # where it is absent the era says what it is
    return True


def _large_receive_window(data: Data) -> bool:
    large = {"max_window": LARGE, "receive_buffer": "1 GB", "initial_receive_buffer": "1 GB"}
    return _set_all(_tcps(data), **large)


def _half(text: str) -> str:
    number, unit = text.split()
    return f"{float(number) / 2:.12g} {unit}"


def _half_the_way(data: Data) -> bool:
    changed = False
    for link in _links(data):
        delay = link.get("delay")
        if delay and not delay.startswith("0 "):
            link["delay"], changed = _half(delay), True
    return changed


CHANGES = (
    Change("ACKs at once", ("delayed ACK",), 1.0, _acks_at_once),
    Change(
        "no block errors",
        ("HARQ round trips", "RLC retransmission", "reordering wait"),
        1.0,
        _no_block_errors,
    ),
    Change("no packet losses on links", ("recovery", "timeout"), 1.0, _no_loss),
    Change("queues that never fill", ("recovery", "timeout"), 1.0, _large_queues),
    Change("a window that is open at once", ("window: slow start",), 1.0, _large_window),
    Change("a large receive window", ("window: receiver",), 1.0, _large_receive_window),
    Change("half the propagation delays", (), 0.5, _half_the_way, ("propagates",)),
)
"""What is tried."""


def what_if(
    found: Explanation, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> list[WhatIf]:
    """Simulates every change that the scenario allows, in pairs with its own replications.

    Raises:
        RunError: a replication failed.
    """
    tried = []
    for place, change in enumerate(CHANGES):
        other = _changed(found, change, jobs)
        if other is not None:
            parts = difference(found, other)
            whole = parts[-1].difference
            gain = Interval(
                0.0 - whole.mean, 0.0 - whole.high, 0.0 - whole.low, whole.stdev, whole.n
            )
            tried.append(WhatIf(change.name, _path_s(found, change), gain, parts, change.causes))
        if progress is not None:
            progress((place + 1) / len(CHANGES), change.name)
    return tried


def _changed(found: Explanation, change: Change, jobs: Jobs | None) -> Explanation | None:
    """The explanation of a changed scenario; None where there is nothing to change."""
    data = found.scenario.to_dict()
    if not change.apply(data):
        return None
    try:
        scenario = type(found.scenario).from_dict(data).resolved()
    except (InputError, ScenarioError):
        return None
    scenario.runs = len(found.paths)
    workers = check_jobs(jobs)
    own = paths(scenario, found.user, found.transfer, workers, None)
    return Explanation(scenario, found.user, found.transfer, own)


def _path_s(found: Explanation, change: Change) -> float:
    """What the path says that a change wins at most, s."""
    if change.only_steps:
        return change.factor * sum(found.step_s(step) for step in change.only_steps)
    return change.factor * sum(float(found.seconds(cause).mean()) for cause in change.causes)
