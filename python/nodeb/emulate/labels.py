"""Texts for causes of loss and refusal, durations, bit rates and exit statuses."""

from __future__ import annotations

import signal

__all__ = ["CAUSES", "REFUSED", "ending", "in_words", "rate"]

CAUSES = {
    "lost_link": "lost on a link",
    "lost_overflow": "no room in a queue",
    "lost_early_drop": "dropped early by a queue",
    "lost_radio": "given up by the radio",
}
REFUSED = {
    "malformed": "not IP, or shorter or longer than their header says",
    "stray": "destination not behind the cell (multicast, link-local, unknown)",
    "too_long": "longer than the MTU",
    "no_memory": "packets in transit used all the memory allowed",
    "unwritten": "arrived, but the device was down",
}


def in_words(seconds: float) -> str:
    """Formats a duration with the unit s, ms, us or ns; "0 us" if it is 0 or negative."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 us" if seconds <= 0 else f"{seconds * 1e9:.0f} ns"


def rate(bytes_: float, seconds: float) -> str:
    """Formats a bit rate with the unit b/s, kb/s, Mb/s or Gb/s; "0 b/s" if `seconds` is 0."""
    bits = 8 * bytes_ / seconds if seconds > 0 else 0.0
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits >= size:
            return f"{bits / size:.3g} {unit}"
    return f"{bits:.3g} b/s"


def ending(code: int) -> str:
    if code >= 0:
        return f"with exit status {code}"
    numbers = {int(number) for number in signal.Signals}
    return f"by {signal.Signals(-code).name if -code in numbers else f'signal {-code}'}"
