"""Tests: errors caused by the environment are reported as such and not as bugs of nodeb."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nodeb
from scenarios import needs_linux

pytestmark = needs_linux

NAMED = """
name = "Zürich 📡"
runs = 2
radio = "dch"
[[users]]
name = "é"
traffic.ftp.size = "1 kB"
"""


@pytest.fixture
def shell(tmp_path, scenario_file):
    """Returns a function that runs a shell command in a folder with `small.toml`. The word `nodeb`
    in it runs the command line.
    """
    (tmp_path / "named.toml").write_text(NAMED, encoding="utf-8")
    python_path = str(Path(nodeb.__file__).parents[1])

    def shell(line, **environment):
        command = line.replace("nodeb ", f"{sys.executable} -m nodeb ")
        return subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": python_path, **environment},
            capture_output=True,
            timeout=120,
            check=False,
        )

    return shell


def text(done):
    return (done.stdout + done.stderr).decode()


def blames_nodeb(done):
    return "report it" in text(done) or "Traceback" in text(done) or "Exception" in text(done)


@pytest.mark.parametrize(
    "command", ["list", "run small.toml --out o", "validate small.toml", "--help"]
)
def test_full_stdout_is_reported(shell, command):
    done = shell(f"nodeb {command} > /dev/full")
    assert (done.returncode, blames_nodeb(done)) == (1, False), text(done)
    assert done.stderr.decode().startswith("error: cannot print to stdout")
    assert done.stderr.decode().endswith(": no space left on device\n")


def test_full_stderr_leaves_no_traceback(shell):
    done = shell("nodeb run none.toml 2> /dev/full")
    assert (done.returncode, text(done)) == (2, "")


def test_results_are_saved_even_if_stdout_fails(shell, tmp_path):
    shell("nodeb run small.toml --out o > /dev/full")
    assert (tmp_path / "o" / "summary.csv").exists()


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_change_no_result(shell, tmp_path, closed):
    done = shell(f"nodeb run small.toml --out o {closed}")
    assert (done.returncode, blames_nodeb(done)) == (0, False), text(done)
    assert (tmp_path / "o" / "flows.parquet").exists()
    assert shell(f"nodeb run none.toml {closed}").returncode == 2


def test_errors_never_go_to_stdout_if_stderr_is_closed(shell):
    assert shell("nodeb run none.toml 2>&-").stdout == b""


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_ascii_terminal_gets_escapes(shell, environment):
    for command in ("run named.toml --out o", "validate named.toml", "link curve none"):
        done = shell(f"nodeb {command}", **environment)
        assert not blames_nodeb(done), text(done)
    done = shell("nodeb validate named.toml", PYTHONIOENCODING="ascii")
    assert done.stdout == b"named.toml: valid (Z\\xfcrich \\U0001f4e1)\n"


@pytest.mark.parametrize("command", ["run small.toml", "fit x.txt", "reproduce wang"])
def test_too_many_jobs_are_rejected_with_the_reason(shell, command):
    done = shell(f"nodeb {command} --jobs 100000 --out o")
    assert done.returncode == 2
    assert "jobs is 100000; expected at most 1000: each is a thread" in text(done)


def test_failure_to_start_threads_is_reported(small, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    with pytest.raises(nodeb.RunError, match="can't start new thread; lower --jobs"):
        small.run()


def test_unreadable_files_are_reported(shell, tmp_path):
    for name in ("/proc/self/mem", ".", "none.toml"):
        for command in ("run", "validate", "sweep", "import"):
            done = shell(f"nodeb {command} {name}")
            assert (done.returncode, blames_nodeb(done)) == (2, False), text(done)
            assert text(done).startswith(f"error: {name}: "), text(done)
    secret = tmp_path / "secret.toml"
    secret.write_text(NAMED)
    secret.chmod(0)
    if not os.access(secret, os.R_OK):
        assert text(shell("nodeb run secret.toml")).endswith("cannot be read: permission denied\n")


def test_unwritable_folder_is_reported(shell, tmp_path):
    (tmp_path / "log.txt").write_text("-1\n")
    for command in (
        "run small.toml --out /proc/o",
        "import log.txt --out /proc/x.trace",
        "compare small.toml --with wired.loss=0.1 --report /proc/z.html",
        "explain small.toml --out /proc/z.html",
    ):
        done = shell(f"nodeb {command}")
        assert (done.returncode, blames_nodeb(done)) == (2, False), text(done)
        assert "error: cannot write " in text(done)
    assert not (tmp_path / "out").exists()


def test_scenario_can_be_read_from_a_pipe(shell, tmp_path):
    for command in ("validate", "run --out o"):
        done = shell(f"nodeb {command} <(cat small.toml)")
        assert (done.returncode, done.stderr) == (0, b""), text(done)
    assert text(shell("cat small.toml | nodeb validate /dev/stdin")).startswith("/dev/stdin: valid")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_during_interpreter_shutdown_leaves_no_traceback(name):
    code = (
        "import atexit, os, signal, sys\n"
        "from nodeb.__main__ import main\n"
        f"atexit.register(lambda: os.kill(os.getpid(), signal.{name}))\n"
        "sys.argv = ['nodeb', '--version']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_signal_during_import_leaves_no_traceback():
    code = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'nodeb.base.signals':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from nodeb.__main__ import main\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_unknown_matplotlib_backend_is_reported_before_the_run(shell, tmp_path):
    done = shell("nodeb run small.toml --report --out o", MPLBACKEND="nosuch")
    assert (done.returncode, blames_nodeb(done)) == (2, False), text(done)
    assert "error: MPLBACKEND=nosuch: matplotlib has no such backend; unset it" in text(done)
    assert not (tmp_path / "o").exists()
    assert shell("nodeb run small.toml --report --out o", MPLBACKEND="agg").returncode == 0


def test_undecodable_argument_is_reported(shell):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("nodeb validate named.toml", **ascii_only)
    assert done.returncode == 0
    done = shell("nodeb run small.toml --set name=é", **ascii_only)
    assert (done.returncode, blames_nodeb(done)) == (2, False), text(done)
    assert "are invalid in this locale" in text(done)
