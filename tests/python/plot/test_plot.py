"""Tests of the figures of results, and of errors for missing series."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nodeb
from nodeb import plot
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.scenario_types import Ftp, LinkBearer, Record, UserGroup


def tables(users: int = 2) -> dict[str, Table]:
    """Returns series of a run in which each user sends packets 1 to 10, and packet 3 twice."""
    seq = [*range(1, 11), 3]
    per_user = len(seq)
    at = np.linspace(0.1, 3.0, per_user)
    parts: dict[str, list[Any]] = {k: [] for k in ("user", "t_s", "event", "seq", "retransmission")}
    for user in range(users):
        for event, shift in (("send", 0.0), ("deliver", 0.2), ("ack", 0.4)):
            parts["user"] += [user] * per_user
            parts["t_s"] += list(at + shift)
            parts["event"] += [event] * per_user
            parts["seq"] += seq
            parts["retransmission"] += [False] * (per_user - 1) + [True]
    rows = len(parts["user"])
    series = {
        "run": np.zeros(users * 3, dtype=int),
        "user": np.repeat(np.arange(users), 3),
        "t_s": np.tile([0.0, 1.0, 2.0], users),
    }
    return {
        "flows": Table(
            {
                "run": np.zeros(users, dtype=int),
                "user": np.arange(users),
                "group": np.array(["phone"] * users),
                "delivered_bytes": np.full(users, 14_600),
            }
        ),
        "segments": Table(
            {"run": np.zeros(rows, dtype=int)} | {k: np.array(v) for k, v in parts.items()}
        ),
        "cwnd": Table(
            series
            | {
                "cwnd_packets": np.tile([2.0, 4.0, 8.0], users),
                "ssthresh_packets": np.tile([40.0, 40.0, 4.0], users),
            }
        ),
        "queue": Table(series | {"packets": np.tile([0, 3, 1], users)}),
    }


def result(**series: Table) -> Any:
    """Returns an object that has only those attributes of a `Result` that figures use."""
    return SimpleNamespace(scenario=SimpleNamespace(name="a test"), **series)


@pytest.mark.parametrize("kind", ["cwnd", "throughput", "sequence", "queue"])
@pytest.mark.parametrize("user", [None, 1])
def test_axes_have_titles_and_units(kind: str, user: int | None) -> None:
    figure = getattr(plot, kind)(result(**tables()), user)
    (axes,) = figure.axes
    assert "a test" in axes.get_title(loc="left")
    assert axes.get_xlabel() == "Time (s)"
    assert axes.get_ylabel()
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim()[0] == 0


def test_cwnd_shows_the_threshold_of_a_single_user() -> None:
    figure = plot.cwnd(result(**tables()), user=0)
    drawn = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert drawn == [[2.0, 4.0, 8.0], [40.0, 40.0, 4.0]]


def test_throughput_adds_up_to_the_delivered_bytes() -> None:
    figure = plot.throughput(result(**tables()), user=0, bin_s=0.5)
    (steps,) = figure.axes[0].patches
    values, edges, _ = steps.get_data()
    # A packet that arrives twice counts only once, so the sum is that of ten packets.
    assert float(np.sum(values * np.diff(edges))) * 1000 / 8 == pytest.approx(14_600)


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
    figure = plot.sequence(result(**tables()))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["acknowledged", "sent", "sent again", "arrived"]


def test_legend_has_names_that_begin_with_an_underscore() -> None:
    """Matplotlib omits such labels by default."""
    rates = {name: [0.1] for name in ("bler", "bler_ci95_low", "bler_ci95_high")}
    point = Table({"eb_n0_db": [4.0], **rates})
    figure = plot.link_curves({"_car": point, "bus": point, "": point})
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_car", "bus"]


def test_several_users_are_distinguishable() -> None:
    figure = plot.queue(result(**tables()))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["user 0 (phone)", "user 1 (phone)"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [("cwnd", "cwnd"), ("throughput", "segments"), ("sequence", "segments"), ("queue", "queue")],
)
def test_missing_series_names_the_key_to_set(kind: str, key: str) -> None:
    from nodeb.results.result import Result

    known = tables()
    without = {"flows": known["flows"]}
    empty = Result(SimpleNamespace(name="a test"), without, SimpleNamespace())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"record.{key} = true"):
        getattr(plot, kind)(empty)


def test_unknown_users_and_runs_are_errors() -> None:
    with pytest.raises(InputError, match="no user 7"):
        plot.cwnd(result(**tables()), user=7)
    with pytest.raises(InputError, match="run 3"):
        plot.cwnd(result(**tables()), run=3)
    with pytest.raises(InputError, match="bin_s"):
        plot.throughput(result(**tables()), bin_s=0)


def test_lines_draw_intervals_and_published_values() -> None:
    line = plot.Line("a", [1.0, 2.0], [0.5, 1.5], [1.5, 2.5], [1.1, None])
    figure = plot.lines("t", "x (s)", "y (kb/s)", [1, 10], [line])
    axes = figure.axes[0]
    assert axes.containers  # The containers of the axes are the error bars.
    hollow = [drawn for drawn in axes.lines if drawn.get_markerfacecolor() == "none"]
    # The first line has the published values, and the second is the legend's.
    assert [list(drawn.get_xdata()) for drawn in hollow] == [[1], []]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(labels) == ["a", "published"]


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
