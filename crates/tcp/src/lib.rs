//! TCP: the senders and receivers of connections. In a download the sender is at the server and the
//! receiver at the phone. A proxy has one of each.
//!
//! There are two families of implementations, the modules [`classic`] and [`linux`]. Each family
//! has its own parameters, sender and receiver. The rest of the simulator uses senders and
//! receivers through the traits [`Sender`] and [`Receiver`]. In an upload the ends exchange their
//! roles: the comments of this crate call the end that sends the data the server, and the other end
//! the phone.

pub mod classic;
pub mod linux;
pub mod numbering;
pub mod request;
pub mod segment;
pub mod wire;

use nodeb_base::check::Check;
use nodeb_base::event::{Recovery, SendLimit, TimerKind};
use nodeb_base::keys;
use nodeb_base::units::{Duration, Time};

use crate::segment::Segment;

/// Counters of a sender since the start of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounts {
    /// Number of segments sent. SYNs, retransmissions and window probes are included.
    pub packets: u64,
    /// Number of retransmissions, those of the SYN included.
    pub retransmissions: u64,
    /// Number of retransmission timeouts that expired while a SYN or data was outstanding.
    pub timeouts: u64,
    /// Number of fast retransmissions, that is, of entries into fast recovery (or slow start with
    /// Tahoe).
    pub fast_retransmits: u64,
    /// Number of round-trip times measured on data segments.
    pub rtt_samples: u64,
    /// Sum of the round-trip times measured on data segments, in nanoseconds.
    pub rtt_sum_ns: u64,
    /// Shortest round-trip time measured on a data segment, in nanoseconds; 0 if none was measured.
    pub rtt_min_ns: u64,
}

impl SenderCounts {
    /// Adds a round-trip time that was measured on a data segment to the counters.
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.rtt_min_ns = if self.rtt_samples == 0 { rtt.0 } else { self.rtt_min_ns.min(rtt.0) };
        self.rtt_samples += 1;
        self.rtt_sum_ns += rtt.0;
    }

    /// Returns the shortest measured round-trip time in seconds, NaN if there is none.
    pub fn rtt_min_s(&self) -> f64 {
        if self.rtt_samples == 0 { f64::NAN } else { Duration(self.rtt_min_ns).as_secs() }
    }

    /// Returns the mean of the measured round-trip times in seconds, NaN if there are none.
    pub fn rtt_mean_s(&self) -> f64 {
        self.rtt_sum_ns as f64 / self.rtt_samples as f64 / 1e9
    }
}

/// Congestion window and slow-start threshold, as recorded in results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in full-sized segments, or the window that replaces it (see [`Sender::steer`]).
    pub cwnd: f64,
    /// Slow-start threshold in full-sized segments; infinite in the `linux` family before it is set
    /// for the first time.
    pub ssthresh: f64,
}

/// State of a sender after an event: the results of the [`Sender`] methods `timer`, `acked_bytes`,
/// `recovery` and `is_done`.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time at which the caller must call [`Sender::on_timer`], unless a call of another method
    /// changes this time before; `None` if no timer is armed.
    pub timer: Option<Time>,
    /// Number of application bytes that the receiver has acknowledged.
    pub acked_bytes: u64,
    /// State of loss recovery: open, fast recovery, reduced by an ECN mark, or timeout.
    pub recovery: Recovery,
    /// Whether the SYN and all data are acknowledged and the application has closed the connection,
    /// so that the sender never sends again.
    pub is_done: bool,
}

/// Maximum number of retransmissions per ACK after a timeout, if the window is set from outside (see
/// [`Sender::steer`]). In the `linux` family the limit applies only as long as data is in flight.
/// Two per ACK is the pace of slow start (RFC 5681, 3.1). Without this limit a large window would
/// release all retransmissions at once.
const RETRANSMISSIONS_PER_ACK: u64 = 2;

/// The sender of a connection: at the server, at the proxy towards the phone, or at the phone in an
/// upload. Its methods append the segments that must be transmitted to `out`.
pub trait Sender: Send + std::fmt::Debug {
    /// Accepts `bytes` bytes of application data, and sends what the window allows. Before
    /// [`Self::open`] nothing is sent.
    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>);
    /// Closes the connection for writing: the sender is done once all data is acknowledged.
    fn close(&mut self);
    /// Sends the SYN, or the SYN-ACK if the phone has opened the connection. Has no effect if it
    /// was sent before.
    fn open(&mut self, now: Time, out: &mut Vec<Segment>);
    /// Processes an ACK that has arrived: updates window, loss recovery and timers, and sends what
    /// the window then allows.
    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>);
    /// Handles the expiry of the timer at the time that [`Self::timer`] returned.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>);
    /// Returns the time at which the caller must call [`Self::on_timer`], or `None` if no timer is
    /// armed. Calls of other methods may change this time.
    fn timer(&self) -> Option<Time>;
    /// Returns true if all data that the application has written so far is acknowledged. In the
    /// `classic` family the SYN must be acknowledged, too.
    fn is_idle(&self) -> bool;
    /// Returns true if the SYN and all data are acknowledged and the application has closed the
    /// connection.
    fn is_done(&self) -> bool;
    /// Returns the number of application bytes that the receiver has acknowledged.
    fn acked_bytes(&self) -> u64;
    /// Returns the number of bytes on the wire, headers included, if each segment of the data
    /// written so far is sent once; the SYN is not included.
    fn wire_bytes(&self) -> u64;
    /// Sets the window from outside, in full-sized segments; a value below 1 counts as 1. From then
    /// on this window replaces the congestion window; losses are still repaired. After the
    /// handshake a larger window releases segments at once. With a smaller window the sender waits
    /// until ACKs have reduced the data in flight.
    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>);
    /// Returns the congestion window and the slow-start threshold. A window set by [`Self::steer`] is
    /// returned instead of the congestion window, in the `classic` family only once the SYN is acknowledged.
    fn window(&self) -> Window;
    /// Returns the state of loss recovery: open, reduced by ECN marks, fast recovery, or timeout.
    fn recovery(&self) -> Recovery;
    /// Returns the values that the simulation needs after each event of the connection.
    fn progress(&self) -> Progress {
        Progress {
            timer: self.timer(),
            acked_bytes: self.acked_bytes(),
            recovery: self.recovery(),
            is_done: self.is_done(),
        }
    }
    /// Returns the limit that stops the sender from transmitting more at present.
    fn send_limit(&self) -> SendLimit;
    /// Returns the kind of the timer that expires at `now`, the time that [`Self::timer`] returned.
    /// In the `linux` family this time may come before any timer expires; the result is then
    /// `Pacing`.
    fn expired_timer(&self, now: Time) -> TimerKind;
    /// Returns the counters of the connection since its start.
    fn counts(&self) -> &SenderCounts;
    /// Returns the latest round-trip time measured since the last call of this method, or `None` if
    /// there was none.
    fn take_rtt_sample(&mut self) -> Option<Duration>;
}

/// The receiver of a connection: at the phone, at the proxy towards the server, or at the server in
/// an upload.
pub trait Receiver: Send + std::fmt::Debug {
    /// Returns the SYN with which the phone opens the connection, to be sent now.
    fn connect(&self, now: Time) -> Segment;
    /// Returns a packet with a request of `bytes` bytes, to be sent on the open connection.
    fn request(&self, now: Time, bytes: u32) -> Segment;
    /// Processes a segment that has arrived at the receiver. Returns the ACK to send now, or `None`
    /// if no ACK is due yet.
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment>;
    /// Handles the expiry of the timer at the time that [`Self::timer`] returned. Returns the ACK
    /// to send now, if any.
    fn on_timer(&mut self, now: Time) -> Option<Segment>;
    /// Returns the time at which the caller must call [`Self::on_timer`], or `None` if no timer is
    /// armed. Calls of other methods may change this time.
    fn timer(&self) -> Option<Time>;
    /// Returns the number of application bytes received in order, that is, without a gap before
    /// them.
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
    /// Creates the sender and the receiver of connection `flow`. The phone's first ACK carries a
    /// request of `request_bytes` bytes; 0 means that it carries none.
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

    /// Warns if ECN is enabled but no queue on the path marks packets, so that ECN has no effect.
    /// `marked` is true if a queue marks packets.
    pub fn check_marks(&self, marked: bool, check: &mut Check) {
        if let Self::Linux(params) = self {
            check.within("linux", |check| params.check_marks(marked, check));
        }
    }

    /// Reports that the key `opened_by` has no effect if `downloads` is false. `downloads` is true if
    /// any download uses these settings.
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

    /// Returns the size of a full-sized segment in bytes on the wire.
    pub fn packet_bytes(&self) -> u64 {
        match self {
            Self::Classic(params) => params.packet_size.0,
            Self::Linux(params) => params.packet_size.0,
        }
    }

    /// Returns the largest window that the receiver advertises, in full-sized segments.
    pub fn receiver_window(&self) -> u64 {
        match self {
            Self::Classic(params) => u64::from(params.max_window.get()),
            Self::Linux(params) => params.receive_buffer.0 / params.mss(),
        }
    }

    /// Returns the time after which a phone retransmits an unanswered SYN or request: the retransmission
    /// timeout before any measurement (RFC 2988, 2.1, or RFC 6298, 2.1).
    pub fn request_timeout(&self) -> Duration {
        match self {
            Self::Classic(_) => Duration::from_secs(3),
            Self::Linux(params) => params.initial_rto,
        }
    }

    /// Returns true in the `linux` family if the phone opens the connection. Without a proxy the
    /// phone then sends its first request in a packet after the ACK of the server's SYN, so that
    /// the round-trip time of the SYN does not include the request. Otherwise the ACK of the SYN
    /// carries the request.
    pub fn requests_separately(&self) -> bool {
        matches!(self, Self::Linux(_)) && self.opener() == Opener::Phone
    }

    /// Returns these settings with `opener` as the end that opens the connection.
    #[must_use]
    pub fn with_opener(&self, opener: Opener) -> Self {
        let mut changed = self.clone();
        match &mut changed {
            Self::Classic(params) => params.opened_by = opener,
            Self::Linux(params) => params.opened_by = opener,
        }
        changed
    }

    /// Returns the end that opens the connection, as the scenario sets it.
    pub fn opener(&self) -> Opener {
        match self {
            Self::Classic(params) => params.opened_by,
            Self::Linux(params) => params.opened_by,
        }
    }
}
