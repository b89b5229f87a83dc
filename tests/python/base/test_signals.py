"""Tests of signals that stop a process in the middle of its work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from nodeb.base import signals
from scenarios import SMALL, needs_linux

pytestmark = needs_linux
ARRIVES = """
import signal, sys
from nodeb.__main__ import main
from {module} import {holder}

real = {holder}.{name}

def interrupted(*arguments, **more):
    signal.raise_signal(signal.{sent})
    return real(*arguments, **more)

{holder}.{name} = interrupted
sys.argv[1:] = ["run", "small.toml", "--out", "kept"]
main()
"""


def run(folder, code):
    (folder / "small.toml").write_text(SMALL)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("sent", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize(
    "moment",
    [("nodeb", "cli", "import_module"), ("nodeb.inputs.scenario", "Scenario", "planned")],
    ids=lambda moment: moment[2],
)
def test_signal_ends_a_command_with_one_line(tmp_path, moment, sent, status):
    places = dict(zip(("module", "holder", "name"), moment, strict=True))
    done = run(tmp_path, ARRIVES.format(**places, sent=sent))
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "error: interrupted\n")


@pytest.mark.parametrize(
    "moment",
    [
        ("nodeb.base.table", "Table", "concat"),
        ("nodeb.cli", "messages", "print_answer"),
        ("nodeb.storage.folders", "Place", "put"),
    ],
    ids=lambda moment: moment[2],
)
def test_ctrl_c_after_the_last_replication_loses_no_results(tmp_path, moment):
    places = dict(zip(("module", "holder", "name"), moment, strict=True))
    done = run(tmp_path, ARRIVES.format(**places, sent="SIGINT"))
    assert "Traceback" not in done.stderr
    about = json.loads((tmp_path / "kept" / "provenance.json").read_text())
    assert (about["runs"], about["complete"]) == (4, True)


LOST = """
import os, signal, time, weakref
from nodeb.base import signals

class Thing:
    pass

signals.active, signals.SAME_S = True, 0.1
signals.handle(signals.interrupt)
thing = Thing()
held = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del thing  # Python drops an exception of the callback.
    time.sleep(0.2)
    signal.raise_signal(signal.SIGINT)
    print("went on")
except KeyboardInterrupt:
    print("stopped")
"""


def test_later_signal_stops_what_the_first_did_not(tmp_path):
    assert run(tmp_path, LOST).stdout == "stopped\n"


def test_signal_handlers_of_a_calling_program_are_unchanged():
    before = [signal.getsignal(number) for number in signals.STOPPING]
    signals.ignore()
    assert [signal.getsignal(number) for number in signals.STOPPING] == before
