"""Answers of `nodeb emulate` and `nodeb replay`: deliveries, losses and timing accuracy.

The headline of an emulation states, in this order:

1. if the timing was inaccurate, this fact and the reason;
2. the bytes delivered to and from the phones with rate and delay, or that no packet passed;
3. the number of lost packets;
4. if the timing was accurate, how late deliveries were.

The headline of a replay begins with the statement whether every packet had the same fate (arrival
or loss, at the same time) as in the recording. Sentences 2 and 3 of the list follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeb.answer.answer import Answer, Mark, Rows
from nodeb.answer.numbers import Shown, number, shown
from nodeb.answer.words import counted, joined, sentence
from nodeb.emulate.labels import CAUSES, REFUSED, in_words
from nodeb.emulate.plan import Plan
from nodeb.emulate.recordings import CUT_OFF, Recording, Replay
from nodeb.emulate.session import Options, Outcome

__all__ = ["emulated", "replayed"]

WAYS = {"down": "to", "up": "from"}
SAMPLE = "One emulation is one sample: the same commands again, or another seed, give another."

Way = Mapping[str, Any]


def emulated(plan: Plan, options: Options, outcome: Outcome, where: str = "") -> Answer:
    link = Link(outcome.report)
    late = outcome.too_late
    first = [] if late is None else [f"it did not keep time: {late}."]
    last = [_kept_time(outcome)] if late is None else []
    marks = [*link.marks(), *_refused(outcome.report)]
    if not outcome.real_time:
        why = "The driver ran without real-time priority: SCHED_FIFO was refused."
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


def replayed(recording: Recording, replay: Replay, where: str = "") -> Answer:
    report = replay.report
    link = Link(report)
    if report["differs"] is None:
        what = counted(report["same"], "packet")
        first = f"the same: {what} arrived or were lost as they did, to the nanosecond."
    else:
        core = "" if recording.is_same_core else " (it was recorded with another core of nodeb)"
        first = f"not the same{core}: {report['differs']}."
    marks = list(link.marks())
    if not report["complete"]:
        marks.append(Mark("!", f"{sentence(CUT_OFF)}."))
    lasted = in_words(report["lasted_s"])
    return Answer(
        command="nodeb replay",
        subject=recording.scenario.name or "a recording",
        headline=_said([first, *link.headline()]),
        lead=f"Replayed in virtual time: {lasted}.",
        table=link.table(),
        everything=[link.everything()],
        marks=marks,
        notes=[
            f"The recorded emulation lasted {lasted}, seed {recording.seed}; its lateness was "
            f"{in_words(report['lateness']['p99_s'])} (p99).",
            *([where] if where else []),
        ],
    )


def _said(parts: list[str]) -> str:
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
    """Yields warnings with numbers of refused packets.

    There is one for each reason in `REFUSED`, and one for each device that dropped packets because
    the driver read it too slowly.
    """
    for key, text in REFUSED.items():
        if report[key]:
            yield Mark("!", f"{counted(report[key], 'packet')} refused: {text}.")
    devices = [("the server", report["server_device"])]
    devices += [(phone["name"], phone["device"]) for phone in report["phones"]]
    for name, device in devices:
        if dropped := device.get("dropped"):
            what = counted(dropped, "packet")
            yield Mark("!", f"{what} of {name} refused: the driver read the device too slowly.")


@dataclass(frozen=True)
class Link:
    """Writer of sentences, tables and marks about the real packets of an emulation or a replay."""

    report: Mapping[str, Any]

    def of(self, way: str) -> list[Way]:
        return [phone[way] for phone in self.report["phones"]]

    def sum(self, way: str, name: str) -> int:
        """Returns the sum of the count `name` over all phones, in the direction `down` or `up`."""
        return sum(int(one[name]) for one in self.of(way))

    # Methods that write the headline.

    def headline(self) -> Iterator[str]:
        """Yields a sentence on deliveries, and one on losses unless no packet was offered."""
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

    # Methods that write the tables and the marks.

    def table(self) -> Rows:
        rows: list[list[str | Shown]] = []
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                rows.append([f"{word} {phone['name']}", *_cells(phone[way])])
        return Rows(["", "packets", "lost", "bit rate", "median delay", "99 of 100"], rows)

    def everything(self) -> Rows:
        rows: list[list[str | Shown]] = []
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                rows.append([f"{word} {phone['name']}", *_counts(phone[way])])
        head = ["", "arrived", "under way", "size", "mean delay", "longest", *CAUSES.values()]
        return Rows(head, rows, "All counts and delays")

    def marks(self) -> Iterator[Mark]:
        """Yields warnings: one per phone and direction with losses, one if packets were in
        transit."""
        for phone in self.report["phones"]:
            for way, word in WAYS.items():
                losses = [
                    f"{phone[way][key]} {text}" for key, text in CAUSES.items() if phone[way][key]
                ]
                if losses:
                    yield Mark("!", f"Lost {word} {phone['name']}: {', '.join(losses)}.")
        if under_way := sum(_under_way(one) for way in WAYS for one in self.of(way)):
            were = "packet was" if under_way == 1 else "packets were"
            yield Mark("!", f"{under_way} {were} still under way when this ended.")


def _cells(way: Way) -> list[str | Shown]:
    """Returns cells of `Link.table`: packets, losses, bit rate, delay (median, 99th percentile)."""
    counts = (way["offered_packets"], _lost(way))
    rate = shown(_rate(way), unit="bit/s")
    return [*map(_count, counts), rate, _delay(way, "p50_s"), _delay(way, "p99_s")]


def _counts(way: Way) -> list[str | Shown]:
    """Returns a row of `Link.everything`: arrivals, packets in transit, bytes, delays, losses."""
    causes = (_count(way[cause]) for cause in CAUSES)
    counts = map(_count, (way["arrived_packets"], _under_way(way)))
    size = shown(way["arrived_bytes"], unit="bytes")
    return [*counts, size, _delay(way, "mean_s"), _delay(way, "max_s"), *causes]


def _count(number_: float) -> Shown:
    return Shown(str(int(number_)), "")


def _delay(way: Way, key: str) -> Shown:
    """Returns one of the delays of arrived packets for a table: a dash if no packet arrived."""
    return shown(way["delay"][key] if way["delay"]["count"] else math.nan, unit="s")


def _rate(way: Way) -> float:
    """Returns the bit rate of the packets that arrived, bit/s.

    It is their size over the time from the acceptance of the first to arrive, to the last arrival.
    It is 0 if no packet arrived or this time is 0.
    """
    return 8.0 * way["arrived_bytes"] / way["span_s"] if way["span_s"] > 0 else 0.0


def _lost(way: Way) -> int:
    return sum(int(way[cause]) for cause in CAUSES)


def _under_way(way: Way) -> int:
    """Returns the number of packets that had neither arrived nor been lost at the end."""
    return max(int(way["offered_packets"]) - int(way["arrived_packets"]) - _lost(way), 0)
