use nodeb_base::context::{Context, Counts};
use nodeb_base::engine::Instant;
use nodeb_base::event::Place;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_net::{Line, Wired};

use super::env::Env;
use super::owners::{Owner, Owners};

#[derive(Debug)]
pub struct Wire {
    pub link: Line,
    pub timer: usize,
    pub place: Place,
    counts: Counts,
    /// Look-ahead passes a packet to the next link in the same computation.
    pub leads_on: bool,
}

impl Wire {
    pub fn new(link: Line, place: Place, owners: &mut Owners, owner: Owner) -> Self {
        Self { link, timer: owners.add(owner), place, counts: Counts::default(), leads_on: false }
    }

    #[inline]
    fn at_work<'a>(&'a mut self, env: &'a mut Env) -> (&'a mut Line, Context<'a>) {
        let Self { link, place, counts, .. } = self;
        (link, Context { common: &mut env.common, place: *place, counts, of_users: &mut [] })
    }

    /// At `entry`, which is now or, with look-ahead, later.
    #[inline]
    pub fn accept(&mut self, env: &mut Env, packet: Packet, entry: Time) {
        if self.link.looks_ahead() {
            if let Some(arrival) = self.enter(env, &packet, entry)
                && let Some(link) = self.link.rated()
            {
                link.deliver(arrival, packet);
                env.event_queue.set(self.timer, link.next_wake());
            }
            return;
        }
        let (link, mut ctx) = self.at_work(env);
        link.accept(&mut ctx, packet);
        env.event_queue.set(self.timer, self.link.next_wake());
        env.drop_lost();
    }

    /// Time of the arrival at the far end, for which the caller must schedule the delivery or pass the packet
    /// on.
    #[inline]
    pub fn enter(&mut self, env: &mut Env, packet: &Packet, entry: Time) -> Option<Time> {
        let (link, mut ctx) = self.at_work(env);
        let arrival = link.rated().expect("only links with a rate look ahead").enter(&mut ctx, packet, entry);
        env.drop_lost();
        arrival
    }

    /// The packet that arrives at the far end.
    #[inline]
    pub fn wake(&mut self, env: &mut Env, instant: Instant) -> Option<Packet> {
        let (link, mut ctx) = self.at_work(env);
        let arrived = link.wake(&mut ctx, instant);
        env.event_queue.set(self.timer, self.link.next_wake());
        env.drop_lost();
        arrived
    }
}

/// `down` is towards the phones, `up` towards the server.
#[derive(Debug)]
pub struct Duplex {
    pub name: String,
    pub down: Wire,
    pub up: Wire,
}

impl Duplex {
    /// `name` is that of the random streams and of the rows in tables.
    pub fn new(
        link: &Wired,
        name: String,
        streams: Streams,
        owners: &mut Owners,
        [(down, downwards), (up, upwards)]: [(Place, Owner); 2],
    ) -> Self {
        Self {
            down: Wire::new(Line::Rated(link.down(&name, &streams)), down, owners, downwards),
            up: Wire::new(Line::Rated(link.up(&name, &streams)), up, owners, upwards),
            name,
        }
    }
}
