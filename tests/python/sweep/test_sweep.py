"""Tests of sweeps: their table, their resumption, and rejected input."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nodeb
from nodeb.errors import OutputError
from nodeb.inputs import recording
from nodeb.results.metrics import METRICS
from nodeb.stats import Precision, mean_interval, paired_difference
from nodeb.storage.cells import CELLS, Store
from nodeb.sweep import Sweep
from result_folders import cells, kept
from scenarios import SMALL

BASE = """name = "small"
runs = 4
[radio.dch]
bler = 0.1
[[users]]
traffic.ftp.size = "20 kB"
"""
GRID = """[sweep]
"radio.dch.bler" = [0.1, 0.3]
wired.delay = ["50 ms", "0.1 s", "200 ms"]
"""


def write(folder: Path, sweep: str, base: str = BASE) -> Path:
    path = folder / "s.toml"
    path.write_text(base + sweep, encoding="utf-8")
    return path


# --- Tests of the values that are swept ---


def test_separate_keys_form_all_combinations(tmp_path):
    table = Sweep.load(write(tmp_path, GRID)).run(tmp_path / "out").table
    assert table["radio.dch.bler"].tolist() == [0.1, 0.1, 0.1, 0.3, 0.3, 0.3]
    assert table["wired.delay_s"].tolist() == [0.05, 0.1, 0.2] * 2
    assert table["group"].tolist() == ["all"] * 6
    assert set(table["runs"].tolist()) == {4}
    assert set(table["seed"].tolist()) == {1}
    assert set(table["version"].tolist()) == {nodeb.__version__}


def test_file_changed_during_the_sweep_is_read_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{8 + t % 9}\n" for t in range(20_000)]
    head = "# nodeb trace 1\n# kind: snr\n# step: 2 ms\n# count: 20000\nsnr_db\n"
    trace, file = Path("snr.trace"), Path("one.toml")
    trace.write_text(head + "".join(lines))
    file.write_text(
        "radio.hsdpa = {}\n[[users]]\ntraffic.ftp.size = '200 kB'\n"
        "ue.channel.trace = { file = 'snr.trace', at_end = 'loop' }\n"
        "[sweep]\nwired.delay = ['20 ms', '30 ms', '40 ms']\n"
    )
    reads = []
    read = recording.channel

    def noted(path, **options):
        reads.append(path)
        found = read(path, **options)
        # The file changes as soon as the sweep has read it.
        trace.write_text(head + "".join(reversed(lines)))
        return found

    monkeypatch.setattr(recording, "channel", noted)
    plan = Sweep.load(file)
    trace.unlink()
    changed = plan.run("out", jobs=1).table
    assert len(reads) == 1
    monkeypatch.setattr(recording, "channel", read)
    trace.write_text(head + "".join(lines))
    wanted = Sweep.load(file).run("again", jobs=1).table
    assert np.array_equal(changed["transfer_s"], wanted["transfer_s"])
    assert [len(cell.recorded) for cell in plan.cells] == [1, 1, 1]


def test_both_forms_of_keys_are_equivalent(tmp_path):
    quoted = Sweep.load(write(tmp_path, GRID))
    dotted = Sweep.load(write(tmp_path, GRID.replace('"radio.dch.bler"', "radio.dch.bler")))
    tables = (
        "[sweep.radio.dch]\nbler = [0.1, 0.3]\n[sweep.wired]\ndelay = ['50 ms', '0.1 s', '200 ms']"
    )
    nested = Sweep.load(write(tmp_path, tables))
    assert list(quoted.cells) == list(dotted.cells) == list(nested.cells)


def test_lockstep_keys_advance_together(tmp_path):
    sweep = """[sweep]
users.0.count = [1, 2]
[[sweep.together]]
"tcp.classic.max_window" = [10, 20]
"wired.delay" = ["50 ms", "100 ms"]
"""
    table = Sweep.load(write(tmp_path, sweep)).run(tmp_path / "out").table
    rows = [tuple(row.values())[:3] for row in table]
    assert rows == [(1, 10, 0.05), (1, 20, 0.1), (2, 10, 0.05), (2, 20, 0.1)]


def swept(tmp_path: Path, line: str, base: str = BASE) -> list:
    (axis,) = Sweep.load(write(tmp_path, "[sweep]\n" + line, base)).axes
    return list(axis.swept[0].values)


def test_ranges_include_both_ends_and_have_short_numbers(tmp_path):
    bler = "radio.dch.bler = { from = 0.0, to = 0.3, steps = 4 }"
    assert swept(tmp_path, bler) == [0.0, 0.1, 0.2, 0.3]
    delay = 'wired.delay = { from = "50 ms", to = "200 ms", steps = 4 }'
    assert swept(tmp_path, delay) == ["50 ms", "100 ms", "150 ms", "200 ms"]
    rate = 'wired.rate = { from = "1 Mbps", to = "100 Mbps", steps = 3, scale = "log" }'
    assert swept(tmp_path, rate) == ["1 Mbps", "10 Mbps", "100 Mbps"]
    assert swept(tmp_path, "users.0.count = { from = 2, to = 8, steps = 3 }") == [2, 5, 8]
    size = 'users.0.traffic.ftp.size = { from = "10 kB", to = "20 kB", steps = 4 }'
    assert swept(tmp_path, size) == ["10 kB", "13.333 kB", "16.667 kB", "20 kB"]


def test_variants_are_swept_by_name_and_then_by_parameter(tmp_path):
    sweep = """[sweep]
radio.hs_dsch.channels = [1, 3]
radio.hs_dsch.scheduler = ["round_robin", { proportional_fair = { window = "2 s" } }]
"""
    base = BASE.replace("[radio.dch]", "[radio.hs_dsch]")
    table = Sweep.load(write(tmp_path, sweep, base)).run(tmp_path / "out").table
    names = ["round_robin", '{"proportional_fair" = {"window" = "2 s"}}']
    assert table["radio.hs_dsch.scheduler"].tolist() == names * 2
    replaced = '[sweep]\n"radio.link.rate" = ["1 Mbps", "2 Mbps"]\nradio = ["link"]\n'
    cells = Sweep.load(write(tmp_path, replaced)).cells
    assert [json.loads(c.scenario)["radio"]["link"]["rate"] for c in cells] == ["1 Mbps", "2 Mbps"]


def test_key_set_only_by_the_sweep_is_sufficient(tmp_path):
    path = write(tmp_path, '[sweep]\nusers.0.traffic.ftp.size = ["5 kB", "10 kB"]\n', "[[users]]\n")
    table = Sweep.load(path, runs=2).run(tmp_path / "out").table
    assert table["users.0.traffic.ftp.size_bytes"].tolist() == [5000, 10_000]
    # The second run must recognise the folder as that of the same sweep.
    Sweep.load(path, runs=2).run(tmp_path / "out")


# --- Tests of the table ---


def test_cell_equals_a_plain_run(tmp_path):
    """A cell has the same results as a plain run.

    All cells use the seed and the run numbers of a plain run.
    """
    path = write(tmp_path, GRID)
    table = Sweep.load(path, seed=7).run(tmp_path / "out").table
    for row in table:
        changes = {"radio.dch.bler": row["radio.dch.bler"]}
        changes["wired.delay"] = f"{1000 * row['wired.delay_s']:g} ms"
        summary = nodeb.load(path).with_(**changes).run(seed=7).summary
        for one in summary.where(summary["group"] == "all"):
            names = (one["metric"] + end for end in ("", "_ci95_low", "_ci95_high"))
            found = tuple(row[name] for name in names)
            assert found == (one["mean"], one["ci95_low"], one["ci95_high"])


def test_groups_have_their_own_rows(tmp_path):
    more = BASE + '[[users]]\nname = "late"\nstart = "1 s"\ntraffic.ftp.size = "20 kB"\n'
    table = Sweep.load(write(tmp_path, "[sweep]\nradio.dch.bler = [0.1, 0.2]\n", more)).run(
        tmp_path / "out"
    )
    assert table.table["group"].tolist() == ["phone", "late", "all"] * 2


def test_differences_are_paired_with_the_baseline_cell(tmp_path):
    path = write(tmp_path, GRID)
    sweep = Sweep.load(path, runs=40)
    table = sweep.run(tmp_path / "out", baseline=["wired.delay=100 ms"]).table
    for row in table:
        plain = nodeb.load(path).with_(**{"radio.dch.bler": row["radio.dch.bler"]})
        own = plain.with_(**{"wired.delay": f"{1000 * row['wired.delay_s']:g} ms"}).run(runs=40)
        base = plain.with_(**{"wired.delay": "100 ms"}).run(runs=40)
        found = paired_difference(own.flows["transfer_s"], base.flows["transfer_s"])
        assert row["transfer_s_diff"] == found.mean
        assert (row["transfer_s_diff_ci95_low"], row["transfer_s_diff_ci95_high"]) == (
            found.low,
            found.high,
        )
    at_base = table.where(table["wired.delay_s"] == 0.1)
    assert set(at_base["transfer_s_diff"].tolist()) == {0.0}
    widths = table["transfer_s_ci95_high"] - table["transfer_s_ci95_low"]
    paired = table["transfer_s_diff_ci95_high"] - table["transfer_s_diff_ci95_low"]
    # Common random numbers make the intervals of differences narrower.
    assert (paired < widths).all()
    without = sweep.run(tmp_path / "out")
    assert without.replications == 0
    assert "transfer_s_diff" not in without.table.columns


def test_precision_applies_to_each_cell(tmp_path):
    path = write(tmp_path, "[sweep]\nradio.dch.bler = [0.05, 0.3]\n")
    outcome = Sweep.load(path, precision=0.02).run(tmp_path / "out")
    assert outcome.table["precision_reached"].tolist() == [True, True]
    runs = outcome.table["runs"].tolist()
    assert runs[0] < runs[1]
    for bler, n in zip([0.05, 0.3], runs, strict=True):
        alone = nodeb.load(path).with_(**{"radio.dch.bler": bler}).run(precision=0.02)
        assert alone.provenance.runs == n
    short = Sweep.load(
        write(tmp_path, "[sweep]\nradio.dch.bler = [0.3]\n"), ["max_runs=6"], None, 1e-6
    )
    found = short.run(tmp_path / "short").table
    assert (found["runs"].tolist(), found["precision_reached"].tolist()) == ([6], [False])


def test_one_replication_has_no_interval(tmp_path):
    table = Sweep.load(write(tmp_path, GRID), runs=1).run(tmp_path / "out").table
    assert all(math.isnan(v) for v in table["transfer_s_ci95_low"])
    assert np.isfinite(table["transfer_s"]).all()


# --- Tests of cells that are simulated again ---


def test_only_missing_cells_are_simulated(tmp_path):
    out = tmp_path / "out"
    first = Sweep.load(write(tmp_path, "[sweep]\nradio.dch.bler = [0.1, 0.2]\n")).run(out)
    assert (first.simulated, first.kept, first.replications) == (2, 0, 8)
    again = Sweep.load(write(tmp_path, "[sweep]\nradio.dch.bler = [0.1, 0.2]\n")).run(out)
    assert (again.simulated, again.kept, again.replications) == (0, 2, 0)
    longer = write(tmp_path, "[sweep]\nradio.dch.bler = [0.0, 0.2, 0.1, 0.4]\n")
    more = Sweep.load(longer).run(out)
    assert (more.simulated, more.kept, more.replications) == (2, 2, 8)
    assert more.table["radio.dch.bler"].tolist() == [0.0, 0.2, 0.1, 0.4]
    axis = write(tmp_path, '[sweep]\nradio.dch.bler = [0.1]\nwired.delay = ["110 ms", "1 s"]\n')
    # The delay of 110 ms is the default, so one of the two cells exists already.
    other = Sweep.load(axis).run(out)
    assert (other.simulated, other.kept) == (1, 1)


def test_more_replications_extend_the_existing_ones(tmp_path):
    path = write(tmp_path, GRID)
    Sweep.load(path, runs=3).run(tmp_path / "out")
    more = Sweep.load(path, runs=5).run(tmp_path / "out")
    assert more.replications == 6 * 2
    Sweep.load(path, runs=5).run(tmp_path / "fresh")
    assert kept(tmp_path / "out") == kept(tmp_path / "fresh")
    fewer = Sweep.load(path, runs=3).run(tmp_path / "out")
    assert (fewer.replications, set(fewer.table["runs"].tolist())) == (0, {3})


def test_different_seed_is_a_different_setting(tmp_path):
    path = write(tmp_path, GRID)
    Sweep.load(path, runs=3).run(tmp_path / "out")
    other = Sweep.load(path, seed=2, runs=3)
    with pytest.raises(OutputError, match="holds a sweep with seed 1, not 2"):
        other.run(tmp_path / "out")
    beside = other.run(tmp_path / "out", beside=True)
    assert (beside.file.parent.name, beside.replications) == ("out-2", 18)
    assert other.run(tmp_path / "out", force=True).replications == 18


def test_different_core_repeats_all_simulations(tmp_path, monkeypatch):
    path = write(tmp_path, GRID)
    Sweep.load(path).run(tmp_path / "out")
    monkeypatch.setattr("nodeb.replication.cells.core_hash", lambda: "another")
    assert Sweep.load(path).run(tmp_path / "out").simulated == 6


def test_different_metric_needs_no_simulation(tmp_path, monkeypatch):
    path = write(tmp_path, GRID)
    Sweep.load(path).run(tmp_path / "out")

    def of(group):
        return group.mean("flows", group.column("flows", "timeouts"))

    monkeypatch.setitem(METRICS, "retries", replace(METRICS["timeouts"], name="retries", of=of))
    found = Sweep.load(path).run(tmp_path / "out")
    assert found.simulated == 0
    assert found.table["retries"].tolist() == found.table["timeouts"].tolist()


def test_number_of_jobs_changes_no_result(tmp_path):
    path = write(tmp_path, GRID)
    for jobs in (1, 5):
        Sweep.load(path, precision=0.05).run(tmp_path / str(jobs), jobs=jobs)
    assert kept(tmp_path / "1") == kept(tmp_path / "5")


def test_series_are_not_recorded_and_change_no_result(tmp_path):
    path = write(tmp_path, GRID)
    Sweep.load(path).run(tmp_path / "out")
    recording = write(tmp_path, GRID, BASE + "[record]\nsegments = true\n")
    assert Sweep.load(recording).run(tmp_path / "out").simulated == 0


def test_cell_keeps_the_tables_of_its_replications(tmp_path):
    path = write(tmp_path, "[sweep]\nradio.dch.bler = [0.2]\n")
    table = Sweep.load(path).run(tmp_path / "out").table
    (identity,) = cells(tmp_path / "out")
    store = Store(tmp_path / "out")
    store.open()
    tables = store.load(identity)
    store.close()
    alone = nodeb.load(path).with_(**{"radio.dch.bler": 0.2}).run()
    assert set(tables) == {"flows", "bearers", "links"}
    for name, one in tables.items():
        assert one.to_arrow().equals(alone.tables[name].to_arrow())
    rates = tables["flows"]["application_bps"]
    assert mean_interval(rates).mean == table["application_bps"][0]


def test_early_stop_does_not_wait_for_surplus_runs(tmp_path):
    """A precision may be reached while more runs are active on other threads.

    These runs are not waited for and do not count.
    """
    sweep = Sweep.load(write(tmp_path, "[sweep]\nradio.dch.bler = [0.0]\n"), precision=0.5)
    assert isinstance(sweep.stop, Precision)
    assert sweep.run(tmp_path / "out", jobs=8).table["runs"].tolist() == [sweep.stop.min_runs]


# --- Tests of the command line ---


def test_run_validate_and_schema_handle_the_sweep_table(call, tmp_path):
    path = write(tmp_path, GRID)
    status, out, err = call("run", path)
    assert (status, err.count("\n")) == (0, 1)
    assert "4 replications, seed" in out
    assert "is ignored; `nodeb sweep" in err
    assert call("validate", path)[1] == f"{path}: valid (small, sweep of 6 cells)\n"
    assert json.loads(call("schema")[1])["properties"]["sweep"]["type"] == "object"


def test_progress_counts_cells(tmp_path):
    seen = []
    sweep = Sweep.load(write(tmp_path, GRID), runs=200)
    sweep.run(tmp_path / "out", progress=lambda share, text: seen.append((share, text)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert seen[-1][1] == "6 of 6 cells"


REFUSED = [
    ("", "there is no [sweep] table"),
    ("[sweep]\n", ":7: sweep: expected keys with lists"),
    ("[sweep]\nradio.dch.blre = [1]\n", ":8: sweep.radio.dch.blre: unknown key; did you mean `bl"),
    ("[sweep]\nwired.delay = [\n'5 ms',\n'5 kB']\n", ":10: sweep.wired.delay: `kB` is not a unit"),
    ("[sweep]\nwired.delay = [5]\n", ":8: sweep.wired.delay: "),
    ("[sweep]\nradio.dch.bler = [0.1, 1.5]\n", ":8: sweep.radio.dch.bler: "),
    ("[sweep]\nradio.dch.bler = 0.1\n", ":8: sweep.radio.dch.bler: expected a list"),
    ("[sweep]\nradio.dch.bler = []\n", ":8: sweep.radio.dch.bler: the list is empty"),
    ("[sweep]\nradio.dch.bler = [nan]\n", ":8: sweep.radio.dch.bler.0: this number is not finite"),
    ("[sweep]\nradio.dch.bler = [0.1, 0.1]\n", "two cells of the sweep are the same"),
    ("[sweep]\nwired.delay = ['1 s', '1000 ms']\n", "two cells of the sweep are the same"),
    ("[sweep]\nseed = [1, 2]\n", ":8: sweep.seed: `seed` cannot be swept"),
    ("[sweep]\nrecord.cwnd = [true]\n", "`record` cannot be swept"),
    ("[sweep]\nusers.3.count = [1]\n", ":8: sweep.users.3.count: `3` is not one of its 1 entries"),
    ("[sweep]\nwired..delay = ['1 s']\n", ":8: "),
    ("[sweep]\n'wired..delay' = ['1 s']\n", ":8: sweep.wired..delay: a key of the path is empty"),
    ("[sweep]\nwired.loss = [0.1]\n'wired.loss' = [0.2]\n", ":9: sweep.wired.loss: line 8 sweeps"),
    ("[sweep]\nwired.delay = {from = '1 s', to = '2 s'}\n", "`steps` is missing"),
    ("[sweep]\nwired.delay = {from = '1 s', to = '2 ms', steps = 2}\n", "need the same unit"),
    ("[sweep]\nwired.delay = {from = '1 s', to = '2 s', steps = 1}\n", "from 2 to 10000"),
    ("[sweep]\nwired.delay = {from = 'soon', to = '2 s', steps = 2}\n", ".from: expected a number"),
    ("[sweep]\nwired.delay = {from = '. ms', to = '2 ms', steps = 3}\n",
     ":8: sweep.wired.delay.from: expected a number"),
    ("[sweep]\nwired.delay = {from = '1 ms', to = '1e999999999 ms', steps = 3}\n",
     ":8: sweep.wired.delay.to: `1e999999999 ms` is too large"),
    ("[sweep]\nwired.delay = {from = '0.1e-99999999999999999999 ms', to = '1 ms', steps = 3}\n",
     ":8: sweep.wired.delay.from: `0.1e-99999999999999999999 ms` is too small"),
    ("[sweep]\nwired.delay = {from = '1e308 ms', to = '1e308 ms', steps = 3}\n",
     ":8: sweep.wired.delay: "),
    ("[sweep]\nwired.delay = {from = '0e99999999999999999999 ms', to = '2 kB', steps = 3}\n",
     ":8: sweep.wired.delay: `from` and `to` need the same unit"),
    ("[sweep]\nwired.delay = ['1e999999999 ms']\n", ":8: sweep.wired.delay: "),
    ("[sweep]\nwired.loss = {from = 0, to = 1, steps = 2, scale = 'log'}\n", "above 0"),
    ("[sweep]\nwired.loss = {from = 0, to = 1, steps = 2, scale = 'cubic'}\n", "unknown scale"),
    ("[sweep]\ntogether = 3\n", ":8: sweep.together: expected a table"),
    ("[[sweep.together]]\n", ":7: sweep.together.0: there is no key"),
    (
        "[[sweep.together]]\nwired.delay = ['1 s', '2 s']\nwired.loss = [0.1]\n",
        ":7: sweep.together.0: keys in lockstep need equally many values; `wired.delay` has 2",
    ),
    ("[sweep]\nwired.delay = {from = '0 s', to = '9 s', steps = 9999}\n"
     "wired.loss = {from = 0, to = 0.5, steps = 9999}\n", "99980001 cells are too many"),
    ("[sweep]\nradio = ['hsdsch']\n", "did you mean `hs_dsch`?"),
    ("[sweep\n", ":7: "),
]  # fmt: skip


@pytest.mark.parametrize(("sweep", "expected"), REFUSED)
@pytest.mark.parametrize("command", ["sweep", "validate"])
def test_wrong_sweeps_are_reported_in_one_paragraph(call, tmp_path, command, sweep, expected):
    path = write(tmp_path, sweep)
    if command == "validate" and not sweep:
        return  # For `validate`, a scenario without a sweep is valid.
    status, out, err = call(command, path)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {path}")
    assert expected in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--baseline", "wired.dleay=1"], "did you mean `wired.delay`?"),
        (["--baseline", "wired.delay"], "expected KEY=VALUE"),
        (["--baseline", "wired.delay=3 s"], "take this value (values: 50 ms, 0.1 s, 200 ms)"),
        (["--baseline", "wired.delay=1e999999999 ms"], "take this value (values: 50 ms,"),
        (["--baseline", "wired.delay=50 ms", "--baseline", "wired.delay=0.1 s"], "contradicts"),
        (["--runs", "0"], "at least 1 replication"),
        (["--precision", "3"], "precision"),
        (["--jobs", "0"], "jobs is 0"),
        (["--set", "wired.dleay=1"], "did you mean `delay`?"),
        (["--out", "s.toml"], "--out"),
    ],
)  # fmt: skip
def test_wrong_options_are_reported_before_any_simulation(call, tmp_path, arguments, expected):
    status, out, err = call("sweep", write(tmp_path, GRID), *arguments)
    assert (status, out) == (2, "")
    assert expected in err
    assert not (tmp_path / "out" / "s-swept" / CELLS).exists()


def test_folder_of_another_scenario_is_kept(call, tmp_path):
    path = write(tmp_path, GRID)
    assert call("sweep", path, "--out", "kept")[0] == 0
    before = {file: file.read_bytes() for file in Path("kept").rglob("*") if file.is_file()}
    other = write(tmp_path, GRID, BASE.replace("20 kB", "30 kB"))
    status, out, err = call("sweep", other, "--out", "kept")
    assert (status, out) == (2, "")
    assert "kept holds a sweep of another scenario (users.0.traffic.ftp.size is" in err
    assert '"20 kB" there, "30 kB" here); give another folder' in err
    assert before == {file: file.read_bytes() for file in Path("kept").rglob("*") if file.is_file()}
    # The size is the same in another spelling.
    same = write(tmp_path, GRID, BASE.replace('"20 kB"', '"0.02 MB"'))
    assert call("sweep", same, "--out", "kept")[0] == 0


def test_failing_replication_names_its_cell(call, tmp_path, monkeypatch):
    def fails(*_):
        raise ValueError("something odd")

    monkeypatch.setattr("nodeb.replication.cells.ReplicationWork.replicate", fails)
    status, _, err = call("sweep", write(tmp_path, GRID))
    assert status == 1
    assert err.startswith('error: radio.dch.bler = 0.1, wired.delay = "50 ms": replication ')
    assert err.endswith(" (seed 1) failed: something odd\n")


def test_setting_of_a_swept_key_is_rejected(call, tmp_path):
    status, _, err = call("sweep", write(tmp_path, GRID), "--set", "radio.dch.bler=0.9")
    assert status == 2
    assert "`radio.dch.bler` is swept, so this has no effect" in err


@pytest.mark.parametrize("setting", ["sweep={}", "sweep.wired.loss=[0.1]"])
def test_setting_of_the_sweep_table_is_rejected(call, tmp_path, setting):
    status, _, err = call("sweep", write(tmp_path, GRID), "--set", setting)
    assert status == 2
    assert f"--set {setting}: --set changes keys of the cells, but not the [sweep] table" in err


def test_baseline_may_lack_a_metric_of_other_cells(tmp_path, call):
    """A cell with ten users lacks the 5th percentile of user rates, which needs 20 users."""
    swept = '[sweep]\n"users.0.count" = [10, 20]\n'
    path = write(tmp_path, swept, BASE.replace("runs = 4", "runs = 2"))
    for baseline in (10, 20):
        status, out, err = call("sweep", path, "--baseline", f"users.0.count={baseline}")
        assert (status, f"users.0.count={baseline}" in out) == (0, True), err
        table = Sweep.load(path).run(tmp_path / "o", [f"users.0.count={baseline}"]).table
        edge = table["received_bps_p5"]
        assert np.isfinite(edge).tolist() == [False, True]
        assert np.isnan(table["received_bps_p5_diff"][0])
        assert np.isfinite(table["application_bps_diff"]).all()


def test_sweep_can_be_pickled(tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(f'{SMALL}\n[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n')
    sweep = Sweep.load(file)
    again = pickle.loads(pickle.dumps(sweep))
    assert again.cells == sweep.cells
    assert (again.name, again.stop, again.base) == (sweep.name, sweep.stop, sweep.base)


def test_sweep_of_a_scenario_is_that_of_its_file(small, tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(f'{SMALL}[sweep]\n"radio.dch.bler" = [0.0, 0.3]\n"users.0.count" = [1, 2]\n')
    values = {"radio.dch.bler": np.array([0.0, 0.3]), "users.0.count": [1, 2]}
    ours = nodeb.sweep.Sweep.of(small, values, runs=3).run(tmp_path / "ours").table
    theirs = nodeb.sweep.Sweep.load(file, runs=3).run(tmp_path / "theirs").table
    for column in theirs.columns:
        np.testing.assert_array_equal(ours[column], theirs[column])
    with pytest.raises(nodeb.ScenarioError, match="bler"):
        nodeb.sweep.Sweep.of(small, {"radio.dch.bler": [2]})
    with pytest.raises(nodeb.InputError, match="by dotted key"):
        nodeb.sweep.Sweep.of(small, ["radio.dch.bler"])
