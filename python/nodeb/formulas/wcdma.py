"""The link model of the WCDMA downlink: from rates to frame errors and throughput.

These are the functions of the simulator's core, for plain numbers; ratios are linear, not in dB.
Bhargava, "TCP performance in WCDMA-based cellular wireless IP networks", ICPWC 2000; equation
numbers are those of that study.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from nodeb import _core
from nodeb.formulas.analytics import not_negative
from nodeb.inputs.scenario import Scenario

SUM_TOLERANCE = 1e-6


def sinr(path: float, own_cell: float, other_cells: float, spreading: float, eb_n0: float) -> float:
    """Returns the average SINR of a propagation path (equation 3), as a linear ratio."""
    if not 0 <= path <= 1:
        raise ValueError(f"path must be a share from 0 to 1, got {path!r}")
    not_negative(own_cell=own_cell, other_cells=other_cells, eb_n0=eb_n0)
    if not (math.isfinite(spreading) and spreading > 0):
        raise ValueError(f"spreading must be above 0, got {spreading!r}")
    return _core.wcdma_sinr(path, own_cell, other_cells, spreading, eb_n0)


def bit_error_rate(gammas: Sequence[float]) -> float:
    """Returns the bit error rate with maximum-ratio combining of Rayleigh paths (equations 4,
    5).

    Equation 5 divides by zero if two paths have the same ratio.
    """
    if not gammas:
        raise ValueError("there is no path; expected at least one signal-to-noise ratio")
    for gamma in gammas:
        not_negative(gamma=gamma)
    return _core.wcdma_ber([float(gamma) for gamma in gammas])


def frame_success(ber: float, bits: int, correctable: int) -> float:
    """Returns the probability that a frame of `bits` bits has at most `correctable` bit errors.

    This is equation 2, for independent bit errors with the rate `ber`.
    """
    if not 0 <= ber <= 1:
        raise ValueError(f"ber must be a probability, got {ber!r}")
    _code(bits, correctable)
    return _core.wcdma_frame(ber, bits, correctable)[0]


def check_bits(bits: int, correctable: int) -> int:
    """Returns the number of check bits with which a code of `bits` bits corrects errors.

    This is the Varshamov-Gilbert bound: the least r with `2**r > sum(comb(bits - 1, i) for i < 2
    t)`, where t is `correctable`, the number of errors.
    """
    _code(bits, correctable)
    found = _core.wcdma_check_bits(bits, correctable)
    if found is None:
        raise ValueError(f"a code that corrects {correctable} errors leaves no data in {bits} bits")
    return found


def effective_share(bits: int, correctable: int) -> float:
    return 1 - check_bits(bits, correctable) / bits


def smallest_window(wired_delay_s: float, packet_time_s: float, ack_time_s: float) -> float:
    """Returns the smallest maximum window, in packets, that keeps the radio link busy.

    This is `W_min` of equation 6; it need not be a whole number.
    """
    not_negative(wired_delay_s=wired_delay_s, packet_time_s=packet_time_s, ack_time_s=ack_time_s)
    if packet_time_s == 0:
        raise ValueError("packet_time_s must be above 0: no window keeps such a link busy")
    return 1 + (2 * wired_delay_s + ack_time_s) / packet_time_s


def normalized(powers: Sequence[float]) -> list[float]:
    """Returns the share of each path in the sum of their mean powers.

    Issues a warning if that sum is not 1. The powers are linear, not in dB.
    """
    for power in powers:
        not_negative(power=power)
    total = math.fsum(powers)
    if not total > 0:
        raise ValueError("expected mean powers of paths with a sum above 0")
    if abs(total - 1) > SUM_TOLERANCE:
        warnings.warn(
            f"the powers of the paths sum to {total:g}, not 1: divided by that", stacklevel=2
        )
    return [power / total for power in powers]


@dataclass(frozen=True)
class OperatingPoint:
    """Rates that the cell selects for a number of active connections, and their frame errors."""

    connections: int
    rates: tuple[int, ...]
    frame_failure: tuple[float, ...]
    alpha: float

    @property
    def throughput(self) -> float:
        """Mean number of frames per slot that arrive, of all connections together (equation 1)."""
        pairs = zip(self.rates, self.frame_failure, strict=True)
        return sum(rate * (1 - failure) for rate, failure in pairs)


def operating_points(
    scenario: Scenario, max_connections: int, *, seed: int = 1, run: int = 0
) -> list[OperatingPoint]:
    if max_connections < 1:
        raise ValueError(f"expected at least one connection, got {max_connections}")
    rates, failures, alpha = _core.wcdma_rates(scenario.compiled(), max_connections, seed, run)
    pairs = enumerate(zip(rates, failures, strict=True), 1)
    return [OperatingPoint(n, tuple(rate), tuple(failed), alpha) for n, (rate, failed) in pairs]


def path_shares(scenario: Scenario) -> list[float]:
    """Returns the share of each path in the mean power, from a scenario's power delay profile."""
    return _core.wcdma_shares(scenario.compiled())


def mean_factor(scenario: Scenario, places: int = 10_000) -> float:
    """Returns the factor eta of the `mean` model that is equivalent to a scenario's map.

    It is the ratio of the power from other cells to that from the own cell, averaged over
    `places` random positions in the cell.
    """
    return _core.wcdma_mean_factor(scenario.compiled(), places)


def _code(bits: int, correctable: int) -> None:
    if bits < 1:
        raise ValueError(f"a frame has at least one bit, got {bits}")
    if not 0 <= correctable <= bits:
        raise ValueError(
            f"a code cannot correct {correctable} errors of {bits} bits; expected 0 to {bits}"
        )
