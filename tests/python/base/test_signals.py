"""Tests of signals that stop a process in the middle of its work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from nodeb.base import signals
from scenarios import SMALL, needs_linux

LOST = """
import os, signal, time, weakref
from nodeb.base.signals import end_as_interrupts

class Thing:
    pass

end_as_interrupts()
thing = Thing()
held = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del thing
    time.sleep(5)
    print("went on")
except KeyboardInterrupt:
    print("stopped")
"""


@needs_linux
def test_signal_during_clean_up_still_stops_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("stopped\n", "")


TIDYING = """
import signal, time
from nodeb.base import signals

signals.end_as_interrupts()
signals.SAME_S = 0.3
for name in "first", "later":
    try:
        signal.raise_signal(signal.SIGINT)
        print("not heard")
    except KeyboardInterrupt:
        signal.raise_signal(signal.SIGTERM)
        print(name, "tidied up")
        time.sleep(0.4)
"""


@needs_linux
def test_repeated_signals_leave_time_for_clean_up() -> None:
    command = [sys.executable, "-c", TIDYING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("first tidied up\nlater tidied up\n", "")


WITHIN = """
import signal
from nodeb.__main__ import main
from nodeb import cli

cli.invoke = lambda _: exec("signal.raise_signal(signal.SIGTERM)")
main()
"""


@needs_linux
def test_signal_during_exec_of_a_string_is_not_replaced(tmp_path) -> None:
    """A signal sets the exit status even if it comes while a string is executed, as happens in
    imports that create named tuples.
    """
    (tmp_path / "within.py").write_text(WITHIN)
    command = [sys.executable, "-m", "within"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, "error: interrupted\n")


def test_signal_handlers_of_a_calling_program_are_unchanged() -> None:
    before = [signal.getsignal(number) for number in signals.STOPPING]
    signals.ignore()
    assert [signal.getsignal(number) for number in signals.STOPPING] == before


AGAIN = """
import signal, sys, threading, time
from pathlib import Path
from nodeb.__main__ import main
from nodeb.storage import files

swap = files.swap

def interrupted(new, old):
    signal.raise_signal(signal.SIGINT)
    swap(new, old)

def interrupt():
    while not Path("kept").exists():
        time.sleep(0.02)
    begun = time.process_time()
    while time.process_time() < begun + 0.7:
        time.sleep(0.02)
    signal.raise_signal(signal.SIGINT)

files.swap = interrupted
threading.Thread(target=interrupt, daemon=True).start()
sys.argv[1:] = ["run", "long.toml", "--out", "kept"]
main()
"""


@needs_linux
def test_second_ctrl_c_during_saving_keeps_the_message(tmp_path) -> None:
    long = SMALL.replace("20 kB", "1 MB").replace("runs = 4", "runs = 900000")
    (tmp_path / "long.toml").write_text(long)
    done = subprocess.run(
        [sys.executable, "-c", AGAIN], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 130
    assert done.stderr.startswith("error: interrupted after ")
    assert done.stderr.endswith("; those are in kept\n")
    assert (tmp_path / "kept" / "flows.parquet").exists()


LATE = """
import signal, sys
from nodeb.__main__ import main
from {module} import {holder}

real = {holder}.{name}

def interrupted(*arguments):
    signal.raise_signal(signal.SIGINT)
    return real(*arguments)

{holder}.{name} = interrupted
sys.argv[1:] = ["run", "small.toml", "--out", "kept"]
main()
"""


@needs_linux
@pytest.mark.parametrize(
    "moment",
    [
        ("nodeb.base.table", "Table", "concat"),
        ("nodeb.results", "result", "summarize"),
        ("nodeb.storage", "files", "swap"),
        ("nodeb.cli", "options", "print_answer"),
    ],
    ids=lambda moment: moment[2],
)
def test_ctrl_c_after_the_last_replication_loses_no_results(tmp_path, moment) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    program = LATE.format(**dict(zip(("module", "holder", "name"), moment, strict=True)))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    message = "error: stopped after all replications (4); those are in kept\n"
    # The note is printed only if the machine is so slow that the results are still being written.
    note = "note: ends when the results are in kept\n"
    assert (done.returncode, done.stderr.removeprefix(note)) == (130, message)
    about = json.loads((tmp_path / "kept" / "provenance.json").read_text())
    assert (about["runs"], about["stopping"]) == (4, "4 replications, as asked")
    assert pq.read_table(tmp_path / "kept" / "flows.parquet").num_rows == 8


SLOW = """
import signal, sys, time
from nodeb.__main__ import main
from nodeb.results import result

real = result.write_parquet

def slow(file, table):
    if file.name == "flows.parquet":
        signal.raise_signal(signal.SIGINT)
        time.sleep(1.5)
    real(file, table)

result.write_parquet = slow
sys.argv[1:] = ["run", "small.toml", "--out", "kept"]
main()
"""


@needs_linux
def test_ctrl_c_during_a_long_save_is_answered_at_once(tmp_path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = subprocess.run(
        [sys.executable, "-c", SLOW], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    note, message = done.stderr.splitlines()
    assert note == "note: ends when the results are in kept"
    assert message == "error: stopped after all replications (4); those are in kept"


SAVED = """
import signal, sys
from nodeb.__main__ import main
from nodeb.storage import files

real = files.swap

def then_signal(new, old):
    real(new, old)
    signal.raise_signal(signal.SIGINT)

files.swap = then_signal
sys.argv[1:] = {arguments!r}
main()
"""


@needs_linux
@pytest.mark.parametrize(
    "arguments", [["life", "small.toml"], ["fit", "errors.txt", "--states", "2", "--starts", "1"]]
)
def test_ctrl_c_after_saving_reports_that_everything_is_saved(tmp_path, arguments) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "errors.txt").write_text("0001" * 20 + "011")
    program = SAVED.format(arguments=[*arguments, "--out", "kept"])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=90
    )
    message = "error: stopped after all results were written; they are in kept"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, message)
    assert json.loads((tmp_path / "kept" / "provenance.json").read_text())["complete"]
