"""Tables of a resolved scenario's data, and how changes of a scenario modify them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = [
    "Data",
    "assign",
    "assign_all",
    "core_links",
    "double_rates",
    "group_of",
    "halve",
    "links",
    "phones",
    "queued",
    "radio_of",
    "scheduled_uplink",
    "tcps",
]

Data = dict[str, Any]


def tcps(data: Data) -> Iterator[Data]:
    """Yields the parameters of every TCP in a scenario: those of all users, groups and proxies."""
    for holder in (data, *data["users"], *(data.get("proxy") or {}).values()):
        yield from (holder.get("tcp") or {}).values()


def links(data: Data) -> Iterator[Data]:
    """Yields the parameters of every link of a scenario.

    These are the wired link, the uplink unless the base station schedules it, the links of the core
    network, and the radio if its model is `link` or `trace`.
    """
    yield from (data["wired"], *core_links(data))
    if not scheduled_uplink(data):
        yield data["uplink"]
    yield from (radio for name, radio in data["radio"].items() if name in ("link", "trace"))


def queued(data: Data) -> list[Data]:
    return [one for one in (*links(data), radio_of(data), scheduled_uplink(data)) if "queue" in one]


def core_links(data: Data) -> list[Data]:
    core = data.get("core") or []
    return core if isinstance(core, list) else [core]


def phones(data: Data) -> int:
    return sum(group["count"] for group in data["users"])


def radio_of(data: Data) -> Data:
    radio: Data
    (radio,) = data["radio"].values()
    return radio


def scheduled_uplink(data: Data) -> Data:
    uplink = radio_of(data).get("uplink")
    return (uplink.get("scheduled") if isinstance(uplink, dict) else None) or {}


def group_of(groups: list[Data], phone: int) -> Data:
    every = (itertools.repeat(group, group["count"]) for group in groups)
    return next(itertools.islice(itertools.chain.from_iterable(every), phone, None))


def assign(table: Data, **values: Any) -> bool:
    changed = False
    for key, value in values.items():
        if key in table and table[key] != value:
            table[key], changed = value, True
    return changed


def assign_all(tables: Iterable[Data], **values: Any) -> bool:
    return sum(assign(table, **values) for table in tables) > 0


def _half(text: str) -> str:
    number, unit = text.split()
    return f"{float(number) / 2:.12g} {unit}"


def halve(table: Data, *keys: str) -> bool:
    """A time that would become 0 is left as it is."""
    halved = {key: _half(table[key]) for key in keys if table.get(key)}
    return assign(table, **{key: text for key, text in halved.items() if not text.startswith("0 ")})


def double_rates(table: Data, *keys: str) -> bool:
    rates = {key: table[key].split() for key in keys if table.get(key)}
    return assign(
        table, **{key: f"{2 * float(rate):.12g} {unit}" for key, (rate, unit) in rates.items()}
    )
