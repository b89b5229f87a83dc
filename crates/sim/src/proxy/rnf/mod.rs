//! Radio network feedback: a split connection whose window towards the phone follows what the radio
//! carries (`fiorenzi`, section III; Möller, Molero, Johansson, Petersson, Skog & Arvidsson, *Using
//! radio network feedback to improve TCP performance over cellular networks*, CDC 2005).
//!
//! The RNC measures what it could have sent the phone and tells the proxy at intervals (the
//! [`meter`]); the proxy sets its window from that (the [`law`]) instead of probing for it. Until the
//! first message the connection has its ordinary congestion control.

pub mod law;
pub mod meter;
pub mod round_trip;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::rng::Streams;
use nodeb_base::units::Duration;
use nodeb_net::LossSetting;
use nodeb_tcp::TcpSpec;

use law::Law;
use meter::Meter;
use round_trip::RoundTripSpec;

params! {
    /// Parameters of a proxy with radio network feedback. The defaults are the study's.
    pub struct Rnf {
        // The defaults: `fiorenzi`, section IV.A: 36 IP packets, and the shortest of its intervals.
        /// TCP between proxy and phone, which repairs losses; absent: the same as between server and proxy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tcp: Option<TcpSpec>,
        /// Packets that should wait at the RNC for the phone.
        pub q_ref: f64 = 36.0,
        /// Time over which the RNC averages the bandwidth before it sends a message.
        pub interval: Duration = Duration::from_millis(80),
        /// Time that a message takes from the RNC to the proxy; absent: the delays of the links between them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delay: Option<Duration>,
        /// Loss of messages: a probability, or a model.
        pub loss: LossSetting,
        /// What the proxy takes for the round trip without waiting.
        pub rtt: RoundTripSpec,
        /// Messages also tell how many packets wait, and this share of what is missing is added to the
        /// window with every one; absent: bandwidth alone, as in the study.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queue_feedback: Option<f64>,
    }
}

/// Shorter intervals than a TTI measure nothing, and more packets than these no RNC holds.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
const MAX_PACKETS: f64 = 1e6;

/// Without any delay the queue meets its reference in one step at a gain of 1 and never at 2.
const LARGEST_GAIN: f64 = 2.0;

impl Checked for Rnf {
    fn check(&self, check: &mut Check) {
        if let Some(tcp) = &self.tcp {
            check.within("tcp", |check| tcp.check(check));
        }
        check.require((0.0..=MAX_PACKETS).contains(&self.q_ref), "q_ref", || {
            format!("no queue holds {} packets; expected 0 to {MAX_PACKETS}", self.q_ref)
        });
        check.require(self.interval >= SHORTEST_INTERVAL, "interval", || {
            format!(
                "nothing can be averaged over {}; expected {SHORTEST_INTERVAL} or more, such as \"80 ms\"",
                self.interval
            )
        });
        self.loss.check_within("loss", check);
        check.within("rtt", |check| self.rtt.check(check));
        let gain = self.queue_feedback;
        check.require(gain.is_none_or(|gain| gain > 0.0 && gain < LARGEST_GAIN), "queue_feedback", || {
            let gain = gain.unwrap_or_default();
            format!("a gain of {gain} never brings the queue to its reference; expected more than 0 and less than 2")
        });
    }
}

impl Rnf {
    /// What sets the window of one connection whose full-sized packets have `packet_bytes`.
    pub fn law(&self, packet_bytes: u64) -> Law {
        Law::new(self, packet_bytes as f64)
    }

    /// The RNC's part for connection `flow`; messages take `way` where no delay is given.
    pub fn meter(&self, flow: u32, way: Duration, streams: Streams) -> Meter {
        let loss = self.loss.build(&streams, "rnf", u64::from(flow));
        Meter::new(self.interval, self.delay.unwrap_or(way), loss)
    }
}
