"""Tests of Prabhu's study: which bursts are counted, their metrics, scenarios, and figures."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest

from nodeb.reproduce import run
from nodeb.studies import prabhu, prabhu_bursts
from nodeb.study import Means, label_of
from nodeb.study.case import Settings
from small_study import scenario

STUDY = prabhu.study
ACK_S = 0.035


def tables(begin, delay, size, phone):
    """Returns tables of two phones in a run of 100 s, each with ten set-ups of a channel."""
    spent = {state: [0.0, 0.0] for state in prabhu.STATES}
    return {
        "flows": {"user": [0, 1]},
        "transfers": {
            "begin_s": begin,
            "download_s": [each - ACK_S for each in delay],
            "delay_s": delay,
            "bytes": size,
            "user": phone,
        },
        "channels": spent | {"fach_s": [60.0, 90.0], "dch_s": [40.0, 10.0], "set_ups": [10, 10]},
    }


def value(metric, made, warm_up_s=20.0):
    known = prabhu_bursts.reduce(made, warm_up_s) | {
        prabhu.observed_s: prabhu.observed_s(made, warm_up_s),
        "channels.set_ups": np.array(made["channels"]["set_ups"]),
    }
    return float(metric.value(Means(known.__getitem__)))


@pytest.mark.parametrize(
    ("metric", "found"),
    [
        (prabhu.burst_delay, 35 / 3),
        (prabhu.burst_download, 35 / 3 - ACK_S),
        (prabhu.goodput, 30_000 * 8 / 1000 / 80 / 2),
        (prabhu.rate_of_a_burst, (1000 + 1000 + 500) * 8 / 1000 / 3),
        (prabhu.little_delay, 2 * 80 / 3 - prabhu.THINK_S),
        # The set-ups are those of the whole run, not only after the warm-up.
        (prabhu.set_ups_per_burst, 20 / 4),
    ],
)
def test_bursts_that_end_after_the_warm_up_count(metric, found):
    # The bursts end at 5 s (not counted), 25 s (counted, although it began before), 60 s and 90 s.
    made = tables([0, 10, 50, 80], [5, 15, 10, 10], [9, 15_000, 10_000, 5000], [0, 0, 1, 0])
    assert value(metric, made) == pytest.approx(found)


def test_run_without_a_burst_has_no_delay():
    assert math.isnan(value(prabhu.burst_delay, tables([0], [5], [9], [0])))


def test_stored_data_do_not_grow_with_the_run():
    def kept(n):
        found = prabhu_bursts.reduce(tables([30.0] * n, [1.0] * n, [1] * n, [0] * n), 20.0)
        return sum(values.size for values in found.values())

    assert kept(10) == kept(100_000)


def test_every_figure_with_results_is_included():
    figures = [name for name in STUDY.items() if "Figure" in name and "paired" not in name]
    assert figures == [f"Figure {n}" for n in range(3, 10)]


def test_scenarios_have_the_parameters_of_the_study():
    made = scenario(prabhu.bursts(prabhu.FIVE, prabhu.NPE_500, prabhu.T[7]))
    assert made.users[0].count == 5
    policy = made.radio.policy.to_dict()
    assert policy == {"non_preemptive": {"high": 7, "low": 1, "timeout": "500 ms"}}
    for name, switch, channels in (
        ("Figure 5", "250 ms", 1),
        ("Figure 7", "500 ms", 1),
        ("Figure 8", "500 ms", 1),
        ("Figure 9", "250 ms", 2),
    ):
        radio = [scenario(case).radio for case in STUDY.figures[name].cases()]
        assert {(one.switch_time, one.dch_channels) for one in radio} == {(switch, channels)}


def test_point_covers_200_000_seconds_after_the_warm_up():
    written = tomllib.loads(STUDY.scenario_text)["duration"]
    seconds = float(written.removesuffix(" s")) - STUDY.warm_up_s(False)
    assert STUDY.effort.runs * seconds == 200_000
    case = prabhu.bursts(prabhu.FIVE, prabhu.ORIGINAL, prabhu.T[3])
    assert case.scenario(Settings(True), STUDY.quick).duration == "25 min"
    assert STUDY.warm_up_s(True) == 500


def test_mean_pause_follows_from_the_traffic():
    source = prabhu.base.users[0].traffic
    silent = source.silence_probability
    assert (source.pause.mean, source.silence.mean, silent) == ("300 ms", "5 s", 0.33)
    assert pytest.approx((1 - silent) * 0.3 + silent * 5) == prabhu.THINK_S


def test_figures_share_their_scenarios():
    names = ("Figure 3", "Figure 4", "Figure 3, paired", "Figure 4, paired")
    assert len({case for name in names for case in STUDY.figures[name].cases()}) == 7 * 16


def test_values_quoted_in_the_text_have_hollow_marks():
    figure = STUDY.figures["Figure 5, paired"]
    known = {
        label_of(key): printed[prabhu.T[0]]
        for key, printed in figure.printed.items()
        if any(value is not None for value in printed.values())
    }
    assert known == {"npe, T_out = 0.25 s": -20, "npe, T_out = 0.5 s": -20}


def test_real_core_measures_a_table(tmp_path):
    outcome = run("prabhu", tmp_path, ["Table A"], quick=True)
    found = {(cell.row, cell.column): cell.measured.value for cell in outcome.cells}
    assert np.isfinite(list(found.values())).all()
    for n in (5, 8):
        original, npe = f"N = {n}, original (T_out = 0)", f"N = {n}, npe, T_out = 0.5 s"
        assert found[npe, "Delay"] < found[original, "Delay"]
        assert found[npe, "Set-ups"] < 0.6 * found[original, "Set-ups"]
        little = found[original, "Delay by Little's law"]
        assert found[original, "Delay"] == pytest.approx(little, rel=0.1)
    page = (tmp_path / "report.html").read_text()
    assert "500 s of each replication left out" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "Set-ups" in page
