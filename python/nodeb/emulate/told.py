"""What an emulation came to, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeb.emulate.session import Outcome
from nodeb.terminal.text import align

__all__ = ["CAUSES", "REFUSED", "in_words", "packet_rows", "packets_text", "rate", "summary"]

CAUSES = {
    "lost_link": "lost on a link",
    "lost_overflow": "no room in a queue",
    "lost_early_drop": "dropped early by a queue",
    "lost_radio": "given up by the radio",
}
REFUSED = {
    "malformed": "no IP packets, or not as long as they say",
    "stray": "for nobody behind the cell (multicast, link-local, unknown)",
    "too_long": "longer than the MTU",
    "no_memory": "came while packets on their way took all memory allowed",
    "unwritten": "arrived, but the device was down",
}


def in_words(seconds: float) -> str:
    """A time with a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 us" if seconds <= 0 else f"{seconds * 1e9:.0f} ns"


def rate(bytes_: float, seconds: float) -> str:
    """A bit rate with a unit that fits."""
    bits = 8 * bytes_ / seconds if seconds > 0 else 0.0
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits >= size:
            return f"{bits / size:.3g} {unit}"
    return f"{bits:.3g} b/s"


def summary(outcome: Outcome) -> str:
    """A few lines: what each phone sent and got, and how true to time that was."""
    report = outcome.report
    lines = [packets_text(report)]
    lines += [f"refused: {report[key]} {text}" for key, text in REFUSED.items() if report[key]]
    lines += _dropped(report)
    lines.append(_lateness(outcome))
    return "\n".join(lines)


def packets_text(report: Mapping[str, Any]) -> str:
    """What became of the packets of each phone, and why they were lost."""
    table = align(*packet_rows(report))
    return "\n".join([table, *(f"{name}: {text}" for name, text in _losses(report))])


def packet_rows(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """What became of the packets of each phone: columns and rows, the first column its name."""
    rows = []
    for phone in report["phones"]:
        for way in ("down", "up"):
            of = phone[way]
            lost = sum(of[cause] for cause in CAUSES)
            delay = of["delay"]
            rows.append(
                [
                    f"{phone['name']} {way}",
                    str(of["offered_packets"]),
                    str(of["arrived_packets"]),
                    str(lost),
                    f"{of['arrived_bytes'] / 1e6:.3g}",
                    rate(of["arrived_bytes"], of["span_s"]),
                    in_words(delay["mean_s"]),
                    in_words(delay["p50_s"]),
                    in_words(delay["p99_s"]),
                    in_words(delay["max_s"]),
                ]
            )
    head = ["", "packets", "arrived", "lost", "MB", "rate", "mean delay", "p50", "p99", "max"]
    return head, rows


def _losses(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for phone in report["phones"]:
        for way in ("down", "up"):
            told = [f"{phone[way][key]} {text}" for key, text in CAUSES.items() if phone[way][key]]
            if told:
                found.append((f"lost, {phone['name']} {way}", ", ".join(told)))
    return found


def _dropped(report: Mapping[str, Any]) -> list[str]:
    """Packets that the kernel threw away before the driver came to them."""
    ends = [("the server", report["server_device"])]
    ends += [(phone["name"], phone["device"]) for phone in report["phones"]]
    return [
        f"refused: {device['dropped']} of {name} came faster than they could be read"
        for name, device in ends
        if device.get("dropped")
    ]


def _lateness(outcome: Outcome) -> str:
    late = outcome.report["lateness"]
    how = "" if outcome.real_time else "; not in real time (SCHED_FIFO was refused)"
    return (
        f"lateness: p50 {in_words(late['p50_s'])}, p99 {in_words(late['p99_s'])}, "
        f"p99.9 {in_words(late['p999_s'])}, max {in_words(late['max_s'])}; "
        f"{late['share_beyond']:.3%} of {late['count']} beyond {in_words(late['limit_s'])}{how}"
    )
