"""Renders HTML pages from the templates of the package: answers, sections, figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from nodeb import _core
from nodeb.answer import paints
from nodeb.answer.answer import Answer, Bar
from nodeb.answer.numbers import Shown
from nodeb.answer.words import sentence
from nodeb.report.svg import inline_svg

TITLE_WORDS = 12
"""Maximum number of words of a page's title."""
UNITS = r"[kMG]?bit/s|[kMG]b/s|[kM]?B|ms|s|m|bytes"
"""Regular expression of the units before which no line is broken."""
SHORT, MANY, NARROW = 12, 4, 48
"""Letters of a row's head that leave room beside it on a narrow page, number of values that do not,
and letters, with `GAP` of them around a value, that fit there into one line."""
GAP = 2

Content = dict[str, Any]
"""Variables of a template."""


def render(template: str, content: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nodeb", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"headline": headline, "titled": titled, "unbroken": unbroken, "paint": paints.paint}
    environment.filters |= filters | {"placed": _placed}
    environment.filters |= {"breakable": _breakable, "abreast": _abreast}
    environment.globals |= {"paints": paints, "version": _core.version()}
    return environment


def unbroken(text: str | Shown) -> Markup:
    """Returns markup with non-breaking spaces before units and a non-breaking hyphen in HS-DSCH."""
    text = escape(text.value if isinstance(text, Shown) else text)
    text = re.sub(rf"(?<=\d) (?=({UNITS})\b|%)", "\N{NO-BREAK SPACE}", str(text))
    text = re.sub(r"\bHS-DSCH\b", "HS\N{NON-BREAKING HYPHEN}DSCH", text)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", text))


def _breakable(text: str) -> Markup:
    """Returns markup in which keys and names of variants may be broken between their words."""
    return Markup(re.sub(r"(?<=[._=])(?=[a-z])", "<wbr>", unbroken(text)))


def _abreast(rows: Sequence[Sequence[str | Shown]], heads: Sequence[str]) -> int:
    """Returns how many values of a row a narrow page shows side by side below the row's head.

    0 means that there is room beside the head.
    """
    texts = [[str(text) for text in row] for row in rows]
    columns = len(heads) - 1
    if columns < MANY and max((len(row[0]) for row in texts), default=0) <= SHORT:
        return 0
    words = [max(head.split() or [""], key=len) for head in heads]
    widths = [max(map(len, column)) + GAP for column in zip(words, *texts, strict=True)]
    return columns if columns < MANY or sum(widths[1:]) <= NARROW else 2


def _placed(bars: Sequence[Bar]) -> list[tuple[Bar, Content]]:
    """Returns bars with their places in %; negative ones extend to the left of a common zero."""
    values = [value for bar in bars for value in (bar.size, *bar.ends, bar.bound)]
    finite = [0.0, *filter(math.isfinite, values)]
    left, whole = min(finite), (max(finite) - min(finite)) or 1.0

    def place(value: float) -> float:
        return 100 * (value - left) / whole

    return [
        (
            bar,
            {
                "left": place(min(0.0, bar.size)),
                "width": place(abs(bar.size)) - place(0.0),
                "zero": place(0.0) if left < 0 else None,
                "ends": (place(bar.ends[0]), place(bar.ends[1]) - place(bar.ends[0])),
                "bound": place(bar.bound),
            },
        )
        for bar in bars
    ]


def fragment(answer: Answer) -> str:
    """Returns the answer as an HTML fragment for notebooks, with scoped styles and no script."""
    return render("notebook.html", {"answer": answer})


def headline(answer: Answer) -> str:
    # A headline may begin with the name of a scenario, which must not be capitalized.
    is_sentence = answer.subject or answer.headline.startswith(("the ", "half "))
    return sentence(answer.headline) if is_sentence else answer.headline


def titled(answer: Answer) -> tuple[str, str]:
    """Returns a headline's title of at most `TITLE_WORDS` words, if it can be cut, and the rest.

    A title ends with its sentence, or before a semicolon, a colon or a comma. What stands in
    brackets, such as an interval, belongs to the rest.
    """
    first, *others = re.split(r"(?<=[.?!]) (?=[^a-z])", headline(answer))
    for mark in ("", "; ", ": ", ", "):
        begin, cut, end = first.partition(mark) if mark else (first, "", "")
        title = re.sub(r" \([^()]*\)", "", begin).rstrip(".")
        if _words(title) <= TITLE_WORDS:
            break
    aside = "; ".join(re.findall(r" \(([^()]*)\)", begin))
    rest = [sentence(part).rstrip(".") + "." for part in (aside, end) if part]
    return title + "." * (not cut), " ".join([*rest, *others])


def _words(text: str) -> int:
    """Number of words; a number and its unit are one."""
    return len(re.sub(rf"(?<=\d) (?=({UNITS})\b|%)", "", text).split())


def figure(anchor: str, title: str, drawn: Figure, note: str = "") -> Content:
    svg = inline_svg(drawn, anchor, f"{title}. {note}".strip())
    return {"anchor": anchor, "title": title, "note": note, "svg": svg}


def section(
    anchor: str,
    title: str,
    text: str,
    figures: Sequence[Content] = (),
    problem: str = "",
    words: Sequence[tuple[str, str]] = (),
) -> Content:
    """`problem` is the reason why the section is empty; `words` explain names in it."""
    parts = {"figures": figures, "problem": problem, "words": words}
    return {"anchor": anchor, "title": title, "text": text, **parts}
