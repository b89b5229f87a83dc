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
REST = "`nodeb reproduce wang` decides more in a minute; the page says what was contradicted."


def commands(folder: Path) -> Iterator[tuple[list[str], Path]]:
    """Yields the arguments of each command, and the page that the command writes."""
    first, second, third = (folder / name for name in ("first", "second", "wang"))
    own, shared = "examples/dch-50k.toml", "examples/hs-dsch-50k.toml"
    yield ["run", own, "--report", "--out", str(first)], first / "report.html"
    page = second.with_suffix(".html")
    yield ["compare", own, shared, "--out", str(second), "--report", str(page)], page
    yield ["reproduce", "wang", "--quick", "--out", str(third)], third / "report.html"


def headline(arguments: list[str]) -> str:
    """Runs a command and returns the first paragraph of its answer; progress goes to stderr.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    command = [sys.executable, "-m", "nodeb", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return " ".join(done.stdout.partition("\n\n")[0].split())


def main(arguments: list[str]) -> int:
    """Runs all commands. Returns the exit status of the first that fails, else 0."""
    (folder,) = map(Path, arguments)
    for number, (command, page) in enumerate(commands(folder), 1):
        try:
            text = headline(command)
        except subprocess.CalledProcessError as error:
            return error.returncode
        first = f"{number:<{len(INDENT)}}"
        print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=INDENT))
        print(f"{INDENT}nodeb {' '.join(command)}\n{INDENT}Page: {page}\n", flush=True)
    print(f"{INDENT}{REST}\n")
    print("nodeb works. Next: `source .venv/bin/activate`, then the commands of README.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
