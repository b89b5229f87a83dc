"""Texts of figures: drawn literally, broken into lines where too wide, names and units of columns.

Names of users may contain any characters, also `$` and CJK.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import Formatter, LogFormatterMathtext
from numpy.typing import NDArray

from nodeb.answer.numbers import scale_of
from nodeb.results.metrics import METRICS

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
POINTS = 72.0
"""Typographic points, the unit of font sizes, in an inch."""
HANDLE = 3.6
"""Width of a legend column without its label, as a multiple of the font size."""
SUFFIXES = {
    "_bps": "bit/s",
    "_s": "s",
    "_bytes": "bytes",
    "_packets": "packets",
    "_m": "m",
    "_db": "dB",
}
"""Unit of a column in any table, by the suffix of the column's name."""
DIFFERENCE = "_diff"
NAMES = {name: metric.label for name, metric in METRICS.items()} | {
    "t_s": "time",
    "cwnd_packets": "congestion window",
    "begin_s": "begin",
    "rtt_s": "round-trip time",
    "snr_db": "mean SNR",
}


ABBREVIATIONS = {
    one.lower(): one
    for one in (
        *("ACK", "AM", "BLER", "CQI", "DCH", "FACH", "HARQ", "HSDPA", "IP", "LTE", "MTU", "PDU"),
        *("RLC", "RTT", "SDU", "SNR", "TCP", "TTI", "UE", "WCDMA"),
    )
}


def in_words(key: str) -> str:
    """Returns the words of a key: `phones` for `users.0.count`, `DCH BLER` for `radio.dch.bler`."""
    if "." not in key:
        return key
    place = re.fullmatch(r"users\.(\d+)\.(.+)", key)
    path = place[2] if place else key.removeprefix("radio.")
    words = re.split(r"[._]", "phones" if path == "count" else path)
    group = f" (users {place[1]})" if place and place[1] != "0" else ""
    return " ".join(ABBREVIATIONS.get(word, word) for word in words) + group


@contextmanager
def any_glyph() -> Iterator[None]:
    """Suppresses warnings about glyphs that the font lacks; these are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


class Picture(Figure):
    """A figure in which no text is parsed as mathematics; notebooks display it."""

    def _repr_png_(self) -> bytes:
        """Notebooks display figures of `pyplot` alone by themselves."""
        image = BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()

    def draw(self, renderer: RendererBase) -> None:
        with mpl.rc_context({"text.parse_math": False}), any_glyph():
            for axis in (axis for axes in self.axes for axis in (axes.xaxis, axes.yaxis)):
                if isinstance(major := axis.get_major_formatter(), LogFormatterMathtext):
                    axis.set_major_formatter(_Powers(major))
                if isinstance(minor := axis.get_minor_formatter(), LogFormatterMathtext):
                    axis.set_minor_formatter(_Powers(minor))
            for text in self.findobj(Text):
                text.set_parse_math(False)
            super().draw(renderer)


class _Powers(Formatter):
    """Formats ticks of a logarithmic axis as plain text, such as 10³, instead of mathtext."""

    def __init__(self, inner: Formatter) -> None:
        self._inner = inner

    def __call__(self, x: float, pos: int | None = None) -> str:
        text = re.sub(
            r"\^\{([-\d]+)\}", lambda power: power[1].translate(SUPERSCRIPTS), self._inner(x, pos)
        )
        text = re.sub(r"\$|\\mathdefault|[{}]", "", text)
        return text.replace(r"\times", "\N{MULTIPLICATION SIGN}")

    def set_locs(self, locs: Any) -> None:
        self._inner.set_locs(locs)  # They decide which ticks have labels.


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, weight: str = "normal") -> float:
    """Width in inches."""
    font = FontProperties(family="sans-serif", weight=weight, size=size)
    with any_glyph():
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS


def broken(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Breaks a text at spaces into lines of at most `room` inches; a wider word is not broken."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split(" "):
            longer = f"{line} {word}" if line else word
            if line and width_of(longer, size, weight) > room:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return "\n".join(lines)


def columns_of(labels: Sequence[str], room: float, size: float, most: int) -> int:
    """Returns the number of legend columns that fit side by side in `room` inches, 1 to `most`."""
    widest = max(width_of(line, size) for label in labels for line in label.split("\n"))
    return max(1, min(most, int(room / (widest + HANDLE * size / POINTS))))


@dataclass(frozen=True)
class Quantity:
    """Quantity of a column: its name, and a unit that suits its values."""

    name: str
    unit: str
    factor: float
    """Factor that converts the column's values to the unit."""

    @classmethod
    def of(cls, column: str, values: NDArray[np.float64]) -> Quantity:
        """The largest absolute value determines the unit."""
        metric = column.removesuffix(DIFFERENCE)
        suffix = next((s for s in SUFFIXES if metric.endswith(s)), "")
        largest = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
        info = METRICS.get(metric)
        plain, percent = (info.unit, info.percent) if info else (SUFFIXES.get(suffix, ""), True)
        name = NAMES.get(metric) or in_words(metric.removesuffix(suffix) or metric)
        prefix = "difference of " if metric != column else ""
        return cls(prefix + name, *scale_of(largest, plain, percent=percent))

    @property
    def title(self) -> str:
        """Name with a capital letter."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def label(self) -> str:
        """Label of an axis: name and unit, such as `Delay (s)`; without a unit, only the name."""
        text = self.title.replace("_", " ")
        return f"{text} ({self.unit})" if self.unit else text
