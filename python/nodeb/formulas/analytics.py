"""Closed formulas around TCP on a radio link.

The functions take and return plain numbers. The suffix of an argument's name is its unit: `_s`,
`_per_s`, `_bytes`, `_bps` (bit/s). Arguments without such a suffix are counts or ratios. The
docstring of a function states the unit of its result. `nodeb reproduce` computes analytic
tables with them, and simulations can be checked against them.

Sources are abbreviated: *Wang 2004* is X. Wang, "3G HSDPA Performance
In Mobile Internet Connections", IMIT/LCN 2004-02, KTH Stockholm, 2004.
"""

from __future__ import annotations

import math

__all__ = [
    "application_bit_rate",
    "bandwidth_delay_product",
    "channel_utilization",
    "retransmit_bit_rate",
    "rtt_model",
    "slow_start_cycles",
    "slow_start_transfer_time",
    "slow_start_window_time",
]

BITS_PER_BYTE = 8
MAX_CYCLES = 1024


def _positive(**quantities: float) -> None:
    """Raises `ValueError` for the first quantity that is not a finite number above zero."""
    for name, value in quantities.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


def not_negative(**quantities: float) -> None:
    """Raises `ValueError` for the first quantity that is not a finite number of at least zero."""
    for name, value in quantities.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")


def _error_rate(bler: float) -> None:
    if not 0 <= bler < 1:
        raise ValueError(f"bler must lie in 0 <= bler < 1, got {bler!r}")


def bandwidth_delay_product(rate_bps: float, rtt_s: float) -> float:
    """Returns the bandwidth-delay product: the number of bytes that fill a path.

    Formula: `rate_bps * rtt_s / 8`. Source: Wang 2004, eq. (1), which states it in bits.

    Args:
        rate_bps: bit rate of the slowest link, bit/s.
        rtt_s: end-to-end round-trip time, s.

    Returns:
        Bandwidth-delay product in bytes.

    Raises:
        ValueError: if a quantity is negative or not finite.

    Example:
        >>> bandwidth_delay_product(384_000, 0.3)
        14400.0
    """
    not_negative(rate_bps=rate_bps, rtt_s=rtt_s)
    return rate_bps * rtt_s / BITS_PER_BYTE


def slow_start_window_time(cycle: int, rtt_s: float, packets_per_s: float) -> float:
    """Returns the time at which the congestion window reaches `2**cycle` packets in slow start.

    Formula: `n * RTT + (2**(n-1) - 1) / BW`: n round trips, and the time that the rest of the last
    window needs on the slowest link. The window is one packet at the start, and acknowledgements
    are not delayed.
    Source: Wang 2004, eq. (2), after Ameigeiras and Wigard, VTC Spring 2002.

    Args:
        cycle: number of the cycle n, at least 1.
        rtt_s: round-trip time without queueing, s.
        packets_per_s: capacity of the slowest link in IP packets per second.

    Returns:
        Time since the first packet was sent, s.

    Raises:
        ValueError: if `cycle` is below 1 or a quantity is not positive.
    """
    if cycle < 1:
        raise ValueError(f"cycle must be at least 1, got {cycle!r}")
    _positive(rtt_s=rtt_s, packets_per_s=packets_per_s)
    return cycle * rtt_s + float(2 ** (cycle - 1) - 1) / packets_per_s


def slow_start_cycles(
    rate_bps: float, rtt_s: float, packet_bytes: float, *, bdp_scale: float = 1.0
) -> int:
    """Returns the number of round trips of slow start until the window fills the path.

    It is the smallest `n >= 1` with `2**n >= BDP + 1`, the BDP in packets. The BDP is the number
    of packets under way, and the 1 is the packet that the slowest link is sending. The window after
    n cycles is that of eq. (2) of Wang 2004 (`slow_start_window_time`).

    This formula gives Table 2 of that study if the packet size is the segment size without headers,
    and the products are those of its Table 1, which are 0.8 times eq. (1) (`bdp_scale=0.8`). Two of
    the twenty cells still differ by one cycle: those of 384 kb/s with 536-byte segments. Both
    contradict the 4 cycles of 256 kb/s at 300 ms: a rate 1.5 times as high cannot take two more
    doublings, and half of the delay cannot take more cycles.

    Args:
        rate_bps: bit rate of the slowest link, bit/s.
        rtt_s: round-trip time, s.
        packet_bytes: size of one packet, bytes.
        bdp_scale: factor on the bandwidth-delay product; 1 takes eq. (1) unchanged.

    Returns:
        Number of cycles, at least 1.

    Raises:
        ValueError: if a quantity is not positive.

    Example:
        >>> slow_start_cycles(384_000, 0.3, 1500)
        4
    """
    _positive(rate_bps=rate_bps, rtt_s=rtt_s, packet_bytes=packet_bytes, bdp_scale=bdp_scale)
    needed = bdp_scale * bandwidth_delay_product(rate_bps, rtt_s) / packet_bytes + 1
    # The number is reduced slightly, so that rounding errors do not lift an exact power of two to
    # the next cycle.
    return max(1, math.ceil(math.log2(needed * (1 - 1e-12))))


def rtt_model(k: float, rlc_rtt_s: float, internet_s: float, core_s: float) -> float:
    """Returns the end-to-end round-trip time over a UMTS bearer with link retransmissions.

    Formula: `k * RTT_RLC + 2 * (internet + core)`. Source: Wang 2004, eq. (3), after Peisa and
    Meyer (2001) and Meyer, Sachs and Holzke (2003): k is about 1.5 at 1 % and about 3 at 10 %
    block errors in both directions.

    Args:
        k: mean number of RLC round trips of an IP packet.
        rlc_rtt_s: round-trip time of the RLC layer, s.
        internet_s: one-way delay of the Internet, s.
        core_s: one-way delay of the core network, s.

    Returns:
        Round-trip time, s.

    Raises:
        ValueError: if a quantity is negative or not finite.
    """
    not_negative(k=k, rlc_rtt_s=rlc_rtt_s, internet_s=internet_s, core_s=core_s)
    return k * rlc_rtt_s + 2 * (internet_s + core_s)


def application_bit_rate(application_bytes: float, time_s: float) -> float:
    """Returns the application data per unit of time, bit/s.

    Formula: `8 * application_bytes / time_s`. Source: Wang 2004, section 9.2, formula (1), where
    the time is the mean download time of the file.

    Args:
        application_bytes: file size without TCP/IP headers, bytes.
        time_s: download time, s.

    Returns:
        Application bit rate, bit/s.

    Raises:
        ValueError: if the time is not positive, the size is negative, or one is not finite.
    """
    not_negative(application_bytes=application_bytes)
    _positive(time_s=time_s)
    return BITS_PER_BYTE * application_bytes / time_s


def retransmit_bit_rate(ip_bytes: float, time_s: float, bler: float) -> float:
    """Returns the bit rate on the radio channel with the link's retransmissions, bit/s.

    Formula: `8 * ip_bytes / time_s / (1 - bler)`: with independent block errors each block is sent
    `1 / (1 - bler)` times on average. Source: Wang 2004, section 9.2, formula (2).

    Args:
        ip_bytes: file size with TCP/IP headers, bytes.
        time_s: download time, s.
        bler: block error rate, 0 <= bler < 1.

    Returns:
        Retransmit bit rate, bit/s.

    Raises:
        ValueError: if a quantity is out of range.
    """
    not_negative(ip_bytes=ip_bytes)
    _positive(time_s=time_s)
    _error_rate(bler)
    return BITS_PER_BYTE * ip_bytes / time_s / (1 - bler)


def channel_utilization(
    ip_bytes: float, time_s: float, bler: float, channel_rate_bps: float
) -> float:
    """Returns the share of the channel's bit rate that the transfer used, as a fraction.

    Formula: `retransmit_bit_rate / channel_rate`. Source: Wang 2004, section 9.2, formula (3).

    Args:
        ip_bytes: file size with TCP/IP headers, bytes; of all users on a shared channel.
        time_s: download time, s; of the last user on a shared channel.
        bler: block error rate, 0 <= bler < 1.
        channel_rate_bps: bit rate of the channel, bit/s.

    Returns:
        Utilization as a fraction; above 1 if the time is too short for the channel's rate.

    Raises:
        ValueError: if a quantity is out of range.
    """
    _positive(channel_rate_bps=channel_rate_bps)
    return retransmit_bit_rate(ip_bytes, time_s, bler) / channel_rate_bps


def slow_start_transfer_time(
    packets: int, rtt_s: float, packet_time_s: float, initial_window: int = 2
) -> float:
    """Returns the time to send a file in slow start on a path without errors or losses.

    Each acknowledgement lets two packets go, so the window doubles per round trip until a window
    lasts longer than a round trip; from then on the slowest link never falls idle. The formula is
    `T = N * s + RTT + sum over k < K of (s + RTT - w * 2**k * s)`, for packets of s seconds and an
    initial window of w. K is the number of windows that end before the next acknowledgement is
    back, not counting the file's last window. Standard slow-start model, as in Cardwell, Savage and
    Anderson, "Modeling TCP Latency", INFOCOM 2000. The model leaves out delayed acknowledgements, a
    window limit and the connection's set-up: with any of them a transfer takes longer.

    Args:
        packets: number of data packets N, at least 1.
        rtt_s: time from the end of a packet's transmission on the slowest link until a packet
            released by the first packet's acknowledgement arrives at this link, s.
        packet_time_s: transmission time of one packet on the slowest link, s.
        initial_window: window at the start in packets, at least 1.

    Returns:
        Time from the beginning of the first transmission until the last acknowledgement, s.

    Raises:
        ValueError: if a count is below 1 or a time out of range.
    """
    if packets < 1 or initial_window < 1:
        raise ValueError("packets and initial_window must be at least 1")
    not_negative(rtt_s=rtt_s)
    _positive(packet_time_s=packet_time_s)
    sent, window, waits = 0, initial_window, 0.0
    for _ in range(MAX_CYCLES):
        # The acknowledgement of the window's first packet arrives one packet time and one round
        # trip after the window begins; the link is idle from the window's end until then.
        gap = packet_time_s + rtt_s - window * packet_time_s
        sent += window
        if sent >= packets or gap <= 0:
            break
        waits += gap
        window *= 2
    return packets * packet_time_s + waits + rtt_s
