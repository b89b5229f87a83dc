//! CoDel, controlled delay (RFC 8289): if for a whole interval each packet has waited at least a target
//! time, drops or marks packets at the head of the queue, at an increasing rate.

use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Rate, Time};

use super::{DropLog, Queue, QueueParams, TimedFifo};

params! {
    /// Parameters of a CoDel queue, which drops packets while the queueing delay stays above a
    /// target (RFC 8289).
    pub struct Codel {
        // The default target and interval are those of RFC 8289, sections 4.4 and 4.3.
        /// Largest number of packets that wait in the queue.
        pub limit: NonZeroU32 = const { NonZeroU32::new(1000).unwrap() },
        /// Acceptable standing queueing delay (RFC 8289, section 4.4).
        pub target: Duration = Duration::from_millis(5),
        /// Time for which the delay must exceed the target before a packet is dropped; about the longest
        /// round-trip time (RFC 8289, section 4.3).
        pub interval: Duration = Duration::from_millis(100),
        /// Whether the queue marks ECN-capable packets instead of dropping them.
        pub ecn: bool = true,
    }
}

impl Checked for Codel {
    fn check(&self, check: &mut Check) {
        check_times(check, self.target, self.interval);
    }
}

pub fn check_times(check: &mut Check, target: Duration, interval: Duration) {
    check.require(target.0 > 0, "target", || {
        "0 s is out of range; expected a positive time such as \"5 ms\"".to_owned()
    });
    check.require(interval >= target, "interval", || {
        "the interval is shorter than the target; expected at least `target`, such as \"100 ms\"".to_owned()
    });
}

/// Packet taken from the head of the queue, or `None` if the queue was empty, and whether the queueing delay
/// has exceeded the target for long enough to drop the packet.
struct Head {
    packet: Option<Packet>,
    may_drop: bool,
}

/// State of CoDel for one queue. The fields have the names of RFC 8289, section 5.
#[derive(Debug)]
pub struct Control {
    target: Duration,
    interval: Duration,
    ecn: bool,
    /// Time from which packets may be dropped: one `interval` after the delay reached the target. `None`
    /// while the delay is below the target or too few bytes wait (see `largest`).
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// Size in bytes of the largest packet that has left the queue so far. A queue in which at most this many
    /// bytes remain has no standing delay.
    largest: u32,
}

impl Control {
    pub fn new(target: Duration, interval: Duration, ecn: bool) -> Self {
        Self {
            target,
            interval,
            ecn,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            largest: 0,
        }
    }

    /// Returns `since` plus `interval / sqrt(count)`, the time of the next drop. Such intervals
    /// reduce the throughput of a TCP connection linearly with time (RFC 8289, section 3.3).
    fn control_law(&self, since: Time) -> Time {
        since + Duration((self.interval.0 as f64 / f64::from(self.count).sqrt()) as u64)
    }

    /// Removes the packet at the head of the queue and compares its queueing delay with the target
    /// (`dodequeue` of RFC 8289).
    fn head(&mut self, now: Time, fifo: &mut TimedFifo) -> Head {
        let Some((came, packet)) = fifo.pop() else {
            self.first_above = None;
            return Head { packet: None, may_drop: false };
        };
        self.largest = self.largest.max(packet.size);
        let mut may_drop = false;
        if now.since(came) < self.target || fifo.bytes() <= u64::from(self.largest) {
            self.first_above = None;
        } else {
            let stands_at = *self.first_above.get_or_insert(now + self.interval);
            may_drop = now >= stands_at;
        }
        Head { packet: Some(packet), may_drop }
    }

    fn signal(&self, head: &mut Head, drops: &mut DropLog) -> bool {
        let Some(packet) = &mut head.packet else { return false };
        if self.ecn && drops.mark(packet) {
            return true;
        }
        drops.discard_early(*packet);
        false
    }

    /// Packets in front of it may be dropped (`deque` of RFC 8289).
    pub fn dequeue(&mut self, now: Time, fifo: &mut TimedFifo, drops: &mut DropLog) -> Option<Packet> {
        let mut head = self.head(now, fifo);
        if self.dropping {
            self.dropping = head.may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let marked = self.signal(&mut head, drops);
                if !marked {
                    head = self.head(now, fifo);
                    self.dropping = head.may_drop;
                }
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
                if marked {
                    break;
                }
            }
        } else if head.may_drop {
            if !self.signal(&mut head, drops) {
                head = self.head(now, fifo);
            }
            self.begin(now);
        }
        head.packet
    }

    /// The previous dropping state is recent if its next drop was due less than 16 intervals ago. If it is recent and
    /// its count had grown by more than 1, this growth becomes the new count, so that the previous drop rate continues.
    /// Otherwise the new count is 1.
    fn begin(&mut self, now: Time) {
        let drops = self.count - self.last_count;
        let recent = now.since(self.drop_next).0 < 16 * self.interval.0;
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = true;
    }
}

impl QueueParams for Codel {
    fn build(&self, _rate: Rate, _stream: Stream) -> Box<dyn Queue> {
        Box::new(CodelQueue::new(self))
    }

    fn limit(&self) -> Option<NonZeroU32> {
        Some(self.limit)
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// Queue with CoDel: its packets, its limit in packets, and the state of the drop control.
#[derive(Debug)]
pub struct CodelQueue {
    fifo: TimedFifo,
    limit: usize,
    control: Control,
}

impl CodelQueue {
    pub fn new(params: &Codel) -> Self {
        Self {
            fifo: TimedFifo::default(),
            limit: params.limit.get() as usize,
            control: Control::new(params.target, params.interval, params.ecn),
        }
    }
}

impl Queue for CodelQueue {
    fn push(&mut self, now: Time, packet: Packet, drops: &mut DropLog) -> bool {
        if self.fifo.len() >= self.limit {
            drops.refuse_overflow();
            return false;
        }
        self.fifo.push(now, packet);
        true
    }

    fn pop(&mut self, now: Time, drops: &mut DropLog) -> Option<Packet> {
        self.control.dequeue(now, &mut self.fifo, drops)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::packet::EcnField;

    fn segment(capable: bool) -> Packet {
        let ecn = if capable { EcnField::Ect0 } else { EcnField::NotEct };
        Packet { ecn, ..Packet::new(0, 1500) }
    }

    /// Removes one packet per millisecond from a queue for `ms` ms. At each time t in ms, `arrivals(t)`
    /// packets arrive first. Returns the times of drops and marks in ms.
    fn serve(queue: &mut CodelQueue, ms: u64, capable: bool, arrivals: impl Fn(u64) -> u64) -> Vec<u64> {
        let (mut drops, mut signals) = (DropLog::default(), Vec::new());
        for t in 0..ms {
            let now = Time(t * 1_000_000);
            for _ in 0..arrivals(t) {
                queue.push(now, segment(capable), &mut drops);
            }
            let before = drops.counts;
            queue.pop(now, &mut drops);
            let after = drops.counts;
            signals.extend(std::iter::repeat_n(
                t,
                (after.early + after.marked - before.early - before.marked) as usize,
            ));
        }
        signals
    }

    fn codel() -> CodelQueue {
        CodelQueue::new(&Codel::default())
    }

    #[test]
    fn drop_rate_grows_with_the_square_root_of_the_count() {
        // After the first departure 50 packets wait, and the queue stays as long, because marks
        // remove no packet. The delay, which grows to 50 ms, reaches the target at t = 5 ms, so the
        // first mark is at 105 ms.
        let signals = serve(&mut codel(), 700, true, |t| if t == 0 { 51 } else { 1 });
        let mut due = f64::from(105);
        let mut expected = vec![105];
        for count in 1..signals.len() {
            due += 100.0 / (count as f64).sqrt();
            expected.push(due.ceil() as u64);
        }
        assert!(signals.len() > 8);
        assert_eq!(signals, expected);
    }

    #[test]
    fn a_burst_that_drains_within_an_interval_is_not_dropped() {
        assert!(serve(&mut codel(), 300, false, |t| if t == 0 { 90 } else { 0 }).is_empty());
    }

    #[test]
    fn a_standing_queue_is_reduced_to_the_target() {
        let mut queue = codel();
        serve(&mut queue, 6_000, false, |t| if t == 0 { 51 } else { 1 });
        assert!(queue.len() <= 6, "{}", queue.len());
    }

    #[test]
    fn ecn_capable_packets_are_marked_instead_of_dropped() {
        let mut queue = codel();
        serve(&mut queue, 1_000, true, |t| if t == 0 { 51 } else { 1 });
        assert_eq!(queue.len(), 50);
        let mut without_ecn = CodelQueue::new(&Codel { ecn: false, ..Codel::default() });
        serve(&mut without_ecn, 1_000, true, |t| if t == 0 { 51 } else { 1 });
        assert!(without_ecn.len() < 45);
    }

    #[test]
    fn a_recent_drop_rate_is_resumed() {
        let mut control = Control::new(Duration::from_millis(5), Duration::from_millis(100), true);
        (control.count, control.last_count, control.drop_next) = (9, 1, Time(1_000_000_000));
        control.begin(Time(2_500_000_000));
        assert_eq!((control.count, control.drop_next), (8, Time(2_535_355_339)));
        control.begin(Time(9_000_000_000));
        assert_eq!((control.count, control.drop_next), (1, Time(9_100_000_000)));
    }
}
