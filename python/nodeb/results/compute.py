"""Functions that compute metrics from tables: means, quantiles, shares of a channel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from nodeb.results.group import ALL, Array, Group, is_mixed, phones
from nodeb.stats import jain_indices

__all__ = [
    "EDGE_USERS",
    "block_errors",
    "busy",
    "channels",
    "complete",
    "downloads",
    "edge",
    "fairness",
    "held",
    "loads",
    "mean_of",
    "of_users",
    "queueing",
    "rate",
    "switches",
    "switching",
    "utilization",
]

EDGE_USERS = 20
"""Minimum number of users for a fifth percentile over users."""


def mean_of(table: str, name: str) -> Callable[[Group], Array | None]:
    """Returns a function that computes the users' mean of a column for each replication.

    The function returns `None` if the tables lack the column.
    """

    def of(group: Group) -> Array | None:
        return group.mean(table, group.column(table, name)) if group.has(table, name) else None

    return of


def of_users(
    name: str, of: Callable[[Array], Array], minimum: int = 2
) -> Callable[[Group], Array | None]:
    """Returns a function that reduces the users' values in a column to one per replication.

    The function returns `None` if there are fewer than `minimum` users.

    Args:
        name: column of `flows`.
        of: reduces rows of values, one row per replication.
        minimum: minimum number of users per replication, on average.
    """

    def found(group: Group) -> Array | None:
        values = group.column("flows", name)
        return None if len(values) < minimum * len(group.run) else group.each("flows", values, of)

    return found


def edge(rows: Array) -> Array:
    """Returns the fifth percentile of each row: the value that 95 of 100 users exceed."""
    return np.asarray(np.quantile(rows, 0.05, axis=1))


def _quantile_of_all(share: float) -> Callable[[Array], Array]:
    """Returns a function that computes a quantile of the users' times for each replication.

    Users without a time count as slowest; the quantile is NaN if it falls on one of them.
    """

    def of(rows: Array) -> Array:
        known = np.where(np.isfinite(rows), rows, math.inf)
        found = np.quantile(known, share, axis=1, method="inverted_cdf")
        return np.where(np.isfinite(found), found, math.nan)

    return of


def downloads(share: float) -> Callable[[Group], Array | None]:
    """Returns a function that computes a quantile of download times for each replication.

    The function returns `None` for fewer than two users, if a user's traffic is endless, or if in
    every replication the quantile falls on a user whose download is unfinished.
    """
    quantile = of_users("download_s", _quantile_of_all(share))

    def of(group: Group) -> Array | None:
        if (group.column("flows", "endless") > 0).any():
            return None
        found = quantile(group)
        return None if found is None or not np.isfinite(found).any() else found

    return of


def _cell(*names: str) -> Callable[[Group], list[Array] | None]:
    """Returns a function that returns columns `names` of the channel that all users share.

    The function returns `None` if there is no such channel, or if the group is not all users.
    """

    def of(group: Group) -> list[Array] | None:
        bearers = group.tables["bearers"]
        alone = len(bearers) == len(np.unique(bearers["run"]))
        many = len(phones(group.tables["flows"])) > 1
        return group.bearers(*names) if group.name == ALL and alone and many else None

    return of


def rate(group: Group) -> Array | None:
    """Returns the bit rate of the channel that all users share; `None` without such a channel."""
    found = _cell("bytes_delivered", "end_s")(group)
    return None if found is None else _share(8.0 * found[0], found[1])


def busy(group: Group) -> Array | None:
    """Returns the share of time for which the shared channel transmits.

    Returns `None` if there is no such channel, or if the channel delivers data but does not count
    its time on the air, as the FACH.
    """
    found = _cell("active_s", "end_s", "bytes_delivered")(group)
    if found is None:
        return None
    active, ended, delivered = found
    busy = np.where((active == 0) & (delivered > 0), math.nan, _share(active, ended))
    return busy if np.isfinite(busy).any() else None


def utilization(group: Group) -> Array | None:
    """Returns the users' mean channel utilization; `None` if users share a channel.

    The share of a shared channel that one user occupies says little about that user.
    """
    if rate(Group(group.tables)) is not None:
        return None
    return group.mean("flows", group.column("flows", "utilization"))


def _share(part: Array, whole: Array) -> Array:
    """Divides `part` by `whole`, element by element; NaN where the whole is 0."""
    share = np.full(len(whole), math.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def fairness(group: Group) -> Array | None:
    """Returns Jain's index of the users' rates; `None` if no replication has two users."""

    def index(rates: Array) -> Array:
        found = np.full(len(rates), math.nan)
        known = np.isfinite(rates).all(axis=1)  # A run without duration has no rates (NaN).
        if rates.shape[1] > 1 and known.any():
            found[known] = jain_indices(rates[known])
        return found

    found = group.each("flows", group.column("flows", "received_bps"), index)
    return found if np.isfinite(found).any() else None


def complete(group: Group) -> Array | None:
    """Returns the share of complete transfers; `None` if all traffic is endless."""
    endless = group.column("flows", "endless") > 0
    if endless.all():
        return None
    return group.mean("flows", np.where(endless, math.nan, group.column("flows", "complete")))


def loads(name: str) -> Callable[[Group], Array | None]:
    """Returns a function that computes the users' mean of a column of load times.

    The function returns `None` if no user loads more than one file or page, because the download
    time is then the load time. For the group of all users, it also returns `None` if some groups
    load one file per user and others load more.
    """

    def of(group: Group) -> Array | None:
        loads = group.column("flows", "loads")
        if not (loads > 1).any() or _are_mixed(group, loads):
            return None
        return group.mean("flows", group.column("flows", name))

    return of


def _are_mixed(group: Group, loads: Array) -> bool:
    """Returns true if groups of the group `all` differ: some load one file per user, others more.

    Returns false for any other group.
    """
    if group.name != ALL:
        return False
    names = group.select("flows", np.asarray(group.tables["flows"]["group"]))
    counts = [loads[names == name].max() for name in np.unique(names)]
    return any(one > 1 for one in counts) and any(one == 1 for one in counts)


def queueing(group: Group) -> Array:
    """Returns the users' mean of the mean round trip minus the shortest round trip, s."""
    rtt = group.column("flows", "rtt_mean_s") - group.column("flows", "rtt_min_s")
    return group.mean("flows", rtt)


def block_errors(group: Group) -> Array | None:
    """Returns the share of failed blocks.

    Returns `None` if no blocks were sent, or for a group of some users if users share bearers.
    """
    sums = group.bearers("blocks", "blocks_failed")
    if sums is None or not sums[0].any():
        return None
    return _share(sums[1], sums[0])


def switching(numerator: Callable[[Group], Array], per: str) -> Callable[[Group], Array | None]:
    """Returns a function for the users' mean of a quantity per second or per transfer.

    The quantity comes from the table `channels`. The function returns `None` without this table,
    and for uploads of phones that also download.

    Args:
        numerator: function for the quantity of each user.
        per: divisor: `s` for the time in all channel states, `transfers` for the number of complete
            transfers (in the group of all users: in both directions).
    """

    def of(group: Group) -> Array | None:
        if not group.has("channels"):
            return None
        below = _transfers(group) if per == "transfers" else _time(group)
        if len(below) != len(group.at("channels")):
            return None  # Uploads of phones that also download have no channels of their own.
        return group.mean("channels", _share(numerator(group), below))

    return of


def _transfers(group: Group) -> Array:
    """Returns the number of completed transfers of each user.

    For all users, if there are downloads and uploads, it is the number of each phone in both
    directions.
    """
    flows, of_phones = group.tables["flows"], group.tables["channels"]
    if group.name != ALL or not is_mixed(flows):
        return group.column("flows", "transfers")
    keys, of_flows = (
        np.asarray(table["run"]) * (np.max(flows["user"]) + 1) + table[phone]
        for table, phone in ((of_phones, "user"), (flows, "phone"))
    )
    order = np.argsort(keys)
    at = order[np.searchsorted(keys[order], of_flows)]
    sums = np.bincount(at, np.asarray(flows["transfers"], np.float64), len(keys))
    return sums.astype(np.float64)


def channels(*names: str) -> Callable[[Group], Array]:
    """Returns a function that adds up columns of the table `channels`, row by row."""

    def of(group: Group) -> Array:
        total = group.column("channels", names[0])
        for name in names[1:]:
            total = total + group.column("channels", name)
        return total

    return of


_HELD = ("setting_up_s", "dch_s", "releasing_s")
held = channels(*_HELD)
switches = channels("set_ups", "releases")


def _time(group: Group) -> Array:
    return held(group) + channels("fach_s", "pch_s", "paging_s")(group)
