//! `fiorenzi`, section III; Möller, Molero, Johansson, Petersson, Skog & Arvidsson, *Using radio network
//! feedback to improve TCP performance over cellular networks*, CDC 2005. The window towards the phone
//! follows the bandwidth that the RNC measures; before the first estimate of the round-trip time and message,
//! ordinary congestion control holds.

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
    /// Parameters of the proxy with radio network feedback. The defaults are those of the study `fiorenzi`.
    pub struct Rnf {
        // The default values of this struct are those of `fiorenzi`, section IV.A: 36 IP packets for `q_ref`,
        // and for `interval` the shortest one of the study.
        /// TCP between proxy and phone, which recovers losses; absent: the same as between server and proxy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tcp: Option<TcpSpec>,
        /// Target number of packets that wait at the RNC for the phone.
        pub q_ref: f64 = 36.0,
        /// Time over which the RNC averages the bandwidth for each message.
        pub interval: Duration = Duration::from_millis(80),
        /// Delay of messages from the RNC to the proxy; absent: that of the links between them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delay: Option<Duration>,
        /// Loss of messages from the RNC to the proxy: a probability, or a model.
        pub loss: LossSetting,
        /// Proxy's estimate of the round-trip time without queueing.
        pub rtt: RoundTripSpec,
        /// Gain of the queue feedback: each message adds this number times (`q_ref` - queue), in packets, to the
        /// window. The feedback pauses while the proxy holds less than a window of data. Absent: no feedback, as in
        /// `fiorenzi`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queue_feedback: Option<f64>,
    }
}

/// Half of HSDPA's TTI of 2 ms; a shorter one must be a typing error.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// In packets; a larger value must be a typing error.
const MAX_PACKETS: f64 = 1e6;

/// Exclusive: without delay, the queue reaches its target in one step at a gain of 1, and oscillates for ever
/// at 2.
const GAIN_LIMIT: f64 = 2.0;

impl Checked for Rnf {
    fn check(&self, check: &mut Check) {
        if let Some(tcp) = &self.tcp {
            check.within("tcp", |check| tcp.check(check));
        }
        check.require((0.0..=MAX_PACKETS).contains(&self.q_ref), "q_ref", || {
            format!("{} packets are out of range; expected 0 to {MAX_PACKETS}", self.q_ref)
        });
        check.require(self.interval >= SHORTEST_INTERVAL, "interval", || {
            format!(
                "{} is out of range; expected {SHORTEST_INTERVAL} or more, such as \"80 ms\"",
                self.interval
            )
        });
        self.loss.check_within("loss", check);
        check.within("rtt", |check| self.rtt.check(check));
        let gain = self.queue_feedback;
        check.require(gain.is_none_or(|gain| gain > 0.0 && gain < GAIN_LIMIT), "queue_feedback", || {
            let gain = gain.unwrap_or_default();
            format!("with a gain of {gain} the queue never settles at `q_ref`; expected more than 0 and less than 2")
        });
    }
}

impl Rnf {
    /// Bytes of full-sized packets.
    pub fn law(&self, packet_bytes: u64) -> Law {
        Law::new(self, packet_bytes as f64)
    }

    /// `path_delay` holds unless the scenario sets `delay`.
    pub fn meter(&self, flow: u32, path_delay: Duration, streams: Streams) -> Meter {
        let loss = self.loss.build(&streams, "rnf", u64::from(flow));
        Meter::new(self.interval, self.delay.unwrap_or(path_delay), loss)
    }
}
