//! Most timers of a connection are moved or stopped before they expire, so they share one timer of the event
//! queue, which is moved only to earlier times. When it expires, the timer for which it was armed is handled
//! unless it was moved or stopped, and the shared timer is armed for the earliest.

use nodeb_base::engine::{Key, Stamp};
use nodeb_base::units::Time;

use super::env::Env;
use super::owners::{Owner, Owners};

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

const NEVER: Key = (Time(u64::MAX), Stamp::LAST);

#[derive(Debug)]
pub struct ConnectionTimers {
    keys: [Key; Timer::ALL.len()],
    /// Not later than any timer of the connection.
    armed: Key,
    /// For which the shared timer was armed.
    first: Timer,
    /// In the event queue.
    shared: usize,
}

impl ConnectionTimers {
    pub fn new(owners: &mut Owners, flow: u32) -> Self {
        let (keys, shared) = ([NEVER; Timer::ALL.len()], owners.add(Owner::Connection(flow)));
        Self { keys, armed: NEVER, first: Timer::Traffic, shared }
    }

    /// After the events already scheduled for that time.
    #[inline]
    pub fn set(&mut self, env: &mut Env, timer: Timer, at: Time) {
        let key = env.common.stamps.key(at);
        self.keys[timer as usize] = key;
        if key < self.armed {
            (self.armed, self.first) = (key, timer);
            env.event_queue.set(self.shared, Some(key));
        }
    }

    /// A timer already armed for `at` keeps its order among simultaneous events.
    #[inline]
    pub fn keep(&mut self, env: &mut Env, timer: Timer, at: Option<Time>) {
        match at {
            Some(at) if at != self.keys[timer as usize].0 => self.set(env, timer, at),
            Some(_) => {}
            None => self.keys[timer as usize] = NEVER,
        }
    }

    /// `None` if the timer was moved or stopped since; [`Self::rearm`] follows the handling.
    #[inline]
    pub fn expire(&mut self, key: Key) -> Option<Timer> {
        let first = &mut self.keys[self.first as usize];
        (*first == key).then(|| {
            *first = NEVER;
            self.first
        })
    }

    /// For the earliest timer; disarmed if all are stopped.
    #[inline]
    pub fn rearm(&mut self, env: &mut Env) {
        self.armed = NEVER;
        for timer in Timer::ALL {
            let key = self.keys[timer as usize];
            // The comparison of times comes first: it is cheap, and false for most timers, as they are stopped.
            if key.0 <= self.armed.0 && key < self.armed {
                (self.armed, self.first) = (key, timer);
            }
        }
        env.event_queue.set(self.shared, (self.armed != NEVER).then_some(self.armed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::env::InFlight;
    use crate::world::external::External;
    use nodeb_base::context::Common;
    use nodeb_base::engine::EventQueue;
    use nodeb_base::event::{Mask, Sink};
    use proptest::prelude::*;

    fn timer() -> impl Strategy<Value = Timer> {
        prop::sample::select(&Timer::ALL[..])
    }

    proptest! {
        /// In the order of their keys.
        #[test]
        fn timers_expire_as_if_each_were_in_the_queue(
            steps in prop::collection::vec((timer(), prop::option::of(0u64..40), 0u64..8, prop::option::of(1u64..9)), 1..200),
        ) {
            let mut owners = Owners::default();
            let mut timers = ConnectionTimers::new(&mut owners, 0);
            let common = Common::new(Time(u64::MAX), Sink::new(Mask::NONE));
            let mut env = Env { common, event_queue: EventQueue::new(owners.len()), in_flight: InFlight::default(), external: External::default() };
            let mut model: Vec<(Timer, Key)> = Vec::new();
            let last = (Timer::Traffic, None, 1_000, None);
            for (timer, wait, passes, again) in steps.into_iter().chain([last]) {
                let until = Time(env.now.0 + passes);
                while let Some((key, _)) = env.event_queue.next().filter(|(key, _)| key.0 <= until) {
                    env.advance(key);
                    if let Some(expired) = timers.expire(key) {
                        let first = model.iter().copied().min_by_key(|(_, key)| *key);
                        prop_assert_eq!(first, Some((expired, key)));
                        model.retain(|(timer, _)| *timer != expired);
                        if let Some(wait) = again {
                            timers.set(&mut env, expired, Time(until.0 + wait));
                            model.push((expired, timers.keys[expired as usize]));
                        }
                    }
                    timers.rearm(&mut env);
                }
                prop_assert!(model.iter().all(|(_, key)| key.0 > until));
                env.advance((until, Stamp::LAST));
                let at = wait.map(|wait| Time(until.0 + 1 + wait));
                timers.keep(&mut env, timer, at);
                let is_kept = at.is_some() && model.iter().any(|(other, key)| *other == timer && Some(key.0) == at);
                if !is_kept {
                    model.retain(|(other, _)| *other != timer);
                    model.extend(at.map(|_| (timer, timers.keys[timer as usize])));
                }
            }
        }
    }
}
