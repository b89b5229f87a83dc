"""Words for what becomes of packets, and for short times."""

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


def ending(code: int) -> str:
    """How a command ended, to go on a sentence with.

    Args:
        code: its exit status; negative for the number of a signal.
    """
    if code >= 0:
        return f"with exit status {code}"
    numbers = {int(number) for number in signal.Signals}
    return f"by {signal.Signals(-code).name if -code in numbers else f'signal {-code}'}"
