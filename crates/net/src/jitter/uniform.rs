//! Jitter with a uniform distribution between 0 and a maximum.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::rng::{Stream, uniform};
use nodeb_base::units::{Duration, Time};

use super::Jitter;

params! {
    /// Parameters of jitter that is distributed uniformly between 0 and `most`.
    #[derive(Copy)]
    pub struct UniformJitter {
        /// Largest extra delay of a packet.
        pub most: Duration = Duration::from_millis(10),
    }
}

impl Checked for UniformJitter {}

impl Jitter for UniformJitter {
    fn draw(&mut self, _sent: Time, stream: &mut Stream) -> Duration {
        Duration((uniform(stream) * self.most.0 as f64).round() as u64)
    }
}
