"""Tests of figures with columns of several tables: rows are matched, ambiguous names rejected."""

from __future__ import annotations

import numpy as np
import pytest

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.source import chosen_columns
from nodeb.storage.files import write_parquet

RUN, USER = [0, 0, 1, 1], [0, 1, 0, 1]
TABLES = {
    "flows": Table(
        {"run": RUN, "user": USER, "group": list("abab"), "rate_bps": [1.0, 2.0, 3.0, 4.0]}
    ),
    # Rows are in another order than in `flows`, and that of user 0 in run 1 is missing.
    "phones": Table({"run": [1, 0, 0], "user": [1, 1, 0], "cqi": [40.0, 20.0, 10.0], "n": [1] * 3}),
    "snoop": Table({"run": RUN, "user": USER, "n": [1, 2, 3, 4]}),
    "rtt": Table({"run": [0] * 3, "user": [1, 1, 0], "t_s": [1.0, 2, 3], "rtt_s": [0.1, 0.2, 0.3]}),
    "queue": Table({"run": [0] * 3, "user": [1, 1, 0], "t_s": [1.0, 2, 3], "packets": [1, 2, 3]}),
    "links": Table({"run": [0], "link": ["wired_down"], "lost": [7]}),
}


def test_rows_are_joined_on_run_and_user():
    table, names = chosen_columns(TABLES, ["cqi", "rate", "group", "user"])
    assert names == {"cqi": "cqi", "rate": "rate_bps", "group": "group", "user": "user"}
    rows = {(row["run"], row["user"]): (row["cqi"], row["rate_bps"]) for row in table}
    assert rows == {(0, 0): (10.0, 1.0), (0, 1): (20.0, 2.0), (1, 1): (40.0, 4.0)}


def test_one_of_the_tables_may_have_several_rows_per_user():
    table, _ = chosen_columns(TABLES, ["rtt_s", "cqi"])
    assert table["rtt_s"].tolist() == [0.1, 0.2, 0.3]
    assert table["cqi"].tolist() == [20.0, 20.0, 10.0]


def test_table_that_has_all_columns_is_used_unchanged():
    table, names = chosen_columns(TABLES, ["t", "rtt"])
    assert table is TABLES["rtt"]
    assert names == {"t": "t_s", "rtt": "rtt_s"}


def test_prefix_selects_the_table():
    table, names = chosen_columns(TABLES, ["snoop.n", "phones.n", "rate_bps"])
    assert names == {"snoop.n": "n", "phones.n": "phones.n", "rate_bps": "rate_bps"}
    assert sorted(table["n"].tolist()) == [1, 2, 4]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["n", "rate_bps"], "`n` is in phones and snoop: write phones.n or snoop.n"),
        (["rtt_s", "packets"], "rtt and queue have several rows for each run and user"),
        (["links.lost", "cqi"], "links has no column for run and user"),
        (["lost", "cqu"], "there is no column `cqu`; did you mean `cqi`"),
        (["cqu", "rate_bps"], "there is no column `cqu`; did you mean `cqi`"),
        (["phones.cqu", "rate_bps"], "there is no column `cqu`; did you mean `cqi`"),
        (["phones", "rate_bps"], "there is no column `phones`"),
    ],
)
def test_tables_that_cannot_be_joined_are_reported(asked, expected):
    with pytest.raises(InputError, match=expected):
        chosen_columns(TABLES, asked)


def test_command_joins_the_tables_of_a_folder(call, tmp_path):
    for name, table in TABLES.items():
        write_parquet(tmp_path / f"{name}.parquet", table)
    assert call("plot", ".", "--x", "cqi", "--y", "rate", "--by", "group") == (0, "rate.png\n", "")
    status, _, error = call("plot", ".", "--x", "n", "--y", "rate")
    assert (status, error.count("snoop.n or phones.n")) == (2, 1)
    png = (tmp_path / "rate.png").read_bytes()
    assert np.frombuffer(png, dtype=np.uint8)[1:4].tobytes() == b"PNG"
