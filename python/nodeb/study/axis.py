"""Axes: what a study varies, as labelled values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, overload

from nodeb.errors import InputError, nearest

__all__ = ["Axis", "Point", "each", "label_of"]


class Point:
    """A value of an axis under its label; scenarios are given the value.

    It is equal to itself alone, and a key of tables.
    """

    def __init__(self, axis: Axis, label: str, value: Any, x: float) -> None:
        self.axis, self.label, self.value = axis, label, value
        self.x = x
        """Where it stands on the axis of a figure."""

    @property
    def context(self) -> str:
        """The label where the axis is not named beside it, such as "BLER 1 %"."""
        return f"{self.axis.short} {self.label}".strip()

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"<{self.axis.label or 'point'}: {self.label}>"


class Axis:
    """Labelled values, in order; iterating gives its points.

    Args:
        values: values by label, or values that are their own labels.
        label: what it is, for tables and figures, such as "BLER target (%)".
        short: begins a point's label where the axis is not named beside it, such as "BLER".
        x: gives the place of a value on a figure's axis; by default a number is its own place,
            and other values stand in order.
    """

    def __init__(
        self,
        values: Mapping[str, Any] | Iterable[Any],
        label: str = "",
        short: str = "",
        x: Callable[[Any], float] | None = None,
    ) -> None:
        self.label, self.short = label, short
        if not isinstance(values, Iterable) or isinstance(values, str):
            raise InputError(f"an axis has labelled values, not {values!r}")
        named = values.items() if isinstance(values, Mapping) else ((one, one) for one in values)
        self._points: dict[str, Point] = {}
        for at, (name, value) in enumerate(named):
            if str(name) in self._points:
                raise InputError(f"the axis `{label}` has two values of the label `{name}`")
            place = _place(value, at) if x is None else x(value)
            self._points[str(name)] = Point(self, str(name), value, place)

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points.values())

    def __len__(self) -> int:
        return len(self._points)

    @overload
    def __getitem__(self, labels: str) -> Point: ...
    @overload
    def __getitem__(self, labels: tuple[str, ...]) -> list[Point]: ...
    def __getitem__(self, labels: str | tuple[str, ...]) -> Point | list[Point]:
        """The point of a label, or the points of several: `BLER["1 %", "10 %"]`.

        Raises:
            InputError: there is no such label; the message names the nearest.
        """
        if isinstance(labels, tuple):
            return [self[label] for label in labels]
        try:
            return self._points[labels]
        except KeyError:
            what = f"the axis `{self.label}`" if self.label else "the axis"
            raise InputError(f"{what} has no `{labels}`{nearest(labels, self._points)}") from None


def _place(value: Any, at: int) -> float:
    return float(value) if isinstance(value, int | float) else float(at)


def each(*axes: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """The combinations of several axes, the last one running fastest."""
    return product(*axes)


Key = Any
"""A row, a column or a curve: a point, a text, or a tuple of these."""


def parts(key: Key) -> tuple[Any, ...]:
    """What a key is made of."""
    return key if isinstance(key, tuple) else (key,)


def label_of(key: Key) -> str:
    """The label of a row, column or curve."""
    return ", ".join(str(part) for part in parts(key))


def anchor(text: str) -> str:
    """A name that is safe in a link and in a file name: "Table A.1" becomes "table-a-1"."""
    return "-".join("".join(c if c.isalnum() else " " for c in str(text).lower()).split())


def context_of(key: Key) -> str:
    """The same where the axes are not named beside it."""
    return ", ".join(part.context if isinstance(part, Point) else str(part) for part in parts(key))


def axis_label(keys: Iterable[Key]) -> str:
    """What rows or columns are that are points of one axis; else nothing."""
    points = [key for key in keys if isinstance(key, Point)]
    labels = {point.axis.label for point in points}
    return labels.pop() if len(labels) == 1 else ""
