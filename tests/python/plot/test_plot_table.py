"""Tests of figures of tables: axes, intervals, and rejected columns."""

from __future__ import annotations

import io
import math
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodeb import cli
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot import curves
from nodeb.plot.style import SIZE
from nodeb.plot.text import Quantity
from nodeb.stats import mean_interval
from nodeb.storage.files import write_parquet

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def swept() -> Table:
    """Returns a sweep over two keys with two groups. Rates are 100 * loss + 1000 * count kbit/s."""
    rows = [
        {
            "wired.loss": loss,
            "users.0.count": count,
            "group": group,
            "runs": 3,
            "application_bps": 1e5 * loss + 1e6 * count,
            "application_bps_ci95_low": 1e5 * loss + 1e6 * count - 1e4,
            "application_bps_ci95_high": 1e5 * loss + 1e6 * count + 2e4,
        }
        for loss in (0.2, 0.1, 0.0)
        for count in (1, 2)
        for group in ("phone", "late", "all")
    ]
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def of_runs() -> Table:
    """Returns a table of three runs, each with two users."""
    run, user = np.repeat([0, 1, 2], 2), np.tile([0, 1], 3)
    rate = np.array([1.0, 3.0, 2.0, 4.0, 6.0, 8.0]) * 1e3
    return Table({"run": run, "user": user, "group": ["phone"] * 6, "application_bps": rate})


def drawn(figure):
    """Returns x and y values of each curve in a figure, by the curve's label."""
    (axes,) = figure.axes
    # Lines with the marker `_` are not curves but the ends of error bars.
    lines = [line for line in axes.lines if line.get_marker() != "_"]
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in lines}


def is_hollow(line):
    return line.get_markerfacecolor() == "white"


def test_sweep_has_a_curve_per_value_with_its_own_intervals():
    figure = curves(swept(), "wired.loss", "application_bps", ["users.0.count"])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "Wired loss"
    assert axes.get_ylabel() == "Application bit rate (Mbit/s)"
    assert drawn(figure) == {
        "1": ([0.0, 0.1, 0.2], pytest.approx([1.0, 1.01, 1.02])),
        "2": ([0.0, 0.1, 0.2], pytest.approx([2.0, 2.01, 2.02])),
    }
    first, _ = axes.collections  # The collections of the axes are the bands of the intervals.
    box = first.get_paths()[0].get_extents()
    assert (box.x0, box.x1) == (0.0, 0.2)
    assert (box.y0, box.y1) == pytest.approx((0.99, 1.04))
    assert [text.get_text() for text in axes.texts] == [*drawn(figure), "Phones"]
    assert axes.get_title(loc="left") == ""
    assert axes.get_xticks().tolist() == [0.0, 0.1, 0.2]
    bottom, top = axes.get_ylim()
    assert bottom == 0
    assert top >= 1.04 * max(axes.lines[-1].get_ydata())


def test_rows_are_selected_and_groups_are_combined_unless_named():
    figure = curves(swept(), "wired.loss", "application_bps", where={"users.0.count": "2"})
    assert list(drawn(figure).values()) == [([0.0, 0.1, 0.2], pytest.approx([2.0, 2.01, 2.02]))]
    named = curves(swept(), "wired.loss", "application_bps", ["users.0.count", "group"])
    assert len(drawn(named)) == 6
    assert "1, late" in drawn(named)


def test_several_rows_per_point_are_rejected_with_the_distinguishing_columns():
    with pytest.raises(InputError, match=r"differ in `users.0.count`: add --by users.0.count"):
        curves(swept(), "wired.loss", "application_bps")


def test_replications_have_intervals_over_run_means():
    figure = curves(of_runs(), "group", "application_bps")
    (_, (mean,)) = next(iter(drawn(figure).values()))
    assert mean == pytest.approx(4.0)  # The mean rates in the three runs are 2, 3 and 7 kbit/s.
    (axes,) = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["phone"]
    (bar,) = axes.collections[0].get_segments()
    interval = mean_interval([2.0, 3.0, 7.0])
    assert bar[:, 1] == pytest.approx([interval.low, interval.high])


def test_series_over_time_are_averaged_in_intervals_over_runs():
    run = np.repeat([0, 1], 3)
    times = np.array([0.0, 4.0, 10.0, 0.0, 6.0, 8.0])
    series = Table({"run": run, "t_s": times, "cwnd_packets": [2.0, 6.0, 0.0, 4.0, 8.0, 0.0]})
    figure = curves(series, "t_s", "cwnd_packets")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time (s)", "Congestion window (packets)")
    (x, y) = next(iter(drawn(figure).values()))
    assert x[-1] < 8 < x[-1] + 0.2  # The curve ends at 8 s, where the shorter run ends.
    # Shortly after 1, 5 and 7 s the two runs have the values 2 and 4, 6 and 4, and 6 and 8. So the
    # means are 3, 5 and 7.
    assert [y[10], y[50], y[70]] == pytest.approx([3, 5, 7])


def test_series_of_several_users_are_not_combined():
    columns = {"run": [0, 0], "user": [0, 1], "t_s": [0.0, 1.0], "cwnd_packets": [1.0, 2.0]}
    with pytest.raises(InputError, match="--by user or --where user=VALUE"):
        curves(Table(columns), "t_s", "cwnd_packets")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("time_s", "did you mean `t_s`"),
        ("cwnd_bytes", "did you mean `cwnd_packets`"),
        ("jump_s", r"`jump_s` \(there is: t_s, active_s\)"),
    ],
)
def test_columns_of_the_same_word_or_unit_are_suggested(name, expected):
    columns = ("run", "timeouts", "t_s", "active_s", "cwnd_packets", "ip_bytes")
    table = Table({column: [1.0] for column in columns})
    with pytest.raises(InputError, match=expected):
        curves(table, name, "run")


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_axes_may_be_logarithmic(log):
    table = Table({"a": [1.0, 10.0], "b": [1.0, 100.0]})
    (axes,) = curves(table, "a", "b", log=log).axes
    assert (axes.get_xscale() == "log", axes.get_yscale() == "log") == ("x" in log, "y" in log)
    assert (axes.get_ylim()[0] == 0) == ("y" not in log)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"x": "wired.los"}, "there is no column `wired.los`; did you mean `wired.loss`?"),
        ({"y": "aplication_bps"}, "did you mean `application_bps`?"),
        ({"by": ["count"]}, "did you mean `users.0.count`?"),
        ({"y": "group"}, "the y axis needs a column of numbers"),
        ({"where": {"users.0.count": "7"}}, r"no row has users.0.count = 7 \(there is: 1, 2\)"),
        ({"x": "group", "log": "x"}, "cannot be logarithmic"),
        ({"log": "z"}, "x, y or xy"),
        ({"x": "zero", "log": "x"}, "`zero` has no positive value for a logarithmic axis"),
    ],
)
def test_impossible_plots_are_rejected(arguments, expected):
    asked = {"x": "wired.loss", "y": "application_bps", "by": ["users.0.count"], **arguments}
    table = swept().where(swept()["wired.loss"] == 0.0)
    table = Table({name: table[name] for name in table.columns} | {"zero": np.zeros(6)})
    with pytest.raises(InputError, match=expected):
        curves(table, **asked)


@pytest.mark.parametrize(
    ("column", "largest", "label"),
    [
        ("application_bps", 384e3, "Application bit rate (kbit/s)"),
        ("application_bps_diff", 2e6, "Difference of application bit rate (Mbit/s)"),
        ("wired.delay_s", 0.1, "Wired delay (ms)"),
        ("utilization", 0.4, "Channel utilization (%)"),
        ("users.0.traffic.ftp.size_bytes", 5e4, "Traffic ftp size (kB)"),
        ("jain_index", 1.0, "Fairness (Jain)"),
        ("timeouts", 3.0, "Retransmission timeouts"),
    ],
)
def test_columns_have_readable_names_and_units(column, largest, label):
    assert Quantity.of(column, np.array([largest, np.nan])).label == label


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Returns a function that calls the command line in a folder with a sweep.

    The function returns status, stdout and stderr.
    """
    monkeypatch.chdir(tmp_path)
    write_parquet(tmp_path / "sweep.parquet", swept())

    def call(*arguments):
        return cli.invoke(["plot", *map(str, arguments)]), *capsys.readouterr()

    return call


ASKED = ("--x", "wired.loss", "--y", "application", "--by", "users.0.count")


@pytest.mark.parametrize("suffix", list(MAGIC))
def test_figure_format_follows_the_suffix(call, tmp_path, suffix):
    status, out, err = call(".", *ASKED, "--out", f"b/a.{suffix}")
    assert (status, out, err) == (0, f"b/a.{suffix}\n", "")
    assert (tmp_path / f"b/a.{suffix}").read_bytes().startswith(MAGIC[suffix])


FOREIGN = {
    "x": [1, 2, 3],
    "missing": ["p", None, "p"],
    "nothing": pa.nulls(3),
    "nan": [math.nan] * 3,
    "price": [Decimal("1.50"), None, Decimal(2)],
    "list": [[1], [2], [3]],
    "day": [date(2026, 1, day) for day in (1, 2, 3)],
    "end": [date(2026, 1, 1), None, None],
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--y", "price", "--by", "list"), None),
        (("--y", "price", "--where", "missing=p"), None),
        (("--y", "price", "--where", "missing=q"), "no row has missing = q (there is: , p)"),
        (("--y", "price", "--where", "day=3"), "no row has day = 3 (there is: 2026-01-01, "),
        (("--y", "price", "--where", "end=3"), "no row has end = 3 (there is: , 2026-01-01)"),
        (("--y", "nothing"), "there is no row with values of both `x` and `nothing`"),
        (("--y", "nan"), "there is no row with values of both `x` and `nan`"),
        (("--y", "list"), "`list` is text; the y axis needs a column of numbers"),
        (
            ("--y", "price", "--where", "x=1", "--where", "x=2"),
            "--where x=2: a value of `x` is given already",
        ),
    ],
)
def test_columns_of_other_programs_are_drawn_or_refused(call, tmp_path, arguments, message):
    pq.write_table(pa.table(FOREIGN), tmp_path / "foreign.parquet")
    status, _, err = call("foreign.parquet", "--x", "x", *arguments)
    assert status == (2 if message else 0), err
    assert err.startswith(f"error: {message}" if message else "")


def test_results_of_a_run_can_be_drawn(call, tmp_path, small):
    small.with_(**{"record.cwnd": True}).run().save(tmp_path / "run")
    assert call("run", "--x", "t", "--y", "cwnd_packets", "--by", "user")[0] == 0
    assert call("run", "--x", "user", "--y", "application_bps")[0] == 0
    summary = ("run/summary.parquet", "--x", "group", "--y", "mean")
    assert call(*summary, "--where", "metric=transfer_s")[0] == 0


def test_long_legend_and_title_are_wrapped_and_fit():
    loss, place = np.tile([0.0, 0.1], 12), np.repeat(np.arange(12), 2)
    names = [f"a name of a group that goes on and on and on, number {n} of twelve" for n in place]
    table = Table({"loss": loss, "group": names, "other": names, "rate": place + loss})
    figure = curves(table, "loss", "rate", ["group", "other"], title="word " * 60)
    figure.savefig(io.BytesIO())  # The layout is computed when the figure is saved.
    width = figure.get_figwidth() * figure.dpi
    (legend,), (axes,) = figure.legends, figure.axes
    box = legend.get_window_extent()
    assert (box.x0 >= 0, box.x1 <= width, box.y0 >= 0) == (True, True, True)
    title = axes.get_window_extent(), axes._left_title.get_window_extent()
    assert title[1].x1 <= width
    assert title[0].height > 0.25 * SIZE[1] * figure.dpi
    assert len(legend.get_texts()) == 12


def test_curves_beyond_the_seventh_are_distinguishable():
    loss, place = np.tile([0.0, 0.1], 20), np.repeat(np.arange(20), 2)
    figure = curves(Table({"loss": loss, "n": place, "rate": place + loss}), "loss", "rate", ["n"])
    looks = [
        (line.get_color(), line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines
    ]
    assert len(set(looks)) == 20


def test_continuous_values_are_points_and_user_ticks_are_integers():
    table = of_runs()
    rate = Table({name: table[name] for name in table.columns} | {"delay_s": np.arange(6) / 8})
    (line,) = curves(rate, "delay_s", "application_bps").axes[0].lines
    assert (line.get_linestyle(), line.get_marker()) == ("None", "o")
    (axes,) = curves(table, "user", "application_bps").axes
    assert axes.lines[0].get_linestyle() == "-"
    assert all(tick == round(tick) for tick in axes.get_xticks())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nope.parquet", *ASKED), "there is no such file"),
        (("empty", *ASKED), "there are no results in this folder"),
        (("text.parquet", *ASKED), "not a Parquet file"),
        ((".", *ASKED, "--out", "a.gif"), "unknown suffix; expected .png, .svg, .pdf"),
        ((".", *ASKED, "--out", "text.parquet/a.png"), "text.parquet"),
        ((".", *ASKED, "--where", "group"), "expected COLUMN=VALUE"),
        ((".", "--x", "wired.loss"), "--y"),
    ],
)
def test_wrong_plots_are_reported_in_one_paragraph(call, tmp_path, arguments, expected):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("PAR1 not")
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert expected in err
    assert "Traceback" not in err


def test_means_without_all_users_are_hollow_and_explained():
    table = swept()
    shares = np.where(table["wired.loss"] == 0.2, 0.25, 1.0)
    columns = {name: table[name] for name in table.columns}
    some = Table(columns | {"application_bps_covered": shares})
    figure = curves(some, "wired.loss", "application_bps", ["users.0.count"])
    hollow = [list(line.get_xdata()) for line in figure.axes[0].lines if is_hollow(line)]
    assert hollow == [[0.2], [0.2], []]  # The last one is in the legend.
    assert not any(one.get_text().startswith("_") for one in figure.legends[0].get_texts())
    (texts,) = [legend.get_texts() for legend in figure.legends]
    expected = "hollow: mean of only some users, of 25 % at the least"
    assert expected in " ".join(" ".join(one.get_text() for one in texts).split())
    whole = curves(table, "wired.loss", "application_bps", ["users.0.count"])
    assert not any(map(is_hollow, whole.axes[0].lines))
    assert not whole.legends


def test_single_curve_explains_hollow_marks_too():
    table = swept()
    columns = {name: table[name] for name in table.columns}
    some = Table(columns | {"application_bps_covered": np.full(len(table), 0.5)})
    figure = curves(some, "wired.loss", "application_bps", where={"users.0.count": "1"})
    assert "hollow" in figure.legends[0].get_texts()[-1].get_text()


def test_rows_are_selected_by_values_with_units():
    table = Table({"wired.delay_s": [0.02, 0.2], "x": [1, 2], "y_bps": [1.0, 2.0]})
    for value in ("20 ms", "0.02", "0.02 s", "20000 us"):
        drawn = curves(table, "x", "y_bps", where={"wired.delay": value})
        assert drawn.axes[0].lines[0].get_xdata().tolist() == [1]
    for value in ("20", "20 kB", "0.3 s"):
        with pytest.raises(InputError, match=f"no row has wired.delay_s = {value}"):
            curves(table, "x", "y_bps", where={"wired.delay": value})
