"""Runs work of the core in a thread, so that Ctrl-C ends it and progress is reported."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from nodeb import _core
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["run_with_progress"]

Found = TypeVar("Found")
POLL_S = 0.1
"""Interval between progress reports, s."""


def run_with_progress(
    work: Callable[[_core.Control], Found], progress: ProgressCallback | None = None
) -> Found:
    """Runs `work` in a thread, reports its progress, and returns its result.

    Ctrl-C cancels the work.
    """
    control = _core.Control()
    with ThreadPoolExecutor(1, thread_name_prefix="nodeb") as executor:
        task = executor.submit(work, control)
        try:
            while not wait([task], POLL_S).done:
                if progress is not None:
                    progress(control.progress(), "")
        finally:
            control.cancel()
        return task.result()
