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
    """Error: the system refused a step."""


def set_up(about: dict[str, Any]) -> Masquerade:
    """Routes packets to the host whose destinations are not in the networks of the cell.

    Phones have the same addresses in every emulation. Their addresses are translated in this
    namespace, where they cannot collide with those of another emulation.
    """
    step = "link"
    try:
        tables = Masquerade("nodeb")
        with Netlink() as link:
            with suppress(OSError):  # The setting exists only if the kernel has IPv6.
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
                    # ICMP redirects are switched off: the phones have a common prefix, as hosts on
                    # one link have, but cannot reach each other directly.
                ):
                    for conf in Path("/proc/sys/net/ipv4/conf").iterdir():
                        (conf / "send_redirects").write_text("0")
                step = "masquerade"
                tables.network(CELLS[version])
    except OSError as error:
        raise GatewayError(step, error.strerror or str(error), error.errno or 0) from None
    return tables


def tear_down() -> None:
    """Removes the link to the host with both of its ends, if it exists."""
    with suppress(OSError), Netlink() as link:
        link.delete(DEVICE)
