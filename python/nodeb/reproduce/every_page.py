"""Page about all studies, and the table `summary.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from os.path import relpath
from typing import TYPE_CHECKING, Any

from nodeb import studies
from nodeb.answer import Answer, Rows
from nodeb.base.command_line import command_line
from nodeb.report import answer as answers
from nodeb.report import render
from nodeb.reproduce.answer import together
from nodeb.reproduce.digest import Digest, Judged
from nodeb.reproduce.page import GRADES, STATES, version
from nodeb.reproduce.shown import Content, marked
from nodeb.storage.files import csv_text
from nodeb.study.verdicts import JUDGEMENTS

if TYPE_CHECKING:
    from nodeb.reproduce.every import Summary

COLUMNS = (
    "study",
    "state",
    "quick",
    "seed",
    "version",
    "items",
    "items_measured",
    "claims",
    *JUDGEMENTS,
    "targets",
    "met",
    "missed",
    "targets_undecided",
    "cells_compared",
    "near",
    "off",
    "far",
    "scattered",
    "within_scatter",
    "replications",
    "scenarios",
    "wall_s",
)
TITLE = "Published studies, reproduced"
CSS = (*(GRADES[kind] for kind in JUDGEMENTS), "", "", "", "", "")
"""CSS classes of the counts in the row of a study, in order."""
STATE_GRADES = {"complete": "near", "interrupted": "off", "missing": "open"}


def summary_csv(summary: Summary) -> str:
    """Returns the text of `summary.csv`: a row for each study.

    Cells of unknown values are empty.
    """
    return csv_text(COLUMNS, (_row(summary, name) for name in summary.names))


def _row(summary: Summary, name: str) -> list[object]:
    found = summary.digests.get(name)
    same = [name, state(found), summary.quick, summary.seed, version()[0]]
    if found is None:
        return [*same, *[""] * (len(COLUMNS) - len(same))]
    counts, states = found.counts, found.states
    claims = [len(found.claims), *(counts[kind] for kind in JUDGEMENTS)]
    targets = [found.judged, states["met"], states["missed"], states["undecided"]]
    cells = [found.compared, *found.cells.values(), found.scattered, found.within]
    effort = [found.replications, found.scenarios, found.wall_s]
    return [*same, len(found.items), found.measured, *claims, *targets, *cells, *effort]


def answer(summary: Summary) -> Answer:
    """Returns the answer about all studies: a row of counts for each study, and a row of sums."""
    head = ["", "claims hold", "contradicted", "targets met", "values near"]
    rows = [[name, *_agreed([one])] for name, one in summary.digests.items()]
    return together(summary, Rows(head, [*rows, ["together", *_agreed(summary.digests.values())]]))


def _agreed(digests: Iterable[Digest]) -> list[str]:
    """Returns counts of claims, targets and values that agree, for the columns of the answer."""
    total = _sums(digests)
    return [
        _share(total["holds"], sum(total[kind] for kind in JUDGEMENTS)),
        str(total["contradicted"]),
        _share(total["met"], total["targets"]),
        _share(total["near"], total["compared"]),
    ]


def state(found: Digest | None) -> str:
    """Returns the state of a study: `complete`, `interrupted` or `missing`."""
    return "missing" if found is None else "complete" if found.complete else "interrupted"


def html(summary: Summary) -> str:
    """Returns the page about all studies as one HTML file, with links to each study's report."""
    claims = [
        _claim(summary, name, one)
        for name, found in summary.digests.items()
        for one in found.claims
    ]
    content: Content = {
        "title": TITLE,
        "banners": list(_banners(summary)),
        "answer": answers.content(replace(answer(summary), table=None, marks=())),
        "studies": [_study(summary, name) for name in summary.names],
        "total": _counts(summary.digests.values()),
        "claims": claims,
        "targets": [
            {"study": name, "text": one.text, "result": one.summary, **_target(one)}
            for name, found in summary.digests.items()
            for one in found.targets
            if one.verdict != "not measured"
        ],
        "names": list(summary.digests),
        "verdicts": JUDGEMENTS,
        "facts": list(_facts(summary)),
        "version": version()[0],
        "command": _command(summary),
    }
    sections = [("studies", "Verdicts"), ("targets", "Targets"), ("claims", "Claims")]
    content["sections"] = [one for one in sections if content[one[0]]]
    content["sections"].append(("provenance", "Provenance"))
    return render("studies.html", content)


def _banners(summary: Summary) -> Iterator[str]:
    if not summary.complete:
        yield f"Not everything is there: {summary.state}."
    if summary.quick:
        yield (
            "Quick versions: few or short replications, so the intervals are wide and many claims "
            "stay undecided."
        )


def _sums(digests: Iterable[Digest]) -> dict[str, Any]:
    """Returns the sums of the counts over studies, and the sum of their durations."""
    names = ("compared", "within", "scattered", "replications", "scenarios", "wall_s")
    found = list(digests)
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in found) for name in names}
    sums |= {kind: sum(one.counts[kind] for one in found) for kind in JUDGEMENTS}
    sums["targets"] = sum(one.judged for one in found)
    sums["met"] = sum(one.states["met"] for one in found)
    sums["near"] = sum(one.cells["near"] for one in found)
    return sums


def _study(summary: Summary, name: str) -> Content:
    """Returns the row of one study in the table of verdicts."""
    found, about = summary.digests.get(name), studies.load(name)
    shown = state(found)
    return {
        "name": name,
        "title": about.title,
        "link": _link(summary, name),
        "state": marked(STATE_GRADES[shown], shown),
        "measured": "" if found is None else f"{found.measured} of {len(found.items)}",
        "cells": [] if found is None else list(zip(_counts([found]), CSS, strict=True)),
    }


def _counts(digests: Iterable[Digest]) -> list[str]:
    """Returns the counts in a row of the table of verdicts, for one study or several together."""
    total = _sums(digests)
    return [
        *(str(total[kind]) for kind in JUDGEMENTS),
        _share(total["met"], total["targets"]),
        _share(total["near"], total["compared"]),
        _share(total["within"], total["scattered"]),
        str(total["replications"]),
        duration(total["wall_s"]),
    ]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "\N{EN DASH}"


def duration(seconds: float) -> str:
    """Returns a duration as text in s, min or h: "8.5 s", "4.2 min", "1.3 h"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _claim(summary: Summary, name: str, one: Judged) -> Content:
    return {
        "study": name,
        "judgement": one.verdict,
        **marked(GRADES[one.verdict], one.verdict),
        "text": one.text,
        "section": one.section,
        "counts": one.summary,
        "against": one.against,
        "link": f"{_link(summary, name)}#claims",
    }


def _target(one: Judged) -> Content:
    return marked(STATES[one.verdict], one.verdict)


def _link(summary: Summary, name: str) -> str:
    """Returns the link to a study's report, relative to the page; "" if there is none."""
    report = summary.reports.get(name)
    return "" if report is None else relpath(report, summary.report.parent).replace("\\", "/")


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    shown, git = version()
    yield "Studies", ", ".join(summary.names)
    yield "Seed", str(summary.seed)
    yield "nodeb", shown if git is None else f"{shown} ({git[:12]}{git[40:]})"
    yield "Wall time", f"{duration(summary.wall_s)} with {summary.jobs} threads"
    if summary.stayed:
        yield "Complete before", ", ".join(summary.stayed)
    yield "Files", "summary.csv (a row for each study), claims.csv (every claim with its evidence)"


def _command(summary: Summary) -> str:
    options = {"seed": summary.seed, "quick": summary.quick}
    return command_line("reproduce", "all", options=options)
