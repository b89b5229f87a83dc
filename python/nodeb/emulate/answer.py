"""What an emulation answers: what the link did to real packets, and whether it kept time.

The headline of an emulation is, in this order:

1. that it did not keep time, and why;
2. what was delivered to the phones and from them, with which rate and delay; that no packet passed;
3. how many packets were lost;
4. that it kept time, and how exactly.

That of a flight that was flown again begins with whether the same became of its packets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeb.answer.answer import Answer, Mark, Rows
from nodeb.answer.numbers import Shown, number, shown
from nodeb.answer.words import counted, joined, sentence
from nodeb.emulate.flights import CUT_OFF, Flight, Flown
from nodeb.emulate.plan import Plan
from nodeb.emulate.session import Options, Outcome
from nodeb.emulate.told import CAUSES, REFUSED, in_words

__all__ = ["emulated", "replayed"]

WAYS = {"down": "to", "up": "from"}
SAMPLE = "One emulation is one sample: the same commands again, or another seed, give another."

Way = Mapping[str, Any]


def emulated(plan: Plan, options: Options, outcome: Outcome, where: str = "") -> Answer:
    """What an emulation answers.

    Args:
        plan: the scenario and its real phones.
        options: how it was emulated.
        outcome: what it came to.
        where: where its results are, a sentence; empty where there are none.
    """
    link = Link(outcome.report)
    late = outcome.too_late
    first = [] if late is None else [f"it did not keep time: {late}."]
    last = [_kept_time(outcome)] if late is None else []
    marks = [*link.marks(), *_refused(outcome.report)]
    if not outcome.real_time:
        why = "The driver did not go before everything else: SCHED_FIFO was refused."
        marks.append(Mark("!", why))
    lasted = in_words(outcome.report["lasted_s"])
    notes = [f"It lasted {lasted}, seed {options.seed}. {SAMPLE}", *([where] if where else [])]
    return Answer(
        command="nodeb emulate",
        subject=plan.scenario.name or "an emulation",
        headline=_said([*first, *link.headline(), *last]),
        table=link.table(),
        everything=[link.everything()],
        marks=marks,
        notes=notes,
    )


def replayed(flight: Flight, flown: Flown, where: str = "") -> Answer:
    """What a flight that was flown again answers.

    Args:
        flight: the flight.
        flown: what came of it.
        where: where its results are, a sentence; empty where there are none.
    """
    report = flown.report
    link = Link(report)
    if report["differs"] is None:
        what = counted(report["same"], "packet")
        first = f"the same: {what} arrived or were lost as they did, to the nanosecond."
    else:
        core = "" if flight.is_of_this_core else " (it was recorded with another core of nodeb)"
        first = f"not the same{core}: {report['differs']}."
    marks = list(link.marks())
    if not report["complete"]:
        marks.append(Mark("!", f"{sentence(CUT_OFF)}."))
    lasted = in_words(report["lasted_s"])
    return Answer(
        command="nodeb replay",
        subject=flight.scenario.name or "a flight",
        headline=_said([first, *link.headline()]),
        lead=f"Flown again in virtual time: {lasted}.",
        table=link.table(),
        everything=[link.everything()],
        marks=marks,
        notes=[
            f"The flight lasted {lasted}, seed {flight.seed}; its lateness was "
            f"{in_words(report['lateness']['p99_s'])} (p99).",
            *([where] if where else []),
        ],
    )


def _said(parts: list[str]) -> str:
    """Sentences, of which those behind the first begin with a capital letter."""
    return " ".join([parts[0], *map(sentence, parts[1:])])


def _kept_time(outcome: Outcome) -> str:
    late = outcome.report["lateness"]
    if not late["count"]:
        return "Nothing was delivered that could be late."
    beyond = f"{100 * late['share_beyond']:.2g} %" if late["share_beyond"] else "none"
    return (
        f"It kept time: 99 of 100 deliveries were at most {in_words(late['p99_s'])} late, and "
        f"{beyond} more than {in_words(late['limit_s'])}."
    )


def _refused(report: Mapping[str, Any]) -> Iterator[Mark]:
    """Packets that never came into the cell."""
    for key, text in REFUSED.items():
        if report[key]:
            yield Mark("!", f"{counted(report[key], 'packet')} refused: {text}.")
    ends = [("the server", report["server_device"])]
    ends += [(phone["name"], phone["device"]) for phone in report["phones"]]
    for name, device in ends:
        if dropped := device.get("dropped"):
            what = counted(dropped, "packet")
            yield Mark("!", f"{what} of {name} refused: came faster than they could be read.")


@dataclass(frozen=True)
class Link:
    """What became of real packets."""

    report: Mapping[str, Any]

    def of(self, way: str) -> list[Way]:
        """Each phone's packets of a direction."""
        return [phone[way] for phone in self.report["phones"]]

    def sum(self, way: str, name: str) -> int:
        """A count over all phones."""
        return sum(int(one[name]) for one in self.of(way))

    # --- the headline ---

    def headline(self) -> Iterator[str]:
        """What the link delivered and lost."""
        offered = self.sum("down", "offered_packets") + self.sum("up", "offered_packets")
        if not offered:
            yield f"no packet passed the link in {in_words(self.report['lasted_s'])}."
            return
        carried = [self._delivered(way) for way in WAYS if self.sum(way, "arrived_packets")]
        if carried:
            yield f"the link delivered {joined(carried)}."
        else:
            yield "the link delivered nothing."
        lost = sum(_lost(one) for way in WAYS for one in self.of(way))
        yield f"It lost {lost} of {counted(offered, 'packet')}." if lost else "It lost nothing."

    def _delivered(self, way: str) -> str:
        phones = self.of(way)
        name = self.report["phones"][0]["name"]
        whom = f"{len(phones)} phones" if len(phones) > 1 else name
        rate = sum(_rate(one) for one in phones)
        medians = [one["delay"]["p50_s"] for one in phones if one["delay"]["count"]]
        least, most = (number(of(medians), "s") for of in (min, max))
        delay = least if least == most else f"{least} to {most}"
        size = number(self.sum(way, "arrived_bytes"), "bytes")
        return f"{size} {WAYS[way]} {whom} at {number(rate, 'bit/s')} (median delay {delay})"

    # --- what stands below it ---

    def table(self) -> Rows:
        """What became of the packets of each phone, by direction."""
        rows: list[list[str | Shown]] = []
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                rows.append([f"{word} {phone['name']}", *_cells(phone[way])])
        return Rows(["", "packets", "lost", "bit rate", "median delay", "99 of 100"], rows)

    def everything(self) -> Rows:
        """Each count of a direction, and its delays."""
        rows: list[list[str | Shown]] = []
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                rows.append([f"{word} {phone['name']}", *_counts(phone[way])])
        head = ["", "arrived", "under way", "size", "mean delay", "longest", *CAUSES.values()]
        return Rows(head, rows, "All counts and delays")

    def marks(self) -> Iterator[Mark]:
        """What was lost, and why; what was under way."""
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                told = [
                    f"{phone[way][key]} {text}" for key, text in CAUSES.items() if phone[way][key]
                ]
                if told:
                    yield Mark("!", f"Lost {word} {phone['name']}: {', '.join(told)}.")
        if under_way := sum(_under_way(one) for way in WAYS for one in self.of(way)):
            were = "packet was" if under_way == 1 else "packets were"
            yield Mark("!", f"{under_way} {were} still under way when this ended.")


def _cells(way: Way) -> list[str | Shown]:
    """Packets, losses, bit rate, median delay and that of 99 of 100."""
    counts = (way["offered_packets"], _lost(way))
    rate = shown(_rate(way), unit="bit/s")
    return [*map(_count, counts), rate, _delay(way, "p50_s"), _delay(way, "p99_s")]


def _counts(way: Way) -> list[str | Shown]:
    """What else there is to know: arrived, under way, bytes, mean and longest delay, losses."""
    causes = (_count(way[cause]) for cause in CAUSES)
    counts = map(_count, (way["arrived_packets"], _under_way(way)))
    size = shown(way["arrived_bytes"], unit="bytes")
    return [*counts, size, _delay(way, "mean_s"), _delay(way, "max_s"), *causes]


def _count(number_: float) -> Shown:
    return Shown(str(int(number_)), "")


def _delay(way: Way, key: str) -> Shown:
    """A delay; a dash where nothing arrived."""
    return shown(way["delay"][key] if way["delay"]["count"] else math.nan, unit="s")


def _rate(way: Way) -> float:
    """Bit rate of what arrived, bit/s."""
    return 8.0 * way["arrived_bytes"] / way["span_s"] if way["span_s"] > 0 else 0.0


def _lost(way: Way) -> int:
    return sum(int(way[cause]) for cause in CAUSES)


def _under_way(way: Way) -> int:
    """Packets of which neither is known that they arrived nor that they were lost."""
    return max(int(way["offered_packets"]) - int(way["arrived_packets"]) - _lost(way), 0)
