"""Variants that dotted keys choose, such as `linux` in `tcp.linux.control`."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Union

from nodeb.inputs.parts import Part

__all__ = ["Choice", "choices", "clash", "value_at", "whole"]

Plain = Mapping[str, Any]
Choice = tuple[str, str]
"""Dotted key of a part that has variants, and the tag of one of them: `("tcp", "linux")`."""


def choices(key: str, root: type[Part]) -> Iterator[Choice]:
    """Yields the variants that a dotted key of the scenario `root` chooses, outermost first."""
    options: list[Any] = [root]
    parts = key.split(".")
    for at, name in enumerate(parts):
        tags = {one.tag: one for one in options if _is_part(one) and one.tag is not None}
        if name in tags:
            yield ".".join(parts[:at]), name
            options = [tags[name]]
            continue
        options = list(_inside(options, name))


def _inside(options: list[Any], name: str) -> Iterator[Any]:
    """Yields the types that the key `name` of a part or the index `name` of a list can have."""
    for one in options:
        if typing.get_origin(one) is list and name.isdecimal():
            yield from _options(typing.get_args(one)[0])
        elif _is_part(one) and (hint := one._hints().get(name)) is not None:
            yield from _options(hint)


def _options(hint: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(hint) in (Union, types.UnionType)
    return typing.get_args(hint) if is_union else (hint,)


def _is_part(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Part)


def value_at(key: str, data: Any) -> Any:
    """Returns the value at a dotted key of plain data; None if there is none."""
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
        *path, last = key.removeprefix(f"{place}.").split(".")
        inner = table
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return table
