"""Style of all figures: palette, sizes, axes without clutter."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, StepPatch
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.plot.text import POINTS, Picture, broken, columns_of, width_of

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
"""Colours that people with colour-blindness can distinguish (Okabe and Ito, 2008)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "8")
"""More markers than colours, so that curves with the same colour have different markers."""

DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    "--",
    "-.",
    (0, (1, 1.2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (3, 1)),
    (0, (8, 2)),
)
INK = "#24292f"
MUTED = "#57606a"
FAINT = "#d0d7de"
BAND = "#c9d1d9"
Look = dict[str, Any]
"""How something is drawn, as matplotlib's arguments."""
Size = tuple[float, float]
SIZE = (7.2, 4.2)
NARROW = (5.6, 3.6)
"""Size of a figure on a page that is also read on a phone, inches."""
LEGEND_LIMIT = 3 * len(PALETTE)
"""Maximum number of entries of a legend; if there are more, it only states their number."""
UNNAMED = re.compile(r"_(nolegend_|(child|container)\d+)")
"""Label that matplotlib gives to what is drawn without a label."""
LEGEND_ROWS = 2
NAMED = 6
"""Maximum number of curves that have their names at their ends; names of more are in a legend."""
NEAR = 0.9
"""Share of the axes' width beyond which all curves must end to have their names there."""
APART = 0.2
"""Minimum distance of curves' ends that have their names there, as a share of a line's height."""
MARGIN_IN = 1.4
"""Maximum width of names at the ends of curves, inches."""
DRAWN = 0.65
"""Share of a figure's height that its axes have at the least."""
AT_END = "name of a curve"
"""Label of the texts at the ends of curves."""
TITLE, LABEL, ENTRY = 12.0, 10.5, 9.5

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.titlesize": TITLE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": LABEL,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": ENTRY,
    "lines.linewidth": 1.6,
    "figure.dpi": 110,
}


def styled() -> Any:
    """Returns a context in which figures, legends and scales have nodeb's style."""
    return mpl.rc_context(STYLE)


def new_figure(
    title: str, x_label: str, y_label: str, size: Size = SIZE, ax: Axes | None = None
) -> tuple[Figure, Axes]:
    """Returns an empty figure in nodeb's style; it has no window, so it need not be closed.

    With `ax`, the figure is that of these axes, whose title is set if it is empty.

    Raises:
        InputError: the axes show another quantity, or the same in another unit.
    """
    if ax is not None:
        for there, own in ((ax.get_xlabel(), x_label), (ax.get_ylabel(), y_label)):
            if there not in ("", own):
                raise InputError(f"the axes show `{there}`, and the figure `{own}`")
        ax.set(title=ax.get_title() or title, xlabel=x_label, ylabel=y_label)
        ax.autoscale()
        return cast("Figure", ax.get_figure(root=True)), ax
    with styled():
        figure = Picture(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(broken(title, size[0] - 0.8, TITLE, "bold"))
        axes.set_xlabel(broken(x_label, size[0] - 1.0, LABEL))
        axes.set_ylabel(broken(y_label, size[1] - 1.0, LABEL))
    return figure, axes


def new_panels(
    title: str, x_label: str, y_label: str, shape: tuple[int, int], size: Size = SIZE
) -> tuple[Figure, list[Axes]]:
    figure, parts = _shared(title, shape, size)
    rows, columns = shape
    parts[(rows - 1) * columns + columns // 2].set_xlabel(x_label)
    parts[(rows - 1) // 2 * columns].set_ylabel(broken(y_label, size[1] - 1.0, LABEL))
    return figure, parts


def new_rows(
    title: str, x_label: str, y_label: str, rows: Sequence[object], size: Size = SIZE
) -> tuple[Figure, list[Axes]]:
    return _shared(title, (len(rows), 1), size, x_label, y_label)


def new_grid(
    title: str, x_label: str, y_label: str, names: Sequence[str], width: float
) -> tuple[Figure, list[Axes]]:
    """Returns an empty figure with a panel for each name, two in a row, on shared scales."""
    rows = math.ceil(len(names) / 2)
    figure, parts = _shared(title, (rows, 2), (width, 0.8 + 1.5 * rows), x_label, y_label)
    for axes in parts[len(names) :]:
        axes.set_axis_off()
    with styled():
        for axes, name in zip(parts, names, strict=False):
            text = broken(name, width / 2 - 0.6, ENTRY)
            axes.set_title(text, loc="center", fontsize=ENTRY, fontweight="normal", pad=4)
    return figure, parts[: len(names)]


def _shared(
    title: str, shape: tuple[int, int], size: Size, x_label: str = "", y_label: str = ""
) -> tuple[Figure, list[Axes]]:
    """Returns a figure with a grid of panels on shared scales; panels are listed row by row."""
    with styled():
        figure = Picture(figsize=size, layout="constrained")
        parts = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
        if title:
            text = broken(title, size[0] - 0.4, TITLE, "bold")
            figure.suptitle(text, x=0.02, ha="left", fontweight="bold", fontsize=TITLE)
        if x_label:
            figure.supxlabel(x_label, fontsize=LABEL)
            figure.supylabel(y_label, fontsize=LABEL)
    return figure, list(parts.flat)


def color(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def marker(place: int) -> str:
    return MARKERS[place % len(MARKERS)]


def pale(paint: str) -> str:
    """Returns a pale version of a colour, for the background of a texture in that colour."""
    red, green, blue = (0.3 * part + 0.7 for part in to_rgb(paint))
    return to_hex((red, green, blue))


def dash(place: int) -> str | tuple[int, tuple[float, ...]]:
    """Returns the line style of a curve with index `place`: solid until colours repeat."""
    return DASHES[place // len(PALETTE) % len(DASHES)]


def legend(axes: Axes, columns: int = 2, last: str = "", fewest: int = 2, title: str = "") -> None:
    """Names curves at their right ends where all end there, and the rest in a legend."""
    entries = sorted(legend_entries(axes), key=lambda entry: entry[1] == last)
    figure = axes.get_figure(root=True)
    for text in [text for text in axes.texts if text.get_label() == AT_END]:
        text.remove()
    if len(entries) < fewest:
        return
    if not isinstance(figure, Picture):
        axes.legend(*zip(*entries, strict=True), title=title or None, frameon=False)
        return
    curves = [entry for entry in entries if not _is_sample(entry[0])]
    if _name_ends(axes, curves, figure.get_figheight(), title):
        entries, title = [entry for entry in entries if entry not in curves], ""
    figure_legend(figure, entries, columns, title)


def _is_sample(artist: Artist) -> bool:
    """Whether an artist without data shows in the legend what markers mean."""
    return isinstance(artist, Line2D) and not np.size(artist.get_xdata())


def _name_ends(axes: Axes, curves: Sequence[tuple[Artist, str]], height: float, title: str) -> bool:
    """Writes names beside the right ends of curves, if there are few, and all end there."""
    ends = [(label, *end) for artist, label in curves if (end := _end(artist))]
    if len(ends) < len(curves) or not 1 <= len(ends) <= NAMED:
        return False
    places = (axes.transData - axes.transAxes).transform([end for _, _, end in ends])
    names = [broken(label, MARGIN_IN, ENTRY) for label, _, _ in ends]
    row = 1.3 * ENTRY / POINTS / (DRAWN * height)
    gap = row * max(name.count("\n") + 1 for name in names)
    widest = max(width_of(line, ENTRY) for name in names for line in name.split("\n"))
    order = np.argsort(places[:, 1]).tolist()
    are_apart = (np.diff(places[order, 1]) > APART * row).all() and gap * len(ends) <= 1
    if widest > MARGIN_IN or not are_apart or not (places[:, 0] >= NEAR).all():
        return False
    top = [float(places[order[-1], 1]) + gap] if title else []
    heights = _apart(np.append(places[order, 1], top), gap)
    look: Look = {"textcoords": "axes fraction", "va": "center", "fontsize": ENTRY, "color": INK}
    look |= {"annotation_clip": False, "label": AT_END}
    for place, y in zip(order, heights.tolist(), strict=False):
        _, line, end = ends[place]
        arrow: Look = {"arrowstyle": "-", "shrinkA": 2, "shrinkB": 0, "relpos": (0, 0.5)}
        arrow |= {"color": line.get_edgecolor() if isinstance(line, Patch) else line.get_color()}
        arrow |= {"linestyle": line.get_linestyle(), "linewidth": 1.2}
        axes.annotate(names[place], end, (1.04, y), arrowprops=arrow, **look)
    if title:
        axes.annotate(title, (1, 1), (1.04, heights[-1]), fontweight="bold", **look)
    return True


def _end(artist: Artist) -> tuple[Line2D | StepPatch, tuple[float, float]] | None:
    """Returns a curve without its error bars, and its last point; None if it is no curve."""
    line = artist.lines[0] if isinstance(artist, ErrorbarContainer) else artist
    if isinstance(line, StepPatch):
        values, edges, _ = line.get_data()
        return line, (float(edges[-1]), float(values[-1]))
    if not isinstance(line, Line2D) or line.get_linestyle() == "None":
        return None
    points = np.asarray(line.get_xydata(), dtype=np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    return (line, (float(points[-1, 0]), float(points[-1, 1]))) if len(points) else None


def _apart(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Moves heights, in ascending order and from 0 to 1, so that they differ by `gap`."""
    steps = gap * np.arange(len(heights))
    low = np.minimum.accumulate((heights - steps)[::-1])[::-1]
    middle = (np.maximum.accumulate(heights - steps) + low) / 2
    moved: NDArray[np.float64] = np.clip(middle, 0, 1 - steps[-1]) + steps
    return moved


def legend_entries(axes: Axes) -> list[tuple[Artist, str]]:
    """Returns the handle and label of each curve or kind of points that has a label.

    Unlike `Axes.get_legend_handles_labels`, this includes labels that begin with `_`, as names of
    users and folders may.
    """
    drawn = [one for one in axes.get_children() if isinstance(one, (Line2D, Patch, Collection))]
    # A container, such as a curve with error bars, is a handle too, though no artist.
    containers = cast("list[Artist]", axes.containers)
    named = [(one, str(one.get_label() or "")) for one in (*drawn, *containers)]
    return [(one, label) for one, label in named if label and not UNNAMED.fullmatch(label)]


def figure_legend(
    figure: Figure | None, entries: Sequence[tuple[Artist, str]], columns: int, title: str = ""
) -> None:
    if figure is None:
        return
    for legend in figure.legends:  # One of what was drawn before on the same axes.
        legend.remove()
    if not entries:
        return
    with styled():
        if len(entries) > LEGEND_LIMIT:
            text = f"{len(entries)} curves: too many to tell apart"
            figure.legend([], [], title=text, loc="outside lower center")
            return
        width, height = figure.get_size_inches()
        labels = [broken(label, width - 1.0, ENTRY) for _, label in entries]
        columns = columns_of(labels, width - 0.3, ENTRY, columns)
        handles = [handle for handle, _ in entries]
        place: Look = {"loc": "outside lower center", "ncols": columns}
        figure.legend(handles, labels, title=title or None, **place)
        rows = bool(title) + math.ceil(len(entries) / columns)
        rows += sum(label.count("\n") for label in labels)
        more = max(0, rows - LEGEND_ROWS) * 1.5 * ENTRY / POINTS
        figure.set_size_inches(width, height + more)


def name_places(axes: Axes, names: Sequence[str], width: float) -> None:
    axes.set_xticks(range(len(names)), list(names))
    room = (width - 1.0) / max(1, len(names))
    if any(width_of(name, LABEL) > 0.95 * room for name in names):
        axes.tick_params(axis="x", labelrotation=30)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")


def nice_step(span: float, parts: int) -> float:
    """Returns `span / parts` rounded up to 1, 2 or 5 times a power of ten; 1 if `span` <= 0."""
    if span <= 0:
        return 1.0
    raw = span / parts
    power = 10.0 ** int(f"{raw:e}".partition("e")[2])
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))
