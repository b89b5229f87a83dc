"""Kills commands at random moments: the next start must give the bytes of an undisturbed one.

    python tests/python/helpers/kills.py [--kills N] [--seed S] [--only COMMAND]

About half of the killed commands are killed again before one is left to end. It may simulate no
cell again that was stored, and nothing may be left beside its results.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nodeb.storage.cells import CELLS as FILE
from nodeb.storage.cells import Store
from result_folders import cells as identities
from result_folders import content, start
from scenarios import SMALL

CELLS, RUNS = 40, 20
SWEEP = '[sweep]\n"radio.dch.bler" = { from = 0.0, to = 0.4, steps = 40 }\n'
COMMANDS = {
    "run": ("run", "a.toml", "--runs", "5000", "--report"),
    "sweep": ("sweep", "s.toml", "--runs", str(RUNS)),
    "compare": ("compare", "a.toml", "--with", "wired.loss=0.02", "--runs", "3000"),
    "reproduce": ("reproduce", "wang", "--quick"),
}
ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
OTHER = ("provenance.json", "report.html", "digest.json")
"""Files with the time of day or a duration."""
STARTS_S = 0.15
"""CPU time in which Python itself may answer a signal, s."""


class Kills:
    """Kills of all commands in a folder; `faults` says what went wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        (folder / "a.toml").write_text(SMALL)
        (folder / "s.toml").write_text(SMALL + SWEEP)

    def run(self, kills: int, only: str | None = None) -> None:
        for name in [only] if only else COMMANDS:
            whole, begin = self.folder / f"{name}-whole", time.monotonic()
            assert self.started(name, whole).wait() == 0
            took_s, wanted = time.monotonic() - begin, results(whole)
            out = self.folder / name
            for number in range(kills // (1 if only else len(COMMANDS))):
                self.kill(name, out, took_s)
                if number % 2 or self.chance.random() < 0.5:
                    self.check(name, out, wanted)
            self.check(name, out, wanted)

    def started(self, name: str, out: Path) -> subprocess.Popen[str]:
        heard = signal.default_int_handler  # Shells let background processes ignore SIGINT.
        more = {"preexec_fn": lambda: signal.signal(signal.SIGINT, heard)}
        return start(*COMMANDS[name], "--out", out, cwd=self.folder, **more)

    def kill(self, name: str, out: Path, took_s: float) -> None:
        sent, process = self.chance.choice(list(ENDS)), self.started(name, out)
        time.sleep(self.chance.uniform(0.0, took_s))
        early = process.poll() is None and cpu_s(process.pid) < STARTS_S
        process.send_signal(sent)
        _, err = process.communicate()
        status = process.returncode
        self.counts[f"{name}, {sent.name}: status {status}"] += 1
        lines = [line for line in err.splitlines() if not line.startswith(("note:", "warning:"))]
        # A command that was saving or ending when the signal came succeeds.
        if not early and (status not in (0, ENDS[sent]) or len(lines) > 1):
            self.faults.append(f"{name}, {sent.name}: status {status}: {err}")

    def check(self, name: str, out: Path, wanted: dict[str, bytes]) -> None:
        """Starts a command and lets it end."""
        stored, process = complete(out), self.started(name, out)
        shown, err = process.communicate()
        self.counts[f"{name}, started anew"] += 1
        if process.returncode or results(out) != wanted:
            self.faults.append(f"{name}: other results or status: {process.returncode} {err}")
        if name == "sweep" and 0 < stored < CELLS:
            kept = re.search(r"(\d+) of them already there", " ".join(shown.split()))
            if kept is None or int(kept[1]) != stored:
                self.faults.append(f"sweep: {stored} cells were complete: {shown}")
        left = [path.name for path in self.folder.glob(".*")]
        left += [path.name for path in out.glob(".*")]
        if left:
            self.faults.append(f"{name}: left: {left}")
        shutil.rmtree(out)


def results(folder: Path) -> dict[str, bytes]:
    files = content(folder).items()
    return {name: data for name, data in files if name not in (*OTHER, FILE)}


def complete(folder: Path) -> int:
    """Number of complete cells of a sweep, read from a copy, as reading repairs a database."""
    with tempfile.TemporaryDirectory() as copy:
        for file in folder.glob(f"{FILE}*"):
            shutil.copy(file, copy)
        store = Store(Path(copy))
        store.open()  # It creates the table, if the process was killed before.
        store.close()
        names = list(identities(Path(copy)))
        store.open()
        cells = [store.load(name) for name in names]
        store.close()
    return sum(len(set(cell["flows"]["run"].tolist())) == RUNS for cell in cells if cell)


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / 100


def main() -> int:
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--kills", type=int, default=200)
    line.add_argument("--seed", type=int, default=1)
    line.add_argument("--only", choices=COMMANDS)
    given = line.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kills = Kills(Path(folder), given.seed)
        kills.run(given.kills, given.only)
    for what, count in sorted(kills.counts.items()):
        print(f"{count:5}  {what}")
    print("\n".join(kills.faults) or "the same bytes after every kill", file=sys.stderr)
    return bool(kills.faults)


if __name__ == "__main__":
    sys.exit(main())
