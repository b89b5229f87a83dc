"""Tests of the first lines of a run in different cases."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodeb
from nodeb.answer import text
from nodeb.base.table import Table
from nodeb.results.answer import LABELS, answer
from nodeb.results.metrics import METRICS
from nodeb.results.survivors import median_of_all, unfinished

ONE = 'radio.dch = {{}}\nduration = "{duration}"\n[[users]]\ntraffic.ftp.size = "{size}"\n'
CELL = """
duration = "{duration}"
radio.hsdpa = {{}}
[[users]]
name = "one"
count = {count}
traffic.ftp.size = "{size}"
[[users]]
name = "two"
traffic.ftp.size = "{size}"
"""


def run(text, runs=3, **values):
    return nodeb.Scenario.from_toml(text.format(**values)).run(runs=runs)


def said(text, **values):
    found = answer(run(text, **values), "file.toml", "out/file")
    return found, " ".join(mark.text for mark in found.marks), " ".join(found.notes)


def test_answer_for_one_download():
    found, marks, notes = said(ONE, duration="100 s", size="50 kB")
    assert found.headline.startswith("the download took 2.")
    assert "of that went into" in found.headline
    assert not marks
    assert "All finished, without stalls, loss recovery or timeouts." in notes
    assert found.picture.title == "Where the time went"
    assert sum(bar.size for bar in found.picture.bars) == pytest.approx(
        found_mean(ONE, duration="100 s", size="50 kB")
    )


def found_mean(text, **values):
    return float(run(text, **values).flows["download_s"].mean())


def test_answer_for_one_unfinished_download():
    found, _, notes = said(ONE, duration="2 s", size="500 kB")
    assert found.headline.startswith("the download did not finish in 2 s; ")
    assert "A longer run shows more" in notes
    assert "download time" not in [fact.name for fact in found.facts]


def test_answer_for_endless_traffic():
    text = ONE.replace(
        'ftp.size = "{size}"',
        'on_off = {{ burst.constant.value = "20 kB", pause.constant.value = "1 s" }}',
    )
    found, _, notes = said(text, duration="5 s")
    assert found.headline.startswith("the phone received ")
    assert "finished" not in notes


def test_answer_if_no_user_finished():
    found, marks, _ = said(CELL, duration="60 s", size="50 MB", count=3)
    assert found.headline.startswith("the cell delivers ")
    assert "It is full: busy" in found.headline
    assert marks.startswith("None of the 12 transfers finished in 60 s")


def test_answer_begins_with_unfinished_users_and_marks_the_means():
    found, marks, _ = said(CELL, duration="10 s", size="300 kB", count=9)
    assert " of 30) had not finished when the run ended after 10 s" in found.headline
    times = {fact.name: fact for fact in found.facts}
    assert times["download time"].mark == "†"
    assert "Only of transfers that finished: " in marks
    assert "is at least" in marks


def test_all_shows_groups_side_by_side():
    rows = answer(run(CELL, duration="3 s", size="50 kB", count=3)).everything[0]
    assert [name for name in rows.head if name] == ["one", "two", "all"]
    assert {len(row) for row in rows.rows} == {7}


def test_suggested_duration_is_sufficient():
    """With the duration that the answer suggests, at least 95 % of users finish."""
    result = run(CELL, duration="10 s", size="300 kB", count=9)
    about = unfinished(result.flows, 10.0)
    assert about.count
    longer = result.scenario.with_(duration=f"{about.enough_s:g} s").run(runs=3)
    assert longer.flows["complete"].mean() >= 0.95


def test_result_is_printed_and_shown_in_notebooks():
    result = run(ONE, duration="100 s", size="50 kB")
    assert "the download took" in str(result)
    html = result._repr_html_().replace("\N{NO-BREAK SPACE}", " ")
    assert ">The download took" in html
    assert "<script" not in html


def test_median_over_all_includes_unfinished_users():
    done = np.array([True, True, False, False, False])
    assert math.isnan(median_of_all(np.array([1.0, 2.0, 9.0, 9.0, 9.0]), done))
    assert median_of_all(np.array([1.0, 2.0, 3.0, 9.0]), np.array([True] * 3 + [False])) == 2.0
    # Example with Kaplan and Meier's estimator: deaths at 0.8, 3.1, 5.4 and 9.2; losses at 1.0,
    # 2.7, 7.0 and 12.1.
    times = np.array([0.8, 1.0, 2.7, 3.1, 5.4, 7.0, 9.2, 12.1])
    ended = np.array([True, False, False, True, True, False, True, False])
    assert median_of_all(times, ended) == 9.2


@given(st.lists(st.tuples(st.floats(0.1, 100), st.booleans()), min_size=1, max_size=40))
def test_median_over_all_agrees_with_scipy(rows):
    from scipy.stats import CensoredData, ecdf

    times, done = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    found = median_of_all(times, done)
    if not done.any():
        assert math.isnan(found)
        return
    curve = ecdf(CensoredData.right_censored(times, ~done)).sf
    below = curve.quantiles[curve.probabilities <= 0.5 + 1e-12]
    assert (found == below[0]) if len(below) else math.isnan(found)


def test_channel_without_time_counter_is_not_called_idle():
    example = Path(__file__).parents[3] / "examples" / "switching.toml"
    result = nodeb.load(example).run(runs=2)
    found = answer(result)
    assert "busy" not in found.headline
    assert "cell_busy" not in result.summary["metric"].tolist()


def test_survivor_mean_is_marked_in_a_single_replication_too():
    found = answer(run(CELL, runs=1, duration="9 s", count=7, size="400 kB"), "file.toml")
    rows = {row[0]: row for row in found.everything[0].rows}
    assert any("\N{DAGGER}" in cell.unit for cell in rows["download time"] if hasattr(cell, "unit"))


def test_phones_without_a_value_are_counted_for_every_metric():
    result = run(CELL, duration="3 s", count=7, size="400 kB")
    partial = [
        METRICS[row["metric"]].label
        for row in result.summary
        if row["group"] == "all" and 0 < row["covered"] < 1
        if not METRICS[row["metric"]].completed
    ]
    marks = " ".join(mark.text for mark in answer(result, "file.toml").marks)
    names = {row["metric"]: METRICS[row["metric"]].label for row in result.summary}
    shown_as = {label: LABELS.get(name, label) for name, label in names.items()}
    assert all(shown_as[label] in marks for label in partial)
    assert bool(partial) == ("Only of phones that have a value: " in marks)


STAGGERED = """
duration = "6 s"
radio.dch.bler = {bler}
wired.loss = {loss}
[[users]]
traffic.ftp.size = "100 kB"
stagger = "300 ms"
count = 3
"""
UNLIKE = """
duration = "6 s"
radio.dch.bler = 0.1
[[users]]
name = "big"
count = 2
traffic.ftp.size = "300 kB"
[[users]]
name = "small"
count = 3
start = "1 s"
traffic.ftp.size = "20 kB"
"""
PAGES = """
duration = "60 s"
radio.link.rate = "10 Mbps"
wired.rate = "2 Mbps"
[[users]]
name = "download"
traffic.ftp.size = "100 MB"
[[users]]
name = "web"
traffic.web = {}
"""
NEAR_AND_FAR = """
radio.hs_dsch.scheduler = "max_ci"
[[users]]
name = "near"
traffic.ftp.size = "100 kB"
ci = [0.00, 0.05, 0.20, 0.45, 0.30]
[[users]]
name = "far"
traffic.ftp.size = "100 kB"
ci = [0.30, 0.45, 0.20, 0.05, 0.00]
"""


def test_total_rate_is_data_over_the_whole_run():
    result = nodeb.Scenario.from_toml(UNLIKE).run(runs=3)
    headline = answer(result, "file.toml").headline
    whole = result.flows["delivered_bytes"].sum() * 8 / 3 / 6.0 / 1e3
    assert float(headline.split(" receive ")[1].split()[0]) == pytest.approx(whole, rel=0.01)
    assert "together over the whole run" in headline


def test_headline_shows_the_rate_of_each_group():
    result = nodeb.Scenario.from_toml(UNLIKE).run(runs=3)
    headline = answer(result, "file.toml").headline
    means = {r["group"]: r["mean"] for r in result.summary if r["metric"] == "received_bps"}
    for group in ("big", "small"):
        said_ = headline.split(f" kbit/s ({group})")[0].split()[-1]
        assert float(said_) == pytest.approx(means[group] / 1e3, rel=0.01)
    many = UNLIKE + "".join(
        f'[[users]]\nname = "{name}"\ntraffic.ftp.size = "20 kB"\n' for name in "abc"
    )
    headline = answer(nodeb.Scenario.from_toml(many).run(runs=3), "file.toml").headline
    assert " receives from " in headline
    assert headline.endswith(" kbit/s (big).")


def test_load_times_of_one_group_are_key_figures_and_only_shown_means_have_a_legend():
    found = answer(nodeb.Scenario.from_toml(PAGES).run(runs=3), "file.toml")
    names = [fact.name for fact in found.facts]
    assert names[0] == "load time, median (web)"
    marked = any(fact.mark for fact in found.facts)
    assert marked == any(mark.sign == "\N{DAGGER}" and not mark.folded for mark in found.marks)
    assert any("load time, median" in mark.text for mark in found.marks if mark.folded)
    assert "Only of" not in text(found)
    assert "Only of phones that have a value" in text(found, everything=True)


@pytest.mark.parametrize(("bler", "loss"), [(0.4, 0.0), (0.2, 0.0), (0.1, 0.02)])
def test_finished_and_acknowledged_transfers_are_distinguished(bler, loss):
    result = run(STAGGERED, runs=10, bler=bler, loss=loss)
    found, flows = answer(result, "file.toml"), result.flows
    at_phone = np.isfinite(flows["download_s"]).mean()
    facts = {fact.name: fact.shown for fact in found.facts}
    assert at_phone != flows["complete"].mean() or loss
    if at_phone == 1:
        assert any("All finished" in note for note in found.notes)
    else:
        assert facts["transfers that finished"].number == f"{100 * at_phone:.0f}"
    (row,) = [row for row in found.everything[0].rows if "acknowledged" in row[0]] or [None]
    assert row is None or row[1].number == f"{100 * flows['complete'].mean():.0f}"
    assert "complete" not in text(found, everything=True)


def test_means_over_replications_are_labelled():
    marks = " ".join(
        mark.text for mark in answer(run(STAGGERED, runs=10, bler=0.1, loss=0.02), "f.toml").marks
    )
    assert "Only of replications that have a value: " in marks
    assert "for download time, 95 of 100 phones" in marks


def test_median_of_two_phones_is_omitted_next_to_their_mean():
    found = answer(nodeb.Scenario.from_toml(NEAR_AND_FAR).run(runs=3), "file.toml")
    names = [fact.name for fact in found.facts]
    assert "mean of the phones" in names
    assert "half of the phones get more than" not in names
    assert not any("median phone" in name for name in names)


def test_interval_of_times_ends_with_the_run():
    result = run(STAGGERED, runs=10, bler=0.1, loss=0.02)
    rows = [row for row in result.summary if row["unit"] == "s"]
    assert all(row["ci95_high"] <= 6.0 for row in rows if row["runs"] > 1)
    assert any(row["ci95_high"] == 6.0 for row in rows)


def test_no_duration_is_enough_if_most_transfers_have_received_nothing():
    """The pace of most transfers is unknown, so no duration is suggested."""

    def enough(received):
        count = len(received)
        nothing = np.full(count, math.nan)
        flows = Table(
            {
                "endless": np.zeros(count),
                "download_s": nothing,
                "start_s": np.zeros(count),
                "complete": np.zeros(count),
                "app_bytes": np.full(count, 100.0),
                "delivered_bytes": np.array(received),
            }
        )
        return unfinished(flows, 1.0).enough_s

    assert math.isnan(enough([50.0, 0.0, 0.0]))
    assert enough([50.0, 50.0, 0.0]) >= 2.0
