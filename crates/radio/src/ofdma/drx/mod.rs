//! TS 36.321, 5.7. A phone listens during the on-duration of each cycle, for `inactivity` after a new block
//! or its grant, and from 8 TTIs after a failed block for up to `retransmission`. In a scheduled uplink
//! it also listens from a scheduling request to the block that answers it, and 4 TTIs after each of its
//! blocks, when a retransmission can be granted. Blocks and grants are sent only while it listens; blocks of
//! configured grants need none. On a plain uplink, a packet that the phone sends counts as a new block.

pub mod states;

/// In TTIs.
#[derive(Clone, Copy, Debug)]
pub struct DrxTimers {
    pub on_duration: u64,
    /// After a new block or its grant.
    pub inactivity: u64,
    /// Longest time for which the phone monitors for a retransmission.
    pub retransmission: u64,
    pub long_cycle: u64,
    pub short_cycle: Option<u64>,
    /// Before the first long cycle.
    pub short_cycles: u64,
}

/// In TTIs, with the on-duration at its start.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    length: u64,
    offset: u64,
    on: u64,
}

impl Cycle {
    fn position(self, tti: u64) -> u64 {
        (tti + self.length - self.offset % self.length) % self.length
    }

    /// At or after `from`.
    fn next_on(self, from: u64) -> u64 {
        let position = self.position(from);
        if position < self.on { from } else { from + self.length - position }
    }

    /// Counted from the start of the cycle that begins last before TTI 0.
    fn on_before(self, tti: u64) -> u64 {
        let shifted = tti + self.length - self.offset % self.length;
        shifted / self.length * self.on + (shifted % self.length).min(self.on)
    }

    /// Without `to`.
    fn on_between(self, from: u64, to: u64) -> u64 {
        if to > from { self.on_before(to) - self.on_before(from) } else { 0 }
    }
}

// Clause: TS 36.321, 5.7: discontinuous reception
// Simplified: the base station knows at once when the phone listens
#[derive(Clone, Debug)]
pub struct Listening {
    timers: DrxTimers,
    short: Option<Cycle>,
    long: Cycle,
    /// TTIs with short cycles after the inactivity timer.
    short_lasts: u64,
    /// First TTI after the inactivity timer; 0 if it has not run since [`Self::disconnected`] or at all.
    active_until: u64,
    /// First TTI and the one after the last in which a retransmission may arrive; ends early when it
    /// has.
    windows: Vec<(u64, u64)>,
    /// A scheduling request is pending.
    is_requesting: bool,
    /// First TTI that is not counted in `awake`.
    counted: u64,
    awake: u64,
}

impl Listening {
    /// The offset of the cycles follows from `id`, so that the on-durations of phones are spread.
    pub fn new(timers: DrxTimers, id: u64) -> Self {
        let offset = id.wrapping_mul(37) % timers.long_cycle.max(1);
        let cycle = |length: u64| Cycle { length: length.max(1), offset, on: timers.on_duration };
        Self {
            timers,
            short: timers.short_cycle.map(cycle),
            long: cycle(timers.long_cycle),
            short_lasts: timers.short_cycle.map_or(0, |short| short * timers.short_cycles),
            active_until: 0,
            windows: Vec::new(),
            is_requesting: false,
            counted: 0,
            awake: 0,
        }
    }

    /// 0 if [`Self::active_until`] is 0.
    fn short_until(&self) -> u64 {
        if self.active_until == 0 { 0 } else { self.active_until + self.short_lasts }
    }

    pub fn next(&self, from: u64) -> u64 {
        if from < self.active_until || self.is_requesting {
            return from;
        }
        let until = self.short_until();
        let short = self.short.filter(|_| from < until).map(|short| short.next_on(from));
        let on = short.filter(|at| *at < until).unwrap_or_else(|| self.long.next_on(from.max(until)));
        let window = |(begin, end): &(u64, u64)| (from < *end).then_some(from.max(*begin));
        self.windows.iter().filter_map(window).fold(on, u64::min)
    }

    /// Starts the inactivity timer.
    pub fn granted(&mut self, tti: u64) {
        self.count(tti);
        self.active_until = self.active_until.max(tti + 1 + self.timers.inactivity);
    }

    /// Pending until [`Self::answered`] is called.
    pub fn requested(&mut self, tti: u64) {
        self.count(tti);
        self.is_requesting = true;
    }

    /// The block's buffer status report cancels the pending request (TS 36.321, 5.4.4).
    pub fn answered(&mut self, tti: u64) {
        self.count(tti);
        self.is_requesting = false;
    }

    /// A retransmission of the phone's block can be granted in `tti`.
    pub fn may_repeat(&mut self, tti: u64) {
        self.windows.push((tti, tti + 1));
    }

    /// From `from` to the next connection in `until`, which may be earlier than said before; in between it
    /// listens to no cycle, and all timers stop (TS 36.331, 5.3.12).
    pub fn disconnected(&mut self, from: u64, until: u64) {
        self.count(from);
        (self.counted, self.active_until, self.is_requesting) = (until, 0, false);
        self.windows.clear();
    }

    /// Its retransmission comes in `begin` or later.
    pub fn failed(&mut self, tti: u64, begin: u64) {
        self.count(tti);
        self.windows.push((begin, begin + self.timers.retransmission));
    }

    pub fn repeated(&mut self, tti: u64) {
        self.count(tti);
        if let Some((_, end)) = self.windows.iter_mut().find(|(begin, end)| *begin <= tti && tti + 1 < *end) {
            *end = tti + 1;
        }
    }

    /// Up to and without `tti`.
    fn count(&mut self, tti: u64) {
        let from = self.counted;
        if tti <= from {
            return;
        }
        let active = if self.is_requesting { tti } else { self.active_until.clamp(from, tti) };
        let until = self.short_until().clamp(from, tti);
        let until = until.max(active);
        self.awake += active - from;
        self.awake += self.short.map_or(0, |short| short.on_between(active, until));
        self.awake += self.long.on_between(until, tti);
        let begin = self.windows.iter().map(|(begin, _)| *begin).min().unwrap_or(tti).max(from);
        let end = self.windows.iter().map(|(_, end)| *end).max().unwrap_or(tti);
        self.awake +=
            (begin..end.min(tti)).filter(|at| self.listens_only_for_retransmission(*at)).count() as u64;
        self.windows.retain(|(_, end)| *end > tti);
        self.counted = tti;
    }

    fn listens_only_for_retransmission(&self, tti: u64) -> bool {
        let expects = self.windows.iter().any(|(begin, end)| (*begin..*end).contains(&tti));
        expects && !self.is_requesting && tti >= self.active_until && {
            let cycle = self.short.filter(|_| tti < self.short_until()).unwrap_or(self.long);
            cycle.position(tti) >= cycle.on
        }
    }

    /// If later activity has been recorded already, the TTIs up to it are included, but never above
    /// `tti`.
    pub fn awake_by(&mut self, tti: u64) -> u64 {
        self.count(tti);
        self.awake.min(tti)
    }
}

#[cfg(test)]
mod tests {
    use nodeb_base::units::Duration;
    use proptest::prelude::*;

    use super::*;
    use crate::lte::drx::Drx;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The share `on / cycle` of time.
    #[test]
    fn a_silent_phone_is_awake_for_its_on_durations() {
        let mut silent = Listening::new(Drx::default().timers(), 5);
        assert_eq!(silent.awake_by(320_000), 10_000);
    }

    proptest! {
        // Tests the feature: discontinuous reception (property)
        /// Closed forms equal checking each TTI.
        #[test]
        fn awake_time_is_the_number_of_ttis_with_reception(
            id in 0u64..50,
            short in any::<bool>(),
            gaps in prop::collection::vec((1u64..900, 0..5), 0..30),
        ) {
            let drx = Drx { short_cycle: short.then_some(ms(40)), ..Drx::default() };
            let mut phone = Listening::new(drx.timers(), id);
            let (mut now, mut awake) = (0, 0);
            for (gap, event) in gaps {
                for tti in now..now + gap {
                    awake += u64::from(phone.next(tti) == tti);
                }
                now += gap;
                match event {
                    0 => phone.granted(now),
                    1 => phone.failed(now, now + 8),
                    2 => phone.requested(now),
                    3 => phone.answered(now),
                    _ => phone.may_repeat(now + 4),
                }
            }
            prop_assert_eq!(phone.awake_by(now), awake);
            let next = phone.next(now);
            prop_assert!((now..next).all(|tti| phone.next(tti) == next) && phone.next(next) == next);
        }
    }
}
