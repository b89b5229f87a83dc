"""Kills commands at random moments, and checks what is left and the results of the next run.

    python tests/python/helpers/random_kills.py [--kills N] [--seed S] [--only COMMAND]

A command runs in its own folder and gets a signal (SIGINT, SIGTERM, SIGKILL; to its process or to
its group) at a random moment. It must leave no process and no network device, and no temporary file
after a signal that can be handled. The same command is then repeated; it must succeed and leave
exactly the files of an undisturbed run, with the same bytes if these are reproducible. Results of
`emulate` are not reproducible: the command gets `--force`, and only the names of its files are
compared. `emulate --nat` reaches network namespaces made for the test instead of the real network.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from emulations import DOWNLOAD_SERVER, LINK, forbidden, python
from laboratory import MISSING, Laboratory, laboratory
from leftovers import RUN, owned_by
from nodeb.storage.files import is_leftover
from scenarios import SMALL

EXAMPLES = Path(__file__).parents[3] / "examples"
PATIENT = ("--late", "10 s")
SWEEP = """
[sweep]
radio.dch.bler = { from = 0.0, to = 0.4, steps = 20 }
wired.delay = ["20 ms", "80 ms"]
"""
QUIET = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
QUIET += "sys.excepthook = lambda *_: None\n"
"""Beginning of programs in an emulation: they end without output, so every traceback is nodeb's."""
LOADS = (
    QUIET + "import os, socket; c = socket.create_connection((os.environ['NODEB_SERVER'], 5001)); "
)
LOADS += "c.sendall(b'20000')\nwhile c.recv(65536): pass"
SERVER = python(QUIET + DOWNLOAD_SERVER)

COMMANDS: dict[str, Sequence[str]] = {
    "run": ("run", "a.toml", "--runs", "400", "--report", "--pcap", "a.pcapng"),
    "sweep": ("sweep", "s.toml"),
    "sweep on a cluster": ("sweep", "s.toml", "--cluster", "local:2"),
    "compare": ("compare", "a.toml", "--with", "wired.loss=0.02", "--report", "page.html"),
    "explain": ("explain", "a.toml", "--what-if", "--out", "page.html"),
    "life": ("life", "a.toml"),
    "reproduce": ("reproduce", "mathis.py", "--quick", "--out", "out"),
    "fit": ("fit", "e.txt", "--unit", "pdu", "--states", "2"),
    "import": ("import", "r.csv", "--out", "r.trace"),
    "replay": (
        "replay",
        "flight.log",
        "--out",
        "out",
        "--report",
        "page.html",
        "--pcap",
        "a.pcapng",
    ),
    "emulate": (
        *("emulate", "link.toml", *PATIENT, "--out", "out", "--force", "--report", "page.html"),
        *("--server", subprocess.list2cmdline(SERVER), "--", *python(LOADS)),
    ),
    "emulate --nat": (
        *("emulate", "link.toml", *PATIENT, "--nat", "--out", "out", "--force"),
        *("--server", subprocess.list2cmdline(SERVER), "--", *python(LOADS)),
    ),
}
TOOK = re.compile(rb'"wall_s": [\d.e-]+|[\d.]+(?: |\xc2\xa0|\xe2\x80\xaf)s(?=</dd)')
"""Duration of a study, which its digest and its page contain."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ENDED = {signal.SIGINT: (130, -2), signal.SIGTERM: (143, -15), signal.SIGKILL: (-9,)}
"""Valid exit statuses by signal. A negative status means that the signal itself ended the process:
SIGKILL at any time, the others only before nodeb handles them.
"""
STARTS_S = 0.15
"""Time after a command's start, in seconds, in which Python itself may report an interrupt."""
GRACE_S = 10.0
"""Maximum time in which processes end by themselves, in seconds."""
END_S = 120.0
"""Maximum duration of a command, in seconds."""


@dataclass
class Kills:
    """A campaign of random kills.

    Args:
        folder: directory of all files.
        seed: seed of the commands, signals and times.
        lab: outside network of `emulate --nat`; if `None`, that command is omitted.
    """

    folder: Path
    seed: int
    lab: Laboratory | None
    counts: Counter[str] = field(default_factory=Counter)
    """Number of kills by command, signal and target."""
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._inputs = self.folder / "inputs"
        self._inputs.mkdir()
        self._write_inputs()
        self._mark = f"kills-{os.getpid()}-{self.seed}"
        self._whole: dict[str, tuple[float, dict[str, bytes], set[str]]] = {}

    def run(self, kills: int, only: Sequence[str] = ()) -> None:
        """Kills one command after the other until there were `kills` kills."""
        names = [name for name in only or COMMANDS if self.lab or "--nat" not in name]
        while self.counts["kills"] < kills:
            number = self.counts["kills"]
            self._kill(names[number % len(names)], number)

    def _kill(self, name: str, number: int) -> None:
        """Kills a command at a random moment, and checks what is left.

        Then repeats the command and checks its results. If the command ends before that moment,
        only its known duration is updated.
        """
        takes_s, wanted, volatile = self._whole_of(name)
        place = self._place(f"{number}-{name.replace(' ', '-')}")
        sent = self._chance.choice(SIGNALS)
        to = self._chance.choice(["process", "group"])
        after_s = self._chance.uniform(0.0, takes_s)
        traces = self.lab.traces() if self.lab and "--nat" in name else ""
        faults = []

        run = self._started(name, place)
        begun = time.monotonic()
        try:
            run.wait(after_s)
        except subprocess.TimeoutExpired:
            (os.kill if to == "process" else os.killpg)(run.pid, sent)
        else:
            whole_s = time.monotonic() - begun
            assert self._ended(run)[0] == 0
            self._whole[name] = whole_s, wanted, volatile
            shutil.rmtree(place)
            return
        for what in ("kills", name, f"{sent.name} to a {to}"):
            self.counts[what] += 1
        stopped_s = time.monotonic() - begun
        status, output = self._ended(run)
        if stopped_s < STARTS_S:
            self.counts["before nodeb began"] += 1
        elif status not in (0, *ENDED[sent]) or "Traceback" in output:
            faults.append(f"status {status}: {output[-1500:]}")
        if left := self._left():
            faults.append(f"processes are left: {left}")
        if traces and self.lab and not self.lab.is_as(traces):
            faults.append("the host is not as before")
        parts = [path for path in listed(place) if is_leftover(Path(path).name)]
        if parts and sent != signal.SIGKILL:
            faults.append(f"parts are left: {parts}")

        status, output = self._ended(self._started(name, place))
        if status:
            faults.append(f"repeated: status {status}: {output[-500:]}")
        found = listed(place)
        if found.keys() != wanted.keys():
            faults.append(f"started anew: other files: {sorted(found.keys() ^ wanted.keys())}")
        other = [
            one for one in found.keys() & wanted.keys() - volatile if found[one] != wanted[one]
        ]
        if other:
            faults.append(f"started anew: other bytes: {sorted(other)}")
        if left := self._left():
            faults.append(f"started anew: processes are left: {left}")
        what = (
            f"{number + 1} {name}: {sent.name} to the {to} after {after_s:.3f} of {takes_s:.2f} s"
        )
        self.faults += [f"{what}: {fault}" for fault in faults]
        for fault in faults:
            print(f"{what}: {fault}", file=sys.stderr, flush=True)
        if not faults:
            shutil.rmtree(place)

    def _whole_of(self, name: str) -> tuple[float, dict[str, bytes], set[str]]:
        """Runs a command twice to its end.

        Returns its duration, its files, and the files that differ; of `emulate`, all may differ.
        """
        if name not in self._whole:
            files, took_s = [], 0.0
            for number in range(2):
                place = self._place(f"whole-{number}-{name.replace(' ', '-')}")
                begun = time.monotonic()
                status, output = self._ended(self._started(name, place))
                took_s = time.monotonic() - begun
                assert status == 0, output
                files.append(listed(place))
            first, second = files
            assert first.keys() == second.keys()
            once = name.startswith("emulate")
            volatile = {one for one in first if once or first[one] != second[one]}
            self._whole[name] = took_s, first, volatile
        return self._whole[name]

    def _started(self, name: str, place: Path) -> subprocess.Popen[str]:
        within = self.lab.within(self.lab.host) if self.lab and "--nat" in name else []
        command = [*within, sys.executable, "-m", "nodeb", *COMMANDS[name]]
        environment = {**os.environ, RUN: self._mark, "TMPDIR": str(place / "tmp")}
        log = (place.parent / f"{place.name}.log").open("w+")
        run = subprocess.Popen(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        run.log = log  # type: ignore[attr-defined]
        return run

    def _ended(self, run: subprocess.Popen[str]) -> tuple[int, str]:
        """Waits for a command, and kills it if it runs longer than `END_S`.

        Returns its exit status and output.
        """
        try:
            run.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        log = run.log  # type: ignore[attr-defined]
        with log:
            log.seek(0)
            output = log.read()
        Path(log.name).unlink()
        return run.returncode, output

    def _left(self) -> list[str]:
        """Kills the processes of commands that still run after `GRACE_S`.

        Returns their command lines.
        """
        until = time.monotonic() + GRACE_S
        while (left := owned_by(self._mark)) and time.monotonic() < until:
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return [line for line, _ in left.values()]

    def _place(self, name: str) -> Path:
        place = self.folder / name
        shutil.copytree(self._inputs, place)
        (place / "tmp").mkdir()
        return place

    def _write_inputs(self) -> None:
        at = self._inputs
        (at / "a.toml").write_text(SMALL)
        (at / "s.toml").write_text(SMALL.replace("runs = 4", "runs = 40") + SWEEP)
        (at / "link.toml").write_text(LINK)
        draw = random.Random(1)
        (at / "e.txt").write_text("".join(draw.choice("00000001") for _ in range(4000)) + "\n")
        (at / "r.csv").write_text(
            "time_s,rate_kbps\n" + "".join(f"{n},100\n" for n in range(20_000))
        )
        shutil.copy(EXAMPLES / "mathis.py", at)
        log = ["--record", str(at / "flight.log")]
        command = [sys.executable, "-m", "nodeb", "emulate", str(at / "link.toml"), *PATIENT, *log]
        command += ["--server", subprocess.list2cmdline(SERVER), "--", *python(LOADS)]
        subprocess.run(command, check=True, capture_output=True)


def listed(place: Path) -> dict[str, bytes]:
    """Returns the contents of all files in a folder without durations, and empty folders."""
    found = {}
    for path in sorted(place.rglob("*")):
        if path.is_file():
            found[f"{path.relative_to(place)}"] = TOOK.sub(b"", path.read_bytes())
        elif path.is_dir() and not any(path.iterdir()):
            found[f"{path.relative_to(place)}/"] = b""
    return found


def campaign(folder: Path, seed: int, kills: int, only: Sequence[str] = ()) -> Kills:
    """Runs a campaign of `kills` kills.

    The campaign includes `emulate --nat` if the machine allows this command.
    """
    with ExitStack() as stack:
        leads = os.geteuid() == 0 and not MISSING and not forbidden()
        lab = stack.enter_context(laboratory()) if leads else None
        found = Kills(folder, seed, lab)
        found.run(kills, only)
    return found


def output(counts: Mapping[str, int]) -> str:
    """Returns counts by name as text."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def main() -> None:
    """Runs the campaign that the command line requests. Exits with 1 if there were faults."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--kills", type=int, default=24)
    line.add_argument("--seed", type=int, default=1)
    line.add_argument("--only", action="append", choices=COMMANDS, default=[])
    options = line.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(Path(folder), options.seed, options.kills, options.only)
    print(f"{output(found.counts)}: {len(found.faults)} faults")
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    main()
