"""Axes: the values that a study varies, each with a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, overload

from nodeb.errors import InputError, nearest

__all__ = ["Axis", "Point", "each", "label_of"]


class Point:
    """A labelled value of an axis. A scenario function called with the point receives the value.

    Two points are equal only if they are the same object. They serve as keys of tables and figures.
    """

    def __init__(self, axis: Axis, label: str, value: Any, x: float) -> None:
        self.axis, self.label, self.value = axis, label, value
        self.x = x
        """Position on the axis of a figure."""

    @property
    def context(self) -> str:
        """Label with the short name of the axis in front, such as "BLER 1 %"."""
        return f"{self.axis.short} {self.label}".strip()

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"<{self.axis.label or 'point'}: {self.label}>"


class Axis:
    """Labelled values in order. Iterating over an axis gives its points.

    Args:
        values: values by label, or values that are their own labels.
        label: name of the axis in tables and figures, such as "BLER target (%)".
        short: prefix of a point's label wherever the axis is not named, such as "BLER".
        x: returns the position of a value on a figure's axis. By default, a number is its own
            position, and any other value has its index.
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
            raise InputError(f"an axis needs labelled values, not {values!r}")
        named = values.items() if isinstance(values, Mapping) else ((one, one) for one in values)
        self._points: dict[str, Point] = {}
        for at, (name, value) in enumerate(named):
            if str(name) in self._points:
                raise InputError(f"the axis `{label}` has two values with the label `{name}`")
            place = (
                float(value if isinstance(value, int | float) else at) if x is None else x(value)
            )
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
        if isinstance(labels, tuple):
            return [self[label] for label in labels]
        try:
            return self._points[labels]
        except KeyError:
            what = f"the axis `{self.label}`" if self.label else "the axis"
            raise InputError(f"{what} has no `{labels}`{nearest(labels, self._points)}") from None


def each(*axes: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Returns all combinations of the points of several axes; the last axis varies fastest."""
    return product(*axes)


Key = Any
"""Key of a row, a column or a curve: a point, a text, or a tuple of these."""


def parts(key: Key) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def label_of(key: Key) -> str:
    """Returns the label of a row, column or curve: its key's parts, joined by commas."""
    return ", ".join(str(part) for part in parts(key))


def anchor(text: str) -> str:
    """Returns a name for links and file names: "table-a-1" for the item "Table A.1"."""
    return "-".join("".join(c if c.isalnum() else " " for c in str(text).lower()).split())


def context_of(key: Key) -> str:
    return ", ".join(part.context if isinstance(part, Point) else str(part) for part in parts(key))


def axis_label(keys: Iterable[Key]) -> str:
    """Returns the label of the axis of all points among the keys; "" if they have several."""
    labels = {key.axis.label for key in keys if isinstance(key, Point)}
    return labels.pop() if len(labels) == 1 else ""
