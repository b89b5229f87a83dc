"""Selection of the users of a scenario that are real, and of their commands."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeb.emulate.addresses import MAX_PHONES, Addresses, of_phone
from nodeb.errors import InputError, nearest
from nodeb.inputs.places import EXTERNAL, is_external
from nodeb.inputs.scenario import Scenario

__all__ = ["Phone", "Plan", "make", "parse_phone"]


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
    """Plan of an emulation: the scenario, and the users that are real phones."""

    scenario: Scenario
    """The scenario; the groups of its real phones have `real = true` or `external` traffic."""
    phones: tuple[Phone, ...]


def parse_phone(text: str) -> tuple[str, tuple[str, ...]]:
    """Parses `USER: COMMAND` into the user's name and the words of the command."""
    name, colon, rest = text.partition(":")
    try:
        command = tuple(shlex.split(rest))
    except ValueError as error:
        raise InputError(f"--phone {text!r}: {error}") from None
    if not (colon and name.strip() and command):
        raise InputError(f'--phone {text!r}: expected a user and a command, as "phone: ping host"')
    return name.strip(), command


def make(scenario: Scenario, wanted: Sequence[tuple[str | None, tuple[str, ...]]]) -> Plan:
    data = scenario.encoded(lambda column: column)
    groups = data["users"]
    commands: dict[str, list[tuple[str, ...]]] = {}
    for asked, command in wanted:
        commands.setdefault(_name(groups, asked), []).append(command)
    for group in groups:
        _check(group, commands.get(group["name"], []))
    for name in commands:
        _make_real(groups, name)
    phones: list[Phone] = []
    for name, own in commands.items():
        first, count = _place(groups, name)
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
        raise InputError(
            f"user `{name}` is real but has no command; give --phone "
            + shlex.quote(f"{name}: COMMAND")
        )
    if count == 1 and len(commands) > 1:
        raise InputError(
            f"user `{name}` was given {len(commands)} commands, but a phone runs one; name "
            "another user"
        )
    if len(commands) > 1 and len(commands) != count:
        raise InputError(
            f"user `{name}` has {count} phones and was given {len(commands)} commands; expected "
            "one for all of them, or one for each"
        )


def _place(groups: list[dict[str, Any]], name: str) -> tuple[int, int]:
    user = 0
    for group in groups:
        if group["name"] == name:
            return user, group["count"]
        user += group["count"]
    raise AssertionError(name)


def _name(groups: list[dict[str, Any]], name: str | None) -> str:
    names = [str(group["name"]) for group in groups]
    if name is None:
        external = [str(group["name"]) for group in groups if is_external(group)]
        if external:
            return external[0]
        known = ", ".join(f"`{one}`" for one in names)
        raise InputError(
            f"no user of the scenario is real; choose one with --as (there is: {known}), or set "
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
