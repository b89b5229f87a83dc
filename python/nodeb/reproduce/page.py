"""Answer and page of a reproduction, and of several together."""

from __future__ import annotations

import math
import platform
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os.path import relpath
from typing import TYPE_CHECKING, Any

from nodeb import _core, studies
from nodeb.answer import Answer, Mark, Rows
from nodeb.answer.words import counted
from nodeb.base.command_line import command_line
from nodeb.report import inline_svg, render
from nodeb.results.provenance import git_hash
from nodeb.study.axis import anchor, axis_label
from nodeb.study.campaign import Picture
from nodeb.study.items import Cell, Cells, Figure, Table
from nodeb.study.verdicts import JUDGEMENTS

if TYPE_CHECKING:
    from nodeb.reproduce.every import Summary
    from nodeb.reproduce.reproduction import ReproduceOutcome

Content = dict[str, Any]
SUBJECT = "Published studies, reproduced"
NO_VALUE = "\N{EN DASH}"
QUICK = "A quick version: few or short replications, so that many claims stay undecided."
SECTIONS = {
    "summary": "What was simulated",
    "studies": "Studies",
    "tables": "Tables",
    "figures": "Figures",
    "claims": "Claims",
    "assumptions": "Assumptions",
}
"""Sections of a page, shown if they have content."""
SIGNS = {"holds": "\N{CHECK MARK}", "contradicted": "\N{BALLOT X}", "undecided": "?"}
GRADES = {"holds": "near", "contradicted": "far", "undecided": "open"}
NEAR = {True: ("near", "\N{CHECK MARK}"), False: ("far", "\N{BALLOT X}"), None: ("", "")}
"""CSS class and sign of a cell that is or is not near its published value."""
INTERNET = ("Server", "TCP sender")
CORE, PHONE = ("Gateway", "proxy where there is one"), ("Phone", "TCP receiver")
RADIOS = {
    "hsdpa": ("HSDPA", "MAC-hs, HARQ, CQI, fading"),
    "hs_dsch": ("HS-DSCH or DCH", "RLC, MAC, block errors, scheduler"),
    "dch": ("DCH", "RLC, MAC, block errors"),
    "link": ("link", "queue"),
    "trace": ("trace", "queue"),
    "wcdma": ("WCDMA downlink", "frames, rate selection, selective repeat"),
    "fach_dch": ("FACH or DCH", "a queue per phone, switching policy"),
}


def answer(outcome: ReproduceOutcome) -> Answer:
    """Returns the answer that `nodeb reproduce` prints for one study."""
    study = outcome.study
    runs = counted(outcome.replications, "replication")
    scenarios = counted(outcome.scenarios, "scenario")
    headline, values = _agreement([outcome], outcome.quick)
    notes = [*values, f"{runs} of {scenarios}, seed {outcome.seed}, {outcome.wall_s:.1f} s."]
    contradicted = [
        Mark(SIGNS["contradicted"], f"contradicted: {verdict.text} {verdict.cause}".rstrip())
        for verdict in outcome.claims
        if verdict.judgement == "contradicted"
    ]
    return Answer(
        command="nodeb reproduce",
        subject=study.title,
        headline=headline,
        table=_headline(outcome),
        marks=[*contradicted, *(Mark("!", text) for text in outcome.unfinished)],
        notes=[*notes, *([QUICK] if outcome.quick else []), f"Page: {outcome.report}"],
    )


def together(summary: Summary) -> Answer:
    """Returns the answer of all studies: a row of counts for each."""
    headline, values = _agreement(summary.outcomes.values(), summary.quick)
    missing = f"Not everything is there; no results yet: {', '.join(summary.missing)}."
    head = ["", "claims hold", *JUDGEMENTS[1:], "values near"]
    return Answer(
        command="nodeb reproduce",
        subject=SUBJECT,
        headline=headline,
        table=Rows(head, [[name, *_counts([one])] for name, one in summary.outcomes.items()]),
        marks=[Mark("!", missing)] if summary.missing else [],
        notes=[*values, *([QUICK] if summary.quick else []), f"Page: {summary.report}"],
    )


def _counts(outcomes: Iterable[ReproduceOutcome]) -> list[str]:
    """Counts of claims by verdict, and of cells near the published values."""
    found = list(outcomes)
    judged = [verdict.judgement for one in found for verdict in one.claims]
    near = [cell.near for one in found for cell in one.cells if cell.near is not None]
    counts = [str(judged.count(kind)) for kind in JUDGEMENTS[1:]]
    hold = f"{judged.count('holds')} of {len(judged)}"
    return [hold, *counts, f"{sum(near)} of {len(near)}"]


def _agreement(outcomes: Iterable[ReproduceOutcome], quick: bool) -> tuple[str, list[str]]:
    """Returns the headline, and a note on published values if claims are the headline."""
    hold, contradicted, undecided, near = _counts(outcomes)
    claims = f"{hold} claims are confirmed"
    if undecided != "0":
        claims += f", {undecided} {'need the full run' if quick else 'undecided'}"
    if contradicted != "0":
        claims += f", {contradicted} contradicted"
    values = f"{near} published values are within the tolerance"
    parts = [f"{text}." for text, count in ((claims, hold), (values, near)) if count != "0 of 0"]
    headline, *rest = parts or ["nothing to compare with."]
    return headline, [text[0].upper() + text[1:] for text in rest]


def _headline(outcome: ReproduceOutcome) -> Rows | None:
    """The table that the study selects (`Study.show`), or else the first measured item."""
    if not outcome.measured:
        return None
    cells = next(iter(outcome.measured.values()))
    title, columns = f"{cells.spec.id}: {cells.spec.title}", None
    if (chosen := outcome.study.headline) is not None and chosen[1] in outcome.measured:
        title, columns, cells = chosen[0], chosen[2], outcome.measured[chosen[1]]
    if isinstance(cells.spec, Figure):
        rows = [[row[0].column, *map(_text, row)] for row in cells.rows]
        return Rows(["", *(cell.row for cell in cells.rows[0])], rows, title)
    head, rows = [""], [[row[0].row] for row in cells.rows]
    for column in zip(*cells.rows, strict=True):
        if columns is None or column[0].column in columns:
            texts = [(column[0].column, [_text(cell) for cell in column])]
            if any(cell.published is not None for cell in column):
                values = (cell.published for cell in column)
                published = [NO_VALUE if v is None else f"{v:g}" for v in values]
                texts.append(("published", published))
            head += [name for name, _ in texts]
            rows = [[*row, *more] for row, *more in zip(rows, *(t for _, t in texts), strict=True)]
    return Rows(head, rows, title)


def _text(cell: Cell) -> str:
    value, digits = cell.measured, cell.digits
    if not value.known:
        return "no value"
    ends = f" ({value.low:.{digits}f} to {value.high:.{digits}f})" if value.runs > 1 else ""
    return f"{value.value:.{digits}f}{ends}"


def html(outcome: ReproduceOutcome) -> str:
    """Returns the report of a reproduction, a self-contained HTML page."""
    study, measured = outcome.study, outcome.measured.values()
    name = study.name if study.name in studies.names() else relpath(study.file)
    options = {"item": outcome.items if outcome.items != study.items() else ()}
    interrupted = "This run was interrupted: only what it had measured is shown."
    facts = [
        ("Study", study.name),
        ("Replications", f"{outcome.replications} of {outcome.scenarios} distinct scenarios"),
        ("Warm-up", f"{study.warm_up_s(outcome.quick):g} s of each replication left out"),
        ("Intervals", "95 %, Student t over replications; jackknife for rates and spreads"),
        ("Files", "cells.csv (every cell and curve point), claims.csv, figures/ (PNG and SVG)"),
    ]
    drawn = (_drawn(cells) for cells in measured if isinstance(cells.spec, Figure))
    content: Content = {
        **study.texts,
        "reference": study.reference,
        "path": _path(tomllib.loads(study.scenario_text)) if study.scenario_text else [],
        "tables": [_table(cells) for cells in measured if isinstance(cells.spec, Table)],
        "figures": [_figure(one) for one in (*drawn, *outcome.pictures)],
        "claims": [("", "", verdict) for verdict in outcome.claims],
        "scenario": study.scenario_text,
    }
    banners = [] if outcome.complete else [interrupted]
    return _render(outcome, study.title, content, facts, name, options, banners)


def of_all(summary: Summary) -> str:
    """Returns the page about all studies, with links to each study's report."""
    content: Content = {"studies": [], "claims": []}
    for name, one in summary.outcomes.items():
        link = relpath(one.report, summary.report.parent).replace("\\", "/")
        content["studies"].append((link, one.study, _counts([one])))
        content["claims"] += ((name, f"{link}#claims", verdict) for verdict in one.claims)
    facts = [("Studies", ", ".join(summary.names)), ("Files", "summary.csv, claims.csv")]
    return _render(summary, SUBJECT, content, facts, "all")


def _render(
    about: ReproduceOutcome | Summary,
    title: str,
    content: Content,
    facts: list[tuple[str, str]],
    name: str,
    options: Mapping[str, Any] = {},
    banners: Sequence[str] = (),
) -> str:
    git = git_hash()
    version = _core.version() if git is None else f"{_core.version()} ({git[:12]}{git[40:]})"
    about_run = [
        ("Seed", str(about.seed)),
        ("nodeb", version),
        ("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        ("Wall time", f"{about.wall_s:.1f} s"),
    ]
    options = {"seed": about.seed, "quick": about.quick, **options}
    return render(
        "reproduction.html",
        {
            **dict.fromkeys((*SECTIONS, "question", "reference", "scenario"), ""),
            **content,
            "facts": [*facts, *about_run],
            "title": title,
            "banners": [*banners, *([QUICK] if about.quick else [])],
            "answer": replace(about.answer, table=None),
            "sections": [
                *((key, text) for key, text in SECTIONS.items() if content.get(key)),
                ("provenance", "Provenance"),
            ],
            "command": command_line("reproduce", name, options=options),
            "signs": SIGNS,
            "grades": GRADES,
        },
    )


def _table(cells: Cells) -> Content:
    spec, units = cells.spec, {cell.unit for cell in cells}
    return {
        "anchor": anchor(spec.id),
        "title": f"{spec.id}. {spec.title}",
        "unit": f"in {spec.unit}" if units == {spec.unit} and spec.unit else "",
        "corner": axis_label(spec.rows),
        "across": axis_label(spec.columns),
        "columns": [cell.column for cell in cells.rows[0]],
        "rows": [
            (row[0].row, [_shown(cell, len(units) > 1) for cell in row]) for row in cells.rows
        ],
        "note": spec.note,
    }


def _shown(cell: Cell, with_unit: bool) -> Content:
    """A cell of a table: measured value with interval; below it, what the paper printed."""
    measured, (css, sign) = cell.measured, NEAR[cell.near]
    text = number(measured.value, cell.digits) if measured.known else NO_VALUE
    half = half_width(measured.half_width, cell.digits)
    below = [] if cell.published is None else [f"published {cell.published:g} {sign}"]
    if cell.expected is not None:
        low, high = (number(end, cell.digits) for end in cell.expected)
        runs = "one run" if cell.runs == 1 else f"mean of {cell.runs} runs"
        below.append(f"{runs}: {low} .. {high} {NEAR[cell.within][1]}")
    return {
        "css": css,
        "text": f"{text} {cell.unit}".strip() if with_unit else text,
        "interval": f"\N{PLUS-MINUS SIGN} {half}" if measured.known and measured.runs > 1 else "",
        "hint": counted(measured.runs, "replication") if measured.runs else "calculated",
        "below": below,
    }


def half_width(value: float, digits: int) -> str:
    """With more digits than the value if it would be rounded to 0."""
    if 0 < value < 0.5 * 10**-digits:
        digits = min(digits + 2, -math.floor(math.log10(value)))
    return f"{value:.{digits}f}"


def number(value: float, digits: int) -> str:
    """Zero has no sign even if it was rounded from below."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def _drawn(cells: Cells) -> Picture:
    from nodeb.reproduce.figures import draw

    spec, digits = cells.spec, cells.spec.digits
    assert isinstance(spec, Figure)
    values = (
        f"{row[0].column}: {', '.join(number(cell.measured.value, digits) for cell in row)}"
        for row in cells.rows
    )
    spoken = f"{spec.y_label} by {spec.x_label}. {'; '.join(values)}"
    said = f"The paper: {spec.said}" if spec.said else ""
    printed = [value for row in spec.printed.values() for value in row.values()]
    hollow = any(value is not None for value in printed)
    stated = "Hollow markers are what the paper's tables or text say." if hollow else ""
    dotted = "Dotted lines are at what its text mentions." if spec.marks else ""
    note = " ".join(filter(None, (spec.note, said, stated, dotted)))
    return Picture(spec.id, spec.title, draw(cells, ""), spoken, note)


def _figure(one: Picture) -> Content:
    name = anchor(one.id)
    svg = inline_svg(one.figure, name, f"{one.title}. {one.spoken}")
    return {"id": one.id, "anchor": name, "title": one.title, "note": one.note, "svg": svg}


def _path(scenario: Mapping[str, Any]) -> list[tuple[tuple[str, str], list[str]]]:
    """The nodes of the simulated path, each with the texts of the link that follows."""
    wired, uplink, radio = scenario["wired"], scenario["uplink"], next(iter(scenario["radio"]))
    name, inside = RADIOS[radio]
    nodes = [(INTERNET, [f"{wired['rate']}", f"{wired['delay']} one way"])]
    core = scenario.get("core", [])
    if links := [core] if isinstance(core, Mapping) else list(core):
        iub = scenario["radio"][radio].get("iub", {})
        links += [{"name": "Iub", **iub}] if "delay" in iub else []
        names = ", ".join(link["name"].capitalize() for link in links if "name" in link)
        delays = " + ".join(str(link["delay"]).removesuffix(" ms") for link in links)
        nodes.append((CORE, [names, f"{delays} ms"]))
    air = [name, f"uplink {uplink['rate']}", f"{uplink['delay']}"]
    return [*nodes, (("Node B", inside), air), (PHONE, [])]
