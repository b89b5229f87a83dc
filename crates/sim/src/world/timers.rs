//! The timers of one connection, under one alarm.
//!
//! Most timers are moved or stopped before they expire. So the alarm is set only when one becomes the first; when it
//! rings and the timer has moved meanwhile, it is set to the next one.

use super::alarms::{Alarm, Alarms};
use super::env::Env;
use crate::engine::{Key, Stamp};
use crate::units::Time;

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
    /// What the alarm is set to: not later than any timer.
    armed: Key,
    alarm: usize,
}

impl Timers {
    /// The timers of flow number `flow`, all stopped.
    pub fn new(alarms: &mut Alarms, flow: u32) -> Self {
        Self { keys: [NEVER; Timer::ALL.len()], armed: NEVER, alarm: alarms.add(Alarm::Timers(flow)) }
    }

    /// Sets a timer to expire at a time, behind all that was decided for the same time before.
    #[inline]
    pub fn set(&mut self, env: &mut Env, timer: Timer, at: Time) {
        let key = env.common.stamps.key(at);
        self.keys[timer as usize] = key;
        if key < self.armed {
            self.armed = key;
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

    /// Returns the timer that expires under `key`, if it has not been moved, and sets the alarm to the next one.
    pub fn expire(&mut self, env: &mut Env, key: Key) -> Option<Timer> {
        let expired = Timer::ALL.into_iter().find(|&timer| self.keys[timer as usize] == key);
        if let Some(timer) = expired {
            self.keys[timer as usize] = NEVER;
        }
        self.armed = self.keys.into_iter().min().unwrap_or(NEVER);
        env.agenda.set(self.alarm, (self.armed != NEVER).then_some(self.armed));
        expired
    }
}
