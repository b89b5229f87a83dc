"""Tests of the first lines of a comparison in different cases."""

from dataclasses import replace

import numpy as np
import pytest

import nodeb
from nodeb.answer import text
from nodeb.comparison.answer import answers
from nodeb.comparison.differences import Comparison, Tried, difference
from nodeb.results.metrics import METRICS

RUNS = 20


def found(**shifts):
    """Returns the answer of a comparison and its text. Each metric is shifted by a fraction of its
    value, or drawn independently if the shift is `None`.
    """
    rng = np.random.default_rng(1)
    rows = []
    for name, shift in shifts.items():
        base = rng.uniform(99.0, 101.0, RUNS)
        own = rng.normal(100.0, 30.0, RUNS) if shift is None else base * (1 + shift)
        if shift:
            own = own + np.tile([0.1, -0.1], RUNS // 2)
        rows.append(difference("all", METRICS[name], base, own, 0.02, 0.95))
    comparison = Comparison("plain", [Tried("other", rows, [], {})], RUNS, 1, 0.02)
    answer = answers(comparison)[0]
    return answer, " ".join(text(answer).split())


def test_identical_pairs_are_reported_without_a_table():
    answer, said = found(download_s=0.0, rtt_mean_s=0.0)
    assert answer.headline.startswith("No difference: with other the download takes ")
    assert "in each of the 20 pairs" in answer.headline
    assert answer.table is None
    assert "Equal in all 20 pairs: download time and mean round-trip time." in said


def test_difference_within_the_margin_counts_as_none():
    answer, said = found(download_s=0.001, rtt_mean_s=0.001)
    assert "to within 2 %" in answer.headline
    assert "Same within 2 %: download time and mean round-trip time." in said


def test_headline_names_the_better_one_with_difference_and_interval():
    answer, _ = found(download_s=-0.2, rtt_mean_s=-0.1)
    assert answer.headline.startswith("other is faster than plain: the download takes ")
    assert " s, 20" in answer.headline
    assert "% less (95 %: " in answer.headline
    assert [row[0][0] for row in answer.table.rows] == ["\N{CHECK MARK}"] * 2


def test_headline_shows_both_sides_if_verdicts_disagree():
    answer, _ = found(cell_bps=0.3, received_bps_p50=-0.9, jain_index=-0.5)
    assert answer.headline.startswith("other is better in some ways and worse in others than plain")
    assert "what the cell delivers is 30" in answer.headline
    assert "but the median rate of the phones is 90" in answer.headline
    answer, _ = found(cell_bps=-0.3, jain_index=0.5)
    assert ": what the cell delivers is 30" in answer.headline  # The main metric is named first.


def test_undecided_metric_shows_how_many_replications_would_decide():
    answer, said = found(download_s=None)
    assert answer.headline.startswith("Undecided: with other, the download time differs by ")
    assert answer.headline.endswith("would decide.")
    assert "? undecided: " in said


def test_metric_without_better_direction_has_an_arrow():
    answer, _ = found(download_s=0.0, retransmit_bps=0.5)
    assert [row[0][0] for row in answer.table.rows] == ["=", "\N{UPWARDS ARROW}"]


def test_table_contains_every_metric_of_the_headline():
    many = dict.fromkeys(
        [
            *("load_median_s", "cell_bps", "received_bps", "received_bps_p50", "received_bps_p5"),
            *("complete", "rtt_mean_s", "queueing_delay_s", "jain_index", "stalled_s"),
        ],
        None,
    )
    answer, _ = found(transfer_s=0.0, **many, power_w=-0.3, load_p95_s=-0.2)
    named = [METRICS[name].label for name in ("load_median_s", "power_w", "load_p95_s")]
    rows = {row[0][2:] for row in answer.table.rows}
    assert set(named) <= rows
    assert len(rows) == 9
    assert answer.headline == (
        "other is better than plain in the power of the phone's radio and the load time, 95 of "
        "100; whether the load time differs is undecided."
    )


def test_numbers_of_headline_and_table_agree():
    for shift in (-0.2, -0.004, 0.3):
        answer, _ = found(download_s=shift, rtt_mean_s=0.5)
        row = next(row for row in answer.table.rows if row[0].endswith("download time"))
        if "the download takes" in answer.headline:
            words = answer.headline.split("the download takes ")[1].split()
            assert words[0] == row[2]
            assert words[4] == row[1]


def test_interval_of_a_share_is_not_negative():
    base, own = np.zeros(RUNS), np.eye(RUNS)[0] * 4
    one = difference("all", METRICS["stalls"], base, own, 0.02, 0.95)
    assert (one.difference.low, one.verdict.kind) == (0.0, "undecided")
    base = np.tile([1.0, 3.0], RUNS // 2)
    one = difference("all", METRICS["stalls"], base, own, 0.02, 0.95)
    assert one.ratio.low == 0
    one = difference("all", METRICS["complete"], np.ones(RUNS), 1 - np.eye(RUNS)[0], 0.02, 0.95)
    assert one.difference.high <= 0


@pytest.mark.parametrize("kind", ["better", "worse"])
def test_headline_if_only_other_metrics_are_decided(kind):
    shift = -0.3 if kind == "better" else 0.3
    answer, _ = found(download_s=0.0, rtt_mean_s=shift)
    assert answer.headline == (
        f"other is {kind} than plain in the round-trip time; the download time is the same."
    )


def test_survivor_means_are_marked_in_all_texts():
    base = np.full(RUNS, 2.0)
    row = replace(difference("all", METRICS["download_s"], base, base, 0.02, 0.95), covered=0.6)
    (answer,) = answers(Comparison("plain", [Tried("other", [row], [], {})], RUNS, 1, 0.02))
    said = " ".join(text(answer).split())
    assert "the download takes 2 s \N{DAGGER}, as with plain" in said
    assert "Equal in all 20 pairs: download time \N{DAGGER}." in said
    assert "Only of transfers that finished: 60 % for download time" in said


def test_legend_appears_only_with_its_metric():
    rng = np.random.default_rng(1)
    base = rng.uniform(99.0, 101.0, RUNS)
    rows = [
        difference("all", METRICS[name], base, own, 0.02, 0.95)
        for name, own in (("cell_bps", 2 * base), ("served", rng.normal(100.0, 30.0, RUNS)))
    ]
    rows[1] = replace(rows[1], covered=0.5)
    (answer,) = answers(Comparison("plain", [Tried("other", rows, [], {})], RUNS, 1, 0.02))
    assert "\N{DAGGER}" not in text(answer)
    assert text(answer, everything=True).count("\N{DAGGER}") == 2


def test_ratio_of_shares_is_bounded_by_100_percent_over_the_baseline():
    own = np.tile([0.0, 1.0], RUNS // 2)
    own[0] = 1.0
    one = difference("all", METRICS["complete"], np.ones(RUNS), own, 0.02, 0.95)
    assert one.ratio.high <= 1.0
    few = difference("all", METRICS["complete"], np.ones(3), np.array([1.0, 0.0, 0.2]), 0.02, 0.95)
    assert (few.ratio.low, few.ratio.high) == (0.0, 1.0)


def test_suggested_replications_refer_to_one_metric():
    answer, _ = found(download_s=None, rtt_mean_s=-0.5, queueing_delay_s=None)
    kind = next(one for one in answer.notes if one.startswith("? undecided"))
    assert kind.startswith("? undecided: for the download time, ")
    assert "at least" not in kind
    assert kind.endswith(("replications more would decide.", "replication more would tell."))


def test_both_sides_of_a_headline_are_marked_if_incomplete():
    base = np.random.default_rng(1).uniform(99.0, 101.0, RUNS)
    rows = [
        replace(difference("all", METRICS[name], base, own, 0.02, 0.95), covered=0.6)
        for name, own in (("download_s", 0.5 * base), ("jain_index", 0.5 * base))
    ]
    (answer,) = answers(Comparison("plain", [Tried("other", rows, [], {})], RUNS, 1, 0.02))
    assert "the download time \N{DAGGER} is 50 % less" in answer.headline
    assert "but fairness \N{DAGGER} is 50 % less" in answer.headline


UPLOADS = """runs = 2
duration = "20 s"
radio.dch = {}
[[users]]
name = "s"
upload.ftp.size = "20 kB"
"""
DOWNLOAD = '[[users]]\nname = "d"\ntraffic.ftp.size = "{}"\n'


def test_uploads_are_compared_with_uploads():
    """Without downloads, `all` is the group of uploads; with downloads it is not."""
    one, other = (
        nodeb.Scenario.from_toml(text).run()
        for text in (UPLOADS, UPLOADS + DOWNLOAD.format("20 kB"))
    )
    groups = {one.group for one in nodeb.compare({"A": one, "B": other}).tried[0].differences}
    assert groups == {"all up"}


def test_a_mark_names_differences_of_uploads_beside_downloads():
    """The table of downloads does not hide that uploads differ."""
    base = UPLOADS + DOWNLOAD.format("20 kB")
    one, other = (
        nodeb.Scenario.from_toml(text).run() for text in (base, base.replace("20 kB", "60 kB", 1))
    )
    marks = [mark.text for mark in nodeb.compare({"A": one, "B": other}).answers[0].marks]
    assert any("The uploads differ in: " in text for text in marks)


CELL_OF_UPLOADS = """runs = 3
duration = "1 s"
radio.lte.uplink.scheduled = {}
[[users]]
count = 2
upload.ftp.size = "10 MB"
ue.channel.constant.snr_db = 15.0
"""


@pytest.mark.parametrize(
    ("scenario", "says"),
    [(UPLOADS, "the upload time is"), (CELL_OF_UPLOADS, "the mean rate of the phones is")],
)
def test_comparison_of_uploads_is_about_uploads(scenario, says):
    """The shared channel of a cell carries only the ACKs of uploads."""
    one = nodeb.Scenario.from_toml(scenario)
    (found,) = nodeb.compare(
        {"A": one.run(), "B": one.with_({"wired.delay": "200 ms"}).run()}
    ).answers
    assert says in found.headline
    assert not any("delivered by the cell" in row[0] for row in found.table.rows)


def test_groups_of_one_scenario_are_counted():
    one = DOWNLOAD.format("2 kB")
    other = "".join(one.replace('"d"', f'"{name}"') for name in "def")
    a, b = (nodeb.Scenario.from_toml(scenario).run() for scenario in (one, other))
    marks = [mark.text for mark in nodeb.compare({"A": a, "B": b}).answers[0].marks]
    assert "Only B has the groups d, e and f, which are left out." in marks
