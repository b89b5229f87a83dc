//! Evenly distributed jitter.

use nodeb_base::check::Checked;
use nodeb_base::rng::{Stream, uniform};
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Jitter;

/// Parameters of evenly distributed jitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformJitter {
    /// Largest extra delay.
    pub most: Duration,
}

impl Default for UniformJitter {
    fn default() -> Self {
        Self { most: Duration::from_millis(10) }
    }
}

impl Checked for UniformJitter {}

impl Jitter for UniformJitter {
    fn draw(&mut self, stream: &mut Stream) -> Duration {
        Duration((uniform(stream) * self.most.0 as f64).round() as u64)
    }
}
