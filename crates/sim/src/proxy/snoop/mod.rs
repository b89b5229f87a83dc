//! Balakrishnan, Seshan & Katz, *Improving reliable transport and handoff performance in cellular wireless
//! networks*, Wireless Networks 1 (1995): an agent at the Node B caches data segments, retransmits them after
//! duplicate ACKs or its own timeout, and suppresses these ACKs. It forwards duplicate ACKs for segments that
//! it cannot or must not retransmit: not cached (lost before the Node B, cache full, passed before a
//! handover), retransmitted by the sender, or retransmitted too often. Not modelled: priority of local
//! retransmissions, negative acknowledgements for data sent by phones, and a cache shared by connections.

use nodeb_base::params;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::numbering::Numbering;
use nodeb_tcp::segment::{Kind, Segment};

params! {
    /// Parameters of the Snoop agent at the Node B. The defaults are those of ns-2's `snoop.h`.
    #[derive(Copy)]
    pub struct Snoop {
        /// Maximum number of segments cached per connection; further ones pass without caching.
        pub cache: NonZeroU32 = const { NonZeroU32::new(100).unwrap() },
        /// Number of duplicate ACKs after which a segment is retransmitted.
        pub dup_threshold: NonZeroU32 = NonZeroU32::MIN,
        /// Minimum timeout of a local retransmission.
        pub min_timeout: Duration = Duration::from_millis(100),
        /// Maximum number of local retransmissions of a segment; beyond it the sender retransmits.
        pub max_retransmissions: u32 = 10,
        /// Whether agent and phone distinguish originals from retransmissions (Eifel): round trips of retransmitted
        /// segments are measured too, and an unnecessary retransmission causes no further ones.
        pub eifel: bool = false,
    }
}

impl Checked for Snoop {
    fn check(&self, check: &mut Check) {
        check.require(self.min_timeout > Duration::ZERO, "min_timeout", || {
            "0 s is out of range; expected more than 0 s, such as \"100 ms\"".to_owned()
        });
    }
}

/// Before the first round trip between Node B and phone (RFC 6298, 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
/// 64 times as long.
const MAX_DOUBLINGS: u32 = 6;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopCounts {
    /// After duplicate ACKs.
    pub retransmissions: u64,
    /// Retransmissions after a timeout.
    pub timeouts: u64,
    /// ACKs not forwarded to the sender.
    pub suppressed: u64,
    /// Not cached because the cache was full.
    pub uncached: u64,
    /// The original had reached the phone, as detected by Eifel; 0 without Eifel.
    pub spurious: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    packet: Segment,
    /// At the agent.
    came: Time,
    /// Last transmission to the phone.
    sent: Time,
    /// By the agent.
    resent: u32,
    /// A segment with the same or a higher number had passed before: taken for the sender's own
    /// retransmission, which the agent does not retransmit.
    senders_own: bool,
}

/// RFC 6298, 2, in ns, between Node B and phone.
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

#[derive(Debug)]
pub struct SnoopAgent {
    params: Snoop,
    numbering: Numbering,
    /// In the order of their numbers.
    cache: VecDeque<Cached>,
    /// Plus 1; 0 before the first segment.
    highest: u64,
    /// First segment that is not acknowledged.
    acked: u64,
    /// For a cached segment, since the last new ACK.
    dupacks: u32,
    /// Duplicate ACKs that segments sent before the last local retransmission may still cause.
    expected: usize,
    /// Unnecessary local retransmissions in flight, each of which causes a duplicate ACK.
    needless: u64,
    rtt: RoundTrip,
    /// Timeouts since the last new ACK, at most [`MAX_DOUBLINGS`].
    doublings: u32,
    timer: Option<Time>,
    pub counts: SnoopCounts,
}

impl SnoopAgent {
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

    /// Unless the cache is full or the segment is acknowledged already.
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

    /// False if it must not be forwarded.
    pub fn on_ack(&mut self, now: Time, ack: &Segment, retransmitted: &mut Vec<Segment>) -> bool {
        if ack.kind != Kind::Ack {
            return true;
        }
        let next = self.numbering.unacknowledged(ack);
        let is_forwarded = match next.cmp(&self.acked) {
            std::cmp::Ordering::Greater => {
                self.on_new_ack(now, next, ack.answers_retransmission);
                true
            }
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal if self.is_of_needless_copy(ack) => false,
            std::cmp::Ordering::Equal => self.on_duplicate_ack(now, retransmitted),
        };
        self.counts.suppressed += u64::from(!is_forwarded);
        is_forwarded
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

    /// Time of the transmission that an ACK answers, `None` if ambiguous. `oldest` is the first segment
    /// acknowledged, `answers_retransmission` the Eifel mark; an answer to the original makes the local
    /// retransmissions spurious.
    fn find_answered(&mut self, oldest: &Cached, answers_retransmission: bool) -> Option<Time> {
        // The Eifel mark is useless if the sender itself retransmitted the segment, because then all copies of
        // the segment bear the mark.
        let is_distinguished = !oldest.senders_own && !oldest.packet.retransmission;
        match oldest.resent {
            0 => (!oldest.senders_own).then_some(oldest.sent),
            copies if is_distinguished && !answers_retransmission => {
                self.counts.spurious += u64::from(copies);
                self.needless += u64::from(copies);
                Some(oldest.came)
            }
            1 if is_distinguished => Some(oldest.sent),
            _ => None,
        }
    }

    /// Such a duplicate ACK is no sign of a loss.
    fn is_of_needless_copy(&mut self, ack: &Segment) -> bool {
        let is_one = self.needless > 0 && ack.answers_retransmission;
        self.needless -= u64::from(is_one);
        is_one
    }

    /// True if it must be forwarded.
    fn on_duplicate_ack(&mut self, now: Time, retransmitted: &mut Vec<Segment>) -> bool {
        let behind = self.cache.len().saturating_sub(1);
        let Some(wanted) = self.cache.front().filter(|first| self.is_ours(first)) else {
            return true;
        };
        self.dupacks += 1;
        if self.dupacks < self.params.dup_threshold.get() {
            return false;
        }
        if wanted.resent == 0 || self.expected == 0 {
            // Each cached segment after the lost one causes one duplicate ACK. Further duplicate ACKs mean that the
            // retransmission is lost too.
            self.expected = behind.saturating_sub(self.dupacks as usize);
            self.counts.retransmissions += 1;
            self.resend(now, retransmitted);
        } else {
            self.expected -= 1;
        }
        false
    }

    fn resend(&mut self, now: Time, retransmitted: &mut Vec<Segment>) {
        let least = self.params.min_timeout;
        if let Some(first) = self.cache.front_mut() {
            first.resent += 1;
            first.sent = now;
            retransmitted.push(Segment { retransmission: true, ..first.packet });
            self.timer = Some(now + Duration(self.rtt.timeout(least).0 << self.doublings));
        }
    }

    /// Retransmits the first cached segment and doubles the timeout, or stops the timer.
    pub fn on_timer(&mut self, now: Time, retransmitted: &mut Vec<Segment>) {
        self.timer = None;
        if self.cache.front().is_some_and(|first| self.is_ours(first)) {
            self.counts.timeouts += 1;
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.resend(now, retransmitted);
        }
    }

    /// The phone waits for `first`, the sender has not retransmitted it, and the agent fewer than
    /// `max_retransmissions` times.
    fn is_ours(&self, first: &Cached) -> bool {
        first.packet.seq == self.acked && !first.senders_own && first.resent < self.params.max_retransmissions
    }

    /// After the phone has left the cell; the counts remain.
    pub fn reset(&mut self) {
        *self = Self { counts: self.counts, ..Self::new(&self.params, self.numbering) };
    }

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
