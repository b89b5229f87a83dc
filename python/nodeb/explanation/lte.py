"""Changes of LTE cells, and the time on the path that each targets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nodeb.base.units import in_ns
from nodeb.explanation.on_path import (
    FURTHER,
    Change,
    Times,
    behind_losses,
    of_causes,
    of_steps,
    serving,
)
from nodeb.explanation.tables import Data, assign, group_of, phones, radio_of, scheduled_uplink

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["LTE_CHANGES"]

SUBFRAME_NS = 1_000_000
LARGE_GRANT = "3 kB"
"""Largest first grant, for two packets of 1500 B."""
BLOCKS = {"1.4 MHz": 6, "3 MHz": 15, "5 MHz": 25, "10 MHz": 50, "15 MHz": 75, "20 MHz": 100}
"""Resource blocks by bandwidth (TS 36.101, table 5.6-1)."""
WIDER = {
    "1.4 MHz": "3 MHz",
    "3 MHz": "5 MHz",
    "5 MHz": "10 MHz",
    "10 MHz": "20 MHz",
    "15 MHz": "20 MHz",
}
BY_LAYER = 0.4
"""Share of the time on the air that a second layer saves.

By the ergodic capacity of a linear receiver with two antennas at either end it is 0.33 at 10 dB and
0.44 at 30 dB; below 10 dB, the second receive antenna saves about as much.
"""
GAP = 10**0.2
"""SNR that LTE's blocks need beyond Shannon's limit: 2 dB, of which the turbo code has half."""
PEAK = 5.5547
"""Efficiency of the highest CQI, bit per resource element (TS 36.213, table 7.2.3-1)."""
USUAL_SNR_DB = 10.0
"""SNR that is assumed for phones whose channel states none, such as those of a `cell`."""


def _frequent_requests(data: Data, _phone: int) -> bool:
    return assign(scheduled_uplink(data), request_period="1 ms")


def _grants_ahead(data: Data, _phone: int) -> bool:
    return assign(scheduled_uplink(data), grants={"ahead": {"interval": "1 ms"}})


def _large_first_grant(data: Data, _phone: int) -> bool:
    return assign(scheduled_uplink(data), first_grant=LARGE_GRANT)


def _wider_band(data: Data, _phone: int) -> bool:
    radio = radio_of(data)
    wider = WIDER.get(radio.get("bandwidth", ""))
    if wider is None:
        return False
    # Only 1.4 MHz allows four control symbols (TS 36.211, 6.7).
    assign(radio, control_symbols=min(radio["control_symbols"], 3))
    return assign(radio, bandwidth=wider)


def _second_layer(data: Data, phone: int) -> bool:
    """Lets the cell send two layers instead of one. Phones of category 1 can receive only one."""
    radio = radio_of(data)
    ue = group_of(data["users"], phone).get("ue") or {}
    if radio.get("layers") != 1 or ue.get("category") == 1:
        return False
    return assign(radio, layers=2, antenna_ports=max(radio["antenna_ports"], 2))


def _stronger_signal(data: Data, _phone: int) -> bool:
    """Adds 3 dB to the signal of an LTE cell and its phones, at the same noise."""
    radio = radio_of(data)
    if "bandwidth" not in radio:
        return False
    _raise(radio["cell"], "power_dbm")
    _raise(scheduled_uplink(data), "power_dbm", "target_dbm")
    for group in data["users"]:
        for channel in ((group.get("ue") or {}).get("channel") or {}).values():
            _raise(channel, "snr_db", "mean_snr_db")
            assign(channel, snrs_db=[snr + 3.0 for snr in channel.get("snrs_db", ())])
    return True


def _raise(table: Data, *keys: str) -> None:
    assign(table, **{key: table[key] + 3.0 for key in keys if key in table})


def _of_requests(found: Explanation) -> Times:
    period = in_ns(scheduled_uplink(found.scenario.to_dict()).get("request_period", "1 ms"))
    return of_steps(("request awaited",), 1.0 - SUBFRAME_NS / period)(found)


def _of_first_grant(found: Explanation) -> Times:
    """Phones share the grants, so of a phone's waits for further grants one part is due to
    itself, and the other parts to the other phones (`among_others`)."""
    return of_steps((FURTHER,), 1.0 / phones(found.scenario.to_dict()))(found)


def _of_band(found: Explanation) -> Times:
    band = radio_of(found.scenario.to_dict()).get("bandwidth", "")
    wider = WIDER.get(band)
    return _on_air(found, 1.0 - BLOCKS[band] / BLOCKS[wider]) if wider else {}


def _of_layer(found: Explanation) -> Times:
    return serving(("bearer",), BY_LAYER)(found)


def _of_signal(found: Explanation) -> Times:
    _, phone, _ = found.scenario.compiled().connections[found.user]
    ue = group_of(found.scenario.to_dict()["users"], phone).get("ue") or {}
    (channel,) = (ue.get("channel") or {"": {}}).values()
    snr_db = channel.get("snr_db", channel.get("mean_snr_db", USUAL_SNR_DB))
    before, after = (_efficiency(factor * 10 ** (snr_db / 10)) for factor in (1, 2))
    return _on_air(found, 1.0 - before / after)


def _efficiency(snr: float) -> float:
    """Returns the bits per resource element that a link carries at a linear SNR."""
    return min(math.log2(1.0 + snr / GAP), PEAK)


def _on_air(found: Explanation, factor: float) -> Times:
    is_scheduled = bool(scheduled_uplink(found.scenario.to_dict()))
    return serving(("bearer", "uplink") if is_scheduled else ("bearer",), factor)(found)


def _always_awake(data: Data, _phone: int) -> bool:
    return assign(radio_of(data), drx=None)


def _always_connected(data: Data, _phone: int) -> bool:
    return assign(radio_of(data), rrc=None)


def _no_discards(data: Data, _phone: int) -> bool:
    return assign(radio_of(data), discard_timer=None)


GRANTED = ("uplink grant",)
AWAITED = ("request awaited", "grant awaited", "reserved block awaited")
SWITCHED = ("channel set-up and release",)
CONNECTED = ("connection set up",)
LOSSES = ("recovery", "timeout")

LTE_CHANGES = (
    Change("requests in every subframe", GRANTED, _of_requests, _frequent_requests),
    Change("grants ahead of data", GRANTED, of_steps(AWAITED, 1.0), _grants_ahead),
    Change("a large first grant", GRANTED, _of_first_grant, _large_first_grant),
    Change("phones that always listen", ("DRX",), of_causes(("DRX",)), _always_awake),
    Change(
        "phones that are always connected",
        SWITCHED,
        of_steps(CONNECTED, 1.0),
        _always_connected,
    ),
    Change("no discard timer", LOSSES, behind_losses("radio"), _no_discards),
    Change("a wider band", (), _of_band, _wider_band),
    Change("a second layer", (), _of_layer, _second_layer),
    Change("3 dB more signal", (), _of_signal, _stronger_signal),
)
