"""Tables of a result as attributes, named as the core declares them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nodeb import _core
from nodeb.base.table import Table
from nodeb.errors import MissingError, nearest
from nodeb.results import glossary

NEEDED = {
    "proxies": 'proxy = "split"',
    "snoop": "snoop = {}",
    "channels": 'radio = "fach_dch"',
    "cell": 'radio = "wcdma"',
    "phones": 'radio = "hsdpa"` or `radio = "lte"',
    "uplinks": "radio.lte.uplink.scheduled = {}",
    "queues": 'radio = "lte"',
    "drx": "radio.lte.drx = {}",
    "configured_grants": "radio.lte.uplink.scheduled.grants.configured = {}",
    "headroom": "radio.lte.uplink.scheduled.headroom = {}",
    "connections": "radio.lte = { rrc = {}, uplink.scheduled = {} }",
    "opportunities": "radio.trace.down.times_ms = [1, 2]",
}
"""Setting that a scenario needs to produce a table, for each table that is not a time series."""


class NamedTables:
    """Base class of results whose tables are also attributes, as in `result.flows`."""

    tables: dict[str, Table]
    """Tables by name, such as `flows`."""

    # Type checkers need these declarations. The properties are created at the end of this file.
    if TYPE_CHECKING:
        flows: Table
        bearers: Table
        links: Table
        proxies: Table
        snoop: Table
        phones: Table
        uplinks: Table
        queues: Table
        drx: Table
        configured_grants: Table
        headroom: Table
        connections: Table
        channels: Table
        cell: Table
        opportunities: Table
        cwnd: Table
        segments: Table
        rtt: Table
        queue: Table
        transfers: Table
        scheduler: Table
        bandwidth: Table
    else:

        def __getattr__(self, name: str) -> Table:
            """Rejects an unknown attribute with a message that states the remedy."""
            if name.startswith("_") or name == "tables":
                raise AttributeError(name)
            raise MissingError(_why_not(self, name))


def _attribute(table: glossary.TableInfo) -> property:

    def get(self: NamedTables) -> Table:
        try:
            return self.tables[table.name]
        except KeyError:
            raise MissingError(_why_not(self, table.name)) from None

    columns = "".join(f"\n    {one.name}: {_meaning(one)}" for one in table.columns.values())
    return property(get, doc=f"{table.meaning}\n\nColumns:{columns}\n")


def _meaning(column: glossary.Column) -> str:
    return column.meaning + (f" In {column.unit}." if column.unit not in ("", "1") else "")


def _why_not(result: NamedTables, name: str) -> str:
    """Returns the message for a missing attribute: the setting it needs, or the nearest name."""
    if name in NEEDED:
        return f"there is no table `{name}`; the scenario needs `{NEEDED[name]}` for it"
    if name in json.loads(_core.schema())["$defs"]["Record"]["properties"]:
        return f"{name} was not recorded; set `record.{name} = true` in the scenario and run again"
    known = [one for one in dir(result) if not one.startswith("_")]
    return f"a result has no `{name}`{nearest(name, known)}"


for _table in glossary.tables().values():
    setattr(NamedTables, _table.name, _attribute(_table))
