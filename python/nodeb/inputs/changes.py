"""Settings `key.path=value`, which change a scenario, and the variants that keys choose."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from nodeb.errors import ScenarioError
from nodeb.inputs.keys import toml_value
from nodeb.inputs.parts import Part, is_part, options_of

Plain = Mapping[str, Any]
Choice = tuple[str, str]
"""Dotted key of a part that has variants, and the tag of one of them: `("tcp", "linux")`."""


def key_of(setting: str) -> str:
    return setting.partition("=")[0].strip()


def value_of(setting: str) -> Any:
    """The value of a setting: TOML, or the text itself if it is not TOML."""
    text = setting.partition("=")[2].strip()
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def overrides(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}={toml_value(value)}" for key, value in values.items() if value is not None]


def choices(key: str, root: type[Part]) -> Iterator[Choice]:
    """Yields the variants that a dotted key of the scenario `root` chooses, outermost first."""
    options: list[Any] = [root]
    parts = key.split(".")
    for at, name in enumerate(parts):
        tags = {part.tag: part for part in options if is_part(part)}
        if name in tags:
            yield ".".join(parts[:at]), name
        options = [tags[name]] if name in tags else list(_inside(options, name))


def _inside(options: list[Any], name: str) -> Iterator[Any]:
    for one in options:
        if get_origin(one) is list and name.isdecimal():
            yield from options_of(get_args(one)[0])
        elif is_part(one) and (hint := one._hints().get(name)) is not None:
            yield from options_of(hint)


def value_at(key: str, data: Any) -> Any:
    for name in key.split("."):
        if isinstance(data, Mapping):
            data = data.get(name)
        elif isinstance(data, list) and name.isdecimal() and int(name) < len(data):
            data = data[int(name)]
        else:
            return None
    return data


def clash(key: str, data: Plain, root: type[Part]) -> Choice | None:
    """Returns the outermost variant that `key` chooses where `data` has another one, if any."""
    for place, tag in choices(key, root):
        value = value_at(place, data)
        if value is None:
            return None
        if tag != (next(iter(value), None) if isinstance(value, Mapping) else value):
            return place, tag
    return None


def whole(place: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the table of all `values` below a dotted key, for this key as a whole.

    Of `{"tcp.linux.control": "bbr"}` it is, for `tcp`, `{"linux": {"control": "bbr"}}`.
    """
    table: dict[str, Any] = {}
    for key, value in values.items():
        change(table, key.removeprefix(f"{place}."), value)
    return table


def change(data: dict[str, Any], key: str, value: Any) -> None:
    """Sets the value at a dotted key; None removes the key."""
    *path, last = key.split(".")
    for name in path:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise ScenarioError(f"{key}: `{name}` is not a table of keys and values")
    if value is None:
        data.pop(last, None)
    else:
        data[last] = value
