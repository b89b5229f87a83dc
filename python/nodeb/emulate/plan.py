"""Which users of a scenario are real, and what runs as each."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeb.emulate.addresses import MOST_PHONES, Addresses, of_phone
from nodeb.errors import InputError, nearest

__all__ = ["EXTERNAL", "Phone", "Plan", "make", "spoken"]

EXTERNAL = "external"


@dataclass(frozen=True)
class Phone:
    """A user whose packets are real."""

    name: str
    """Its group in the scenario."""
    user: int
    """Its number among all users."""
    command: tuple[str, ...]
    """What runs as this phone."""
    addresses: Addresses
    """Its addresses."""


@dataclass(frozen=True)
class Plan:
    """A scenario and the phones in it that are real."""

    data: dict[str, Any]
    """The scenario as plain data, its real users `external`."""
    phones: tuple[Phone, ...]
    """Those that are real."""


def spoken(text: str) -> tuple[str, tuple[str, ...]]:
    """Reads `USER: COMMAND`.

    Raises:
        InputError: it is not that.
    """
    name, colon, rest = text.partition(":")
    try:
        command = tuple(shlex.split(rest))
    except ValueError as error:
        raise InputError(f"--phone {text!r}: {error}") from None
    if not (colon and name.strip() and command):
        raise InputError(f'--phone {text!r}: expected a user and a command, as "phone: ping host"')
    return name.strip(), command


def make(data: dict[str, Any], wanted: Sequence[tuple[str | None, tuple[str, ...]]]) -> Plan:
    """Makes users of a scenario real.

    Args:
        data: the scenario as plain data; it is left as it is.
        wanted: for each real phone the name of its group, None for the first that is `external`,
            and its command. A group of several phones gives one of them; the others stay simulated.

    Raises:
        InputError: there is no such user, none is `external`, or one is wanted twice.
    """
    data = copy.deepcopy(data)
    groups = data["users"]
    if len(wanted) > MOST_PHONES:
        raise InputError(f"{len(wanted)} real phones are too many; expected at most {MOST_PHONES}")
    names = [_name(groups, name) for name, _ in wanted]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"user `{name}` was given two commands, and a phone runs one; name another user"
            )
    for name in names:
        _make_real(groups, name)
    firsts, user = {}, 0
    for group in groups:
        firsts[group["name"]] = user
        user += group["count"]
    commands = zip(names, (command for _, command in wanted), strict=True)
    phones = [
        Phone(name, firsts[name], command, of_phone(number))
        for number, (name, command) in enumerate(commands)
    ]
    return Plan(data, tuple(phones))


def _name(groups: list[dict[str, Any]], name: str | None) -> str:
    """The group of a real phone."""
    names = [str(group["name"]) for group in groups]
    if name is None:
        external = [str(group["name"]) for group in groups if _is_external(group)]
        if external:
            return external[0]
        known = ", ".join(f"`{one}`" for one in names)
        raise InputError(
            f"no user of the scenario is real; say who with --as (there is: {known}), or write "
            '`traffic = "external"`'
        )
    if name not in names:
        raise InputError(f"the scenario has no user `{name}`{nearest(name, names)}")
    return name


def _make_real(groups: list[dict[str, Any]], name: str) -> None:
    """One phone of a group is real, and the others follow it in a group of their own."""
    place = next(at for at, group in enumerate(groups) if group["name"] == name)
    group = groups[place]
    if group["count"] > 1 and not _is_external(group):
        others = copy.deepcopy(group)
        others["name"], others["count"] = f"{name}, simulated", group["count"] - 1
        groups.insert(place + 1, others)
        group["count"] = 1
    group["traffic"] = EXTERNAL


def _is_external(group: dict[str, Any]) -> bool:
    traffic = group["traffic"]
    return traffic == EXTERNAL or (isinstance(traffic, dict) and EXTERNAL in traffic)
