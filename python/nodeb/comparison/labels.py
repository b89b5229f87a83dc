"""Names of compared scenarios: what differs between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeb.base.streams import printable
from nodeb.errors import InputError
from nodeb.inputs.cells import cell_of

Plain = Mapping[str, Any]

MAX_KEYS = 2


def labels(
    files: Sequence[Path],
    changes: Sequence[str],
    keys: Sequence[Sequence[str]],
    scenarios: Sequence[Plain],
) -> list[str]:
    """Scenarios of several files are called by their files, without suffix; by their paths if
    these names are equal. A changed scenario is called by the values of the changed keys, and so
    is the baseline if it is the only file. If these labels are not different, the changes are
    labels."""
    paths, written = [printable(str(file)) for file in files], [*map(printable, changes)]
    if twice := _repeated([*paths, *written]):
        raise InputError(f"{'' if twice in paths else '--with '}{twice} is given twice")
    names = [printable(cell_of(file) or file.stem) for file in files]
    every = list(dict.fromkeys(key for some in keys for key in some))
    valued = [_values(some, one) for some, one in zip(keys, scenarios[len(files) :], strict=True)]
    base = [_values(every, scenarios[0])] if changes and len(every) <= MAX_KEYS else names
    candidates = [
        [*(base if len(files) == 1 else names), *valued],
        [*names, *written],
        [*paths, *written],
    ]
    return next(one for one in candidates if not _repeated(one))


def _repeated(texts: Sequence[str]) -> str | None:
    return next((one for one in texts if texts.count(one) > 1), None)


def _values(keys: Sequence[str], scenario: Plain) -> str:
    last = [key.rpartition(".")[2] for key in keys]
    parts = [2 if last.count(name) > 1 else 1 for name in last]
    shown = [".".join(key.split(".")[-n:]) for key, n in zip(keys, parts, strict=True)]
    return ", ".join(printable(_value(*pair, scenario)) for pair in zip(keys, shown, strict=True))


def _value(key: str, label: str, scenario: Plain) -> str:
    """Returns the value of a key as text: a name alone, such as `bbr`, and `bler=0.1` otherwise.

    If the scenario has another variant than the key, that variant is the value: with the key
    `tcp.linux.control` and a TCP of the family `classic`, `classic`.
    """
    found: Any = scenario
    parts = key.split(".")
    for part in parts:
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            if found is not scenario and (name := _name(found)):
                return name
            found = None
            break
    if found is None:
        return f"no {label}"
    if name := _name(found):
        return name
    return label if isinstance(found, Mapping | list) else f"{label}={_text(found)}"


def _name(value: Any) -> str:
    if (
        isinstance(value, Mapping)
        and len(value) == 1
        and isinstance(next(iter(value.values())), Mapping)
    ):
        (value,) = value
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*", value) else ""


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value).lower() if isinstance(value, bool) else str(value)
