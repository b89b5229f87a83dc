"""A scenario: read from a file or built in code, changed, asked what is in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.arguments import as_number, as_path, as_seed, as_texts, as_whole
from nodeb.base.streams import printable
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.changes import overrides
from nodeb.inputs.columns import Column, Taken, put_back, take_out
from nodeb.inputs.parts import plain
from nodeb.inputs.reading import core_call, read_text
from nodeb.scenario_types import ScenarioFields
from nodeb.stats import Precision

if TYPE_CHECKING:
    from nodeb.life import Life
    from nodeb.replication.pool import Jobs
    from nodeb.results.result import Result
    from nodeb.terminal.progress import ProgressCallback

__all__ = ["Scenario", "load"]

LARGEST_SIDE = 2_000
"""Places along each side of a map; their number is the square."""

"""What a whole number of a scenario file can hold."""

PLAN = ("name", "seed", "runs", "precision", "max_runs")
"""Fields that are asked of the core without looking at the others."""


class Scenario(ScenarioFields):
    """A server, a wired network, a radio access, phones and their traffic.

    The fields are those of `nodeb.scenario_types.ScenarioFields`. A scenario built in code is
    checked when it is resolved, which `run` does:

        from nodeb.scenario_types import Ftp, HsDsch, UserGroup

        phones = [UserGroup(count=3, traffic=Ftp(size="50 kB"))]
        Scenario(radio=HsDsch(channels=3), users=phones).run()

    One that was loaded or resolved is the core's: its fields are made when one is first used, and
    it is compiled again only if a field was changed since.
    """

    _compiled: _core.CompiledScenario | None = None
    _taken: Sequence[Taken] = ()
    """Lists of recordings of what is compiled."""
    _said: dict[str, Any] | None = None
    """The fields of what is compiled as plain data; None where they have not been made."""

    @classmethod
    def of(cls, compiled: _core.CompiledScenario, taken: Sequence[Taken] = ()) -> Self:
        """The scenario that the core has, with the lists of recordings that it keeps apart."""
        if compiled.unread:  # its files are read when it is compiled again
            return cls.from_dict(put_back(json.loads(compiled.to_bare_json()), taken))
        made = cls.__new__(cls)
        made.__dict__.update(_compiled=compiled, _taken=taken)
        return made

    @classmethod
    def from_toml(
        cls,
        text: str,
        name: str = "scenario",
        overrides: Sequence[str] = (),
        folder: Path | None = None,
    ) -> Self:
        """Reads the text of a scenario file.

        Args:
            text: TOML.
            name: what messages call it.
            overrides: changes on top of it, each `key.path=value`.
            folder: where relative paths in it count from; None for the current folder.

        Raises:
            ScenarioError: it is not TOML, or not a valid scenario.
        """
        found = core_call(_core.CompiledScenario.from_toml, text, name, list(overrides))
        if not found.unread:
            return cls.of(found)

        def where(keys: list[str]) -> str:
            return f"{name}:{_core.line_of(text, keys) or 1}: {'.'.join(keys)}: "

        data = named_files.read_all(json.loads(found.to_json()), folder or Path(), where)
        try:  # what the files say is checked too
            return cls.of(*_read(data, Path(), found))
        except ScenarioError as error:
            key, _, what = str(error).partition(": ")
            is_key = re.fullmatch(r"\w+(\.\w+)*", key)
            place = where(key.split(".")) if is_key else f"{name}: {key}: "
            raise ScenarioError(f"{place}{what}") from None

    if not TYPE_CHECKING:  # a checker shall know the fields only

        def __getattr__(self, name: str) -> Any:
            """Asked for a field that has not been made."""
            if name not in self._defaults or self._compiled is None:
                return super().__getattr__(name)
            if name in PLAN:
                return getattr(self._compiled, name)
            self._make_fields()
            return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._make_fields()
        super().__setattr__(name, value)

    def _make_fields(self) -> None:
        """Makes the fields of a scenario that only the core has."""
        if self._compiled is not None and self._said is None:
            data = put_back(json.loads(self._compiled.to_bare_json()), self._taken)
            self.__dict__.update(self.from_dict(data).__dict__)
            self.__dict__["_said"] = super().encoded(lambda column: column)

    def __getstate__(self) -> dict[str, Any]:
        self._make_fields()
        return {name: self.__dict__[name] for name in self._defaults}

    def encoded(self, column: Callable[[Column], Any]) -> dict[str, Any]:
        """This scenario as plain data, with what `column` makes of each list of a recording."""
        self._make_fields()
        return super().encoded(column)

    def compiled(self) -> _core.CompiledScenario:
        """The scenario as the core has it, read and checked, to be simulated often.

        Raises:
            ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
        """
        if self._compiled is not None and self._said is None:
            return self._compiled
        data = self.encoded(lambda column: column)
        if self._compiled is not None and data == self._said:
            return self._compiled
        compiled, taken = _read(data, Path())
        self.__dict__.update(_compiled=compiled, _taken=taken, _said=data)
        return compiled

    def apart(self) -> tuple[dict[str, Any], Sequence[Taken]]:
        """This scenario as plain data without the long lists of recordings, and these."""
        if self._compiled is not None and self._said is None:
            return json.loads(self._compiled.to_bare_json()), self._taken
        data = self.encoded(lambda column: column)
        return data, take_out(data)

    def recorded(self) -> Sequence[Taken]:
        """The lists of recordings that the core has beside the text."""
        self.compiled()
        return self._taken

    def resolved(self) -> Self:
        """A copy with every default filled in.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return self.of(self.compiled(), self._taken)

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
        values = {str(k): plain(v, str(k)) for k, v in {**(changes or {}), **more}.items()}
        without = [key for key, value in values.items() if value is None]
        changed = core_call(self.compiled().with_overrides, overrides(values), without)
        return self.of(changed, self._taken)

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
        compiled = self.compiled()
        if runs is not None and as_whole(runs, "runs") < 1:
            raise InputError(f"runs is {runs}; at least one replication is needed")
        if precision is not None and not 0 < as_number(precision, "precision") < 1:
            raise InputError(
                f"precision is {precision}; it is a share of the mean between 0 and 1, "
                "such as 0.02 for 2 %"
            )
        if seed is not None:
            as_seed(seed)
        plan = self.of(core_call(compiled.planned, runs, precision, seed), self._taken)
        plan.stopping_rule()
        return plan

    def stopping_rule(self) -> int | Precision:
        """How many replications a resolved scenario asks for: a number, or the rule that decides.

        Raises:
            InputError: the precision, or the numbers of runs around it, make no sense.
        """
        if self.precision is None:
            return self.runs
        return Precision(self.precision, max(2, min(self.runs, self.max_runs)), self.max_runs)

    def files(self, folder: Path) -> list[Path]:
        """The files that the scenario names, relative paths counted from a folder."""
        return list(named_files.paths(json.loads(self.compiled().to_bare_json()), folder))

    def warnings(self) -> list[str]:
        """What is allowed and still doubtful, each as `key: what will happen`.

        Raises:
            ScenarioError: the scenario is wrong.
        """
        return self.compiled().warnings()

    def to_toml(self) -> str:
        """The resolved scenario as the text of a scenario file.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return core_call(self.compiled().to_toml)

    def check_user(self, user: int) -> None:
        """Looks whether there is a user of this number.

        Raises:
            InputError: there is none.
        """
        users = self.compiled().user_count
        if not 0 <= as_whole(user, "user") < users:
            raise InputError(f"there is no user {user}; the scenario has {users}, numbered from 0")

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
        found = core_call(_core.cell_map, self.compiled(), side)
        shape = {"snr_db": (-1, len(found["axis_m"])), "sites_m": (-1, 2)}
        return {name: values.reshape(shape.get(name, -1)) for name, values in found.items()}

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
        from nodeb.replication.running import run

        planned = self.planned(runs, precision, seed)
        kept = (pcap, snap_length, pcap_at, pcap_radio, pcap_causes)
        return run(planned, jobs, progress, *kept)

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
        return self.run(1, None, 1, seed, None, file, snap_length, at, radio, causes)

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


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
    """Reads a scenario file.

    Args:
        path: a TOML file.
        overrides: changes on top of it, each `key.path=value`.

    Raises:
        InputError: an argument makes no sense.
        ScenarioError: the file cannot be read, is not TOML, or is not a valid scenario.
    """
    file = as_path(path, "path")
    changes = as_texts(overrides, "overrides", "['wired.loss=0.01']")
    return Scenario.from_toml(read_text(file), printable(str(path)), changes, file.parent)


def _read(
    data: dict[str, Any], folder: Path, file: _core.CompiledScenario | None = None
) -> tuple[_core.CompiledScenario, list[Taken]]:
    """A scenario given as plain data as the core has it, and the lists of its recordings.

    Args:
        data: what the files that it names say is put into it.
        folder: where relative paths count from.
        file: the scenario as its own file alone gave it, if it has one.

    Raises:
        ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
    """
    taken = take_out(named_files.read_all(data, folder))
    lists = [one.arrays() for one in taken]
    found = core_call(_core.CompiledScenario.from_json, json.dumps(data), None, lists, file)
    put_back(data, taken)
    return found, taken
