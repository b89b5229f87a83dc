"""Netlink clients: devices, addresses, routes and masquerading of a network namespace.

The program `ip` is not installed on every machine, and starting a process for each change is
slower. Sources: Linux' `rtnetlink(7)`, `netlink(7)`, `linux/netfilter/nf_tables.h`.

Only the standard library is imported, as the endpoints' processes must start quickly.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address, ip_interface, ip_network
from typing import Self

HEADER = struct.Struct("=IHHII")
REQUEST, ACKNOWLEDGE, EXCLUSIVE, CREATE = 0x1, 0x4, 0x200, 0x400
ERROR, NESTED = 2, 0x8000
FAMILIES = {4: int(socket.AF_INET), 6: int(socket.AF_INET6)}

NEW_LINK, DELETE_LINK, NEW_ADDRESS, NEW_ROUTE, GET_ROUTE = 16, 17, 20, 24, 26
LINK = struct.Struct("=BxHiII")
NAME, MTU, LINK_INFO, NAMESPACE_PID = 3, 4, 18, 19
KIND, DATA, PEER = 1, 2, 1
UP = 0x1
ADDRESS, LOCAL = 1, 2
NO_DAD = 0x02
"""Flag of an address: unique by construction, so no duplicate address detection (RFC 4862)."""
ROUTE = struct.Struct("=BBBBBBBBI")
DESTINATION, DEVICE, GATEWAY = 1, 4, 5
MAIN_TABLE, STATIC, UNIVERSE, UNICAST = 254, 4, 0, 1
FIB_MATCH = 0x2000
"""Flag of a query: the entry of the routing table that matches, not the resolved route."""

NETFILTER, TABLES = 12, 10
BATCH_BEGIN, BATCH_END = 0x10, 0x11
NEW_TABLE, NEW_CHAIN, NEW_RULE = (TABLES << 8 | number for number in (0, 3, 6))
OWNED = 0x2
POSTROUTING, SOURCE_PRIORITY = 4, 100
REGISTER, NETWORK_HEADER, EQUAL = 1, 1, 0
SOURCE_OFFSETS = {4: 12, 6: 8}
"""Offset of the source address in the IP header by IP version, bytes (RFC 791, RFC 8200)."""
CHAIN = "source"


class RefusedError(Exception):
    """The system refused a step: name of the step, reason, and error number (0 for none)."""


@contextmanager
def step(name: str) -> Iterator[None]:
    """Names the step that the system refused."""
    try:
        yield
    except OSError as error:
        raise RefusedError(name, error.strerror or str(error), error.errno or 0) from None


def _attribute(kind: int, value: bytes | Sequence[bytes]) -> bytes:
    """A sequence is nested attributes; the length is padded to a multiple of 4."""
    if not isinstance(value, bytes):
        kind, value = kind | NESTED, b"".join(value)
    text = struct.pack("=HH", 4 + len(value), kind) + value
    return text + bytes(-len(text) % 4)


def _text(kind: int, value: str) -> bytes:
    return _attribute(kind, value.encode() + b"\0")


def _native(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("=I", value))


def _big_endian(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack(">I", value))


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return HEADER.pack(HEADER.size + len(body), kind, flags | REQUEST, 0, 0) + body


class _Client:
    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self._socket.bind((0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def _send(self, messages: bytes) -> bytes:
        """Sends one request that is answered; the answer has no netlink header."""
        self._socket.send(messages)
        answer = self._socket.recv(65_536)
        body = answer[HEADER.size :]
        if HEADER.unpack_from(answer)[1] == ERROR and (status := struct.unpack_from("=i", body)[0]):
            raise OSError(-status, os.strerror(-status))
        return body


class Netlink(_Client):
    """Configuration of the calling process's network namespace."""

    def __init__(self) -> None:
        super().__init__(socket.NETLINK_ROUTE)

    def up(self, device: str, mtu: int | None = None) -> None:
        body = LINK.pack(socket.AF_UNSPEC, 0, socket.if_nametoindex(device), UP, UP)
        body += b"" if mtu is None else _native(MTU, mtu)
        self._send(_message(NEW_LINK, ACKNOWLEDGE, body))

    def address(self, device: str, text: str) -> None:
        interface = ip_interface(text)
        family, length = FAMILIES[interface.version], interface.network.prefixlen
        index = socket.if_nametoindex(device)
        body = struct.pack("=BBBBI", family, length, NO_DAD, UNIVERSE, index)
        body += b"".join(_attribute(kind, interface.ip.packed) for kind in (LOCAL, ADDRESS))
        self._send(_message(NEW_ADDRESS, ACKNOWLEDGE | CREATE, body))

    def default_route(self, device: str, version: int, gateway: str | None = None) -> None:
        route = FAMILIES[version], 0, 0, 0, MAIN_TABLE, STATIC, UNIVERSE, UNICAST, 0
        body = ROUTE.pack(*route) + _native(DEVICE, socket.if_nametoindex(device))
        body += b"" if gateway is None else _attribute(GATEWAY, ip_address(gateway).packed)
        self._send(_message(NEW_ROUTE, ACKNOWLEDGE | CREATE, body))

    def pair(self, name: str, peer: str, pid: int) -> None:
        """Creates a `veth` pair; the peer is in the namespace of process `pid`."""
        unspecified = LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
        there = unspecified + _text(NAME, peer) + _native(NAMESPACE_PID, pid)
        kind = _attribute(KIND, b"veth"), _attribute(DATA, [_attribute(PEER, there)])
        body = unspecified + _text(NAME, name) + _attribute(LINK_INFO, kind)
        self._send(_message(NEW_LINK, ACKNOWLEDGE | CREATE | EXCLUSIVE, body))

    def delete(self, device: str) -> None:
        body = LINK.pack(socket.AF_UNSPEC, 0, socket.if_nametoindex(device), 0, 0)
        self._send(_message(DELETE_LINK, ACKNOWLEDGE, body))

    def route_to(self, address: str) -> tuple[int, int]:
        """Prefix length of the route to an address, and the index of its device (0 for several)."""
        to = ip_address(address)
        body = ROUTE.pack(FAMILIES[to.version], to.max_prefixlen, 0, 0, 0, 0, 0, 0, FIB_MATCH)
        answer = self._send(_message(GET_ROUTE, 0, body + _attribute(DESTINATION, to.packed)))
        at, device = ROUTE.size, 0
        while at + 4 <= len(answer):
            length, kind = struct.unpack_from("=HH", answer, at)
            if kind == DEVICE:
                (device,) = struct.unpack_from("=I", answer, at + 4)
            at += max(length + -length % 4, 4)
        return answer[1], device


class Masquerade(_Client):
    """Masquerading by nftables: packets of given networks leave with an address of this namespace.

    The table is owned by this socket (`NFT_TABLE_F_OWNER`, Linux 5.12): no other process can change
    it, and it goes with the process.
    """

    def __init__(self, table: str) -> None:
        super().__init__(NETFILTER)
        self._table = table

    def network(self, text: str) -> None:
        """Adds a network whose prefix length is a multiple of 8, in one transaction."""
        network = ip_network(text)
        length, family = network.prefixlen // 8, FAMILIES[network.version]
        table, prefix = _text(1, self._table), network.network_address.packed[:length]
        hook = _attribute(4, [_big_endian(1, POSTROUTING), _big_endian(2, SOURCE_PRIORITY)])
        load = [_big_endian(1, REGISTER), _big_endian(2, NETWORK_HEADER)]
        load += [_big_endian(3, SOURCE_OFFSETS[network.version]), _big_endian(4, length)]
        compare = [_big_endian(1, REGISTER), _big_endian(2, EQUAL)]
        compare += [_attribute(3, [_attribute(1, prefix)])]
        expressions = [_expression("payload", load), _expression("cmp", compare)]
        rule = table + _text(2, CHAIN) + _attribute(4, [*expressions, _expression("masq", [])])
        chain = table + _text(3, CHAIN) + hook + _text(7, "nat")
        self._send(
            _change(BATCH_BEGIN, 0, b"", resource=TABLES)
            + _change(NEW_TABLE, family, table + _big_endian(2, OWNED), CREATE)
            + _change(NEW_CHAIN, family, chain, CREATE)
            + _change(NEW_RULE, family, rule, CREATE | ACKNOWLEDGE)
            + _change(BATCH_END, 0, b"", resource=TABLES)
        )


def _expression(name: str, attributes: Sequence[bytes]) -> bytes:
    return _attribute(1, [_text(1, name), _attribute(2, attributes)])


def _change(kind: int, family: int, body: bytes, flags: int = 0, *, resource: int = 0) -> bytes:
    return _message(kind, flags, struct.pack(">BBH", family, 0, resource) + body)
