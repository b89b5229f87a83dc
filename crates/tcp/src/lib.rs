//! TCP: the sender at the server and the receiver at the phone.
//!
//! Each family of implementations has a folder: its parameters, its sender and its receiver. What
//! the rest of the simulator needs from either end is [`Sender`] and [`Receiver`].

pub mod classic;
pub mod linux;
pub mod numbering;
pub mod request;
pub mod segment;
pub mod wire;

use nodeb_base::check::Check;
use nodeb_base::event::{Recovery, SendLimit, TimerKind};
use nodeb_base::units::{Duration, Time};

use crate::segment::Segment;

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounts {
    /// Segments sent, SYN and retransmissions included.
    pub packets: u64,
    /// Segments that had been sent before.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmissions.
    pub fast_retransmits: u64,
    /// Round trips measured on data, and their sum in nanoseconds.
    pub rtt_samples: u64,
    /// Sum of the measured round trips in nanoseconds.
    pub rtt_sum_ns: u64,
    /// The shortest of them in nanoseconds; 0 without any.
    pub rtt_min_ns: u64,
}

impl SenderCounts {
    /// Counts a round trip measured on data.
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.rtt_min_ns = if self.rtt_samples == 0 { rtt.0 } else { self.rtt_min_ns.min(rtt.0) };
        self.rtt_samples += 1;
        self.rtt_sum_ns += rtt.0;
    }

    /// The shortest measured round trip in seconds; NaN without one.
    pub fn rtt_min_s(&self) -> f64 {
        if self.rtt_samples == 0 { f64::NAN } else { Duration(self.rtt_min_ns).as_secs() }
    }

    /// Mean of the measured round trips in seconds; NaN without one.
    pub fn rtt_mean_s(&self) -> f64 {
        self.rtt_sum_ns as f64 / self.rtt_samples as f64 / 1e9
    }
}

/// A congestion window as results show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in full-sized segments.
    pub cwnd: f64,
    /// Slow-start threshold in full-sized segments.
    pub ssthresh: f64,
}

/// How far a sender is, as its methods of the same names tell it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// When [`Sender::on_timer`] must be called, unless something happens before.
    pub timer: Option<Time>,
    /// Bytes of the application that have been acknowledged.
    pub acked_bytes: u64,
    /// What its loss recovery is at.
    pub recovery: Recovery,
    /// Whether everything has been acknowledged and nothing more will be written.
    pub is_done: bool,
}

/// Segments that a sender whose window is set from outside repeats on each ACK after a timeout: slow
/// start's pace (RFC 5681, 3.1), so that a window that stays open does not repeat everything at once.
const REPEATS_PER_ACK: u64 = 2;

/// The end that sends data, at the server. It appends what it sends to `out`.
pub trait Sender: Send + std::fmt::Debug {
    /// Adds `bytes` to what is to be sent.
    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>);
    /// Nothing more will be written: once everything is acknowledged the sender is done.
    fn close(&mut self);
    /// Opens the connection.
    fn open(&mut self, now: Time, out: &mut Vec<Segment>);
    /// Takes an ACK.
    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>);
    /// The time of [`Self::timer`] has come.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>);
    /// When [`Self::on_timer`] must be called, unless something happens before.
    fn timer(&self) -> Option<Time>;
    /// Whether everything written so far has been acknowledged.
    fn is_idle(&self) -> bool;
    /// Whether everything has been acknowledged and nothing more will be written.
    fn is_done(&self) -> bool;
    /// Bytes of the application that have been acknowledged.
    fn acked_bytes(&self) -> u64;
    /// Bytes on the wire if each segment is sent once.
    fn wire_bytes(&self) -> u64;
    /// Sets the window from outside, in full-sized segments: from now on congestion control has no say
    /// in it, and losses are still repaired. What a larger window allows is sent at once; with a smaller
    /// one nothing is sent until ACKs have brought down what is outstanding.
    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>);
    /// The congestion window now, or the one set from outside.
    fn window(&self) -> Window;
    /// What its loss recovery is at.
    fn recovery(&self) -> Recovery;
    /// How far it is: what has to be asked after each event, at once.
    fn progress(&self) -> Progress {
        Progress {
            timer: self.timer(),
            acked_bytes: self.acked_bytes(),
            recovery: self.recovery(),
            is_done: self.is_done(),
        }
    }
    /// Returns the limit that stops the sender from transmitting more.
    fn send_limit(&self) -> SendLimit;
    /// Which of its timers rings now that the time of [`Self::timer`] has come.
    fn expired_timer(&self, now: Time) -> TimerKind;
    /// What has been done.
    fn counts(&self) -> &SenderCounts;
    /// The round trip that the last ACK completed, once.
    fn take_rtt_sample(&mut self) -> Option<Duration>;
}

/// The end that receives data, at the phone.
pub trait Receiver: Send + std::fmt::Debug {
    /// The SYN with which this end opens the connection.
    fn connect(&self, now: Time) -> Segment;
    /// A request of `bytes` on the open connection.
    fn request(&self, now: Time, bytes: u32) -> Segment;
    /// Takes a segment; returns the ACK to send now, if any.
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment>;
    /// The time of [`Self::timer`] has come; returns the ACK to send, if any.
    fn on_timer(&mut self, now: Time) -> Option<Segment>;
    /// When [`Self::on_timer`] must be called, unless something happens before.
    fn timer(&self) -> Option<Time>;
    /// Bytes of the application received in order.
    fn delivered_bytes(&self) -> u64;
}

/// Who opens a connection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Opener {
    /// The phone asks first, so that the server's SYN is an answer.
    #[default]
    Phone,
    /// The server sends its SYN unasked, as ns-2's one-way agents do.
    Server,
}

nodeb_base::registry! {
    /// The TCP implementation, as a scenario names it.
    "tcp" TcpSpec = Classic {
        /// As in ns-2 and the studies: counts segments, one round-trip sample at a time, go-back-N.
        "classic" => Classic(classic::Classic),
        /// As in today's Linux: byte counts, SACK, RACK-TLP, PRR, CUBIC with HyStart, timestamps.
        "linux" => Linux(linux::Linux),
    }
}

impl TcpSpec {
    /// Both ends of connection `flow`; a request of `request_bytes` rides on the phone's first ACK.
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

    /// Warns of marks that are asked for where queues on the path give none.
    pub fn check_marks(&self, marked: bool, check: &mut Check) {
        if let Self::Linux(params) = self {
            check.within("linux", |check| params.check_marks(marked, check));
        }
    }

    /// Bytes on the wire of a full-sized segment.
    pub fn packet_bytes(&self) -> u64 {
        match self {
            Self::Classic(params) => params.packet_size.0,
            Self::Linux(params) => params.packet_size.0,
        }
    }

    /// The largest window that the receiver allows, in full-sized segments.
    pub fn receiver_window(&self) -> u64 {
        match self {
            Self::Classic(params) => u64::from(params.max_window.get()),
            Self::Linux(params) => params.receive_buffer.0 / params.mss(),
        }
    }

    /// How long a phone waits for an answer to its SYN or a request before it repeats it: the timeout before
    /// anything is measured (RFC 2988, 2.1, or RFC 6298, 2.1).
    pub fn request_timeout(&self) -> Duration {
        match self {
            Self::Classic(_) => Duration::from_secs(3),
            Self::Linux(params) => params.initial_rto,
        }
    }

    /// Whether the phone acknowledges the SYN before it sends its first request, so that the round trip of the
    /// SYN does not contain the request. In the classic family the request rides on that ACK.
    pub fn asks_apart(&self) -> bool {
        matches!(self, Self::Linux(_)) && self.opener() == Opener::Phone
    }

    /// Who opens the connection.
    pub fn opener(&self) -> Opener {
        match self {
            Self::Classic(params) => params.opened_by,
            Self::Linux(params) => params.opened_by,
        }
    }
}
