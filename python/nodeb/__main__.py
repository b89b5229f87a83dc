"""The `nodeb` command; `python -m nodeb` is the same."""

from __future__ import annotations

import gc
import sys

try:
    from nodeb.base import streams
    from nodeb.base.signals import end_as_interrupts, ignore, received
except KeyboardInterrupt:  # before `main` can answer signals
    print("error: interrupted", file=sys.stderr)
    sys.exit(130)

INTERRUPTED = 130

OBJECTS = 100_000
"""New objects before garbage is looked for: what modules make while they load is none."""


def main() -> None:
    """Runs the command line and exits; ended by a signal, with 128 and its number."""
    gc.set_threshold(OBJECTS)
    end_as_interrupts()
    streams.prepare()
    try:
        from nodeb.cli import invoke  # here, so that Ctrl-C while it loads leaves no traceback

        status = invoke(sys.argv[1:])
    except KeyboardInterrupt:
        ignore()
        print("error: interrupted", file=sys.stderr)
        status = INTERRUPTED
    if status == INTERRUPTED and received:
        status = 128 + received[0]
    ignore()
    sys.exit(status)


if __name__ == "__main__":
    main()
