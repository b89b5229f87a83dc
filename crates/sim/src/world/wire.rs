//! A link and the alarm that wakes it.

use crate::engine::{Agenda, Key};
use crate::network::link::{Link, Outcome};
use crate::packet::Packet;
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
