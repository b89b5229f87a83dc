"""Users of a scenario that are real, with their commands and addresses."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeb.errors import InputError, nearest
from nodeb.inputs.columns import EXTERNAL, is_external
from nodeb.inputs.scenario import Scenario

MAX_PHONES = 200
CELLS = {4: "10.64.0.0/16", 6: "fd00:6e6f:6465:62::/64"}
"""Networks of the server and all phones by IP version, the same in every emulation."""


class Addresses(NamedTuple):
    """Addresses of the server or of a phone, without prefix lengths."""

    v4: str
    v6: str
    """Unique local (RFC 4193)."""


def of_phone(number: int) -> Addresses:
    return Addresses(f"10.64.0.{number + 2}", f"fd00:6e6f:6465:62::{number + 2}")


SERVER = of_phone(-1)


@dataclass(frozen=True)
class Phone:
    """User whose packets are real: a command runs as this phone."""

    name: str
    """Name of the phone's group; followed by a number from 1 if the group has several phones."""
    user: int
    command: tuple[str, ...]
    addresses: Addresses


@dataclass(frozen=True)
class Plan:
    """The scenario, whose real groups have `real = true` or `external` traffic, and the phones."""

    scenario: Scenario
    phones: tuple[Phone, ...]


def parse_phone(text: str) -> tuple[str, tuple[str, ...]]:
    """Parses `USER: COMMAND` into the user's name and the words of the command."""
    name, colon, rest = text.partition(":")
    command = split(rest, f"--phone {text!r}")
    if not (colon and name.strip() and command):
        raise InputError(f'--phone {text!r}: expected a user and a command, as "phone: ping host"')
    return name.strip(), command


def split(command: str, option: str) -> tuple[str, ...]:
    """The words of a command, as a shell reads them."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


def make(scenario: Scenario, requests: Sequence[tuple[str | None, tuple[str, ...]]]) -> Plan:
    """Plans phones for pairs of a user's name, None for the first real user, and a command."""
    data = scenario.encoded(lambda column: column)
    groups = data["users"]
    commands: dict[str, list[tuple[str, ...]]] = {}
    for name, command in requests:
        commands.setdefault(_named(groups, name), []).append(command)
    for group in groups:
        _check(group, commands.get(group["name"], []))
    for name in commands:
        _make_real(groups, name)
    phones: list[Phone] = []
    first_users, user = {}, 0
    for group in groups:
        first_users[group["name"]] = user, group["count"]
        user += group["count"]
    for name, own in commands.items():
        first, count = first_users[name]
        for nth in range(count):
            label = name if count == 1 else f"{name} {nth + 1}"
            command = own[nth] if len(own) > 1 else own[0]
            phones.append(Phone(label, first + nth, command, of_phone(len(phones))))
    if len(phones) > MAX_PHONES:
        raise InputError(f"{len(phones)} real phones are too many; expected at most {MAX_PHONES}")
    return Plan(type(scenario).from_dict(data), tuple(phones))


def _check(group: dict[str, Any], commands: Sequence[tuple[str, ...]]) -> None:
    name, count = group["name"], group["count"] if is_external(group) else 1
    if group.get("real") and not commands:
        option = shlex.quote(f"{name}: COMMAND")
        raise InputError(f"user `{name}` is real but has no command; give --phone {option}")
    if len(commands) <= 1 or len(commands) == count:
        return
    given = f"was given {len(commands)} commands"
    if count == 1:
        raise InputError(f"user `{name}` {given}, but a phone runs one; name another user")
    raise InputError(
        f"user `{name}` has {count} phones and {given}; expected one for all of them, or one for "
        "each"
    )


def _named(groups: list[dict[str, Any]], name: str | None) -> str:
    names = [str(group["name"]) for group in groups]
    if name is None:
        external = [str(group["name"]) for group in groups if is_external(group)]
        if external or len(names) == 1:
            return [*external, *names][0]
        choices = ", ".join(f"`{text}`" for text in names)
        raise InputError(
            f"no user of the scenario is real; choose one with --as (there is: {choices}), or set "
            "`real = true`"
        )
    if name not in names:
        raise InputError(f"the scenario has no user `{name}`{nearest(name, names)}")
    return name


def _make_real(groups: list[dict[str, Any]], name: str) -> None:
    """Makes the first phone of a group real, unless the group is real or has external traffic."""
    place = next(at for at, group in enumerate(groups) if group["name"] == name)
    group = groups[place]
    if is_external(group):
        return
    if group["count"] > 1:
        others = copy.deepcopy(group)
        others["name"], others["count"] = f"{name}, simulated", group["count"] - 1
        groups.insert(place + 1, others)
        group["count"] = 1
    group["traffic"] = EXTERNAL
