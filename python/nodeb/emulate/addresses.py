"""IP addresses of the server and the real phones, which are the same in every emulation."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CELLS", "MAX_PHONES", "PREFIXES", "SERVER", "Addresses", "of_phone"]

MAX_PHONES = 200
"""Maximum number of real phones in an emulation."""

PREFIXES = (16, 64)
"""Prefix lengths of the networks in `CELLS`: IPv4, then IPv6."""

CELLS = {4: "10.64.0.0/16", 6: "fd00:6e6f:6465:62::/64"}
"""Networks by IP version that contain the addresses of the server and of all phones."""


@dataclass(frozen=True)
class Addresses:
    """IPv4 and IPv6 address of the server or of a phone."""

    v4: str
    """IPv4 address without prefix length, such as `10.64.0.1`."""
    v6: str
    """IPv6 address, unique local (RFC 4193)."""

    def both(self) -> list[str]:
        """Returns a list of the IPv4 address and the IPv6 address, without prefix lengths."""
        return [self.v4, self.v6]

    def interfaces(self, *, alone: bool) -> list[str]:
        """Returns the IPv4 address and the IPv6 address with their prefix lengths.

        Args:
            alone: whether the device's link has no other host. The prefix lengths are then 32 and
                128, else those in `PREFIXES`.
        """
        lengths = (32, 128) if alone else PREFIXES
        return [f"{one}/{length}" for one, length in zip(self.both(), lengths, strict=True)]


def _numbered(number: int) -> Addresses:
    return Addresses(f"10.64.0.{number}", f"fd00:6e6f:6465:62::{number}")


SERVER = _numbered(1)
"""Addresses of the server: the first ones in the cell's networks."""


def of_phone(number: int) -> Addresses:
    """Returns the addresses of a real phone. Those of the first phone follow those of the server.

    Args:
        number: index of the phone among the real phones, from 0 to `MAX_PHONES - 1`.
    """
    return _numbered(number + 2)
