"""IP addresses of the server and the real phones, which are the same in every emulation."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CELLS", "MAX_PHONES", "PREFIXES", "SERVER", "Addresses", "of_phone"]

MAX_PHONES = 200

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
        """Returns the IPv4 address and the IPv6 address with their prefix lengths."""
        lengths = (32, 128) if alone else PREFIXES
        return [f"{one}/{length}" for one, length in zip(self.both(), lengths, strict=True)]


def _numbered(number: int) -> Addresses:
    return Addresses(f"10.64.0.{number}", f"fd00:6e6f:6465:62::{number}")


SERVER = _numbered(1)


def of_phone(number: int) -> Addresses:
    return _numbered(number + 2)
