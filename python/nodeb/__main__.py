"""Entry point of the `nodeb` command and of `python -m nodeb`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

from nodeb.base import signals

# Replications fill the processors; linear algebra on matrices of a few states is slower in threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GC_THRESHOLD = 100_000
"""Far above Python's default, because the objects of imported modules stay in use anyway."""


def _quit(number: int, _: object) -> None:
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
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    # Without the interpreter's clean-up, which takes longer than most simulations, and can abort
    # after an interrupted import.
    os._exit(128 + signals.received[0] if signals.received else status)


if __name__ == "__main__":
    main()
