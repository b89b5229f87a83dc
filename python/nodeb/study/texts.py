"""The texts of a study: a TOML file next to its program."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeb.errors import InputError, nearest
from nodeb.study import targets
from nodeb.study.targets import Target

__all__ = ["Texts", "read"]


@dataclass(frozen=True)
class Texts:
    """Texts that the report of a study shows, and the targets of its reproduction."""

    subtitle: str = ""
    question: str = ""
    summary: Sequence[str] = ()
    limits: Sequence[str] = ()
    assumptions: Sequence[Mapping[str, str]] = ()
    """Assumptions of the study, each a TOML table with `text` and `reason`."""
    targets: Sequence[Target] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _by_item(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _assumptions(value: Any) -> bool:
    return isinstance(value, list) and all(
        _by_item(one) and {"text", "reason"} <= one.keys() for one in value
    )


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "subtitle": (_text, "a text"),
    "question": (_text, "a text"),
    "summary": (_texts, "a list of texts"),
    "limits": (_texts, "a list of texts"),
    "assumptions": (_assumptions, "tables with a `text` and a `reason`"),
    "targets": (lambda value: isinstance(value, list), "tables"),
    "notes": (_by_item, "a text by item"),
    "said": (_by_item, "a text by item"),
}


def read(file: Path) -> Texts:
    """Reads the texts of a study; returns empty ones if the file does not exist."""
    if not file.is_file():
        return Texts()
    try:
        return Texts(**_checked(tomllib.loads(file.read_text(encoding="utf-8"))))
    except ValueError as error:
        raise InputError(f"{file}: {error}") from error


def _checked(texts: dict[str, Any]) -> dict[str, Any]:
    for key, value in texts.items():
        if key not in KINDS:
            raise InputError(f"unknown key `{key}`{nearest(key, KINDS)}")
        right, expected = KINDS[key]
        if not right(value):
            raise InputError(f"`{key}` is {value!r}; expected {expected}")
    return texts | {"targets": targets.read_all(texts.get("targets", ()))}
