"""Report of a reproduction, an HTML page."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from os.path import relpath
from typing import TYPE_CHECKING, Any

from nodeb import _core, studies
from nodeb.base.command_line import command_line
from nodeb.report import answer as answers
from nodeb.report import render
from nodeb.reproduce import page_figures, page_predicted, page_tables
from nodeb.reproduce.diagram import path_diagram
from nodeb.reproduce.shown import Content, decimals, marked, number
from nodeb.results.provenance import git_hash
from nodeb.study.cell import Cell
from nodeb.study.targets import Checked
from nodeb.study.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.reproduce.outcome import ReproduceOutcome

GRADES = {"holds": "near", "contradicted": "far", "undecided": "open"}
STATES = {"met": "near", "missed": "far", "undecided": "open"}
"""Grade by state of a target; the grade, one of those of cells, sets the sign and the colour."""
SHORT_EVIDENCE = 3


def html(found: ReproduceOutcome) -> str:
    """Returns the report of a reproduction, a self-contained HTML page."""
    study = found.study
    tables = [page_tables.content(grid) for grid in found.grids.values()]
    content: Content = {
        "title": study.title,
        "question": study.texts.question,
        "reference": study.reference,
        "banners": _banners(found),
        "answer": answers.content(replace(found.answer, table=None)),
        "targets": [_target(target) for target in found.targets if target.measured],
        "summary": study.texts.summary,
        "limits": study.texts.limits,
        "diagram": _diagram(study),
        "tables": tables,
        "compared": any(table["compared"] for table in tables),
        "scattered": any(grid.spec.published_runs for grid in found.grids.values()),
        "predictions": page_predicted.content(study.predictions, found.cells, found.claims),
        "figures": [page_figures.content(item, chart) for item, chart in found.charts.items()]
        + [page_figures.of_picture(picture) for picture in found.pictures],
        "figures_note": page_figures.note(found.charts.values()),
        "claims": [_claim(verdict) for verdict in found.claims],
        "mismatches": _mismatches(found),
        "assumptions": study.texts.assumptions,
        "facts": _facts(found),
        "version": version()[0],
        "command": _command(found),
        "scenario": study.scenario_text,
    }
    content["sections"] = _sections(content)
    return render("reproduction.html", content)


def _diagram(study: Any) -> Any:
    """Returns a diagram of the simulated path, or "" if the page shows no scenario."""
    return path_diagram(tomllib.loads(study.scenario_text)) if study.scenario_text else ""


def _sections(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = [
        ("model", "What was simulated", "summary"),
        ("tables", "Tables", "tables"),
        ("predictions", "Predictions", "predictions"),
        ("figures", "Figures", "figures"),
        ("claims", "Claims", "claims"),
        ("mismatch", "What does not match", "title"),
        ("assumptions", "Assumptions", "assumptions"),
        ("conformance", "For developers", "targets"),
        ("provenance", "Provenance", "title"),
    ]
    return [(anchor_name, name) for anchor_name, name, key in names if content[key]]


def _banners(found: ReproduceOutcome) -> list[str]:
    banners = []
    if not found.complete:
        banners.append("This run was interrupted: only what it had measured is shown.")
    if found.quick:
        banners.append(
            "A quick version: few or short replications, so the intervals are wide and many claims "
            "stay undecided."
        )
    return banners


def _target(target: Checked) -> Content:
    return {
        **marked(STATES[target.state], target.state),
        "text": target.text,
        "result": target.result,
    }


# Sections of the page on claims and on mismatches with the paper.


def _claim(verdict: Verdict) -> Content:
    short = len(verdict.parts) <= SHORT_EVIDENCE
    return {
        **marked(GRADES[verdict.judgement], verdict.judgement),
        "text": verdict.text,
        "section": verdict.section,
        "counts": "; ".join(
            part for part in (verdict.summary, f"asked: {verdict.asked}", verdict.effort) if part
        ),
        "against": [] if short else verdict.against,
        "evidence": [text for text, _ in verdict.parts],
        "short": short,
    }


def _mismatches(found: ReproduceOutcome) -> list[Content]:
    """Returns a list of disagreements with the paper, and of failures.

    Its items are tables with cells beyond the tolerance, contradicted claims, and scenarios with
    downloads that did not complete.
    """
    texts = []
    for item, grid in found.grids.items():
        worse = [cell for cell in grid if cell.grade in ("off", "far")]
        if worse:
            grade = "far" if any(cell.grade == "far" for cell in worse) else "off"
            compared = sum(cell.published is not None for cell in grid)
            note = f" {grid.spec.note}" if grid.spec.note else ""
            text = f"{item}: {len(worse)} of {compared} cells lie beyond the tolerance.{note}"
            texts.append(_mismatch(grade, "far" if grade == "far" else "off", text, _list(worse)))
    texts += [
        _mismatch("far", "contradicted", verdict.text, "; ".join(verdict.against))
        for verdict in found.claims
        if verdict.judgement == "contradicted"
    ]
    texts += [_mismatch("far", "unfinished", text, "") for text in found.unfinished]
    return texts


def _mismatch(grade: str, verdict: str, text: str, detail: str) -> Content:
    return {**marked(grade, verdict), "text": text, "detail": detail}


def _list(cells: list[Cell]) -> str:
    return "; ".join(
        f"{cell.row}, {cell.column}: {number(cell.measured.value, cell.digits)} against "
        f"{number(cell.published or 0.0, decimals(cell))} {cell.unit}"
        for cell in cells
    )


# The section of the page on provenance, such as the seed and the version of nodeb.


def _facts(found: ReproduceOutcome) -> Content:
    shown, git = version()
    rows = [
        ("Study", found.study.name),
        ("Seed", str(found.seed)),
        ("nodeb", shown if git is None else f"{shown} ({git[:12]}{git[40:]})"),
        ("Python", platform.python_version()),
        ("Machine", f"{platform.system()} {platform.machine()}"),
        ("Replications", f"{found.replications} of {found.scenarios} distinct scenarios"),
        ("Wall time", f"{found.wall_s:.1f} s"),
        ("Warm-up", f"{found.study.warm_up_s(found.quick):g} s of each replication left out"),
        ("Intervals", "95 %, Student t over replications; jackknife for rates and spreads"),
        ("Files", "cells.csv (every cell and curve point), claims.csv, figures/ (PNG and SVG)"),
    ]
    return {"version": shown, "list": rows}


def version() -> tuple[str, str | None]:
    """Returns nodeb's version, and its git commit or `None` if that is unknown."""
    return _core.version(), git_hash()


def _command(found: ReproduceOutcome) -> str:
    study = found.study
    name = study.name if study.name in studies.names() else relpath(study.file)
    items = found.items if found.items != study.items() else ()
    options = {"seed": found.seed, "quick": found.quick, "item": items}
    return command_line("reproduce", name, options=options)
