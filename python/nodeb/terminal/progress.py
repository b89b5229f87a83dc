"""Progress of long operations on stderr: a bar on a terminal, else one line per minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

ProgressCallback = Callable[[float, str], None]
"""Function called with the fraction done, 0 to 1, and a short text on the current work."""

BAR_DELAY_S = 1.0
LINE_INTERVAL_S = 60.0
"""Interval between lines if stderr is not a terminal, seconds."""


@contextmanager
def progress_bar(what: str) -> Iterator[ProgressCallback | None]:
    """Shows a progress bar during the `with` block, if that lasts more than a second.

    If stderr is not a terminal, a line is printed every minute instead.
    """
    if sys.stderr is None:
        yield None
        return
    bar = _LateBar(what) if sys.stderr.isatty() else _Lines(what)
    try:
        yield bar
    finally:
        bar.close()


class _Lines:
    """Prints progress as a line of text, at most once every `LINE_INTERVAL_S`."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = self._last = time.monotonic()

    def __call__(self, fraction: float, text: str) -> None:
        now = time.monotonic()
        if now - self._last < LINE_INTERVAL_S:
            return
        self._last = now
        left = (now - self._begin) * (1 / fraction - 1) if fraction > 0 else None
        rest = "" if left is None else f", about {_rounded(left)} left"
        print(f"{self._what}: {100 * fraction:.0f} %, {text}{rest}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing, as printed lines stay."""


def _rounded(seconds: float) -> str:
    """Returns a duration as text in s below 90 s, in min below 90 min, otherwise in h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class _LateBar:
    """Bar that is not drawn before `BAR_DELAY_S` have passed."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __call__(self, fraction: float, text: str) -> None:
        if self._bar is None:
            if time.monotonic() - self._begin < BAR_DELAY_S:
                return
            self._bar = self._start()
        progress, task = self._bar
        progress.update(task, completed=min(max(fraction, 0.0), 1.0), text=text)

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}", style="dim"),
            console=Console(stderr=True),
            transient=True,
        )
        task = progress.add_task(self._what, total=1.0, text="")
        progress.start()
        return progress, task

    def close(self) -> None:
        if self._bar is not None:
            self._bar[0].stop()
