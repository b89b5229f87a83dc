"""Folders of results that tests make and look at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from nodeb.storage.folders import Owner, claim

MINE, OTHERS = Owner("run", "mine.toml"), Owner("run", "other.toml")
SWEEP = '\n[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n'


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def put(folder: Path, owner: Owner = MINE, force: bool = False, **texts: str) -> Path:
    """Puts files with these texts in a folder."""

    def write(part: Path) -> None:
        for name, text in texts.items():
            (part / name).write_text(text)

    with claim(folder, owner, force=force) as place:
        return place.put(write, {"seed": 1})


def start(*arguments, cwd, **more):
    """Starts the command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "nodeb", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )
