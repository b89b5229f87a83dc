"""An answer as text, as wide as the terminal is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Rows
from nodeb.answer.columns import NAME, filled, fitted
from nodeb.answer.numbers import Shown
from nodeb.base.streams import printable

__all__ = ["WIDTH", "bars", "block", "for_stream", "text"]

WIDTH = 80
"""Columns of a paragraph at most, and of a table unless the terminal is known to have more."""
LEAST_WIDTH = 20
"""Columns that a terminal is taken to have at least."""
COMMAND = ": nodeb "
"""A note with this has a command at its end."""
BAR, LEAST_BAR = 30, 4
"""Columns of the longest bar; with fewer than the least there is none."""
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


def text(
    answer: Answer,
    *,
    everything: bool = False,
    encoding: str | None = "utf-8",
    width: int = WIDTH,
) -> str:
    """What a terminal shows of an answer.

    Args:
        answer: what is shown.
        everything: whether all metrics follow the key figures.
        encoding: of the terminal; signs that it does not know are replaced.
        width: columns of the terminal; in a narrow one names stand above their numbers.
    """
    width = max(width, LEAST_WIDTH)
    line = min(width, WIDTH)
    blocks = [filled(_headline(answer), line)]
    pictures = [answer.picture, _table_of(answer.facts), answer.table, answer.after]
    pictures += answer.everything if everything else ()
    blocks += [block(one, width) for one in pictures if one is not None]
    ends = [filled(one.text, line, f"{one.sign} ", "  ") for one in answer.marks]
    commands = [note for note in answer.notes if COMMAND in note]
    ends += [filled(note, line) for note in answer.notes if note not in commands]
    if answer.folded and not everything:
        ends.append(filled(f"--all prints {answer.folded}.", line))
    ends += map(printable, commands)  # each in one piece, as people paste it
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


def block(one: Bars | Rows, width: int = WIDTH) -> str:
    """Bars or a table as lines of a width."""
    if isinstance(one, Bars):
        return "\n".join([*([f"  {one.head}"] if one.head else []), *bars(one.bars, width)])
    used = one.without_empty_columns()
    title = [filled(one.title, width)] if one.title else []
    return "\n".join([*title, *fitted(used.head, used.rows, width, used.right)])


def _table_of(facts: Sequence[Fact]) -> Rows | None:
    rows: list[list[str | Shown]] = [[f.name, _marked(f), f.shown.interval] for f in facts]
    return Rows(("", "", ""), rows, right=(1, 2)) if rows else None


def _marked(fact: Fact) -> Shown:
    found = fact.shown
    return Shown(found.number, f"{found.unit} {fact.mark}".strip()) if fact.mark else found


def bars(rows: Sequence[Bar], width: int = WIDTH) -> Iterator[str]:
    """Bars as lines: name, value, note, and the bar to scale, on both sides of zero if need be."""
    names = [printable(one.name) for one in rows]
    longest = max([NAME, *map(len, names)])
    columns = [[f"  {name:{longest}}" for name in names], _column([one.value for one in rows])]
    if any(one.note for one in rows):
        columns.append(_column([one.note for one in rows]))
    fronts = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    least, most = (of(0.0, *(one.size for one in rows)) for of in (min, max))
    scale = _scale(width - max(map(len, fronts), default=0) - 3, least, most)
    if not scale:
        yield from fitted((), list(zip(names, *columns[1:], strict=True)), width)
        return
    left = _cells(-least * scale)
    for one, front in zip(rows, fronts, strict=True):
        drawn = "\N{FULL BLOCK}" * _cells(abs(one.size) * scale)
        if left:
            zero = "\N{BOX DRAWINGS LIGHT VERTICAL}"
            drawn = f"{drawn:>{left}}{zero}" if one.size < 0 else f"{'':{left}}{zero}{drawn}"
        yield f"{front}  {drawn}".rstrip()


def _scale(room: int, least: float, most: float) -> float:
    """Columns of a bar of size 1, so that bars on both sides of zero fit; 0 without room."""
    longest = max(most, -least)
    columns = min(BAR, int(room * longest / (most - least))) if longest else BAR
    return columns / (longest or 1.0) if columns >= LEAST_BAR else 0.0


def _cells(columns: float) -> int:
    """How long a bar is; one that is not nothing has a mark."""
    return max(round(columns), 1 if columns > 0 else 0)


def _column(cells: Sequence[str]) -> list[str]:
    """Numbers with units in one column: the numbers end and the units begin below each other."""
    parts = [cell.partition(" ") for cell in cells]
    number = max((len(one[0]) for one in parts), default=0)
    unit = max((len(one[2]) for one in parts), default=0)
    return [f"{one[0]:>{number}} {one[2]:{unit}}" for one in parts]
