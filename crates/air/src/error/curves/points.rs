/// Between two points the logarithm of the rate is linear in the SNR in dB; below the first and above the
/// last point the rate is constant.
#[derive(Clone, Debug, Default)]
pub struct PointCurve {
    /// SNR in dB and decimal logarithm of the rate, in ascending order of SNR.
    points: Vec<(f64, f64)>,
}

impl PointCurve {
    /// SNR in dB and rate, in ascending order of SNR.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { points: points.into_iter().map(|(snr_db, rate)| (snr_db, libm::log10(rate))).collect() }
    }

    /// 1 if the curve has no points.
    pub fn rate(&self, snr_db: f64) -> f64 {
        let above = self.points.partition_point(|(at, _)| *at <= snr_db);
        let log = match (above.checked_sub(1).map(|below| self.points[below]), self.points.get(above)) {
            (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (snr_db - x0) / (x1 - x0),
            (Some((_, y)), None) | (None, Some(&(_, y))) => y,
            (None, None) => 0.0,
        };
        libm::pow(10.0, log)
    }

    /// Smallest SNR with at most `rate`, infinity if there is none; the points' rates must not rise with the
    /// SNR.
    pub fn snr_db(&self, rate: f64) -> f64 {
        let target = libm::log10(rate);
        let below = self.points.partition_point(|(_, log)| *log > target);
        match (below.checked_sub(1).map(|above| self.points[above]), self.points.get(below)) {
            (Some((x0, y0)), Some((x1, y1))) => x0 + (x1 - x0) * (target - y0) / (y1 - y0),
            (None, Some((x, _))) => *x,
            (_, None) => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_rate_is_linear_between_points() {
        let curve = PointCurve::new([(0.0, 1.0), (1.0, 0.1), (2.0, 0.001)]);
        for (snr_db, rate) in [(-5.0, 1.0), (0.5, 0.1f64.sqrt()), (1.0, 0.1), (1.5, 0.01), (9.0, 0.001)] {
            assert!((curve.rate(snr_db) / rate - 1.0).abs() < 1e-12, "{snr_db}");
        }
        for (rate, snr_db) in [(1.0, 0.0), (0.1, 1.0), (0.01, 1.5)] {
            let found = curve.snr_db(rate);
            assert!((found - snr_db).abs() < 1e-12, "{rate}: {found}");
        }
        assert!(curve.snr_db(1e-4).is_infinite());
        assert!((PointCurve::default().rate(3.0) - 1.0).abs() < 1e-12);
    }
}
