"""Tests of an emulation's NAT, with network namespaces that stand for a host and its outside."""

from __future__ import annotations

import errno
import os
import shlex
import signal
from pathlib import Path

import pytest

from emulations import DOWNLOAD_SERVER, PATIENT, gone, long_time, python
from laboratory import HOST, HOST6, MISSING, OUTSIDE, OUTSIDE6, laboratory

pytestmark = [
    pytest.mark.usefixtures("real_packets"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root leads a namespace outside"),
    pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def lab():
    with laboratory() as made:
        yield made


EXCHANGE = """
import socket, sys
for server in sys.argv[1:]:
    c = socket.create_connection((server, 7000), timeout=20)
    sent = bytes(range(200)) * 100
    c.sendall(sent)
    got = b""
    while part := c.recv(65536):
        got += part
    who, _, rest = got.partition(b" ")
    print("tcp", who.decode(), rest == sent)
    u = socket.socket(c.family, socket.SOCK_DGRAM)
    u.settimeout(20)
    u.sendto(sent[:1000], (server, 7000))
    who, _, rest = u.recv(2048).partition(b" ")
    print("udp", who.decode(), rest == sent[:1000])
"""


def test_outside_server_answers_and_sees_only_the_host(lab, link):
    before = lab.traces()
    done = lab.nodeb(link, *PATIENT, "--nat", "--", *python(EXCHANGE), OUTSIDE, OUTSIDE6)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{kind} {address} True" for address in (HOST, HOST6) for kind in ("tcp", "udp")
    ]
    assert lab.is_as(before)


def test_pings_are_delayed_by_the_cell(lab, link):
    """The round trip of a ping passes the links, whose delays add up to 40 ms in both directions
    together. The test requires more than 30 ms.
    """
    done = lab.nodeb(link, *PATIENT, "--nat", "--", "ping", "-c", "2", "-i", "0.2", OUTSIDE)
    assert done.returncode == 0, done.stderr
    least = float(done.stdout.rsplit("=", 1)[1].split("/")[0])
    assert least > 30


LONG_S = long_time()
UP = f"import time; print('up', flush=True); time.sleep({LONG_S})"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_host_keeps_no_trace_of_the_emulation(lab, link, number):
    before = lab.traces()
    with lab.emulate(link, *PATIENT, "--nat", "--", *python(UP)) as run:
        try:
            assert run.stdout.readline() == "up\n"
            during = lab.traces()
            assert "nodeb-0" in during
            assert "masquerade" in during
        finally:
            run.send_signal(number)
    assert lab.is_as(before), lab.traces()
    assert gone(LONG_S)


KILLS = {
    "nodeb": lambda run: run.kill(),
    "all of its group": lambda run: os.killpg(run.pid, signal.SIGKILL),
}


@pytest.mark.parametrize("who", KILLS)
def test_killing_during_a_download_leaves_nothing(lab, link, who):
    """Nothing is left if processes are killed during a download, although the kernel keeps the
    socket, which could keep the namespace for minutes.
    """
    program = "import os, socket; c = socket.create_connection((os.environ['NODEB_SERVER'], 5001))"
    program += "; c.sendall(b'100000000'); c.recv(1000); print('up', flush=True)"
    program += "\nwhile c.recv(1000): pass"
    server = shlex.join(python(DOWNLOAD_SERVER))
    before = lab.traces()
    command = [link, *PATIENT, "--nat", "--server", server, "--", *python(program)]
    with lab.emulate(*command, start_new_session=True) as run:
        try:
            assert run.stdout.readline() == "up\n"
            assert "nodeb-0" in lab.traces()
        finally:
            KILLS[who](run)
    assert lab.is_as(before), lab.traces()


def test_names_are_resolved_by_an_outside_nameserver(lab, link):
    """Only the command sees the resolver file of the emulation; nothing is mounted for other
    processes.
    """
    before = Path("/proc/self/mountinfo").read_text(), Path("/etc/resolv.conf").read_text()
    look = f"cat /etc/resolv.conf; ls {link}"
    more = ("--nameserver", OUTSIDE, "--nameserver", OUTSIDE6)
    done = lab.nodeb(link, *PATIENT, "--nat", *more, "--", "sh", "-c", look)
    assert done.returncode == 0, done.stderr
    asked = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("nameserver ")]
    assert asked == [OUTSIDE, OUTSIDE6]
    assert "nameserver" not in done.stderr
    after = Path("/proc/self/mountinfo").read_text(), Path("/etc/resolv.conf").read_text()
    assert after == before
    assert done.stdout.endswith(f"\n{link}\n"), "the command has its files"
    done = lab.nodeb(link, "--nameserver", "nobody", "--", "true")
    assert done.returncode == 2
    assert "--nameserver nobody: expected an IPv4 or IPv6 address" in done.stderr


@pytest.mark.parametrize(
    ("host", "behind", "found"),
    [
        ("nameserver 192.0.2.53\n", "", None),
        (
            "nameserver 127.0.0.53\n",
            "nameserver 192.0.2.53\nnameserver fe80::1%eth0\n",
            ["192.0.2.53"],
        ),
        ("# nothing\nnameserver 127.0.0.1\nnameserver ::1\n", None, []),
    ],
)
def test_nameservers_on_the_host_itself_are_not_used(host, behind, found, tmp_path, monkeypatch):
    from nodeb.emulate import resolver

    for key, content in (("OF_HOST", host), ("UPSTREAM", behind)):
        monkeypatch.setattr(resolver, key, tmp_path / key)
        if content is not None:
            (tmp_path / key).write_text(content)
    assert resolver.reachable_nameservers() == found


def test_host_settings_are_unchanged(lab, link):
    """All settings that change during the emulation belong to nodeb's own device, not to the host's
    devices.
    """
    before = set(lab.traces().splitlines())
    with lab.emulate(link, *PATIENT, "--nat", "--", *python(UP)) as run:
        try:
            assert run.stdout.readline() == "up\n"
            during = set(lab.traces().splitlines())
        finally:
            run.terminate()
    assert not before - during
    new = "\n".join(line for line in during - before if "nodeb-0" not in line)
    assert "/conf/" not in new
    assert "dev eth0" not in new


def test_two_emulations_reach_outside_at_once(lab, link):
    """Two emulations reach the outside at the same time, although their phones have the same
    addresses.
    """
    before = lab.traces()
    program = f"{EXCHANGE}\nimport time\ntime.sleep(2)"
    command = [link, *PATIENT, "--nat", "--", *python(program), OUTSIDE, OUTSIDE6]
    with lab.emulate(*command) as one, lab.emulate(*command) as other:
        results = [run.communicate(timeout=60) for run in (one, other)]
    for out, errors in results:
        assert out.count("True") == 4, errors
        assert "did not lead" not in errors
    assert lab.is_as(before)


def test_network_known_to_the_host_is_not_used(lab, link):
    """If 198.18.0.0/17 is in use at the host, the emulation takes its addresses from the other half
    of the network, 198.18.128.0/17.
    """
    route = "unreachable 198.18.0.0/17"
    lab.shell(f"ip route add {route}")
    try:
        with lab.emulate(link, *PATIENT, "--nat", "--", *python(UP)) as run:
            assert run.stdout.readline() == "up\n"
            address = lab.shell("ip -o -4 address show dev nodeb-0").split()[3]
            run.terminate()
    finally:
        lab.shell(f"ip route del {route}")
    assert 128 <= int(address.split(".")[2]) < 256


def test_disabled_forwarding_is_reported_with_the_remedy(link):
    with laboratory(forwards=False) as lab:
        before = lab.traces()
        done = lab.nodeb(link, "--nat", "--", "true")
        assert (done.returncode, done.stdout) == (1, "")
        wanted = "--nat: the host does not forward; `sysctl net.ipv4.conf.eth0.forwarding=1` allows"
        assert wanted in done.stderr
        assert lab.is_as(before)
        lab.shell("echo 1 > /proc/sys/net/ipv4/conf/eth0/forwarding")
        done = lab.nodeb(link, *PATIENT, "--nat", "--", *python(EXCHANGE), OUTSIDE)
        assert done.stdout.count("True") == 2, done.stderr
        assert "note: no IPv6 beyond the host: the host does not forward; `sysctl " in done.stderr
        lab.shell("ip route del default; ip -6 route del default")
        done = lab.nodeb(link, "--nat", "--", "true")
        assert "--nat: the host has no default route" in done.stderr
        assert done.returncode == 1


def test_missing_rights_are_reported(lab, link):
    before = lab.traces()
    drop = "-sys_admin,-net_admin,-net_raw,-sys_nice"
    without = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]
    done = lab.nodeb(link, "--nat", "--", "true", before=without)
    assert done.returncode == 1
    if "a TUN device" in done.stderr or "a user namespace" in done.stderr:
        pytest.skip(done.stderr)
    wanted = "error: a link between the host's network and the server's was refused (operation not"
    assert done.stderr.startswith(wanted)
    assert "--nat needs root, or CAP_NET_ADMIN" in done.stderr
    assert lab.is_as(before)


def test_missing_nftables_is_reported():
    from nodeb.emulate.problems import refused

    text = str(refused("masquerade", os.strerror(errno.EOPNOTSUPP), errno.EOPNOTSUPP))
    assert text.startswith("masquerading was refused (operation not supported); --nat needs nftabl")


def test_nat_and_attached_server_cannot_be_combined(lab, link):
    done = lab.nodeb(link, "--nat", "--attach", "server=x", "--", "true")
    assert done.returncode == 2
    assert "--nat and --attach server= cannot be combined" in done.stderr
