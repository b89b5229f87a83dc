"""nodeb on the paths of downloads that a Linux kernel has made, next to what the kernel did."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs.scenario import Scenario
from nodeb.table import Table
from nodeb.terminal.text import align
from nodeb.witness.measured import Download, Paths, merged, read

__all__ = ["FILES", "Outcome", "Row", "compare", "markdown", "simulate", "table", "text"]

_FOLDER = Path(__file__).parent / "linux-6.18"
FILES = (_FOLDER / "cases.csv", _FOLDER / "more.csv", _FOLDER / "saturated.csv")
"""What Linux 6.18 did; the folder's README says how it was measured."""

REQUEST = "100 B"
"""What the client sends before the server does."""
PACED = ("bbr", "bbr3")
"""Controls that pace themselves; without `fq` Linux paces no other."""


@dataclass(frozen=True)
class Outcome:
    """What a download of nodeb's came to: see `Download`."""

    transfer_s: float
    repeated: int
    delay_ms: float


@dataclass(frozen=True)
class Row:
    """A case with one control and one size: means over the kernel's repetitions and over nodeb's.

    Attributes:
        kernel_s: mean, least and largest transfer time.
        nodeb_s: the same of nodeb.
        kernel_repeated: segments sent again.
        kernel_delay_ms: mean one-way delay; NaN where it was not measured.
    """

    case: str
    control: str
    size_bytes: int
    repetitions: int
    kernel_s: tuple[float, float, float]
    nodeb_s: tuple[float, float, float]
    kernel_repeated: float
    nodeb_repeated: float
    kernel_delay_ms: float
    nodeb_delay_ms: float

    @property
    def ratio(self) -> float:
        """Mean transfer time of nodeb over the kernel's."""
        return self.nodeb_s[0] / self.kernel_s[0]

    @property
    def delay_ratio(self) -> float:
        """Mean one-way delay of nodeb over the kernel's."""
        return self.nodeb_delay_ms / self.kernel_delay_ms


def scenario_of(download: Download, paths: Paths) -> dict[str, Any]:
    """The scenario that rebuilds a download, as plain data.

    Raises:
        InputError: its path is not known.
    """
    control = {"control": download.control, "pacing": download.control in PACED}
    own = {
        "name": f"{download.label}, {download.control}",
        "duration": "10000 s",
        "runs": 1,
        "tcp": {"linux": control},
        "users": [{"traffic": {"ftp": {"size": f"{download.size_bytes} B", "request": REQUEST}}}],
        "record": {"segments": True},
    }
    losses = {"radio": {"link": {"loss": {"data_list": {"positions": list(download.lost)}}}}}
    parts = [paths.of(download.case), download.setting, own]
    return merged([*parts, losses] if download.lost else parts)


def simulate(scenario: Mapping[str, Any]) -> Outcome:
    """What nodeb does in the scenario of a download.

    Raises:
        ScenarioError: the scenario makes no sense.
        InputError: the download is not complete after the scenario's duration.
    """
    tables = Scenario.from_dict(scenario).compiled().run(1, 0, _core.Control())
    if not bool(tables["flows"]["complete"][0]):
        raise InputError(
            f"the download of `{scenario['name']}` does not end in {scenario['duration']}"
        )
    rows = Table(tables["segments"])
    columns = (rows[name].tolist() for name in ("t_s", "event", "seq", "retransmission"))
    repeated, delays = _follow(zip(*columns, strict=True))
    seconds = float(tables["flows"]["download_s"][0])
    return Outcome(seconds, repeated, 1e3 * statistics.fmean(delays))


def _follow(rows: Iterable[tuple[float, str, int, bool]]) -> tuple[int, list[float]]:
    """Data segments sent again, and the seconds that each took which arrived.

    A packet is lost as soon as it is sent, before the queue, and what is queued keeps its order: so
    what is dropped was sent last, and what arrives first.
    """
    repeated, delays = 0, []
    under_way: dict[tuple[int, bool], list[float]] = defaultdict(list)
    for at, event, number, again in rows:
        if number == 0 or event == "ack":
            continue
        sent = under_way[number, again]
        if event == "send":
            sent.append(at)
            repeated += again
        elif event == "drop":
            sent.pop()
        elif event == "deliver":
            delays.append(at - sent.pop(0))
    return repeated, delays


def compare(
    file: Path, paths: Path | None = None, progress: Callable[[float, str], None] | None = None
) -> list[Row]:
    """Rebuilds every download of a file.

    Args:
        file: what was measured; see `nodeb.witness.measured.read`.
        paths: the paths of its cases; the file of the same name that ends in `.toml` when absent.
        progress: called with the share done and the case at hand.

    Raises:
        InputError: a file cannot be read, or is not as it must be.
        ScenarioError: a path makes no sense; the message begins with the case.
    """
    downloads = read(file)
    way = Paths(paths or file.with_suffix(".toml"))
    outcomes: dict[str, Outcome] = {}
    groups: dict[tuple[str, str, int], list[tuple[Download, Outcome]]] = defaultdict(list)
    for done, one in enumerate(downloads):
        if progress is not None:
            progress(done / len(downloads), f"{one.label}, {one.control}")
        scenario = scenario_of(one, way)
        key = json.dumps(scenario, sort_keys=True)
        if key not in outcomes:
            try:
                outcomes[key] = simulate(scenario)
            except ScenarioError as error:
                raise ScenarioError(f"case `{one.case}`: {error}") from None
        groups[one.label, one.control, one.size_bytes].append((one, outcomes[key]))
    return [_row(*group, pairs) for group, pairs in groups.items()]


def _row(label: str, control: str, size: int, pairs: Sequence[tuple[Download, Outcome]]) -> Row:
    theirs, ours = [one for one, _ in pairs], [one for _, one in pairs]
    mean = statistics.fmean
    seconds = [one.transfer_s for one in ours]
    middle, least, largest = zip(*(one.transfer_s for one in theirs), strict=True)
    return Row(
        case=label,
        control=control,
        size_bytes=size,
        repetitions=len(pairs),
        kernel_s=(mean(middle), min(least), max(largest)),
        nodeb_s=(mean(seconds), min(seconds), max(seconds)),
        kernel_repeated=mean(one.repeated for one in theirs),
        nodeb_repeated=mean(one.repeated for one in ours),
        kernel_delay_ms=mean(one.delay_ms for one in theirs),
        nodeb_delay_ms=mean(one.delay_ms for one in ours),
    )


def table(rows: Sequence[Row]) -> Table:
    """The rows as a table: times in seconds, delays in milliseconds."""
    ends = ("mean", "min", "max")
    columns: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in rows]
        for name in ("case", "control", "size_bytes", "repetitions")
    }
    for who in ("kernel", "nodeb"):
        for i, end in enumerate(ends):
            columns[f"{who}_{end}_s"] = [getattr(row, f"{who}_s")[i] for row in rows]
    for name in ("ratio", "kernel_repeated", "nodeb_repeated", "kernel_delay_ms", "nodeb_delay_ms"):
        columns[name] = [getattr(row, name) for row in rows]
    return Table(columns)


HEAD = (
    "case",
    "control",
    "bytes",
    "kernel, s",
    "range",
    "nodeb, s",
    "ratio",
    "repeated",
    "nodeb",
    "delay, ms",
    "nodeb",
)
"""Columns as people read them: the kernel's, and nodeb's behind them."""


def _cells(row: Row) -> list[str]:
    mean, least, largest = row.kernel_s
    measured = row.kernel_delay_ms == row.kernel_delay_ms
    return [
        row.case,
        row.control,
        str(row.size_bytes),
        f"{mean:.3f}",
        f"{least:.3f}..{largest:.3f}",
        f"{row.nodeb_s[0]:.3f}",
        f"{row.ratio:.3f}",
        f"{row.kernel_repeated:.0f}",
        f"{row.nodeb_repeated:.0f}",
        f"{row.kernel_delay_ms:.1f}" if measured else "-",
        f"{row.nodeb_delay_ms:.1f}",
    ]


def text(rows: Sequence[Row]) -> str:
    """The rows as an aligned table."""
    return align(HEAD, [_cells(row) for row in rows])


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    rule = ["---", "---", *["--:"] * (len(HEAD) - 2)]
    lines = [list(HEAD), rule, *(_cells(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
