//! Jitter: an extra delay, drawn for every packet, that keeps their order.

pub mod normal;
pub mod uniform;

use nodeb_base::registry;
use nodeb_base::rng::Stream;
use nodeb_base::units::Duration;

/// Draws the extra delay of every packet.
pub trait Jitter: Send + std::fmt::Debug {
    /// The extra delay of the next packet.
    fn draw(&mut self, stream: &mut Stream) -> Duration;
}

registry! {
    /// The extra delay of a link's packets, as a scenario names it.
    "jitter" JitterSpec {
        /// Evenly distributed between nothing and a most.
        "uniform" => Uniform(uniform::UniformJitter),
        /// Normally distributed, negative values taken as nothing.
        "normal" => Normal(normal::NormalJitter),
    }
}

impl JitterSpec {
    /// The jitter of one link.
    pub fn build(&self) -> Box<dyn Jitter> {
        match self {
            Self::Uniform(params) => Box::new(*params),
            Self::Normal(params) => Box::new(*params),
        }
    }
}
