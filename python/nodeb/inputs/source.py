"""A recording that is being imported: its columns, their units, and what was assumed about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.base.streams import printable
from nodeb.errors import InputError
from nodeb.inputs import column_units, spacing, trace_reader
from nodeb.inputs.column_units import AMOUNTS, RATES, TIMES, Named
from nodeb.inputs.guess import Head
from nodeb.inputs.quotes import unquoted
from nodeb.inputs.trace_file import Numbers, Times, Trace
from nodeb.inputs.ttis import TTI_NS

__all__ = ["Options", "Source"]


@dataclass(frozen=True)
class Options:
    """Options of an import; None where nothing is said."""

    step_ns: int | None = None
    """Spacing of entries without times, ns; else a TTI, 2 ms."""
    unit: str | None = None
    """Unit of rates or of amounts of data, one of `RATES` or `AMOUNTS`."""
    time_unit: str | None = None
    """Unit of times, one of `TIMES`; else s."""
    column: str | None = None
    """Name or number, from 1, of the column of values."""
    time_column: str | None = None
    """Name or number of the column of times."""
    opportunity_bytes: int | None = None
    """Bytes of a line of mahimahi's; else 1500."""


KINDS_OF = {"cqi": "CQIs", "rates": "rates", "snr": "SNRs", "traffic": "amounts of data"}
"""What the values of a format are called."""
NAMES = {"step_ns": "--step", "opportunity_bytes": "--bytes"}
"""What an option is called, where not as its field."""


class Source:
    """A recording that is being read.

    Attributes:
        read: what each column was read as.
        assumed: what neither the recording nor an option says.
    """

    def __init__(self, data: bytes, path: Path, options: Options) -> None:
        self.data, self.path = unquoted(data, path), path
        self.head = Head.of(self.data)
        self.read: list[str] = []
        self.assumed: list[str] = []
        self._options = options
        self._asked: set[str] = set()
        self._used: set[int] = set()

    def option(self, name: str) -> Any:
        """Returns an option, which from then on has been heeded."""
        self._asked.add(name)
        return getattr(self._options, name)

    def finish(self, kind: str) -> None:
        """Refuses options without effect, and reports columns that were not read.

        Raises:
            InputError: an option changes nothing about such a recording.
        """
        for one in fields(Options):
            if getattr(self._options, one.name) is not None and one.name not in self._asked:
                option = NAMES.get(one.name, f"--{one.name.replace('_', '-')}")
                raise InputError(
                    f"{self.path}: {option} has no effect on such a recording of {kind}; "
                    "leave it out"
                )
        left = [self.head.titled(i) for i in range(self.head.width) if i not in self._used]
        if left:
            self.read.append(f"{', '.join(left)} not at all")

    def title(self, kind: str) -> str:
        """What the trace says of its source."""
        return f"{printable(self.path.name)}, as {kind}"

    @property
    def skip(self) -> int:
        """Entries before the first of numbers."""
        return 1 if self.head.names else 0

    def used(self, place: int, what: str) -> None:
        """Notes what a column was read as."""
        self._used.add(place)
        self.read.append(f"{self.head.titled(place)} as {what}")

    def place(self, asked: str | None, known: int | None, what: str) -> int:
        """Which column, from 0, by name or number."""
        if asked is None:
            if known is None:
                raise InputError(
                    f"{self.path}:{self.head.line}: which column has the {what} is not "
                    f"certain; give its name or number: {self.head.shown()}"
                )
            return known
        if asked in self.head.names:
            return self.head.names.index(asked)
        if asked.isdecimal() and 1 <= int(asked) <= self.head.width:
            return int(asked) - 1
        raise InputError(f"{self.path}: there is no column `{asked}`: {self.head.shown()}")

    def value_place(self, kind: str, what: str) -> int:
        """Which column has the values.

        Raises:
            InputError: none is certain, or its name says that it has others.
        """
        known = self.head.column(kind, but=self.time_place())
        place = self.place(self.option("column"), known, what)
        if other := self.head.other_kind(place, kind):
            raise InputError(
                f"{self.path}:{self.head.line}: {self.head.titled(place)} has {KINDS_OF[other]} by "
                f"its name, not {what}; give --as {other}, or another column with --column"
            )
        return place

    def time_place(self) -> int | None:
        """Which column has the times; None where none has.

        Raises:
            InputError: several may have them.
        """
        asked, known = self.option("time_column"), self.head.time_columns()
        if asked is not None:
            return self.place(asked, None, "times")
        if len(known) > 1:
            raise InputError(
                f"{self.path}:{self.head.line}: which column has the times is not certain; "
                f"give --time-column {' or '.join(self.head.name(one) for one in known)}"
            )
        return known[0] if known else None

    def numbers(self, places: list[int]) -> list[Numbers]:
        """The numbers of some columns."""
        return trace_reader.read_numbers(self.data, self.path, self.skip, places)

    def check(self, name: str, values: Numbers) -> None:
        """Refuses values that a column of a trace cannot have."""
        trace_reader.check_range(self.data, self.path, name, values, self.skip)

    def rates(self, place: int, values: Numbers) -> Numbers:
        """Bit rates in whole bit/s."""
        unit = self._unit(place, "rates", "unit", column_units.rates, RATES)
        self.used(place, f"rates in {unit}")
        values *= RATES[unit]
        return np.rint(values, out=values)

    def amounts(self, place: int, values: Numbers) -> Numbers:
        """Amounts of data in bytes."""
        unit = self._unit(place, "amounts", "unit", column_units.amounts, AMOUNTS, "B")
        self.used(place, f"amounts in {unit}")
        values *= AMOUNTS[unit] / 8
        whole = np.rint(values)
        return np.where(np.isclose(values, whole, rtol=1e-12, atol=1e-9), whole, values)

    def times(self, place: int, times: Numbers, *, channel: bool) -> Times:
        """Times in ns; those of a channel count from the first."""
        unit = self._unit(place, "times", "time_unit", column_units.times, TIMES, "s")
        self.used(place, f"times in {unit}")
        if channel and times[0] != 0:
            self.assumed.append(f"times count from the first, {times[0]:.10g} {unit}")
            times -= times[0]
        times *= TIMES[unit]
        return trace_reader.check_times(self.data, self.path, times, self.skip, channel)

    def _unit(
        self,
        place: int,
        what: str,
        option: str,
        named_in: Callable[[str], Named],
        known: dict[str, int] | dict[str, float],
        default: str | None = None,
    ) -> str:
        """The unit of a column, from its name or an option, or what it is by default.

        Raises:
            InputError: the two contradict each other, or neither says it exactly.
        """
        title, flag = self.head.titled(place), f"--{option.replace('_', '-')}"
        where = f"{self.path}:{self.head.line}: {title}"
        named, said = named_in(self.head.name(place)), self.option(option)
        if said is not None and said not in known:
            raise InputError(f"{flag} {said}: expected one of {column_units.listed(known)}")
        if said is not None and (named.units or named.doubt) and said not in named.units:
            unit = " or ".join(named.units) or f"another unit ({named.doubt})"
            raise InputError(f"{where} says {unit} by its name, and {flag} {said}; leave out one")
        if found := said or named.exact:
            return found
        if named.doubt:
            remedy = (
                f"give {flag} {' or '.join(named.units)}"
                if named.units
                else (f"convert it to one of {column_units.listed(known)}")
            )
            raise InputError(
                f"{where}: the unit of the {what} is not certain: {named.doubt}; {remedy}"
            )
        if default is None:
            raise InputError(
                f"{self.path}: the unit of the {what} in {title} is not known; "
                f"give {flag} with one of {column_units.listed(known)}"
            )
        self.assumed.append(f"{what} in {default}")
        return default

    def trace(
        self,
        kind: str,
        columns: dict[str, Numbers],
        times: tuple[int, Numbers] | None,
        what: str,
    ) -> Trace:
        """A channel's trace; entries without times, and those evenly apart, get a step."""
        for name, values in columns.items():
            self.check(name, values)
        if times is None:
            return Trace(kind, columns, self.title(what), step_ns=self._step())
        times_ns = self.times(*times, channel=True)
        if len(times_ns) < 2:
            raise InputError(
                f"{self.path}: one time says nothing of how long it lasts; expected two"
            )
        step_ns, end_ns, notes = spacing.of(times_ns)
        self.assumed += notes
        if step_ns is not None:
            return Trace(kind, columns, self.title(what), step_ns=step_ns)
        return Trace(kind, columns, self.title(what), times_ns=times_ns, end_ns=end_ns)

    def _step(self) -> int:
        """How far entries without times are apart.

        Raises:
            InputError: a column may have times after all.
        """
        step: int | None = self.option("step_ns")
        if step is not None:
            return step
        for place, name in enumerate(self.head.names):
            if place not in self._used and column_units.times(name).exact:
                raise InputError(
                    f"{self.path}:{self.head.line}: column `{name}` may have the times; give "
                    f"--time-column {name}, or --step with the time between entries"
                )
        self.assumed.append("entries are 2 ms apart, a TTI")
        return TTI_NS

    def timed(self, kind: str, what: str) -> tuple[int, Numbers, tuple[int, Numbers] | None]:
        """A column of values with its place, and that of times where there is one."""
        value, time = self.value_place(kind, what), self.time_place()
        if time is None:
            return value, self.numbers([value])[0], None
        values, times = self.numbers([value, time])
        return value, values, (time, times)
