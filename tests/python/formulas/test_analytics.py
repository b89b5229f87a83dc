"""Tests of closed forms: values computed by hand, limits, and invalid arguments."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb.formulas import analytics


def test_bandwidth_delay_product_of_a_umts_channel() -> None:
    assert analytics.bandwidth_delay_product(384_000, 0.3) == pytest.approx(14_400)
    assert analytics.bandwidth_delay_product(32_000, 0.3) == pytest.approx(1_200)
    assert analytics.bandwidth_delay_product(384_000, 0) == 0


def test_window_time_includes_the_queue_of_the_last_window() -> None:
    assert analytics.slow_start_window_time(1, 0.3, 32) == pytest.approx(0.3)
    assert analytics.slow_start_window_time(4, 0.3, 32) == pytest.approx(1.2 + 7 / 32)


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s", "packet_bytes", "cycles"),
    [
        # 4.8 packets are in flight and one is in service, so the window must reach 2^3.
        (384_000, 0.15, 1500, 3),
        (384_000, 0.3, 1500, 4),
        (32_000, 0.15, 1500, 1),
        # Exactly one packet is in flight and one is in service, so a window of two fills the path.
        (12_000, 1.0, 1500, 1),
        # Three packets are in flight and one is in service, so a window of four fills the path.
        (36_000, 1.0, 1500, 2),
    ],
)
def test_cycles_match_hand_computation(
    rate_bps: float, rtt_s: float, packet_bytes: float, cycles: int
) -> None:
    assert analytics.slow_start_cycles(rate_bps, rtt_s, packet_bytes) == cycles


@given(st.floats(1e3, 1e8), st.floats(1e-3, 10), st.floats(40, 9000), st.floats(0.1, 2))
def test_cycles_are_the_smallest_that_fill_the_path(
    rate_bps: float, rtt_s: float, packet_bytes: float, scale: float
) -> None:
    n = analytics.slow_start_cycles(rate_bps, rtt_s, packet_bytes, bdp_scale=scale)
    product = analytics.bandwidth_delay_product(rate_bps, rtt_s)
    needed = scale * product / packet_bytes + 1
    assert 2**n >= needed * (1 - 1e-9)
    assert n == 1 or 2 ** (n - 1) < needed


def test_rtt_model_matches_the_literature() -> None:
    assert analytics.rtt_model(1.5, 0.1, 0.05, 0.02) == pytest.approx(0.29)
    assert analytics.rtt_model(3, 0.1, 0.05, 0.02) == pytest.approx(0.44)


def test_rates_and_utilization_agree() -> None:
    assert analytics.application_bit_rate(50_000, 2.5) == pytest.approx(160_000)
    assert analytics.retransmit_bit_rate(51_400, 2.5, 0.1) == pytest.approx(164_480 / 0.9)
    used = analytics.channel_utilization(51_400, 2.5, 0.1, 384_000)
    assert used == pytest.approx(164_480 / 0.9 / 384_000)


@given(st.integers(1, 2000), st.floats(0, 2), st.floats(1e-4, 0.5), st.integers(1, 20))
def test_slow_start_takes_at_least_its_packets_and_one_round_trip(
    packets: int, rtt_s: float, packet_s: float, window: int
) -> None:
    time = analytics.slow_start_transfer_time(packets, rtt_s, packet_s, window)
    assert time >= packets * packet_s + rtt_s - 1e-9
    # A larger initial window never makes a transfer take longer.
    assert analytics.slow_start_transfer_time(packets, rtt_s, packet_s, window + 1) <= time + 1e-9


def test_slow_start_by_hand() -> None:
    # On a path of 10 packet times with windows of 1, 2 and 4, the sender waits twice, for 10 and 9
    # packet times. The last ACK takes 10.
    assert analytics.slow_start_transfer_time(7, 10, 1, 1) == pytest.approx(7 + 10 + 9 + 10)
    # If the window fills the path and the link, the sender never waits.
    assert analytics.slow_start_transfer_time(100, 1, 1, 2) == pytest.approx(101)


@pytest.mark.parametrize(
    "call",
    [
        lambda: analytics.bandwidth_delay_product(-1, 0.1),
        lambda: analytics.bandwidth_delay_product(math.nan, 0.1),
        lambda: analytics.slow_start_window_time(0, 0.1, 10),
        lambda: analytics.slow_start_cycles(384_000, 0.1, 0),
        lambda: analytics.rtt_model(1, -0.1, 0, 0),
        lambda: analytics.application_bit_rate(1000, 0),
        lambda: analytics.retransmit_bit_rate(1000, 1, 1.0),
        lambda: analytics.channel_utilization(1000, 1, 0.1, 0),
        lambda: analytics.slow_start_transfer_time(0, 0.1, 0.1),
    ],
)
def test_invalid_quantities_are_named(call: object) -> None:
    with pytest.raises(ValueError, match=r"must|got"):
        call()  # type: ignore[operator]
