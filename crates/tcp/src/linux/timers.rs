//! The timers of a sender. Each is a time or absent; the connection is woken for the earliest.
//!
//! The timeout and the probe move on with every ACK. The time of waking does not move with them: an
//! alarm that comes too early finds nothing due and is set anew, which costs less than setting it
//! each time.

use nodeb_base::units::{Duration, Time};

use super::jiffies;

/// What the one timer of the retransmission queue waits for (Linux: `icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Retransmission timeout (RFC 6298).
    Timeout,
    /// Tail loss probe (RFC 8985, 7).
    Probe,
    /// End of the time for which RACK waits for reordered segments (RFC 8985, 6.2).
    Reorder,
    /// Probe of a closed window (RFC 9293, 3.8.6.1).
    Window,
}

/// A timer as it was set. When it runs is worked out where that matters: most are set anew long before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    since: Time,
    length: Duration,
    pending: Pending,
}

impl Wait {
    /// When it runs, by the kernel's clock: not before its time is over.
    pub fn end(self) -> Time {
        jiffies::expiry(self.since, self.length)
    }

    fn is_over(self, now: Time) -> bool {
        self.since + self.length <= now && self.end() <= now
    }
}

/// Everything that a sender may wait for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    /// That of the retransmission queue: setting one of these stops the others.
    pub loss: Option<Wait>,
    /// The pacer lets the next segment go.
    pub pacing: Option<Time>,
    wake: Option<Time>,
}

impl Timers {
    /// When the connection must be woken: at the earliest timer or before.
    pub fn wake(&self) -> Option<Time> {
        self.wake
    }

    /// Sets the time of waking after the timers have changed.
    pub fn settle(&mut self, now: Time) {
        const NEVER: u64 = u64::MAX;
        let at = |timer: Option<Time>| timer.map_or(NEVER, |at| at.0);
        let (wake, others) = (at(self.wake), at(self.pacing));
        let stays = |earliest: u64| now.0 < wake && wake <= earliest && earliest < NEVER;
        // The wheel's timer does not run before its time is over; when it does matters only if that is first.
        let least = at(self.loss.map(|wait| wait.since + wait.length));
        if stays(others.min(least)) {
            return;
        }
        let earliest = if least < others { others.min(at(self.loss.map(Wait::end))) } else { others };
        if !stays(earliest) {
            self.wake = (earliest < NEVER).then_some(Time(earliest));
        }
    }

    /// What the timer of the retransmission queue waits for.
    pub fn pending(&self) -> Option<Pending> {
        self.loss.map(|wait| wait.pending)
    }

    /// What it has waited for, if its time has come.
    pub fn due(&self, now: Time) -> Option<Pending> {
        self.loss.filter(|wait| wait.is_over(now)).map(|wait| wait.pending)
    }

    /// Sets it to run after `length`, by the kernel's clock.
    pub fn set(&mut self, now: Time, length: Duration, pending: Pending) {
        self.loss = Some(Wait { since: now, length, pending });
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
    fn waking_moves_forward_at_once_and_back_when_it_comes() {
        let mut timers = waits(0);
        timers.settle(MS(0));
        // The wheel rings at the end of a jiffy, 4 ms.
        assert_eq!(timers.wake(), Some(MS(104)));
        timers.loss = waits(50).loss;
        timers.settle(MS(50));
        assert_eq!(timers.wake(), Some(MS(104)));
        timers.settle(MS(104));
        assert_eq!(timers.wake(), timers.loss.map(Wait::end));
        timers.pacing = Some(MS(120));
        timers.settle(MS(110));
        assert_eq!(timers.wake(), Some(MS(120)));
        timers = Timers { wake: timers.wake, ..Timers::default() };
        timers.settle(MS(115));
        assert_eq!(timers.wake(), None);
    }

    proptest! {
        /// When a timer of the wheel runs is worked out only where that decides when to wake.
        #[test]
        fn waking_agrees_with_the_ends_of_all_timers(
            steps in prop::collection::vec((0u64..9, 0u64..400, prop::option::of(0u64..90)), 1..200),
        ) {
            let (mut timers, mut now, mut wake): (Timers, Time, Option<Time>) = (Timers::default(), MS(0), None);
            for (passes, length, pacing) in steps {
                now += Duration::from_millis(passes);
                let length = Duration::from_millis(length);
                timers.set(now, length, Pending::Probe);
                timers.pacing = pacing.map(|wait| now + Duration::from_millis(wait));
                timers.settle(now);
                let end = jiffies::expiry(now, length);
                let earliest = timers.pacing.map_or(end, |at| at.min(end));
                wake = wake.filter(|&wake| now < wake && wake <= earliest).or(Some(earliest));
                prop_assert_eq!(timers.wake(), wake);
                for later in (0..500).map(|ms| now + Duration::from_millis(ms)) {
                    prop_assert_eq!(timers.due(later).is_some(), end <= later);
                }
            }
        }
    }
}
