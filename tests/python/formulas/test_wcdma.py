"""Tests of the WCDMA link model, compared with scipy, and of its scenario keys."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from nodeb.formulas import wcdma
from nodeb.inputs.scenario import Scenario

USERS = '\n[[users]]\ntraffic.ftp.size = "10 kB"\n'


def scenario(lines: str) -> Scenario:
    return Scenario.from_toml(lines + USERS, "test")


def by_quadrature(gammas: list[float]) -> float:
    """Computes the error rate by numerical integration of the moment generating function."""

    def integrand(theta: float) -> float:
        square = math.sin(theta) ** 2
        return math.prod(square / (square + gamma) for gamma in gammas) / math.pi

    return float(integrate.quad(integrand, 0, math.pi / 2, epsabs=0, epsrel=1e-11)[0])


@pytest.mark.parametrize(
    "gammas",
    [
        [2.5] * 4,
        [1.0],
        [3.2, 5.7, 0.3, 0.57, 0.017, 0.144],
        [2.0, 2.0, 1.0],
        [2.0, 2.0 + 1e-9, 1.0],
        [1e-3, 40.0, 40.0],
    ],
)
def test_bit_error_rate_matches_the_integral(gammas: list[float]) -> None:
    assert wcdma.bit_error_rate(gammas) == pytest.approx(by_quadrature(gammas), rel=1e-7)


@pytest.mark.parametrize("ber", [1e-9, 1e-4, 3e-3, 0.05, 0.4, 0.999])
@pytest.mark.parametrize("correctable", [0, 1, 4, 127])
def test_frame_errors_are_binomial(ber: float, correctable: int) -> None:
    expected = stats.binom.cdf(correctable, 128, ber)
    assert wcdma.frame_success(ber, 128, correctable) == pytest.approx(
        expected, rel=1e-9, abs=1e-300
    )


def test_check_bits_match_the_bound() -> None:
    for bits in (15, 128, 500):
        for t in range(1, 8):
            volume = sum(math.comb(bits - 1, i) for i in range(2 * t))
            if volume.bit_length() < bits:
                assert wcdma.check_bits(bits, t) == volume.bit_length()
    assert wcdma.effective_share(128, 1) == pytest.approx(120 / 128)


def test_equation_3_by_hand() -> None:
    expected = 1 / (8 / 384 * 3 + 10 * 4 / 384 + 1 / (2 * 0.25 * 10))
    assert wcdma.sinr(0.25, 8, 10, 128, 10) == pytest.approx(expected)


def test_invalid_numbers_are_rejected_with_a_message() -> None:
    with pytest.raises(ValueError, match="no path"):
        wcdma.bit_error_rate([])
    with pytest.raises(ValueError, match="cannot correct 129 errors of 128 bits"):
        wcdma.frame_success(0.1, 128, 129)
    with pytest.raises(ValueError, match="leaves no data"):
        wcdma.check_bits(128, 64)
    with pytest.raises(ValueError, match="share from 0 to 1"):
        wcdma.sinr(1.5, 1, 1, 128, 10)
    with pytest.raises(ValueError, match="is `dch`; expected `wcdma`"):
        wcdma.operating_points(scenario("radio = 'dch'"), 3)


def test_powers_that_do_not_sum_to_one_are_normalised_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="sum to 4, not 1"):
        assert wcdma.normalized([3, 1]) == [0.75, 0.25]
    given = scenario("radio.wcdma.profile.taps.powers = [3.0, 1.0]")
    assert wcdma.path_shares(given) == [0.75, 0.25]


def test_rates_decrease_with_connections_and_alpha_is_a_fixed_point() -> None:
    given = scenario("radio.wcdma.other_cells.mean = { factor = 0.6, load.connections = 2.0 }")
    points = wcdma.operating_points(given, 15)
    rates = [point.rates[0] for point in points]
    assert rates[0] == 8
    assert rates[-1] == 2
    assert rates == sorted(rates, reverse=True)
    chances = stats.poisson.pmf(np.arange(1, 16), 2.0)
    mean = np.dot(chances, rates) / chances.sum()
    assert points[0].alpha == pytest.approx(mean, abs=0.02)


def test_map_places_every_phone() -> None:
    given = scenario("radio.wcdma.other_cells = 'map'\nduration = '20 s'")
    given = given.with_(**{"users.0.count": 6, "runs": 2})
    cell = given.run(progress=False).tables["cell"]
    assert len(set(cell["x_radii"])) == 12
    assert np.all(cell["frames"] >= cell["frames_failed"])
    assert np.any(cell["frames"] > 0)
    assert wcdma.mean_factor(given, 500) > 0.3


def test_smallest_window_fills_the_path() -> None:
    # At the highest rate, a packet of 36 frames takes five slots of 10 ms, and its acknowledgement
    # takes one slot.
    windows = [
        math.ceil(wcdma.smallest_window(delay, 0.05, 0.01)) for delay in (0.02, 0.05, 0.1, 0.2, 0.4)
    ]
    assert windows == [2, 4, 6, 10, 18]
    with pytest.raises(ValueError, match="wired_delay_s must be a finite number of at least 0"):
        wcdma.smallest_window(-0.1, 0.05, 0.01)
    with pytest.raises(ValueError, match="no window keeps such a link busy"):
        wcdma.smallest_window(0.1, 0.0, 0.01)
