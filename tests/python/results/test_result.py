"""Tests of a result's tables, its summary, and the folder in which it is saved."""

import ast
import copy
import csv
import inspect
import json
import math
import pickle
import re
import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb.base.table import Table
from nodeb.results import glossary, named
from nodeb.results.metrics import METRICS, summarize
from nodeb.stats import jain_index, mean_interval


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenario") / "two-groups.toml"
    path.write_text(
        """
        name = "two groups"
        runs = 5
        radio.dch.bler = 0.1
        record = { cwnd = true, segments = true, rtt = true, queue = true }
        [[users]]
        name = "near"
        traffic.ftp.size = "20 kB"
        [[users]]
        name = "far"
        count = 2
        traffic.ftp.size = "50 kB"
        """
    )
    return nodeb.load(path).run()


def test_tables_convert_to_arrow(result):
    flows = result.flows
    assert len(flows) == 15
    assert isinstance(flows.to_pandas(), pd.DataFrame)
    assert isinstance(flows.to_polars(), pl.DataFrame)
    arrow = pa.table(flows)
    assert arrow.schema.field("group").type == pa.string()
    assert arrow.schema.field("complete").type == pa.bool_()
    assert arrow.column("download_s").to_pylist() == flows["download_s"].tolist()


def test_table_lists_its_columns(result):
    with pytest.raises(nodeb.InputError, match="the columns are run, user"):
        result.flows["downlaod_s"]
    with pytest.raises(nodeb.InputError, match="different lengths"):
        Table({"a": [1], "b": [1, 2]})
    assert "[15 rows x" in repr(result.flows)
    assert "<td>far</td>" in result.flows._repr_html_()
    assert len(Table.concat([])) == 0
    with pytest.raises(nodeb.InputError, match="differ in columns: a"):
        Table.concat([Table({}), Table({"a": [1]})])
    with pytest.raises(nodeb.InputError, match="differ in columns: b, c"):
        Table.concat([{"a": [1], "b": [1]}, {"a": [1], "c": [1]}])


def test_table_returns_first_replications_and_distinct_values():
    table = Table({"run": [0, 0, 1, 2], "group": ["b", "a", "b", "a"]})
    assert table.distinct("group") == ["b", "a"]
    assert Table({"x": [2, 2, 1, 2]}).distinct("x") == [2, 1]
    assert table.first_runs(2)["run"].tolist() == [0, 0, 1]
    assert len(table.first_runs(0)) == 0


def summary_row(summary, group, metric):
    return next(r for r in summary if (r["group"], r["metric"]) == (group, metric))


def test_summary_averages_over_users_before_runs(result):
    rate = result.flows["application_bps"]
    far = rate[result.flows["group"] == "far"].reshape(5, 2)
    row = summary_row(result.summary, "far", "application_bps")
    expected = mean_interval(far.mean(axis=1))
    assert (row["mean"], row["ci95_low"], row["ci95_high"]) == pytest.approx(
        (expected.mean, expected.low, expected.high)
    )
    assert (row["runs"], row["unit"]) == (5, "bit/s")
    fair = summary_row(result.summary, "all", "jain_index")
    received = result.flows["received_bps"].reshape(5, 3)
    assert fair["mean"] == pytest.approx(np.mean([jain_index(r) for r in received]))


def test_summary_contains_every_metric_of_every_group(result):
    found = {(r["group"], r["metric"]) for r in result.summary}
    elsewhere = {"received_bps_p5", "cqi", "first_bler", "power_w", "dch_share"}
    elsewhere |= {"switches_per_s", "switches_per_transfer", "load_median_s", "load_p95_s"}
    # These metrics need a shared channel, but here each user has an own channel.
    elsewhere |= {"cell_bps", "cell_busy"}
    of_several = {"jain_index", "received_bps_p50", "download_p50_s", "download_p95_s"}
    of_several |= {"served", "stalled_users"}
    wanted = {(g, m) for g in ("near", "far", "all") for m in METRICS if m not in elsewhere}
    assert found == wanted - {("near", name) for name in of_several}


OF_UPLOADS = ("direction", "phone")
"""Columns of the table `flows` that exist only in scenarios with uploads."""


def test_single_group_is_called_all(small):
    assert set(small.run(runs=2).summary["group"].tolist()) == {"all"}


def test_summary_omits_unfinished_transfers():
    nan = math.nan
    names = [name for name in glossary.tables()["flows"].columns if name not in OF_UPLOADS]
    flows = {name: np.array([1.0, nan, nan, nan]) for name in names}
    flows |= {"run": [0, 0, 1, 1], "group": ["a"] * 4, "complete": [True, False, False, False]}
    flows["endless"] = [False] * 4
    flows["received_bps"] = np.ones(4)
    sums = ("blocks", "blocks_failed", "bytes_delivered", "active_s", "end_s")
    bearers = Table({"run": [0, 1], "bearer": [0, 0], **{name: [0, 0] for name in sums}})
    summary = summarize({"flows": Table(flows), "bearers": bearers})
    time = summary_row(summary, "all", "transfer_s")
    assert (time["mean"], time["runs"], time["covered"]) == (1.0, 1, 0.25)
    assert summary_row(summary, "all", "complete")["mean"] == 0.25
    flows["transfer_s"] = np.full(4, nan)
    summary = summarize({"flows": Table(flows), "bearers": bearers})
    assert summary_row(summary, "all", "transfer_s")["runs"] == 0


def test_folder_is_self_describing(result, tmp_path):
    folder = result.save(tmp_path / "deep" / "down")
    tables = {"flows", "bearers", "links", "cwnd", "segments", "rtt", "queue", "summary"}
    assert {p.name for p in folder.iterdir()} == {f"{t}.parquet" for t in tables} | {
        "scenario.toml",
        "summary.csv",
        "provenance.json",
    }
    assert nodeb.load(folder / "scenario.toml") == result.scenario
    assert pq.read_table(folder / "flows.parquet").equals(result.flows.to_arrow())
    with (folder / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["mean"]) == next(iter(result.summary))["mean"]
    about = json.loads((folder / "provenance.json").read_text())
    assert (about["seed"], about["runs"], about["stopping"]) == (1, 5, "5 replications, as asked")
    assert about["version"] == nodeb.__version__
    assert about["wall_time_s"] > 0


def test_saving_again_replaces_and_removes_old_series(result, tmp_path):
    folder = result.save(tmp_path / "out")
    bare = result.scenario.with_(record={}).run(runs=2)
    with pytest.raises(nodeb.OutputError, match="holds a run of two groups with other settings"):
        bare.save(folder)
    with pytest.raises(nodeb.OutputError, match="two groups with 5 replications, not 2;"):
        result.scenario.run(runs=2).save(folder)
    result.scenario.run(runs=6).save(folder)
    bare.save(folder, force=True)
    assert not (folder / "cwnd.parquet").exists()
    assert pq.read_table(folder / "flows.parquet").num_rows == 6
    with pytest.raises(nodeb.OutputError, match="holds a run of two groups; give another"):
        bare.scenario.with_(name="else").run(runs=1).save(folder)
    bare.scenario.with_(name="else").run(runs=1).save(folder, force=True)
    with pytest.raises(nodeb.InputError, match=r"record\.cwnd = true"):
        _ = bare.cwnd


def test_every_column_has_a_meaning(result):
    known = glossary.tables()
    for name, table in result.tables.items():
        more = OF_UPLOADS if name == "flows" else ()
        assert [one for one in known[name].columns if one not in more] == table.columns
    everything = [column for table in known.values() for column in table.columns.values()]
    ends = {"_s": "s", "_bps": "bit/s", "_bytes": "bytes", "_db": "dB", "_m": "m", "_j": "J"}
    for column in [*everything, *METRICS.values()]:
        assert column.meaning.endswith("."), column
        if "per_s" not in column.name:
            wanted = next((unit for end, unit in ends.items() if column.name.endswith(end)), None)
            assert wanted in (None, column.unit), column


def test_every_table_is_an_attribute(small):
    """Every table is an attribute of a result.

    The error for a missing table names each setting of the scenario that creates it.

    With that setting, the table exists.
    """
    bare = small.run(runs=1)
    assert set(get_type_hints_of_tables()) == set(glossary.tables())
    for name, info in glossary.tables().items():
        assert info.meaning in inspect.getdoc(getattr(nodeb.Result, name))
        if name in bare.tables:
            assert getattr(bare, name) is bare.tables[name]
            continue
        assert not hasattr(bare, name)
        with pytest.raises(nodeb.InputError, match="the scenario") as error:
            getattr(bare, name)
        settings = re.findall("`([^`]* = [^`]*)`", str(error.value))
        assert len(settings) == (2 if name == "phones" else 1)
        for changes in map(tomllib.loads, settings):
            if name == "bandwidth":
                changes["radio"] = "hsdpa"
            assert len(getattr(small.with_(**changes).run(runs=1), name)) > 0


def get_type_hints_of_tables():
    """Returns the names of the attributes that type checkers know."""
    tree = ast.parse(inspect.getsource(named))
    known = next(node for node in ast.walk(tree) if isinstance(node, ast.If))
    return [line.target.id for line in known.body]


def test_unknown_attribute_suggests_the_nearest(small):
    result = small.run(runs=1)
    with pytest.raises(nodeb.InputError, match="did you mean `flows`"):
        _ = result.flwos
    assert copy.deepcopy(result).flows["run"].tolist() == result.flows["run"].tolist()
    assert pickle.loads(pickle.dumps(result)).scenario == result.scenario


@pytest.mark.parametrize(
    ("radio", "errors"),
    [
        ("hs_dsch", 'bler = 0.9\nradio.hs_dsch.combining = "chase"'),
        ("hs_dsch", 'bler = 0.5\nradio.hs_dsch.combining = "incremental_redundancy"'),
        ("hs_dsch", "bler = 0.3"),
        ("dch", "bler = 0.3"),
        ("dch", "errors.process.gilbert_elliott = { p = 0.02, r = 0.2 }"),
    ],
)
def test_utilization_follows_from_the_blocks_sent(radio, errors, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(
        f"runs = 3\nradio.{radio}.{errors}\n"
        'uplink.rate = "2 Mbps"\n[[users]]\ntraffic.ftp.size = "1 MB"\n'
    )
    result = nodeb.load(path).run()
    busy = result.bearers["active_s"] / result.flows["transfer_s"]
    np.testing.assert_allclose(result.flows["utilization"], busy, rtol=0.05)
    assert (result.flows["utilization"] <= 1).all()


def test_same_seed_gives_the_same_bytes(small, tmp_path):
    first, second = small.run().save(tmp_path / "a"), small.run(jobs=1).save(tmp_path / "b")
    for path in first.iterdir():
        if path.name != "provenance.json":  # The file contains the wall-clock time, which differs.
            assert path.read_bytes() == (second / path.name).read_bytes(), path.name
