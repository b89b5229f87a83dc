//! Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27(23),
//! 1991: the correlation of the shadowing in dB decreases with the distance d as `exp(-d / d_0)`. TR 101 112,
//! B.1.4.1.4, also has an exponential correlation along the path, but none between sites. Obstacles near the
//! phone shadow all sites alike: sites share a part of the variance.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::rng::{Stream, normal};
use nodeb_base::units::{Distance, Probability};

params! {
    /// Log-normal shadowing. Defaults: TR 25.848, table A.3, unless another source is named.
    pub struct Shadowing {
        /// Standard deviation of the shadowing in dB; 0 switches shadowing off. Default: with the path loss
        /// `uma`, `umi` or `rma` that of TR 38.901 for links with or without line of sight, else 8 dB.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sigma_db: Option<f64>,
        /// Distance `d_0` at which the correlation of the shadowing has decreased to 1/e.
        pub correlation_distance: Distance = Distance::from_metres(50),
        /// Correlation of the shadowing between two sites.
        pub site_correlation: Probability = Probability(0.5),
    }
}

impl Checked for Shadowing {
    fn check(&self, check: &mut Check) {
        check.range("sigma_db", self.sigma_db.unwrap_or(SIGMA_DB), 0.0..=30.0);
        check.require(self.correlation_distance.0 > 0, "correlation_distance", || {
            "expected a distance above 0 m".to_owned()
        });
    }
}

impl Shadowing {
    pub fn is_off(&self) -> bool {
        self.sigma_db == Some(0.0)
    }
}

/// TR 25.848, table A.3.
const SIGMA_DB: f64 = 8.0;

#[derive(Debug)]
pub struct Shadows {
    sigma_db: Option<f64>,
    correlation_m: f64,
    /// Weights of the shared and of a site's own process, whose squares sum to 1.
    shares: [f64; 2],
    /// Of unit variance: the process that all sites share, then one for each site; empty if shadowing is off.
    values: Vec<f64>,
    stream: Stream,
}

impl Shadows {
    pub fn new(params: &Shadowing, sites: usize, mut stream: Stream) -> Self {
        let shared = params.site_correlation.0;
        let processes = if params.is_off() { 0 } else { sites + 1 };
        Self {
            sigma_db: params.sigma_db,
            correlation_m: params.correlation_distance.as_metres(),
            shares: [libm::sqrt(shared), libm::sqrt(1.0 - shared)],
            values: (0..processes).map(|_| normal(&mut stream)).collect(),
            stream,
        }
    }

    /// For a user so far from the earlier position that the two shadowings are uncorrelated.
    pub fn restart(&mut self, stream: Stream) {
        self.stream = stream;
        for value in &mut self.values {
            *value = normal(&mut self.stream);
        }
    }

    pub fn advance(&mut self, metres: f64) {
        let keep = libm::exp(-metres / self.correlation_m);
        let new_share = libm::sqrt(1.0 - keep * keep);
        for value in &mut self.values {
            *value = keep * *value + new_share * normal(&mut self.stream);
        }
    }

    /// 0 if shadowing is off; a deviation in the scenario has priority over the model's.
    pub fn loss_db(&self, site: usize, sigma_db: Option<f64>) -> f64 {
        let sigma_db = self.sigma_db.or(sigma_db).unwrap_or(SIGMA_DB);
        match &self.values[..] {
            [] => 0.0,
            [shared, own @ ..] => sigma_db * (self.shares[0] * shared + self.shares[1] * own[site]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    /// Variance, covariance at a lag of one step, and covariance between two sites.
    fn moments(params: &Shadowing, metres: f64, n: u32) -> [f64; 3] {
        let mut shadows = Shadows::new(params, 2, Streams::new(1, 0).stream("test", 0, "shadowing"));
        let mut sums = [0.0; 3];
        for _ in 0..n {
            let [before, other] = [0, 1].map(|site| shadows.loss_db(site, None));
            shadows.advance(metres);
            let after = shadows.loss_db(0, None);
            for (sum, product) in sums.iter_mut().zip([after * after, before * after, before * other]) {
                *sum += product / f64::from(n);
            }
        }
        sums
    }

    #[test]
    fn sigma_and_both_correlations_match_the_parameters() {
        let params = Shadowing::default();
        for metres in [5.0, 25.0, 100.0] {
            let n = 200_000;
            let [variance, lagged, between] = moments(&params, metres, n);
            let rho = (-metres / 50.0f64).exp();
            // The mean of `n` products of an AR(1) process has the variance of a mean of n (1 -
            // rho^2) / (1 + rho^2) independent products.
            let independent = f64::from(n) * (1.0 - rho * rho) / (1.0 + rho * rho);
            let tolerance = 4.0 * 64.0 * (2.0 / independent).sqrt();
            assert!((variance - 64.0).abs() < tolerance, "{metres} m: {variance} within {tolerance}");
            assert!((lagged - 64.0 * rho).abs() < tolerance, "{metres} m: {lagged}, {}", 64.0 * rho);
            assert!((between - 32.0).abs() < tolerance, "{metres} m: {between}");
        }
    }

    #[test]
    fn sigma_0_gives_no_shadowing() {
        let params = Shadowing { sigma_db: Some(0.0), ..Shadowing::default() };
        assert!(moments(&params, 10.0, 10).iter().all(|moment| *moment <= 0.0));
    }
}
