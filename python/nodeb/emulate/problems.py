"""Error messages for refused system features, with remedies."""

from __future__ import annotations

import errno
import sys

from nodeb.errors import RunError

__all__ = ["check_system", "refused"]

REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Error numbers by which the system reports missing privileges or a read-only /proc."""


def check_system() -> None:
    """Checks that the system is Linux, as emulations need network namespaces and TUN devices."""
    if not sys.platform.startswith("linux"):
        raise RunError("real packets need network namespaces and TUN devices, which only Linux has")


def refused(step: str, why: str, number: int) -> RunError:
    return RunError(f"{_feature(step)} was refused ({why.lower()}); {_hint(step, number)}")


def _feature(step: str) -> str:
    return {
        "namespace": "a network namespace",
        "identity": "a user namespace that keeps the user ID",
        "tun": "a TUN device",
        "attach": "an existing namespace",
        "address": "an address",
        "names": "a separate resolv.conf",
        "link": "a link between the host's network and the server's",
        "forwarding": "forwarding between the server's network and the host's",
        "route": "a route to the outside",
        "masquerade": "masquerading",
    }.get(step, "a system feature for an endpoint")


def _hint(step: str, number: int) -> str:
    if step == "namespace" and number == errno.ENOSPC:
        return "user namespaces are used up or off; raise `sysctl user.max_user_namespaces`"
    if step in ("namespace", "identity"):
        return (
            "allow user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu "
            "`kernel.apparmor_restrict_unprivileged_userns=0`; in a container "
            "--cap-add SYS_ADMIN), or be root"
        )
    if step == "tun" and number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return "load its module (`modprobe tun`); in a container pass --device /dev/net/tun"
    if step == "tun" and number in (errno.EACCES, errno.EPERM):
        return "let all users open it (`chmod 666 /dev/net/tun`, as on most systems), or be root"
    if step == "attach":
        return "it needs root, and a file of `ip netns` such as /run/netns/NAME"
    if step in ("link", "forwarding", "masquerade") and number in REFUSALS:
        return (
            "--nat needs root, or CAP_NET_ADMIN over the host's network (in a container "
            "--cap-add NET_ADMIN, and a /proc/sys/net that can be written)"
        )
    if step == "names":
        return "--nameserver needs the right to mount, and an /etc/resolv.conf; or omit it"
    if step == "link":
        return "load its module (`modprobe veth`)"
    if step == "masquerade":
        return "--nat needs nftables and Linux 5.12 (`modprobe nf_tables nft_masq nft_chain_nat`)"
    return "`nodeb emulate --check` shows what works on this machine"
