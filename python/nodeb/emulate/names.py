"""Where an end of an emulation looks names up: a `resolv.conf` of its own.

A nameserver at the host's own address 127.0.0.53 answers nobody in another network namespace.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

__all__ = ["lead_to", "reachable"]

OF_HOST = Path("/etc/resolv.conf")
BEHIND = Path("/run/systemd/resolve/resolv.conf")
"""Where systemd-resolved says whom it asks itself; see its manual."""
NEW_MOUNTS = 0x2_0000
BIND, RECURSIVE, SLAVE = 0x1000, 0x4000, 1 << 19
DETACH = 2
SCRATCH = b"/tmp"

libc = ctypes.CDLL(None, use_errno=True)


def _servers(path: Path) -> list[str]:
    """Nameservers of a `resolv.conf` that others reach: not the host, nor on its link."""
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            key, *words = line.split() or [""]
            if key == "nameserver" and words:
                with contextlib.suppress(ValueError):  # none at all
                    address = ip_address(words[0])
                    if not (address.is_loopback or address.is_link_local):
                        found.append(words[0])
    return found


def reachable() -> list[str] | None:
    """Nameservers for an end that leads outside; None if those of the host will do."""
    return None if _servers(OF_HOST) else _servers(BEHIND)


def lead_to(servers: Sequence[str]) -> None:
    """Has this process and its children ask these nameservers, and nobody else.

    Mounts are its own from then on; a file of that content is bound over the host's, and has no
    name.

    Raises:
        OSError: it is refused, or the host has no `resolv.conf`.
    """
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
