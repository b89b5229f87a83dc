"""Exceptions that nodeb raises deliberately, with messages for users of the command line."""

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
    """Base class of all exceptions that nodeb raises deliberately."""


class InputError(NodebError, ValueError):
    """A file, an option or an argument is invalid."""


class ScenarioError(InputError):
    """A scenario cannot be read or is invalid; the message names file, line and key where known."""


class MissingError(InputError, AttributeError):
    """A name does not exist, such as a table that a result lacks or an unknown scenario key."""


class OutputError(NodebError, OSError):
    """Results cannot be written to the requested file or folder."""


class FullError(OutputError):
    """No space for results: the disk is full, or a quota or file-size limit is reached.

    Attributes:
        outcome: the results that could not be written; None if there are none yet or the caller
            has them.
    """

    outcome: Any = None


class RunError(NodebError, RuntimeError):
    """A simulation failed, or could not be run, for instance because its workers disappeared."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted (Ctrl-C).

    Attributes:
        result: the finished replications, or None if there are none; of a link simulation, the
            part that was simulated.
    """

    def __init__(self, message: str, result: Result | LinkResult | None = None) -> None:
        super().__init__(message)
        self.result = result


MANY = 20
"""Number of names above which a message that suggests one does not list all."""
NO_SPACE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Error numbers of the operating system for a lack of space."""


@contextmanager
def writing(what: str, outcome: object = None) -> Iterator[None]:
    """Turns an `OSError` raised in the `with` block into an error with a message for the user.

    An `OutputError`, which has such a message already, is passed on.

    Args:
        what: completes the message `cannot ...`, such as `write results to out/a`.
        outcome: the results. They are stored as `outcome` in a `FullError` that the block itself
            raises, but not in one that replaces an `OSError`.

    Raises:
        FullError: there is no space.
        OutputError: writing fails for another reason.
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
    """Returns true if a write failed because a disk, a quota or a file-size limit is full."""
    return error_number(error) in NO_SPACE_ERRORS


def error_number(error: OSError) -> int | None:
    """Returns the errno of an error, or None if it has none.

    A number in the error's text takes precedence, because some errors of the core have the errno
    in their text only.
    """
    found = re.search(r"[\[(](?:errno|os error) (\d+)[\])]", str(error))
    return int(found[1]) if found else error.errno


def os_reason(error: OSError) -> str:
    """Returns the reason of an `OSError` as a phrase that can end a sentence."""
    if isinstance(error, FileExistsError):
        return "a file of this name exists"
    text = error.strerror or str(error)
    if "[errno " in text and (number := error_number(error)) is not None:
        text = os.strerror(number)
    where = f" ({error.filename})" if isinstance(error, NotADirectoryError) else ""
    return text[:1].lower() + text[1:] + where


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown `name`.

    It suggests one similar name of `known`, if there is any, and lists all of `known` unless these
    are many.
    """
    from difflib import get_close_matches  # Imported here, because it is needed for messages only.

    names = list(known)
    near = get_close_matches(name, names, 1) or [one for one in names if name and name in one]
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return hint if hint and len(names) > MANY else f"{hint} (there is: {', '.join(names)})"
