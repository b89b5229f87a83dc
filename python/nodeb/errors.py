"""Everything that nodeb raises on purpose; each message is a complete sentence for a person."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodeb.link.result import LinkResult
    from nodeb.results.result import Result


class NodebError(Exception):
    """Base of every error that nodeb raises on purpose."""


class InputError(NodebError, ValueError):
    """What was asked for makes no sense: a file, an option or an argument is wrong."""


class ScenarioError(InputError):
    """A scenario is wrong; the message names file, line, key and, if near, the valid name."""


class MissingError(InputError, AttributeError):
    """There is nothing of that name: a table that a result lacks, a key that no scenario has."""


class OutputError(NodebError, OSError):
    """Results cannot be written where they were asked to go."""


class FullError(OutputError):
    """There is no room for results: a full disk, a quota, or a limit on the size of files.

    Attributes:
        outcome: the results that could not be written; None where there are none yet, or the caller
            has them.
    """

    outcome: Any = None


class RunError(NodebError, RuntimeError):
    """A simulation failed while it ran."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted (Ctrl-C).

    Attributes:
        result: the replications that had finished, or None when there was none; of a link, what
            was simulated.
    """

    def __init__(self, message: str, result: Result | LinkResult | None = None) -> None:
        super().__init__(message)
        self.result = result


FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the operating system calls the want of room."""


@contextmanager
def writing(what: str, outcome: object = None) -> Iterator[None]:
    """Turns what the operating system refuses into an error for people.

    Args:
        what: goes on `cannot`, as in `write results to out/a`.
        outcome: what is being written, which a `FullError` has.

    Raises:
        FullError: there is no room.
        OutputError: it cannot be written for another reason.
    """
    try:
        yield
    except OutputError as error:
        if isinstance(error, FullError) and outcome is not None:
            error.outcome = outcome
        raise
    except OSError as error:
        kind = FullError if is_full(error) else OutputError
        raise kind(f"cannot {what}: {os_reason(error)}") from error


def is_full(error: OSError) -> bool:
    """Returns true if there was no room for what was to be written."""
    return _number(error) in FULL


def _number(error: OSError) -> int | None:
    """The number of an error of the operating system, also of one that is a sentence by now."""
    found = re.search(r"[\[(](?:errno|os error) (\d+)[\])]", str(error))
    return int(found[1]) if found else error.errno


def os_reason(error: OSError) -> str:
    """Why the operating system refused, in a few words to go on a sentence with."""
    if isinstance(error, FileExistsError):
        return "there is a file of this name"
    text = error.strerror or str(error)
    if "[errno " in text and (number := _number(error)) is not None:
        text = os.strerror(number)
    where = f" ({error.filename})" if isinstance(error, NotADirectoryError) else ""
    return text[:1].lower() + text[1:] + where


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not known: the nearest one, and all of them."""
    from difflib import get_close_matches  # after something went wrong only

    names = list(known)
    near = get_close_matches(name, names, 1) or [one for one in names if name and name in one]
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"{hint} (there is: {', '.join(names)})"
