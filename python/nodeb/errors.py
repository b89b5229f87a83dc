"""Everything that nodeb raises on purpose; each message is a complete sentence for a person."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

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


def os_reason(error: OSError) -> str:
    """Why the operating system refused, in a few words to go on a sentence with."""
    if isinstance(error, FileExistsError):
        return "there is a file of this name"
    text = error.strerror or str(error)
    if found := re.search(r"\[errno (\d+)\]", text):  # Arrow has a sentence of its own around it
        text = os.strerror(int(found[1]))
    where = f" ({error.filename})" if isinstance(error, NotADirectoryError) else ""
    return text[:1].lower() + text[1:] + where


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not known: the nearest one, and all of them."""
    from difflib import get_close_matches  # after something went wrong only

    names = list(known)
    near = get_close_matches(name, names, 1) or [one for one in names if name and name in one]
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"{hint} (there is: {', '.join(names)})"
