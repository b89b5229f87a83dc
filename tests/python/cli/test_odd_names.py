"""Tests: every command accepts names of files and folders that are not UTF-8."""

from __future__ import annotations

import json
import os
import sys

import pytest

from emulations import REAL, made_by_hand, over
from result_folders import start
from scenarios import SMALL
from small_study import FILE

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere names are text"
)

ODD = os.fsdecode(b"odd\xff")
LINK = 'service = "costamagna_64"\neb_n0_db = 3\n[stop]\nbits = 3_000\n'
SWEPT = f'{SMALL}\n[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n'


@pytest.fixture
def odd(tmp_path):
    """Returns a function that writes a text to a file whose name is not UTF-8."""

    def put(text: str, suffix: str = ".toml"):
        file = tmp_path / f"{ODD}{suffix}"
        file.write_text(text)
        return file

    return put


@pytest.fixture
def call(tmp_path):
    """Returns a function that runs the command line as a process and returns the exit status and
    the output, which must be UTF-8.
    """

    def call(*arguments):
        process = start(*arguments, cwd=tmp_path, env={**os.environ, "PYTHONUTF8": "1"})
        out, err = process.communicate(timeout=60)
        assert "udcff" not in out + err
        return process.returncode, out, err

    return call


@pytest.fixture
def done(call):
    """Returns a function that runs the command line, which must succeed."""

    def done(*arguments):
        status, _, err = call(*arguments)
        assert status == 0, err

    return done


def test_run_and_readers_of_its_scenario_accept_odd_names(odd, done, tmp_path):
    file = odd(SMALL)
    done("run", file, "--report", "--pcap", tmp_path / f"{ODD}.pcapng")
    assert json.loads((tmp_path / "out" / ODD / "provenance.json").read_text())["of"] == (
        "odd\\xff.toml"
    )
    done("validate", file)
    done("explain", file, "--runs", "2", "--out", f"{ODD}.html")
    done("life", file)
    columns = ("--x", "user", "--y", "received_bps", "--where", "run=0")
    done("plot", f"out/{ODD}", *columns, "--out", f"{ODD}.png")
    for name in ("x.toml", f"{ODD}.toml"):
        (tmp_path / name).write_text(SMALL)
        done("run", name, "--report", "--out", f"{ODD}-other-{len(name)}")


def test_compare_and_sweep_accept_odd_names(odd, done):
    file = odd(SMALL)
    options = ("--runs", "3", "--report", f"{ODD}.html", "--out", f"{ODD}-pairs")
    done("compare", file, "--with", "wired.delay=9 ms", *options)
    done("sweep", odd(SWEPT), "--runs", "2", "--dataset")


def test_link_and_fit_accept_odd_names(odd, done, tmp_path):
    done("link", "run", odd(LINK))
    done("link", "curve", f"out/{ODD}")
    done("fit", odd("0001" * 20 + "011", ".txt"), "--states", "2", "--starts", "1")
    model = tmp_path / "out" / f"{ODD}-fit" / "best.json"
    assert json.loads(model.read_bytes())


def test_import_accepts_odd_names(odd, done, tmp_path):
    done("import", odd("1\n2\n9\n", ".mm"), "--as", "mahimahi")
    assert b"source: odd\\xff.mm" in (tmp_path / f"{ODD}.trace").read_bytes()


def test_recordings_accept_odd_names(call, done, tmp_path):
    log = made_by_hand(tmp_path / f"{ODD}.log", [REAL], over(1))
    done("replay", log, "--out", ODD, "--report", f"{ODD}.html", "--pcap", f"{ODD}.pcapng")
    for name in ("life", "explain"):
        status, _, err = call(name, log)
        assert status == 2, "there is nothing in it"
        assert "failed" not in err


def test_reproduce_accepts_odd_names(odd, done):
    done("reproduce", odd(FILE.replace("DURATION", "100 s"), ".py"), "--quick")


def test_control_characters_of_names_are_printed_as_escapes(call, tmp_path):
    """Otherwise they would change the colours of the terminal, for example."""
    file = tmp_path / "a\x1b[31m.toml"
    file.write_text(SWEPT)
    (tmp_path / f"{file.name}.mm").write_text("1\n2\n9\n")
    (tmp_path / f"{file.name}.link").write_text(LINK)
    for arguments in (
        ("validate", file),
        ("run", file, "--report", "--pcap", f"{file}.pcapng"),
        ("run", file, "--out", file),
        ("explain", file, "--out", f"{file}.html"),
        ("explain", file, "--connection", "0"),
        ("life", file),
        ("compare", file, "--with", "wired.delay=9 ms", "--runs", "3", "--report", f"{file}.html"),
        ("sweep", file, "--runs", "2"),
        ("plot", f"out/{file.stem}-swept", "--x", "radio.dch.bler", "--y", "served"),
        ("import", file),
        ("import", f"{file}.mm", "--as", "mahimahi"),
        ("fit", file),
        ("play", file, "--out", file),
        ("replay", file),
        ("link", "run", file),
        ("link", "run", f"{file}.link"),
        ("link", "curve", file),
        ("link", "curve", f"out/{file.name}"),
        ("reproduce", file),
    ):
        _, out, err = call(*arguments)
        assert "\x1b" not in out + err, arguments
        assert "itself failed" not in err


def test_value_that_is_not_unicode_is_rejected(call, odd):
    status, _, err = call("run", odd(SMALL), "--set", f"name={ODD}")
    assert status == 2
    assert "an argument has characters that are invalid" in err
