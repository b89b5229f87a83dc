"""The cells of a study's tables and the points of its curves, measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nodeb.errors import InputError
from nodeb.formulas import analytics
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.measure import Combined, Constant, Measured, Quantity, estimate
from nodeb.reproduce.metrics import metric
from nodeb.reproduce.specs import Choice, FigureSpec, Selection, TableSpec
from nodeb.reproduce.study import Study
from nodeb.stats import prediction_interval
from nodeb.study.cell import Cell, Chart, Curve, Grid, Prediction, Tolerance


def label(selection: Selection) -> str:
    """Text of a row or column."""
    return ", ".join(choice.label for choice in selection)


def quantity(campaign: Campaign, selection: Selection, default_metric: str | None) -> Quantity:
    """What a selection measures: a metric of its scenario, or a combination of two selections."""
    derived = next((choice for choice in selection if choice.derived), None)
    if derived is not None and derived.derived is not None:
        operation, left, right = derived.derived
        axis = campaign.study.axis(derived.axis)
        sides = [
            quantity(
                campaign,
                _replace(selection, derived, campaign.study.choice(axis, key)),
                default_metric,
            )
            for key in (left, right)
        ]
        return Combined(operation, sides[0], sides[1])
    name = next((choice.metric for choice in selection if choice.metric), default_metric)
    if name is None:
        raise InputError(f"{campaign.study.name}: nothing says what to measure")
    params: dict[str, Any] = {}
    for choice in selection:
        params.update(choice.params)
    return Measured(campaign.log(_base(selection)), metric(name), params)


def _replace(selection: Selection, old: Choice, new: Choice) -> Selection:
    return tuple(new if choice is old else choice for choice in selection)


def _base(selection: Selection) -> Selection:
    return tuple(choice for choice in selection if not choice.derived)


def needed(study: Study, selections: Iterable[Selection]) -> list[Selection]:
    """The scenarios behind some selections, those behind derived ones included."""
    found: list[Selection] = []
    for selection in selections:
        derived = next((choice for choice in selection if choice.derived), None)
        if derived is None or derived.derived is None:
            found.append(selection)
            continue
        axis = study.axis(derived.axis)
        sides = [_replace(selection, derived, study.choice(axis, k)) for k in derived.derived[1:]]
        found += needed(study, sides)
    return found


def table_selections(study: Study, table: TableSpec) -> list[Selection]:
    """The selections that a table simulates; none for an analytic table."""
    if table.analytic:
        return []
    return needed(study, study.select((*table.fixed, *table.rows, *table.columns)))


def figure_selections(study: Study, figure: FigureSpec) -> list[Selection]:
    """The selections that a figure simulates, those it compares with included."""
    points = study.select((*figure.fixed, *figure.series, figure.x))
    if figure.against:
        points += [_other(study, point, figure.against[1]) for point in points]
    return needed(study, points)


def _other(study: Study, selection: Selection, selector: str) -> Selection:
    """A selection with its choices of an axis replaced by the one that a selector names."""
    (other,) = study.choices(selector)
    return (*(choice for choice in selection if choice.axis != other.axis), other)


def table(campaign: Campaign, spec: TableSpec) -> Grid:
    """Measure a table."""
    study = campaign.study
    campaign.measure(table_selections(study, spec))
    fixed = tuple(choice for choices in study.select(spec.fixed) for choice in choices)
    rows, columns = study.select(spec.rows), study.select(spec.columns)
    cells = tuple(
        tuple(
            _table_cell(campaign, spec, fixed, (row, column), _published(spec, i, j))
            for j, column in enumerate(columns)
        )
        for i, row in enumerate(rows)
    )
    blocks = tuple(row[0].label if len(row) > 1 else "" for row in rows)
    labels = tuple(map(label, rows)), tuple(map(label, columns))
    return Grid(
        spec,
        *labels,
        cells,
        blocks,
        _axis_label(study, spec.rows),
        _axis_label(study, spec.columns),
    )


def _axis_label(study: Study, selectors: Sequence[str]) -> str:
    """What the rows or columns are, when they are of one axis."""
    return study.axis(selectors[0].partition(":")[0]).label if len(selectors) == 1 else ""


def _published(spec: TableSpec, row: int, column: int) -> float | None:
    return spec.published[row][column] if spec.published else None


def _table_cell(
    campaign: Campaign,
    spec: TableSpec,
    fixed: Selection,
    place: tuple[Selection, Selection],
    published: float | None,
) -> Cell:
    row, column = place
    selection = (*fixed, *row, *column)
    source: Quantity
    if spec.analytic:
        source = Constant(_calculate(spec.analytic, selection) * spec.scale)
    else:
        source = quantity(campaign, selection, spec.metric)
    value = estimate(source)
    unit = next((choice.unit for choice in selection if choice.unit), spec.unit)
    # A tolerance is in the table's own unit; cells in another unit are shown without a grade.
    tolerance = spec.tolerance if unit == spec.unit else Tolerance(relative=spec.tolerance.relative)
    return Cell(
        spec.id,
        label(row),
        label(column),
        unit,
        published,
        value,
        spec.digits,
        tolerance,
        _predicted(source, spec.published_runs),
        spec.rounding,
    )


def _predicted(source: Quantity, runs: int | None) -> Prediction | None:
    """Where the mean of `runs` replications lies; None for what two scenarios make together.

    Whether the two met the same losses in the study is not known, and decides how far they differ.
    """
    if runs is None or not isinstance(source, Measured):
        return None
    values = source.singles()
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    found = prediction_interval(values, runs)
    return Prediction(runs, found.low, found.high)


def _calculate(function: str, selection: Selection) -> float:
    params: dict[str, Any] = {}
    for choice in selection:
        params.update(choice.params)
    if function not in analytics.__all__:
        raise InputError(f"unknown formula `{function}` (known: {', '.join(analytics.__all__)})")
    return float(getattr(analytics, function)(**params))


def figure(campaign: Campaign, spec: FigureSpec, published: Mapping[str, TableSpec]) -> Chart:
    """Measure a figure; `published` are the study's tables, for markers that follow from them."""
    study = campaign.study
    campaign.measure(figure_selections(study, spec))
    fixed = tuple(choice for choices in study.select(spec.fixed) for choice in choices)
    places, series = study.choices(spec.x), study.select(spec.series)
    first = spec.panels  # axes of the panels are not named again in their legends
    curves = tuple(
        Curve(
            label(one[first:]),
            tuple(_x(place, at) for at, place in enumerate(places)),
            tuple(_point_cell(campaign, spec, fixed, one, place) for place in places),
            label(one[:first]),
            ", ".join(choice.context for choice in one[first:]),
        )
        for one in series
    )
    axis = study.axis(spec.x.partition(":")[0])
    ticks = tuple(place.label for place in places)
    rows = len(study.choices(spec.series[0])) if first > 1 else 1
    return Chart(spec, axis.label, ticks, curves, _implied(study, spec, published, series), rows)


def _x(choice: Choice, place: int) -> float:
    return float(place) if choice.x is None else choice.x


def _point_cell(
    campaign: Campaign, spec: FigureSpec, fixed: Selection, series: Selection, place: Choice
) -> Cell:
    selection = (*fixed, *series, place)
    point = quantity(campaign, selection, spec.metric)
    if spec.against:
        operation, selector = spec.against
        other = quantity(campaign, _other(campaign.study, selection, selector), spec.metric)
        point = Combined(operation, point, other)
    value = estimate(point)
    return Cell(spec.id, label((place,)), label(series), spec.unit, None, value, spec.digits)


def _implied(
    study: Study, spec: FigureSpec, tables: Mapping[str, TableSpec], series: Sequence[Selection]
) -> tuple[tuple[float | None, ...], ...]:
    """What a published utilization table, or the text, says about a figure, a tuple per curve."""
    if spec.published is None:
        return _points(study, spec, series)
    source, via = tables[spec.published[0]], spec.published[1]
    places = study.choices(spec.x)
    return tuple(
        tuple(
            None
            if source.published[i][j] is None
            else _from_utilization(float(source.published[i][j] or 0), via, (*one, place))
            for i, place in enumerate(places)
        )
        for j, one in enumerate(series)
    )


def _points(
    study: Study, spec: FigureSpec, series: Sequence[Selection]
) -> tuple[tuple[float | None, ...], ...]:
    """The values that the study's text gives of a figure's curves."""
    known = {(point["curve"], point["x"]): float(point["value"]) for point in spec.points}
    places = study.choices(spec.x)
    found = tuple(
        tuple(known.pop((label(one), place.key), None) for place in places) for one in series
    )
    if known:
        raise InputError(f"{study.name}: {spec.id} has no point {next(iter(known))}")
    return found


def _from_utilization(percent: float, via: str, selection: Selection) -> float:
    """A utilization, or the bit rate in kb/s behind it: `nodeb.formulas.analytics` backwards."""
    if via == "utilization":
        return percent
    params = {key: value for choice in selection for key, value in choice.params.items()}
    carried = percent / 100 * float(params["rate_kbps"])
    if via == "retransmit":
        return carried
    return carried * (1 - float(params["bler"])) * float(params["payload_share"])
