"""How tables of results give metrics: means and quantiles over users, shares of a channel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from nodeb.results.group import ALL, Array, Group
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
"""Users from which on there is a fifth percentile of them."""


def mean_of(table: str, name: str) -> Callable[[Group], Array | None]:
    """The mean over users of a column."""

    def of(group: Group) -> Array | None:
        return group.mean(table, group.column(table, name)) if group.has(table, name) else None

    return of


def of_users(
    name: str, of: Callable[[Array], Array], least: int = 2
) -> Callable[[Group], Array | None]:
    """A function of the values that the users of each replication have in a column of `flows`.

    Args:
        name: the column.
        of: takes a row of values for each replication.
        least: users from which on there is a value.
    """

    def found(group: Group) -> Array | None:
        values = group.column("flows", name)
        return None if len(values) < least * len(group.run) else group.each("flows", values, of)

    return found


def edge(rows: Array) -> Array:
    """What 95 of 100 users exceed, for each row."""
    return np.asarray(np.quantile(rows, 0.05, axis=1))


def _quantile_of_all(share: float) -> Callable[[Array], Array]:
    """A quantile of times in which who has none comes last; NaN where it is one of those."""

    def of(rows: Array) -> Array:
        known = np.where(np.isfinite(rows), rows, math.inf)
        found = np.quantile(known, share, axis=1, method="inverted_cdf")
        return np.where(np.isfinite(found), found, math.nan)

    return of


def downloads(share: float) -> Callable[[Group], Array | None]:
    """A quantile of the users' downloads; None where traffic has no end, or nobody finished."""
    quantile = of_users("download_s", _quantile_of_all(share))

    def of(group: Group) -> Array | None:
        if (group.column("flows", "endless") > 0).any():
            return None
        found = quantile(group)
        return None if found is None or not np.isfinite(found).any() else found

    return of


def _cell(*names: str) -> Callable[[Group], list[Array] | None]:
    """Columns of the channel that all users of a replication share; None where there is none."""

    def of(group: Group) -> list[Array] | None:
        bearers = group.tables["bearers"]
        alone = len(bearers) == len(np.unique(bearers["run"]))
        many = len(group.tables["flows"]) > len(bearers)
        return group.bearers(*names) if group.users is None and alone and many else None

    return of


def rate(group: Group) -> Array | None:
    """Bit rate of the channel that all users share; None where there is none."""
    found = _cell("bytes_delivered", "end_s")(group)
    return None if found is None else _share(8.0 * found[0], found[1])


def busy(group: Group) -> Array | None:
    """None where the channel delivers and does not count its time on the air, as FACH."""
    found = _cell("active_s", "end_s", "bytes_delivered")(group)
    if found is None:
        return None
    active, ended, delivered = found
    busy = np.where((active == 0) & (delivered > 0), math.nan, _share(active, ended))
    return busy if np.isfinite(busy).any() else None


def utilization(group: Group) -> Array | None:
    """None where others have a part of the channel: what one of them uses says little."""
    if rate(Group(group.tables)) is not None:
        return None
    return group.mean("flows", group.column("flows", "utilization"))


def _share(part: Array, whole: Array) -> Array:
    """Part by whole; NaN where the whole is nothing."""
    share = np.full(len(whole), math.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def fairness(group: Group) -> Array | None:
    """Jain's index of the users' rates; None where no replication has two users."""

    def index(rates: Array) -> Array:
        found = np.full(len(rates), math.nan)
        known = np.isfinite(rates).all(axis=1)  # there are no rates in a run of no time
        if rates.shape[1] > 1 and known.any():
            found[known] = jain_indices(rates[known])
        return found

    found = group.each("flows", group.column("flows", "received_bps"), index)
    return found if np.isfinite(found).any() else None


def complete(group: Group) -> Array | None:
    """None where traffic has no end: nothing of it is ever complete."""
    endless = group.column("flows", "endless") > 0
    if endless.all():
        return None
    return group.mean("flows", np.where(endless, math.nan, group.column("flows", "complete")))


def loads(name: str) -> Callable[[Group], Array | None]:
    """None where no user loads more than one thing, or some load one file and others many pages.

    The download time says it for users who load one thing.
    """

    def of(group: Group) -> Array | None:
        loads = group.column("flows", "loads")
        if not (loads > 1).any() or _are_mixed(group, loads):
            return None
        return group.mean("flows", group.column("flows", name))

    return of


def _are_mixed(group: Group, loads: Array) -> bool:
    """Whether some of the groups that load things load one each, and others more."""
    if group.name != ALL:
        return False
    names = np.asarray(group.tables["flows"]["group"])
    most = [loads[names == name].max() for name in np.unique(names)]
    return any(one > 1 for one in most) and any(one == 1 for one in most)


def queueing(group: Group) -> Array:
    """Mean round trip less the shortest."""
    rtt = group.column("flows", "rtt_mean_s") - group.column("flows", "rtt_min_s")
    return group.mean("flows", rtt)


def block_errors(group: Group) -> Array | None:
    """Share of blocks that failed; None where others share the bearers, or none were sent."""
    sums = group.bearers("blocks", "blocks_failed")
    if sums is None or not sums[0].any():
        return None
    return _share(sums[1], sums[0])


def switching(numerator: Callable[[Group], Array], per: str) -> Callable[[Group], Array | None]:
    """A quantity of channel switching per s of simulated time, or per completed transfer."""

    def of(group: Group) -> Array | None:
        if not group.has("channels"):
            return None
        below = group.column("flows", "transfers") if per == "transfers" else _time(group)
        return group.mean("channels", _share(numerator(group), below))

    return of


def channels(*names: str) -> Callable[[Group], Array]:
    """A sum of columns of the table `channels`."""

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
