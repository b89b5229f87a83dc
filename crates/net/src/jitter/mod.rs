//! Jitter: an extra delay of each packet, drawn at random, which keeps the order of packets.

pub mod normal;
pub mod uniform;

use nodeb_base::registry;
use nodeb_base::rng::Stream;
use nodeb_base::units::Duration;

pub trait Jitter: std::fmt::Debug {
    fn draw(&mut self, stream: &mut Stream) -> Duration;
}

registry! {
    /// Jitter: the extra delay of a link's packets, as a scenario names it.
    "jitter" JitterSpec {
        /// Delay that is distributed uniformly between 0 and a maximum.
        "uniform" => Uniform(uniform::UniformJitter),
        /// Normally distributed delay, with negative values replaced by 0.
        "normal" => Normal(normal::NormalJitter),
    }
}

impl JitterSpec {
    pub fn build(&self) -> Box<dyn Jitter> {
        match self {
            Self::Uniform(params) => Box::new(*params),
            Self::Normal(params) => Box::new(*params),
        }
    }
}
