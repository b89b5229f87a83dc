"""Who is in a picture of many: each of few, or a few of all kinds."""

from __future__ import annotations

import numpy as np

from nodeb.errors import InputError
from nodeb.results.result import Result

__all__ = ["TOGETHER", "chosen", "told", "user_name"]

TOGETHER = 6
"""So many curves can be told apart in one picture; of more users so many have panels."""


def chosen(result: Result, user: int | None = None, run: int = 0) -> list[int]:
    """The users to show: one, all of a few, or some from the slowest to the fastest.

    Of many users each group has its share, one at least, as far as there are not more groups than
    `TOGETHER`. Within a group they are those at equal steps in the order of `received_bps`.

    Raises:
        InputError: there is no such user.
    """
    known = [int(n) for n in np.unique(result.flows["user"])]
    if user is not None:
        if user not in known:
            raise InputError(f"there is no user {user} (users: {', '.join(map(str, known))})")
        return [user]
    if len(known) <= TOGETHER:
        return known
    mine = result.flows.where(np.asarray(result.flows["run"]) == run)
    by_rate = np.argsort(np.asarray(mine["received_bps"], dtype=float), kind="stable")
    ordered = [
        (str(mine["group"][row]), int(mine["user"][row]))  # from the slowest to the fastest
        for row in by_rate.tolist()
    ]
    groups: dict[str, list[int]] = {}
    for row in np.argsort(mine["user"], kind="stable").tolist():
        groups.setdefault(str(mine["group"][row]), [])
    if len(groups) > TOGETHER:
        return _spread([number for _, number in ordered], TOGETHER)
    for name, number in ordered:
        groups[name].append(number)
    shares = _shares({name: len(users) for name, users in groups.items()})
    return [n for name, users in groups.items() for n in _spread(users, shares[name])]


def told(result: Result, run: int = 0) -> str:
    """A sentence on who is shown of many and why; nothing where all are."""
    known = len(np.unique(result.flows["user"]))
    shown = len(chosen(result, None, run))
    if shown == known:
        return ""
    return (
        f"Shown are {shown} of {known} users: of each group some from the slowest to the fastest, "
        "by what they received in this replication."
    )


def user_name(result: Result, user: int) -> str:
    """A user's name in a legend: its number and its group."""
    flows = result.flows
    group = np.asarray(flows["group"])[np.asarray(flows["user"]) == user]
    return f"user {user} ({group[0]})" if len(group) else f"user {user}"


def _shares(sizes: dict[str, int]) -> dict[str, int]:
    """How many of each group are shown: one each, and the rest where the most are left out."""
    shares = dict.fromkeys(sizes, 1)
    while sum(shares.values()) < min(TOGETHER, sum(sizes.values())):
        shares[max(sizes, key=lambda name: sizes[name] / shares[name])] += 1
    return shares


def _spread(users: list[int], count: int) -> list[int]:
    """So many of them at equal steps, the ends included; of one the middle."""
    if count == 1:
        return [users[len(users) // 2]]
    return [users[round(at)] for at in np.linspace(0, len(users) - 1, count).tolist()]
