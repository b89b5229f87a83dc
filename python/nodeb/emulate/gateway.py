"""The server's namespace as a gateway that forwards the phones' packets to the host."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeb.emulate.addresses import CELLS
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade

__all__ = ["GatewayError", "set_up", "tear_down"]

DEVICE = "outside"


class GatewayError(Exception):
    """The system refused a step; the arguments are the step, the reason and its errno."""


def set_up(about: dict[str, Any]) -> Masquerade:
    """Routes all packets that leave the cell's networks to the host.

    Phones have the same addresses in every emulation. They are translated in this namespace,
    where they cannot collide with others.

    Args:
        about: by IP version, `address` (with prefix length) of this side of the link and
            `gateway`, the host's address.

    Returns:
        The address translation, which lasts until it is closed.

    Raises:
        GatewayError: a step is refused.
    """
    step = "link"
    try:
        tables = Masquerade("nodeb")
        with Netlink() as link:
            with suppress(OSError):  # without IPv6
                Path(f"/proc/sys/net/ipv6/conf/{DEVICE}/addr_gen_mode").write_text("1")
            link.up(DEVICE)
            for text, one in about.items():
                version = int(text)
                step = "address"
                link.address(DEVICE, one["address"])
                step = "route"
                link.default_route(DEVICE, version, one["gateway"])
                step = "forwarding"
                Path(f"/proc/sys/net/ipv{version}/conf/all/forwarding").write_text("1")
                if (
                    version == 4
                ):  # no redirects: the phones' prefix is one link, their devices are not
                    for conf in Path("/proc/sys/net/ipv4/conf").iterdir():
                        (conf / "send_redirects").write_text("0")
                step = "masquerade"
                tables.network(CELLS[version])
    except OSError as error:
        raise GatewayError(step, error.strerror or str(error), error.errno or 0) from None
    return tables


def tear_down() -> None:
    """Removes the link to the host, both ends of it, if there is one.

    The kernel would remove it with the namespace, but TCP sockets keep that for minutes after their
    processes have ended.
    """
    with suppress(OSError), Netlink() as link:
        link.delete(DEVICE)
