use nodeb_base::units::{Duration, Speed, Time};

use crate::tti::grid::Grid;

/// In vacuum, exact by definition.
const LIGHT_M_PER_S: f64 = 299_792_458.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numerology {
    pub tti: Duration,
    /// Of the downlink.
    pub carrier_hz: f64,
    /// Or sample rate: a receiver resolves paths that are at least one chip apart.
    pub chip_rate_hz: f64,
}

impl Numerology {
    /// TS 25.211, 5.3.3.13 (2 ms) and TS 25.213, 5.1 (3.84 Mcps), at 2 GHz as in TR 25.848, annex A; band I
    /// is at 2.11 to 2.17 GHz (TS 25.101, 5.2).
    pub const HSDPA: Self = Self { tti: Duration::from_millis(2), carrier_hz: 2e9, chip_rate_hz: 3.84e6 };

    pub fn tti_s(self) -> f64 {
        self.tti.as_secs()
    }

    /// Rounded up.
    pub fn ttis(self, duration: Duration) -> u64 {
        duration.0.div_ceil(self.tti.0)
    }

    #[inline]
    pub fn beginning(self, tti: u64) -> Time {
        Grid::new(self.tti).beginning(tti)
    }

    /// At or after `at`.
    #[inline]
    pub fn first_from(self, at: Time) -> u64 {
        Grid::new(self.tti).from(at)
    }

    /// Rounded to the nearest chip.
    pub fn chip(self, delay_ns: u64) -> u64 {
        (delay_ns as f64 / (1e9 / self.chip_rate_hz)).round() as u64
    }

    /// Maximum Doppler shift in periods per TTI.
    pub fn doppler_per_tti(self, speed: Speed) -> f64 {
        speed.as_metres_per_s() * self.carrier_hz / LIGHT_M_PER_S * self.tti_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hsdpa_has_the_values_of_the_specifications() {
        let numerology = Numerology::HSDPA;
        assert_eq!(numerology.ttis(Duration::from_millis(5)), 3);
        assert_eq!(numerology.beginning(3), Time(6_000_000));
        assert_eq!([Time(6_000_000), Time(6_000_001)].map(|at| numerology.first_from(at)), [3, 4]);
        // A chip takes 260.4 ns, so delays of 131 ns or more are rounded up to one chip.
        assert_eq!([0, 130, 131, 391].map(|ns| numerology.chip(ns)), [0, 0, 1, 2]);
        let doppler = numerology.doppler_per_tti(Speed::from_kmh(3));
        assert!((doppler - 0.011_12).abs() < 1e-5, "{doppler}");
    }
}
