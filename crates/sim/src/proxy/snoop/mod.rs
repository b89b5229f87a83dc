//! Snoop: an agent at the Node B that hides losses on the air from the sender.
//!
//! Balakrishnan, Seshan & Katz, *Improving reliable transport and handoff performance in cellular
//! wireless networks*, Wireless Networks 1 (1995): the agent keeps the data segments that pass and
//! are not acknowledged. A duplicate ACK that asks for a segment it has makes it send that segment
//! again and goes no further; so does a timer of its own. What it does not have was lost before it,
//! and that the sender must learn.
//!
//! Left out: the priority of local retransmissions over other packets (they queue behind them), the
//! negative acknowledgements for data that phones send, and a cache shared by connections.

use nodeb_base::params;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::numbering::Numbering;
use nodeb_tcp::segment::{Kind, Segment};

params! {
    /// A Snoop agent's parameters. The defaults are those of ns-2's `snoop.h`.
    #[derive(Copy)]
    pub struct Snoop {
        /// Segments kept for each connection; further ones pass unseen.
        pub cache: NonZeroU32 = const { NonZeroU32::new(100).unwrap() },
        /// Duplicate ACKs that ask for a segment before it is sent again.
        pub dup_threshold: NonZeroU32 = NonZeroU32::MIN,
        /// Smallest timeout of a local retransmission.
        pub min_timeout: Duration = Duration::from_millis(100),
        /// Local retransmissions of a segment after which it is left to the sender.
        pub max_retransmissions: u32 = 10,
        /// Agent and phone tell originals from repetitions (Eifel): round trips of repeated segments count
        /// too, and a repetition that was not needed causes no further ones.
        pub eifel: bool = false,
    }
}

impl Checked for Snoop {
    fn check(&self, check: &mut Check) {
        check.require(self.min_timeout > Duration::ZERO, "min_timeout", || {
            "no ACK comes within 0 s; expected a positive time such as \"100 ms\"".to_owned()
        });
    }
}

/// Timeout until the first round trip between Node B and phone is measured (RFC 6298, 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_DOUBLINGS: u32 = 6;

/// What an agent has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopCounts {
    /// Segments sent again because duplicate ACKs asked for them.
    pub retransmissions: u64,
    /// Segments sent again because no ACK came in time.
    pub timeouts: u64,
    /// ACKs that were kept from the sender.
    pub suppressed: u64,
    /// Segments that found the cache full.
    pub uncached: u64,
    /// Segments sent again of which Eifel found that they had arrived before.
    pub spurious: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    packet: Segment,
    /// When it came, and when it was last sent to the phone.
    came: Time,
    sent: Time,
    resent: u32,
    /// Whether it came late: the sender knows of the loss and deals with it.
    senders_own: bool,
}

/// The round trip between Node B and phone (RFC 6298, 2), in nanoseconds.
#[derive(Debug, Default)]
struct RoundTrip {
    smoothed: Option<u64>,
    variation: u64,
}

impl RoundTrip {
    fn sample(&mut self, rtt: Duration) {
        let Some(smoothed) = self.smoothed else {
            (self.smoothed, self.variation) = (Some(rtt.0), rtt.0 / 2);
            return;
        };
        self.variation = (3 * self.variation + smoothed.abs_diff(rtt.0)) / 4;
        self.smoothed = Some((7 * smoothed + rtt.0) / 8);
    }

    fn timeout(&self, least: Duration) -> Duration {
        self.smoothed.map_or(FIRST_TIMEOUT, |smoothed| Duration(smoothed + 4 * self.variation)).max(least)
    }
}

/// The agent of one connection.
#[derive(Debug)]
pub struct SnoopAgent {
    params: Snoop,
    numbering: Numbering,
    /// Segments not acknowledged, in order of their numbers.
    cache: VecDeque<Cached>,
    /// One past the highest number seen, and the first not acknowledged.
    highest: u64,
    acked: u64,
    /// Duplicate ACKs in a row, and those still to come of segments sent before the last resending.
    dupacks: u32,
    expected: usize,
    /// Copies under way that the phone does not need.
    needless: u64,
    rtt: RoundTrip,
    doublings: u32,
    timer: Option<Time>,
    /// What has been done.
    pub counts: SnoopCounts,
}

impl SnoopAgent {
    /// An agent that has seen nothing, on a connection numbered so.
    pub fn new(params: &Snoop, numbering: Numbering) -> Self {
        Self {
            params: *params,
            numbering,
            cache: VecDeque::new(),
            highest: 0,
            acked: 0,
            dupacks: 0,
            expected: 0,
            needless: 0,
            rtt: RoundTrip::default(),
            doublings: 0,
            timer: None,
            counts: SnoopCounts::default(),
        }
    }

    /// A packet passes towards the phone.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if !self.numbering.is_data(segment) || segment.seq < self.acked {
            return;
        }
        let senders_own = segment.seq < self.highest;
        let entry = Cached { packet: *segment, came: now, sent: now, resent: 0, senders_own };
        match self.cache.binary_search_by_key(&segment.seq, |cached| cached.packet.seq) {
            Ok(at) => self.cache[at] = entry,
            Err(_) if self.cache.len() >= self.params.cache.get() as usize => self.counts.uncached += 1,
            Err(at) => self.cache.insert(at, entry),
        }
        self.highest = self.highest.max(segment.seq + 1);
        if self.timer.is_none() {
            self.restart_timer(now);
        }
    }

    /// A packet passes towards the server; `false` keeps it from going on. What is to be sent to the
    /// phone again is appended to `again`.
    pub fn on_ack(&mut self, now: Time, ack: &Segment, again: &mut Vec<Segment>) -> bool {
        if ack.kind != Kind::Ack {
            return true;
        }
        let next = self.numbering.unacknowledged(ack);
        let goes_on = match next.cmp(&self.acked) {
            std::cmp::Ordering::Greater => {
                self.on_new_ack(now, next, ack.answers_retransmission);
                true
            }
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal if self.is_of_needless_copy(ack) => false,
            std::cmp::Ordering::Equal => self.on_duplicate_ack(now, again),
        };
        self.counts.suppressed += u64::from(!goes_on);
        goes_on
    }

    fn on_new_ack(&mut self, now: Time, next: u64, answers_retransmission: bool) {
        let oldest = self.cache.front().copied().filter(|cached| cached.packet.seq < next);
        let mut newest = None;
        while self.cache.front().is_some_and(|cached| cached.packet.seq < next) {
            newest = self.cache.pop_front();
        }
        let sent = if self.params.eifel {
            oldest.and_then(|cached| self.find_answered(&cached, answers_retransmission))
        } else {
            newest.filter(|cached| cached.resent == 0 && !cached.senders_own).map(|cached| cached.sent)
        };
        if let Some(sent) = sent {
            self.rtt.sample(now.since(sent));
        }
        (self.acked, self.dupacks, self.expected, self.doublings) = (next, 0, 0, 0);
        self.restart_timer(now);
    }

    /// When the transmission was sent that an ACK answers of which `oldest` is the first segment, as far as
    /// the mark tells that; counts copies that came after the original.
    fn find_answered(&mut self, oldest: &Cached, answers_retransmission: bool) -> Option<Time> {
        // A repetition of the sender's own bears the mark on all its copies.
        let told = !oldest.senders_own && !oldest.packet.retransmission;
        match oldest.resent {
            0 => (!oldest.senders_own).then_some(oldest.sent),
            copies if told && !answers_retransmission => {
                self.counts.spurious += u64::from(copies);
                self.needless += u64::from(copies);
                Some(oldest.came)
            }
            1 if told => Some(oldest.sent),
            _ => None,
        }
    }

    /// Whether a duplicate ACK is the phone's answer to a copy that it did not need: no sign of a loss.
    fn is_of_needless_copy(&mut self, ack: &Segment) -> bool {
        let is_one = self.needless > 0 && ack.answers_retransmission;
        self.needless -= u64::from(is_one);
        is_one
    }

    /// Whether a duplicate ACK must reach the sender.
    fn on_duplicate_ack(&mut self, now: Time, again: &mut Vec<Segment>) -> bool {
        let behind = self.cache.len().saturating_sub(1);
        let Some(wanted) = self.cache.front().filter(|first| self.is_ours(first)) else {
            return true;
        };
        self.dupacks += 1;
        if self.dupacks < self.params.dup_threshold.get() {
            return false;
        }
        if wanted.resent == 0 || self.expected == 0 {
            // Each segment behind the gap causes one; more tell that the resending is lost too.
            self.expected = behind.saturating_sub(self.dupacks as usize);
            self.counts.retransmissions += 1;
            self.resend(now, again);
        } else {
            self.expected -= 1;
        }
        false
    }

    fn resend(&mut self, now: Time, again: &mut Vec<Segment>) {
        let least = self.params.min_timeout;
        if let Some(first) = self.cache.front_mut() {
            first.resent += 1;
            first.sent = now;
            again.push(Segment { retransmission: true, ..first.packet });
            self.timer = Some(now + Duration(self.rtt.timeout(least).0 << self.doublings));
        }
    }

    /// The time of [`Self::timer`] has come.
    pub fn on_timer(&mut self, now: Time, again: &mut Vec<Segment>) {
        self.timer = None;
        if self.cache.front().is_some_and(|first| self.is_ours(first)) {
            self.counts.timeouts += 1;
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.resend(now, again);
        }
    }

    /// Whether the phone waits for this segment, the first in the cache, and not for one that was
    /// lost before the Node B, and it is not left to the sender.
    fn is_ours(&self, first: &Cached) -> bool {
        first.packet.seq == self.acked && !first.senders_own && first.resent < self.params.max_retransmissions
    }

    /// The phone has left the cell: what was kept for it and measured towards it is forgotten, and the agent
    /// is as new but for what it has counted.
    pub fn forget(&mut self) {
        *self = Self { counts: self.counts, ..Self::new(&self.params, self.numbering) };
    }

    /// When [`Self::on_timer`] must be called, unless something happens before.
    pub fn timer(&self) -> Option<Time> {
        self.timer
    }

    fn restart_timer(&mut self, now: Time) {
        let due = now + self.rtt.timeout(self.params.min_timeout);
        self.timer = (!self.cache.is_empty()).then_some(due);
    }
}

#[cfg(test)]
mod tests;
