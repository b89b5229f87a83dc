"""A recording during its import: columns, units and assumptions."""

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
from nodeb.inputs.separators import check_separators
from nodeb.inputs.trace_file import Numbers, Times, Trace
from nodeb.inputs.ttis import TTI_NS

__all__ = ["Options", "Source"]


@dataclass(frozen=True)
class Options:
    """Options of an import; None for an option that was not given."""

    step_ns: int | None = None
    """Spacing of entries without times, ns; by default 2 ms, a TTI of HSDPA."""
    unit: str | None = None
    """Unit of rates or of amounts of data: a key of `RATES` or of `AMOUNTS`."""
    time_unit: str | None = None
    """Unit of times, a key of `TIMES`; by default that in the column's name, or s."""
    column: str | None = None
    """Name or number, from 1, of the column of values."""
    time_column: str | None = None
    """Name or number, from 1, of the column of times."""
    opportunity_bytes: int | None = None
    """Size of the delivery opportunity in each line of a mahimahi trace, bytes; by default 1500."""


KINDS_OF = {"cqi": "CQIs", "rates": "rates", "snr": "SNRs", "traffic": "amounts of data"}
NAMES = {"step_ns": "--step", "opportunity_bytes": "--bytes"}
"""Field of `Options` -> name of the option, where it differs from the field's name."""


class Source:
    """Recording that is being imported."""

    def __init__(self, data: bytes, path: Path, options: Options) -> None:
        self.data, self.path = unquoted(data, path), path
        check_separators(self.data, path)
        self.head = Head.of(self.data)
        self.read: list[str] = []
        self.assumed: list[str] = []
        self._options = options
        self._asked: set[str] = set()
        self._used: set[int] = set()

    def option(self, name: str) -> Any:
        """The option counts as used, so that `finish` does not reject it."""
        self._asked.add(name)
        return getattr(self._options, name)

    def finish(self, kind: str) -> None:
        """Rejects options without effect, and reports columns that were not read."""
        for one in fields(Options):
            if getattr(self._options, one.name) is not None and one.name not in self._asked:
                option = NAMES.get(one.name, f"--{one.name.replace('_', '-')}")
                raise InputError(
                    f"{self.path}: {option} has no effect on such a recording of {kind}; "
                    "leave it out"
                )
        left = [self.head.describe_column(i) for i in range(self.head.width) if i not in self._used]
        if left:
            self.read.append(f"{', '.join(left)} not at all")

    def title(self, kind: str) -> str:
        return f"{printable(self.path.name)}, as {kind}"

    @property
    def skip(self) -> int:
        """Number of headings before the first line of numbers: 1 if columns have names, else 0."""
        return 1 if self.head.names else 0

    def record_use(self, place: int, what: str) -> None:
        """Records that a column was read, and its interpretation `what` for the messages."""
        self._used.add(place)
        self.read.append(f"{self.head.describe_column(place)} as {what}")

    def index(self, asked: str | None, known: int | None, what: str) -> int:
        if asked is None:
            if known is None:
                raise InputError(
                    f"{self.path}:{self.head.line}: the column of the {what} is not certain; "
                    f"give its name or number: {self.head.describe()}"
                )
            return known
        if asked in self.head.names:
            return self.head.names.index(asked)
        if asked.isdecimal() and 1 <= int(asked) <= self.head.width:
            return int(asked) - 1
        raise InputError(f"{self.path}: there is no column `{asked}`: {self.head.describe()}")

    def value_index(self, kind: str, what: str) -> int:
        known = self.head.column(kind, but=self.time_index())
        place = self.index(self.option("column"), known, what)
        if other := self.head.other_kind(place, kind):
            raise InputError(
                f"{self.path}:{self.head.line}: {self.head.describe_column(place)} has "
                f"{KINDS_OF[other]} by its name, not {what}; give --as {other}, or another column "
                "with --column"
            )
        return place

    def time_index(self) -> int | None:
        asked, known = self.option("time_column"), self.head.time_columns()
        if asked is not None:
            return self.index(asked, None, "times")
        if len(known) > 1:
            raise InputError(
                f"{self.path}:{self.head.line}: the column of the times is not certain; "
                f"give --time-column {' or '.join(self.head.name(one) for one in known)}"
            )
        return known[0] if known else None

    def numbers(self, places: list[int]) -> list[Numbers]:
        return trace_reader.read_numbers(self.data, self.path, self.skip, places)

    def timed_numbers(self, value: int, time: int, what: str) -> tuple[Numbers, Numbers]:
        if value == time:
            raise InputError(
                f"{self.path}: {self.head.describe_column(value)} cannot have both the {what} and "
                "the times; give --column and --time-column different columns"
            )
        values, times = self.numbers([value, time])
        return values, times

    def check(self, name: str, values: Numbers) -> None:
        trace_reader.check_range(self.data, self.path, name, values, self.skip)

    def rates(self, place: int, values: Numbers) -> Numbers:
        """Converts bit rates of the column `place`, in place, to whole bit/s, and returns them."""
        unit = self._unit(place, "rates", "unit", column_units.rates, RATES)
        self.record_use(place, f"rates in {unit}")
        values *= RATES[unit]
        return np.rint(values, out=values)

    def amounts(self, place: int, values: Numbers) -> Numbers:
        """A result that is a whole number of bytes except for rounding errors is rounded."""
        unit = self._unit(place, "amounts", "unit", column_units.amounts, AMOUNTS, "B")
        self.record_use(place, f"amounts in {unit}")
        values *= AMOUNTS[unit] / 8
        whole = np.rint(values)
        return np.where(np.isclose(values, whole, rtol=1e-12, atol=1e-9), whole, values)

    def times(self, place: int, times: Numbers, *, channel: bool) -> Times:
        """`place` is the index of their column."""
        unit = self._unit(place, "times", "time_unit", column_units.times, TIMES, "s")
        self.record_use(place, f"times in {unit}")
        first = 0.0
        if channel and times[0] != 0:
            first = times[0]
            self.assumed.append(f"times count from the first, {first:.10g} {unit}")
            times -= first
        times *= TIMES[unit]

        def show(time_s: float) -> str:
            return f"{time_s / TIMES[unit] + first:.10g} {unit}"

        return trace_reader.check_times(self.data, self.path, times, self.skip, channel, show)

    def _unit(
        self,
        place: int,
        what: str,
        option: str,
        named_in: Callable[[str], Named],
        known: dict[str, int] | dict[str, float],
        default: str | None = None,
    ) -> str:
        title, flag = self.head.describe_column(place), f"--{option.replace('_', '-')}"
        where = f"{self.path}:{self.head.line}: {title}"
        named, said = named_in(self.head.name(place)), self.option(option)
        if said is not None and said not in known:
            raise InputError(f"{flag} {said}: expected one of {column_units.unit_list(known)}")
        if said is not None and (named.units or named.doubt) and said not in named.units:
            unit = " or ".join(named.units) or f"another unit ({named.doubt})"
            raise InputError(
                f"{where} is in {unit} by its name, not in {said}; leave out {flag} "
                f"or rename the column"
            )
        if found := said or named.exact:
            return found
        if named.doubt:
            remedy = (
                f"give {flag} {' or '.join(named.units)}"
                if named.units
                else (f"convert it to one of {column_units.unit_list(known)}")
            )
            raise InputError(
                f"{where}: the unit of the {what} is not certain: {named.doubt}; {remedy}"
            )
        if default is None:
            raise InputError(
                f"{self.path}: the unit of the {what} in {title} is not known; "
                f"give {flag} with one of {column_units.unit_list(known)}"
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
        """Creates a channel's trace, with a step instead of times if entries are equally spaced."""
        for name, values in columns.items():
            self.check(name, values)
        if times is None:
            return Trace(kind, columns, self.title(what), step_ns=self._step())
        times_ns = self.times(*times, channel=True)
        if len(times_ns) < 2:
            raise InputError(
                f"{self.path}: an entry's duration cannot be derived from one time; expected two"
            )
        step_ns, end_ns, notes = spacing.durations(times_ns)
        self.assumed += notes
        if step_ns is not None:
            return Trace(kind, columns, self.title(what), step_ns=step_ns)
        return Trace(kind, columns, self.title(what), times_ns=times_ns, end_ns=end_ns)

    def _step(self) -> int:
        """Returns the spacing of entries without times, ns: the option `--step`, or 2 ms."""
        step: int | None = self.option("step_ns")
        if step is not None:
            return step
        for place, name in enumerate(self.head.names):
            if place not in self._used and column_units.times(name).exact:
                raise InputError(
                    f"{self.path}:{self.head.line}: column `{name}` may have the times; give "
                    f"--time-column {name}, or --step with the time between entries"
                )
        self.assumed.append("entries are 2 ms apart, a TTI of HSDPA")
        return TTI_NS

    def timed_values(self, kind: str, what: str) -> tuple[int, Numbers, tuple[int, Numbers] | None]:
        """Returns three items: the index of the column of values, the values, and a pair of the
        index of the column of times and the times."""
        value, time = self.value_index(kind, what), self.time_index()
        if time is None:
            return value, self.numbers([value])[0], None
        values, times = self.timed_numbers(value, time, what)
        return value, values, (time, times)
