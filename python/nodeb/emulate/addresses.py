"""Who has which address, the same in every emulation: the server first, then the real phones."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CELLS", "MAX_PHONES", "PREFIXES", "SERVER", "Addresses", "of_phone"]

MAX_PHONES = 200
"""Real phones of an emulation."""

PREFIXES = (16, 64)
"""Lengths of the networks in which all of them are: IPv4, IPv6."""

CELLS = {4: "10.64.0.0/16", 6: "fd00:6e6f:6465:62::/64"}
"""These networks, by version of IP."""


@dataclass(frozen=True)
class Addresses:
    """The addresses of an end."""

    v4: str
    """IPv4."""
    v6: str
    """IPv6, unique local (RFC 4193)."""

    def both(self) -> list[str]:
        """Both of them."""
        return [self.v4, self.v6]

    def interfaces(self, *, alone: bool) -> list[str]:
        """With the lengths of their prefixes.

        Args:
            alone: nobody else is on the link.
        """
        lengths = (32, 128) if alone else PREFIXES
        return [f"{one}/{length}" for one, length in zip(self.both(), lengths, strict=True)]


def _numbered(number: int) -> Addresses:
    return Addresses(f"10.64.0.{number}", f"fd00:6e6f:6465:62::{number}")


SERVER = _numbered(1)
"""The server's."""


def of_phone(number: int) -> Addresses:
    """Those of a real phone.

    Args:
        number: which, from 0.
    """
    return _numbered(number + 2)
