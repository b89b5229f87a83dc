"""A scenario: read from a file or built in code, changed, run."""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.errors import InputError, Interrupted, RunError, ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.columns import Taken, put_back, take_out
from nodeb.inputs.parts import Part
from nodeb.replication.capture import Capture, CapturedExperiment
from nodeb.replication.runner import check_jobs
from nodeb.results.provenance import Provenance, utc_now
from nodeb.results.result import Result
from nodeb.scenario_types import ScenarioFields
from nodeb.stats import Precision, Stop
from nodeb.storage.bounded import read_bytes
from nodeb.terminal.progress import ProgressCallback, progress_bar

__all__ = ["Scenario", "load"]

MOST_BYTES = 64 << 20
"""What a scenario file may have."""
LARGEST_SEED = 2**63 - 1
"""What a whole number of a scenario file can hold."""

P = ParamSpec("P")
T = TypeVar("T")


class Scenario(ScenarioFields):
    """A server, a wired network, a radio access, phones and their traffic.

    The fields are those of `nodeb.scenario_types.ScenarioFields`. A scenario built in code is
    checked when it is resolved, which `run` does:

        Scenario(radio=HsDsch(channels=3), users=[User(traffic=Ftp(size="50 kB"))]).run()
    """

    __slots__ = ()

    def resolved(self) -> Self:
        """A copy with every default filled in.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        data = self._data()
        return self._filled(_compiled(data), take_out(data))

    def with_(self, **changes: Any) -> Self:
        """A copy with changes, resolved.

        Args:
            changes: values by dotted key: `s.with_(**{"wired.delay": "50 ms", "runs": 20})`.
                None takes a key away, back to its default.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        data = self._data()
        for key in [key for key, value in changes.items() if value is None]:
            _remove(data, key.split("."))
        overrides = [
            f"{key}={toml_value(value)}" for key, value in changes.items() if value is not None
        ]
        changed = core_call(_compiled(data).with_overrides, overrides)
        return self._filled(changed, take_out(data))

    def _data(self) -> dict[str, Any]:
        """This scenario as plain data, but for the columns of recordings."""
        return self.encoded(lambda column: column)

    def _filled(self, compiled: _core.CompiledScenario, taken: list[Taken]) -> Self:
        """The scenario that the core has, with the columns that it keeps apart."""
        return type(self).from_dict(put_back(json.loads(compiled.to_bare_json()), taken))

    def cell_map(self, side: int = 101) -> dict[str, NDArray[np.float64]]:
        """Mean SNR in the cell, in dB before despreading: one path, no shadowing, no fading.

        Args:
            side: places along each side of the map.

        Returns:
            `axis_m`, the places along an axis, m from the Node B; `snr_db`, a row for each place
            from the south, NaN outside the cell; `sites_m`, east and north of each Node B served.

        Raises:
            ScenarioError: the radio is not `hsdpa`, or the scenario is wrong.
        """
        found = core_call(_core.cell_map, self.compiled().to_json(), side)
        shape = {"snr_db": (-1, len(found["axis_m"])), "sites_m": (-1, 2)}
        return {name: values.reshape(shape.get(name, -1)) for name, values in found.items()}

    def to_toml(self) -> str:
        """The resolved scenario as the text of a scenario file.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return core_call(self.compiled().to_toml)

    def run(
        self,
        runs: int | None = None,
        precision: float | None = None,
        jobs: int | None = None,
        seed: int | None = None,
        progress: ProgressCallback | bool | None = None,
        pcap: str | os.PathLike[str] | None = None,
        snap_length: int | None = None,
        pcap_at: Sequence[str] = (),
    ) -> Result:
        """Simulates replications; the same scenario and seed give the same tables for any `jobs`.

        Args:
            runs: number of replications; None takes the scenario's, and its `precision`.
            precision: relative 95 % half-width of the mean application bit rate to reach, with at
                least the scenario's `runs` and at most its `max_runs` replications.
            jobs: replications simulated at a time; None takes one per processor.
            seed: seed of the random streams; None takes the scenario's.
            progress: called with the fraction done and a few words; True shows a bar on stderr.
            pcap: the packets of the first replication go to this pcapng file; see `capture`.
            snap_length: bytes kept of each packet; None keeps the headers.
            pcap_at: interfaces whose packets are kept, of `server`, `phone` and `proxy`; empty for
                all.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense.
            OutputError: the capture cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; its `result` holds the replications that had finished.
        """
        if progress is True:
            with progress_bar(self.name) as bar:
                return self.run(runs, precision, jobs, seed, bar, pcap, snap_length, pcap_at)
        planned = self.planned(runs, precision, seed)
        rule = planned.stopping_rule()
        workers = check_jobs(jobs)
        experiment = CapturedExperiment(
            planned.compiled(),
            planned.seed,
            rule,
            workers,
            progress=progress or None,
            capture=self._capture(pcap, snap_length, pcap_at),
        )
        started, begin = utc_now(), time.perf_counter()

        def result(stop: Stop, reached: bool | None) -> Result:
            about = Provenance.now(
                seed=planned.seed,
                runs=experiment.replications,
                stopping=stop.reason,
                precision_reached=reached,
                wall_time_s=round(time.perf_counter() - begin, 6),
                jobs=workers,
                started=started,
            )
            return Result.from_replications(planned, experiment.finished, about)

        sequential = isinstance(rule, Precision)
        try:
            stop = experiment.run()
        except KeyboardInterrupt:
            n = experiment.replications
            text = f"interrupted after {n} of at most {experiment.limit} replications"
            partial = result(Stop(n, False, text), False if sequential else None) if n else None
            raise Interrupted(text, partial) from None
        return result(stop, stop.reached if sequential else None)

    def capture(
        self,
        path: str | os.PathLike[str],
        snap_length: int | None = None,
        seed: int | None = None,
        at: Sequence[str] = (),
    ) -> Result:
        """Simulates the first replication and writes its packets, as both ends see them.

        The file is in pcapng format, which Wireshark opens: valid IPv4 and TCP packets on the
        interfaces `server` and `phone`, and `proxy` where there is one, with the simulated time in
        nanoseconds.

        Args:
            path: the file; one that exists is replaced.
            snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
            seed: seed of the random streams; None takes the scenario's.
            at: interfaces whose packets are kept; empty for all.

        Returns:
            The result of that one replication.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense.
            OutputError: the file cannot be written.
            RunError: the replication failed; when the disk is full, the file keeps the packets
                so far.
        """
        return self.run(runs=1, jobs=1, seed=seed, pcap=path, snap_length=snap_length, pcap_at=at)

    def _capture(
        self, pcap: str | os.PathLike[str] | None, snap_length: int | None, at: Sequence[str]
    ) -> Capture | None:
        if pcap is None:
            return None
        if "proxy" in at and self.proxy is None:
            raise InputError("this scenario has no proxy to capture at (allowed: server, phone)")
        return Capture(Path(pcap), snap_length, tuple(at))

    def planned(
        self, runs: int | None = None, precision: float | None = None, seed: int | None = None
    ) -> Self:
        """A resolved copy with these in place of its own; see `run` for what they mean.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense, or both runs and precision are given.
        """
        if runs is not None and precision is not None:
            raise InputError("runs and precision contradict each other; give one of the two")
        plan = self.resolved()
        if (runs, precision, seed) == (None, None, None):
            plan.stopping_rule()
            return plan
        if runs is not None:
            if runs < 1:
                raise InputError(f"runs is {runs}; at least one replication is needed")
            plan.runs, plan.precision = runs, None
        if precision is not None:
            if not 0 < precision < 1:
                raise InputError(
                    f"precision is {precision}; it is a share of the mean between 0 and 1, "
                    "such as 0.02 for 2 %"
                )
            plan.precision = precision
        if seed is not None:
            if not 0 <= seed <= LARGEST_SEED:
                raise InputError(f"seed is {seed}; a seed is a whole number from 0 to 2^63 - 1")
            plan.seed = seed
        plan.stopping_rule()
        return plan.resolved()

    def warnings(self) -> list[str]:
        """What is allowed and still doubtful, each as `key: what will happen`.

        Raises:
            ScenarioError: the scenario is wrong.
        """
        return self.compiled().warnings()

    def stopping_rule(self) -> int | Precision:
        """How many replications a resolved scenario asks for: a number, or the rule that decides.

        Raises:
            InputError: the precision, or the numbers of runs around it, make no sense.
        """
        if self.precision is None:
            return self.runs
        return Precision(self.precision, max(2, min(self.runs, self.max_runs)), self.max_runs)

    def compiled(self) -> _core.CompiledScenario:
        """The scenario as the core has it, read and checked, to be simulated often.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return _compiled(self._data())


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
    """Reads a scenario file.

    Args:
        path: a TOML file.
        overrides: changes on top of it, each `key.path=value`.

    Raises:
        ScenarioError: the file cannot be read, is not TOML, or is not a valid scenario.
    """
    text = read_text(Path(path))
    resolved = json.loads(core_call(_core.parse_toml, text, str(path), list(overrides)))

    def where(keys: list[str]) -> str:
        return f"{path}:{_core.line_of(text, keys) or 1}: {'.'.join(keys)}: "

    filled = named_files.read_all(copy.deepcopy(resolved), Path(path).parent, where)
    if filled == resolved:
        return Scenario.from_dict(resolved)
    try:  # what the files say is checked too
        return Scenario.from_dict(filled).resolved()
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from None


def core_call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls the core; its complaints about a scenario become ours."""
    try:
        return function(*args, **kwargs)
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None


def read_text(path: Path) -> str:
    """Text of a scenario file."""
    data = read_bytes(path, MOST_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{path}:{line}: this is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None


def _compiled(data: dict[str, Any]) -> _core.CompiledScenario:
    """A scenario given as plain data, with the files that it names; their columns stay in it."""
    taken = take_out(named_files.read_all(data, Path()))
    recorded = [one.arrays() for one in taken]
    compiled = core_call(_core.CompiledScenario.from_json, json.dumps(data), None, recorded)
    put_back(data, taken)
    return compiled


def _remove(data: dict[str, Any], path: list[str]) -> None:
    """Takes the key at a path away, if it is there."""
    *parents, last = path
    for key in parents:
        data = data.get(key, {})
    data.pop(last, None)


def toml_value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, Part):
        return toml_value(value.to_dict())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return str(value)
