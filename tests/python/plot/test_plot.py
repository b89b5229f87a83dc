"""Tests of the figures of results, and of errors for missing series."""

from __future__ import annotations

import math
from functools import cache
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.text import Text

import nodeb
from nodeb import plot
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.style import NARROW, SIZE, legend_entries
from nodeb.scenario_types import Ftp, LinkBearer, Record, UserGroup, Wired


def names(figure: Figure) -> list[str]:
    """Names at the ends of curves, then those in the legend."""
    entries = [text for legend in figure.legends for text in legend.get_texts()]
    return [text.get_text() for text in (*figure.axes[0].texts, *entries)]


@cache
def recorded(users: int = 2) -> nodeb.Result:
    """Returns a run with its series, in which packets are lost."""
    scenario = nodeb.Scenario(
        name="a test",
        wired=Wired(loss=0.05),
        radio=LinkBearer(rate="1 Mbps"),
        users=[UserGroup(name="phone", count=users, traffic=Ftp(size="50 kB"))],
        record=Record(cwnd=True, segments=True, queue=True),
    )
    return scenario.run(runs=1, jobs=1)


@pytest.mark.parametrize("kind", ["cwnd", "throughput", "sequence", "queue"])
@pytest.mark.parametrize("user", [None, 1])
def test_axes_have_titles_and_units(kind: str, user: int | None) -> None:
    figure = getattr(plot, kind)(recorded(), user)
    (axes,) = figure.axes
    assert "a test" in axes.get_title(loc="left")
    assert axes.get_xlabel() == "Time (s)"
    assert axes.get_ylabel()
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim()[0] == 0


def test_cwnd_shows_the_threshold_of_a_single_user() -> None:
    figure = plot.cwnd(recorded(), user=0)
    rows = recorded().cwnd.where(recorded().cwnd["user"] == 0)
    for line, column in zip(figure.axes[0].lines, ("cwnd", "ssthresh"), strict=True):
        values = rows[f"{column}_packets"].tolist()
        assert list(line.get_ydata())[: len(values)] == values


@pytest.mark.parametrize("kind", ["cwnd", "throughput", "queue", "rtt"])
def test_results_share_axes_on_request(kind: str) -> None:
    axes = pyplot.figure().add_subplot()
    slow = recorded().scenario.with_({"name": "slow", "wired.delay": "400 ms", "record.rtt": True})
    fast = slow.with_({"name": "fast", "wired.delay": "4 ms"})
    ends = []
    for scenario in (fast, slow):
        figure = getattr(scenario.run(1).plot, kind)(user=0, ax=axes)
        assert figure is axes.figure
        ends.append(axes.get_xlim()[1])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert {label.partition(":")[0] for label in labels} == {"fast", "slow"}
    assert len({artist.get_label() for artist, _ in legend_entries(axes)}) == len(labels)
    assert 2 * ends[0] < ends[1]
    with pytest.raises(InputError, match="the axes show"):
        plot.shares("", "download_s", {"a": np.ones(3)}, ax=axes)
    pyplot.close(axes.figure)


def test_throughput_adds_up_to_the_delivered_bytes() -> None:
    figure = plot.throughput(recorded(), user=0, bin_s=0.5)
    (steps,) = figure.axes[0].patches
    values, edges, _ = steps.get_data()
    delivered = recorded().flows["delivered_bytes"][0]
    assert float(np.sum(values * np.diff(edges))) * 1000 / 8 == pytest.approx(delivered)


@pytest.mark.parametrize("end_s", [9.7, 10.3])
def test_bit_rate_does_not_drop_at_the_end_of_the_run(end_s: float) -> None:
    scenario = nodeb.Scenario(
        duration=f"{end_s} s",
        radio=LinkBearer(rate="1 Mbps"),
        users=[UserGroup(traffic=Ftp(size="10 MB"))],
        record=Record(segments=True),
    )
    figure = plot.throughput(scenario.run(runs=1), bin_s=1)
    (steps,) = figure.axes[0].patches
    values, edges, _ = steps.get_data()
    assert edges[-1] == pytest.approx(end_s, abs=0.1)
    np.testing.assert_allclose(values[2:], 940, rtol=0.05)


def test_sequence_plot_marks_retransmissions() -> None:
    figure = plot.sequence(recorded())
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["acknowledged", "sent", "sent again", "dropped", "arrived"]


def test_legend_has_names_that_begin_with_an_underscore() -> None:
    """Matplotlib omits such labels by default."""
    rates = {name: [0.1] for name in ("bler", "bler_ci95_low", "bler_ci95_high")}
    point = Table({"eb_n0_db": [4.0], **rates})
    figure = plot.link_curves({"_car": point, "bus": point, "": point})
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_car", "bus"]


def test_several_users_are_distinguishable() -> None:
    figure = plot.queue(recorded())
    assert set(names(figure)) == {"user 0 (phone)", "user 1 (phone)"}


@pytest.mark.parametrize(
    ("kind", "key"),
    [("cwnd", "cwnd"), ("throughput", "segments"), ("sequence", "segments"), ("queue", "queue")],
)
def test_missing_series_names_the_key_to_set(kind: str, key: str) -> None:
    empty = recorded().scenario.with_(record={}).run(runs=1, jobs=1)
    with pytest.raises(InputError, match=f"record.{key} = true"):
        getattr(plot, kind)(empty)


def test_unknown_users_and_runs_are_errors() -> None:
    with pytest.raises(InputError, match="no user 7"):
        plot.cwnd(recorded(), user=7)
    with pytest.raises(InputError, match="run 3"):
        plot.cwnd(recorded(), run=3)
    with pytest.raises(InputError, match="bin_s"):
        plot.throughput(recorded(), bin_s=0)


def test_lines_draw_intervals_and_published_values() -> None:
    line = plot.Line("a", [1.0, 2.0], [0.5, 1.5], [1.5, 2.5], [1.1, None])
    figure = plot.lines("t", "x (s)", "y (kb/s)", [1, 10], [line])
    axes = figure.axes[0]
    assert axes.containers  # The containers of the axes are the error bars.
    hollow = [drawn for drawn in axes.lines if drawn.get_markerfacecolor() == "none"]
    # The first line has the published values, and the second is the legend's.
    assert [list(drawn.get_xdata()) for drawn in hollow] == [[1], []]
    assert names(figure) == ["a", "published"]


ENDS = [0.1, 0.15, 0.2, 0.95, 1.0]


@pytest.mark.parametrize("size", [SIZE, NARROW])
def test_names_at_ends_of_curves_do_not_overlap(size: tuple[float, float]) -> None:
    data = [plot.Line(f"number {n} of\nfive", [0.5, end]) for n, end in enumerate(ENDS)]
    figure = plot.lines("title", "x", "y", [0, 1], data, size=size)
    figure.savefig(BytesIO())  # The layout is computed when the figure is saved.
    texts = figure.axes[0].texts
    boxes = [Text.get_window_extent(text) for text in texts]
    for below, above in pairwise(boxes):
        assert below.y1 < above.y0
    edge = figure.axes[0].bbox.x1
    assert all(edge <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert [text.xy[1] for text in texts] == ENDS
    assert not figure.legends


@pytest.mark.parametrize(
    "data",
    [
        [plot.Line(f"line {n}", [1.0, n]) for n in range(7)],
        [plot.Line("one", [1.0, 2.0]), plot.Line("ends there too", [3.0, 2.0])],
        [plot.Line("ends at the right", [1.0, 2.0]), plot.Line("ends early", [1.0, math.nan])],
        [
            plot.Line("a", [1.0, 2.0]),
            plot.Line("a_word_that_cannot_be_broken_anywhere", [1.0, 2.0]),
        ],
    ],
)
def test_legend_names_curves_without_room_at_their_ends(data: list[plot.Line]) -> None:
    figure = plot.lines("t", "x", "y", [0, 1], data)
    assert not figure.axes[0].texts
    assert names(figure) == [line.label for line in data]


def test_bars_are_drawn_side_by_side() -> None:
    data = [plot.Line("a", [1.0, 2.0]), plot.Line("b", [3.0, 4.0])]
    figure = plot.bars("t", "x", "y", ["p", "q"], data)
    lefts = [round(bar.get_x(), 3) for bar in figure.axes[0].patches]
    assert len(set(lefts)) == 4


def test_curves_need_a_value_for_each_place() -> None:
    with pytest.raises(InputError, match="2 values for 3 places"):
        plot.lines("t", "x", "y", [1, 2, 3], [plot.Line("a", [1.0, 2.0])])


@pytest.mark.parametrize("radio", ["hsdpa", "lte"])
def test_map_of_phones_that_download_and_upload(radio):
    """A phone is drawn once, although its upload has a row of its own."""
    result = nodeb.Scenario.from_toml(
        f'duration = "2 s"\nradio.{radio} = {{}}\n[[users]]\ncount = 2\n'
        'traffic.ftp.size = "20 kB"\nupload.ftp.size = "5 kB"\n'
    ).run(runs=1)
    (axes, *_) = result.plot.cell().axes
    assert [
        len(drawn.get_offsets()) for drawn in axes.collections if drawn.get_label() == "phone"
    ] == [2]
