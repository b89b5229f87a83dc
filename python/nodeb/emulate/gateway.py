"""The server's namespace as a gateway: what comes from phones leaves by a link to the host."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeb.emulate.addresses import CELLS
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade

__all__ = ["GatewayError", "lead_out", "leave"]

DEVICE = "outside"


class GatewayError(Exception):
    """It was refused; the arguments are the step, why, and that as a number."""


def lead_out(about: dict[str, Any]) -> Masquerade:
    """Leads everything that is not for the cell to the host.

    Phones have the same addresses in every emulation, so they are translated here, where nobody
    else is.

    Args:
        about: by the version of IP, `address` with its prefix and `gateway`, the host's.

    Returns:
        What translates; until it is closed.

    Raises:
        GatewayError: it is refused.
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
                if version == 4:  # phones are on one link by their addresses, and are not
                    for conf in Path("/proc/sys/net/ipv4/conf").iterdir():
                        (conf / "send_redirects").write_text("0")
                step = "masquerade"
                tables.network(CELLS[version])
    except OSError as error:
        raise GatewayError(step, error.strerror or str(error), error.errno or 0) from None
    return tables


def leave() -> None:
    """Takes the link to the host away, and so its other end, if there is one.

    It would go with this namespace, which sockets of TCP hold for minutes after their processes.
    """
    with suppress(OSError), Netlink() as link:
        link.delete(DEVICE)
