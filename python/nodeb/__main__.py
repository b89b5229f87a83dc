"""The `nodeb` command; `python -m nodeb` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and exits."""
    try:
        from nodeb.cli import invoke  # here, so that Ctrl-C while it loads leaves no traceback

        status = invoke(sys.argv[1:])
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
