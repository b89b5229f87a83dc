"""Progress on the terminal: a bar with the time left, on stderr, only for what takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["ProgressCallback", "progress_bar"]

ProgressCallback = Callable[[float, str], None]
"""Called with the fraction done, 0 to 1, and a few words on what is going on."""

PATIENCE_S = 1.0
"""Seconds after which a bar appears."""


@contextmanager
def progress_bar(what: str) -> Iterator[ProgressCallback | None]:
    """Shows a bar while the block runs, if it runs for more than a second.

    Yields:
        The function to report progress to; None when stderr is not a terminal.

    Args:
        what: what is being done, in a few words.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _LateBar(what)
    try:
        yield bar
    finally:
        bar.close()


class _LateBar:
    """A bar that is not drawn before `PATIENCE_S` have passed."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __call__(self, fraction: float, text: str) -> None:
        if self._bar is None:
            if time.monotonic() - self._begin < PATIENCE_S:
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
        """Takes the bar away."""
        if self._bar is not None:
            self._bar[0].stop()
