"""Network namespace of the server or a phone, as the process in it sets it up and reads it.

Only the standard library is imported, as this process must start quickly.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeb.emulate.netlink import Masquerade, Netlink, RefusedError, step

RESOLV_CONF = Path("/etc/resolv.conf")
SYSCTL = Path("/proc/sys/net")
NEW_USER, NEW_NET, NEW_MOUNTS = 0x1000_0000, 0x4000_0000, 0x2_0000
BIND, RECURSIVE, SLAVE, DETACH = 0x1000, 0x4000, 1 << 19, 2
SCRATCH = "/tmp"
SET_DEVICE = 0x4004_54CA
TUN, NO_INFORMATION = 0x0001, 0x1000
"""The device carries bare IP packets. As no offload flags are set, the kernel segments TCP data
into packets of at most the MTU."""
LINK = "outside"
"""Device in the server's namespace that leads to the host (`--nat`)."""
LISTEN = "0A"

libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def enter(namespace: str | None, nameservers: Sequence[str]) -> None:
    """Joins a namespace, or creates one: in a new user namespace unless root may do without."""
    if namespace is not None:
        with step("attach"), open(namespace, "rb") as file:
            _check(libc.setns(file.fileno(), NEW_NET))
    elif os.geteuid() != 0 or libc.unshare(NEW_NET) != 0:
        user, group = os.geteuid(), os.getegid()
        with step("namespace"):
            _check(libc.unshare(NEW_USER | NEW_NET))
        with step("identity"):
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if nameservers:
        with step("names"):
            _use_nameservers(nameservers)


def _use_nameservers(addresses: Sequence[str]) -> None:
    """Bind-mounts a changed copy of `resolv.conf` over the original, for this process only."""
    place = os.fsencode(RESOLV_CONF.resolve(strict=True))
    lines = RESOLV_CONF.read_text(errors="replace").splitlines()
    kept = [line for line in lines if line.split()[:1] != ["nameserver"]]
    _check(libc.unshare(NEW_MOUNTS))
    _check(libc.mount(None, b"/", None, RECURSIVE | SLAVE, None))
    _check(libc.mount(b"nodeb", SCRATCH.encode(), b"tmpfs", 0, b"size=64k,mode=755"))
    try:
        file = Path(SCRATCH, "resolv.conf")
        file.write_text("\n".join([*kept, *(f"nameserver {text}" for text in addresses), ""]))
        file.chmod(0o644)
        _check(libc.mount(bytes(file), place, None, BIND, None))
    finally:
        _check(libc.umount2(SCRATCH.encode(), DETACH))


def create_device(about: Mapping[str, Any]) -> None:
    """Creates the TUN device that leads into the cell, and passes its descriptor to the driver.

    In a new namespace, also brings up the loopback device, and allows ping and ports below 1024
    without root.
    """
    name, is_new = about["device"], about["namespace"] is None
    with step("tun"):
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        flags = struct.pack("16sH14x", name.encode(), TUN | NO_INFORMATION)
        fcntl.ioctl(device, SET_DEVICE, flags)
    # No packets that no program sent: no router solicitations, no automatic IPv6 address.
    settings = {f"ipv6/conf/{name}/{key}": "0" for key in ("accept_ra", "router_solicitations")}
    settings[f"ipv6/conf/{name}/addr_gen_mode"] = "1"
    if is_new:
        settings["ipv4/ping_group_range"] = f"{os.getegid()} {os.getegid()}"
        settings["ipv4/ip_unprivileged_port_start"] = "0"
    for key, value in settings.items():
        with suppress(OSError):  # The kernel may lack IPv6, and a container may forbid changes.
            (SYSCTL / key).write_text(value)
    with Netlink() as link:
        if is_new:
            link.up("lo")
        link.up(name, about["mtu"])
        for address in about["addresses"]:
            _add_address(link, name, address, default_route=about["default_route"])
    with socket.socket(fileno=about["device_socket"]) as devices:
        socket.send_fds(devices, [bytes([about["number"]])], [device])
    os.close(device)


def _add_address(link: Netlink, device: str, address: str, *, default_route: bool) -> None:
    version = 6 if ":" in address else 4
    try:
        with step("address"):
            link.address(device, address)
    except RefusedError as error:
        if version == 4 or error.args[2] not in (errno.EOPNOTSUPP, errno.EACCES):
            raise
        return  # The kernel has no IPv6.
    if default_route:
        link.default_route(device, version)


def open_gateway(links: Mapping[str, Mapping[str, str]]) -> Masquerade:
    """Forwards the phones' packets to the host, with translated addresses.

    Phones have the same addresses in every emulation. They are translated in this namespace, where
    they cannot collide with those of another emulation.

    Args:
        links: by IP version, this side's `address`, the host's (`gateway`), and the phones'
            network (`cell`).
    """
    with step("masquerade"):
        tables = Masquerade("nodeb")
    with step("link"), Netlink() as link:
        with suppress(OSError):  # The kernel may lack IPv6.
            (SYSCTL / f"ipv6/conf/{LINK}/addr_gen_mode").write_text("1")
        link.up(LINK)
        for text, ends in links.items():
            with step("address"):
                link.address(LINK, ends["address"])
            with step("route"):
                link.default_route(LINK, int(text), ends["gateway"])
            with step("forwarding"):
                (SYSCTL / f"ipv{text}/conf/all/forwarding").write_text("1")
            with step("masquerade"):
                tables.network(ends["cell"])
    with step("forwarding"):
        # No ICMP redirects: phones have a common prefix but cannot reach each other directly.
        for conf in (SYSCTL / "ipv4/conf").iterdir():
            (conf / "send_redirects").write_text("0")
    return tables


def remove_link() -> None:
    """Removes the link to the host with both of its ends, if it exists."""
    with suppress(OSError), Netlink() as link:
        link.delete(LINK)


def is_listening() -> bool:
    """Whether the namespace has a listening TCP socket or any bound UDP socket."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with suppress(OSError):
            for line in Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]:
                if name.startswith("udp") or line.split()[3] == LISTEN:
                    return True
    return False


def counters(device: str) -> dict[str, Any]:
    """Numbers of packets that the kernel `sent` over a device, and that it `dropped`."""
    for line in Path("/proc/self/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == device:
            return {"sent": int(counts.split()[9]), "dropped": int(counts.split()[11])}
    return {}
