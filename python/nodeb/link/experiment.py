"""Link experiments: loaded from a file or created in code, changed and run."""

from __future__ import annotations

import copy
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from nodeb import _core
from nodeb.base.arguments import as_path
from nodeb.base.streams import printable
from nodeb.errors import InputError, Interrupted, ScenarioError, nearest
from nodeb.inputs.changes import change, key_of, value_at, value_of
from nodeb.inputs.reading import NO_NUMBER, document, non_finite_number, read_text
from nodeb.link.result import LinkResult, Point
from nodeb.replication.pool import check_threads
from nodeb.results.provenance import Provenance, utc_now
from nodeb.terminal.progress import ProgressCallback, progress_bar

RUST_WORDS = {
    r"expected u(32|64)": "expected a whole number, at least 0",
    r"expected f(32|64)": "expected a number",
    r"expected struct \w+": "expected a table of keys and values",
    r"missing field `(\w+)`": r"the key `\1` is missing",
}


class Experiment:
    """Link to be simulated at one or several Eb/N0. Keys that are not given have their defaults.

    The keys are those of the configuration file:

        Experiment(service="costamagna_384", eb_n0_db=[1, 2, 3], air={"profile": "vehicular_a"})

    Raises:
        ScenarioError: a key is unknown or missing, or a value impossible.
    """

    def __init__(self, /, **keys: Any) -> None:
        if (path := non_finite_number(keys)) is not None:
            raise ScenarioError(f"{'.'.join(path)}: {NO_NUMBER}")
        try:
            resolved, service = _core.link_resolve(json.dumps(keys))
        except _core.LinkError as error:
            raise ScenarioError(_explain(*error.args)) from None
        self._data: dict[str, Any] = json.loads(resolved)
        self._service: dict[str, Any] = json.loads(service)
        if twice := [value for value, n in Counter(self.eb_n0_db).items() if n > 1]:
            raise ScenarioError(f"eb_n0_db: {twice[0]:g} occurs twice; expected different values")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Creates an experiment from plain data, such as that of a configuration file.

        Raises:
            ScenarioError: a key is unknown or missing, or a value impossible.
        """
        return cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """Returns the experiment as plain data, with every default filled in."""
        return copy.deepcopy(self._data)

    @property
    def name(self) -> str:
        """Name of the experiment from its key `name`, by default its bit rate and profile."""
        return self._data["name"] or f"{self.rate_bps / 1e3:.4g} kbit/s, {self.profile}"

    @property
    def profile(self) -> str:
        """Name of the multipath profile, such as `Vehicular A`; `own taps` for a list of taps."""
        profile = self._data["air"]["profile"]
        return profile.replace("_", " ").title() if isinstance(profile, str) else "own taps"

    @property
    def seed(self) -> int:
        """Seed of all random streams of the simulation."""
        return int(self._data["seed"])

    @property
    def eb_n0_db(self) -> tuple[float, ...]:
        """Eb/N0 of the points to simulate, dB; different values in the order of the key."""
        return tuple(self._data["eb_n0_db"])

    @property
    def service(self) -> dict[str, Any]:
        """Parameters of the service that is transmitted, with every default filled in."""
        return copy.deepcopy(self._service)

    @property
    def pdus_per_block(self) -> int:
        """PDUs of a transport block: the PDUs of one TTI, which are coded together."""
        return int(self._service["dtch"]["pdus"])

    @property
    def rate_bps(self) -> float:
        """Bit rate of the data channel (DTCH), bit/s: bits of a TTI's PDUs over its duration."""
        dtch = self._service["dtch"]
        return float(1e3 * dtch["pdus"] * dtch["pdu_bits"] / dtch["tti_ms"])

    def with_(self, **changes: Any) -> Self:
        """Returns a copy of the experiment with changed keys.

        Args:
            changes: values by dotted key: `e.with_(**{"receiver.fingers": 2, "seed": 7})`. None
                resets a key to its default.

        Raises:
            ScenarioError: a key is unknown or a value impossible.
        """
        data = self.to_dict()
        for key, value in changes.items():
            change(data, key, value)
        return type(self)(**data)

    def run(
        self,
        jobs: int | None = None,
        progress: ProgressCallback | bool | None = None,
        portable: bool = False,
    ) -> LinkResult:
        """Simulates every point. The results do not depend on `jobs` and `portable`.

        Args:
            jobs: number of threads; None takes one per processor.
            progress: called with the fraction done and a short text; True shows a bar on stderr.
            portable: whether to use only instructions that every processor of the platform has.

        Raises:
            InputError: an argument is invalid.
            Interrupted: Ctrl-C was pressed. Its `result` has the finished points and part of the
                next.
        """
        if progress is True:
            with progress_bar(self.name) as bar:
                return self.run(jobs, bar, portable)
        threads, started, begin = check_threads(jobs), utc_now(), time.perf_counter()
        json_text, points = json.dumps(self._data), list[Point]()
        for number, eb_n0_db in enumerate(self.eb_n0_db):
            watch = self._watch(number, progress or None)
            found = _core.link_run(json_text, eb_n0_db, threads, watch, portable)
            points.append(Point.from_core(eb_n0_db, self.pdus_per_block, found))
            if points[-1].interrupted:
                break
        broken_off = points[-1].interrupted
        result = LinkResult(
            self,
            points,
            Provenance.now(
                seed=self.seed,
                runs=0 if broken_off else 1,
                stopping="interrupted" if broken_off else "all points complete",
                precision_reached=None,
                wall_time_s=time.perf_counter() - begin,
                jobs=threads,
                started=started,
            ),
        )
        if broken_off:
            done = len(points) - 1
            raise Interrupted(
                f"interrupted after {done} of {len(self.eb_n0_db)} points and part of the next",
                result,
            )
        return result

    def _watch(
        self, number: int, progress: ProgressCallback | None
    ) -> Callable[[int, int], None] | None:
        if progress is None:
            return None
        stop, count, at = self._data["stop"], len(self.eb_n0_db), self.eb_n0_db[number]

        def watch(bits: int, block_errors: int) -> None:
            wanted = stop["block_errors"]
            share = max(bits / stop["bits"], block_errors / wanted if wanted else 0.0)
            text = f"Eb/N0 {at:g} dB: {bits / 1e6:.1f} Mbit, {block_errors} lost blocks"
            progress((number + min(share, 1.0)) / count, text)

        return watch

    def __repr__(self) -> str:
        points = ", ".join(f"{value:g}" for value in self.eb_n0_db)
        return f"<Experiment {self.name!r} at {points} dB, seed {self.seed}>"


def load(path: str | os.PathLike[str], settings: Sequence[str] = ()) -> Experiment:
    """Reads a link configuration file.

    Args:
        path: a TOML file, or the `experiment.json` of a folder of results.
        settings: changes of the values in the file, each `key.path=value`; an empty value removes
            the key.

    Raises:
        InputError: a setting is not `key=value`, or is to remove a key that the file lacks.
        ScenarioError: the file cannot be read or is not a valid link experiment.
    """
    file = as_path(path, "path")
    if not file.exists():
        raise ScenarioError(
            f"{file}: there is no such file; `nodeb link schema` prints its keys, and the "
            "documentation (Simulate the chip-level link) has a first one"
        )
    text = read_text(file)
    data = (
        _from_json(text, file) if file.suffix == ".json" else document(text, printable(str(file)))
    )
    changed = [_setting(data, setting) for setting in settings]
    try:
        return Experiment(**data)
    except ScenarioError as error:
        key = re.match(r"[\w.]+(?=: )", str(error))
        path = key[0] if key else ""
        is_changed = any(f"{path}.".startswith(f"{one}.") for one in changed)
        is_text = not is_changed and file.suffix != ".json"
        line = _core.line_of(text, path.split(".") if path else []) if is_text else None
        place = file if line is None else f"{file}:{line}"
        raise ScenarioError(f"{place}: {error}") from None


def _from_json(text: str, file: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{file}: this is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ScenarioError(f"{file}: expected a table of keys and values")
    return data


def _setting(data: dict[str, Any], setting: str) -> str:
    """Applies a setting to the data of a file, and returns its key."""
    key, value = key_of(setting), setting.partition("=")[2].strip()
    if not key or "=" not in setting:
        raise InputError(f"cannot set `{setting}`: expected key=value, such as receiver.fingers=2")
    if not value and value_at(key, data) is None:
        raise InputError(
            f"cannot set `{setting}`: without a value it removes a key, and there is no "
            f"`{key.rpartition('.')[2]}` in the file; expected key=value"
        )
    change(data, key, value_of(setting) if value else None)
    return key


def _explain(key: str, message: str) -> str:
    """Converts the core's error about a key to a message of this package."""
    where = ".".join(part for part in re.split(r"[.\[\]]+", key) if part)
    if unknown := re.match(r"unknown (field|variant) `(.*?)`(.*)", message):
        kind, name, rest = unknown.groups()
        what = "key" if kind == "field" else "name"
        message = f"unknown {what} `{name}`{nearest(name, re.findall(r'`(.*?)`', rest))}"
    for pattern, words in RUST_WORDS.items():
        message = re.sub(pattern, words, message)
    return f"{where}: {message}" if where else message
