"""An answer as text, 80 columns wide."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Rows
from nodeb.answer.numbers import Shown
from nodeb.base.streams import printable

__all__ = ["WIDTH", "aligned", "bars", "text"]

WIDTH = 80
BAR = 30
"""Columns of the longest bar."""
NAME = 24
"""Columns of a name at least, so that pictures and figures stand below each other."""
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|m?s|[kM]?bit/s|[kM]B|bytes|m|dB)(?![\w/]))")
"""The space of a number with its unit, at which no line ends."""
HELD = "\N{NO-BREAK SPACE}"
PLAIN = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{FULL BLOCK}": "#",
        "\N{LEFT HALF BLOCK}": "#",
        "\N{BOX DRAWINGS LIGHT VERTICAL}": "|",
        "\N{BOX DRAWINGS LIGHT HORIZONTAL}": "-",
        "\N{DAGGER}": "+",
        "\N{CHECK MARK}": "+",
        "\N{BALLOT X}": "x",
        "\N{UPWARDS ARROW}": "^",
        "\N{DOWNWARDS ARROW}": "v",
    }
)
"""What stands for signs where the terminal has only ASCII."""


def text(answer: Answer, *, everything: bool = False, encoding: str | None = "utf-8") -> str:
    """What a terminal shows of an answer.

    Args:
        answer: what is shown.
        everything: whether all metrics follow the key figures.
        encoding: of the terminal; signs that it does not know are replaced.
    """
    blocks = [_paragraph(_headline(answer))]
    if answer.picture is not None:
        blocks.append(_block(answer.picture))
    if answer.facts:
        blocks.append(_facts(answer.facts))
    if answer.table is not None:
        blocks.append(_block(answer.table))
    if answer.after is not None:
        blocks.append(_block(answer.after))
    if everything:
        blocks += [_block(rows) for rows in answer.everything]
    ends = [_hanging(f"{one.sign} ", one.text) for one in answer.marks]
    ends += [_note(note) for note in answer.notes]
    blocks.append("\n".join(ends))
    return for_stream("\n\n".join(filter(None, blocks)), encoding)


def for_stream(shown: str, encoding: str | None) -> str:
    """Text in signs that a stream of this encoding knows."""
    try:
        "\N{MINUS SIGN}\N{FULL BLOCK}\N{LEFT HALF BLOCK}".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return shown.translate(PLAIN)
    return shown


def _headline(answer: Answer) -> str:
    subject = printable(answer.subject)
    headline = printable(answer.headline)
    return f"{subject}: {headline}" if subject else headline


def _note(shown: str) -> str:
    """A note; a command at its end stays in one piece, as people paste it."""
    return printable(shown) if ": nodeb " in shown else _paragraph(shown)


def _paragraph(shown: str) -> str:
    return _hanging("", shown)


def _hanging(first: str, shown: str) -> str:
    """A paragraph whose later lines stand below the first word; commands stay in one piece."""
    held = BEFORE_UNIT.sub(HELD, printable(shown))
    filled = textwrap.fill(
        held,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(HELD, " ")


def _block(one: Bars | Rows) -> str:
    if isinstance(one, Bars):
        return "\n".join([*([f"  {one.head}"] if one.head else []), *bars(one.bars)])
    head = [] if not any(one.head) else [one.head]
    title = [one.title] if one.title else []
    return "\n".join([*title, *aligned([*head, *one.rows])])


def _facts(facts: Sequence[Fact]) -> str:
    rows: list[list[str | Shown]] = [[one.name, _marked(one), one.shown.interval] for one in facts]
    return "\n".join(aligned(rows, right=(1, 2)))


def _marked(fact: Fact) -> Shown:
    found = fact.shown
    return Shown(found.number, f"{found.unit} {fact.mark}".strip()) if fact.mark else found


def bars(rows: Sequence[Bar]) -> Iterator[str]:
    """Bars as lines: name, value, note, and the bar to scale, on both sides of zero if need be."""
    longest = max((abs(one.size) for one in rows), default=0.0) or 1.0
    values = _column([one.value for one in rows])
    notes = _column([one.note for one in rows])
    names = max([NAME, *(len(one.name) for one in rows)])
    left = 0
    if any(one.size < 0 for one in rows):
        left = max(_cells(-one.size, longest) for one in rows if one.size < 0)
    for one, value, note in zip(rows, values, notes, strict=True):
        drawn = "\N{FULL BLOCK}" * _cells(abs(one.size), longest)
        if left:
            zero = "\N{BOX DRAWINGS LIGHT VERTICAL}"
            drawn = f"{drawn:>{left}}{zero}" if one.size < 0 else f"{'':{left}}{zero}{drawn}"
        cells = [f"{printable(one.name):{names}}", value, *([note] if any(notes) else []), drawn]
        yield ("  " + "  ".join(cells)).rstrip()


def _cells(size: float, longest: float) -> int:
    """How long a bar is; one that is not nothing has a mark."""
    return max(round(BAR * size / longest), 1 if size > 0 else 0)


def _column(cells: Sequence[str]) -> list[str]:
    """Numbers with units in one column: the numbers end and the units begin below each other."""
    parts = [cell.partition(" ") for cell in cells]
    number = max((len(one[0]) for one in parts), default=0)
    unit = max((len(one[2]) for one in parts), default=0)
    return [f"{one[0]:>{number}} {one[2]:{unit}}" for one in parts]


def aligned(rows: Sequence[Sequence[str | Shown]], right: Sequence[int] = ()) -> list[str]:
    """Rows as lines, indented, with columns that stand below each other.

    Args:
        rows: of cells; numbers with units are aligned at the unit.
        right: columns of text that end below each other.
    """
    if not rows:
        return []
    columns = [_cells_of([row[at] for row in rows], at in right) for at in range(len(rows[0]))]
    width = max(map(len, columns[0]))
    columns[0] = [f"{cell:{max(width, NAME)}}" for cell in columns[0]]
    return [("  " + "  ".join(cells)).rstrip() for cells in zip(*columns, strict=True)]


def _cells_of(cells: Sequence[str | Shown], to_right: bool) -> list[str]:
    number = max((len(one.number) for one in cells if isinstance(one, Shown)), default=0)
    texts = [
        f"{one.number:>{number}} {one.unit}".rstrip() if isinstance(one, Shown) else printable(one)
        for one in cells
    ]
    if to_right and not any(isinstance(one, Shown) for one in cells):
        unit = max((len(_unit(one)) for one in texts), default=0)
        texts = [f"{one}{'':{unit - len(_unit(one))}}" if _unit(one) else one for one in texts]
        width = max(map(len, texts), default=0)
        return [f"{one:>{width}}" for one in texts]
    width = max(map(len, texts), default=0)
    return [f"{one:{width}}" for one in texts]


def _unit(shown: str) -> str:
    """The unit at the end of an interval as text, with the space before it."""
    number, space, last = shown.rpartition(" ")
    return space + last if number and not last[-1:].isdigit() and " to " in shown else ""
