//! With a silence probability above 0 the source of `prabhu`, Figure 2: the probability that a burst is the
//! last of its session, before a long silence instead of a short pause.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::rng::{Stream, unit};
use nodeb_base::units::{Duration, Probability, Size};
use rand_core::Rng;

use super::distribution::{Exponential, SizeLaw, TimeLaw};
use super::{After, Source, Transfer};

params! {
    /// Bursts of data over one connection, with pauses between them.
    pub struct OnOff {
        /// Distribution of the size of a burst.
        pub burst: SizeLaw = SizeLaw::Exponential(Exponential { mean: Size(30_000) }),
        /// Distribution of the pause before a burst.
        pub pause: TimeLaw = TimeLaw::Exponential(Exponential { mean: Duration::from_secs(5) }),
        /// Probability that a burst is the last of its session, so that a silence replaces the next pause.
        pub silence_probability: Probability = Probability(0.0),
        /// Distribution of the silence between two sessions.
        pub silence: TimeLaw = TimeLaw::Exponential(Exponential { mean: Duration::from_secs(5) }),
        /// Whether a pause begins when the previous burst has been acknowledged (closed loop). If false, it begins
        /// when that burst began (open loop), and the load does not depend on the network.
        pub closed_loop: bool = true,
    }
}

impl Checked for OnOff {
    fn check(&self, check: &mut Check) {
        check.within("burst", |check| self.burst.check(check));
        check.within("pause", |check| self.pause.check(check));
        check.within("silence", |check| self.silence.check(check));
        let endless = matches!(&self.pause, TimeLaw::Constant(law) if law.value.0 == 0) && !self.closed_loop;
        check.require(!endless, "pause", || {
            "an open loop without pauses would send infinitely many bursts at once; expected more than 0 s".to_owned()
        });
    }
}

impl OnOff {
    /// Mean of the medians of pause and silence, weighted by their probabilities; `None` in a closed loop.
    pub(super) fn pace_s(&self) -> Option<f64> {
        let Probability(silences) = self.silence_probability;
        let pace_s = (1.0 - silences) * self.pause.median_s() + silences * self.silence.median_s();
        (!self.closed_loop).then_some(pace_s)
    }
}

#[derive(Debug)]
pub struct Bursts {
    params: OnOff,
    stream: Stream,
}

impl Bursts {
    pub fn new(params: &OnOff, stream: Stream) -> Self {
        Self { params: params.clone(), stream }
    }

    /// Pause or silence before the next burst.
    fn wait(&mut self) -> Duration {
        let OnOff { pause, silence_probability: Probability(p), silence, .. } = &self.params;
        let law = if *p > 0.0 && unit(self.stream.next_u64()) < *p { silence } else { pause };
        law.draw(&mut self.stream)
    }
}

impl Source for Bursts {
    fn next(&mut self) -> Option<Transfer> {
        Some(Transfer {
            wait: self.wait(),
            bytes: self.params.burst.draw(&mut self.stream),
            after: if self.params.closed_loop { After::End } else { After::Beginning },
            request_bytes: None,
            is_last: true,
        })
    }
}
