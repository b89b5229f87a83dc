"""A host and its outside as two network namespaces, which end with the test."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager

from emulations import python

HOST, OUTSIDE = "203.0.113.2", "203.0.113.1"
"""Addresses of the host and of the outside, from the ranges for examples (RFC 5737, RFC 3849)."""
HOST6, OUTSIDE6 = "2001:db8:1::2", "2001:db8:1::1"

ANSWERS = f"""
import socket, threading
def serve(family, kind, address):
    s = socket.socket(family, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, 7000))
    if kind == socket.SOCK_DGRAM:
        while True:
            data, who = s.recvfrom(2048)
            s.sendto(who[0].encode() + b" " + data, who)
    s.listen()
    while True:
        c, who = s.accept()
        data = b""
        while len(data) < 20000:
            data += c.recv(65536)
        c.sendall(who[0].encode() + b" " + data)
        c.close()
for family, address in ((socket.AF_INET, "{OUTSIDE}"), (socket.AF_INET6, "{OUTSIDE6}")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        threading.Thread(target=serve, args=(family, kind, address)).start()
"""
"""Outside server: returns what it receives, after the sender's address."""

LOOK = (
    "ip -o link; ip -o address; ip route; ip -6 route; ip rule; nft list ruleset; "
    "cd /proc/sys/net; grep -r . ipv4/conf ipv4/ip_forward ipv6/conf || true"
)
PROGRAMS = ("ip", "nft", "nsenter", "unshare")


class Laboratory:
    """A host and its outside: two network namespaces, given by processes that hold them."""

    def __init__(self, host: int, outside: int) -> None:
        self.host, self.outside = host, outside

    def within(self, process: int) -> list[str]:
        """Returns the first words of a command that runs in the network namespace of a process."""
        return ["nsenter", f"--net=/proc/{process}/ns/net"]

    def shell(self, text: str, process: int | None = None) -> str:
        """Runs a shell command at the host, or in the namespace of a process.

        Returns its output.
        """
        words = [*self.within(process or self.host), "sh", "-ec", text]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def emulate(self, *arguments, before=(), **options) -> subprocess.Popen:
        """Starts `nodeb emulate` at the host and returns the process."""
        command = [sys.executable, "-m", "nodeb", "emulate", *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        return subprocess.Popen([*self.within(self.host), *before, *command], **streams)

    def nodeb(self, *arguments, before=()) -> subprocess.CompletedProcess:
        """Runs `nodeb emulate` at the host to its end. Returns the finished process."""
        with self.emulate(*arguments, before=before) as run:
            try:
                out, errors = run.communicate(timeout=90)
            finally:
                run.kill()
        return subprocess.CompletedProcess(run.args, run.returncode, out, errors)

    def traces(self) -> str:
        """Returns the state of the host as text: devices, addresses, routes, tables and sysctls."""
        return self.shell(LOOK)

    def is_as(self, before: str) -> bool:
        """Returns true if `traces` equals `before` within 10 s.

        Some time is needed, because namespaces end with a delay.
        """
        until = time.monotonic() + 10
        while self.traces() != before:
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True


@contextmanager
def laboratory(*, forwards: bool = True):
    """Creates a host and its outside, and yields them.

    The host forwards IPv4 and IPv6 packets if `forwards` is true.
    """
    holder = ["unshare", "-n", "cat"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(holder, **pipes) as host, subprocess.Popen(holder, **pipes) as outside:
        try:
            for one in (host, outside):  # An answer of `cat` shows that its namespace exists.
                one.stdin.write(b"up\n")
                one.stdin.flush()
                assert one.stdout.readline() == b"up\n"
            lab = Laboratory(host.pid, outside.pid)
            quiet = "echo 1 > /proc/sys/net/ipv6/conf/eth0/addr_gen_mode"
            lab.shell(
                "ip link set lo up; ip link add eth0 type veth "
                f"peer name eth0 netns {outside.pid}; {quiet}; "
                f"ip address add {HOST}/24 dev eth0; ip address add {HOST6}/64 dev eth0 nodad; "
                f"ip link set eth0 up"
            )
            lab.shell(
                f"{quiet}; ip link set lo up; ip address add {OUTSIDE}/24 dev eth0; "
                f"ip address add {OUTSIDE6}/64 dev eth0 nodad; ip link set eth0 up",
                outside.pid,
            )
            lab.shell(f"ip route add default via {OUTSIDE}; ip -6 route add default via {OUTSIDE6}")
            if forwards:
                conf = "/proc/sys/net/ipv{}/conf/{}/forwarding"
                lab.shell(f"echo 1 > {conf.format(4, 'eth0')}; echo 1 > {conf.format(6, 'all')}")
            with subprocess.Popen([*lab.within(outside.pid), *python(ANSWERS)]) as answers:
                try:
                    yield lab
                finally:
                    answers.kill()
        finally:
            host.kill()
            outside.kill()
