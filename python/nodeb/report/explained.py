"""Page of an explanation: causes of a transfer's duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nodeb import _core
from nodeb.answer.answer import Answer, Bar, Bars
from nodeb.answer.numbers import shown
from nodeb.answer.paints import CAUSES as CAUSE_PAINTS
from nodeb.answer.paints import paint
from nodeb.base.command_line import Arguments
from nodeb.errors import NodebError
from nodeb.explanation import Explanation
from nodeb.explanation.answer import answer, incomplete
from nodeb.explanation.replications import CAUSES
from nodeb.explanation.what_if import WhatIf
from nodeb.plot.causes import causes
from nodeb.plot.style import NARROW
from nodeb.report.recording import replicated
from nodeb.report.render import figure, render, section
from nodeb.report.tracks import download
from nodeb.results.causes import cause_bars as shares
from nodeb.results.result import Result

MAX_USERS = 50
"""Number of users above which window and queue are not recorded, because that takes long."""
MAX_BYTES = 20_000_000
"""Size of a transfer, bytes, above which window and queue are not recorded."""


def page(
    users: Mapping[str, Explanation],
    tried: Sequence[WhatIf] = (),
    arguments: Arguments | None = None,
    command: str = "",
) -> str:
    """Returns a self-contained page about a transfer, and the transfers of other users.

    Args:
        users: explanations by user name; the page is about the first one.
        tried: effects of the simulated changes (`--what-if`); empty if none were simulated.
        arguments: the scenario's file on the command line, with the options that change numbers;
            None in a notebook.
        command: command line that creates the page, shown at its end.
    """
    first, *others = users
    found = users[first]
    words = [(name, CAUSES[name]) for name in found.causes]
    parts = [section("words", "What the causes mean", "", words=words)]
    if others:
        drawn = figure("causes", "What each cause has of the time", causes("", users, size=NARROW))
        parts.insert(0, section("beside", "Beside other users", "", [drawn]))
    notes = [(name, incomplete(users[name])) for name in others]
    about = found.scenario
    return render(
        "page.html",
        {
            "title": about.name or "A transfer",
            "answer": _answer(users, tried, arguments),
            "banners": [f"{name[:1].upper()}{name[1:]}: {note}." for name, note in notes if note],
            "story": download(found, _series(found)) if found.causes else None,
            "parts": parts,
            "facts": [
                ("transfer", found.named),
                ("replications", str(len(found.paths))),
                ("seed", str(about.seed)),
                ("version", _core.version()),
            ],
            "command": command,
            "scenario": about.to_toml(),
        },
    )


def _answer(
    users: Mapping[str, Explanation], tried: Sequence[WhatIf], arguments: Arguments | None
) -> Answer:
    """Returns the answer of the explanation, with bars for all causes.

    Simulated changes of the scenario that have an effect are bars too, instead of a table.
    """
    first, *others = users
    found, beside = users[first], {name: users[name] for name in others}
    said = answer(found, tried or None, None if tried else arguments, beside)
    spent = shares(found, small=0.0)
    helps = [one for one in tried if one.won.n and (one.won.low, one.won.high) != (0, 0)]
    if not helps:
        return replace(said, picture=spent)
    bars = []
    for one in helps:
        gain = shown(one.won.mean, one.won.low, one.won.high, "s")
        value = f"{'' if one.pairs.both else 'at least '}{gain.value}"
        paint_class, ends = _cause_class(found, one), (one.won.low, one.won.high)
        bar = Bar(one.name, value, one.won.mean, paint_class, "", gain.interval, ends)
        bars.append(replace(bar, bound=one.path_s, why=one.outcome))
    title = "What would help: time saved in simulation (dotted: time on the path)"
    return replace(said, picture=Bars(title, bars), table=None, after=spent)


def _cause_class(found: Explanation, one: WhatIf) -> str:
    """Returns the CSS class of a change, which sets its colour.

    The class is that of its largest cause if all its causes belong to one family, else `k-many`.
    """
    known = [cause for cause in one.causes if cause in found.causes]
    if len({CAUSE_PAINTS[cause].family for cause in known}) != 1:
        return "k-many"
    return paint(max(known, key=lambda cause: float(found.seconds(cause).mean())))


def _series(found: Explanation) -> Result | None:
    """Simulates the shown replication again to record congestion window and queue.

    Returns `None` if the simulation fails, would take long (many users or bytes), or the explained
    transfer does not belong to a simulated user.
    """
    scenario, path = found.scenario, found.typical
    users = sum(int(group.count or 1) for group in scenario.users)
    if found.what or users > MAX_USERS or path.bytes > MAX_BYTES:
        return None
    try:
        recorded = scenario.with_(**{"record.cwnd": True, "record.queue": True})
        return replicated(recorded, scenario.planned().seed, path.run)
    except (NodebError, MemoryError):
        return None
