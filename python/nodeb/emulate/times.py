"""Times on the command line, with units as in scenarios."""

from __future__ import annotations

import re

from nodeb.errors import InputError
from nodeb.units import SECONDS

__all__ = ["seconds"]


def seconds(text: str) -> float:
    """Reads a time such as `30 s`.

    Raises:
        InputError: it is none, or not longer than nothing.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", text)
    if found is None or found[2] not in SECONDS or float(found[1]) <= 0:
        raise InputError(f'is "{text}"; expected a time with a unit, such as "30 s" or "500 ms"')
    return float(found[1]) * SECONDS[found[2]]
