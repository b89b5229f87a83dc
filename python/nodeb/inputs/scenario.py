"""A scenario: read from a file or built in code, changed, run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.arguments import as_number, as_path, as_texts, as_whole, checked, checked_methods
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.changes import apply, toml_value
from nodeb.inputs.columns import Taken, put_back, take_out
from nodeb.inputs.reading import compiled, core_call, read, read_text, source
from nodeb.replication.capture import Capture, Capturing
from nodeb.replication.pool import Jobs, check_jobs, width
from nodeb.replication.runner import Experiment, Replicating
from nodeb.results.provenance import Provenance, utc_now
from nodeb.results.result import Result
from nodeb.scenario_types import Hsdpa, ScenarioFields
from nodeb.signals import undisturbed
from nodeb.stats import Precision, Stop
from nodeb.terminal.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from nodeb.life import Life

__all__ = ["Scenario", "core_call", "load", "read_text", "toml_value"]

LARGEST_SIDE = 2_000
"""Places along each side of a map; their number is the square."""

LARGEST_SEED = 2**63 - 1
"""What a whole number of a scenario file can hold."""


@checked_methods
class Scenario(ScenarioFields):
    """A server, a wired network, a radio access, phones and their traffic.

    The fields are those of `nodeb.scenario_types.ScenarioFields`. A scenario built in code is
    checked when it is resolved, which `run` does:

        from nodeb.scenario_types import Ftp, HsDsch, UserGroup

        phones = [UserGroup(count=3, traffic=Ftp(size="50 kB"))]
        Scenario(radio=HsDsch(channels=3), users=phones).run()
    """

    __slots__ = ()

    def resolved(self) -> Self:
        """A copy with every default filled in.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        data = self._data()
        return self._filled(compiled(data), take_out(data))

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """A copy with changes, resolved.

        Args:
            changes: values by dotted key: `s.with_({"wired.delay": "50 ms", "runs": 20})`.
                None takes a key away, back to its default.
            more: the same for keys without a dot: `s.with_(runs=20)`.

        Raises:
            InputError: a value is nothing that a scenario can hold.
            ScenarioError: a key is unknown or a value impossible.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise InputError(f"with_: {changes!r} is no table of values by key; see help(with_)")
        data = self._data()
        overrides = apply(data, {**(changes or {}), **more})
        changed = core_call(compiled(data).with_overrides, overrides)
        return self._filled(changed, take_out(data))

    def apart(self) -> tuple[dict[str, Any], list[Taken]]:
        """This scenario as plain data without the long lists of recordings, and these."""
        data = self._data()
        return data, take_out(data)

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
            InputError: `side` is no number of places.
            ScenarioError: the radio is not `hsdpa`, or the scenario is wrong.
        """
        if not 1 <= as_whole(side, "side") <= LARGEST_SIDE:
            raise InputError(f"side is {side}; a map has 1 to {LARGEST_SIDE} places along a side")
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
        jobs: Jobs | None = None,
        seed: int | None = None,
        progress: ProgressCallback | bool | None = None,
        pcap: str | os.PathLike[str] | None = None,
        snap_length: int | None = None,
        pcap_at: Sequence[str] = (),
        pcap_radio: bool = False,
        pcap_causes: Sequence[int] = (),
    ) -> Result:
        """Simulates replications; the same scenario and seed give the same tables for any `jobs`.

        Args:
            runs: number of replications; None takes the scenario's, and its `precision`.
            precision: relative 95 % half-width of the mean application bit rate to reach, with at
                least the scenario's `runs` and at most its `max_runs` replications.
            jobs: replications simulated at a time; None takes one per processor; or a
                `nodeb.Cluster` that simulates them.
            seed: seed of the random streams; None takes the scenario's.
            progress: called with the fraction done and a few words; True shows a bar on stderr.
            pcap: the packets of the first replication go to this pcapng file; see `capture`.
            snap_length: bytes kept of each packet; None keeps the headers.
            pcap_at: interfaces whose packets are kept, of `server`, `phone` and `proxy`; empty for
                all.
            pcap_radio: capture at `rnc` and `node_b` too, and say in comments what became of
                packets.
            pcap_causes: users whose transfers' critical paths are told in comments.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense.
            OutputError: the capture cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; its `result` holds the replications that had finished.
        """
        if progress is True:
            with progress_bar(self.name) as bar:
                kept = (pcap, snap_length, pcap_at, pcap_radio, pcap_causes)
                return self.run(runs, precision, jobs, seed, bar, *kept)
        if progress is not None and progress is not False and not callable(progress):
            raise InputError(f"progress is {progress!r}; expected True, False or a function")
        planned = self.planned(runs, precision, seed)
        rule = planned.stopping_rule()
        workers = check_jobs(jobs)
        capture = planned._capture(pcap, snap_length, pcap_at, pcap_radio, pcap_causes)
        if capture is not None and not isinstance(workers, int):
            raise InputError("a capture is written where its replication runs; use no cluster")
        scenario = source(planned._data())
        work = Replicating(scenario) if capture is None else Capturing(scenario, capture)
        experiment = Experiment(work, planned.seed, rule, workers, progress=progress or None)
        started, begin = utc_now(), time.perf_counter()

        def result(stop: Stop) -> Result:
            about = Provenance.now(
                seed=planned.seed,
                runs=experiment.replications,
                stopping=stop.reason,
                precision_reached=stop.reached if isinstance(rule, Precision) else None,
                wall_time_s=round(time.perf_counter() - begin, 6),
                jobs=width(workers),
                started=started,
            )
            return Result.from_replications(planned, experiment.finished, about)

        found: Result | None = None
        try:
            stop = experiment.run()
            with undisturbed():
                found = result(stop)
        except KeyboardInterrupt:
            n = experiment.replications
            text = f"interrupted after {n} of at most {experiment.limit} replications"
            if experiment.stopped is not None:
                text = f"stopped after all replications ({n})"
            if found is None and n:
                with undisturbed():
                    found = result(experiment.stopped or Stop(n, False, text))
            raise Interrupted(text, found) from None
        return found

    def capture(
        self,
        path: str | os.PathLike[str],
        snap_length: int | None = None,
        seed: int | None = None,
        at: Sequence[str] = (),
        radio: bool = False,
        causes: Sequence[int] = (),
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
            radio: capture at `rnc`, where there is one, and `node_b` too, and say in a comment on
                each packet what became of it.
            causes: users, from 0, of whose transfers, at most the first 20, comments tell the
                critical path: which of its spans each packet had. Every transfer is one simulation
                more, as far as it goes. See `nodeb.explain`.

        Returns:
            The result of that one replication.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense.
            OutputError: the file cannot be written.
            RunError: the replication failed; when the disk is full, the file keeps the packets
                so far.
        """
        file = as_path(path, "path")
        return self.run(
            runs=1,
            jobs=1,
            seed=seed,
            pcap=file,
            snap_length=snap_length,
            pcap_at=at,
            pcap_radio=radio,
            pcap_causes=causes,
        )

    def life(
        self,
        run: int = 0,
        user: int | None = None,
        begin_s: float = 0.0,
        end_s: float | None = None,
        *,
        seed: int | None = None,
        most: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Life:
        """Simulates one replication and keeps what happens in it, event by event.

        Args:
            run: number of the replication, from 0.
            user: number of the only user whose packets are followed; None for all.
            begin_s: where the window begins, s.
            end_s: where it ends, s; None for the end of the run. Packets that were sent in it are
                followed for up to 10 s more.
            seed: seed of the random streams; None takes the scenario's.
            most: events that are kept at most; None for 4,000,000.
            progress: called with the fraction done and a few words.

        Returns:
            Tables of events, packets and blocks; a notebook shows the page. See `nodeb.life`.

        Raises:
            ScenarioError: the scenario is wrong.
            InputError: an argument makes no sense, nothing happens in the window, or too much; the
                message then says how much, and which window would do.
            RunError: the replication failed.
        """
        from nodeb.life.watching import MOST, watch

        most = MOST if most is None else most
        return watch(self, run, user, begin_s, end_s, seed=seed, most=most, progress=progress)

    def _capture(
        self,
        pcap: str | os.PathLike[str] | None,
        snap_length: int | None,
        at: Sequence[str],
        radio: bool,
        causes: Sequence[int],
    ) -> Capture | None:
        if pcap is None:
            return None
        users = sum(group.count for group in self.users)
        for user in causes:
            if not 0 <= as_whole(user, "pcap_causes") < users:
                raise InputError(
                    f"there is no user {user}; the scenario has {users}, numbered from 0"
                )
        at = as_texts(at, "pcap_at", "['server']")
        snap_length = None if snap_length is None else as_whole(snap_length, "snap_length")
        if "proxy" in at and self.proxy is None:
            raise InputError("this scenario has no proxy to capture at (allowed: server, phone)")
        if "rnc" in at and not (isinstance(self.radio, Hsdpa) and self.radio.iub):
            raise InputError("this scenario has no RNC to capture at; `radio.hsdpa.iub` makes one")
        return Capture(as_path(pcap, "pcap"), snap_length, tuple(at), radio, tuple(causes))

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
            plan.runs, plan.precision = as_whole(runs, "runs"), None
            if plan.runs < 1:
                raise InputError(f"runs is {runs}; at least one replication is needed")
        if precision is not None:
            plan.precision = as_number(precision, "precision")
            if not 0 < plan.precision < 1:
                raise InputError(
                    f"precision is {precision}; it is a share of the mean between 0 and 1, "
                    "such as 0.02 for 2 %"
                )
        if seed is not None:
            plan.seed = as_whole(seed, "seed")
            if not 0 <= plan.seed <= LARGEST_SEED:
                raise InputError(f"seed is {seed}; a seed is a whole number from 0 to 2^63 - 1")
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
        return compiled(self._data())


@checked
def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
    """Reads a scenario file.

    Args:
        path: a TOML file.
        overrides: changes on top of it, each `key.path=value`.

    Raises:
        InputError: an argument makes no sense.
        ScenarioError: the file cannot be read, is not TOML, or is not a valid scenario.
    """
    return Scenario.from_dict(read(path, overrides))
