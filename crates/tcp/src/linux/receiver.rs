use nodeb_base::units::{Duration, NANOS_PER_S, Time};

use super::params::Linux;
use super::reassembly::{Arrival, Reassembly};
use super::receive_window::ReceiveWindow;
use super::{FIRST_BYTE, clock_us, is_older, jiffies, sack_bytes};
use crate::Opener;
use crate::segment::{Ecn, Kind, SackBlocks, Segment};

/// `TCP_DELACK_MAX`, unless the key `delayed_ack` is longer.
const MAX_DELAY: Duration = Duration::from_millis(200);

/// By a CE mark not echoed yet, or a segment that is not ECN-capable after others were (Linux:
/// `__tcp_ecn_check_ce`).
const QUICK_ACKS_FOR_ECN: u32 = 2;

#[derive(Debug)]
struct Reader {
    /// Bits per second; `None` reads immediately.
    rate: Option<u64>,
    read: u64,
    /// Of `read`, at a rate.
    at: Time,
    /// In 10^-9 bits, read in addition to `read`.
    remainder: u64,
}

impl Reader {
    /// `available` bytes have arrived in order before; bytes read.
    fn advance(&mut self, now: Time, available: u64) -> u64 {
        match self.rate {
            Some(rate) => self.read_at_rate(rate, now, available),
            None => self.read = available,
        }
        self.read
    }

    #[inline(never)]
    fn read_at_rate(&mut self, rate: u64, now: Time, available: u64) {
        let scale = u128::from(8 * NANOS_PER_S);
        let progress = u128::from(now.since(self.at).0) * u128::from(rate) + u128::from(self.remainder);
        let bytes = (progress / scale).min(u128::from(available - self.read)) as u64;
        self.remainder = if self.read + bytes == available { 0 } else { (progress % scale) as u64 };
        self.read += bytes;
        self.at = now;
    }

    /// `None` if the application reads immediately.
    #[inline(never)]
    fn time_of(&self, bytes: u64) -> Option<Time> {
        let bits = u128::from(bytes.saturating_sub(self.read)) * 8;
        let ns = (bits * u128::from(NANOS_PER_S)).div_ceil(u128::from(self.rate?));
        Some(self.at + Duration(ns as u64 + 1))
    }
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "switches and independent facts")]
pub struct Receiver {
    flow: u32,
    request_bytes: u32,
    mss: u64,
    header_bytes: u32,
    syn_bytes: u32,
    /// Without a request; a SYN-ACK if the server opens the connection.
    syn_ack_bytes: u32,
    timestamps: bool,
    sack: bool,
    ecn: bool,
    window: ReceiveWindow,
    /// Smallest (`TCP_ATO_MIN`).
    delay: Duration,
    /// `ato`: `delay` by the first data in order, the last quick ACK, and at the start of quick ACKs; later
    /// follows the time between segments.
    ato: Option<Duration>,
    min_rto: Duration,
    last_segment: Time,
    data: Reassembly,
    reader: Reader,
    /// Right edge of the window, which never moves back (RFC 9293, 3.8.6).
    allowed: u64,
    /// The server's SYN has arrived.
    connected: bool,
    /// Segments still acknowledged without delay; may exceed `max_quick_acks` by one while the window opens.
    quick_acks: u32,
    /// Granted at once (key `quick_acks`).
    max_quick_acks: u32,
    /// By the last ACK, in order.
    last_acked: u64,
    delayed: Option<Time>,
    update: Option<Time>,
    /// The first segment that the next ACK answers is a retransmission.
    answers: Option<bool>,
    /// RFC 7323, 4.3: `TS.Recent`; 0 before the first timestamp.
    recent_stamp: u32,
    /// RFC 3168, 6.1.3: of a CE mark to which the sender has not yet responded.
    echoing: bool,
    /// `TCP_ECN_SEEN`: data with ECT or CE.
    ecn_seen: bool,
}

impl Receiver {
    /// The ACK of the SYN carries a request of `request_bytes`, 0 for none.
    pub fn new(flow: u32, request_bytes: u32, params: &Linux) -> Self {
        Self {
            flow,
            syn_bytes: params.syn_bytes(),
            request_bytes,
            mss: params.mss(),
            header_bytes: params.header_bytes(),
            syn_ack_bytes: match params.opened_by {
                Opener::Phone => params.header_bytes(),
                Opener::Server => params.syn_bytes(),
            },
            timestamps: params.timestamps,
            sack: params.sack,
            ecn: params.ecn,
            window: ReceiveWindow::new(
                params.mss(),
                params.initial_receive_buffer.0,
                params.receive_buffer.0,
            ),
            delay: params.delayed_ack,
            ato: None,
            min_rto: params.min_rto,
            last_segment: Time::ZERO,
            data: Reassembly::new(params.dsack),
            reader: Reader {
                rate: params.read_rate.map(|rate| rate.0),
                read: 0,
                at: Time::ZERO,
                remainder: 0,
            },
            allowed: 0,
            connected: false,
            quick_acks: 0,
            max_quick_acks: params.quick_acks,
            last_acked: 0,
            delayed: None,
            update: None,
            answers: None,
            recent_stamp: 0,
            echoing: false,
            ecn_seen: false,
        }
    }

    /// A segment or half of the buffer (RFC 9293, 3.8.6.2.2).
    fn min_window_update(&self) -> u64 {
        self.mss.min(self.window.buffer() / 2)
    }

    /// Only by [`Self::min_window_update`] or more.
    fn open_window(&mut self, now: Time) {
        let read = self.reader.advance(now, self.data.expected());
        self.window.on_read(now, read, self.data.beyond());
        let edge = self.window.edge(self.data.expected(), read);
        if edge >= self.allowed + self.min_window_update() {
            self.allowed = edge;
        }
    }

    /// Cancels the delayed ACK.
    fn ack(&mut self, now: Time) -> Segment {
        self.delayed = None;
        if self.quick_acks == 1 {
            // The last quick ACK sets `ato` even if no data has arrived in order yet. So the first
            // data in order will start no quick ACKs (`tcp_dec_quickack_mode`).
            self.ato = Some(self.delay);
        }
        self.quick_acks = self.quick_acks.saturating_sub(1);
        self.open_window(now);
        let expected = self.data.expected();
        self.last_acked = expected;
        self.allowed = self.allowed.max(expected);
        let sack = if self.sack { self.data.report() } else { SackBlocks::default() };
        // The timer for a window update is armed only if the window is nearly closed. Otherwise the
        // next ACK will move the edge of the window.
        let closing = self.allowed - expected < 2 * self.mss && self.reader.read < expected;
        self.update = if closing {
            let reopened = (self.allowed + 2 * self.min_window_update()).saturating_sub(self.window.buffer());
            self.reader.time_of(reopened.min(expected))
        } else {
            None
        };
        Segment {
            size: self.header_bytes + sack_bytes(sack.len()),
            seq: FIRST_BYTE + expected,
            answers_retransmission: self.answers.take().unwrap_or(false),
            sack,
            timestamp_us: self.stamp(now),
            echo_us: self.recent_stamp,
            window: (self.allowed - expected) as u32,
            ecn: Ecn { echo: self.echoing, ..Ecn::default() },
            ..Segment::control(self.flow, Kind::Ack)
        }
    }

    /// Only the first carries the request.
    #[cold]
    fn answer_syn(&mut self, now: Time) -> Segment {
        let request = if self.connected { 0 } else { self.request_bytes };
        self.connected = true;
        // The first pause between segments counts from the arrival of the SYN
        // (`tcp_finish_connect`).
        self.last_segment = now;
        Segment { size: self.syn_ack_bytes + request, ..self.ack(now) }
    }

    fn stamp(&self, now: Time) -> u32 {
        if self.timestamps { clock_us(now) } else { 0 }
    }

    /// `tcp_sequence` of Linux 6.18: begins within the window, and the application has read all data.
    fn accepts_beyond(&self, first: u64) -> bool {
        first < self.allowed && self.reader.read == self.data.expected()
    }

    /// RFC 7323, 4.3: begins at or below the last acknowledgement sent, with no older timestamp.
    fn record_stamp(&mut self, segment: &Segment) {
        if self.timestamps
            && segment.seq <= FIRST_BYTE + self.last_acked
            && (self.recent_stamp == 0 || !is_older(segment.timestamp_us, self.recent_stamp))
        {
            self.recent_stamp = segment.timestamp_us;
        }
    }

    /// RFC 3168, 6.1.3; the ACK must not be delayed, since the sender's window may be a single segment
    /// (`tcp_ecn_accept_cwr`).
    fn accept_cwr(&mut self, segment: &Segment) -> bool {
        let accepts = self.ecn && segment.ecn.reduced;
        self.echoing &= !accepts;
        accepts
    }

    /// `__tcp_ecn_check_ce`: a mark starts the echo and quick ACKs; so does a segment that is not ECN-capable
    /// after others were, probably a retransmission.
    fn check_ecn(&mut self, segment: &Segment) {
        if !self.ecn {
            return;
        }
        let ecn = segment.ecn;
        let is_first_mark = ecn.experienced && !self.echoing;
        if is_first_mark || (self.ecn_seen && !ecn.capable && !ecn.experienced) {
            self.enter_quick_acks(QUICK_ACKS_FOR_ECN.min(self.max_quick_acks));
        }
        self.echoing |= ecn.experienced;
        self.ecn_seen |= ecn.capable || ecn.experienced;
    }

    /// `tcp_incr_quickack`: at most half of the window, or 2 if that is less than a segment.
    fn raise_quick_acks(&mut self, max: u32) {
        let half = (self.allowed - self.last_acked) / (2 * self.mss);
        let count = if half == 0 { 2 } else { half.min(u64::from(u32::MAX)) as u32 };
        self.quick_acks = self.quick_acks.max(count.min(max));
    }

    /// `tcp_enter_quickack_mode`: also resets the adaptive delay.
    fn enter_quick_acks(&mut self, max: u32) {
        self.raise_quick_acks(max);
        self.ato = Some(self.delay);
    }

    /// `__tcp_ack_snd_check`: not with quick ACKs left or more than a full-sized segment unacknowledged (RFC
    /// 9293, 3.8.6.3); a short segment not if the application reads immediately, since reading the end of a
    /// write triggers the ACK (`tcp_cleanup_rbuf`).
    fn may_wait(&self, payload: u64) -> bool {
        let is_end = payload < self.mss && self.reader.rate.is_none();
        self.delay > Duration::ZERO
            && self.quick_acks == 0
            && self.data.expected() - self.last_acked <= self.mss
            && !is_end
    }

    /// As Linux at the receiver after one round-trip time; `min_rto` if it is unknown.
    fn rto(&self) -> Duration {
        let rtt = self.window.rtt().unwrap_or_default();
        Duration(rtt.0 + self.min_rto.0.max(2 * rtt.0))
    }

    /// `tcp_event_data_recv`: also starts quick ACKs after a pause, and with the first data unless `ato` was
    /// set.
    fn adapt_ack_delay(&mut self, now: Time) {
        let between = Duration(jiffies::JIFFY.0 * (jiffies::at(now) - jiffies::at(self.last_segment)));
        self.last_segment = now;
        match self.ato {
            None => {
                self.ato = Some(self.delay);
                self.raise_quick_acks(self.max_quick_acks);
            }
            Some(ato) if between.0 <= self.delay.0 / 2 => {
                self.ato = Some(Duration(ato.0 / 2 + self.delay.0 / 2));
            }
            Some(ato) if between < ato => self.ato = Some(Duration(ato.0 / 2 + between.0).min(self.rto())),
            Some(_) if between > self.rto() => self.raise_quick_acks(self.max_quick_acks),
            Some(_) => {}
        }
    }

    fn grow_window(&mut self, payload: u64) {
        if self.window.open(payload) {
            // As in Linux, this sets the lowest bit of the number instead of raising the number to at least
            // 1. An even number thus grows by one, which the ACK of the segment takes away again. So the
            // number is not used up while the window opens.
            self.quick_acks |= self.max_quick_acks.min(1);
        }
    }

    /// `tcp_send_delayed_ack`.
    fn wait(&mut self, now: Time) {
        let max_delay = self.window.rtt().map_or(MAX_DELAY, |rtt| rtt.max(self.delay).min(MAX_DELAY));
        let wait = self.ato.unwrap_or(self.delay).min(max_delay.max(self.delay));
        self.delayed.get_or_insert(jiffies::expiry(now, wait));
    }
}

impl crate::Receiver for Receiver {
    fn connect(&self, now: Time) -> Segment {
        let syn = Segment::control(self.flow, Kind::Connect);
        Segment { size: self.syn_bytes, timestamp_us: self.stamp(now), ..syn }
    }

    fn request(&self, now: Time, bytes: u32) -> Segment {
        let packet = Segment::control(self.flow, Kind::Request);
        Segment {
            size: self.header_bytes + bytes,
            timestamp_us: self.stamp(now),
            echo_us: self.recent_stamp,
            ..packet
        }
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        self.answers.get_or_insert(segment.retransmission);
        let Some(first) = segment.seq.checked_sub(FIRST_BYTE) else {
            self.record_stamp(segment);
            return Some(self.answer_syn(now));
        };
        let payload = u64::from(segment.size.saturating_sub(self.header_bytes));
        if payload == 0 {
            // A segment without payload is a window probe, which is acknowledged at once.
            return Some(self.ack(now));
        }
        // Up to `now` the application could read only earlier data. From now on it can read the new
        // data, too.
        self.reader.advance(now, self.data.expected());
        let before = self.data.expected();
        if first + payload > self.allowed && !self.accepts_beyond(first) {
            // The segment extends beyond the window and is discarded. The ACK reports the window's
            // edge to the sender.
            if first == self.allowed {
                self.enter_quick_acks(self.max_quick_acks);
            }
            return Some(self.ack(now));
        }
        self.record_stamp(segment);
        let sender_has_reduced = self.accept_cwr(segment);
        let arrival = self.data.take(first, first + payload);
        if arrival == Arrival::Duplicate {
            // A duplicate indicates that ACKs were lost or that the sender is in recovery. In both
            // cases the sender needs ACKs at once (`tcp_enter_quickack_mode`).
            self.enter_quick_acks(self.max_quick_acks);
        } else if self.data.expected() > before {
            self.adapt_ack_delay(now);
            self.window.on_data(now, payload, self.data.expected(), segment.echo_us);
            self.check_ecn(segment);
            self.grow_window(payload);
        } else {
            self.check_ecn(segment);
            // Without SACK the window is not opened, since the sender would not count an ACK that
            // opens the window as a duplicate (`tcp_data_queue_ofo`).
            if self.sack {
                self.grow_window(payload);
            }
        }
        if arrival == Arrival::InOrder && !sender_has_reduced && self.may_wait(payload) {
            self.wait(now);
            return None;
        }
        Some(self.ack(now))
    }

    fn on_timer(&mut self, now: Time) -> Option<Segment> {
        let due = self.timer().is_some_and(|at| at <= now);
        if self.delayed.is_some_and(|at| at <= now) {
            // No further segment arrived during the delay, so waiting was useless and the next
            // delay is longer (`tcp_delack_timer_handler`).
            let rto = self.rto();
            self.ato = self.ato.map(|ato| Duration(2 * ato.0).min(rto));
        }
        due.then(|| self.ack(now))
    }

    fn timer(&self) -> Option<Time> {
        match (self.delayed, self.update) {
            (Some(delayed), Some(update)) => Some(delayed.min(update)),
            (delayed, update) => delayed.or(update),
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.data.expected()
    }
}
