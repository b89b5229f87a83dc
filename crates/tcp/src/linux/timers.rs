//! The simulator schedules one event per sender, at or before the earliest expiry, and again if none has
//! expired then: cheaper than on each ACK that defers a timer.

use nodeb_base::units::{Duration, Time};

use super::jiffies;

/// `icsk_pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// RFC 6298.
    Timeout,
    /// RFC 8985, 7.
    Probe,
    /// RFC 8985, 6.2.
    Reorder,
    /// RFC 9293, 3.8.6.1.
    Window,
}

/// The expiry is computed only if needed, since most timers are re-armed long before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArmedTimer {
    since: Time,
    length: Duration,
    pending: Pending,
}

impl ArmedTimer {
    /// By the kernel's timer wheel, never early.
    pub fn end(self) -> Time {
        jiffies::expiry(self.since, self.length)
    }

    fn has_expired(self, now: Time) -> bool {
        self.since + self.length <= now && self.end() <= now
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    /// Of the retransmission queue: arming it for one purpose cancels the others.
    pub loss: Option<ArmedTimer>,
    /// If a segment waits for the pacer.
    pub pacing: Option<Time>,
    next_event: Option<Time>,
}

impl Timers {
    /// At or before the earliest expiry.
    pub fn next_event(&self) -> Option<Time> {
        self.next_event
    }

    /// An event keeps its time if after `now` and not after the earliest expiry.
    pub fn reschedule(&mut self, now: Time) {
        const NEVER: u64 = u64::MAX;
        let at = |timer: Option<Time>| timer.map_or(NEVER, |at| at.0);
        let (next_event, others) = (at(self.next_event), at(self.pacing));
        let stays = |earliest: u64| now.0 < next_event && next_event <= earliest && earliest < NEVER;
        // The timer of the retransmission queue never expires before this bound. Its exact expiry
        // is computed only if it may be the earliest.
        let lower_bound = at(self.loss.map(|wait| wait.since + wait.length));
        if stays(others.min(lower_bound)) {
            return;
        }
        let earliest =
            if lower_bound < others { others.min(at(self.loss.map(ArmedTimer::end))) } else { others };
        if !stays(earliest) {
            self.next_event = (earliest < NEVER).then_some(Time(earliest));
        }
    }

    pub fn pending(&self) -> Option<Pending> {
        self.loss.map(|wait| wait.pending)
    }

    pub fn due(&self, now: Time) -> Option<Pending> {
        self.loss.filter(|wait| wait.has_expired(now)).map(|wait| wait.pending)
    }

    /// Rounded up by the kernel's timer wheel.
    pub fn set(&mut self, now: Time, length: Duration, pending: Pending) {
        self.loss = Some(ArmedTimer { since: now, length, pending });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Time = |ms| Time(1_000_000 * ms);

    fn waits(since: u64) -> Timers {
        let mut timers = Timers::default();
        timers.set(MS(since), Duration::from_millis(100), Pending::Timeout);
        timers
    }

    #[test]
    fn next_event_advances_at_once_and_is_deferred_lazily() {
        let mut timers = waits(0);
        timers.reschedule(MS(0));
        // By the timer wheel a timer of 100 ms expires up to one jiffy (4 ms) later, here at 104
        // ms.
        assert_eq!(timers.next_event(), Some(MS(104)));
        timers.loss = waits(50).loss;
        timers.reschedule(MS(50));
        assert_eq!(timers.next_event(), Some(MS(104)));
        timers.reschedule(MS(104));
        assert_eq!(timers.next_event(), timers.loss.map(ArmedTimer::end));
        timers.pacing = Some(MS(120));
        timers.reschedule(MS(110));
        assert_eq!(timers.next_event(), Some(MS(120)));
        timers = Timers { next_event: timers.next_event, ..Timers::default() };
        timers.reschedule(MS(115));
        assert_eq!(timers.next_event(), None);
    }

    proptest! {
        /// `reschedule` computes exact expiries only if needed.
        #[test]
        fn next_event_agrees_with_all_expiries(
            steps in prop::collection::vec((0u64..9, 0u64..400, prop::option::of(0u64..90)), 1..200),
        ) {
            let (mut timers, mut now, mut next_event): (Timers, Time, Option<Time>) = (Timers::default(), MS(0), None);
            for (passes, length, pacing) in steps {
                now += Duration::from_millis(passes);
                let length = Duration::from_millis(length);
                timers.set(now, length, Pending::Probe);
                timers.pacing = pacing.map(|wait| now + Duration::from_millis(wait));
                timers.reschedule(now);
                let end = jiffies::expiry(now, length);
                let earliest = timers.pacing.map_or(end, |at| at.min(end));
                next_event = next_event.filter(|&next_event| now < next_event && next_event <= earliest).or(Some(earliest));
                prop_assert_eq!(timers.next_event(), next_event);
                for later in (0..500).map(|ms| now + Duration::from_millis(ms)) {
                    prop_assert_eq!(timers.due(later).is_some(), end <= later);
                }
            }
        }
    }
}
