"""How the generated scenario types turn into plain data and back.

A part is a dataclass whose fields are keys of the scenario file. A *variant* is a part with a tag:
`HsDsch(channels=3)` is written `{"hs_dsch": {"channels": 3}}`, and may be named by its tag alone
(`"hs_dsch"`) when its defaults will do. A field that is None is absent.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, Union

from nodeb.inputs.columns import Column

__all__ = ["Part"]


@dataclasses.dataclass(slots=True)
class Part:
    """Base of the scenario types."""

    tag: ClassVar[str | None] = None
    """Name of a variant in a scenario file; None for a plain table."""

    def to_dict(self) -> dict[str, Any]:
        """This part as plain data, as in a scenario file; a variant is a one-key table."""
        return self.encoded(list)

    def encoded(self, column: Callable[[Column], Any]) -> dict[str, Any]:
        """The same, with what `column` makes of each long list of a recording."""
        fields = {
            f.name: _encode(getattr(self, f.name), column)
            for f in dataclasses.fields(self)
            if getattr(self, f.name) is not None
        }
        return fields if self.tag is None else {self.tag: fields}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Args:
            data: keys and values, valid by the scenario schema.

        Raises:
            TypeError: a key is not one of the fields.
        """
        if cls.tag is not None and set(data) == {cls.tag}:
            data = data[cls.tag]
        hints = typing.get_type_hints(cls)
        return cls(**{key: _decode(hints.get(key, Any), value) for key, value in data.items()})


def _encode(value: Any, column: Callable[[Column], Any]) -> Any:
    if isinstance(value, Part):
        return value.encoded(column)
    if isinstance(value, Column):
        return column(value)
    if isinstance(value, list | tuple):
        return [_encode(item, column) for item in value]
    return value


def _decode(hint: Any, value: Any) -> Any:
    if typing.get_origin(hint) is list and isinstance(value, list):
        (item_hint,) = typing.get_args(hint)
        return [_decode(item_hint, item) for item in value]
    if isinstance(value, Mapping):
        return _decode_table(hint, value)
    return value


def _decode_table(hint: Any, value: Mapping[str, Any]) -> Any:
    """The part that a table stands for; a variant is known by the table's only key."""
    parts = [option for option in _options(hint) if _is_part(option)]
    for part in parts:
        if part.tag is not None and set(value) == {part.tag}:
            return part.from_dict(value[part.tag])
    plain = [part for part in parts if part.tag is None]
    return plain[0].from_dict(value) if plain else dict(value)


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _is_part(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Part)
