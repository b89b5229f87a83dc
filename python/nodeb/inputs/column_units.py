"""Units of bits, bytes and times in the names of columns, such as `rate_kBps` or `time (ms)`.

Upper and lower case distinguish bits (`b`) from bytes (`B`), as in `kbps` and `kBps`; a rate in
lower case is in bits, as in `mbps`. `KBps`, `MBPS` and a size in `kb` are ambiguous, so an option
must state their unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodeb.base.units import NS

__all__ = [
    "AMOUNTS",
    "RATES",
    "TIMES",
    "Named",
    "amounts",
    "is_time_unit",
    "rates",
    "times",
    "unit",
    "unit_list",
]

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
AMOUNTS = {
    f"{prefix}{base}": factor * bits
    for base, bits in (("bit", 1), ("B", 8))
    for prefix, factor in PREFIXES.items()
}
"""Unit of an amount of data -> number of bits in it."""
RATES = {f"{name}/s": bits for name, bits in AMOUNTS.items()}
"""Unit of a rate -> number of bit/s in it."""
TIMES = {name: float(f"{ns}e-9") for name, ns in NS.items()}
"""Unit of a time -> number of seconds in it."""

_TIME_WORDS = {
    "ns": r"ns|nsecs?|nanos?|nanoseconds?",
    "us": r"us|µs|μs|usecs?|micros?|microseconds?",
    "ms": r"ms|msecs?|millis?|milliseconds?",
    "s": r"s|secs?|seconds?",
    "min": r"mins?|minutes?",
    "h": r"h|hrs?|hours?",
}
_OTHER_TIMES = r"d|days?|weeks?|m|cs|ds|ps"
"""Words for time units that are recognized, to reject them, but are not among `TIMES`."""
_COUNTS = r"ticks?|jiffies|slots?|frames?|ttis?|sfn|samples?|index"
"""Words for counts of steps, which are no units of time; `--time-unit` must state the unit."""
_AMOUNT = re.compile(
    r"(?<![a-z0-9])(?P<prefix>kilo|mega|giga|kibi|mebi|gibi|[kmg]i|[kmg]|)[ -]?"
    r"(?P<base>bits?|bytes?|octets?|b(?=ps|/| ?p(er)?\b|$|[^a-z0-9]))"
    r"(?P<per>ps(?![a-z])| ?(?:/|\bp(?:er)?\b) ?(?P<time>[a-zµμ]+)|)(?![a-z])",
    re.IGNORECASE,
)
_OTHER_DATA = re.compile(r"bps|bits?|bytes?|octets?|b/s", re.IGNORECASE)
_WORDS = {"kilo": "k", "mega": "M", "giga": "G", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi"}


@dataclass(frozen=True)
class Named:
    """Unit stated by the name of a column."""

    units: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def exact(self) -> str | None:
        """The unit, or None if the name does not state it exactly."""
        return self.units[0] if len(self.units) == 1 and not self.doubt else None


def rates(name: str) -> Named:
    """Returns the unit of bit rates that a column's name states, such as `kbit/s` for `kbps`."""
    return _data(name, per_second=True)


def amounts(name: str) -> Named:
    """Returns the unit of amounts of data that a column's name states, such as `kB`."""
    return _data(name, per_second=False)


def times(name: str) -> Named:
    """Returns the unit of times that a column's name states, such as `ms` for `time (ms)`.

    Each word of the name is compared with the names of units. A word for a count, such as `slot`,
    gives all units as possible.
    """
    words = re.findall(r"[a-zµμ]+", split_words(name).lower())
    found = [
        unit for unit, word in _TIME_WORDS.items() if any(re.fullmatch(word, w) for w in words)
    ]
    for word in words:
        if re.fullmatch(_OTHER_TIMES, word):
            return Named((), f"`{word}` is not a supported unit of time")
        if re.fullmatch(_COUNTS, word):
            return Named(tuple(TIMES), f"`{word}` is a count, not a unit of time")
    return Named(tuple(found), "it states more than one unit" if len(found) > 1 else "")


def is_time_unit(name: str) -> bool:
    return any(re.fullmatch(words, name.lower()) for words in _TIME_WORDS.values())


def unit(text: str, known: dict[str, int] | dict[str, float]) -> str | None:
    if text in known:
        return text
    named = times(text) if known is TIMES else _data(text, per_second=known is RATES)
    return named.exact


def unit_list(known: dict[str, int] | dict[str, float]) -> str:
    return ", ".join(known)


def _data(name: str, per_second: bool) -> Named:
    found = [one for one in _AMOUNT.finditer(split_words(name)) if _is_unit(one)]
    if not found:
        other = _OTHER_DATA.search(name)
        return Named((), f"`{other[0]}` is not a supported unit") if other else Named()
    meanings = {_meaning(one) for one in found}
    if len(meanings) > 1:
        return Named((), "it states more than one unit")
    names, time = meanings.pop()
    if time not in ("s", ""):
        return Named((), f"it is per {time}, not per s")
    if not per_second:
        return Named((), "it is a rate, not an amount") if time else _named(names)
    rate_names = tuple(f"{one}/s" for one in names)
    if not time:
        return Named(rate_names, "it does not say per which time")
    return _named(rate_names)


def _named(names: tuple[str, ...]) -> Named:
    return Named(names, f"it may be {' or '.join(names)}" if len(names) > 1 else "")


def _is_unit(found: re.Match[str]) -> bool:
    """Returns true if a match in a column's name is a unit and not just a letter.

    A lone letter is a unit only if it is a `B` in a longer name; a column `b` has no unit.
    """
    return len(found[0]) > 1 or (found[0] == "B" and len(found.string) > 1)


def _meaning(found: re.Match[str]) -> tuple[tuple[str, ...], str]:
    """Returns the units of data that a match may mean, and the time in its denominator."""
    bases = _bases(found)
    prefixes = _prefixes(found["prefix"], bits=bases == ("bit",))
    time = _per(found["time"]) if found["per"] else ""
    return tuple(f"{one}{two}" for two in bases for one in prefixes), time


def _bases(found: re.Match[str]) -> tuple[str, ...]:
    """Returns the units without prefix, `bit` or `B`, that a match may mean.

    Two cases are ambiguous and give both units: a `B` in a rate in capitals, such as `MBPS`, and a
    `b` in a size in small letters, such as `kb`.
    """
    base, unit = found["base"], found[0]
    if len(base) > 1:
        return ("bit",) if base.lower().startswith("bit") else ("B",)
    if base == "b":
        return ("bit",) if found["per"] or unit != unit.lower() else ("bit", "B")
    return ("bit", "B") if found["per"] and unit == unit.upper() else ("B",)


def _prefixes(prefix: str, bits: bool) -> tuple[str, ...]:
    """Returns the SI or binary prefixes that a prefix may mean.

    Only a `K` of bytes is ambiguous: it may mean 1000 (`k`) or 1024 (`Ki`).
    """
    if not prefix or prefix.lower() in _WORDS:
        return (_WORDS.get(prefix.lower(), ""),)
    capital = prefix[0].upper() + prefix[1:].lower()
    if len(prefix) == 2:
        return (capital,)
    if capital == "K":
        return ("k",) if prefix == "k" or bits else ("k", "Ki")
    return (capital,)


def _per(time: str | None) -> str:
    """Returns the unit of time in a rate's denominator: `s` for a word for a second.

    A missing denominator (None) counts as `s`; any other text is returned as it is.
    """
    if time is None or re.fullmatch(_TIME_WORDS["s"], time.lower()):
        return "s"
    return time


def split_words(name: str) -> str:
    return re.sub(r"(?<=[a-z]{3})(?=[A-Z])", " ", name.replace("_", " "))
