//! Links and the alarms that wake them.

use nodeb_base::context::{Context, Counts};
use nodeb_base::engine::Key;
use nodeb_base::event::Place;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_net::{Line, Wired};

use super::alarms::{Alarm, Alarms};
use super::env::Env;

/// A link with the number of its alarm.
#[derive(Debug)]
pub struct Wire {
    pub link: Line,
    pub alarm: usize,
    pub place: Place,
    counts: Counts,
    /// Whether packets that leave it enter the next link at once, ahead of their time.
    pub leads_on: bool,
}

impl Wire {
    pub fn new(link: Line, place: Place, alarms: &mut Alarms, alarm: Alarm) -> Self {
        Self { link, alarm: alarms.add(alarm), place, counts: Counts::default(), leads_on: false }
    }

    #[inline]
    fn at_work<'a>(&'a mut self, env: &'a mut Env) -> (&'a mut Line, Context<'a>) {
        let Self { link, place, counts, .. } = self;
        (link, Context { common: &mut env.common, place: *place, counts, of_users: &mut [] })
    }

    /// Takes a packet that comes under `entry`, or loses it.
    #[inline]
    pub fn accept(&mut self, env: &mut Env, packet: Packet, entry: Key) {
        if self.link.is_foreseen() {
            if let Some(arrival) = self.enter(env, &packet, entry) {
                self.deliver(env, arrival, packet);
            }
            return;
        }
        let (link, mut ctx) = self.at_work(env);
        link.accept(&mut ctx, packet);
        env.agenda.set(self.alarm, self.link.next_wake());
        env.drop_lost();
    }

    /// Takes a packet that comes under `entry` and is delivered by another link behind this one. Returns the key
    /// under which it leaves, unless it is lost.
    #[inline]
    pub fn enter(&mut self, env: &mut Env, packet: &Packet, entry: Key) -> Option<Key> {
        let (link, mut ctx) = self.at_work(env);
        let arrival =
            link.rated().expect("only links with a rate are foreseen").enter(&mut ctx, packet, entry);
        env.drop_lost();
        arrival
    }

    /// Delivers a packet under a key that [`Self::enter`] has returned.
    pub fn deliver(&mut self, env: &mut Env, arrival: Key, packet: Packet) {
        if self.link.rated().is_some_and(|link| link.deliver(arrival, packet)) {
            env.agenda.set(self.alarm, Some(arrival));
        }
    }

    /// Does what is due under `key`; the packet that has come through, if one has.
    #[inline]
    pub fn wake(&mut self, env: &mut Env, key: Key) -> Option<Packet> {
        let (link, mut ctx) = self.at_work(env);
        let arrived = link.wake(&mut ctx, key);
        env.agenda.set(self.alarm, self.link.next_wake());
        env.drop_lost();
        arrived
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
            down: Wire::new(Line::Rated(link.down(&name, &streams)), down, alarms, downwards),
            up: Wire::new(Line::Rated(link.up(&name, &streams)), up, alarms, upwards),
            name,
        }
    }
}
