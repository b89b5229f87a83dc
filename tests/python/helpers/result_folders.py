"""Functions that create and read folders of results."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from nodeb.storage.cells import CELLS, FILES
from nodeb.storage.folders import MARK, Owner, claim

MINE, OTHERS = Owner("run", "mine.toml"), Owner("run", "other.toml")
SWEEP = '\n[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n'


def content(folder: Path) -> dict[str, bytes]:
    """Returns the contents of all files in a folder by their paths."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def cells(folder: Path) -> dict[str, bytes]:
    """Returns the stored cells of a folder by their identities."""
    database = sqlite3.connect(folder / CELLS)
    rows = dict(database.execute("SELECT identity, tables FROM cells ORDER BY identity"))
    database.close()
    return rows


def kept(folder: Path) -> dict[str, bytes]:
    """Returns files and cells of a folder, without its mark, which has the time of day."""
    files = {name: data for name, data in content(folder).items() if name not in (MARK, *FILES)}
    return files | cells(folder)


def put(folder: Path, owner: Owner = MINE, force: bool = False, **texts: str) -> Path:
    """Writes a result with one file for each of `texts` to a folder. Returns the folder."""

    def write(part: Path) -> None:
        for name, text in texts.items():
            (part / name).write_text(text)

    with claim(folder, owner, force=force) as place:
        return place.put(write, {"seed": 1})


def start(*arguments, cwd, **more):
    """Starts the command line as a separate process, and returns the process."""
    return subprocess.Popen(
        [sys.executable, "-m", "nodeb", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def at_work(process: subprocess.Popen[str], folder: Path, cpu_s: float = 0.7) -> None:
    """Waits until a run has claimed `folder` and then used `cpu_s` s of CPU time."""
    claimed = folder.with_name(f".{folder.name}.tmp")
    until = time.monotonic() + 60
    begun = None
    while begun is None or _cpu_s(process.pid) < begun + cpu_s:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        if begun is None and claimed.exists():
            begun = _cpu_s(process.pid)
        time.sleep(0.02)


def interrupted(process: subprocess.Popen[str], times: int = 1) -> tuple[str, str]:
    """Interrupts a command, which must end within `MORE_S` of CPU time.

    Returns stdout and stderr.
    """
    before = _cpu_s(process.pid) + _of_ended_s()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    printed = process.communicate(timeout=60)
    assert _of_ended_s() - before < MORE_S
    return printed


MORE_S = 1.5
"""CPU time that a command may take to end, in seconds."""


def _of_ended_s() -> float:
    """Returns the CPU time of all child processes that have ended, in seconds."""
    found = os.times()
    return found.children_user + found.children_system


def _cpu_s(pid: int) -> float:
    """Returns the CPU time of a process in seconds.

    Other load of the machine does not change it.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
