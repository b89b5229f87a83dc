"""Changes of a scenario by dotted key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nodeb.inputs.parts import Part, plain

__all__ = ["apply", "key_of", "toml_value"]


def key_of(setting: str) -> str:
    """The key of a setting `key.path=value`."""
    return setting.partition("=")[0].strip()


def apply(data: dict[str, Any], changes: Mapping[str, Any]) -> list[str]:
    """Takes away from a scenario, given as plain data, what is to change to None.

    Args:
        data: changed in place.
        changes: values by dotted key.

    Returns:
        The other changes as overrides `key.path=value`.

    Raises:
        InputError: a value is nothing that a scenario can hold.
    """
    values = {str(key): plain(value, str(key)) for key, value in changes.items()}
    for key in (key for key, value in values.items() if value is None):
        _remove(data, key.split("."))
    return [f"{key}={toml_value(value)}" for key, value in values.items() if value is not None]


def _remove(data: dict[str, Any], path: list[str]) -> None:
    """Takes the key at a path away, if it is there."""
    *parents, last = path
    here: Any = data
    for key in parents:
        here = _inside(here, key)
    if isinstance(here, dict):
        here.pop(last, None)


def _inside(data: Any, key: str) -> Any:
    """What a table or a list has at a key; None if nothing."""
    if isinstance(data, list):
        return data[int(key)] if key.isdecimal() and int(key) < len(data) else None
    return data.get(key) if isinstance(data, dict) else None


def toml_value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, Part):
        return toml_value(value.to_dict())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return str(value)
