"""Tests of a sweep's numbers: shares of users with a value, intervals, chosen metrics."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb import _core
from nodeb.sweep import Sweep

BASE = """name = "small"
runs = 4
radio.dch.bler = 0.1
[[users]]
traffic.ftp.size = "20 kB"
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


@pytest.fixture
def swept(tmp_path):
    """Returns a function that runs a sweep and returns its outcome."""

    def run(text, baseline=(), **options):
        file = tmp_path / "s.toml"
        file.write_text(text)
        return Sweep.load(file).run(tmp_path / "out", baseline, force=True, **options)

    return run


def test_differences_from_the_baseline_are_those_of_its_cells(swept):
    outcome = swept(BASE + GRID, ["radio.dch.bler=0"])
    for (cell, _), difference in outcome.against.compared.items():
        delay = {"wired.delay": outcome.plan.cells[cell].values["wired.delay"]}
        base, own = (
            nodeb.Scenario.from_toml(BASE).with_({**delay, "radio.dch.bler": bler}).run().summary
            for bler in (0.0, 0.3)
        )
        base, own = (
            next(r["mean"] for r in rows if r["metric"] == "application_bps")
            for rows in (base, own)
        )
        assert difference.difference.mean == pytest.approx(own - base)


def test_metric_available_in_every_cell_is_chosen(swept):
    assert swept(BASE + GRID).metric == "application_bps"
    unfinished = BASE.replace("20 kB", "5 MB").replace("runs", 'duration = "2 s"\nruns')
    assert swept(unfinished + GRID).metric == "received_bps"
    mixed = swept(MIXED + '[sweep]\nwired.delay = ["10 ms", "50 ms"]\n')
    assert (mixed.open.share, mixed.metric) == (1, "received_bps")


def test_share_of_finished_users_is_that_of_the_cell(swept, tmp_path):
    outcome = swept(CELL, metric="download_s", dataset=True)
    share = outcome.table["download_s_covered"]
    for count, covered in zip((2, 8), share, strict=True):
        alone = nodeb.load(outcome.plan.file).with_(**{"users.0.count": count}).run()
        assert covered == np.isfinite(alone.flows["download_s"]).mean()
    assert share[1] < 0.5
    assert "download_s_covered" in pq.read_schema(outcome.file).names
    assert "received_bps_covered" not in outcome.table.columns
    rows = pq.read_table(tmp_path / "out" / "dataset" / "metrics").to_pandas()
    assert rows.groupby("cell")["download_s_covered"].mean().to_numpy() == pytest.approx(share)
    assert not [name for name in swept(BASE + GRID).table.columns if name.endswith("_covered")]


def test_phones_with_endless_traffic_and_a_value_are_covered():
    summary = nodeb.Scenario.from_toml(MIXED).run().summary
    shares = {r["group"]: r["covered"] for r in summary if r["metric"] == "application_bps"}
    assert shares == {"readers": 1.0, "downloads": 0.0, "all": pytest.approx(2 / 3)}


def test_unfinished_users_add_up(swept):
    users = swept(CELL).open
    assert 0 < users.count < users.transfers == 30
    for added in (_core.Unfinished() + users, users + _core.Unfinished()):
        assert (added.transfers, added.count, added.share) == (30, users.count, users.share)
        assert added.enough_s == users.enough_s
    assert (users + users).share == users.share


def test_interval_of_a_difference_stays_within_the_range_of_its_metric(swept):
    outcome = swept(STAGGERED, ["radio.dch.bler=0.1"], metric="download_s")
    assert outcome.against.compared[2, "all"].difference.n == 1
    assert (outcome.table["download_s_ci95_high"][:2] <= 6.0).all()
    table = swept(STAGGERED, ["radio.dch.bler=0.1"]).table
    assert (table["complete_diff_ci95_low"] >= -1).all()


def test_metric_without_better_direction_differs_up_or_down(swept):
    outcome = swept(BASE + GRID, ["radio.dch.bler=0"], metric="retransmit_bps")
    words = {one.verdict.word for one in outcome.against.compared.values()}
    assert words <= {"more", "less"}


def test_uploads_beside_downloads_belong_to_their_cell(swept):
    text = 'runs = 2\nradio.dch = {}\n[[users]]\ntraffic.ftp.size = "20 kB"\n'
    text += 'upload.ftp.size = "5 kB"\n[sweep]\n"radio.dch.bler" = [0.0, 0.1]\n'
    outcome = swept(text)
    rows = list(zip(outcome.cells, outcome.table["group"], strict=True))
    groups = ["phone", "phone up", "all", "all up"]
    assert rows == [(cell, group) for cell in (0, 1) for group in groups]
    (whole,) = outcome.answer.everything
    assert [row[:2] for row in whole.rows] == [[f"0.{cell}", group] for cell, group in rows]
