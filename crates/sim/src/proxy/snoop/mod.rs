//! Snoop: an agent at the Node B that hides losses on the air interface from the TCP sender.
//!
//! Balakrishnan, Seshan & Katz, *Improving reliable transport and handoff performance in cellular wireless networks*,
//! Wireless Networks 1 (1995): the agent caches passing data segments until they are acknowledged. It retransmits a
//! cached segment if duplicate ACKs show that the phone lacks it, or if the agent's own timer expires. It suppresses
//! these duplicate ACKs.
//!
//! The agent forwards duplicate ACKs for a segment that it cannot or must not retransmit, so that the sender does. Such
//! a segment is not cached, or is a retransmission by the sender, or has been retransmitted too often. A segment is not
//! cached if it was lost before the Node B, found the cache full, or passed before a handover.
//!
//! Not modelled: priority of local retransmissions (they queue behind the packets that are waiting), negative
//! acknowledgements for data sent by phones, and a cache shared by connections.

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

/// Timeout before the first measured round trip between Node B and phone (RFC 6298, 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of times that the timeout is doubled, which makes it 64 times as long.
const MAX_DOUBLINGS: u32 = 6;

/// Counts of a Snoop agent's actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopCounts {
    /// Number of retransmissions by the agent after duplicate ACKs.
    pub retransmissions: u64,
    /// Number of retransmissions by the agent after a timeout.
    pub timeouts: u64,
    /// Number of ACKs that the agent did not forward to the sender.
    pub suppressed: u64,
    /// Number of segments that the agent did not cache because the cache was full.
    pub uncached: u64,
    /// Number of retransmissions by the agent of segments whose original reached the phone, as detected by
    /// Eifel; 0 without Eifel.
    pub spurious: u64,
}

/// Segment in the cache of a Snoop agent.
#[derive(Clone, Copy, Debug)]
struct Cached {
    packet: Segment,
    /// Time at which the segment arrived at the agent.
    came: Time,
    /// Time at which the agent last transmitted the segment to the phone.
    sent: Time,
    /// Number of retransmissions of the segment by the agent.
    resent: u32,
    /// Whether a segment with the same or a higher number had passed before, so that the agent takes this one
    /// for the sender's own retransmission. The agent does not retransmit such segments.
    senders_own: bool,
}

/// Round-trip time between Node B and phone (RFC 6298, 2), in nanoseconds.
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

/// Snoop agent of one connection, with its cache and its estimate of the round-trip time over the radio.
#[derive(Debug)]
pub struct SnoopAgent {
    params: Snoop,
    numbering: Numbering,
    /// Cached segments that are not acknowledged, in the order of their numbers.
    cache: VecDeque<Cached>,
    /// Highest number of a segment that has passed, plus 1; 0 before the first segment.
    highest: u64,
    /// Number of the first segment that is not acknowledged.
    acked: u64,
    /// Number of duplicate ACKs for a cached segment since the last new ACK.
    dupacks: u32,
    /// Number of duplicate ACKs that segments sent before the last local retransmission may still cause.
    expected: usize,
    /// Number of unnecessary local retransmissions in flight, each of which causes a duplicate ACK.
    needless: u64,
    rtt: RoundTrip,
    /// Number of timeouts since the last new ACK, at most [`MAX_DOUBLINGS`]; each doubles the
    /// timeout.
    doublings: u32,
    timer: Option<Time>,
    /// Counts of the agent's retransmissions and suppressed ACKs so far.
    pub counts: SnoopCounts,
}

impl SnoopAgent {
    /// Creates the agent of a new connection with the given numbering of segments.
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

    /// Caches a data segment that passes towards the phone, unless the cache is full or the segment is
    /// acknowledged already.
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

    /// Handles a segment from the phone that passes towards the server, such as an ACK. Returns false if it
    /// must not be forwarded. Appends to `retransmitted` the cached segments to retransmit to the phone now.
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

    /// Returns the time of the transmission that an ACK answers, or `None` if several transmissions are possible.
    /// `oldest` is the first segment that the ACK acknowledges; `answers_retransmission` is the Eifel mark of the ACK.
    /// If the ACK answers the original, counts the local retransmissions as spurious.
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

    /// Returns true if a duplicate ACK answers an unnecessary local retransmission, and so is no sign of a loss. Counts
    /// this retransmission as no longer in flight.
    fn is_of_needless_copy(&mut self, ack: &Segment) -> bool {
        let is_one = self.needless > 0 && ack.answers_retransmission;
        self.needless -= u64::from(is_one);
        is_one
    }

    /// Handles a duplicate ACK. Returns true if it must be forwarded to the sender.
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

    /// Handles the expiry of the agent's timer. If the agent must retransmit the first cached segment, appends
    /// it to `retransmitted` and doubles the timeout. Otherwise the timer stays stopped.
    pub fn on_timer(&mut self, now: Time, retransmitted: &mut Vec<Segment>) {
        self.timer = None;
        if self.cache.front().is_some_and(|first| self.is_ours(first)) {
            self.counts.timeouts += 1;
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.resend(now, retransmitted);
        }
    }

    /// Returns true if the agent must retransmit `first`, the first segment in the cache. It must do so if
    /// the phone waits for this segment, the sender has not retransmitted it, and the agent has retransmitted
    /// it fewer than `max_retransmissions` times.
    fn is_ours(&self, first: &Cached) -> bool {
        first.packet.seq == self.acked && !first.senders_own && first.resent < self.params.max_retransmissions
    }

    /// Clears the cache and the measurements after the phone has left the cell, but keeps the counts.
    pub fn reset(&mut self) {
        *self = Self { counts: self.counts, ..Self::new(&self.params, self.numbering) };
    }

    /// Returns the time at which [`Self::on_timer`] must be called unless another event happens before, or `None` if
    /// no timer is armed.
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
