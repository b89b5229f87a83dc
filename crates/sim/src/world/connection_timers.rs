//! Most timers of a connection are moved or stopped before they expire, so they share one timer of the event
//! queue, which is moved only to earlier times. When it expires, the timer for which it was armed is handled
//! unless it was moved or stopped, and the shared timer is armed for the earliest.

use nodeb_base::engine::{Instant, Phase};
use nodeb_base::units::Time;

use super::env::Env;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Beginning of the next transfer.
    Traffic,
    /// End of the server's work on its answer.
    Server,
    Retransmission,
    Request,
    DelayedAck,
    Proxy,
    RadioNetworkFeedback,
    Snoop,
}

impl Timer {
    const ALL: [Self; 8] = [
        Self::Traffic,
        Self::Server,
        Self::Retransmission,
        Self::Request,
        Self::DelayedAck,
        Self::Proxy,
        Self::RadioNetworkFeedback,
        Self::Snoop,
    ];
}

const NEVER: Time = Time(u64::MAX);

#[derive(Debug)]
pub struct ConnectionTimers {
    /// Of those that expire at one time, the first in the order of [`Timer`] is handled first.
    expiries: [Time; Timer::ALL.len()],
    /// Not later than any timer of the connection.
    armed: Time,
    /// For which the shared timer was armed.
    first: Timer,
    /// In the event queue.
    shared: usize,
}

impl ConnectionTimers {
    pub fn new(shared: usize) -> Self {
        Self { expiries: [NEVER; Timer::ALL.len()], armed: NEVER, first: Timer::Traffic, shared }
    }

    #[inline]
    pub fn set(&mut self, env: &mut Env, timer: Timer, at: Time) {
        self.expiries[timer as usize] = at;
        if (at, timer as usize) < (self.armed, self.first as usize) {
            (self.armed, self.first) = (at, timer);
            env.event_queue.set(self.shared, Some(Instant::new(at, Phase::Timer)));
        }
    }

    #[inline]
    pub fn keep(&mut self, env: &mut Env, timer: Timer, at: Option<Time>) {
        match at {
            Some(at) if at != self.expiries[timer as usize] => self.set(env, timer, at),
            Some(_) => {}
            None => self.expiries[timer as usize] = NEVER,
        }
    }

    /// `None` if the timer was moved or stopped since; [`Self::rearm`] follows the handling.
    #[inline]
    pub fn expire(&mut self, now: Time) -> Option<Timer> {
        let first = &mut self.expiries[self.first as usize];
        (*first == now).then(|| {
            *first = NEVER;
            self.first
        })
    }

    /// For the earliest timer; disarmed if all are stopped.
    #[inline]
    pub fn rearm(&mut self, env: &mut Env) {
        self.armed = NEVER;
        for timer in Timer::ALL {
            let at = self.expiries[timer as usize];
            if at < self.armed {
                (self.armed, self.first) = (at, timer);
            }
        }
        let armed = (self.armed != NEVER).then(|| Instant::new(self.armed, Phase::Timer));
        env.event_queue.set(self.shared, armed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::env::InFlight;
    use crate::world::external::External;
    use nodeb_base::context::Common;
    use nodeb_base::engine::{EventQueue, Order};
    use nodeb_base::event::{Mask, Sink};
    use nodeb_base::rng::Streams;
    use proptest::prelude::*;

    fn timer() -> impl Strategy<Value = Timer> {
        prop::sample::select(&Timer::ALL[..])
    }

    proptest! {
        /// In the order of time, then of their kinds.
        #[test]
        fn timers_expire_as_if_each_were_in_the_queue(
            steps in prop::collection::vec((timer(), prop::option::of(0u64..40), 0u64..8, prop::option::of(1u64..9)), 1..200),
        ) {
            let mut timers = ConnectionTimers::new(0);
            let event_queue = EventQueue::new([Order::default()], &Streams::new(1, 0));
            let common = Common::new(Time(u64::MAX), Sink::new(Mask::NONE));
            let mut env = Env { common, event_queue, in_flight: InFlight::default(), external: External::default() };
            let mut model: Vec<(Time, usize)> = Vec::new();
            let last = (Timer::Traffic, None, 1_000, None);
            for (timer, wait, passes, again) in steps.into_iter().chain([last]) {
                let until = Time(env.now.0 + passes);
                while let Some((instant, _)) = env.event_queue.next().filter(|(instant, _)| instant.time() <= until) {
                    env.advance(instant);
                    if let Some(expired) = timers.expire(instant.time()) {
                        let first = model.iter().copied().min();
                        prop_assert_eq!(first, Some((instant.time(), expired as usize)));
                        model.retain(|(_, timer)| *timer != expired as usize);
                        if let Some(wait) = again {
                            let at = Time(until.0 + wait);
                            timers.set(&mut env, expired, at);
                            model.push((at, expired as usize));
                        }
                    }
                    timers.rearm(&mut env);
                }
                prop_assert!(model.iter().all(|(at, _)| *at > until));
                env.advance(Instant::new(until, Phase::End));
                let at = wait.map(|wait| Time(until.0 + 1 + wait));
                timers.keep(&mut env, timer, at);
                model.retain(|(_, other)| *other != timer as usize);
                model.extend(at.map(|at| (at, timer as usize)));
            }
        }
    }
}
