"""What the kernel says of the namespace in which a process is."""

from __future__ import annotations

import contextlib
from pathlib import Path

__all__ = ["counts", "listening"]

LISTEN = "0A"
"""State of a TCP socket in /proc/net/tcp."""


def listening() -> bool:
    """Whether somebody in this namespace waits for packets."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]:
                if name.startswith("udp") or line.split()[3] == LISTEN:
                    return True
    return False


def counts(device: str) -> dict[str, int]:
    """What the kernel counted at the device: `dropped` never came to the driver."""
    with contextlib.suppress(OSError, StopIteration, ValueError, IndexError):
        lines = Path("/proc/self/net/dev").read_text().splitlines()
        line = next(one for one in lines if one.strip().startswith(f"{device}:"))
        numbers = [int(word) for word in line.partition(":")[2].split()]
        return {"sent": numbers[9], "dropped": numbers[11]}
    return {}
