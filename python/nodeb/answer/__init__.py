"""Answers of commands: a sentence, a picture, key figures and notes, as text or on a page."""

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
