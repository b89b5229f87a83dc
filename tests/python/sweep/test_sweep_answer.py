"""First lines of a sweep in different cases, and means that do not cover all users."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb.answer import text
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.results.coverage import coverage, coverage_by_run
from nodeb.results.metrics import METRICS, Group
from nodeb.results.survivors import NO_TRANSFERS
from nodeb.sweep import Sweep
from nodeb.sweep.answer import answer
from nodeb.sweep.shown import Values

BASE = """name = "small"
runs = 4
duration = "{duration}"
[radio.dch]
bler = 0.1
[[users]]
traffic.ftp.size = "{size}"
"""
GRID = """[sweep]
"radio.dch.bler" = [0.0, 0.3]
wired.delay = ["50 ms", "500 ms"]
"""
CELL = """name = "cell"
duration = "12 s"
runs = 3
radio.hsdpa = {}
[[users]]
count = 8
traffic.ftp.size = "500 kB"
[sweep]
"users.0.count" = [2, 8]
"""
ENDLESS = 'on_off = { burst.constant.value = "20 kB", pause.constant.value = "1 s" }'


@pytest.fixture
def swept(tmp_path):
    """Returns a function that runs a sweep and returns its outcome."""

    def run(sweep, base=BASE, baseline=(), size="20 kB", duration="1000 s", **options):
        file = tmp_path / "s.toml"
        base = base.replace("{size}", size).replace("{duration}", duration)
        file.write_text(base + sweep)
        return Sweep.load(file).run(tmp_path / "out", baseline, force=True, **options)

    return run


def said(outcome):
    found = answer(outcome, "s.toml", "out/s")
    return found, " ".join(mark.text for mark in found.marks), " ".join(found.notes)


# --- Tests of the headline ---


def test_answer_names_extremes_and_the_most_influential_key(swept):
    found, _, notes = said(swept(GRID))
    assert found.headline.startswith("the application bit rate ranged from ")
    assert "with radio.dch.bler 0.3 and wired.delay 500 ms, to " in found.headline
    assert "with radio.dch.bler 0.0 and wired.delay 50 ms. Alone, wired.delay changes it by" in (
        found.headline
    )
    assert "4 cells, 4 replications each, seed 1; all were new." in notes
    assert found.notes[-1] == (
        "Draw it: nodeb plot out/s --x radio.dch.bler --y application_bps --by wired.delay"
    )


def test_effects_are_relative_to_the_baseline(swept):
    outcome = swept(GRID, baseline=["radio.dch.bler=0"])
    found, _, notes = said(outcome)
    ratios = {one.cell.values["wired.delay"]: one.found.ratio for one in outcome.against.compared}
    largest, smallest = (f"{100 * ratios[key].mean:.0f}" for key in ("50 ms", "500 ms"))
    first = f"the largest effect is that of radio.dch.bler 0.3 at wired.delay 50 ms: {largest}"
    assert found.headline.startswith(first)
    assert f"The smallest is that of radio.dch.bler 0.3 at wired.delay 500 ms: {smallest}" in (
        found.headline
    )
    assert "Both are worse than with radio.dch.bler=0.0 (95 % for all together)." in notes
    assert "at a level of 97.5 % each, so that all hold together at 95 %" in notes


def test_answer_without_effects(swept):
    same = "[sweep]\n'tcp.classic.max_window' = [1000, 2000]\n"
    found, _, _ = said(swept(same))
    assert found.headline.startswith("no effect on the application bit rate: ")
    assert found.headline.endswith("in each of 2 cells.")
    found, _, _ = said(swept(same, baseline=["tcp.classic.max_window=1000"]))
    assert found.headline == (
        "no effect on the application bit rate: the other cell is as with "
        "tcp.classic.max_window=1000, in every pair."
    )


def test_answer_without_significant_effects(swept):
    near = '[sweep]\n"radio.dch.bler" = [0.1, 0.11]\n'
    found, _, _ = said(swept(near))
    assert found.headline.startswith(
        "no effect on the application bit rate is sure: it ranged from "
    )
    assert "these intervals overlap" in found.headline
    found, _, _ = said(swept(near, baseline=["radio.dch.bler=0.1"], margin=0.0))
    assert found.headline.startswith("no effect on the application bit rate is decided. Farthest")


def test_answer_if_effects_are_within_the_margin(swept):
    near = '[sweep]\n"wired.delay" = ["50 ms", "55 ms"]\n'
    base = BASE.replace("bler = 0.1", "bler = 0.0")
    found, _, _ = said(swept(near, base, ["wired.delay=50 ms"], margin=0.1))
    assert "is within 10 % of that with wired.delay=50 ms" in found.headline


def test_answer_if_no_user_finished(swept):
    found, marks, notes = said(swept(GRID, size="5 MB", duration="2 s", metric="download_s"))
    assert found.headline == (
        "none of the 16 transfers finished in 2 s: there is no download time in any of 4 cells."
    )
    assert (found.table, marks) == (None, "")
    assert "16 of 16 transfers did not finish" in notes


def test_endless_traffic_has_no_download_time(swept):
    base = BASE.replace('ftp.size = "{size}"', ENDLESS)
    found, _, _ = said(swept(GRID, base, duration="3 s", metric="download_s"))
    assert found.headline == (
        "the traffic has no end, so that there is no download time in any of 4 cells."
    )


def test_answer_for_one_cell(swept):
    found, _, notes = said(swept('[sweep]\n"radio.dch.bler" = [0.1]\n'))
    assert found.headline.startswith("the application bit rate came to ")
    assert found.table is None
    assert "1 cell, 4 replications, seed 1; it was new." in notes


def test_metric_without_values_in_any_cell_is_reported(swept):
    outcome = swept(GRID, metric="cell_bps")
    with pytest.raises(InputError, match="no cell of the sweep has `cell_bps`"):
        _ = outcome.answer


# --- Tests of the table ---


def test_two_keys_form_a_grid(swept):
    found, _, _ = said(swept(GRID, baseline=["radio.dch.bler=0"]))
    assert found.table.head == ["radio.dch.bler \\ wired.delay", "50 ms", "500 ms"]
    assert [row[0] for row in found.table.rows] == ["0.0", "0.3"]
    assert all("%" in cell for cell in found.table.rows[1][1:])
    assert "%" not in "".join(found.table.rows[0])
    assert max(map(len, text(found).splitlines()[:-1])) <= 80


def test_one_or_three_keys_form_a_list_and_all_prints_every_cell(swept):
    one, _, _ = said(swept('[sweep]\n"radio.dch.bler" = [0.0, 0.3]\n'))
    assert [row[0] for row in one.table.rows] == ["0.0", "0.3"]
    assert one.everything == []
    three, _, _ = said(swept(GRID + "'tcp.classic.max_window' = [10, 20]\n"))
    assert len(three.table.rows) == 8
    grid, _, _ = said(swept(GRID))
    (rows,) = grid.everything
    assert len(rows.rows) == 4


def test_long_list_is_shortened_and_all_prints_the_rest(swept):
    long = '[sweep]\n"radio.dch.bler" = { from = 0.0, to = 0.3, steps = 40 }\n'
    found, _, _ = said(swept(long))
    assert len(found.table.rows) == 31
    assert found.table.rows[-1][0] == "... and 10 more"
    assert len(found.everything[0].rows) == 40
    assert found.folded == "a row for each cell"


def test_differing_verdicts_are_shown_in_the_grid(swept):
    sweep = '[sweep]\n"radio.dch.bler" = [0.1, 0.3]\nwired.delay = ["50 ms", "50.1 ms"]\n'
    found, _, _ = said(swept(sweep, baseline=["radio.dch.bler=0.1", "wired.delay=50 ms"]))
    cells = " ".join(cell for row in found.table.rows for cell in row)
    assert "✗" in cells
    assert "=" in cells or "?" in cells


def test_groups_are_mentioned_and_printed_with_all(swept):
    more = BASE + '[[users]]\nname = "late"\ntraffic.ftp.size = "20 kB"\n'
    found, _, notes = said(swept('[sweep]\n"radio.dch.bler" = [0.0, 0.3]\n', more))
    assert "All phones together, of the groups phone and late." in notes
    (rows,) = found.everything
    assert [row[1] for row in rows.rows] == ["phone", "late", "all"] * 2


# --- Tests of means that do not cover all users ---


def test_survivors_are_marked_and_counted(swept):
    """If not all users finish, the mean is that of the few that did.

    The mean is marked, and the share of users who finished is given.
    """
    outcome = swept("", CELL, metric="download_s")
    found, marks, notes = said(outcome)
    share = outcome.table["download_s_covered"]
    for count, found_share in zip((2, 8), share, strict=True):
        alone = nodeb.load(outcome.plan.file).with_(**{"users.0.count": count}).run()
        assert found_share == np.isfinite(alone.flows["download_s"]).mean()
    assert share[1] < 0.5
    assert found.headline.count("†") == 2
    assert marks.startswith("Only of transfers that finished")
    assert f"Fewest with users.0.count 8: {100 * share[1]:.0f} %." in marks
    assert 'Longer runs show more: --set duration="' in notes
    assert "download_s_covered" in pq.read_schema(outcome.file).names
    assert "received_bps_covered" not in outcome.table.columns


def test_effects_of_survivors_are_marked(swept):
    outcome = swept("", CELL, ["users.0.count=2"], metric="download_s")
    assert outcome.against.compared[0].found.covered == outcome.table["download_s_covered"].min()
    found, _, _ = said(outcome)
    assert "† (95 %: " in found.headline
    assert found.table.rows[1][2].mark == "†"


def test_majority_of_unfinished_users_is_reported_first(swept):
    found, _, _ = said(swept("", CELL.replace("[2, 8]", "[7, 8]"), metric="download_s"))
    assert found.headline.split()[2:9] == ["of", "the", "transfers", "did", "not", "finish", "in"]


def test_metric_available_in_every_cell_is_shown(swept):
    outcome = swept(GRID, size="5 MB", duration="2 s")
    assert outcome.metric == "received_bps"
    found, marks, notes = said(outcome)
    assert "the bit rate received by the phone" in found.headline
    assert not marks
    assert notes.startswith("Not every phone has an application bit rate")
    assert swept(GRID).metric == "application_bps"


def test_table_without_unfinished_users_has_no_shares(swept):
    outcome = swept(GRID)
    assert not [name for name in outcome.table.columns if name.endswith("_covered")]


def test_dataset_has_the_finished_share_of_each_replication(swept, tmp_path):
    outcome = swept("", CELL, dataset=True)
    rows = pq.read_table(tmp_path / "out" / "dataset" / "metrics").to_pandas()
    found = rows.groupby("cell")["download_s_covered"].mean().to_numpy()
    assert found == pytest.approx(outcome.table["download_s_covered"])
    assert "received_bps_covered" not in rows.columns


def test_shares_refer_to_users_that_should_have_a_value():
    tables = {
        "flows": {
            "run": np.array([0, 0, 1, 1]),
            "user": np.array([0, 1, 0, 1]),
            "group": np.array(["a"] * 4),
            "endless": np.array([0, 1, 0, 1]),
            "download_s": np.array([1.0, math.nan, math.nan, math.nan]),
        }
    }

    group = Group({name: Table(one) for name, one in tables.items()})
    by_run = np.array([1.0, math.nan])
    assert coverage(METRICS["download_s"], group, by_run) == 0.5
    assert coverage_by_run(METRICS["download_s"], group, by_run).tolist() == [1.0, 0.0]
    assert coverage_by_run(METRICS["jain_index"], group, by_run).tolist() == [1.0, 0.0]


def test_unfinished_users_add_up(swept, tmp_path):
    found = swept("", CELL).open
    assert (found.transfers, NO_TRANSFERS + found, found + NO_TRANSFERS) == (30, found, found)
    assert 0 < found.count < 30


MIXED = """name = "mixed"
runs = 3
duration = "5 s"
radio.link.rate = "2 Mbps"
[[users]]
name = "readers"
count = 2
traffic.on_off = { burst.constant.value = "20 kB", pause.constant.value = "1 s" }
[[users]]
name = "downloads"
traffic.ftp.size = "1 GB"
"""


def test_phones_with_endless_traffic_and_a_value_are_covered():
    result = nodeb.Scenario.from_toml(MIXED).run()
    shares = {
        row["group"]: row["covered"] for row in result.summary if row["metric"] == "application_bps"
    }
    assert shares == {"readers": 1.0, "downloads": 0.0, "all": pytest.approx(2 / 3)}


def test_headline_metric_is_not_a_mean_over_few_phones(swept):
    outcome = swept('[sweep]\nwired.delay = ["10 ms", "50 ms"]\n', MIXED)
    assert outcome.open.share == 1
    assert outcome.metric == "received_bps"


STAGGERED = """name = "surv"
runs = 10
duration = "6 s"
[[users]]
traffic.ftp.size = "100 kB"
stagger = "300 ms"
count = 3
[sweep]
radio.dch.bler = [0.1, 0.2, 0.4]
"""


def test_cells_without_interval_and_undecided_effects_are_not_counted(swept):
    outcome = swept("", STAGGERED, ["radio.dch.bler=0.1"], metric="download_s")
    found, marks, notes = said(outcome)
    assert outcome.against.compared[-1].found.difference.n == 1
    assert found.headline.startswith("the largest decided effect is that of radio.dch.bler 0.2")
    assert "ach % but 1 without an interval is known" in notes or "%" not in found.table.head[-1]
    assert "1 cell with a single pair not counted" in marks


def test_interval_of_a_difference_stays_within_the_range_of_its_metric(swept):
    outcome = swept("", STAGGERED, ["radio.dch.bler=0.1"])
    table = outcome.table
    assert (table["complete_diff_ci95_low"] >= -1).all()
    assert (table["download_s_ci95_high"][:2] <= 6.0).all()


# --- Tests of printing and of notebooks ---


def test_outcome_is_printed_and_shown_in_notebooks(swept):
    outcome = swept(GRID)
    assert str(outcome).startswith("small: the application bit rate ranged from ")
    assert "<h1>The application bit rate ranged from" in outcome._repr_html_()
    assert repr(outcome) == "<Outcome 'small': 4 cells, 0 of them kept>"


def test_command_prints_every_cell_with_all(call, tmp_path):
    Path(tmp_path / "s.toml").write_text(
        BASE.replace("{size}", "20 kB").replace("{duration}", "9 s") + GRID
    )
    status, out, _ = call("sweep", "s.toml", "--all")
    assert status == 0
    assert "application bit rate, every cell\n" in out
    assert "application bit rate, every cell\n" not in call("sweep", "s.toml")[1]


def test_metric_without_better_direction_differs_up_or_down(swept):
    outcome = swept(
        '[sweep]\n"radio.dch.bler" = [0.0, 0.3]\n',
        baseline=["radio.dch.bler=0"],
        metric="retransmit_bps",
    )
    found, _, notes = said(outcome)
    (kind,) = [one.found.verdict.word for one in outcome.against.compared]
    assert kind in ("more", "less")
    assert found.table.rows[1][-1] == kind
    assert f"It is {kind} than with radio.dch.bler=0.0 (95 %)." in notes
    grid = swept(GRID, baseline=["radio.dch.bler=0"], metric="retransmit_bps")
    assert text(grid.answer, everything=True)


def test_effects_of_keys_have_intervals_and_no_ranking(swept):
    outcome = swept(GRID)
    headline = answer(outcome).headline
    assert "largest effect" not in headline
    first, second = outcome.effects
    assert (first.keys, second.keys) == ("wired.delay", "radio.dch.bler")
    assert second.ratio.low < second.ratio.mean < second.ratio.high
    assert "Alone, wired.delay changes it by a factor of up to 5.00 (in every rep" in headline
    assert headline.endswith(").")


def test_cell_without_deliveries_has_no_value(swept):
    found, _, notes = said(swept(GRID, duration="1 ms"))
    assert found.headline == (
        "nothing arrived in any of 4 cells in 1 ms, so that nothing was measured."
    )
    assert '--set duration="10 s"' in notes


def test_imprecise_value_shows_its_interval_in_the_cell(swept):
    found, _, notes = said(swept(GRID, metric="stalls", size="200 kB", duration="60 s"))
    assert "known to within" not in notes
    assert "(95 %)" in found.table.head


def test_counts_against_a_baseline_of_zero_are_differences(swept):
    found, _, _ = said(swept(GRID, baseline=["radio.dch.bler=0"], metric="timeouts"))
    assert "in %" not in [*found.table.head]
    assert "% of" not in found.table.title


def test_uploads_beside_downloads_belong_to_their_cell(swept):
    """The groups of all phones and of all uploads end the rows of a cell."""
    users = '[[users]]\ntraffic.ftp.size = "{size}"\nupload.ftp.size = "5 kB"\n'
    base = f"runs = 2\nradio.dch = {{}}\n{users}"
    outcome = swept('[sweep]\n"radio.dch.bler" = [0.0, 0.1]\n', base)
    rows = [(value.cell.places[0], value.group) for value in Values(outcome).every()]
    groups = ["phone", "phone up", "all", "all up"]
    assert rows == [(cell, group) for cell in (0, 1) for group in groups]
