"""Tests of an emulation's NAT, with network namespaces that stand for a host and its outside."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from emulations import DOWNLOAD_SERVER, PATIENT, gone, long_time, python, server
from laboratory import HOST, HOST6, OUTSIDE, OUTSIDE6, PROGRAMS, laboratory
from nodeb.emulate import nat
from nodeb.emulate.endpoint import refused

real = [
    pytest.mark.needs(*PROGRAMS),
    pytest.mark.usefixtures("real_packets"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root leads a namespace outside"),
]


def real_packets(test):
    for mark in real:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def lab():
    with laboratory() as made:
        yield made


EXCHANGE = """
import socket, sys, time
for server in sys.argv[1:]:
    begun = time.monotonic()
    c = socket.create_connection((server, 7000), timeout=20)
    took = time.monotonic() - begun
    sent = bytes(range(200)) * 100
    c.sendall(sent)
    got = b""
    while part := c.recv(65536):
        got += part
    who, _, rest = got.partition(b" ")
    print("tcp", who.decode(), rest == sent, took > 0.03)
    u = socket.socket(c.family, socket.SOCK_DGRAM)
    u.settimeout(20)
    u.sendto(sent[:1000], (server, 7000))
    who, _, rest = u.recv(2048).partition(b" ")
    print("udp", who.decode(), rest == sent[:1000], took > 0.03)
"""
"""A round trip takes 30 ms of the links' delays at least."""


@real_packets
def test_outside_server_answers_through_the_cell_and_sees_only_the_host(lab, link):
    before = lab.traces()
    done = lab.nodeb(link, *PATIENT, "--nat", "--", *python(EXCHANGE), OUTSIDE, OUTSIDE6)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{kind} {address} True True" for address in (HOST, HOST6) for kind in ("tcp", "udp")
    ]
    assert lab.is_as(before)


LONG_S = long_time()
UP = f"import time; print('up', flush=True); time.sleep({LONG_S})"


def started(run):
    assert run.stdout.readline() == "up\n"


@pytest.mark.slow
@real_packets
def test_settings_belong_to_the_device_of_nodeb_and_go_with_it(lab, link):
    before = lab.traces()
    with lab.emulate(link, *PATIENT, "--nat", "--", *python(UP)) as run:
        try:
            started(run)
            during = lab.traces()
        finally:
            run.terminate()
    assert "masquerade" in during
    gone_lines = set(before.splitlines()) - set(during.splitlines())
    new = set(during.splitlines()) - set(before.splitlines())
    assert not gone_lines
    assert not [line for line in new if "nodeb-0" not in line and "/conf/" in line]
    assert lab.is_as(before), lab.traces()


KILLS = {
    "nodeb": lambda run: run.kill(),
    "all of its group": lambda run: os.killpg(run.pid, signal.SIGKILL),
}


@pytest.mark.slow
@real_packets
@pytest.mark.parametrize("who", KILLS)
def test_killing_during_a_download_leaves_nothing(lab, link, who):
    """The kernel keeps the socket, which could keep the namespace for minutes."""
    program = "import os, socket; c = socket.create_connection((os.environ['NODEB_SERVER'], 5001))"
    program += "; c.sendall(b'100000000'); c.recv(1000); print('up', flush=True)"
    program += "\nwhile c.recv(1000): pass"
    before = lab.traces()
    command = [link, *PATIENT, "--nat", *server(DOWNLOAD_SERVER), "--", *python(program)]
    with lab.emulate(*command, start_new_session=True) as run:
        try:
            started(run)
            assert "nodeb-0" in lab.traces()
        finally:
            KILLS[who](run)
    assert lab.is_as(before), lab.traces()
    assert gone(LONG_S)


@pytest.mark.slow
@real_packets
def test_names_are_resolved_by_an_outside_nameserver(lab, link):
    """Only the command sees the resolver file of the emulation; nothing is mounted for others."""
    before = Path("/proc/self/mountinfo").read_text(), Path("/etc/resolv.conf").read_text()
    more = ("--nameserver", OUTSIDE, "--nameserver", OUTSIDE6)
    look = f"cat /etc/resolv.conf; ls {link}"
    done = lab.nodeb(link, *PATIENT, "--nat", *more, "--", "sh", "-c", look)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("nameserver ")] == [
        *(OUTSIDE, OUTSIDE6)
    ]
    assert lines[-1] == str(link), "the command has its files"
    after = Path("/proc/self/mountinfo").read_text(), Path("/etc/resolv.conf").read_text()
    assert after == before


def test_nameservers_on_the_host_itself_are_not_used(tmp_path, monkeypatch):
    host, upstream = tmp_path / "host", tmp_path / "upstream"
    monkeypatch.setattr(nat, "RESOLV_CONF", host)
    monkeypatch.setattr(nat, "UPSTREAM", upstream)
    host.write_text("nameserver 192.0.2.53\n")
    assert nat.reachable_nameservers() is None
    host.write_text("# nothing\nnameserver 127.0.0.53\nnameserver ::1\n")
    assert nat.reachable_nameservers() == []
    upstream.write_text("nameserver 192.0.2.53\nnameserver fe80::1%eth0\n")
    assert nat.reachable_nameservers() == ["192.0.2.53"]


@pytest.mark.slow
@real_packets
def test_two_emulations_reach_outside_at_once(lab, link):
    """Two emulations reach the outside together, although their phones have the same addresses."""
    before = lab.traces()
    program = f"{EXCHANGE}\ntime.sleep(2)"
    command = [link, *PATIENT, "--nat", "--", *python(program), OUTSIDE, OUTSIDE6]
    with lab.emulate(*command) as one, lab.emulate(*command) as other:
        for run in (one, other):
            out, err = run.communicate(timeout=60)
            assert out.count("True True") == 4, err
    assert lab.is_as(before)


@pytest.mark.slow
@real_packets
def test_network_in_use_at_the_host_is_not_used(lab, link):
    """If 198.18.0.0/17 is in use, the addresses are of the other half, 198.18.128.0/17."""
    route = "unreachable 198.18.0.0/17"
    lab.shell(f"ip route add {route}")
    try:
        with lab.emulate(link, *PATIENT, "--nat", "--", *python(UP)) as run:
            started(run)
            address = lab.shell("ip -o -4 address show dev nodeb-0").split()[3]
            run.terminate()
    finally:
        lab.shell(f"ip route del {route}")
    assert 128 <= int(address.split(".")[2]) < 256


@pytest.mark.slow
@real_packets
def test_disabled_forwarding_is_reported_with_the_remedy(link):
    with laboratory(forwards=False) as lab:
        before = lab.traces()
        done = lab.nodeb(link, "--nat", "--", "true")
        assert (done.returncode, done.stdout) == (1, "")
        assert "`sysctl net.ipv4.conf.eth0.forwarding=1`" in done.stderr
        assert lab.is_as(before)
        lab.shell("echo 1 > /proc/sys/net/ipv4/conf/eth0/forwarding")
        done = lab.nodeb(link, *PATIENT, "--nat", "--", *python(EXCHANGE), OUTSIDE)
        assert done.stdout.count("True True") == 2, done.stderr
        assert "note: no IPv6 beyond the host" in done.stderr
        lab.shell("ip route del default; ip -6 route del default")
        done = lab.nodeb(link, "--nat", "--", "true")
        assert (done.returncode, "route" in done.stderr) == (1, True)


def test_remedy_depends_on_the_reason():
    for number, remedy in ((errno.EOPNOTSUPP, "nft_masq"), (errno.EPERM, "root")):
        assert remedy in str(refused("masquerade", os.strerror(number), number))
