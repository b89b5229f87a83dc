use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::cause::Cause;
use nodeb_base::check::{Check, Checked};
use nodeb_base::remedy::{Change, LARGE_SIZE, Remedy, Target};
use nodeb_base::units::{Duration, Rate, Size};

use super::control::CongestionSpec;
use super::{TIMESTAMPS_BYTES, sack_bytes};
use crate::Opener;
use crate::segment::{HEADER_BYTES, SackBlocks};
use crate::wire::window_shift;

params! {
    /// Parameters of a `linux` TCP connection. The defaults are those of Linux, or of the RFC where Linux
    /// adapts the value.
    pub struct Linux {
        /// Congestion control: size of the window and pacing rate.
        pub control: CongestionSpec,
        /// Size of a full-sized segment on the wire, with 40 B of IP and TCP headers and the options.
        pub packet_size: Size = Size(1500),
        /// Initial congestion window in segments (RFC 6928).
        pub initial_window: NonZeroU32 = positive(10),
        /// Whether every segment has timestamps (RFC 7323), which take 12 B.
        pub timestamps: bool = true,
        /// Whether ACKs have selective acknowledgements (RFC 2018), up to three blocks of 8 B.
        pub sack: bool = true,
        /// Whether the first SACK block reports duplicate segments (D-SACK, RFC 2883).
        pub dsack: bool = true,
        /// Whether losses are detected by time (RACK, RFC 8985) rather than by counting (RFC 6675).
        /// Needs SACK.
        pub rack: bool = true,
        /// Whether the sender probes for a lost tail before the retransmission timeout (TLP, RFC
        /// 8985, section 7). Needs RACK.
        pub tail_loss_probe: bool = true,
        /// Whether a window reduction is undone if timestamps (RFC 3522) or D-SACKs (RFC 3708) show
        /// that nothing was lost (RFC 4015).
        pub undo: bool = true,
        /// Whether the sender detects a spurious timeout from the segments that the following ACKs
        /// deliver (F-RTO, RFC 5682), and undoes the window reduction.
        pub frto: bool = true,
        /// Whether queues may mark segments instead of dropping them (ECN, RFC 3168).
        pub ecn: bool = false,
        /// Whether every congestion control spreads its segments over the round trip, as Linux's
        /// queueing discipline `fq` does. BBR paces its segments in any case.
        pub pacing: bool = false,
        /// Whether the window is halved once per retransmission timeout of a pause, and reduced if
        /// the application has not used all of it for a retransmission timeout (RFC 2861; Linux:
        /// `tcp_slow_start_after_idle`). BBR never reduces its window for these reasons.
        pub slow_start_after_idle: bool = true,
        // Constants of Linux 6.18 from which the following defaults are:
        //
        // - `min_rto`: TCP_RTO_MIN
        // - `max_rto`: TCP_RTO_MAX
        // - `initial_rto`: TCP_TIMEOUT_INIT
        // - `delayed_ack`: TCP_ATO_MIN
        // - `quick_acks`: TCP_MAX_QUICKACKS
        // - `send_buffer`: largest tcp_wmem
        // - `receive_buffer`: payload in the largest tcp_rmem, 32 MiB
        // - `initial_receive_buffer`: payload in the initial tcp_rmem, 128 KiB
        //
        // Of a receive buffer, 160 of 256 bytes are payload, since 1448 B take 2304 B of memory.
        /// Lower bound of the variation term of the retransmission timeout. As in Linux, the timeout is the
        /// smoothed round-trip time plus at least this.
        pub min_rto: Duration = Duration::from_millis(200),
        /// Largest retransmission timeout, backoff included.
        pub max_rto: Duration = Duration::from_secs(120),
        /// Retransmission timeout until the first round-trip time is measured (RFC 6298, 2.1).
        pub initial_rto: Duration = Duration::from_secs(1),
        /// Smallest delay of the ACK of a single segment; the delay adapts to the time between segments. 0
        /// acknowledges each segment at once.
        pub delayed_ack: Duration = Duration::from_millis(40),
        /// Number of segments that the receiver acknowledges without delay to speed up slow start: at the start,
        /// after a pause, and after a duplicate; at most 2 after an ECN mark. While its window opens, every
        /// segment is acknowledged without delay.
        pub quick_acks: u32 = 16,
        /// Maximum size of the receive buffer, which bounds the advertised window.
        pub receive_buffer: Size = Size(20_971_520),
        /// Initial size of the receive buffer, which then grows with the data received per round
        /// trip (dynamic right-sizing). If it equals `receive_buffer`, the size is fixed.
        pub initial_receive_buffer: Size = Size(81_920),
        /// Maximum memory of the send buffer (the largest `tcp_wmem`). Up to this limit it has room for two
        /// windows.
        pub send_buffer: Size = Size(4_194_304),
        /// Reading rate of the application at the receiver; absent: it reads immediately.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read_rate: Option<Rate>,
        /// End that opens the connection: the phone or the server.
        pub opened_by: Opener = Opener::Phone,
    }
}

/// RFC 9293, 3.7.1.
const MSS_BYTES: u32 = 4;
/// RFC 7323, 2, padded to a word.
const WINDOW_SCALE_BYTES: u32 = 4;
/// RFC 2018, 2, padded to a word.
const SACK_PERMITTED_BYTES: u32 = 4;

/// RFC 7323, 2.3: 65,535 B shifted by 14.
const MAX_WINDOW: u64 = 65_535 << 14;

/// In segments; a larger value must be a typing error.
const MAX_INITIAL_WINDOW: NonZeroU32 = positive(1_000);

impl Linux {
    /// `room` is the largest initial window that the queues hold.
    pub fn remedies(&self, room: Option<NonZeroU32>) -> Vec<Remedy<Self>> {
        let sooner = Self { delayed_ack: self.delayed_ack.half(), ..self.clone() };
        let room = room.map_or(self.initial_window, |room| room.min(MAX_INITIAL_WINDOW));
        let open = Self { initial_window: room.max(self.initial_window), ..self.clone() };
        let (receive, send) = (Target::Rounds(Cause::ReceiverWindow), Target::Rounds(Cause::SendBuffer));
        let (receive_buffer, initial_receive_buffer) = (LARGE_SIZE, LARGE_SIZE);
        let receiver = Self { receive_buffer, initial_receive_buffer, ..self.clone() };
        let unpaced = Self { pacing: false, ..self.clone() };
        vec![
            Remedy::of_causes(Change::AcksAtOnce, 1.0, Self { delayed_ack: Duration::ZERO, ..self.clone() }),
            Remedy::of_causes(Change::AcksSooner, 0.5, sooner),
            Remedy::new(Change::OpenWindow, Target::Opening, 1.0, open),
            Remedy::new(Change::LargeReceiveWindow, receive, 1.0, receiver),
            Remedy::new(Change::LargeSendBuffer, send, 1.0, Self { send_buffer: LARGE_SIZE, ..self.clone() }),
            Remedy::new(Change::NoPacing, Target::Rounds(Cause::Pacing), 1.0, unpaced),
        ]
    }

    /// IP and TCP, with timestamps if on.
    pub fn header_bytes(&self) -> u32 {
        HEADER_BYTES + if self.timestamps { TIMESTAMPS_BYTES } else { 0 }
    }

    /// Options padded to words: MSS, window scale if needed, timestamps and SACK-permitted, which fits into
    /// their padding.
    pub fn syn_bytes(&self) -> u32 {
        let scale = if window_shift(self.receive_buffer.0) > 0 { WINDOW_SCALE_BYTES } else { 0 };
        let sack = if self.sack && !self.timestamps { SACK_PERMITTED_BYTES } else { 0 };
        self.header_bytes() + MSS_BYTES + scale + sack
    }

    /// At least 1.
    pub fn mss(&self) -> u64 {
        self.packet_size.0.saturating_sub(u64::from(self.header_bytes())).max(1)
    }

    fn check_switches(&self, check: &mut Check) {
        check.require(self.sack || !self.dsack, "dsack", || {
            "a D-SACK is a SACK block; switch `sack` on or `dsack` off".to_owned()
        });
        check.require(self.sack || !self.rack, "rack", || {
            "RACK needs SACK to find what was delivered; switch `sack` on or `rack` off".to_owned()
        });
        check.require(self.rack || !self.tail_loss_probe, "tail_loss_probe", || {
            "the probe needs RACK to find the loss; switch `rack` on or `tail_loss_probe` off".to_owned()
        });
    }
}

impl Linux {
    /// `marked` if a queue on the path marks packets.
    pub fn check_marks(&self, marked: bool, check: &mut Check) {
        check.advise(!self.ecn || marked, "ecn", || {
            "this has no effect: no queue on the path marks packets; set a queue's `ecn`".to_owned()
        });
    }
}

impl Checked for Linux {
    fn check(&self, check: &mut Check) {
        check.within("control", |check| self.control.check(check));
        let min_size = u64::from(HEADER_BYTES + TIMESTAMPS_BYTES + sack_bytes(SackBlocks::MAX)) + 8;
        check.require((min_size..=65_535).contains(&self.packet_size.0), "packet_size", || {
            format!(
                "{} leave no room for options and data; expected {min_size} B to 65.535 kB",
                self.packet_size
            )
        });
        check.at_most("initial_window", self.initial_window, MAX_INITIAL_WINDOW);
        self.check_switches(check);
        check.advise(!self.pacing || !self.control.paces_itself(), "pacing", || {
            format!("this has no effect: `{}` paces itself", self.control.key())
        });
        check.require(self.min_rto <= self.max_rto, "min_rto", || {
            format!("the smallest timeout, {}, is above max_rto, {}", self.min_rto, self.max_rto)
        });
        check.require(self.max_rto.0 > 0 && self.max_rto <= Duration::from_secs(86_400), "max_rto", || {
            format!("{} is out of range; expected more than 0 s and at most 24 h", self.max_rto)
        });
        check.require(self.initial_rto.0 > 0 && self.initial_rto <= self.max_rto, "initial_rto", || {
            format!("expected more than 0 s and at most max_rto, {}", self.max_rto)
        });
        check.require(self.delayed_ack <= Duration::from_millis(500), "delayed_ack", || {
            format!("{} is too long; RFC 9293, 3.8.6.3, allows at most 500 ms", self.delayed_ack)
        });
        let window = 2 * self.packet_size.0..=MAX_WINDOW;
        check.require(window.contains(&self.receive_buffer.0), "receive_buffer", || {
            format!(
                "a window of {} is impossible; expected two packets to {}",
                self.receive_buffer,
                Size(MAX_WINDOW)
            )
        });
        let initial = 2 * self.packet_size.0..=MAX_WINDOW;
        check.require(initial.contains(&self.initial_receive_buffer.0), "initial_receive_buffer", || {
            format!("{} are too few or too many; expected at least two packets", self.initial_receive_buffer)
        });
        check.require(self.send_buffer.0 >= 2 * self.packet_size.0, "send_buffer", || {
            format!("{} hold no segment in flight; expected at least two packets", self.send_buffer)
        });
        check.require(self.read_rate.is_none_or(|rate| rate.0 > 0), "read_rate", || {
            "an application that reads at 0 bps receives nothing; expected more, or leave it out".to_owned()
        });
    }
}
