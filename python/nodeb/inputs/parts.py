"""Conversion between the generated scenario types and plain data.

A part is a class whose annotated names are keys of the scenario file. A *variant* is a part with a
tag: `HsDsch(channels=3)` is written `{"hs_dsch": {"channels": 3}}`, or as the tag alone
(`"hs_dsch"`) if all values are defaults. A field that is None is absent.

Parts look like dataclasses to type checkers. They share one constructor instead of having one
generated each, which would take longer than most simulations.
"""

from __future__ import annotations

import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, Union, dataclass_transform

from nodeb.errors import InputError, MissingError, nearest
from nodeb.inputs.columns import Column

REQUIRED = object()
"""Stands in `Part._defaults` for the default of a field that has none."""


class _Factory:
    """Default of a field that is created anew for every object, such as a list."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Declares a field whose default, such as a list, is created anew for every object."""
    return _Factory(default_factory)


class _Signature:
    """Descriptor of the constructor's signature, for `help` and for completion."""

    def __get__(self, _: object, cls: type[Part]) -> inspect.Signature:
        empty, keyword = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
        defaults = {
            name: empty if default is REQUIRED else _default(default)
            for name, default in cls._defaults.items()
        }
        return inspect.Signature(
            [
                inspect.Parameter(name, keyword, default=value, annotation=cls._hints()[name])
                for name, value in defaults.items()
            ]
        )


def _default(default: Any) -> Any:
    return default.make() if isinstance(default, _Factory) else default


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Part:
    """Base class of the scenario types; its annotated names are keys of the scenario file."""

    tag: ClassVar[str | None] = None
    """Name of the variant in a scenario file; None if the part is a plain table."""

    _defaults: ClassVar[Mapping[str, Any]] = {}
    """Default of every key, in the order of the fields: a value, a `_Factory`, or `REQUIRED`."""

    _types: ClassVar[dict[str, Any]]

    __signature__: ClassVar[Any] = _Signature()

    def __init_subclass__(cls) -> None:
        names = [name for name in inspect.get_annotations(cls) if name[0] != "_" and name != "tag"]
        own = {name: cls.__dict__.get(name, REQUIRED) for name in names}
        for name in own.keys() & cls.__dict__.keys():
            delattr(cls, name)
        cls._defaults = {**cls._defaults, **own}

    def __init__(self, *unnamed: Any, **values: Any) -> None:
        if unnamed:
            raise InputError(
                f"{type(self).__name__}: {unnamed[0]!r} has no name; every value is given by its "
                f"key (there is: {', '.join(self._defaults)})"
            )
        for name, default in self._defaults.items():
            if name not in values and default is REQUIRED:
                raise InputError(f"{type(self).__name__}: `{name}` is missing")
            value = values.pop(name) if name in values else _default(default)
            object.__setattr__(self, name, value)
        for name in values:
            raise InputError(self._unknown(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise MissingError(self._unknown(name))
        object.__setattr__(self, name, value)

    if not TYPE_CHECKING:  # With `__getattr__`, type checkers would accept unknown fields.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise MissingError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        return f"{type(self).__name__}: there is no key `{name}`{nearest(name, self._defaults)}"

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._defaults)
        return f"{type(self).__qualname__}({fields})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._defaults)

    def to_dict(self) -> dict[str, Any]:
        """Returns this part as plain data, as in a scenario file; a variant is a one-key table.

        Raises:
            InputError: a field has a value that cannot be written in a scenario file.
        """
        return self.encoded(list)

    def encoded(self, column: Callable[[Column], Any]) -> dict[str, Any]:
        """Plain data, with `column` applied to each list of a recording."""
        values = {name: getattr(self, name) for name in self._defaults}
        fields = {k: plain(v, k, column) for k, v in values.items() if v is not None}
        return fields if self.tag is None else {self.tag: fields}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Creates a part from plain data; the inverse of `to_dict`.

        Args:
            data: keys and values, valid by the scenario schema.

        Raises:
            InputError: the data is not a table, a key is not one of the fields, or a field without
                a default is missing.
        """
        if not isinstance(data, Mapping):
            raise InputError(f"{cls.__name__}: expected a table of keys, not {data!r}")
        if cls.tag is not None and set(data) == {cls.tag}:
            data = data[cls.tag]
        hints = cls._hints()
        values = {str(key): _decode(hints.get(key, Any), value) for key, value in data.items()}
        return cls(**values)

    @classmethod
    def _hints(cls) -> dict[str, Any]:
        """Types of the fields, computed once because that is slow."""
        if "_types" not in cls.__dict__:
            cls._types = typing.get_type_hints(cls)
        return cls._types


def plain(value: Any, key: str, column: Callable[[Column], Any] = list) -> Any:
    """Returns a value as a scenario file can hold it: tables, lists, text, finite numbers.

    Arrays and numbers of NumPy become lists and numbers, paths become texts.
    """
    if isinstance(value, str):
        if not value.isascii() and re.search(r"[\ud800-\udfff]", value):
            raise InputError(f"{key}: {value!r} cannot be written as UTF-8")
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{key}: {value} is no value for a scenario; expected a finite number")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Part):
        return value.encoded(column)
    if isinstance(value, Column):
        return column(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v, f"{key}.{k}", column) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{key}.{i}", column) for i, item in enumerate(value)]
    if hasattr(value, "tolist"):  # Arrays and numbers of NumPy have this method; they become lists.
        return plain(value.tolist(), key)
    if hasattr(value, "__fspath__"):
        return str(value)
    if isinstance(value, type) and issubclass(value, Part):
        raise InputError(f"{key}: this is the class {value.__name__}; write {value.__name__}(...)")
    raise InputError(f"{key}: {value!r} is no value for a scenario (text, number, list or table)")


def _decode(hint: Any, value: Any) -> Any:
    if typing.get_origin(hint) is list and isinstance(value, list):
        (item_hint,) = typing.get_args(hint)
        return [_decode(item_hint, item) for item in value]
    if isinstance(value, Mapping):
        return _decode_table(hint, value)
    return value


def _decode_table(hint: Any, value: Mapping[str, Any]) -> Any:
    """The variant whose tag is the only key of the table; else the part without a tag, if any."""
    parts = [option for option in options_of(hint) if is_part(option)]
    for part in parts:
        if part.tag is not None and set(value) == {part.tag}:
            return part.from_dict(value[part.tag])
    tables = [part for part in parts if part.tag is None]
    return tables[0].from_dict(value) if tables else dict(value)


def options_of(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def is_part(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Part)
