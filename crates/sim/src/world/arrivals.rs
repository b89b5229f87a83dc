//! Packets on their way over several links whose arrivals are known ahead of time.

use std::collections::VecDeque;

use nodeb_base::engine::Key;
use nodeb_base::packet::Packet;

use super::alarms::{Alarm, Alarms};
use super::env::Env;

/// Arrivals that are known ahead of time, one after the other, under one alarm for all their links.
#[derive(Debug)]
pub struct Arrivals {
    queue: VecDeque<(Key, Packet)>,
    alarm: usize,
}

impl Arrivals {
    pub fn new(alarms: &mut Alarms, alarm: Alarm) -> Self {
        Self { queue: VecDeque::new(), alarm: alarms.add(alarm) }
    }

    /// Takes a packet that arrives under `key`. Returns false if one that arrives later came before it.
    #[inline]
    pub fn append(&mut self, env: &mut Env, key: Key, packet: Packet) -> bool {
        match self.queue.back() {
            None => env.agenda.set(self.alarm, Some(key)),
            Some((last, _)) if *last > key => return false,
            Some((last, _)) => {
                env.common.stamps.is_uncertain |= last.0 == key.0 && last.1.is_uncertain_beside(key.1);
            }
        }
        self.queue.push_back((key, packet));
        true
    }

    /// Returns the packet that arrives now.
    #[inline]
    pub fn arrive(&mut self, env: &mut Env) -> Option<Packet> {
        let (_, packet) = self.queue.pop_front()?;
        env.agenda.set(self.alarm, self.queue.front().map(|(key, _)| *key));
        Some(packet)
    }
}
