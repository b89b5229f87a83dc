"""Runs `nodeb emulate` for tests, with programs for the server and the phone of the cell."""

from __future__ import annotations

import json
import os
import shlex
import struct
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from nodeb import _core
from nodeb.emulate.plan import make
from nodeb.emulate.session import Options, emulate
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario
from nodeb.results.provenance import core_hash

LINK = """
name = "a link"
[wired]
rate = "100 Mbps"
delay = "10 ms"
[uplink]
rate = "100 Mbps"
delay = "5 ms"
[radio.link]
rate = "2 Mbps"
delay = "15 ms"
[[users]]
name = "phone"
traffic = "external"
[[users]]
name = "other"
count = 3
traffic = { ftp = { size = "20 kB" } }
"""
PATIENT = ("--late", "10 s")
"""Options for tests that don't measure times: the machine may be loaded."""


def long_time() -> str:
    """Returns a time of about 300 s for `sleep`, by which a test recognises its processes."""
    return f"300.{os.getpid():07}{next(_ASKED):03}"


_ASKED = count(1)


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def server(program: str) -> tuple[str, str]:
    """Returns the option that runs a Python program as server."""
    return "--server", shlex.join(python(program))


def command(*arguments, before=()) -> list[str]:
    return [*before, sys.executable, "-m", "nodeb", "emulate", *map(str, arguments)]


def nodeb(*arguments, before=(), **options) -> subprocess.CompletedProcess[str]:
    """Runs `nodeb emulate` to its end, as an argument of the command `before`."""
    options = {"capture_output": True, "text": True, "timeout": 90, "check": False} | options
    return subprocess.run(command(*arguments, before=before), **options)


@contextmanager
def begun(*arguments, **options):
    """Starts `nodeb emulate` in a process group of its own, as shells do, and kills it at last."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    with subprocess.Popen(command(*arguments), start_new_session=True, **pipes) as run:
        try:
            yield run
        finally:
            run.kill()


REAL = {"name": "phone", "traffic": "external"}
"""Group of the real phone in the logs that `made_by_hand` writes."""


def made_by_hand(log: Path, users: list[dict], records: bytes, *, is_whole: bool = True) -> Path:
    """Writes the log of an HSDPA recording with one real phone; a whole one has a checksum."""
    scenario = Scenario.from_dict({"radio": {"hsdpa": {}}, "users": users})
    header = {"version": _core.version(), "core": core_hash(), "seed": 1}
    header |= {"scenario": scenario.to_dict(), "phones": [{"name": "phone", "user": 0}]}
    text = json.dumps(header).encode()
    data = b"nodeb flight 1\r\n" + struct.pack("<I", len(text)) + text + records
    log.write_bytes(data + (struct.pack("<I", zlib.crc32(data)) if is_whole else b""))
    return log


def over(seconds: int) -> bytes:
    """Returns the record that ends a log at `seconds` of virtual time."""
    return struct.pack("<BQ", 4, seconds * 10**9)


@cache
def forbidden() -> str:
    """Returns the reason why this machine cannot carry real packets, or an empty text if it can."""
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    scenario = Scenario.from_dict({"users": [{"name": "phone", "traffic": "external"}]})
    try:
        emulate(make(scenario, [(None, ("true",))]), Options(seed=1))
    except NodebError as error:
        return str(error)
    return ""


def processes(text: str) -> list[int]:
    """Returns the ids of all processes with `text` in their command line."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in numbers if text in command_line(pid)]


def command_line(pid: int) -> str:
    """Returns the command line of a process, or an empty text if it has ended."""
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
    except OSError:
        return ""


def holders(of: int) -> list[int]:
    """Returns the descendants of process `of` that hold the namespace of the first phone."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                text = (entry / "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    descendants = []
    for pid in sorted(parents):
        ancestor = pid
        while ancestor in parents and ancestor != of:
            ancestor = parents[ancestor]
        line = command_line(pid)
        if ancestor == of and "nodeb.emulate.endpoint_process" in line and '"number": 1' in line:
            descendants.append(pid)
    return descendants


def gone(*which: str | int) -> bool:
    """Returns true if all processes, given by id or text of the command line, end within 10 s."""
    until = time.monotonic() + 10
    while any(command_line(one) if isinstance(one, int) else processes(one) for one in which):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


ECHO = """
import os, socket, struct, sys, time
server = os.environ["NODEB_SERVER"]
"""
PROBE = (
    ECHO
    + """
def probe():
    begun = time.monotonic()
    try:
        socket.create_connection((server, 9), timeout=20)
    except ConnectionRefusedError:
        return time.monotonic() - begun
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
    print("reached", probe(), flush=True)
"""
)
"""Program that measures round trips: asks for connections, which the server's kernel refuses."""
UDP_SERVER = (
    ECHO
    + """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((server, 5000))
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
"""
)
DOWNLOAD_SERVER = (
    ECHO
    + """
s = socket.create_server((server, 5001))
while True:
    c, _ = s.accept()
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    c.sendall(bytes(int(c.recv(100))))
    c.close()
"""
)
DOWNLOAD = (
    ECHO
    + """
begun = time.monotonic()
c = socket.create_connection((server, 5001))
c.sendall(b"150000")
got = 0
while part := c.recv(65536):
    got += len(part)
print(got, time.monotonic() - begun)
"""
)
