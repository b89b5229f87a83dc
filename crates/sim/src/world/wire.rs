//! Links and the alarms that wake them.

use super::alarms::{Alarm, Alarms};
use super::env::Env;
use crate::context::Counts;
use crate::engine::Key;
use crate::event::Place;
use crate::network::{Link, Wired};
use crate::packet::Packet;
use crate::rng::Streams;

/// A link with the number of its alarm.
#[derive(Debug)]
pub struct Wire {
    pub link: Link,
    pub alarm: usize,
    pub place: Place,
    counts: Counts,
}

impl Wire {
    pub fn new(link: Link, place: Place, alarms: &mut Alarms, alarm: Alarm) -> Self {
        Self { link, alarm: alarms.add(alarm), place, counts: Counts::default() }
    }

    #[inline]
    pub fn accept(&mut self, env: &mut Env, packet: Packet) {
        self.link.accept(&mut env.context(self.place, &mut self.counts), packet);
        env.agenda.set(self.alarm, self.link.next_wake());
    }

    #[inline]
    pub fn wake(&mut self, env: &mut Env, key: Key) {
        self.link.wake(&mut env.context(self.place, &mut self.counts), key);
        env.agenda.set(self.alarm, self.link.next_wake());
    }
}

/// A link with both its directions and its name.
#[derive(Debug)]
pub struct Duplex {
    pub name: String,
    pub down: Wire,
    pub up: Wire,
}

impl Duplex {
    /// The link whose random streams and rows bear `name`, and what its alarms ring for.
    pub fn new(
        link: &Wired,
        name: String,
        streams: Streams,
        alarms: &mut Alarms,
        [(down, downwards), (up, upwards)]: [(Place, Alarm); 2],
    ) -> Self {
        Self {
            down: Wire::new(link.down(&name, &streams), down, alarms, downwards),
            up: Wire::new(link.up(&name, &streams), up, alarms, upwards),
            name,
        }
    }
}
