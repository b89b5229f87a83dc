"""Signals that stop a process."""

from __future__ import annotations

import subprocess
import sys

from conftest import needs_linux

LOST = """
import os, signal, time, weakref
from nodeb.signals import end_as_interrupts

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
def test_a_signal_in_the_middle_of_a_clean_up_stops_all_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("stopped\n", "")
