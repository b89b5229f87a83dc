"""Address translation in a network namespace with nftables, over netlink.

A table is owned by the socket that created it (`NFT_TABLE_F_OWNER`, Linux 5.12). No other
process can change it. Source: Linux' `linux/netfilter/nf_tables.h`, `nfnetlink.h`.
"""

from __future__ import annotations

import socket
import struct
from ipaddress import ip_network
from typing import Self

from nodeb.emulate.netlink import ACKNOWLEDGE, CREATE, HEADER, REQUEST, attribute, refusal

__all__ = ["Masquerade"]

NETFILTER = 12
TABLES = 10
BEGIN, END = 0x10, 0x11
NEW_TABLE, NEW_CHAIN, NEW_RULE = (TABLES << 8 | number for number in (0, 3, 6))
OWNED = 0x2
AFTER_ROUTING, SOURCE_PRIORITY = 4, 100
REGISTER, NETWORK_HEADER, EQUAL = 1, 1, 0
SOURCE_AT = {4: 12, 6: 8}
"""Offset of the source address in the IP header by IP version, bytes (RFC 791, RFC 8200)."""
FAMILIES = {4: int(socket.AF_INET), 6: int(socket.AF_INET6)}
CHAIN = "source"


def _number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack(">I", value))


def _text(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode() + b"\0")


def _expression(name: str, *about: bytes) -> bytes:
    return attribute(1, [_text(1, name), attribute(2, about)])


class Masquerade:
    """Masquerading: packets from given networks leave with an address of this namespace."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETFILTER)
        self._socket.bind((0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def network(self, text: str) -> None:
        network = ip_network(text)
        length = network.prefixlen // 8
        wanted = network.network_address.packed[:length]
        table = _text(1, self._name)
        hook = attribute(4, [_number(1, AFTER_ROUTING), _number(2, SOURCE_PRIORITY)])
        place = (_number(2, NETWORK_HEADER), _number(3, SOURCE_AT[network.version]))
        load = _expression("payload", _number(1, REGISTER), *place, _number(4, length))
        value = attribute(3, [attribute(1, wanted)])
        compare = _expression("cmp", _number(1, REGISTER), _number(2, EQUAL), value)
        rule = attribute(4, [load, compare, _expression("masq")])
        self._change(
            FAMILIES[network.version],
            (NEW_TABLE, table + _number(2, OWNED)),
            (NEW_CHAIN, table + _text(3, CHAIN) + hook + _text(7, "nat")),
            (NEW_RULE, table + _text(2, CHAIN) + rule),
        )

    def _change(self, family: int, *changes: tuple[int, bytes]) -> None:
        """Sends changes to the kernel as one transaction: either all or none take effect."""
        messages = [_message(BEGIN, 0, TABLES, b"", REQUEST)]
        for kind, body in changes:
            answered = ACKNOWLEDGE if kind == changes[-1][0] else 0
            messages.append(_message(kind, family, 0, body, REQUEST | CREATE | answered))
        self._socket.send(b"".join([*messages, _message(END, 0, TABLES, b"", REQUEST)]))
        if (error := refusal(self._socket.recv(65_536))) is not None:
            raise error


def _message(kind: int, family: int, part: int, body: bytes, flags: int) -> bytes:
    body = struct.pack(">BBH", family, 0, part) + body
    return HEADER.pack(HEADER.size + len(body), kind, flags, 0, 0) + body
