"""Units of work: replications to be simulated, in a thread here or on a cluster."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nodeb import _core
from nodeb.inputs.columns import RecordingColumns
from nodeb.inputs.scenario import Scenario

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source:
    """Scenario as text, which can be sent to a worker and is parsed when it is first simulated."""

    def __init__(
        self, text: str, label: str | None, recorded: Sequence[RecordingColumns] = ()
    ) -> None:
        self.text, self.label, self.recorded = text, label, tuple(recorded)
        self._compiled: _core.CompiledScenario | None = None

    @classmethod
    def of(cls, scenario: Scenario) -> Source:
        """Wraps a scenario that was already parsed; its text is created only when it is pickled."""
        source = cls("", None, scenario.recording_columns())
        source._compiled = scenario.compiled()
        return source

    def compiled(self) -> _core.CompiledScenario:
        # Concurrent threads may parse the text twice, which does no harm.
        if self._compiled is None:
            recorded = [one.arrays() for one in self.recorded]
            self._compiled = _core.CompiledScenario.from_json(self.text, self.label, recorded)
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        text = self.text or self.compiled().to_bare_json()
        return {**self.__dict__, "text": text, "_compiled": None}


class Work(ABC, Generic[T_co]):
    """Simulates replications of one scenario."""

    @abstractmethod
    def replicate(self, seed: int, runs: range, control: _core.Control) -> T_co:
        """Simulates the replications `runs`."""


@dataclass(frozen=True)
class Failure:
    """A failed replication: its number and the error."""

    run: int
    error: Exception


@dataclass(frozen=True)
class Simulated(Generic[T]):
    """Results of a batch of replications, up to the first failure."""

    parts: list[tuple[range, T]]
    time_s: float = 0.0
    """Duration of the simulation, s; 0 if the batch failed."""
    failed: Failure | None = None
    """First failure, after which no replication was simulated."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """Batch of replications that a worker simulates in one call."""

    work: Work[T]
    seed: int
    runs: range

    def __call__(self, control: _core.Control) -> Simulated[T]:
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
        """Simulates a failed batch again, one replication at a time, to find the one that failed.

        The results before it are kept, because they may be enough.
        """
        parts = []
        for run in self.runs:
            found = Task(self.work, self.seed, range(run, run + 1))(control)
            parts += found.parts
            if found.failed is not None:
                return Simulated(parts, failed=found.failed)
        return Simulated(parts)
