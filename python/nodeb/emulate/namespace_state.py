"""State of the calling process's network namespace, read from /proc."""

from __future__ import annotations

import contextlib
from pathlib import Path

__all__ = ["device_counters", "is_listening"]

LISTEN = "0A"


def is_listening() -> bool:
    """Returns true if the namespace has a listening TCP socket or any bound UDP socket."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]:
                if name.startswith("udp") or line.split()[3] == LISTEN:
                    return True
    return False


def device_counters(device: str) -> dict[str, int]:
    """Returns the numbers of packets that the kernel `sent` over a device and that it `dropped`."""
    with contextlib.suppress(OSError, StopIteration, ValueError, IndexError):
        lines = Path("/proc/self/net/dev").read_text().splitlines()
        line = next(one for one in lines if one.strip().startswith(f"{device}:"))
        numbers = [int(word) for word in line.partition(":")[2].split()]
        return {"sent": numbers[9], "dropped": numbers[11]}
    return {}
