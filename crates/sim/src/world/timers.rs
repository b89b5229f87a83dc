//! The timers of one connection, under one alarm.
//!
//! Most timers are moved or stopped before they expire. So the alarm is set only when one becomes the first; when it
//! has rung, it is set to the next one, after what the timer has led to: mostly to its being set anew.

use nodeb_base::engine::{Key, Stamp};
use nodeb_base::units::Time;

use super::alarms::{Alarm, Alarms};
use super::env::Env;

/// A timer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The next transfer begins.
    Traffic,
    /// The server has worked on its answer.
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

/// When each timer expires.
#[derive(Debug)]
pub struct Timers {
    keys: [Key; Timer::ALL.len()],
    /// What the alarm is set to, not later than any timer, and for which one it was.
    armed: Key,
    first: Timer,
    alarm: usize,
}

impl Timers {
    /// The timers of flow number `flow`, all stopped.
    pub fn new(alarms: &mut Alarms, flow: u32) -> Self {
        let (keys, alarm) = ([NEVER; Timer::ALL.len()], alarms.add(Alarm::Timers(flow)));
        Self { keys, armed: NEVER, first: Timer::Traffic, alarm }
    }

    /// Sets a timer to expire at a time, behind all that was decided for the same time before.
    #[inline]
    pub fn set(&mut self, env: &mut Env, timer: Timer, at: Time) {
        let key = env.common.stamps.key(at);
        self.keys[timer as usize] = key;
        if key < self.armed {
            (self.armed, self.first) = (key, timer);
            env.agenda.set(self.alarm, Some(key));
        }
    }

    /// Sets a timer to expire at a time, unless it does so already, or stops it.
    #[inline]
    pub fn keep(&mut self, env: &mut Env, timer: Timer, at: Option<Time>) {
        match at {
            Some(at) if at != self.keys[timer as usize].0 => self.set(env, timer, at),
            Some(_) => {}
            None => self.keys[timer as usize] = NEVER,
        }
    }

    /// Stops the timer for which the alarm rings under `key` and returns it, if it has not been moved. The alarm has
    /// to be set anew afterwards.
    #[inline]
    pub fn expire(&mut self, key: Key) -> Option<Timer> {
        let first = &mut self.keys[self.first as usize];
        (*first == key).then(|| {
            *first = NEVER;
            self.first
        })
    }

    /// Sets the alarm, which has rung, to the next timer.
    #[inline]
    pub fn rearm(&mut self, env: &mut Env) {
        self.armed = NEVER;
        for timer in Timer::ALL {
            let key = self.keys[timer as usize];
            // Most are never, and times are compared at once.
            if key.0 <= self.armed.0 && key < self.armed {
                (self.armed, self.first) = (key, timer);
            }
        }
        env.agenda.set(self.alarm, (self.armed != NEVER).then_some(self.armed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::env::Flying;
    use crate::world::external::External;
    use nodeb_base::context::Common;
    use nodeb_base::engine::Agenda;
    use nodeb_base::event::{Mask, Sink};
    use proptest::prelude::*;

    fn timer() -> impl Strategy<Value = Timer> {
        prop::sample::select(&Timer::ALL[..])
    }

    proptest! {
        /// Whatever is set, moved and stopped, timers expire in the order of their keys, each at its time.
        #[test]
        fn timers_expire_as_if_each_had_an_alarm(
            steps in prop::collection::vec((timer(), prop::option::of(0u64..40), 0u64..8, prop::option::of(1u64..9)), 1..200),
        ) {
            let mut alarms = Alarms::default();
            let mut timers = Timers::new(&mut alarms, 0);
            let common = Common::new(Time(u64::MAX), Sink::new(Mask::NONE));
            let mut env = Env { common, agenda: Agenda::new(alarms.len()), flying: Flying::default(), external: External::default() };
            let mut model: Vec<(Timer, Key)> = Vec::new();
            let last = (Timer::Traffic, None, 1_000, None);
            for (timer, wait, passes, again) in steps.into_iter().chain([last]) {
                let until = Time(env.now.0 + passes);
                while let Some((key, _)) = env.agenda.next().filter(|(key, _)| key.0 <= until) {
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
