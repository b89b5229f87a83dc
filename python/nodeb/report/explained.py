"""The page of an explanation, and its short form on the page of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeb import _core
from nodeb.errors import NodebError
from nodeb.explanation import Explanation
from nodeb.explanation.replications import CAUSES
from nodeb.explanation.text import HEAD, cause_rows, help_most, incomplete, sizes, what_if_rows
from nodeb.explanation.times import time_text
from nodeb.explanation.what_if import WhatIf
from nodeb.plot.causes import MOST_STRETCHES, causes, waterfall
from nodeb.plot.style import NARROW
from nodeb.report.figures import Content, figure, section, tile
from nodeb.report.render import render
from nodeb.results.result import Result

__all__ = ["page", "short"]

MOST_RUNS = 20
"""Replications that the short form explains."""
MOST_BYTES = 2_000_000
"""A longer transfer is not explained by the way."""


def page(users: Mapping[str, Explanation], tried: Sequence[WhatIf] = ()) -> str:
    """One self-contained page about a transfer, with other users' beside it.

    Args:
        users: explanations by what the user is called; the first is what the page is about.
        tried: what changes would win, if that was simulated.
    """
    found = next(iter(users.values()))
    pictures = [
        figure("waterfall", "The critical path over time", waterfall("", found, NARROW)),
        figure("causes", "What each cause has of the time", causes("", users, size=NARROW)),
    ]
    return render(
        "explained.html",
        {
            "title": found.scenario.name or "A transfer",
            "tiles": [
                tile("Time", time_text(found.time.mean), "mean"),
                tile("Size", sizes(found), "of the application"),
                tile("Replications", str(len(found.paths)), f"seed {found.scenario.seed}"),
            ],
            "banners": _banners(users),
            "sections": [("causes-table", "Causes"), ("over-time", "Over time")],
            "about": f"{found.named[:1].upper()}{found.named[1:]}. {help_most(found, tried)}",
            "columns": HEAD,
            "rows": cause_rows(found),
            "glossary": [(name, CAUSES[name]) for name in found.causes],
            "end": "its last byte" if found.paths[0].complete else "the run's end",
            "most_stretches": MOST_STRETCHES,
            "named": found.named,
            "tried": what_if_rows(tried),
            "figures": pictures,
            "version": _core.version(),
        },
    )


def _banners(users: Mapping[str, Explanation]) -> list[str]:
    """Whose transfers did not end in some replications; the first is what the page is about."""
    texts = []
    for place, (name, one) in enumerate(users.items()):
        note = incomplete(one)
        if note:
            whose = f"{name}: " if place else ""
            texts.append(f"{whose}{note}.")
    return [f"{text[:1].upper()}{text[1:]}" for text in texts]


def short(result: Result) -> Content | None:
    """The section of a run's page on its first transfer; None where there is none to explain."""
    sizes = result.flows["app_bytes"] / result.flows["transfers"].clip(1)
    if len(sizes) == 0 or sizes[0] > MOST_BYTES:
        return None
    try:
        found = result.explain(runs=min(result.provenance.runs, MOST_RUNS))
    except NodebError:
        return None
    words = [
        f"The critical path of user 0's first transfer: {time_text(found.time.mean)} on",
        f"average of {len(found.paths)} replications. {help_most(found)}",
        *_banners({"": found}),
    ]
    drawn = figure(
        "why-causes",
        "What each cause has of the time",
        causes("", {"user 0": found}, size=(NARROW[0], 2.4)),
        "Every nanosecond belongs to one cause; `nodeb explain` has the table.",
    )
    return section("why", "Why it took so long", " ".join(words), [drawn])
