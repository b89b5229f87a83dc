//! Jitter: an extra delay of each packet, drawn at random or recorded, which keeps the order of packets.

pub mod normal;
pub mod trace;
pub mod uniform;

use nodeb_base::registry;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Time};

pub trait Jitter: std::fmt::Debug {
    /// Extra delay of a packet whose transmission ends at `sent`.
    fn draw(&mut self, sent: Time, stream: &mut Stream) -> Duration;
}

registry! {
    /// Jitter: the extra delay of a link's packets, as a scenario names it.
    "jitter" JitterSpec {
        /// Delay that is distributed uniformly between 0 and a maximum.
        "uniform" => Uniform(uniform::UniformJitter),
        /// Normally distributed delay, with negative values replaced by 0.
        "normal" => Normal(normal::NormalJitter),
        /// Delay that follows a recording over time.
        "trace" => Trace(trace::TraceJitter),
    }
}

impl JitterSpec {
    pub fn build(&self) -> Box<dyn Jitter> {
        match self {
            Self::Uniform(params) => Box::new(*params),
            Self::Normal(params) => Box::new(*params),
            Self::Trace(params) => Box::new(params.clone()),
        }
    }

    /// Error message with the key if the caller has not read the file of the delays.
    pub fn unread(&self) -> Option<String> {
        let Self::Trace(trace) = self else { return None };
        let file = trace.unread()?;
        Some(format!(
            "jitter.trace: the delays `{file}` have not been read; expected them as `times` and `delays`"
        ))
    }
}
