"""Answer of a reproduction: how much of the published material agrees.

The headline consists of up to four parts, each only if it applies:

1. that it was interrupted, and how many tables and figures had been measured;
2. how many claims hold, and how many are contradicted or undecided;
3. how many published values lie within the tolerance of their table;
4. that there is nothing to compare with.

For several studies, the counts are totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nodeb.answer.answer import Answer, Fact, Mark, Rows
from nodeb.answer.numbers import Shown
from nodeb.answer.words import counted, joined, sentence
from nodeb.reproduce import digest
from nodeb.reproduce.digest import Digest
from nodeb.study.cell import Cell, Grid

if TYPE_CHECKING:
    from nodeb.reproduce.every import Summary
    from nodeb.reproduce.outcome import ReproduceOutcome

__all__ = ["answer", "together"]

CONTRADICTED = "\N{BALLOT X}"
QUICK = "A quick version: few or short replications, so that many claims stay undecided."


def answer(found: ReproduceOutcome) -> Answer:
    """Returns the answer that `nodeb reproduce` prints for one study."""
    about = digest.of(found)
    runs = counted(found.replications, "replication")
    scenarios = counted(found.scenarios, "scenario")
    notes = [f"{runs} of {scenarios}, seed {found.seed}, {found.wall_s:.1f} s."]
    return Answer(
        command="nodeb reproduce",
        subject=found.study.title,
        headline=_said(_headline([about])),
        facts=list(_facts([about])),
        table=_table(found),
        marks=[*_marks([about]), *(Mark("!", text) for text in found.unfinished)],
        notes=[*notes, *([QUICK] if found.quick else []), f"Page: {found.report}"],
    )


def together(summary: Summary, table: Rows) -> Answer:
    """Returns the answer of all studies.

    Args:
        summary: results of the studies.
        table: table with a row for each study.
    """
    found = list(summary.digests.values())
    quick = summary.quick
    before = [f"Complete before: {', '.join(summary.stayed)}."] if summary.stayed else []
    missing = [] if summary.complete else [Mark("!", f"Not everything is there: {summary.state}.")]
    return Answer(
        command="nodeb reproduce",
        subject="Published studies, reproduced",
        headline=_said(_headline(found)),
        facts=list(_facts(found)),
        table=table,
        marks=missing,
        notes=[*before, *([QUICK] if quick else []), f"Page: {summary.report}"],
    )


def _said(parts: Iterable[str]) -> str:
    """Joins sentences. Capitalizes all but the first, which continues a title."""
    first, *rest = parts
    return " ".join([first, *map(sentence, rest)])


def _headline(found: Sequence[Digest]) -> Iterator[str]:
    """Yields the sentences of the headline, about one study or several together."""
    items, measured = sum(len(one.items) for one in found), sum(one.measured for one in found)
    is_cut = not all(one.complete for one in found)
    if is_cut:
        yield f"interrupted with {measured} of {items} tables and figures measured."
    counts = {kind: sum(one.counts[kind] for one in found) for kind in KINDS}
    if claims := sum(counts.values()):
        others = [f"{counts[kind]} {kind}" for kind in KINDS[1:] if counts[kind]]
        rest = f"; {joined(others)}" if others else ""
        hold = "holds" if counts["holds"] == 1 else "hold"
        yield f"{counts['holds']} of {counted(claims, 'claim')} {hold}{rest}."
    if compared := sum(one.compared for one in found):
        near = sum(one.cells["near"] for one in found)
        are = "agrees" if near == 1 else "agree"
        yield (
            f"{near} of {counted(compared, 'published value')} {are} with what was measured, "
            "within the tolerance of the table."
        )
    if not compared and not claims and not is_cut:
        items_ = f"{measured} tables and figures were" if measured > 1 else "1 table or figure was"
        nothing = "nothing was measured."
        yield f"{items_} measured, with nothing to compare with." if measured else nothing


KINDS = ("holds", "contradicted", "undecided")
"""Verdicts on claims, in the order of the headline; the headline omits the last two if 0."""


def _facts(found: Sequence[Digest]) -> Iterator[Fact]:
    """Yields key figures such as "20 of 24": published values and claims that agree."""
    if not found:
        return
    parts = {
        "claims that hold": [(one.counts["holds"], len(one.claims)) for one in found],
        "published values near": [(one.cells["near"], one.compared) for one in found],
        "within the scatter of few runs": [(one.within, one.scattered) for one in found],
    }
    for name, pairs in parts.items():
        part, whole = (sum(column) for column in zip(*pairs, strict=True))
        if whole:
            yield Fact(name, Shown(f"{part} of {whole}", ""))


def _marks(found: Sequence[Digest]) -> Iterator[Mark]:
    """Yields a mark for each contradicted claim."""
    for claim in (claim for one in found for claim in one.claims):
        if claim.verdict == "contradicted":
            yield Mark(CONTRADICTED, f"contradicted: {claim.text}")


def _table(found: ReproduceOutcome) -> Rows | None:
    """Returns the table that the study declares as its headline, if that was measured.

    Otherwise, it is the first measured table, or the first measured figure if no table was
    measured; None if nothing was measured.
    """
    if (chosen := found.study.headline) is not None and chosen[1] in found.grids:
        title, table, columns = chosen
        grid = found.grids[table]
        return _of_grid(title, grid, [column for column in grid.columns if column in columns])
    if found.grids:
        grid = next(iter(found.grids.values()))
        return _of_grid(f"{grid.spec.id}: {grid.spec.title}", grid, list(grid.columns))
    if not found.charts:
        return None
    chart = next(iter(found.charts.values()))
    rows = [
        [label, *(_value(curve.cells[at]) for curve in chart.curves)]
        for at, label in enumerate(chart.x_ticks)
    ]
    title = f"{chart.spec.id}: {chart.spec.title} ({chart.spec.unit})"
    return Rows([chart.x_label, *(curve.label for curve in chart.curves)], rows, title)


def _of_grid(title: str, grid: Grid, wanted: Sequence[str]) -> Rows:
    compared = bool(grid.spec.published)
    columns = [""]
    for column in wanted:
        columns += [f"{column} published", "measured"] if compared else [column]
    rows = []
    for label, row in zip(grid.rows, grid.cells, strict=True):
        texts = [label]
        for cell in row:
            if cell.column in wanted:
                published = "\N{EN DASH}" if cell.published is None else f"{cell.published:g}"
                texts += [published, _value(cell)] if compared else [_value(cell)]
        rows.append(texts)
    return Rows(columns, rows, title)


def _value(cell: Cell) -> str:
    """Returns a measured value as text, with its interval if there are several replications."""
    found = cell.measured
    if not found.known:
        return "no value"
    if found.runs < 2:
        return f"{found.value:.{cell.digits}f}"
    low, high = (f"{end:.{cell.digits}f}" for end in (found.low, found.high))
    return f"{found.value:.{cell.digits}f} ({low} to {high})"
