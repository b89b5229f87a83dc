"""Settings `key.path=value`, which change a scenario by dotted key."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from nodeb.inputs.parts import Part

__all__ = ["key_of", "overrides", "toml_value", "value_of"]


def key_of(setting: str) -> str:
    """Returns the dotted key of a setting `key.path=value`: the text before the first `=`."""
    return setting.partition("=")[0].strip()


def value_of(setting: str) -> Any:
    """Returns the value of a setting: TOML, or the text itself if it is not TOML."""
    text = setting.partition("=")[2].strip()
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def overrides(values: Mapping[str, Any]) -> list[str]:
    """Returns settings `key.path=value` for values by dotted key, except those that are None."""
    return [f"{key}={toml_value(value)}" for key, value in values.items() if value is not None]


def toml_value(value: Any) -> str:
    """Returns a value, such as a number or a part of a scenario, as inline TOML."""
    if isinstance(value, Part):
        return toml_value(value.to_dict())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return str(value)
