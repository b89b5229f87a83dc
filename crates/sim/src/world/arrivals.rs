//! Computed when a packet enters the first link of the chain.

use std::collections::VecDeque;

use nodeb_base::engine::Key;
use nodeb_base::packet::Packet;

use super::env::Env;
use super::owners::{Owner, Owners};

/// In the order of time, with one timer of the event queue.
#[derive(Debug)]
pub struct Arrivals {
    queue: VecDeque<(Key, Packet)>,
    timer: usize,
}

impl Arrivals {
    pub fn new(owners: &mut Owners, owner: Owner) -> Self {
        Self { queue: VecDeque::new(), timer: owners.add(owner) }
    }

    /// False if a packet in the queue arrives later.
    #[inline]
    pub fn append(&mut self, env: &mut Env, key: Key, packet: Packet) -> bool {
        match self.queue.back() {
            None => env.event_queue.set(self.timer, Some(key)),
            Some((last, _)) if *last > key => return false,
            Some((last, _)) => {
                env.common.stamps.is_uncertain |= last.0 == key.0 && last.1.is_uncertain_beside(key.1);
            }
        }
        self.queue.push_back((key, packet));
        true
    }

    /// The packet whose arrival is the event handled now.
    #[inline]
    pub fn arrive(&mut self, env: &mut Env) -> Option<Packet> {
        let (_, packet) = self.queue.pop_front()?;
        env.event_queue.set(self.timer, self.queue.front().map(|(key, _)| *key));
        Some(packet)
    }
}
