//! In a download the sender is at the server and the receiver at the phone; a proxy has one of each. In an
//! upload the ends exchange their roles: comments call the end that sends the data the server.

pub mod classic;
pub mod linux;
pub mod numbering;
pub mod request;
pub mod segment;
pub mod wire;

use std::num::NonZeroU32;

use nodeb_base::check::Check;
use nodeb_base::event::{Recovery, SendLimit, TimerKind};
use nodeb_base::keys;
use nodeb_base::remedy::{self, Remedy};
use nodeb_base::units::{Duration, Time};

use crate::segment::Segment;

/// Since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounts {
    /// SYNs, retransmissions and window probes included.
    pub packets: u64,
    /// Those of the SYN included.
    pub retransmissions: u64,
    /// While a SYN or data was outstanding.
    pub timeouts: u64,
    /// Entries into fast recovery (or slow start with Tahoe).
    pub fast_retransmits: u64,
    /// On data segments.
    pub rtt_samples: u64,
    /// On data segments.
    pub rtt_sum_ns: u64,
    /// On data segments; 0 if none was measured.
    pub rtt_min_ns: u64,
}

impl SenderCounts {
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.rtt_min_ns = if self.rtt_samples == 0 { rtt.0 } else { self.rtt_min_ns.min(rtt.0) };
        self.rtt_samples += 1;
        self.rtt_sum_ns += rtt.0;
    }

    /// NaN if there is none.
    pub fn rtt_min_s(&self) -> f64 {
        if self.rtt_samples == 0 { f64::NAN } else { Duration(self.rtt_min_ns).as_secs() }
    }

    /// NaN if there are none.
    pub fn rtt_mean_s(&self) -> f64 {
        self.rtt_sum_ns as f64 / self.rtt_samples as f64 / 1e9
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// In full-sized segments, or the window that replaces it (see [`Sender::steer`]).
    pub cwnd: f64,
    /// In full-sized segments; infinite with `linux` before it is set.
    pub ssthresh: f64,
}

/// After an event, from the [`Sender`] methods of these names.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// When to call [`Sender::on_timer`], unless another call changes it.
    pub timer: Option<Time>,
    pub acked_bytes: u64,
    pub recovery: Recovery,
    /// SYN and all data are acknowledged and the connection is closed: it never sends again.
    pub is_done: bool,
}

/// After a timeout with a window set from outside (see [`Sender::steer`]), with `linux` only while data is in
/// flight. Two per ACK is the pace of slow start (RFC 5681, 3.1); a large window would release all
/// retransmissions at once.
const RETRANSMISSIONS_PER_ACK: u64 = 2;

/// At the server, at the proxy towards the phone, or at the phone in an upload. Segments to transmit are
/// appended to `out`.
pub trait Sender: std::fmt::Debug {
    /// Sends what the window allows, after [`Self::open`].
    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>);
    /// For writing: done once all data is acknowledged.
    fn close(&mut self);
    /// A SYN, or a SYN-ACK if the phone has opened the connection; once.
    fn open(&mut self, now: Time, out: &mut Vec<Segment>);
    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>);
    /// At the time that [`Self::timer`] returned.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>);
    /// When to call [`Self::on_timer`]; other calls may change it.
    fn timer(&self) -> Option<Time>;
    /// Everything written is acknowledged, with `classic` the SYN too.
    fn is_idle(&self) -> bool;
    /// SYN and all data are acknowledged and the connection is closed.
    fn is_done(&self) -> bool;
    fn acked_bytes(&self) -> u64;
    /// With headers, each segment once, without the SYN.
    fn wire_bytes(&self) -> u64;
    /// In full-sized segments, at least 1: replaces the congestion window, while losses are still repaired.
    /// After the handshake a larger window releases segments at once; with a smaller one the sender waits for
    /// ACKs.
    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>);
    /// Or that set by [`Self::steer`], with `classic` only once the SYN is acknowledged.
    fn window(&self) -> Window;
    fn recovery(&self) -> Recovery;
    fn progress(&self) -> Progress {
        Progress {
            timer: self.timer(),
            acked_bytes: self.acked_bytes(),
            recovery: self.recovery(),
            is_done: self.is_done(),
        }
    }
    /// What stops the sender at present.
    fn send_limit(&self) -> SendLimit;
    /// At the time of [`Self::timer`]; with `linux` this may be before any timer expires: `Pacing`.
    fn expired_timer(&self, now: Time) -> TimerKind;
    /// Since the start of the connection.
    fn counts(&self) -> &SenderCounts;
    /// Latest since the last call.
    fn take_rtt_sample(&mut self) -> Option<Duration>;
}

/// At the phone, at the proxy towards the server, or at the server in an upload.
pub trait Receiver: std::fmt::Debug {
    /// With which the phone opens the connection.
    fn connect(&self, now: Time) -> Segment;
    /// On the open connection.
    fn request(&self, now: Time, bytes: u32) -> Segment;
    /// The ACK to send now.
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment>;
    /// At the time that [`Self::timer`] returned; the ACK to send now.
    fn on_timer(&mut self, now: Time) -> Option<Segment>;
    /// When to call [`Self::on_timer`]; other calls may change it.
    fn timer(&self) -> Option<Time>;
    /// In order.
    fn delivered_bytes(&self) -> u64;
}

/// End that opens a connection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Opener {
    /// The phone sends the first SYN; the server's SYN answers it.
    #[default]
    Phone,
    /// The server sends its SYN first, like ns-2's one-way agents.
    Server,
}

nodeb_base::registry! {
    /// TCP implementation, as a scenario names it.
    "tcp" TcpSpec = Classic {
        /// TCP as in ns-2 and the studies: counts segments, times one by default, goes back N.
        "classic" => Classic(classic::Classic),
        /// TCP as in today's Linux: byte counts, SACK, RACK-TLP, PRR, CUBIC with HyStart.
        "linux" => Linux(linux::Linux),
    }
}

impl TcpSpec {
    /// The phone's first ACK carries a request of `request_bytes`, 0 for none.
    pub fn build(&self, flow: u32, request_bytes: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        match self {
            Self::Classic(params) => (
                Box::new(classic::sender::Sender::new(flow, params)),
                Box::new(classic::receiver::Receiver::new(flow, request_bytes, params)),
            ),
            Self::Linux(params) => (
                Box::new(linux::sender::Sender::new(flow, params)),
                Box::new(linux::receiver::Receiver::new(flow, request_bytes, params)),
            ),
        }
    }

    /// `room` is the largest initial window that the queues hold; `None` if that is no more than a usual one.
    pub fn remedies(&self, room: Option<NonZeroU32>) -> Vec<Remedy<Self>> {
        match self {
            Self::Classic(params) => remedy::within(params.remedies(room), Self::Classic),
            Self::Linux(params) => remedy::within(params.remedies(room), Self::Linux),
        }
    }

    /// `marked` if a queue on the path marks packets.
    pub fn check_marks(&self, marked: bool, check: &mut Check) {
        if let Self::Linux(params) = self {
            check.within("linux", |check| params.check_marks(marked, check));
        }
    }

    /// `opened_by` needs a download with these settings.
    pub fn check_opener(&self, downloads: bool, check: &mut Check) {
        const WHY: &str = "phones open their uploads themselves";
        match self {
            Self::Classic(params) => {
                check.within("classic", |check| check.idle(!downloads, &keys!(params; opened_by), WHY));
            }
            Self::Linux(params) => {
                check.within("linux", |check| check.idle(!downloads, &keys!(params; opened_by), WHY));
            }
        }
    }

    /// On the wire.
    pub fn packet_bytes(&self) -> u64 {
        match self {
            Self::Classic(params) => params.packet_size.0,
            Self::Linux(params) => params.packet_size.0,
        }
    }

    /// Largest advertised, in full-sized segments.
    pub fn receiver_window(&self) -> u64 {
        match self {
            Self::Classic(params) => u64::from(params.max_window.get()),
            Self::Linux(params) => params.receive_buffer.0 / params.mss(),
        }
    }

    /// The retransmission timeout before any measurement (RFC 2988, 2.1, or RFC 6298, 2.1).
    pub fn request_timeout(&self) -> Duration {
        match self {
            Self::Classic(_) => Duration::from_secs(3),
            Self::Linux(params) => params.initial_rto,
        }
    }

    /// With `linux` if the phone opens: the first request follows the ACK of the SYN, unless there is a
    /// proxy, so that the SYN's round-trip time does not include it.
    pub fn requests_separately(&self) -> bool {
        matches!(self, Self::Linux(_)) && self.opener() == Opener::Phone
    }

    #[must_use]
    pub fn with_opener(&self, opener: Opener) -> Self {
        let mut changed = self.clone();
        match &mut changed {
            Self::Classic(params) => params.opened_by = opener,
            Self::Linux(params) => params.opened_by = opener,
        }
        changed
    }

    pub fn opener(&self) -> Opener {
        match self {
            Self::Classic(params) => params.opened_by,
            Self::Linux(params) => params.opened_by,
        }
    }
}
