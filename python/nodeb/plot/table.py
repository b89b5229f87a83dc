"""Curves of one column of a results table over another, split by the values of further columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.plot.bands import Curve, bands
from nodeb.plot.labels import DIFFERENCE, SUFFIXES, Quantity
from nodeb.plot.style import nice_step
from nodeb.results.metrics import ALL
from nodeb.results.timeseries import time_averages
from nodeb.stats import mean_interval
from nodeb.sweep.columns import quantity

__all__ = ["curves"]

TIME = "t_s"
BINS = 100
FEW, APART = 8, 0.04
"""Limits for ticks at exactly the x values: their maximum number, and their minimum distance."""
LOG = ("", "x", "y", "xy")
ENDS = ("_ci95_low", "_ci95_high")
COVERED = "_covered"
SERIES = ("user", "event")
NOTES = ("runs", "seed", "version", "precision_reached", "unit")
"""Columns that state the origin of a row; never suggested as columns that distinguish curves."""


def curves(
    table: Table,
    x: str,
    y: str,
    by: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    log: str = "",
    title: str | None = None,
) -> Figure:
    """Draws one column of a table over another, with 95 % confidence bands.

    The intervals are those of the table (the columns `<y>_ci95_low` and `<y>_ci95_high` of a
    sweep). For a table with a column `run` and without intervals, they are computed from the
    replications, after averaging the rows of a run with the same x. Means that exclude users
    (`<y>_covered`) have hollow markers, which the legend explains. Time series (x is `t_s`) are
    averaged in 40 to 100 intervals, up to the end of the shortest run. The unit suffix of a
    column's name may be omitted.

    Args:
        table: a table of a sweep or of a result.
        x: column of the x axis; texts become positions next to each other.
        y: column of the y axis.
        by: columns that distinguish curves.
        where: values that rows must have to be used, by column. If the table has rows for all users
            together (`group` is `all`), only these are used, unless an argument names `group`.
        log: axes with a logarithmic scale: "", "x", "y" or "xy".
        title: title of the figure; None for the conditions in `where`.

    Raises:
        InputError: there is no such column, no such row, or several rows for one point; or an axis
            does not suit its column.
    """
    if log not in LOG:
        raise InputError(f"log is `{log}`; expected x, y or xy")
    x, y, by = find(table, x), find(table, y), [find(table, name) for name in by]
    chosen = {find(table, name): value for name, value in (where or {}).items()}
    if "group" in table.columns and "group" not in (x, y, *by, *chosen):
        chosen |= {"group": ALL} if ALL in table["group"] else {}
    rows = _where(table, chosen)
    if not np.issubdtype(rows[y].dtype, np.number) and rows[y].dtype != bool:
        raise InputError(f"`{y}` is text; the y axis needs a column of numbers")
    ticks = _ticks(rows[x])
    if ticks and "x" in log:
        raise InputError(f"`{x}` is text, so the x axis cannot be logarithmic")
    parts = [
        _curve(label, part, x, y, ticks, {x, y, *by, *chosen}) for label, part in _split(rows, by)
    ]
    across = Quantity.of(x, np.concatenate([c.x for c in parts]) if not ticks else np.array([]))
    up = Quantity.of(_metric(rows, y), np.concatenate([c.mean for c in parts]))
    if not any((np.isfinite(c.x) & np.isfinite(c.mean)).any() for c in parts):
        raise InputError(f"there is no row with values of both `{x}` and `{y}`")
    for axis, parts_of in (("x", [c.x for c in parts]), ("y", [c.mean for c in parts])):
        if axis in log and not any((values > 0).any() for values in parts_of):
            column = x if axis == "x" else y
            raise InputError(f"`{column}` has no positive value for a logarithmic axis")
    conditions = [
        f"{name} = {value}" for name, value in chosen.items() if (name, value) != ("group", ALL)
    ]
    figure = bands(
        # The axes name the columns, so the title needs only the conditions.
        title or ", ".join(conditions),
        across.label,
        up.label,
        [_scaled(curve, across.factor, up.factor) for curve in parts],
        ticks=ticks,
        log=log,
        key=", ".join(by),
    )
    places = np.unique(rows[x]) * across.factor if not ticks else np.array([])
    if 1 < len(places) <= FEW and np.diff(places).min() >= APART * np.ptp(places):
        figure.axes[0].set_xticks(places, [f"{place:.6g}" for place in places.tolist()])
        figure.axes[0].minorticks_off()
    elif rows[x].dtype.kind in "iu" and "x" not in log:
        figure.axes[0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    return figure


def find(table: Table, name: str) -> str:
    """`name` may lack the unit suffix."""
    for column in (name, *(name + suffix for suffix in SUFFIXES)):
        if column in table.columns:
            return column
    shown = [c for c in table.columns if not c.endswith((*ENDS, COVERED))]
    raise InputError(f"there is no column `{name}`{nearest(name, shown)}")


def _metric(rows: Table, y: str) -> str:
    """Returns the name of the metric to be drawn from `rows`.

    It is the entry of the column `metric` if that is the same in all rows, else the column `y`.
    """
    metrics = set(rows["metric"].tolist()) if "metric" in rows.columns else set()
    return str(metrics.pop()) if len(metrics) == 1 else y


def _where(table: Table, chosen: Mapping[str, str]) -> Table:
    for name, value in chosen.items():
        is_so = [_is(one, value, name) for one in table[name].tolist()]
        rows = table.where(np.array(is_so, dtype=bool))
        if not len(rows):
            known = ", ".join(_shown(one) for one in np.unique(table[name])[:20].tolist())
            raise InputError(f"no row has {name} = {value} (there is: {known or 'nothing'})")
        table = rows
    if not len(table):
        raise InputError("the table has no rows")
    return table


def _is(value: object, text: str, column: str) -> bool:
    """The text may have the unit of the column, as in `50 ms`; without a unit it is a number."""
    if isinstance(value, bool | str):
        return str(value).lower() == text.lower()
    found = quantity(text)
    try:
        number = found[0] if found and column.endswith(f"_{found[1]}") else float(text)
        return bool(np.isclose(number, float(value), rtol=1e-9, atol=0))  # type: ignore[arg-type]
    except ValueError:
        return False


def _ticks(column: NDArray[Any]) -> list[str]:
    if np.issubdtype(column.dtype, np.number):
        return []
    return list(dict.fromkeys(str(one) for one in column.tolist()))


def _split(rows: Table, by: Sequence[str]) -> Iterator[tuple[str, Table]]:
    keys = list(zip(*(rows[name].tolist() for name in by), strict=True)) or [()] * len(rows)
    for key in dict.fromkeys(keys):
        yield (
            ", ".join(map(_shown, key)),
            rows.where(np.array([one == key for one in keys], dtype=bool)),
        )


def _curve(label: str, rows: Table, x: str, y: str, ticks: Sequence[str], used: set[str]) -> Curve:
    at = np.array([ticks.index(str(v)) for v in rows[x].tolist()]) if ticks else rows[x]
    at, values = at.astype(np.float64), rows[y].astype(np.float64)
    ends = [y + end if y != "mean" else end[1:] for end in ENDS]
    known = all(end in rows.columns for end in ends)
    if "run" in rows.columns and "run" not in used and not known:
        if x == TIME:
            return _over_time(label, rows, y, used)
        curve = _of_runs(label, at, values, rows["run"])
        # A measured x differs in almost every row, so the values are drawn as points, not a curve.
        is_measured = rows[x].dtype.kind == "f" and 2 * len(curve.x) > len(rows) > 1
        return replace(curve, points=is_measured and not ticks)
    _check_unique(rows, x, used)
    order = np.argsort(at, kind="stable")
    low, high = (rows[end] if known else np.full(len(rows), np.nan) for end in ends)
    share = y.removesuffix(DIFFERENCE) + COVERED if y != "mean" else COVERED[1:]
    covered = rows[share][order] if share in rows.columns else None
    return Curve(label, at[order], values[order], low[order], high[order], covered=covered)


def _check_unique(rows: Table, x: str, used: set[str]) -> None:
    """Checks that each point has one row; the error names a column in which rows differ, if any."""
    if len(np.unique(rows[x])) == len(rows):
        return
    about = (*ENDS, COVERED)
    others = [c for c in rows.columns if c not in used and not c.endswith(about) and c not in NOTES]
    varying = [c for c in others if rows[c].dtype.kind in "OUSib" or "." in c]
    apart = next((c for c in varying if len(set(rows[c].tolist())) > 1), None)
    hint = f"; they differ in `{apart}`: add --by {apart} or --where {apart}=VALUE" if apart else ""
    raise InputError(f"a curve has several rows with the same {x}{hint}")


def _of_runs(
    label: str, at: NDArray[np.float64], values: NDArray[np.float64], run: NDArray[Any]
) -> Curve:
    """Returns a curve whose points are the means over the runs at each position on the x axis.

    Each run counts once: its rows with the same position are averaged first.
    """
    places = np.unique(at)
    found = []
    for place in places:
        here = (at == place) & np.isfinite(values)
        found.append([values[here & (run == r)].mean() for r in np.unique(run[here])])
    return _means(label, places, found)


def _over_time(label: str, rows: Table, y: str, used: set[str]) -> Curve:
    for name in SERIES:
        if name in rows.columns and name not in used and len(set(rows[name].tolist())) > 1:
            raise InputError(
                f"the table has series for several values of `{name}`; "
                f"add --by {name} or --where {name}=VALUE"
            )
    end = float(rows[TIME].max())
    step = nice_step(end, BINS)
    edges = np.arange(0.0, end + step, step)
    runs = [rows.where(rows["run"] == run) for run in np.unique(rows["run"])]
    averages = np.array([time_averages(one[TIME], one[y], edges) for one in runs])
    # Intervals after the end of the shortest replication are left out, because means over the other
    # replications could not be compared with those before.
    use = np.isfinite(averages).all(axis=0)
    return _means(label, ((edges[1:] + edges[:-1]) / 2)[use], averages[:, use].T.tolist())


def _means(label: str, at: NDArray[np.float64], found: Sequence[Sequence[float]]) -> Curve:
    kept = np.array([len(values) > 0 for values in found], dtype=bool)
    intervals = [mean_interval(values) for values in found if len(values)]
    ends = [(i.mean, i.low, i.high) for i in intervals]
    return Curve(label, at[kept], *np.array(ends, dtype=np.float64).reshape(-1, 3).T)


def _scaled(curve: Curve, across: float, up: float) -> Curve:
    low, high = curve.low * up, curve.high * up
    return replace(curve, x=curve.x * across, mean=curve.mean * up, low=low, high=high)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
