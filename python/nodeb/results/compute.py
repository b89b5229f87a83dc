"""Functions that compute metrics from tables: means, quantiles, shares of a channel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from nodeb.base.table import unique
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


def mean_of(table: str, name: str) -> Callable[[Group], Array | None]:

    def of(group: Group) -> Array | None:
        return group.mean(table, group.column(table, name)) if group.has(table, name) else None

    return of


def of_users(
    name: str, of: Callable[[Array], Array], minimum: int = 2
) -> Callable[[Group], Array | None]:

    def found(group: Group) -> Array | None:
        values = group.column("flows", name)
        return None if len(values) < minimum * len(group.run) else group.each("flows", values, of)

    return found


def edge(rows: Array) -> Array:
    return np.asarray(np.quantile(rows, 0.05, axis=1))


def _quantile_of_all(share: float) -> Callable[[Array], Array]:
    """Users without a time count as slowest; the quantile is NaN if it falls on one of them."""

    def of(rows: Array) -> Array:
        known = np.where(np.isfinite(rows), rows, math.inf)
        found = np.quantile(known, share, axis=1, method="inverted_cdf")
        return np.where(np.isfinite(found), found, math.nan)

    return of


def downloads(share: float) -> Callable[[Group], Array | None]:
    quantile = of_users("download_s", _quantile_of_all(share))

    def of(group: Group) -> Array | None:
        if (group.column("flows", "endless") > 0).any():
            return None
        found = quantile(group)
        return None if found is None or not np.isfinite(found).any() else found

    return of


def _cell(*names: str) -> Callable[[Group], list[Array] | None]:

    def of(group: Group) -> list[Array] | None:
        bearers = group.tables["bearers"]
        alone = len(bearers) == len(unique(bearers["run"]))
        many = len(phones(group.tables["flows"])) > 1
        return group.bearers(*names) if group.name == ALL and alone and many else None

    return of


def rate(group: Group) -> Array | None:
    found = _cell("bytes_delivered", "end_s")(group)
    return None if found is None else _share(8.0 * found[0], found[1])


def busy(group: Group) -> Array | None:
    """Returns the share of time for which the shared channel transmits."""
    found = _cell("active_s", "end_s", "bytes_delivered")(group)
    if found is None:
        return None
    active, ended, delivered = found
    busy = np.where((active == 0) & (delivered > 0), math.nan, _share(active, ended))
    return busy if np.isfinite(busy).any() else None


def utilization(group: Group) -> Array | None:
    if rate(Group(group.tables)) is not None:
        return None
    return group.mean("flows", group.column("flows", "utilization"))


def _share(part: Array, whole: Array) -> Array:
    share = np.full(len(whole), math.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def fairness(group: Group) -> Array | None:

    def index(rates: Array) -> Array:
        found = np.full(len(rates), math.nan)
        known = np.isfinite(rates).all(axis=1)  # A run without duration has no rates (NaN).
        if rates.shape[1] > 1 and known.any():
            found[known] = jain_indices(rates[known])
        return found

    found = group.each("flows", group.column("flows", "received_bps"), index)
    return found if np.isfinite(found).any() else None


def complete(group: Group) -> Array | None:
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
    """Returns true if groups of the group `all` differ: some load one file per user, others
    more."""
    if group.name != ALL:
        return False
    names = group.select("flows", np.asarray(group.tables["flows"]["group"]))
    counts = [loads[names == name].max() for name in unique(names)]
    return any(one > 1 for one in counts) and any(one == 1 for one in counts)


def queueing(group: Group) -> Array:
    """Returns the users' mean of the mean round trip minus the shortest round trip, s."""
    rtt = group.column("flows", "rtt_mean_s") - group.column("flows", "rtt_min_s")
    return group.mean("flows", rtt)


def block_errors(group: Group) -> Array | None:
    sums = group.bearers("blocks", "blocks_failed")
    if sums is None or not sums[0].any():
        return None
    return _share(sums[1], sums[0])


def switching(numerator: Callable[[Group], Array], per: str) -> Callable[[Group], Array | None]:
    """Returns a function for the users' mean of a quantity per second or per transfer.

    The function returns `None` without this table, and for uploads of phones that also download.
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
