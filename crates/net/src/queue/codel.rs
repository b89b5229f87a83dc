//! CoDel, controlled delay (RFC 8289): packets are dropped at the head, ever faster, while each of
//! them has waited longer than a target for a whole interval.

use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Rate, Time};

use super::{DropLog, Queue, QueueParams, TimedFifo};

params! {
    /// Parameters of a CoDel queue.
    pub struct Codel {
        // The defaults: the times are RFC 8289's, sections 4.3 and 4.4.
        /// Packets that may wait.
        pub limit: NonZeroU32 = const { NonZeroU32::new(1000).unwrap() },
        /// Standing delay that is acceptable (RFC 8289, section 4.4).
        pub target: Duration = Duration::from_millis(5),
        /// Time for which the delay must have stood before a packet is dropped; about the longest
        /// round trip (RFC 8289, section 4.3).
        pub interval: Duration = Duration::from_millis(100),
        /// Marks packets of transports that understand it, instead of dropping them.
        pub ecn: bool = true,
    }
}

impl Checked for Codel {
    fn check(&self, check: &mut Check) {
        check_times(check, self.target, self.interval);
    }
}

/// Reports a target or an interval with which CoDel cannot work.
pub fn check_times(check: &mut Check, target: Duration, interval: Duration) {
    check.require(target.0 > 0, "target", || {
        "no queue has a delay of 0 s; expected a positive time such as \"5 ms\"".to_owned()
    });
    check.require(interval >= target, "interval", || {
        "expected a time no shorter than `target`, such as \"100 ms\"".to_owned()
    });
}

/// The next packet of a queue, and whether the delay has stood long enough to drop it.
struct Head {
    packet: Option<Packet>,
    may_drop: bool,
}

/// CoDel's state for one queue, named as in RFC 8289, section 5.
#[derive(Debug)]
pub struct Control {
    target: Duration,
    interval: Duration,
    ecn: bool,
    /// When the delay will have stood for an interval; `None` while it is below the target.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// Size of the largest packet so far: a queue of one such packet is no standing queue.
    largest: u32,
}

impl Control {
    /// CoDel that has seen no packet yet.
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

    /// When to drop next: `interval / sqrt(count)` after `since`, so that a TCP's rate falls
    /// linearly with time (RFC 8289, section 3.3).
    fn control_law(&self, since: Time) -> Time {
        since + Duration((self.interval.0 as f64 / f64::from(self.count).sqrt()) as u64)
    }

    /// Takes the next packet and judges the delay it has had (`dodequeue` of RFC 8289).
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

    /// Marks the packet or else drops it; says whether it was marked.
    fn signal(&self, head: &mut Head, drops: &mut DropLog) -> bool {
        let Some(packet) = &mut head.packet else { return false };
        if self.ecn && drops.mark(packet) {
            return true;
        }
        drops.discard_early(*packet);
        false
    }

    /// The next packet to send, after dropping what is to be dropped (`deque` of RFC 8289).
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

    /// Enters the dropping state. Soon after the last time, the rate that worked then is taken up.
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

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// A CoDel queue.
#[derive(Debug)]
pub struct CodelQueue {
    fifo: TimedFifo,
    limit: usize,
    control: Control,
}

impl CodelQueue {
    /// An empty queue.
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

    /// Serves a queue every millisecond for `ms`, with `arrivals(t)` packets coming at each; returns
    /// the times of drops or marks.
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
    fn signals_come_faster_by_the_square_root_of_their_count() {
        // 50 packets wait and as many come as go: the delay stands at 50 ms however many are
        // marked. From 5 ms on it is above the target, so the first mark falls 100 ms later.
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
    fn a_burst_that_drains_within_an_interval_is_let_through() {
        assert!(serve(&mut codel(), 300, false, |t| if t == 0 { 90 } else { 0 }).is_empty());
    }

    #[test]
    fn a_standing_queue_is_drained_to_the_target() {
        let mut queue = codel();
        serve(&mut queue, 6_000, false, |t| if t == 0 { 51 } else { 1 });
        assert!(queue.len() <= 6, "{}", queue.len());
    }

    #[test]
    fn capable_packets_are_marked_and_not_dropped() {
        let mut queue = codel();
        serve(&mut queue, 1_000, true, |t| if t == 0 { 51 } else { 1 });
        assert_eq!(queue.len(), 50);
        let mut deaf = CodelQueue::new(&Codel { ecn: false, ..Codel::default() });
        serve(&mut deaf, 1_000, true, |t| if t == 0 { 51 } else { 1 });
        assert!(deaf.len() < 45);
    }

    #[test]
    fn a_rate_that_worked_is_taken_up_again() {
        let mut control = Control::new(Duration::from_millis(5), Duration::from_millis(100), true);
        (control.count, control.last_count, control.drop_next) = (9, 1, Time(1_000_000_000));
        control.begin(Time(2_500_000_000));
        assert_eq!((control.count, control.drop_next), (8, Time(2_535_355_339)));
        control.begin(Time(9_000_000_000));
        assert_eq!((control.count, control.drop_next), (1, Time(9_100_000_000)));
    }
}
