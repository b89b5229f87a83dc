"""First contact with nodeb: runs three commands, and prints a sentence and a page for each.

python tools/first_run.py FOLDER    # results go to FOLDER
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

WIDTH = 80
INDENT = " " * 3
OWN, SHARED = "examples/dch-50k.toml", "examples/hs-dsch-50k.toml"
BEGIN = "Three first answers, in half a minute; each has a page."
END = "nodeb works. Next: `source .venv/bin/activate`, then README.md or docs/quickstart.md."


def commands(folder: Path) -> Iterator[tuple[list[str], Path, str]]:
    """Yields arguments of each command, the page that it writes, and what follows its answer."""
    page = folder / "first.html"
    yield ["explain", OWN, "--what-if", "--report", str(page)], page, ""
    page = folder / "second" / "report.html"
    yield ["compare", OWN, SHARED, "--out", str(folder / "second"), "--report"], page, ""
    page = folder / "wang" / "report.html"
    yield (
        ["reproduce", "wang", "--quick", "--out", str(folder / "wang")],
        page,
        "The full run takes a minute (nodeb reproduce wang); the page has the cause of each "
        "contradiction.",
    )


def answer(arguments: list[str]) -> str:
    """Runs a command and returns the first sentences of its answer; progress goes to stderr.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    command = [sys.executable, "-m", "nodeb", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return " ".join(done.stdout.partition("\n\n")[0].split())


def main(arguments: list[str]) -> int:
    """Runs all commands. Returns the exit status of the first that fails, else 0."""
    (folder,) = map(Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{BEGIN}\n", flush=True)
    for number, (command, page, more) in enumerate(commands(folder), 1):
        try:
            text = f"{answer(command)} {more}".rstrip()
        except subprocess.CalledProcessError as error:
            return error.returncode
        first = f"{number:<{len(INDENT)}}"
        print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=INDENT))
        print(f"{INDENT}{page}\n", flush=True)
    print(END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
