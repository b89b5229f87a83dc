"""The metrics: what summaries, sweeps and comparisons say of replications.

Each is a line of `METRICS`: its name, unit and meaning, what it is called, which way is better,
the range of its values, and how the tables of results give it. A metric has one value for each
replication and group of users; users of one replication share a cell and are never taken for
independent of each other. Tables are read when somebody asks, so a new metric needs no new
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nodeb.base.arguments import as_texts
from nodeb.base.functions import ask, numbers
from nodeb.base.table import Table, changes
from nodeb.errors import InputError, nearest
from nodeb.results import glossary
from nodeb.stats import jain_indices

__all__ = [
    "ALL",
    "METRICS",
    "Group",
    "Metric",
    "add",
    "by_run",
    "chosen",
    "covered",
    "covered_by_run",
]

ALL = "all"
"""Name of the group of all users."""
EDGE_USERS = 20
"""Users from which on there is a fifth percentile of them."""

Array = NDArray[np.float64]
Better = Literal["more", "less", ""]


class Group:
    """A group of users in the tables of some replications.

    Args:
        tables: those of the replications, in order of the run; `flows` at least.
        name: of the group; `ALL` for all users.
    """

    def __init__(self, tables: Mapping[str, Table], name: str = ALL) -> None:
        self.name = name
        self.tables = tables
        flows = tables["flows"]
        self.run = changes(flows["run"])
        """The replications in which it has users."""
        self.users: NDArray[np.int64] | None = None
        """Their numbers; None for all."""
        if name != ALL:
            of_group = flows["group"] == name
            self.users = np.unique(flows["user"][of_group])
            self.run = changes(flows["run"][of_group])
        self._at: dict[str, NDArray[np.intp]] = {}
        self._mine: dict[str, NDArray[np.bool_]] = {}

    def has(self, table: str, *columns: str) -> bool:
        """Whether the replications have a table with these columns."""
        found = self.tables.get(table)
        return found is not None and all(name in found.columns for name in columns)

    def column(self, table: str, name: str) -> Array:
        """A column of a table with a row for each user and run: the rows of this group."""
        found = np.asarray(self.tables[table][name], dtype=np.float64)
        return found if self.users is None else found[self._rows(table, self.users)]

    def _rows(self, table: str, users: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows of a table are of these users."""
        if table not in self._mine:
            self._mine[table] = np.isin(self.tables[table]["user"], users)
        return self._mine[table]

    def at(self, table: str) -> NDArray[np.intp]:
        """To which of the runs each of these rows belongs."""
        if table not in self._at:
            runs = self.tables[table]["run"]
            rows = runs if self.users is None else runs[self._rows(table, self.users)]
            self._at[table] = np.searchsorted(self.run, rows)
        return self._at[table]

    def mean(self, table: str, values: Array) -> Array:
        """Mean over users for each run; NaN for a run without any value."""
        known, at = np.isfinite(values), self.at(table)
        total = np.bincount(at[known], weights=values[known], minlength=len(self.run))
        count = np.bincount(at[known], minlength=len(self.run))
        means = np.full(len(self.run), math.nan)
        np.divide(total, count, out=means, where=count > 0)
        return means

    def each(self, table: str, values: Array, of: Callable[[Array], Array]) -> Array:
        """A function of the values of all users for each run.

        Args:
            table: where the values are from.
            values: one of each row of this group.
            of: takes runs with equally many users together, a row of values for each.
        """
        at = self.at(table)
        users = np.bincount(at, minlength=len(self.run))
        begins, order = np.cumsum(users) - users, np.argsort(at, kind="stable")
        found = np.full(len(self.run), math.nan)
        for many in np.unique(users):
            runs = np.flatnonzero(users == many)
            rows = of(values[order[begins[runs][:, np.newaxis] + np.arange(many)]])
            if np.shape(rows) != runs.shape:
                raise InputError(
                    f"a function of `each` returned values of shape {np.shape(rows)} for "
                    f"{len(runs)} runs; expected one for each, as of `lambda x: x.max(axis=1)`"
                )
            found[runs] = rows
        return found

    def bearers(self, *names: str) -> list[Array] | None:
        """Sums by run of columns of the bearers of this group alone; None where others share them.

        A dedicated channel has its user's number.
        """
        table = self.tables["bearers"]
        runs, numbers = table["run"], table["bearer"]
        mine = np.isin(runs, self.run)
        if self.users is not None:
            everybody = np.unique(self.tables["flows"]["user"])
            if not np.array_equal(np.unique(numbers), everybody):
                return None
            mine &= np.isin(numbers, self.users)
        at = np.searchsorted(self.run, runs[mine])
        return [self._sum(at, table[name][mine]) for name in names]

    def _sum(self, at: NDArray[np.intp], values: NDArray[Any]) -> Array:
        """Sums of values by run."""
        return np.bincount(at, values.astype(np.float64), len(self.run)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Metric:
    """What is said of a group of users in each replication."""

    name: str
    """Its name in tables."""
    unit: str
    """Its unit; 1 for a ratio, empty for a count."""
    meaning: str
    """What it says, a sentence."""
    label: str
    """What it is called where people read."""
    of: Callable[[Group], Array | None]
    """Its values by run, NaN where it has none; None where it says nothing."""
    better: Better = ""
    """Which way is better for the user; empty where that depends."""
    low: float = 0.0
    """No mean is below."""
    high: float = math.inf
    """No mean is above."""
    percent: bool = False
    """Whether people read it in per cent."""
    can_fail: bool = False
    """Whether it says something that nobody has it."""
    column: tuple[str, str] | None = None
    """Table and column of which it is the users' mean; None where it is calculated otherwise."""
    completed: bool = False
    """Whether only complete transfers have it, so that endless traffic is not expected to."""


def by_run(tables: Mapping[str, Any]) -> Table:
    """Each metric by replication: one row per group of users and run, groups first.

    Columns `group`, `run` and the metrics, NaN where one has no value. The only group of a scenario
    is that of all.

    Args:
        tables: of replications, in order of the run.
    """
    found = {k: one if isinstance(one, Table) else Table(one) for k, one in tables.items()}
    names = found["flows"].distinct("group")
    groups = [Group(found, name) for name in ([*names, ALL] if len(names) > 1 else [ALL])]
    values = [{name: _asked(one, group) for name, one in METRICS.items()} for group in groups]
    said = [name for name in METRICS if any(one[name] is not None for one in values)]
    return Table.concat(_rows(group, one, said) for group, one in zip(groups, values, strict=True))


def _asked(metric: Metric, group: Group) -> Array | None:
    """Its values by run; those of our own are right."""
    if metric.of in OURS:
        return metric.of(group)
    runs = (len(group.run),)

    def right(found: Any) -> bool:
        return found is None or (numbers(found) and np.shape(found) == runs)

    expected = "an array with a number for each replication, or None"
    found = ask(metric.of, f"metric `{metric.name}`", expected, right, group)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _rows(group: Group, values: Mapping[str, Array | None], said: list[str]) -> dict[str, Any]:
    nothing = np.full(len(group.run), math.nan)
    return {
        "group": np.full(len(group.run), group.name),
        "run": group.run,
        **{name: nothing if (one := values[name]) is None else one for name in said},
    }


def covered(metric: Metric, group: Group, values: Array) -> float:
    """Which share of those who should have a value of a metric do have one, 1 for all.

    Of a users' mean these are the users of all replications, of other metrics the replications.
    Below 1 the mean is one over survivors: who did not finish, or received nothing, is left out.

    Args:
        metric: one that the tables of the group give.
        group: the users.
        values: the metric by run.
    """
    has, _ = _who(metric, group, values)
    return float(has.mean()) if has.size else 1.0


def covered_by_run(metric: Metric, group: Group, values: Array) -> Array:
    """The same share in each replication."""
    has, at = _who(metric, group, values)
    count = np.bincount(at, minlength=len(group.run))
    shares = np.ones(len(group.run))
    np.divide(np.bincount(at, has, len(group.run)), count, out=shares, where=count > 0)
    return shares


def _who(metric: Metric, group: Group, values: Array) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Whether each who should have a value has one, and the replication of each."""
    if metric.column is None:
        return np.isfinite(values), np.arange(len(values))
    table, name = metric.column
    has, at = np.isfinite(group.column(table, name)), group.at(table)
    if not metric.completed:
        return has, at
    ends = group.column("flows", "endless") == 0
    return has[ends], at[ends]


# --- how the tables give them ---


def _mean_of(table: str, name: str) -> Callable[[Group], Array | None]:
    """The mean over users of a column."""

    def of(group: Group) -> Array | None:
        return group.mean(table, group.column(table, name)) if group.has(table, name) else None

    return of


def _of_users(
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


def _edge(rows: Array) -> Array:
    return np.asarray(np.quantile(rows, 0.05, axis=1))


def _quantile_of_all(share: float) -> Callable[[Array], Array]:
    """A quantile of times in which who has none comes last; NaN where it is one of those."""

    def of(rows: Array) -> Array:
        known = np.where(np.isfinite(rows), rows, math.inf)
        found = np.quantile(known, share, axis=1, method="inverted_cdf")
        return np.where(np.isfinite(found), found, math.nan)

    return of


def _downloads(share: float) -> Callable[[Group], Array | None]:
    """A quantile of the users' downloads; None where traffic has no end, or nobody finished."""
    quantile = _of_users("download_s", _quantile_of_all(share))

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


def _rate(group: Group) -> Array | None:
    found = _cell("bytes_delivered", "end_s")(group)
    return None if found is None else _share(8.0 * found[0], found[1])


def _busy(group: Group) -> Array | None:
    """None where the channel delivers and does not count its time on the air, as FACH."""
    found = _cell("active_s", "end_s", "bytes_delivered")(group)
    if found is None:
        return None
    active, ended, delivered = found
    busy = np.where((active == 0) & (delivered > 0), math.nan, _share(active, ended))
    return busy if np.isfinite(busy).any() else None


def _utilization(group: Group) -> Array | None:
    """None where others have a part of the channel: what one of them uses says little."""
    if _rate(Group(group.tables)) is not None:
        return None
    return group.mean("flows", group.column("flows", "utilization"))


def _share(part: Array, whole: Array) -> Array:
    """Part by whole; NaN where the whole is nothing."""
    share = np.full(len(whole), math.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _fairness(group: Group) -> Array | None:
    def index(rates: Array) -> Array:
        found = np.full(len(rates), math.nan)
        known = np.isfinite(rates).all(axis=1)  # there are no rates in a run of no time
        if rates.shape[1] > 1 and known.any():
            found[known] = jain_indices(rates[known])
        return found

    found = group.each("flows", group.column("flows", "received_bps"), index)
    return found if np.isfinite(found).any() else None


def _complete(group: Group) -> Array | None:
    """None where traffic has no end: nothing of it is ever complete."""
    endless = group.column("flows", "endless") > 0
    if endless.all():
        return None
    return group.mean("flows", np.where(endless, math.nan, group.column("flows", "complete")))


def _loads(name: str) -> Callable[[Group], Array | None]:
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


def _queueing(group: Group) -> Array:
    rtt = group.column("flows", "rtt_mean_s") - group.column("flows", "rtt_min_s")
    return group.mean("flows", rtt)


def _block_errors(group: Group) -> Array | None:
    sums = group.bearers("blocks", "blocks_failed")
    if sums is None or not sums[0].any():
        return None
    return _share(sums[1], sums[0])


def _switching(numerator: Callable[[Group], Array], per: str) -> Callable[[Group], Array | None]:
    """A quantity of channel switching per s of simulated time, or per completed transfer."""

    def of(group: Group) -> Array | None:
        if not group.has("channels"):
            return None
        below = group.column("flows", "transfers") if per == "transfers" else _time(group)
        return group.mean("channels", _share(numerator(group), below))

    return of


def _channels(*names: str) -> Callable[[Group], Array]:
    """A sum of columns of the table `channels`."""

    def of(group: Group) -> Array:
        total = group.column("channels", names[0])
        for name in names[1:]:
            total = total + group.column("channels", name)
        return total

    return of


_HELD = ("setting_up_s", "dch_s", "releasing_s")
_held = _channels(*_HELD)
_switches = _channels("set_ups", "releases")


def _time(group: Group) -> Array:
    held = _held(group)
    return held + _channels("fach_s", "pch_s", "paging_s")(group)


# --- the table ---


def _from(table: str, name: str, label: str, better: Better = "", **more: Any) -> Metric:
    """The metric that is the users' mean of a column."""
    column = glossary.tables()[table].columns[name]
    of = more.pop("of", _mean_of(table, name))
    return Metric(
        name, column.unit, column.meaning, label, of, better, column=(table, name), **more
    )


SHARE: dict[str, Any] = {"high": 1.0, "percent": True}
DONE: dict[str, Any] = {"completed": True}


def _table() -> dict[str, Metric]:
    lines = (
        _from("flows", "received_bps", "received by the phone", "more"),
        Metric(
            "received_bps_p5",
            "bit/s",
            "What 95 of 100 users of a replication exceed in `received_bps`; from 20 users on.",
            "received at the cell's edge (5 %)",
            _of_users("received_bps", _edge, EDGE_USERS),
            "more",
        ),
        Metric(
            "received_bps_p50",
            "bit/s",
            "What half of the users of a replication exceed in `received_bps`.",
            "received by the median phone",
            _of_users("received_bps", lambda rows: np.median(rows, axis=1)),
            "more",
        ),
        Metric(
            "cell_bps",
            "bit/s",
            "What a channel that users share delivers to all of them together, over time.",
            "delivered by the cell",
            _rate,
            "more",
        ),
        Metric(
            "cell_busy",
            "1",
            "Share of time in which a channel that users share transmits.",
            "time the cell is busy",
            _busy,
            **SHARE,
        ),
        Metric(
            "served",
            "1",
            "Share of the users to whom something was delivered.",
            "phones that received something",
            _of_users("delivered_bytes", lambda rows: (rows > 0).mean(axis=1)),
            "more",
            **SHARE,
        ),
        _from("flows", "application_bps", "application bit rate", "more", can_fail=True, **DONE),
        _from("flows", "retransmit_bps", "radio bit rate, repetitions too", **DONE),
        _from("flows", "utilization", "channel utilization", percent=True, of=_utilization, **DONE),
        _from("flows", "download_s", "download time", "less", can_fail=True, **DONE),
        Metric(
            "download_p50_s",
            "s",
            "The time in which half of the users of a replication have their download; who did "
            "not finish comes last.",
            "download time of the median phone",
            _downloads(0.5),
            "less",
        ),
        Metric(
            "download_p95_s",
            "s",
            "The same of 95 of 100 users.",
            "download time, 95 of 100 phones",
            _downloads(0.95),
            "less",
        ),
        _from("flows", "transfer_s", "transfer time", "less", can_fail=True, **DONE),
        _from("flows", "transfer_delay_mean_s", "mean delay of transfers", "less", **DONE),
        _from("flows", "load_median_s", "load time, median", "less", of=_loads("load_median_s")),
        _from("flows", "load_p95_s", "load time, 95 of 100", "less", of=_loads("load_p95_s")),
        Metric(
            "stalled_users",
            "1",
            "Share of the users of a replication who had a stall.",
            "phones that stalled",
            _of_users("stalls", lambda rows: (rows > 0).mean(axis=1)),
            "less",
            **SHARE,
        ),
        _from("flows", "stalls", "stalls (1 s and more)", "less"),
        _from("flows", "stalled_s", "time stalled", "less"),
        _from("flows", "rtt_mean_s", "mean round-trip time", "less"),
        Metric(
            "queueing_delay_s",
            "s",
            "Mean round trip less the shortest that the connection measured: what queues, "
            "repetitions and the wait for the scheduler add (base delay of RFC 6817, 2.4.1).",
            "queueing delay",
            _queueing,
            "less",
            column=("flows", "rtt_mean_s"),
        ),
        _from("flows", "recovery_s", "time in loss recovery", "less"),
        _from("flows", "timeouts", "retransmission timeouts", "less"),
        _from("flows", "complete", "completed transfers", "more", of=_complete, **SHARE),
        Metric(
            "block_errors",
            "1",
            "Share of all blocks sent, repetitions included, that were received in error.",
            "block errors, all transmissions",
            _block_errors,
            "less",
            **SHARE,
        ),
        Metric(
            "switches_per_s",
            "1/s",
            "Set-ups and releases of dedicated channels per second.",
            "channel switches per second",
            _switching(_switches, "s"),
        ),
        Metric(
            "switches_per_transfer",
            "1",
            "The same per completed transfer.",
            "channel switches per transfer",
            _switching(_switches, "transfers"),
        ),
        Metric(
            "dch_share",
            "1",
            "Share of time for which a dedicated channel is held.",
            "time with a dedicated channel",
            _switching(_held, "s"),
            **SHARE,
        ),
        Metric(
            "power_w",
            "W",
            "Mean power of the phone's radio.",
            "power of the phone's radio",
            _switching(_channels("energy_j"), "s"),
            "less",
        ),
        _from("phones", "cqi", "channel quality (CQI)", "more"),
        _from("phones", "first_bler", "block errors, first transmission", "less", **SHARE),
        Metric(
            "jain_index",
            "1",
            "Jain's fairness index of the users' `received_bps`.",
            "fairness (Jain)",
            _fairness,
            "more",
            high=1.0,
        ),
    )
    return {one.name: one for one in lines}


METRICS: dict[str, Metric] = _table()
"""Every metric by name, in the order of a summary."""
OURS = frozenset(one.of for one in METRICS.values())


def add(metric: Metric) -> None:
    """Adds a metric of your own, which summaries, sweeps and comparisons made from then on have.

        from nodeb.results import metrics

        def longest(group):
            return group.each("flows", group.column("flows", "transfer_s"), lambda x: x.max(axis=1))

        metrics.add(metrics.Metric("longest_s", "s", "The longest transfer.", "longest", longest))

    Raises:
        InputError: there is one of this name, or it is no metric.
    """
    if not isinstance(metric, Metric) or not isinstance(metric.name, str) or not metric.name:
        raise InputError(f"{metric!r} is no metric with a name; expected `metrics.Metric(...)`")
    if not callable(metric.of):
        raise InputError(f"metric `{metric.name}`: `of` is {metric.of!r}; expected a function")
    if metric.better not in ("more", "less", ""):
        raise InputError(
            f"metric `{metric.name}`: better is {metric.better!r}; expected more, less or nothing"
        )
    if not metric.low <= metric.high:
        raise InputError(f"metric `{metric.name}`: low is {metric.low}, above {metric.high}")
    if metric.name in METRICS:
        raise InputError(f"there is a metric `{metric.name}` already; choose another name")
    METRICS[metric.name] = metric


def chosen(names: Any) -> list[Metric]:
    """The metrics of these names; all where there is none.

    Raises:
        InputError: a name is not one, or these are not names.
    """
    wanted = as_texts(names, "metrics", '["transfer_s"]')
    for name in wanted:
        if name not in METRICS:
            raise InputError(f"there is no metric `{name}`{nearest(name, METRICS)}")
    return [METRICS[name] for name in wanted or METRICS]
