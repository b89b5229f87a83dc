"""Tests of explanations of transfer times, in Python and on the command line."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from explanations import advice
from nodeb import _core
from nodeb.cli import invoke
from nodeb.errors import InputError
from nodeb.explanation.differences import difference, difference_rows, difference_table
from nodeb.explanation.replications import CAUSES
from nodeb.scenario_types import Dch, Ftp, HsDsch, LinkBearer, UserGroup, Wired

LOSSY = Dch(bler=0.1)


def scenario(radio, size="60 kB", count=1, **more):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.Scenario(name="explained", radio=radio, users=users, **more)


def test_causes_add_up_to_what_the_run_measured():
    result = scenario(LOSSY).run(runs=6, seed=3)
    found = result.explain()
    assert len(found.paths) == 6
    np.testing.assert_array_equal(found.times, result.flows["download_s"])
    for path in found.paths:
        assert path.complete
        assert path.bytes == 60_000
        assert path.time_ns == round((path.ended_s - path.begun_s) * 1e9)
    spans = found.spans
    assert (spans["begin_ns"][1:] == spans["end_ns"][:-1]).all()
    assert set(spans["cause"]) <= set(CAUSES)
    assert found.table["share"].sum() == pytest.approx(1.0)
    assert "RLC retransmission" in found.causes
    assert found.causes[0].removeprefix("window: ") in str(found)


def test_every_cause_has_a_meaning():
    assert all(meaning.endswith(".") for meaning in CAUSES.values())


def test_what_if_agrees_with_critical_path_and_reaction():
    """Without block errors the download saves the time of its RLC retransmissions, minus the
    additional time that other causes then take.
    """
    found = nodeb.explain(scenario(LOSSY), runs=20)
    tried = {one.name: one for one in found.what_if()}
    errors = tried["no block errors"]
    assert errors.path_s == pytest.approx(found.seconds("RLC retransmission").mean())
    assert 0.5 * errors.path_s < errors.gain.mean <= errors.path_s
    assert errors.outcome.startswith(("less: transmission grows", "as the path says"))
    half = tried["half the propagation delays"]
    assert half.gain.mean == pytest.approx(half.path_s, rel=0.2)


def test_difference_is_the_sum_of_its_parts():
    dch, hs_dsch = (nodeb.explain(scenario(radio), runs=8) for radio in (LOSSY, HsDsch(bler=0.1)))
    *parts, whole = difference(dch, hs_dsch)
    assert sum(part.difference.mean for part in parts) == pytest.approx(whole.difference.mean)
    assert whole.difference.mean < 0
    assert parts[0].cause == "RLC retransmission"
    table = difference_table([*parts, whole])
    assert table["cause"][-1] == "sum"
    with pytest.raises(InputError, match="in pairs"):
        dch.difference(nodeb.explain(scenario(LOSSY), runs=3))


def test_unknown_users_and_transfers_are_rejected():
    two = scenario(HsDsch(), count=2)
    for asked in ({"user": 2}, {"user": -1}, {"transfer": 1, "runs": 1}):
        with pytest.raises(InputError, match=f"{next(iter(asked))} "):
            nodeb.explain(two, **asked)
    control = _core.Control()
    with pytest.raises(ValueError, match="user 9"):
        two.compiled().explain(1, 0, 9, 0, control)


def test_unfinished_transfer_is_explained_up_to_the_end():
    cut = scenario(LOSSY, size="10 MB", duration="5 s")
    found = nodeb.explain(cut, runs=2)
    assert not found.complete
    np.testing.assert_array_equal(found.times, [5.0, 5.0])
    dead = scenario(LinkBearer(rate="1 Mbps"), wired=Wired(loss=0.999999), duration="40 s")
    found = nodeb.explain(dead, runs=1)
    assert found.causes[0] == "timeout"
    assert found.times.tolist() == [40.0]


def test_explain_writes_a_page(tmp_path):
    file, page = tmp_path / "file.toml", tmp_path / "why.html"
    file.write_text(scenario(LOSSY).to_toml())
    assert invoke(["explain", str(file), "--runs", "3", "--what-if", "--report", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "RLC retransmission" in text
    assert "http" not in text.replace("http://www.w3.org", "")


def test_causes_without_difference_have_no_row():
    slow = Wired(rate="9 Mbps")
    one, other = (
        nodeb.explain(scenario(Dch(), wired=wired), runs=2)
        for wired in (Wired(rate="10 Mbps"), slow)
    )
    table = difference_rows(difference(one, other), "fast", "slow")
    assert "handshake" in one.causes
    named = [row[0] for row in table.rows]
    assert "propagation" in one.causes
    assert "propagation" not in named
    assert named[-1] == "sum"
    same = difference_rows(difference(one, one), "one", "the same")
    assert [row[0] for row in same.rows] == ["sum"]


def compared(tmp_path, capsys, one, *more):
    file = tmp_path / "file.toml"
    file.write_text(one.to_toml())
    change = ["--with", "wired.delay='50 ms'", "--runs", "7", "--out", str(tmp_path / "out")]
    assert invoke(["compare", str(file), *change, *more]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("one", "more", "is_explained"),
    [
        (scenario(LOSSY), (), True),
        (scenario(LOSSY), ("--with", "radio.dch.bler=0.0", "--explain", "0"), True),
        (scenario(LOSSY, size="10 MB", duration="5 s"), (), False),
        (scenario(LOSSY, size="10 MB", duration="5 s"), ("--explain", "0"), True),
        (scenario(LinkBearer(rate="20 Mbps"), size="3 MB"), (), False),
    ],
    ids=["by default", "each", "unfinished", "asked", "long"],
)
def test_compare_explains_short_transfers_or_on_request(tmp_path, capsys, one, more, is_explained):
    printed = compared(tmp_path, capsys, one, *more)
    assert ("user 0's first transfer" in printed.lower()) is is_explained
    if "--explain" in more:
        table = pq.read_table(tmp_path / "out" / "causes.parquet")
        assert set(table["complete"].to_pylist()) == {one.duration != "5 s"}


def test_compare_does_not_explain_an_upload_by_a_download(tmp_path, capsys):
    files = []
    for kind in ("upload", "traffic"):
        files.append(tmp_path / f"{kind}.toml")
        files[-1].write_text(f'radio.dch = {{}}\n[[users]]\n{kind}.ftp.size = "20 kB"\n')
    assert invoke(["compare", *map(str, files), "--runs", "4", "--out", str(tmp_path / "out")]) == 0
    assert "Why user 0" not in capsys.readouterr().out


def test_compare_saves_its_causes(tmp_path, capsys):
    folder = tmp_path / "out"
    compared(tmp_path, capsys, scenario(LOSSY))
    table = pq.read_table(folder / "causes.parquet").to_pylist()
    with (folder / "causes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["cause"] for row in rows] == [row["cause"] for row in table]
    assert {(row["scenario"], row["user"], row["runs"]) for row in table} == {("delay=50 ms", 0, 7)}
    *parts, whole = table
    assert whole["cause"] == "sum"
    assert sum(row["difference_s"] for row in parts) == pytest.approx(whole["difference_s"])
    assert all(row["cause"] in CAUSES for row in parts)
    assert len(parts) > 6
    listed = json.loads((folder / "provenance.json").read_text())["files"]
    assert {"causes.csv", "causes.parquet", "comparison.csv"} <= set(listed)
    cut = scenario(LOSSY, size="10 MB", duration="5 s")
    compared(tmp_path, capsys, cut, "--force")
    assert not list(folder.glob("causes*")), "they were another scenario's"


@pytest.mark.parametrize("radio", [LOSSY, HsDsch(bler=0.1)])
def test_server_delay_is_attributed_to_the_server(radio):
    traffics = [Ftp(size="60 kB", server_delay=delay) for delay in ("0 s", "700 ms")]
    at_once, later = (
        nodeb.explain(nodeb.Scenario(radio=radio, users=[UserGroup(traffic=one)]), runs=4)
        for one in traffics
    )
    assert "server" not in at_once.causes
    assert later.seconds("server").tolist() == [0.7] * 4
    assert later.place("server") == "server"
    (tried,) = (one for one in later.what_if() if one.name == "a server that answers at once")
    np.testing.assert_allclose(tried.gain.mean, (later.times - at_once.times).mean())


def test_uplink_kept_busy_by_acks_is_named():
    linux = nodeb.scenario_types.Linux()
    slow = scenario(LinkBearer(rate="20 Mbps"), "1 MB", wired=Wired(rate="20 Mbps"), tcp=linux)
    found = nodeb.explain(slow, runs=1)
    assert found.causes[0] == "transmission"
    assert "queue behind own data" not in found.causes
    assert "uplink" in advice(found)


@pytest.mark.parametrize(
    ("radio", "cause"),
    [
        (
            {"trace": {"at_end": "stop", "down": {"times_ms": [1, 2, 3]}, "up": {"times_ms": [1]}}},
            "waiting for the scheduler",
        ),
        (
            {
                "fach_dch": {
                    "policy": {"always_fach": {}},
                    "fach_rate": "24 kbps",
                    "signalling_rate": "24 kbps",
                }
            },
            "queue behind others",
        ),
    ],
    ids=["trace that stops", "FACH full of signalling"],
)
@pytest.mark.filterwarnings("ignore:.*signalling of 24 kbps")
def test_wait_for_a_channel_that_never_serves_is_not_propagation(radio, cause):
    users = [{"traffic": {"ftp": {"size": "20 kB"}}}]
    never = nodeb.Scenario.from_dict({"duration": "5 s", "radio": radio, "users": users})
    assert nodeb.explain(never, runs=1).causes[0] == cause
