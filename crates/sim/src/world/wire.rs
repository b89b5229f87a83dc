//! Links and the alarms that wake them.

use super::alarms::{Alarms, Event};
use crate::engine::{Agenda, Key};
use crate::network::{Link, Outcome, Wired};
use crate::packet::Packet;
use crate::rng::Streams;
use crate::units::Time;

/// A link with the number of its alarm.
#[derive(Debug)]
pub struct Wire {
    pub link: Link,
    pub alarm: usize,
}

impl Wire {
    pub fn accept(&mut self, now: Time, packet: Packet, agenda: &mut Agenda) -> Outcome {
        let outcome = self.link.accept(now, packet, &mut agenda.stamps);
        agenda.set(self.alarm, self.link.next_wake());
        outcome
    }

    pub fn wake(&mut self, key: Key, agenda: &mut Agenda) -> Option<Packet> {
        let packet = self.link.wake(key, &mut agenda.stamps);
        agenda.set(self.alarm, self.link.next_wake());
        packet
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
        [down, up]: [Event; 2],
    ) -> Self {
        Self {
            down: Wire { link: link.down(&name, &streams), alarm: alarms.add(down) },
            up: Wire { link: link.up(&name, &streams), alarm: alarms.add(up) },
            name,
        }
    }
}
