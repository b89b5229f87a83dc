"""Formats answers as text that fits the terminal's width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Rows
from nodeb.answer.columns import NAME, filled, fitted
from nodeb.answer.numbers import Shown
from nodeb.base.streams import printable

WIDTH = 80
MIN_WIDTH = 20
"""Width in characters that is assumed for a narrower terminal."""
COMMAND = ": nodeb "
"""Text that marks a note as one that suggests a command; such notes are not wrapped."""
BAR, MIN_BAR = 30, 4
"""Maximum width of the longest bar, and width below which no bars are drawn, in characters."""
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
"""Non-ASCII characters and their replacements on streams whose encoding lacks some of them."""


def text(
    answer: Answer,
    *,
    everything: bool = False,
    encoding: str | None = "utf-8",
    width: int = WIDTH,
) -> str:
    width = max(width, MIN_WIDTH)
    line = min(width, WIDTH)
    blocks = [filled(_headline(answer), line)]
    pictures = [answer.picture, _table_of(answer.facts), answer.table, answer.after]
    pictures += answer.everything if everything else ()
    blocks += [block(one, width) for one in pictures if one is not None]
    marks = [one for one in answer.marks if everything or not one.folded]
    ends = [filled(one.text, line, f"{one.sign} ", "  ") for one in marks]
    commands = [note for note in answer.notes if COMMAND in note]
    ends += [filled(note, line) for note in answer.notes if note not in commands]
    if answer.folded and not everything:
        ends.append(filled(f"--all prints {answer.folded}.", line))
    ends += map(printable, commands)  # Commands are not wrapped, so that they can be pasted.
    blocks.append("\n".join(ends))
    return for_stream("\n\n".join(filter(None, blocks)), encoding)


def for_stream(shown: str, encoding: str | None) -> str:
    """Replaces the characters of `PLAIN` if a stream's encoding lacks blocks or the minus sign."""
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
    """Formats bars or a table as lines of at most `width` characters, unless a word is longer."""
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
    """Yields a line for each bar: its name, value and note, and the bar drawn to scale.

    Bars of negative values extend to the left of 0. If there is too little room for bars, only the
    texts are yielded, as a table.
    """
    names = [printable(one.name) for one in rows]
    longest = max([NAME, *map(len, names)])
    columns = [[f"  {name:{longest}}" for name in names], _column([one.value for one in rows])]
    if any(one.note for one in rows):
        columns.append(_column([one.note for one in rows]))
    fronts = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    sizes = [0.0, *(one.size for one in rows)]
    low, high = min(sizes), max(sizes)
    scale = _scale(width - max(map(len, fronts), default=0) - 3, low, high)
    if not scale:
        yield from fitted((), list(zip(names, *columns[1:], strict=True)), width)
        return
    left = _cells(-low * scale)
    for one, front in zip(rows, fronts, strict=True):
        drawn = "\N{FULL BLOCK}" * _cells(abs(one.size) * scale)
        if left:
            zero = "\N{BOX DRAWINGS LIGHT VERTICAL}"
            drawn = f"{drawn:>{left}}{zero}" if one.size < 0 else f"{'':{left}}{zero}{drawn}"
        yield f"{front}  {drawn}".rstrip()


def _scale(room: int, low: float, high: float) -> float:
    """Returns the length of a bar of size 1, in characters; 0 if the room is too small for bars."""
    longest = max(high, -low)
    columns = min(BAR, int(room * longest / (high - low))) if longest else BAR
    return columns / (longest or 1.0) if columns >= MIN_BAR else 0.0


def _cells(columns: float) -> int:
    """Rounds the length of a bar to whole characters, at least 1 for a positive length."""
    return max(round(columns), 1 if columns > 0 else 0)


def _column(cells: Sequence[str]) -> list[str]:
    """Pads numbers with units so that all numbers end, and all units begin, at the same column."""
    parts = [cell.partition(" ") for cell in cells]
    number = max((len(one[0]) for one in parts), default=0)
    unit = max((len(one[2]) for one in parts), default=0)
    return [f"{one[0]:>{number}} {one[2]:{unit}}" for one in parts]
