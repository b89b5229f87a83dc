"""Entry point of the `nodeb` command and of `python -m nodeb`."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys

try:
    from nodeb.base import streams
    from nodeb.base.signals import end_as_interrupts, ignore, received
except KeyboardInterrupt:  # Ctrl-C was pressed before `main` could handle signals.
    print("error: interrupted", file=sys.stderr)
    sys.exit(130)

INTERRUPTED = 130

GC_THRESHOLD = 100_000
"""Excess of allocated over freed objects that starts a garbage collection.

It is far above Python's default, because the objects of imported modules stay in use anyway.
"""


def main() -> None:
    """Runs the command line and exits with its status.

    If a signal ended the command, the exit status is 128 + the number of the first signal.
    """
    gc.set_threshold(GC_THRESHOLD)
    end_as_interrupts()
    streams.prepare()
    try:
        # Imported here, so that Ctrl-C during the import prints no traceback.
        from nodeb.cli import invoke

        status = invoke(sys.argv[1:])
    except KeyboardInterrupt:
        ignore()
        print("error: interrupted", file=sys.stderr)
        status = INTERRUPTED
    if status == INTERRUPTED and received:
        status = 128 + received[0]
    ignore()
    if received:
        _exit_at_once(status)
    sys.exit(status)


def _exit_at_once(status: int) -> None:
    """Ends the process without the interpreter's final cleanup, after calling `atexit` functions.

    A signal may have interrupted the import of a library. About 1 of 250 processes that a signal
    had interrupted were aborted by that cleanup ("PyThreadState_Get: the GIL is released").
    """
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
