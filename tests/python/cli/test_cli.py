"""Tests of the command line from a user's view: exit status, output and error messages."""

import json
import os
import select
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nodeb import cli
from result_folders import at_work, start
from scenarios import EXAMPLES, SMALL, needs_linux

USERS = '[[users]]\ntraffic.ftp.size = "20 kB"\n'


@pytest.fixture
def refused(call):
    """Returns a function that runs the command line, which must reject its input and print one
    paragraph; it returns this paragraph.
    """

    def refuse(*arguments):
        status, out, err = call(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("error: ")
        assert "Traceback" not in err
        assert "\n\n" not in err
        return err

    return refuse


def test_run_prints_a_summary_and_saves_a_folder(call, scenario_file):
    status, out, err = call("run", scenario_file, "--runs", 3, "--seed", 5)
    assert (status, err) == (0, "")
    assert "3 replications, seed 5." in out
    assert "mean of the phones" in out
    assert "kbit/s" in out
    assert "out/small has the tables" in out
    assert pq.read_table("out/small/flows.parquet").num_rows == 6


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--csv", "--report"),
        ("compare", "--with", "radio.dch.bler=0.3", "--report"),
        ("explain", "--report"),
        ("sweep", "--report"),
    ],
)
def test_answer_is_json_on_request(call, scenario_file, command):
    if command[0] == "sweep":
        scenario_file.write_text(f'{SMALL}[sweep]\n"radio.dch.bler" = [0.1, 0.3]\n')
    name, *options = command
    status, out, err = call(name, scenario_file, *options, "--json", "--runs", 10)
    assert status == 0
    said = json.loads(out)
    assert len(said["answer"]) == 1
    assert len(said["rows"]) > 1
    assert "Page: out/" in err
    if name == "run":
        files = {one.stem: one for one in Path("out/small").glob("*.csv")}
        assert {one.stem for one in Path("out/small").glob("*.parquet")} == set(files)
        assert files["flows"].read_text().count("\n") == 21
    if name == "sweep":
        assert Path("out/small-swept/sweep.csv").read_text().count("\n") == len(said["rows"]) + 1


@needs_linux
def test_terminals_get_colours_unless_refused(scenario_file, tmp_path):
    def shown(**environment):
        import pty

        leader, follower = pty.openpty()
        arguments = ["compare", str(scenario_file), "--with", "radio.dch.bler=0.4"]
        subprocess.run(
            [sys.executable, "-m", "nodeb", *arguments],
            cwd=tmp_path, stdout=follower, env=os.environ | environment, check=True,
        )  # fmt: skip
        os.close(follower)
        text = os.read(leader, 65536)
        os.close(leader)
        return text

    assert b"\x1b[31m\xe2\x9c\x97\x1b[0m " in shown(TERM="xterm", NO_COLOR="")
    assert b"\x1b[3" not in shown(TERM="xterm", NO_COLOR="1")


def test_set_changes_keys_and_precision_replicates(call, scenario_file):
    settings = ("--set", "radio.dch.bler=0.2", "--set", "wired.delay=50 ms")
    status, out, _ = call("run", scenario_file, *settings, "--precision", 0.05, "--out", "x")
    assert status == 0
    assert "precision reached" in out
    saved = Path("x/scenario.toml").read_text(encoding="utf-8")
    assert "bler = 0.2" in saved
    assert '"50 ms"' in saved


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(call, path):
    status, out, err = call("run", path, "--runs", 2)
    assert status == 0
    # The note says that `run` ignores the sweep table of the file.
    assert not err or err.startswith("note: ")
    text = path.read_text(encoding="utf-8")
    endless = any(key in text for key in ("traffic.on_off", "traffic.web", "duration ="))
    assert endless or "All finished" in out


def test_validate_checks_every_file(call, scenario_file, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[wired]\ndleay = '5 ms'\n" + USERS)
    status, out, err = call("validate", bad, scenario_file)
    assert status == 2
    assert f"{scenario_file}: valid (small)" in out
    assert f"error: {bad}:2: wired.dleay: unknown key; did you mean `delay`?" in err


def test_schema_and_list_print_their_output(call, tmp_path):
    _, out, _ = call("schema")
    assert json.loads(out)["$schema"].endswith("2020-12/schema")
    assert call("schema", "--out", tmp_path / "s.json")[0] == 0
    assert (tmp_path / "s.json").read_text() == out
    _, out, _ = call("list", "scheduler")
    assert "round_robin" in out
    assert "newreno" not in out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "[wired]\ndleay = '5 ms'\n" + USERS,
            ":2: wired.dleay: unknown key; did you mean `delay`?",
        ),
        ("hello world\n", ":1: "),
        ("name = '\xe9'".encode("latin-1"), ":1: this is not UTF-8 text (byte 0xe9)"),
        (b"\x00\x01\xff\xfe" * 100, "this is not UTF-8 text"),
    ],
)
def test_bad_files_are_reported_in_one_paragraph(refused, tmp_path, content, expected):
    path = tmp_path / "bad.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused("run", path)
    assert str(path) in message
    assert expected in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--runs", "3", "--precision", "0.1"], "cannot be combined"),
        (["--runs", "0"], "at least 1 replication"),
        (["--runs", "1000000000"], "runs is 1000000000; expected at most 1000000"),
        (["--runs", str(2**63 - 1)], "expected at most 1000000"),
        (["--runs", str(10**20)], "expected at most 1000000"),
        (["--seed", str(2**63)], "seed is 9223372036854775808; expected at most"),
        (["--runs", "many"], "--runs"),
        (["--precision", "0"], "precision"),
        (["--precision", "7"], "precision"),
        (["--jobs", "0"], "jobs is 0"),
        (["--jobs", "-2"], "jobs is -2"),
        (["--seed", "-1"], "seed is -1"),
        (["--set", "wired.dleay=5 ms"], "did you mean `delay`?"),
        (["--set", "wired"], "key=value"),
        (["--set", "wired.delay=soon"], "wired.delay"),
        (["--oops"], "--oops"),
        (["--replications", "2"], "`--runs`"),
        (["--out", "small.toml"], "--out"),
        (["--out", "small.toml/below"], "small.toml/below"),
    ],
)
def test_bad_options_are_reported_in_one_paragraph(refused, scenario_file, arguments, expected):
    assert expected in refused("run", scenario_file, *arguments)


def test_unknown_names_suggest_the_nearest(refused, tmp_path):
    assert "there is no such file" in refused("run", "nope.toml")
    assert "directory" in refused("run", tmp_path)
    assert "did you mean `wang`?" in refused("reproduce", "wagn")
    assert "Table 99" in refused("reproduce", "wang", "--item", "Table 99")
    assert "did you mean `scheduler`?" in refused("list", "schedular")
    assert "no such command" in refused("rnu")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["plot", "out"], "nodeb plot"),
        (["link", "curve"], "nodeb link curve"),
        (["run", "small.toml", "--oops"], "nodeb run"),
        (["rnu"], "nodeb"),
    ],
)
def test_wrong_arguments_point_to_the_help_of_their_command(refused, arguments, command):
    assert refused(*arguments).endswith(f"; see `{command} --help`\n")


def test_internal_errors_print_no_traceback(call, scenario_file, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("nodeb.cli.messages.print_answer", fail)
    status, _, err = call("run", scenario_file)
    assert status == 1
    assert err.startswith("error: nodeb itself failed")
    assert "ZeroDivisionError: oops" in err


@needs_linux
def test_ctrl_c_keeps_finished_replications(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace("20 kB", "1 MB").replace("runs = 4", "runs = 900000"))
    # The default handler is restored, because shells let processes in the background, such as the
    # tests, ignore SIGINT.
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = start("run", path, "--out", "kept", cwd=tmp_path, preexec_fn=heard)
    at_work(process, tmp_path / "kept")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("error: interrupted after ")
    about = json.loads((tmp_path / "kept" / "provenance.json").read_text())
    flows = pq.read_table(tmp_path / "kept" / "flows.parquet")
    assert flows.num_rows == 2 * about["runs"] > 0
    assert "interrupted" in about["stopping"]


def test_closed_pipe_is_no_error(tmp_path):
    process = start("schema", cwd=tmp_path)
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=20)


@needs_linux
def test_progress_is_shown_on_terminals_only(tmp_path):
    import pty

    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace("20 kB", "1 MB"))
    leader, follower = pty.openpty()
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "nodeb", "run", str(path), "--runs", "900000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=follower,
        preexec_fn=heard,
    )
    os.close(follower)
    shown = b""
    try:
        while b"%" not in shown or b"of 900000 replications" not in shown:
            assert select.select([leader], [], [], 60)[0], shown
            shown += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(leader)
    assert (process.returncode, out) == (130, b"")


def test_ctrl_c_converted_by_a_library_is_no_internal_error(call, scenario_file, monkeypatch):
    def fail(*_):
        raise ImportError("initialization failed")

    monkeypatch.setattr("nodeb.cli.messages.print_answer", fail)
    monkeypatch.setattr("nodeb.base.signals.received", [signal.SIGINT])
    status, _, err = call("run", scenario_file)
    assert (status, err) == (130, "error: interrupted\n")


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), ValueError("a mistake of ours")])
def test_tables_are_saved_even_if_the_page_fails(call, scenario_file, monkeypatch, stop):
    def fail(*_):
        raise stop

    monkeypatch.setattr("nodeb.report.run.html", fail)
    status, _, err = call("run", scenario_file, "--out", "out", "--report")
    assert status == (130 if isinstance(stop, KeyboardInterrupt) else 1)
    assert err.startswith("error: ")
    assert pq.read_table("out/flows.parquet").num_rows == 8
    assert not Path("out/report.html").exists()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("run a.toml --seed 3", {"file": Path("a.toml"), "seed": 3, "set": []}),
        ("run --set a=1 a.toml --set b=2", {"set": ["a=1", "b=2"]}),
        ("run -- -dash.toml", {"file": Path("-dash.toml")}),
        ("compare a.toml --with x=1 b.toml", {"files": [Path("a.toml"), Path("b.toml")]}),
        ("emulate a.toml --nat -- ping -c 3 x", {"command": ["ping", "-c", "3", "x"], "nat": True}),
        ("emulate a.toml ls", {"command": ["ls"]}),
        ("play --no-open", {"file": None, "open": False}),
        ("link curve a b --rate ber", {"folders": [Path("a"), Path("b")], "rate": "ber"}),
    ],
)
def test_options_and_arguments_may_be_in_any_order(line, values):
    name = " ".join(line.split()[: 2 if line.startswith("link") else 1])
    given = vars(cli.parser(name)[0].read(line.split()[len(name.split()) :]))
    assert {key: given[key] for key in values} == values
