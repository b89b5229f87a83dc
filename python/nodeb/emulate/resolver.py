"""DNS configuration of an endpoint: its own `resolv.conf`.

A nameserver at a loopback address of the host, such as 127.0.0.53 (systemd-resolved), cannot be
reached from another network namespace.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

__all__ = ["reachable_nameservers", "use_nameservers"]

OF_HOST = Path("/etc/resolv.conf")
UPSTREAM = Path("/run/systemd/resolve/resolv.conf")
"""File with the upstream nameservers of systemd-resolved(8)."""
NEW_MOUNTS = 0x2_0000
BIND, RECURSIVE, SLAVE = 0x1000, 0x4000, 1 << 19
DETACH = 2
SCRATCH = b"/tmp"

libc = ctypes.CDLL(None, use_errno=True)


def _servers(path: Path) -> list[str]:
    """Returns the nameservers of a `resolv.conf`, without loopback and link-local addresses."""
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            key, *words = line.split() or [""]
            if key == "nameserver" and words:
                with contextlib.suppress(ValueError):  # A word that is no IP address is skipped.
                    address = ip_address(words[0])
                    if not (address.is_loopback or address.is_link_local):
                        found.append(words[0])
    return found


def reachable_nameservers() -> list[str] | None:
    return None if _servers(OF_HOST) else _servers(UPSTREAM)


def use_nameservers(servers: Sequence[str]) -> None:
    """The process enters a new mount namespace. There, a changed copy of the host's
    `resolv.conf` is bind-mounted over the original."""
    place = os.fsencode(OF_HOST.resolve(strict=True))
    text = OF_HOST.read_text(errors="replace")
    kept = [line + "\n" for line in text.splitlines() if line.split()[:1] != ["nameserver"]]
    _must(libc.unshare(NEW_MOUNTS))
    _must(libc.mount(None, b"/", None, RECURSIVE | SLAVE, None))
    _must(libc.mount(b"nodeb", SCRATCH, b"tmpfs", 0, b"size=64k,mode=755"))
    try:
        file = Path(os.fsdecode(SCRATCH), "resolv.conf")
        file.write_text("".join([*kept, *(f"nameserver {one}\n" for one in servers)]))
        file.chmod(0o644)
        _must(libc.mount(os.fsencode(file), place, None, BIND, None))
    finally:
        _must(libc.umount2(SCRATCH, DETACH))


def _must(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
