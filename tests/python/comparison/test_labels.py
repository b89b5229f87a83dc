"""Tests: compared scenarios are called by what differs between them."""

from pathlib import Path

import pytest

from nodeb.comparison.experiment import Experiment
from nodeb.errors import InputError

SCENARIO = """radio.dch = {}
[[users]]
name = "a phone"
traffic.ftp.size = "20 kB"
"""
LINUX = ("tcp.linux.control=cubic",)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Returns a function that returns the names of compared scenarios."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "folder/one"):
        Path(f"{name}.toml").parent.mkdir(exist_ok=True)
        Path(f"{name}.toml").write_text(SCENARIO)

    def of(files, changes=(), settings=()):
        plan = Experiment.read([Path(f"{one}.toml") for one in files.split()], changes, settings)
        return [cell.label for cell in plan.cells]

    return of


@pytest.mark.parametrize(
    ("changes", "settings", "expected"),
    [
        (["tcp.linux.control=bbr"], LINUX, ["cubic", "bbr"]),
        (["tcp.linux.control=bbr", "tcp.linux.control=reno"], LINUX, ["cubic", "bbr", "reno"]),
        (["tcp.linux.control.bbr.probe_rtt=1 s"], (),
         ["classic", "probe_rtt=1 s"]),
        (["tcp.linux.control=bbr"], (), ["classic", "bbr"]),
        (["wired.rate=1 Mbps; uplink.rate=2 Mbps"], ("wired.rate=3 Mbps", "uplink.rate=3 Mbps"),
         ["wired.rate=3 Mbps, uplink.rate=3 Mbps", "wired.rate=1 Mbps, uplink.rate=2 Mbps"]),
        (["wired.loss=0.01"], (), ["loss=0", "loss=0.01"]),
        (["wired.delay='5 ms'"], (), ["delay=110 ms", "delay=5 ms"]),
        (["tcp.linux.ecn=true"], LINUX, ["ecn=false", "ecn=true"]),
        (["radio.dch.rlc=am; wired.loss=0.5"], (), ["arq, loss=0", "am, loss=0.5"]),
        (["users.0.count=3"], (), ["count=1", "count=3"]),
        (["proxy=split", "snoop={}"], (), ["no proxy, no snoop", "split", "snoop"]),
        (["wired.loss=0.1; wired.delay=5 ms; wired.rate=1 Mbps"], (),
         ["one", "loss=0.1, delay=5 ms, rate=1 Mbps"]),
    ],
)  # fmt: skip
def test_changed_keys_name_the_scenarios(names, changes, settings, expected):
    assert names("one", changes, settings) == expected


def test_names_that_are_not_different_are_the_changes_as_written(names):
    changes = ["wired.delay=5 ms", "uplink.delay=5 ms"]
    assert names("one", changes) == ["one", *changes]


def test_files_are_called_by_their_names(names):
    assert names("one two") == ["one", "two"]
    assert names("one folder/one") == ["one.toml", "folder/one.toml"]
    assert names("one two", ["tcp=linux"]) == ["one", "two", "linux"]


def test_change_to_the_present_value_is_called_as_it_is_written(names):
    assert names("one", ["tcp.linux.control=cubic"], LINUX) == ["one", "tcp.linux.control=cubic"]
    with pytest.raises(InputError, match="--with tcp=linux is given twice"):
        names("one", ["tcp=linux", "tcp=linux"])
