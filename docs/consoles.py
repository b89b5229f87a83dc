"""Updates the console sessions in the documentation.

    python docs/consoles.py [PAGE ...]            # compare, and list the pages that differ
    python docs/consoles.py --write [PAGE ...]    # replace the outputs

A session is a fenced block of the language `console`: lines that begin with `$ ` are commands,
followed by their output at 80 columns. A last line `[...]` replaces the rest of an output. The
sessions of a page share a temporary folder with a link `examples` to the project's examples. Blocks
without a language are not updated; they are for commands that need more than a test machine has.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SESSION = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
REST = "[...]"


def main(arguments: list[str]) -> int:
    """Returns 1 if a page differed and was not written."""
    is_written = "--write" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--write"]
    different = 0
    for page in named or pages():
        text = page.read_text("utf-8")
        if (current := refreshed(text)) != text:
            print(f"{page.relative_to(ROOT)}: {'written' if is_written else 'differs'}")
            different += not is_written
            if is_written:
                page.write_text(current, "utf-8")
    return int(different > 0)


def pages() -> list[Path]:
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if SESSION.search(page.read_text("utf-8"))]


def refreshed(text: str) -> str:
    """Returns the text of a page in which every session has the current output of its commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        return SESSION.sub(lambda found: f"```console\n{session(found[1], folder)}```", text)


def session(text: str, folder: Path) -> str:
    """Runs the commands of a session, and returns the session with their current outputs."""
    lines: list[str] = []
    for command, before in commands(text):
        after = output(command.split("$ ", 1)[1], folder)
        if before and before[-1] == REST:
            after = [*after[: len(before) - 1], REST]
        lines += [command, *after]
    return "\n".join(lines) + "\n"


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    for part in re.split(r"^(?=\$ )", text, flags=re.M):
        if part:
            command, *rest = part.splitlines()
            yield command, rest


def output(command: str, folder: Path) -> list[str]:
    """Returns the lines that it prints, without empty lines at the end."""
    environment = os.environ | {
        "COLUMNS": "80",
        "PYTHONPATH": str(ROOT / "python"),
        "NO_COLOR": "1",
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"`{command}` failed with status {done.returncode}:\n{done.stderr}")
    return [line.rstrip() for line in done.stdout.rstrip().splitlines()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
