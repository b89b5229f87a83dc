"""Curves of one column of a results table over another, split by the values of further columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.answer.words import percent
from nodeb.base.table import Table
from nodeb.base.units import quantity
from nodeb.errors import InputError, nearest
from nodeb.plot.intervals import errors
from nodeb.plot.style import (
    INK,
    SIZE,
    Look,
    color,
    dash,
    legend,
    marker,
    name_places,
    new_figure,
    nice_step,
)
from nodeb.plot.text import DIFFERENCE, SUFFIXES, Quantity
from nodeb.results.metrics import ALL
from nodeb.results.timeseries import time_averages
from nodeb.stats import mean_interval

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
HOLLOW: Look = {"marker": "o", "markerfacecolor": "white", "markersize": 8.0, "linestyle": "none"}
"""Style of the hollow markers of means that cover only some of the users."""
MAX_MARKERS = 40
"""Number of points above which a joined curve has no markers."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class _Curve:
    """A curve with its confidence band; where an end of the band is NaN, no band is drawn."""

    label: str
    x: Values
    mean: Values
    low: Values
    high: Values
    is_points: bool = False
    """Whether the curve's points are not joined by a line."""
    covered: Values | None = None
    """Share of users that each mean covers; None if all means cover all users."""

    def scaled(self, x: float, y: float) -> _Curve:
        return replace(self, x=x * self.x, mean=y * self.mean, low=y * self.low, high=y * self.high)


def curves(
    table: Table,
    x: str,
    y: str,
    by: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    log: str = "",
    title: str | None = None,
    ax: Axes | None = None,
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
        ax: axes to draw on; None for a new figure.

    Raises:
        InputError: there is no such column, no such row, or several rows for one point; or an axis
            does not suit its column.
    """
    if log not in LOG:
        raise InputError(f"log is `{log}`; expected x, y or xy")
    x, y, by = find(table, x), find(table, y), [find(table, name) for name in by]
    chosen = {find(table, name): value for name, value in (where or {}).items()}
    # The axes name the columns, so the title needs only the conditions.
    conditions = [f"{k} = {v}" for k, v in chosen.items() if (k, v) != ("group", ALL)]
    if "group" in table.columns and "group" not in (x, y, *by, *chosen) and ALL in table["group"]:
        chosen["group"] = ALL
    rows = _where(table, chosen)
    if not np.issubdtype(rows[y].dtype, np.number) and rows[y].dtype != bool:
        raise InputError(f"`{y}` is text; the y axis needs a column of numbers")
    is_text = not np.issubdtype(rows[x].dtype, np.number)
    ticks = list(dict.fromkeys(map(str, rows[x].tolist()))) if is_text else []
    if ticks and "x" in log:
        raise InputError(f"`{x}` is text, so the x axis cannot be logarithmic")
    keys = list(zip(*(rows[name].tolist() for name in by), strict=True)) or [()] * len(rows)
    parts = [
        _curve(
            ", ".join(map(_with_unit, by, key)),
            rows.where(np.array([one == key for one in keys])),
            *(x, y, ticks, {*by, *chosen}),
        )
        for key in dict.fromkeys(keys)
    ]
    places, means = (np.concatenate([getattr(part, k) for part in parts]) for k in ("x", "mean"))
    if not (np.isfinite(places) & np.isfinite(means)).any():
        raise InputError(f"there is no row with values of both `{x}` and `{y}`")
    for axis, column, values in (("x", x, places), ("y", y, means)):
        if axis in log and not (values > 0).any():
            raise InputError(f"`{column}` has no positive value for a logarithmic axis")
    across = Quantity.of(x, np.array([]) if ticks else places)
    metrics = set(rows["metric"].tolist()) if "metric" in rows.columns else set()
    up = Quantity.of(str(metrics.pop()) if len(metrics) == 1 else y, means)
    words = title or ", ".join(conditions), across.label, up.label
    figure, axes = new_figure(*words, ax=ax)
    parts = [part.scaled(across.factor, up.factor) for part in parts]
    shares = [_draw(axes, place, part, ticks) for place, part in enumerate(parts)]
    covered = min(shares, default=1.0)
    if covered < 1:
        text = f"hollow: mean of only some users, of {percent(covered)} at the least"
        axes.plot([], [], **HOLLOW, markeredgewidth=1.6, color=INK, label=text)
    if ticks:
        name_places(axes, ticks, SIZE[0])
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    elif all(np.nanmin(part.mean, initial=0.0) >= 0 for part in parts):
        # Zero is included first, because matplotlib's top margin is a share of the data's range.
        axes.update_datalim([(axes.dataLim.x0, 0)])
        axes.set_ylim(bottom=0)
    legend(
        axes,
        columns=3,
        fewest=1 if covered < 1 else 2,
        title=", ".join(Quantity.of(one, np.array([])).title for one in by),
    )
    marks = np.array([]) if ticks else np.unique(rows[x]) * across.factor
    if 1 < len(marks) <= FEW and np.diff(marks).min() >= APART * np.ptp(marks):
        axes.set_xticks(marks, [f"{mark:.6g}" for mark in marks.tolist()])
        axes.minorticks_off()
    elif rows[x].dtype.kind in "iu" and "x" not in log:
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    return figure


def _draw(axes: Axes, place: int, curve: _Curve, ticks: Sequence[str]) -> float:
    """Draws a curve, and its intervals as a band; with texts on the x axis, as error bars.

    Returns the smallest share of users that a mean covers.
    """
    paint, has_markers = color(place), len(curve.x) <= MAX_MARKERS or curve.is_points
    look: Look = {"color": paint, "label": curve.label, "markersize": 4.5}
    look["marker"] = marker(place) if has_markers else ""
    look["linestyle"] = "none" if ticks or curve.is_points else dash(place)
    axes.plot(curve.x, curve.mean, **look)
    if ticks or len(curve.x) == 1:
        ends = errors(curve.mean, curve.low, curve.high)
        axes.errorbar(curve.x, curve.mean, ends, fmt="none", ecolor=paint, capsize=3)
    else:
        axes.fill_between(curve.x, curve.low, curve.high, color=paint, alpha=0.2, linewidth=0)
    if curve.covered is None:
        return 1.0
    some = np.isfinite(curve.mean) & (curve.covered < 1)
    if some.any():
        axes.plot(curve.x[some], curve.mean[some], **HOLLOW, markeredgewidth=1.6, color=paint)
    return float(curve.covered[some].min(initial=1.0))


def column_of(table: Table, name: str) -> str | None:
    """`name` may lack the unit suffix."""
    names = (name, *(name + suffix for suffix in SUFFIXES))
    return next((column for column in names if column in table.columns), None)


def find(table: Table, name: str) -> str:
    """Like `column_of`, with an error that suggests a column."""
    if column := column_of(table, name):
        return column
    shown = [c for c in table.columns if not c.endswith((*ENDS, COVERED))]
    raise InputError(f"there is no column `{name}`{_suggestion(name, shown)}")


def _suggestion(name: str, columns: Sequence[str]) -> str:
    """A column with another unit, or with a shorter word (`t_s` of `time_s`); else the nearest."""
    word, unit = _word_and_unit(name)
    same_unit = [column for column in columns if _word_and_unit(column)[1] == unit]
    shorter = [
        column for column in same_unit if unit and word.startswith(column.removesuffix(unit))
    ]
    other_unit = [column for column in columns if _word_and_unit(column)[0] == word]
    if near := other_unit or shorter:
        return f"; did you mean `{max(near, key=len)}`?"
    return nearest(name, same_unit or columns)


def _word_and_unit(column: str) -> tuple[str, str]:
    unit = next((suffix for suffix in SUFFIXES if column.endswith(suffix)), "")
    return column.removesuffix(unit), unit


def _where(table: Table, chosen: Mapping[str, str]) -> Table:
    for name, value in chosen.items():
        rows = table.where(np.array([_is(one, value, name) for one in table[name].tolist()], bool))
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
    size = quantity(text)
    try:
        number = size[0] if size and column.endswith(f"_{size[1]}") else float(text)
        return bool(np.isclose(number, float(value), rtol=1e-9, atol=0))  # type: ignore[arg-type]
    except ValueError:
        return False


def _curve(
    label: str, rows: Table, x: str, y: str, ticks: Sequence[str], split: set[str]
) -> _Curve:
    used = {x, y, *split}
    at = np.array([ticks.index(str(v)) for v in rows[x].tolist()]) if ticks else rows[x]
    at, values = at.astype(np.float64), rows[y].astype(np.float64)
    ends = [y + end if y != "mean" else end[1:] for end in ENDS]
    has_ends = all(end in rows.columns for end in ends)
    if "run" in rows.columns and "run" not in used and not has_ends:
        if x == TIME:
            return _over_time(label, rows, y, used)
        # Each run counts once: its rows with the same position are averaged first.
        run, means = rows["run"], {}
        for place in np.unique(at):
            here = (at == place) & np.isfinite(values)
            means[place] = [values[here & (run == one)].mean() for one in np.unique(run[here])]
        curve = _means(label, means)
        # A measured x differs in almost every row, so the values are drawn as points, not a curve.
        is_measured = rows[x].dtype.kind == "f" and 2 * len(curve.x) > len(rows) > 1
        return replace(curve, is_points=is_measured and not ticks)
    _check_unique(rows, x, used)
    order = np.argsort(at, kind="stable")
    low, high = (rows[end][order] if has_ends else np.full(len(at), np.nan) for end in ends)
    share = y.removesuffix(DIFFERENCE) + COVERED if y != "mean" else COVERED[1:]
    covered = rows[share][order] if share in rows.columns else None
    return _Curve(label, at[order], values[order], low, high, covered=covered)


def _check_unique(rows: Table, x: str, used: set[str]) -> None:
    """Checks that each point has one row; the error names a column in which rows differ, if any."""
    if len(np.unique(rows[x])) == len(rows):
        return
    notes = (*ENDS, COVERED)
    others = [c for c in rows.columns if c not in used and not c.endswith(notes) and c not in NOTES]
    varying = [c for c in others if rows[c].dtype.kind in "OUSib" or "." in c]
    apart = next((c for c in varying if len(set(rows[c].tolist())) > 1), None)
    hint = f"; they differ in `{apart}`: add --by {apart} or --where {apart}=VALUE" if apart else ""
    raise InputError(f"a curve has several rows with the same {x}{hint}")


def _over_time(label: str, rows: Table, y: str, used: set[str]) -> _Curve:
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
    middles = ((edges[1:] + edges[:-1]) / 2)[use].tolist()
    return _means(label, dict(zip(middles, averages[:, use].T.tolist(), strict=True)))


def _means(label: str, values: Mapping[float, Sequence[float]]) -> _Curve:
    intervals = {place: mean_interval(of_runs) for place, of_runs in values.items() if of_runs}
    ends = [(place, i.mean, i.low, i.high) for place, i in intervals.items()]
    return _Curve(label, *np.array(ends, dtype=np.float64).reshape(-1, 4).T)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _with_unit(column: str, value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    quantity = Quantity.of(column, np.array([value]))
    return f"{value * quantity.factor:.6g} {quantity.unit}".rstrip()
