//! Jitter with a normal distribution, of which negative values are replaced by 0.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::rng::{Stream, normal};
use nodeb_base::units::{Duration, Time};

use super::Jitter;

params! {
    /// Parameters of normally distributed jitter, whose negative values are replaced by 0.
    #[derive(Copy)]
    pub struct NormalJitter {
        /// Mean of the distribution, before negative values are replaced by 0.
        pub mean: Duration = Duration::from_millis(10),
        /// Standard deviation of the distribution, before negative values are replaced by 0.
        pub deviation: Duration = Duration::from_millis(3),
    }
}

impl Checked for NormalJitter {}

impl Jitter for NormalJitter {
    fn draw(&mut self, _sent: Time, stream: &mut Stream) -> Duration {
        let extra = self.mean.0 as f64 + normal(stream) * self.deviation.0 as f64;
        Duration(extra.round().max(0.0) as u64)
    }
}
