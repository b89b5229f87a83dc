"""Tests: errors caused by the environment are reported as such and not as bugs of nodeb."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nodeb
from result_folders import start
from scenarios import SMALL, needs_linux


def blames_nodeb(text):
    return "report it" in text or "Traceback" in text or "Exception" in text


@needs_linux
def test_full_stdout_is_reported(tmp_path):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "nodeb", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, blames_nodeb(done.stderr)) == (1, False), done.stderr
    assert done.stderr.startswith("error: ")


@needs_linux
def test_results_that_do_not_fit_on_the_disk_are_printed(tmp_path, scenario_file):
    def fill():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    assert start("run", scenario_file, cwd=tmp_path).wait() == 0
    before = (tmp_path / "out" / "small" / "flows.parquet").read_bytes()
    process = start("run", scenario_file, "--runs", 9, cwd=tmp_path, preexec_fn=fill)
    printed, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "9 replications" in printed
    assert "error: cannot write results to out/small" in err
    assert (tmp_path / "out" / "small" / "flows.parquet").read_bytes() == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small"]


@pytest.mark.parametrize("command", ["run small.toml", "fit x.txt", "reproduce wang"])
def test_too_many_jobs_are_rejected(call, scenario_file, command):
    status, _, err = call(*command.split(), "--jobs", 100_000, "--out", "o")
    assert status == 2
    assert "jobs is 100000" in err


def test_failure_to_start_threads_is_reported(small, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    with pytest.raises(nodeb.RunError, match="can't start new thread"):
        small.run()


@pytest.mark.parametrize("command", ["run", "validate", "sweep", "import"])
@pytest.mark.parametrize("name", ["/proc/self/mem", ".", "none.toml"])
def test_unreadable_files_are_reported(call, command, name):
    status, out, err = call(command, name)
    assert (status, out, blames_nodeb(err)) == (2, "", False)
    assert err.startswith(f"error: {name}: ")


@needs_linux
@pytest.mark.parametrize(
    "command",
    [
        "run small.toml --out /proc/o",
        "import log.txt --as snr --step 2ms --out /proc/x.trace",
        "compare small.toml --with wired.loss=0.1 --report /proc/z.html",
        "explain small.toml --report /proc/z.html",
    ],
)
def test_unwritable_folder_is_reported_before_the_simulation(call, scenario_file, command):
    Path("log.txt").write_text("-1\n")
    status, out, err = call(*command.split())
    assert (status, out, blames_nodeb(err)) == (2, "", False)
    assert "/proc/" in err
    assert not Path("out").exists()


@needs_linux
def test_scenario_can_be_read_from_a_pipe(tmp_path):
    for command in ("validate", "run --out o"):
        line = f"{sys.executable} -m nodeb {command} /dev/stdin"
        done = subprocess.run(
            line.split(), input=SMALL, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done


# --- Tests of names of files ---


@pytest.mark.parametrize("command", ["run", "sweep", "compare", "life", "explain", "validate"])
def test_control_characters_in_names_are_escaped(call, scenario_file, command):
    """Otherwise they would change the colours of the terminal, for example."""
    name = "a\x1b[31mred\x07"
    if command == "sweep":
        scenario_file.write_text(scenario_file.read_text() + "[sweep]\nradio.dch.bler = [0.1]\n")
    more = {"compare": ("--with", "wired.loss=0.1"), "explain": ("--report", f"{name}.html")}
    options = more.get(command, ())
    out = () if command in ("explain", "validate") else ("--out", name)
    again = () if command == "validate" else ("--set", "wired.loss=0.2")
    for file, last in ((scenario_file, ()), (scenario_file, again), (f"none{name}", ())):
        _, printed, errors = call(command, file, *options, *out, *last)
        assert "\x1b" not in printed + errors
        assert "\x07" not in printed + errors
    assert r"a\x1b[31mred\x07" in errors


@pytest.mark.parametrize("name", ["-dash.toml", "x y'.toml", "a b.toml"])
def test_suggested_commands_name_the_same_file(call, scenario_file, name):
    """`bash` must parse the suggested arguments to the name of the file that was simulated."""
    Path(name).write_text(scenario_file.read_text())
    _, out, _ = call("run", "--", name)
    (suggested,) = re.findall("nodeb explain (.*) --user", out)
    shown = subprocess.run(
        ["bash", "-c", f"printf %s {suggested}"], capture_output=True, text=True, check=True
    )
    assert Path(shown.stdout) == Path(name)
    assert not shown.stdout.startswith("-")
