"""What a command answers: a sentence, a picture, key figures, notes; as text, as a page's head."""

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Mark, Rows
from nodeb.answer.numbers import Shown, difference, interval, number, shown
from nodeb.answer.terminal import text

__all__ = [
    "Answer",
    "Bar",
    "Bars",
    "Fact",
    "Mark",
    "Rows",
    "Shown",
    "difference",
    "interval",
    "number",
    "shown",
    "text",
]
