"""Entry point of the `nodeb` command and of `python -m nodeb`."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from nodeb.base import signals

GC_THRESHOLD = 100_000
"""Far above Python's default, because the objects of imported modules stay in use anyway."""


def _quit(number: int, _: Any) -> None:
    os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


def main() -> None:
    """Runs the command line and exits with its status; 128 + n after signal n."""
    gc.set_threshold(GC_THRESHOLD)
    # An exception in the middle of an import can become another one, so the process ends at once.
    signals.active = True
    signals.handle(_quit)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    from nodeb.cli import invoke

    status = invoke(sys.argv[1:])
    if signals.received:
        # Without the interpreter's cleanup, which can abort after an interrupted import.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + signals.received[0])
    sys.exit(status)


if __name__ == "__main__":
    main()
