"""Compares nodeb with downloads by a Linux kernel over the same paths.

python validation/linux_downloads.py # downloads of Linux 6.18 python
validation/linux_downloads.py mine.csv [mine.toml] # other downloads, and their paths

Cases are CSV, with one download per line or medians of several. Paths are TOML, with a table of
scenario keys for each case or pattern such as `d_*`.
"""

from __future__ import annotations

import copy
import csv
import json
import math
import statistics
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.base.table import Table
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs.scenario import Scenario

_FOLDER = Path(__file__).parent / "linux-6.18"
FILES = (_FOLDER / "cases.csv", _FOLDER / "more.csv", _FOLDER / "saturated.csv")
"""Downloads by Linux 6.18; the folder's README describes the measurement."""
EVERYTHING = "*"
REQUEST = "100 B"
PACED = ("bbr", "bbr3")
"""Congestion controls that Linux paces without `fq`."""


@dataclass(frozen=True)
class Download:
    """One download, or the median of several."""

    case: str
    control: str
    size_bytes: int
    label: str
    transfer_s: tuple[float, float, float]
    repeated: float
    delay_ms: float = math.nan
    lost: tuple[int, ...] = ()
    setting: Mapping[str, Any] = field(default_factory=dict)


def _single(line: Mapping[str, str]) -> Download:
    return Download(
        case=line["case"],
        control=line["control"],
        size_bytes=int(line["size_bytes"]),
        label=line["case"],
        transfer_s=(float(line["transfer_s"]),) * 3,
        repeated=int(line["repeated_segments"]),
        delay_ms=float(line["mean_one_way_delay_ms"]),
        lost=tuple(map(int, line["lost_positions"].split())),
    )


def _median(line: Mapping[str, str]) -> Download:
    variant, window, queue = line["variant"], int(line["iw"]), line["queue_pkts"]
    limit = 1_000_000 if queue == "inf" else int(queue)
    middle, least, largest = (float(line[f"transfer_{one}_s"]) for one in ("med", "min", "max"))
    return Download(
        case=variant,
        control=line["cc"],
        size_bytes=int(line["size_bytes"]),
        label=f"{variant}, IW {window}, queue {queue}",
        transfer_s=(middle, least, largest),
        repeated=int(line["retrans_med"]),
        setting={
            "radio": {"link": {"queue": {"drop_tail": {"limit": limit}}}},
            "tcp": {"linux": {"initial_window": window}},
        },
    )


def read(file: Path) -> list[Download]:
    found = []
    with file.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines), 2):
            line = {key.strip(): (value or "").strip() for key, value in row.items()}
            try:
                found.append(_median(line) if "variant" in line else _single(line))
            except (KeyError, ValueError) as error:
                raise InputError(f"{file}:{number}: not a download: {error}") from None
    return found


def path_of(case: str, paths: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the scenario keys of a case, merged from all tables whose pattern matches the
    case."""
    matching = [name for name in paths if fnmatchcase(case, name)]
    if matching in ([], [EVERYTHING]):
        raise InputError(f"no path for the case `{case}`; expected a table for it")
    return merged([paths[name] for name in matching])


def merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merges nested tables. If several have the same key, the last one takes precedence."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            below = whole.get(key)
            if isinstance(value, Mapping) and isinstance(below, Mapping):
                whole[key] = merged([below, value])
            else:
                whole[key] = copy.deepcopy(value)
    return whole


@dataclass(frozen=True)
class Outcome:
    """Result of a simulated download, with attributes as in `Download`."""

    transfer_s: float
    repeated: int
    delay_ms: float


@dataclass(frozen=True)
class Row:
    """Means for one case, congestion control and size, over the downloads of kernel and nodeb."""

    case: str
    control: str
    size_bytes: int
    kernel_s: tuple[float, float, float]
    """Mean, least and largest."""
    nodeb_s: float
    kernel_repeated: float
    nodeb_repeated: float
    kernel_delay_ms: float
    nodeb_delay_ms: float

    @property
    def ratio(self) -> float:
        """Ratio of nodeb's mean transfer time to the kernel's."""
        return self.nodeb_s / self.kernel_s[0]

    @property
    def delay_ratio(self) -> float:
        """Ratio of nodeb's mean one-way delay to the kernel's."""
        return self.nodeb_delay_ms / self.kernel_delay_ms


def scenario_of(download: Download, paths: Mapping[str, Any]) -> dict[str, Any]:
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
    parts = [path_of(download.case, paths), download.setting, own]
    return merged([*parts, losses] if download.lost else parts)


def simulate(scenario: Mapping[str, Any]) -> Outcome:
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
    """Returns the number of retransmitted data segments, and the delays of arrived ones in s."""
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


def compare(file: Path, paths: Path | None = None) -> list[Row]:
    """Simulates every download of a file.

    Returns a row for each case, congestion control and size that compares the kernel with nodeb.

    Args:
        file: CSV file of measured downloads.
        paths: TOML file with the network path of each case; None for `file` with the suffix
            `.toml`.

    Raises:
        InputError: a line is invalid, or a simulated download does not complete.
        ScenarioError: a path is invalid; the message begins with the case.
    """
    ways = tomllib.loads((paths or file.with_suffix(".toml")).read_text("utf-8"))
    outcomes: dict[str, Outcome] = {}
    groups: dict[tuple[str, str, int], list[tuple[Download, Outcome]]] = defaultdict(list)
    for one in read(file):
        scenario = scenario_of(one, ways)
        key = json.dumps(scenario, sort_keys=True)
        if key not in outcomes:
            try:
                outcomes[key] = simulate(scenario)
            except ScenarioError as error:
                raise ScenarioError(f"case `{one.case}`: {error}") from None
        groups[one.label, one.control, one.size_bytes].append((one, outcomes[key]))
    return [_row(*group, pairs) for group, pairs in groups.items()]


def _row(label: str, control: str, size: int, pairs: Sequence[tuple[Download, Outcome]]) -> Row:
    theirs, ours = zip(*pairs, strict=True)
    mean = statistics.fmean
    middle, least, largest = zip(*(one.transfer_s for one in theirs), strict=True)
    return Row(
        case=label,
        control=control,
        size_bytes=size,
        kernel_s=(mean(middle), min(least), max(largest)),
        nodeb_s=mean(one.transfer_s for one in ours),
        kernel_repeated=mean(one.repeated for one in theirs),
        nodeb_repeated=mean(one.repeated for one in ours),
        kernel_delay_ms=mean(one.delay_ms for one in theirs),
        nodeb_delay_ms=mean(one.delay_ms for one in ours),
    )


HEAD = ["case", "control", "bytes", "kernel, s", "range", "nodeb, s", "ratio"]
HEAD += ["repeated", "nodeb", "delay, ms", "nodeb"]


def _cells(row: Row) -> list[str]:
    mean, least, largest = row.kernel_s
    return [
        row.case,
        row.control,
        str(row.size_bytes),
        f"{mean:.3f}",
        f"{least:.3f}..{largest:.3f}",
        f"{row.nodeb_s:.3f}",
        f"{row.ratio:.3f}",
        f"{row.kernel_repeated:.0f}",
        f"{row.nodeb_repeated:.0f}",
        "-" if math.isnan(row.kernel_delay_ms) else f"{row.kernel_delay_ms:.1f}",
        f"{row.nodeb_delay_ms:.1f}",
    ]


def text(rows: Sequence[Row]) -> str:
    return "\n".join(aligned([HEAD, *map(_cells, rows)], range(2, len(HEAD)), min_width=0))


def markdown(rows: Sequence[Row]) -> str:
    rule = ["---", "---", *["--:"] * (len(HEAD) - 2)]
    lines = [HEAD, rule, *(_cells(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(arguments: Sequence[str]) -> None:
    """Prints the comparison for the given file, or for all files of Linux 6.18."""
    mine = [Path(one) for one in arguments]
    for file in mine[:1] or FILES:
        print(f"{file.name}\n\n{text(compare(file, *mine[1:2]))}\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
