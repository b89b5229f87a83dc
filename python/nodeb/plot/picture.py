"""Figures that draw all text literally: user names may contain any characters, also `$` and CJK."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import Formatter, LogFormatterMathtext

__all__ = ["Picture", "any_glyph"]

TIMES = "\N{MULTIPLICATION SIGN}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@contextmanager
def any_glyph() -> Iterator[None]:
    """Suppresses warnings about glyphs that the font lacks; these are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


class Picture(Figure):
    """A figure in which no text is parsed as mathematics; notebooks display it."""

    def _repr_png_(self) -> bytes:
        """Draws the figure for notebooks, which display figures of `pyplot` alone by themselves."""
        image = BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()

    def draw(self, renderer: RendererBase) -> None:
        """Draws the figure with all text taken literally."""
        with mpl.rc_context({"text.parse_math": False}), any_glyph():
            for axes in self.axes:
                for axis in (axes.xaxis, axes.yaxis):
                    _make_plain(axis)
            for text in self.findobj(Text):
                text.set_parse_math(False)
            super().draw(renderer)


class _Powers(Formatter):
    """Formats ticks of a logarithmic axis as plain text, such as 10³, instead of mathtext."""

    def __init__(self, inner: Formatter) -> None:
        self._inner = inner

    def __call__(self, x: float, pos: int | None = None) -> str:
        text = re.sub(r"\$|\\mathdefault|[{}]", "", _raised(self._inner(x, pos)))
        return text.replace(r"\times", TIMES)

    def set_locs(self, locs: Any) -> None:
        """Passes the positions of all ticks to the wrapped formatter.

        The formatter needs them to decide which ticks have labels.
        """
        self._inner.set_locs(locs)


def _raised(text: str) -> str:
    return re.sub(r"\^\{([-\d]+)\}", lambda power: power[1].translate(SUPERSCRIPTS), text)


def _make_plain(axis: Any) -> None:
    if isinstance(found := axis.get_major_formatter(), LogFormatterMathtext):
        axis.set_major_formatter(_Powers(found))
    if isinstance(found := axis.get_minor_formatter(), LogFormatterMathtext):
        axis.set_minor_formatter(_Powers(found))
