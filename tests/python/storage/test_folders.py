"""Tests: a folder of results is replaced only as a whole, and only by its owner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nodeb
from nodeb.errors import Interrupted, OutputError
from nodeb.storage import folders
from nodeb.storage.folders import MARK, claim
from result_folders import MINE, OTHERS, SWEEP, content, put
from scenarios import SMALL

# --- Tests of the owner of a folder ---


def test_results_are_replaced_as_a_whole(tmp_path):
    folder = tmp_path / "out"
    put(folder, a="1", b="1")
    put(folder, b="2", c="2")
    assert set(content(folder)) == {"b", "c", MARK}
    about = json.loads((folder / MARK).read_text())
    assert (about["kind"], about["of"], about["files"]) == ("run", "mine.toml", ["b", "c"])
    assert about["complete"] is True
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_foreign_folder_is_kept_unless_forced(tmp_path):
    folder = tmp_path / "out"
    put(folder, OTHERS, a="1")
    before = content(folder)
    with pytest.raises(OutputError, match=r"holds a run of other\.toml; give another.*--force"):
        claim(folder, MINE)
    assert content(folder) == before
    with claim(folder, MINE, force=True) as place:
        assert place.replaces == "a run of other.toml"
        # The existing results stay until the new ones replace them.
        assert content(folder) == before
    put(folder, MINE, force=True, b="2")
    assert set(content(folder)) == {"b", MARK}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["thesis.tex", "flows.parquet", ".hidden"])
def test_files_added_by_the_user_are_kept(tmp_path, name, force):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_text("mine")
    with pytest.raises(OutputError, match=f"holds `{name}`, which nodeb did not put there"):
        claim(tmp_path / "data", MINE, force=force)
    put(tmp_path / "out", a="1")
    (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(OutputError, match=f"holds `{name}`, which nodeb did not put there"):
        claim(tmp_path / "out", MINE, force=force)
    assert set(content(tmp_path / "out")) == {"a", name, MARK}
    assert content(tmp_path / "data") == {name: b"mine"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "run"}', "\x00", "[" * 100_000])
def test_unreadable_mark_protects_the_folder(tmp_path, text):
    (tmp_path / MARK).write_text(text)
    with pytest.raises(OutputError, match=MARK):
        claim(tmp_path, MINE, force=True)
    assert (tmp_path / MARK).read_text() == text


def test_working_directory_cannot_be_replaced(tmp_path, monkeypatch):
    folder = put(tmp_path / "out", a="1")
    monkeypatch.chdir(folder)
    for place in (".", str(folder), "/"):
        with pytest.raises(OutputError, match=r"--out"):
            claim(place, MINE, force=True)
    assert content(folder)["a"] == b"1"


@pytest.mark.parametrize("moment", [0, 1, 2])
def test_kill_between_renames_loses_no_results(tmp_path, monkeypatch, moment):
    put(tmp_path / "out", a="old")
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from result_folders import put\n"
        "rename, left = Path.rename, [int(sys.argv[2])]\n"
        "def kill_after(self, to):\n"
        "    if left[0] == 0:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    left[0] -= 1\n"
        "    return rename(self, to)\n"
        "Path.rename = kill_after\n"
        "put(Path(sys.argv[1]), a='new')\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    subprocess.run([sys.executable, "-c", code, tmp_path / "out", str(moment)], check=False)
    with claim(tmp_path / "out", MINE):
        pass
    assert content(tmp_path / "out")["a"] == (b"new" if moment == 2 else b"old")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_impossible_folder_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("file", "file/below", "a\0b"):
        with pytest.raises(OutputError, match=r"file|a.b"):
            claim(tmp_path / name, MINE)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_part_of_a_file_that_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f".{MARK}.99.tmp").touch()
    put(tmp_path / "out", a="1")
    (tmp_path / "out" / ".a.99.tmp").touch()
    put(tmp_path / "out", a="2")
    assert set(content(tmp_path / "out")) == {"a", MARK}


@pytest.mark.parametrize("resumes", [False, True])
def test_second_process_in_a_folder_is_refused(tmp_path, monkeypatch, resumes):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    code = (
        "import sys\n"
        "from nodeb.storage.folders import Owner, claim\n"
        "with claim(sys.argv[1], Owner('run', 'mine.toml'), force=True):\n"
        "    pass\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "out"]
    with claim(tmp_path / "out", MINE, resumes=resumes):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "OutputError" in done.stderr
        assert "another nodeb is at work" in done.stderr
    assert subprocess.run(command, check=False).returncode == 0


def test_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    put(tmp_path / "out", a="1")
    put(tmp_path / "out", a="2")
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "disk")["a"] == b"2"


# --- Tests of the command line ---


def test_run_overwrites_no_file_of_the_user(call, scenario_file, tmp_path):
    before = scenario_file.read_bytes()
    status, _, err = call("run", scenario_file, "--out", ".")
    assert (status, scenario_file.read_bytes()) == (2, before)
    assert err.startswith("error: . ")
    Path("data").mkdir()
    Path("data/phones.parquet").write_text("mine")
    status, _, err = call("run", scenario_file, "--out", "data", "--force")
    assert status == 2
    assert "data holds `phones.parquet`, which nodeb did not put there" in err
    assert content(Path("data")) == {"phones.parquet": b"mine"}


def test_capture_replaces_only_captures(call, scenario_file, tmp_path):
    for target, why in (
        (scenario_file.name, "is there already and is not a capture"),
        ("out/small/x.pcapng", "--pcap"),
    ):
        before = scenario_file.read_bytes()
        status, _, err = call("run", scenario_file, "--pcap", target)
        assert (status, scenario_file.read_bytes()) == (2, before)
        assert why in err
        assert not Path("out/small").exists()
    assert call("run", scenario_file, "--pcap", "x.pcapng")[0] == 0
    assert call("run", scenario_file, "--pcap", "x.pcapng")[0] == 0
    status, _, err = call("run", scenario_file, "--pcap", "out/small/summary.csv")
    assert status == 2
    assert "is in the results folder out/small" in err


def test_schema_does_not_replace_a_scenario(call, scenario_file):
    before = scenario_file.read_bytes()
    status, _, err = call("schema", "--out", scenario_file)
    assert (status, scenario_file.read_bytes()) == (2, before)
    assert "is there already and is not a JSON Schema" in err
    assert call("schema", "--out", "s.json")[0] == call("schema", "--out", "s.json")[0] == 0


def test_reports_and_tables_of_an_earlier_run_are_removed(call, scenario_file):
    assert call("run", scenario_file, "--report", "--set", "record.cwnd=true")[0] == 0
    assert {"report.html", "cwnd.parquet"} <= set(content(Path("out/small")))
    picture = ("--x", "user", "--y", "application_bps")
    assert call("plot", "out/small", *picture)[0] == 0
    assert "application_bps.png" in content(Path("out/small"))
    assert call("run", scenario_file, "--force")[0] == 0
    assert not {"report.html", "cwnd.parquet", "application_bps.png"} & set(
        content(Path("out/small"))
    )


def test_commands_reject_folders_of_other_commands(call, scenario_file, tmp_path):
    swept = tmp_path / "swept.toml"
    swept.write_text(SMALL + SWEEP)
    assert call("run", scenario_file, "--out", "a")[0] == 0
    assert call("sweep", swept, "--out", "b")[0] == 0
    for arguments, held in (
        (("sweep", swept, "--out", "a"), "a holds a run of small.toml"),
        (("run", scenario_file, "--out", "b"), "b holds a sweep of swept.toml"),
        (("reproduce", "wang", "--out", "b"), "b holds a sweep of swept.toml"),
        (("run", swept, "--out", "a"), "a holds a run of small.toml"),
    ):
        before = content(tmp_path)
        status, _, err = call(*arguments)
        assert (status, content(tmp_path)) == (2, before)
        assert held in err
        assert "--force" in err
    status, _, err = call("sweep", swept, "--out", "a", "--force")
    assert status == 0
    assert err.startswith("note: replaced a run of small.toml")
    assert "flows.parquet" not in content(Path("a"))
    status, _, err = call("run", scenario_file, "--out", "b", "--force")
    assert status == 0
    assert "note: the results will replace a sweep of swept.toml" in err
    assert "sweep.parquet" not in content(Path("b"))


def test_figure_is_listed_in_the_mark_of_its_folder(tmp_path):
    folder = put(tmp_path / "out", a="1")
    (folder / "p.png").write_text("")
    folders.note(folder / "p.png")
    assert json.loads((folder / MARK).read_text())["files"] == ["a", "p.png"]
    (tmp_path / "q.png").write_text("")
    # A folder without a mark does not list its files, so no mark is written.
    folders.note(tmp_path / "q.png")
    assert not (tmp_path / MARK).exists()


def test_mount_point_is_reported(call, scenario_file, tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr("os.path.ismount", lambda path: str(path).endswith("disk"))
    status, _, err = call("run", scenario_file, "--out", "disk")
    assert status == 2
    assert "disk is a mount point" in err
    assert call("run", scenario_file, "--out", "disk/results")[0] == 0


def test_old_table_and_mark_are_kept_until_the_new_table_exists(call, tmp_path, monkeypatch):
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    assert call("sweep", "s.toml", "--out", "out")[0] == 0
    before = (tmp_path / "out" / MARK).read_bytes()
    monkeypatch.setattr("nodeb.replication.cells.CellSimulator.run", lambda _: 1 / 0)
    assert call("sweep", "s.toml", "--out", "out", "--runs", "30")[0] == 1
    assert (tmp_path / "out" / MARK).read_bytes() == before
    assert (tmp_path / "out" / "sweep.parquet").exists()


# --- Tests of earlier results that stay ---


def runs_in(folder: str) -> int:
    return json.loads((Path(folder) / MARK).read_text())["runs"]


def test_fewer_replications_are_saved_next_to_more(call, scenario_file):
    assert call("run", scenario_file, "--runs", 40)[0] == 0
    before = content(Path("out/small"))
    status, out, err = call("run", scenario_file, "--runs", 2)
    assert (status, content(Path("out/small"))) == (0, before)
    why = "out/small holds a run of small.toml with 40 replications, not 2"
    assert f"note: results go to out/small-2, because {why}; --force replaces that" in err
    assert "out/small-2" in out
    assert runs_in("out/small-2") == 2
    # The folder `out/small-2` has 2 replications, which 5 replications replace.
    assert call("run", scenario_file, "--runs", 5)[0] == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["small", "small-2"]
    assert runs_in("out/small-2") == 5
    assert call("run", scenario_file, "--runs", 41)[0] == 0
    assert runs_in("out/small") == 41
    assert call("run", scenario_file, "--runs", 2, "--force")[0] == 0
    assert runs_in("out/small") == 2


@pytest.mark.parametrize("change", [("--set", "radio.dch.bler=0.2"), ("--seed", 7)])
def test_other_settings_get_their_own_folder_and_find_it_again(call, scenario_file, change):
    assert call("run", scenario_file)[0] == 0
    before = content(Path("out/small"))
    for _ in range(2):
        status, _, err = call("run", scenario_file, *change)
        assert status == 0
        assert "out/small-2, because out/small holds a run of small.toml with other settings" in err
    assert content(Path("out/small")) == before
    status, _, err = call("run", scenario_file)
    assert (status, "results go to" in err) == (0, False)
    assert sorted(path.name for path in Path("out").iterdir()) == ["small", "small-2"]


def test_explicit_folder_is_rejected_instead_of_renamed(call, scenario_file):
    assert call("run", scenario_file, "--out", "mine")[0] == 0
    before = content(Path("mine"))
    status, out, err = call("run", scenario_file, "--out", "mine", "--runs", 2)
    assert (status, out, content(Path("mine"))) == (2, "", before)
    assert "mine holds a run of small.toml with 4 replications, not 2; give another" in err
    assert not Path("mine-2").exists()


def test_every_command_keeps_results_of_other_settings(call, tmp_path):
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    (tmp_path / "l.toml").write_text(
        'eb_n0_db = [5.0]\nservice = "costamagna_64"\nstop.bits = 3000\n'
    )
    (tmp_path / "e.txt").write_text("0011" * 50)
    change = ("--set", 'wired.delay="77 ms"')
    for command, other, folder in (
        (("run", "s.toml"), change, "s"),
        (("sweep", "s.toml"), change, "s-swept"),
        (("compare", "s.toml", "--with", "wired.loss=0.1"), change, "s-compared"),
        (("life", "s.toml"), change, "s-life"),
        (("link", "run", "l.toml"), ("--seed", 9), "l"),
        (("fit", "e.txt", "--unit", "pdu", "--states", 2), ("--seed", 9), "e-fit"),
    ):
        assert call(*command)[0] == 0
        before = content(Path("out", folder))
        status, out, err = call(*command, *other)
        assert (status, content(Path("out", folder))) == (0, before), err
        assert f"note: results go to out/{folder}-2, because out/{folder} holds a " in err
        assert f"out/{folder}-2" in out
        status, _, err = call(*command, *other, "--out", f"out/{folder}")
        assert (status, content(Path("out", folder))) == (2, before), command
        assert call(*command, *other, "--force")[0] == 0
        assert content(Path("out", folder)) != before


def test_run_and_sweep_of_a_file_have_separate_folders(call, tmp_path):
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    assert call("run", "s.toml")[0] == call("sweep", "s.toml")[0] == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["s", "s-swept"]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_interrupted_run_never_replaces_a_complete_one(call, scenario_file, monkeypatch, force):
    assert call("run", scenario_file, "--runs", 40)[0] == 0
    before = content(Path("out/small"))
    run = nodeb.Scenario.run

    def interrupted(self, **more):
        raise Interrupted("interrupted after 4 of 40 replications", run(self, runs=4))

    monkeypatch.setattr(nodeb.Scenario, "run", interrupted)
    status, _, err = call("run", scenario_file, "--runs", 40, *force)
    assert (status, content(Path("out/small"))) == (130, before)
    assert "out/small" in err
    assert not Path("out/small-2").exists()
