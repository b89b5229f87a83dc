"""A scenario: loading, building in code, changing and querying."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.words import counted
from nodeb.base.arguments import as_number, as_path, as_seed, as_texts, as_whole
from nodeb.base.streams import printable
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.changes import (
    choices,
    clash,
    key_of,
    overrides,
    value_at,
    value_of,
    whole,
)
from nodeb.inputs.columns import Column, RecordingColumns, extract_columns, restore_columns
from nodeb.inputs.keys import Keys, toml_value
from nodeb.inputs.mistakes import meant
from nodeb.inputs.parts import plain
from nodeb.inputs.reading import core_call, read_text
from nodeb.scenario_types import ScenarioFields
from nodeb.stats import Precision

if TYPE_CHECKING:
    from nodeb.life import Life
    from nodeb.replication.pool import Jobs
    from nodeb.results.result import Result
    from nodeb.terminal.progress import ProgressCallback

MAX_RUNS = 1_000_000
"""As in the core."""

MAX_SIDE = 2_000
"""Maximum number of points along each side of a map."""

PLAN = ("name", "seed", "runs", "precision", "max_runs")
"""Fields that a compiled scenario reads from the core without creating all other fields."""


class Scenario(ScenarioFields):
    """A server, a wired network, a radio access network, UEs and their traffic.

    The fields are those of `nodeb.scenario_types.ScenarioFields`. A scenario built in code is
    checked when it is resolved, which `run` does:

        from nodeb.scenario_types import Ftp, HsDsch, UserGroup

        phones = [UserGroup(count=3, traffic=Ftp(size="50 kB"))]
        Scenario(radio=HsDsch(channels=3), users=phones).run()

    A loaded or resolved scenario is held by the core: its fields are created on first use, and it
    is compiled again only if a field has been changed since.
    """

    _compiled: _core.CompiledScenario | None = None
    _taken: Sequence[RecordingColumns] = ()
    """Columns of the recordings of the compiled scenario, which its plain data leave out."""
    _plain: dict[str, Any] | None = None
    """Fields of the compiled scenario as plain data; None if they have not been created."""

    @classmethod
    def of(cls, compiled: _core.CompiledScenario, taken: Sequence[RecordingColumns] = ()) -> Self:
        """A scenario of a compiled one and the columns of its recordings."""
        if compiled.unread:  # Compiling the new scenario reads the files that it names.
            return cls.from_dict(restore_columns(json.loads(compiled.to_bare_json()), taken))
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
            name: name of the file in messages.
            overrides: changes of the text, each `key.path=value`.
            folder: base of relative paths; None for the current folder.

        Raises:
            ScenarioError: the text is not TOML, or not a valid scenario.
        """
        try:
            compiled = core_call(_core.CompiledScenario.from_toml, text, name, list(overrides))
        except ScenarioError as error:
            raise ScenarioError(f"{error}{_remedy(text, overrides, str(error))}") from None
        if not compiled.unread:
            return cls.of(compiled)

        def where(keys: list[str]) -> str:
            return f"{name}:{_core.line_of(text, keys) or 1}: {'.'.join(keys)}: "

        data = named_files.read_all(json.loads(compiled.to_json()), folder or Path(), where)
        try:  # Compiling the scenario again also checks the content of the files that it names.
            return cls.of(*_read(data, compiled))
        except ScenarioError as error:
            key, _, what = str(error).partition(": ")
            is_key = re.fullmatch(r"\w+(\.\w+)*", key)
            place = where(key.split(".")) if is_key else f"{name}: {key}: "
            raise ScenarioError(f"{place}{what}") from None

    if not TYPE_CHECKING:  # With `__getattr__`, type checkers would accept unknown fields.

        def __getattr__(self, name: str) -> Any:
            """A field of a compiled scenario; creates all fields unless it is a scalar."""
            if name not in self._defaults or self._compiled is None:
                return super().__getattr__(name)
            if name in PLAN:
                return getattr(self._compiled, name)
            value = json.loads(self._compiled.to_bare_json()).get(name)
            if isinstance(value, str | int | float):
                return value
            self._make_fields()
            return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._make_fields()
        super().__setattr__(name, value)

    def _make_fields(self) -> None:
        if self._compiled is not None and self._plain is None:
            data = restore_columns(json.loads(self._compiled.to_bare_json()), self._taken)
            self.__dict__.update(self.from_dict(data).__dict__)
            self.__dict__["_plain"] = super().encoded(lambda column: column)

    def __getstate__(self) -> dict[str, Any]:
        self._make_fields()
        return {name: self.__dict__[name] for name in self._defaults}

    def encoded(self, column: Callable[[Column], Any]) -> dict[str, Any]:
        """Plain data, with `column` applied to each list of a recording."""
        self._make_fields()
        return super().encoded(column)

    def compiled(self) -> _core.CompiledScenario:
        """Returns the scenario as the core holds it: read, checked and ready to be simulated.

        Raises:
            ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
        """
        if self._compiled is not None and self._plain is None:
            return self._compiled
        data = self.encoded(lambda column: column)
        if self._compiled is not None and data == self._plain:
            return self._compiled
        compiled, taken = _read(data)
        self.__dict__.update(_compiled=compiled, _taken=taken, _plain=data)
        return compiled

    def without_recordings(self) -> tuple[dict[str, Any], Sequence[RecordingColumns]]:
        """Returns the scenario as plain data without lists of recordings, and these lists."""
        if self._compiled is not None and self._plain is None:
            return json.loads(self._compiled.to_bare_json()), self._taken
        data = self.encoded(lambda column: column)
        return data, extract_columns(data)

    def recording_columns(self) -> Sequence[RecordingColumns]:
        """Columns of recordings, which the core holds separately from the text."""
        self.compiled()
        return self._taken

    def resolved(self) -> Self:
        """Returns a copy with every default filled in.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return self.of(self.compiled(), self._taken)

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Returns a resolved copy with changes.

        A key of another variant replaces the present variant if that is the default:
        `s.with_({"tcp.linux.control": "bbr"})` replaces the default `tcp.classic`.

        Args:
            changes: values by dotted key: `s.with_({"wired.delay": "50 ms", "runs": 20})`.
                None resets a key to its default.
            more: values by key without a dot: `s.with_(runs=20)`.

        Raises:
            InputError: a scenario cannot hold a value.
            ScenarioError: a key is unknown or a value impossible, or a key is of another variant
                than the scenario has, which is not the default.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise InputError(
                f"with_: {changes!r} is not a mapping; expected values by dotted key, see "
                "help(with_)"
            )
        values = {str(k): plain(v, str(k)) for k, v in {**(changes or {}), **more}.items()}
        values = self._with_whole_variants(values)
        without = [key for key, value in values.items() if value is None]
        base = self._with_files(values)
        changed = core_call(base.compiled().with_overrides, overrides(values), without)
        return self.of(changed, base._taken)

    def _with_files(self, values: Mapping[str, Any]) -> Self:
        """A scenario with the new contents of those named files that are part of its text."""
        files = {key: named_files.text_contents(key) for key in values}
        if not any(files.values()):
            return self
        data = self.encoded(lambda column: column)
        for key, contents in files.items():
            table = value_at(key.removesuffix(".file"), data)
            if contents and isinstance(table, dict) and isinstance(values[key], str):
                for name in contents:
                    table.pop(name, None)
                table["file"] = values[key]
        return self.from_dict(data)

    def _with_whole_variants(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values by dotted key, in which a new variant is the value of its key as a whole."""
        changed = {_of_variant(k) if v is None else k: v for k, v in values.items()}
        plain_data = json.loads(self.compiled().to_bare_json())
        for key, value in values.items():
            place, _ = clash(key, plain_data, Scenario) or ("", "")
            if value is None or not place or changed.get(place) is not None:
                continue
            below = {k: v for k, v in values.items() if k.startswith(f"{place}.") and v is not None}
            table = whole(place, below)
            if place not in changed and not self._is_default(place, plain_data):
                raise ScenarioError(
                    f"{key}: {place} is another variant here, {_variant(place, plain_data)}; "
                    f"replace it as a whole: with_({{{place!r}: {table!r}}})"
                )
            changed = {k: v for k, v in changed.items() if k not in below}
            changed[place] = table
        return changed

    def _is_default(self, place: str, plain_data: Mapping[str, Any]) -> bool:
        try:
            without = core_call(self.compiled().with_overrides, [], [place])
        except ScenarioError:  # The key has no default.
            return False
        default = value_at(place, json.loads(without.to_bare_json()))
        return bool(default == value_at(place, plain_data))

    def __getitem__(self, key: str) -> Any:
        """Returns the value of a dotted key, with defaults: `scenario["radio.dch.bler"]`.

        Tables are dictionaries, and quantities texts such as `"110 ms"`, as in a scenario file.

        Raises:
            InputError: there is no such key, or it is of another variant than the scenario has.
        """
        data = json.loads(self.compiled().to_json())
        value = value_at(str(key), data)
        if value is None:
            Keys(json.loads(_core.schema())).row(str(key))  # Refuses unknown keys.
            if other := clash(str(key), data, Scenario):
                here = _variant(other[0], data)
                raise InputError(f"{key}: this scenario has {here}, not {'.'.join(other)}")
            table = str(key).rpartition(".")[0]
            if table and value_at(table, data) is None:
                raise InputError(f"{key}: this scenario has no `{table}`")
        return value

    __iter__ = None
    __contains__ = None

    def __repr__(self) -> str:
        variants = [getattr(one, "tag", None) or str(one) for one in (self.radio, self.tcp) if one]
        phones = sum(getattr(group, "count", 1) for group in self.users)
        return f"<Scenario {self.name!r}: {', '.join([*variants, counted(phones, 'phone')])}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_toml())}</pre>"

    def planned(
        self, runs: int | None = None, precision: float | None = None, seed: int | None = None
    ) -> Self:
        """Returns a resolved copy with other `runs`, `precision` or `seed`; see `run`.

        Raises:
            ScenarioError: the scenario is invalid.
            InputError: an argument is invalid, or both runs and precision are given.
        """
        if runs is not None and precision is not None:
            raise InputError("runs and precision cannot be combined; give one of them")
        compiled = self.compiled()
        if runs is not None and as_whole(runs, "runs", MAX_RUNS) < 1:
            raise InputError(f"runs is {runs}; expected at least 1 replication")
        if precision is not None:
            as_number(precision, "precision")
        if seed is not None:
            as_seed(seed)
        plan = self.of(core_call(compiled.planned, runs, precision, seed), self._taken)
        plan.stopping_rule()
        return plan

    def stopping_rule(self) -> int | Precision:
        """The number of replications of a resolved scenario, or the rule for when to stop."""
        if self.precision is None:
            return self.runs
        return Precision(self.precision, max(2, min(self.runs, self.max_runs)), self.max_runs)

    def files(self, folder: Path) -> list[Path]:
        """Returns the files that the scenario names; relative names are joined to `folder`."""
        return list(named_files.paths(json.loads(self.compiled().to_bare_json()), folder))

    def warnings(self) -> list[str]:
        """Returns warnings about valid but doubtful values, each as `key: consequence`.

        Raises:
            ScenarioError: the scenario is invalid.
        """
        return self.compiled().warnings()

    def to_toml(self) -> str:
        """Returns the resolved scenario as the text of a scenario file.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        return core_call(self.compiled().to_toml)

    def check_user(self, user: int) -> None:
        """Refuses an index of a user, from 0, that the scenario does not have."""
        users = len(self.compiled().connections)
        if not 0 <= as_whole(user, "user") < users:
            last = f" to {users - 1}" if users > 1 else ""
            raise InputError(f"there is no user {user}; expected 0{last}")

    def cell_map(self, side: int = 101) -> dict[str, NDArray[np.float64]]:
        """Computes a map of the mean SNR, dB, from path loss alone; on `hsdpa` before despreading.

        Shadowing, fading and multipath are not included.

        Args:
            side: points along each side of the map; 1 counts as 2.

        Returns:
            `axis_m`, the coordinates of the points along each axis, m from the base station in the
            middle; `snr_db`, the rows of the map from the south, NaN outside the cells; `sites_m`,
            the coordinates (east, north) of each serving base station.

        Raises:
            InputError: `side` is out of range.
            ScenarioError: the radio is neither `hsdpa` nor `lte`, or the scenario is invalid.
        """
        if not 1 <= as_whole(side, "side") <= MAX_SIDE:
            raise InputError(
                f"side is {side}; expected 1 to {MAX_SIDE} points along a side of the map"
            )
        columns = core_call(_core.cell_map, self.compiled(), side)
        shape = {"snr_db": (-1, len(columns["axis_m"])), "sites_m": (-1, 2)}
        return {name: values.reshape(shape.get(name, -1)) for name, values in columns.items()}

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
            runs: number of replications; None takes the scenario's `runs` and `precision`.
            precision: relative 95 % half-width to reach for the mean application bit rate, or for
                the mean received bit rate if a transfer is not completed. At least the scenario's
                `runs` and at most its `max_runs` replications are simulated.
            jobs: number of replications simulated concurrently; None takes one per processor; or an
                `Executor` that simulates them.
            seed: seed of the random streams; None takes the scenario's.
            progress: called with the fraction done and a short text; True shows a bar on stderr,
                None and False show nothing.
            pcap: file for the packets of the first replication, in pcapng format; see `capture`.
            snap_length: bytes kept of each packet; None keeps the headers.
            pcap_at: interfaces whose packets are kept: `server`, `phone`, `proxy` and, with
                `pcap_radio`, those of the radio network; empty for all.
            pcap_radio: capture at `rnc`, `node_b` and `pdcp` too, with each packet's fate in a
                comment.
            pcap_causes: users for whose transfers comments state the critical path.

        Raises:
            ScenarioError: the scenario is invalid.
            InputError: an argument is invalid.
            OutputError: the capture cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; its `result` holds the replications that had finished, or is None.
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

        The file is in pcapng format, for Wireshark: valid IPv4 and TCP packets at the interfaces
        `server` and `phone`, and at `proxy` if there is one, with the simulated time in
        nanoseconds.

        Args:
            path: the file; an existing one is replaced.
            snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
            seed: seed of the random streams; None takes the scenario's.
            at: interfaces whose packets are kept; empty for all.
            radio: capture at `node_b` too, and at `rnc` and `pdcp` if there are such places, with
                each packet's fate in a comment.
            causes: users, from 0, for whose first 20 transfers comments state the critical path:
                the spans of it that each packet had. Every such transfer is simulated once more,
                up to its end. See `nodeb.explain`.

        Returns:
            The result of that one replication.

        Raises:
            ScenarioError: the scenario is invalid.
            InputError: an argument is invalid.
            OutputError: the file cannot be written; if the disk is full, a new file keeps the
                packets written so far.
            RunError: the replication failed.
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
        """Simulates one replication and records its events.

        Args:
            run: number of the replication, from 0.
            user: only user whose packets are followed; None for all.
            begin_s: beginning of the window, s.
            end_s: end of the window, s; None for the end of the run. Packets sent in the window are
                followed for up to 10 s after it.
            seed: seed of the random streams; None takes the scenario's.
            most: maximum number of events kept; None for 4,000,000.
            progress: called with the fraction done and a short text.

        Returns:
            Tables of events, packets, hops and blocks; shown as a page in a notebook. See
            `nodeb.life`.

        Raises:
            ScenarioError: the scenario is invalid.
            InputError: an argument is invalid, or the window has no events or too many. If it has
                too many, the message states how many, and a window that works.
            RunError: the replication failed.
        """
        from nodeb.life.life import watch

        return watch(self, run, user, begin_s, end_s, seed=seed, most=most, progress=progress)


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
    """Reads a scenario file.

    Args:
        path: a TOML file.
        overrides: changes of the file, each `key.path=value`.

    Raises:
        InputError: an argument is invalid.
        ScenarioError: the file cannot be read, is not TOML, or is not a valid scenario.
    """
    file = as_path(path, "path")
    changes = as_texts(overrides, "overrides", "['wired.loss=0.01']")
    return Scenario.from_toml(read_text(file), printable(str(path)), changes, file.parent)


def _of_variant(key: str) -> str:
    """The key that has a variant, `tcp` of `tcp.linux`; any other key itself."""
    last = list(choices(key, Scenario))[-1:]
    return next((place for place, tag in last if key == f"{place}.{tag}"), key)


def _remedy(text: str, settings: Sequence[str], error: str) -> str:
    """A hint for a refused setting, or for settings of another variant than the one in a file."""
    values = {key_of(one): value_of(one) for one in settings}
    try:
        written = tomllib.loads(text) if values else {}
    except tomllib.TOMLDecodeError:
        return ""
    for key in values:
        place, _ = clash(key, written, Scenario) or ("", "")
        if place and place not in values:
            table = whole(place, {k: v for k, v in values.items() if k.startswith(f"{place}.")})
            return f"; `{place}={toml_value(table)}` replaces {_variant(place, written)}"
    refused = next((one for one in settings if f"`{one}`" in error), None)
    setting = "" if refused is None or "did you mean" in error else meant(refused, written)
    return f"; did you mean {setting}?" if setting else ""


def _variant(place: str, data: Mapping[str, Any]) -> str:
    value = value_at(place, data)
    return f"{place}.{next(iter(value)) if isinstance(value, Mapping) else value}"


def _read(
    data: dict[str, Any], file: _core.CompiledScenario | None = None
) -> tuple[_core.CompiledScenario, list[RecordingColumns]]:
    """Compiles plain data, to which the content of the files that it names is added.

    `file` is the scenario compiled from a scenario file without the files that it names.
    """
    taken = extract_columns(named_files.read_all(data, Path()))
    lists = [columns.arrays() for columns in taken]
    compiled = core_call(_core.CompiledScenario.from_json, json.dumps(data), None, lists, file)
    restore_columns(data, taken)
    return compiled, taken
