"""What is missing where a machine does not let real packets through, and how to allow it."""

from __future__ import annotations

import errno
import sys

from nodeb.errors import RunError

__all__ = ["check_system", "refused"]

REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors by which a system says that this is for others."""


def check_system() -> None:
    """Complains about a system that has no network namespaces.

    Raises:
        RunError: it is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise RunError("real packets need network namespaces and TUN devices, which only Linux has")


def refused(step: str, why: str, number: int) -> RunError:
    """The error for what an end of an emulation was refused.

    Args:
        step: what it wanted to do.
        why: what the system said.
        number: the same as a number.
    """
    return RunError(f"{_wanted(step)} was refused ({why.lower()}); {_hint(step, number)}")


def _wanted(step: str) -> str:
    return {
        "namespace": "a network namespace",
        "identity": "a user namespace with one's own identity",
        "tun": "a TUN device",
        "attach": "a namespace that is there",
        "address": "an address",
        "names": "a resolv.conf of one's own",
        "link": "a link between the host's network and the server's",
        "forwarding": "forwarding between the server's network and the host's",
        "route": "a route to the outside",
        "masquerade": "masquerading",
    }.get(step, "what an end of the emulation needs")


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
        return "let everybody open it (`chmod 666 /dev/net/tun`, as most systems do), or be root"
    if step == "attach":
        return "expected a file of `ip netns`, as /run/netns/NAME, and root"
    if step in ("link", "forwarding", "masquerade") and number in REFUSALS:
        return (
            "--nat needs root, or CAP_NET_ADMIN over the host's network (in a container "
            "--cap-add NET_ADMIN, and a /proc/sys/net that can be written)"
        )
    if step == "names":
        return "--nameserver needs the rights to mount, and an /etc/resolv.conf; or leave it out"
    if step == "link":
        return "load its module (`modprobe veth`)"
    if step == "masquerade":
        return "--nat needs nftables and Linux 5.12 (`modprobe nf_tables nft_masq nft_chain_nat`)"
    return "`nodeb emulate --check` says what works here"
