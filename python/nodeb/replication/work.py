"""What replications of a scenario are made by, wherever that is: in a thread here, or far away."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nodeb import _core
from nodeb.inputs.columns import RecordingColumns
from nodeb.inputs.scenario import Scenario

__all__ = ["Failure", "Simulated", "Source", "Task", "Work"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source:
    """A scenario as text, which can be sent; read when it is first simulated.

    Args:
        text: the scenario, as JSON.
        label: what messages call it.
        recorded: what it has of recordings.
    """

    def __init__(
        self, text: str, label: str | None, recorded: Sequence[RecordingColumns] = ()
    ) -> None:
        self.text, self.label, self.recorded = text, label, tuple(recorded)
        self._compiled: _core.CompiledScenario | None = None

    @classmethod
    def of(cls, scenario: Scenario) -> Source:
        """A scenario that was read already; its text is made when it is sent."""
        source = cls("", None, scenario.recording_columns())
        source._compiled = scenario.compiled()
        return source

    def compiled(self) -> _core.CompiledScenario:
        """The scenario as the core has it.

        Raises:
            ScenarioError: it is wrong.
        """
        if self._compiled is None:  # threads that come together may read it twice
            recorded = [one.arrays() for one in self.recorded]
            self._compiled = _core.CompiledScenario.from_json(self.text, self.label, recorded)
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        text = self.text or self.compiled().to_bare_json()
        return {**self.__dict__, "text": text, "_compiled": None}


class Work(ABC, Generic[T_co]):
    """Makes replications of one scenario. What it holds can be pickled."""

    @abstractmethod
    def replicate(self, seed: int, runs: range, control: _core.Control) -> T_co:
        """Simulates replications that go together; what is kept of them."""


@dataclass(frozen=True)
class Failure:
    """A replication that failed."""

    run: int
    error: Exception


@dataclass(frozen=True)
class Simulated(Generic[T]):
    """What came of replications that went together."""

    parts: list[tuple[range, T]]
    time_s: float = 0.0
    """How long they took."""
    failed: Failure | None = None
    """The first that failed, after which none was simulated."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """Replications that go together."""

    work: Work[T]
    seed: int
    runs: range

    def __call__(self, control: _core.Control) -> Simulated[T]:
        """Simulates them.

        Raises:
            Cancelled: through `control`.
        """
        begin = time.perf_counter()
        try:
            found = self.work.replicate(self.seed, self.runs, control)
        except _core.Cancelled:
            raise
        except Exception as error:
            if len(self.runs) == 1:
                return Simulated([], failed=Failure(self.runs.start, error))
            return self._one_by_one(control)
        return Simulated([(self.runs, found)], time.perf_counter() - begin)

    def _one_by_one(self, control: _core.Control) -> Simulated[T]:
        """Again, to find which failed: those before it may be enough."""
        parts = []
        for run in self.runs:
            found = Task(self.work, self.seed, range(run, run + 1))(control)
            parts += found.parts
            if found.failed is not None:
                return Simulated(parts, failed=found.failed)
        return Simulated(parts)
