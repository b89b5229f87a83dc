"""Which users of a scenario are real, and what runs as each."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeb.emulate.addresses import MAX_PHONES, Addresses, of_phone
from nodeb.errors import InputError, nearest
from nodeb.inputs.scenario import Scenario

__all__ = ["EXTERNAL", "Phone", "Plan", "make", "spoken"]

EXTERNAL = "external"


@dataclass(frozen=True)
class Phone:
    """A user whose packets are real."""

    name: str
    """Its group in the scenario, and its number there if there are several."""
    user: int
    """Its number among all users."""
    command: tuple[str, ...]
    """What runs as this phone."""
    addresses: Addresses
    """Its addresses."""


@dataclass(frozen=True)
class Plan:
    """A scenario and the phones in it that are real."""

    scenario: Scenario
    """The scenario, its real users real or `external`."""
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


def make(scenario: Scenario, wanted: Sequence[tuple[str | None, tuple[str, ...]]]) -> Plan:
    """Makes users of a scenario real.

    Args:
        scenario: it is left as it is.
        wanted: the names of groups, None for the first that is real or `external` in the
            scenario, and a command for each. A group that is real there has one command for all of
            its phones, or as many as it has phones. Any other group gives one phone, and the
            others stay simulated.

    Raises:
        InputError: there is no such user, none is real, one is and has no command, or too many.
    """
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
    """Complains about a group with more commands than phones, or with none though it is real."""
    name, count = group["name"], group["count"] if _is_external(group) else 1
    if group.get("real") and not commands:
        raise InputError(
            f"user `{name}` is real and nothing runs as it; give --phone "
            + shlex.quote(f"{name}: COMMAND")
        )
    if count == 1 and len(commands) > 1:
        raise InputError(
            f"user `{name}` was given two commands, and a phone runs one; name another user"
        )
    if len(commands) > 1 and len(commands) != count:
        raise InputError(
            f"user `{name}` has {count} phones and was given {len(commands)} commands; expected "
            "one for all of them, or one for each"
        )


def _place(groups: list[dict[str, Any]], name: str) -> tuple[int, int]:
    """The number of a group's first user among all, and how many it has."""
    user = 0
    for group in groups:
        if group["name"] == name:
            return user, group["count"]
        user += group["count"]
    raise AssertionError(name)


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
            "`real = true`"
        )
    if name not in names:
        raise InputError(f"the scenario has no user `{name}`{nearest(name, names)}")
    return name


def _make_real(groups: list[dict[str, Any]], name: str) -> None:
    """One phone of a simulated group becomes real; the others follow it in a group of their own."""
    place = next(at for at, group in enumerate(groups) if group["name"] == name)
    group = groups[place]
    if _is_external(group):
        return
    if group["count"] > 1:
        others = copy.deepcopy(group)
        others["name"], others["count"] = f"{name}, simulated", group["count"] - 1
        groups.insert(place + 1, others)
        group["count"] = 1
    group["traffic"] = EXTERNAL


def _is_external(group: dict[str, Any]) -> bool:
    """Whether packets of all phones of a group come from outside, as the scenario says."""
    traffic = group.get("traffic")
    external = traffic == EXTERNAL or (isinstance(traffic, dict) and EXTERNAL in traffic)
    return external or bool(group.get("real"))
