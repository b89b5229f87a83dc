"""Flips single bits of result files, and checks that each damage is detected on reading.

    python tools/flips.py [--flips N] [--seed S]

Creates results of every kind, flips a random bit of a random file, reads the file like the
commands, and restores the bit. There are four outcomes:

- `refused`: the error names the file, or stored replications count as damaged, so that they are
  simulated again;
- `same`: the data is unchanged;
- `unnamed`: the error does not name the file;
- `silent`: other data is read without an error.

The exit status is 1 if a flip is `unnamed` or `silent`.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nodeb
from nodeb import _core
from nodeb.base.table import Table
from nodeb.emulate import connections, recordings
from nodeb.fit import read_errors
from nodeb.fit.folder import save as save_fit
from nodeb.inputs import error_model
from nodeb.inputs.scenario import Scenario
from nodeb.link.result import read_points
from nodeb.reproduce import digest
from nodeb.results.provenance import core_hash
from nodeb.storage import marks
from nodeb.storage.files import read_parquet
from nodeb.storage.store import CELLS, Store

ROOT = Path(__file__).resolve().parent.parent
RUN = """
name = "flips"
runs = 3
duration = "20 s"
record = { cwnd = true, segments = true, queue = true }
[[users]]
count = 2
traffic.ftp.size = "20 kB"
"""
SWEEP = f'{RUN}[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n'
LINK = {"service": "costamagna_64", "eb_n0_db": [-1], "stop": {"bits": 20_000}}
OUTCOMES = ("refused", "same", "unnamed", "silent")
DAMAGED = "counts as damaged"


@dataclass(frozen=True)
class Kind:
    """Result files of one kind, and the function with which the commands read them."""

    name: str
    files: list[Path]
    read: Callable[[Path], Any]


def main() -> int:
    """Runs a campaign and prints the numbers of outcomes by kind of file.

    Returns 1 if a flip was not detected.
    """
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--flips", type=int, default=5000, help="number of flips (default 5000)")
    line.add_argument("--seed", type=int, default=1)
    options = line.parse_args()
    with TemporaryDirectory() as folder:
        kinds = list(made(Path(folder)))
        found = campaign(kinds, options.flips, options.seed)
    width = max(len(name) for name in found)
    print(f"{'':{width}}  {'  '.join(f'{one:>7}' for one in OUTCOMES)}")
    for name, counts in found.items():
        print(f"{name:{width}}  {'  '.join(f'{counts[one]:7}' for one in OUTCOMES)}")
    bad = sum(counts["silent"] + counts["unnamed"] for counts in found.values())
    print(f"{options.flips} flips, seed {options.seed}: {bad} silent or unnamed")
    return 1 if bad else 0


def campaign(kinds: list[Kind], flips: int, seed: int) -> dict[str, Counter[str]]:
    """Flips bits of files of all kinds in rotation, and restores them.

    Returns the numbers of outcomes by kind.
    """
    chance = random.Random(seed)
    found: dict[str, Counter[str]] = {kind.name: Counter() for kind in kinds}
    whole = {(kind.name, file): kind.read(file) for kind in kinds for file in kind.files}
    for number in range(flips):
        kind = kinds[number % len(kinds)]
        file = chance.choice(kind.files)
        good = file.read_bytes()
        file.write_bytes(flipped(good, chance.randrange(8 * len(good))))
        found[kind.name][outcome(kind, file, whole[kind.name, file])] += 1
        file.write_bytes(good)
    return found


def flipped(data: bytes, bit: int) -> bytes:
    """Returns `data` with bit number `bit` flipped."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def outcome(kind: Kind, file: Path, wanted: Any) -> str:
    """Reads a damaged file. Returns `refused`, `same`, `unnamed` or `silent`."""
    try:
        now = kind.read(file)
    except (nodeb.NodebError, OSError, ValueError) as error:
        return "refused" if file.name in str(error) else "unnamed"
    if now == DAMAGED:
        return "refused"
    return "same" if now == wanted else "silent"


def made(folder: Path) -> Iterator[Kind]:
    """Creates results of every kind in a folder, and yields their files by kind."""
    scenario, study = folder / "flips.toml", ROOT / "examples" / "mathis.py"
    scenario.write_text(RUN)
    loaded = nodeb.load(scenario)
    run = loaded.run().save(folder / "run")
    yield Kind("tables of a run, series", sorted(run.glob("*.parquet")), table)
    yield Kind("scenario of a run", [run / "scenario.toml"], lambda f: nodeb.load(f).to_toml())
    life = loaded.life().save(folder / "life")
    yield Kind("tables of a life", sorted(life.glob("*.parquet")), table)
    (folder / "swept.toml").write_text(SWEEP)
    swept = nodeb.sweep.Sweep.load(folder / "swept.toml").run(folder / "swept").file
    yield Kind("table of a sweep", [swept], table)
    yield Kind("cells of a sweep", sorted((swept.parent / CELLS).glob("*.arrow")), cell)
    link = nodeb.link.Experiment(**LINK).run().save(folder / "link")
    yield Kind("points of a link", [link / "points.parquet"], points)
    yield Kind("error sequence of a link", sorted(link.glob("errors_*.txt")), errors)
    (folder / "errors.txt").write_text("00010111" * 40)
    sequence = read_errors(folder / "errors.txt")
    fit = save_fit(nodeb.fit.compare(sequence, [2], starts=1), folder / "fit", 1)
    yield Kind("table of a fit", [fit / "comparison.parquet"], table)
    models = [file for file in sorted(fit.glob("*.json")) if file.name not in UNREAD]
    yield Kind("fitted chains", models, lambda file: error_model.errors(file))
    outcome = nodeb.reproduce.run(study, folder / "study", quick=True)
    yield Kind("cells of a study", sorted((outcome.out / CELLS).glob("*.arrow")), cell)
    yield Kind("digest of a study", [outcome.out / "digest.json"], digest_of)
    yield Kind("claims of a study", [outcome.out / "claims.csv"], claims)
    yield Kind("recording", [recording(folder / "flips.log")], replayed)
    places = [run, life, swept.parent, link, fit, outcome.out]
    yield Kind("provenance", [place / marks.MARK for place in places], mark)


UNREAD = ("recorded.json", marks.MARK)
"""Files of a fit that are not Markov chains: the sequence as a model, and the mark."""


def table(file: Path) -> Any:
    """Reads a table from a file and returns it as plain data."""
    return plain(read_parquet(file)[0])


def points(file: Path) -> Any:
    """Reads the name and the points of a link experiment."""
    name, found = read_points(file.parent)
    return name, plain(found)


def plain(found: Table) -> list[tuple[str, str, bytes]]:
    """Returns name, type and values of each column of a table."""
    return [
        (name, str(values.type), repr(values.to_pylist()).encode())
        for name, values in found.to_arrays().items()
    ]


def cell(file: Path) -> Any:
    """Reads the tables of a cell. Returns a mark if the cell counts as damaged or missing."""
    store = Store(file.parent)
    found = store.load(file.stem)
    if found is None:
        return DAMAGED if store.damaged == [file] else "missing"
    return {name: plain(one) for name, one in found.items()}


def errors(file: Path) -> Any:
    """Reads a sequence of PDU errors and its number of PDUs per block."""
    found = read_errors(file)
    return found.errors.tobytes(), found.pdus_per_block


def digest_of(file: Path) -> Any:
    """Reads the digest of a study.

    Returns `DAMAGED` for a study that does not load; this counts as detected, because the commands
    then compute the digest again.
    """
    return digest.load(file.parent) or DAMAGED


def claims(file: Path) -> Any:
    """Reads the claims of a study, as the page of all studies does."""
    return file.read_bytes() if digest.load(file.parent) else DAMAGED


def mark(file: Path) -> Any:
    """Reads the mark of a folder. A damaged mark raises an error that names the file."""
    try:
        return marks.parse(file.read_bytes())
    except ValueError as error:
        raise nodeb.InputError(f"{file} {error}") from None


def recording(log: Path) -> Path:
    """Writes the log of an emulation with 40 packets over a link. Returns its path."""
    users = [{"name": "phone", "traffic": "external"}]
    scenario = Scenario.from_dict({"radio": {"link": {"rate": "1 Mbps"}}, "users": users})
    about = {"version": _core.version(), "core": core_hash(), "seed": 1}
    about |= {"scenario": scenario.to_dict(), "phones": [{"name": "phone", "user": 0}]}
    header = json.dumps(about).encode()
    data = b"nodeb flight 1\r\n" + struct.pack("<I", len(header)) + header
    for number in range(40):
        data += struct.pack("<BQBBIIBH", 1, number * 10**7, 0, 0, 100, 7, 0, 0)
    data += struct.pack("<BQ", 4, 10**9)
    log.write_bytes(data + struct.pack("<I", zlib.crc32(data)))
    return log


def replayed(file: Path) -> Any:
    """Returns the header and the report of a recording. Raises InputError if the log is cut off."""
    found = recordings.read(file)
    if not connections.connections(found).is_whole:
        raise nodeb.InputError(f"{file}: {recordings.CUT_OFF}")
    return found.about, found.replay().report


if __name__ == "__main__":
    sys.exit(main())
