"""Selection of users for a figure: all if there are few, otherwise some of each group."""

from __future__ import annotations

import numpy as np

from nodeb.errors import InputError
from nodeb.results.result import Result

__all__ = ["TOGETHER", "chosen", "selection_note", "user_name"]

TOGETHER = 6
"""Maximum number of users whose curves share axes; of more users, this many have panels."""


def chosen(result: Result, user: int | None = None, run: int = 0) -> list[int]:
    """The selection has at least one user of each group, unless there are more groups than
    `TOGETHER`. Within a group, users are selected at equal steps in the order of `received_bps`
    in replication `run`."""
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
        # The users are listed from the slowest to the fastest.
        (str(mine["group"][row]), int(mine["user"][row]))
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


def selection_note(result: Result, run: int = 0) -> str:
    known = len(np.unique(result.flows["user"]))
    shown = len(chosen(result, None, run))
    if shown == known:
        return ""
    return (
        f"Shown are {shown} of {known} users, from the slowest to the fastest of their groups, "
        "by what they received in this replication."
    )


def user_name(result: Result, user: int) -> str:
    flows = result.flows
    group = np.asarray(flows["group"])[np.asarray(flows["user"]) == user]
    return f"user {user} ({group[0]})" if len(group) else f"user {user}"


def _shares(sizes: dict[str, int]) -> dict[str, int]:
    """Returns how many users of each group are shown: at least one, and more of larger groups."""
    shares = dict.fromkeys(sizes, 1)
    while sum(shares.values()) < min(TOGETHER, sum(sizes.values())):
        shares[max(sizes, key=lambda name: sizes[name] / shares[name])] += 1
    return shares


def _spread(users: list[int], count: int) -> list[int]:
    """Returns `count` users at equal steps, including the first and the last.

    If `count` is 1, it is the user in the middle.
    """
    if count == 1:
        return [users[len(users) // 2]]
    return [users[round(at)] for at in np.linspace(0, len(users) - 1, count).tolist()]
