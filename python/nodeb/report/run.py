"""The page of a run: its summary, the cell, and what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from nodeb.report.render import render
from nodeb.report.svg import inline_svg
from nodeb.terminal.text import SUMMARY, summary_rows

if TYPE_CHECKING:
    from nodeb.results.result import Result

MOST_USERS = 10
"""With more users than this a picture of everybody's series says nothing; it is then of one."""


def html(result: Result) -> str:
    """One self-contained page about a result.

    It shows what every result has, the cell where phones have places, and the first replication of
    each series that was recorded.
    """
    about, scenario, figures = result.provenance, result.scenario, list(_figures(result))
    return render(
        "run.html",
        {
            "title": scenario.name or "A run",
            "tiles": _tiles(result),
            "banners": scenario.warnings(),
            "columns": SUMMARY,
            "rows": summary_rows(result.summary),
            "figures": figures,
            "sections": [
                ("summary", "Summary"),
                *((one["anchor"], one["title"]) for one in figures),
                ("provenance", "Provenance"),
            ],
            "facts": [(str(name), str(value)) for name, value in about.to_dict().items()],
            "scenario": scenario.to_toml(),
            "version": about.version,
        },
    )


def _tiles(result: Result) -> list[dict[str, str]]:
    users = len(np.unique(result.flows["user"]))
    about = result.provenance
    found = [
        ("Users", str(users), "phones"),
        ("Replications", str(about.runs), about.stopping),
        ("Seed", str(about.seed), "of all random streams"),
        ("Wall time", f"{about.wall_time_s:.2f} s", f"nodeb {about.version}"),
    ]
    return [{"name": name, "value": value, "detail": detail} for name, value, detail in found]


def _figures(result: Result) -> Iterator[dict[str, str]]:
    from nodeb import plot

    users = np.unique(result.flows["user"])
    user = None if len(users) <= MOST_USERS else int(users[0])
    whose = "" if user is None else f" of user {user}"
    series: list[tuple[str, str, str, Callable[..., Figure]]] = [
        ("cwnd", "cwnd", "Congestion window", plot.cwnd),
        ("segments", "throughput", "Application bit rate", plot.throughput),
        ("queue", "queue", "Queue at the Node B", plot.queue),
    ]
    run = int(result.flows["run"][0])
    if _has_places(result):
        yield _figure(
            "cell", "The cell: mean SNR, and what reached the phones", plot.cell(result, run)
        )
    for table, name, title, draw in series:
        if table in result.tables and len(result.tables[table]):
            yield _figure(name, f"{title}{whose}", draw(result, user, run=run))


def _has_places(result: Result) -> bool:
    phones = result.tables.get("phones")
    return phones is not None and bool(np.isfinite(np.asarray(phones["x_m"], dtype=float)).any())


def _figure(name: str, title: str, figure: Figure) -> dict[str, Any]:
    return {"anchor": name, "title": title, "svg": inline_svg(figure, name, title)}
