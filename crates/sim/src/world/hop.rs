//! Places that packets pass: links of the fixed network, radio bearers and uplinks.

use std::ops::Range;

use nodeb_air::{Backlog, Hop};
use nodeb_base::context::{BlockCounts, Context, Counts, Output};
use nodeb_base::engine::{EventQueue, Instant, Order};
use nodeb_base::event::{Mask, Place, Site};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::Time;
use nodeb_net::{Chain, LinkCounts};

use super::World;
use super::control::Listener;
use super::env::Env;

/// Events of single links, which a chain does not emit.
const STEPWISE: Mask = Mask::PACKETS.or(Mask::PLACES).or(Mask::SERVICE);

/// Where a packet comes to from a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// To the phones, with the number of links between the server and this one.
    Down(usize),
    Bearer,
    Uplink,
    /// To the server, with the number of links between the server and this one.
    Up(usize),
}

/// Number of a hop, which is that of its timer, and of a user on it.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    pub hop: usize,
    pub user: usize,
}

/// A hop with what the world keeps of it.
#[derive(Debug)]
pub struct Hosted {
    hop: Box<dyn Hop>,
    stage: Stage,
    place: Place,
    pub counts: Counts,
    /// Empty if the hop does not count blocks by user.
    pub of_users: Vec<BlockCounts>,
    /// Numbers in the scenario by positions on the hop.
    pub users: Vec<u32>,
    /// Names in the table `links`, each with its place there, of the links that make up the hop.
    pub links: Vec<(usize, String)>,
}

impl Hosted {
    pub fn new(hop: Box<dyn Hop>, stage: Stage, place: Place) -> Self {
        let (counts, of_users, users, links) = (Counts::default(), Vec::new(), Vec::new(), Vec::new());
        Self { hop, stage, place, counts, of_users, users, links }
    }

    /// Of several users.
    pub fn add(&mut self, user: u32) {
        self.users.push(user);
        self.of_users.push(BlockCounts::default());
    }

    #[inline]
    fn at_work<'a>(&'a mut self, env: &'a mut Env) -> (&'a mut dyn Hop, Context<'a>) {
        let Self { hop, place, counts, of_users, .. } = self;
        (&mut **hop, Context { common: &mut env.common, place: *place, counts, of_users })
    }

    /// As it is while no time passes; see [`World::with_hop`].
    #[inline]
    pub fn hop(&mut self) -> &mut dyn Hop {
        &mut *self.hop
    }

    #[inline]
    pub fn backlog(&self, user: usize) -> Backlog {
        self.hop.backlog(user)
    }

    pub fn counts_of(&self, user: usize) -> Option<Counts> {
        self.hop.counts_of(user)
    }

    pub fn number(&self) -> u32 {
        self.place.index
    }

    /// With the users' numbers in the scenario.
    pub fn tables(&mut self, now: Time) -> Vec<Table> {
        let mut tables = self.hop.tables(now);
        for table in &mut tables {
            table.name_users(|position| u64::from(self.users[position]));
        }
        tables
    }

    /// Counts of its links, with their names and places in the table `links`.
    pub fn link_rows(&self) -> impl Iterator<Item = (&(usize, String), LinkCounts)> {
        self.links.iter().zip(self.hop.links())
    }

    fn order(&self) -> Order {
        /// More than there are links in a direction.
        const LINKS: usize = 1 << 16;
        let rank = match self.stage {
            Stage::Down(at) => at,
            Stage::Bearer => LINKS,
            Stage::Uplink => LINKS + 1,
            Stage::Up(at) => 3 * LINKS - at,
        };
        let user = if matches!(self.place.site, Site::Bearer | Site::Uplink) { self.place.index } else { 0 };
        Order { rank: rank as u32, user }
    }
}

/// In the order of the timers in the event queue: links by pairs of directions, bearers, uplinks.
#[derive(Debug)]
pub struct Hops {
    pub all: Vec<Hosted>,
    /// Links from the server to the Node B.
    pub down: Vec<usize>,
    /// Links to the server, the last one from the Node B.
    pub up: Vec<usize>,
    /// One for all users on a shared channel, else one per user.
    pub bearers: Range<usize>,
    /// One for all users if the radio schedules the uplink, else one per user.
    pub uplinks: Range<usize>,
}

impl Hops {
    pub fn bearers(&mut self) -> &mut [Hosted] {
        &mut self.all[self.bearers.clone()]
    }

    /// Timers of hops come first, then one of each connection; see [`Order`].
    pub fn event_queue(&self, connections: u32, streams: &Streams) -> EventQueue {
        let hops = self.all.iter().map(Hosted::order);
        let connections = (0..connections).map(|user| Order { rank: u32::MAX, user });
        EventQueue::new(hops.chain(connections).collect::<Vec<_>>(), streams)
    }

    /// Joins a hop to the one that all its packets enter next, where both are plain links. Only the second hop
    /// remains.
    fn join(&mut self, first: usize, second: usize) -> bool {
        let Some(next) = self.all[second].hop.chain() else { return false };
        let Some(chain) = self.all[first].hop.chain() else {
            self.all[second].hop = Box::new(next);
            return false;
        };
        let links = std::mem::take(&mut self.all[first].links);
        self.all[second].links.splice(0..0, links);
        self.all[second].hop = Box::new(chain.then(next));
        true
    }

    /// Makes one hop, the first, of links of one user each.
    fn fork(&mut self, hops: Range<usize>, streams: &Streams) -> bool {
        let chains: Vec<_> =
            self.all[hops.clone()].iter_mut().map_while(|hosted| hosted.hop.chain()).collect();
        if chains.len() < hops.len() {
            for (hosted, chain) in self.all[hops].iter_mut().zip(chains) {
                hosted.hop = Box::new(chain);
            }
            return false;
        }
        for at in hops.clone().skip(1) {
            let (links, users) = (std::mem::take(&mut self.all[at].links), self.all[at].users.clone());
            self.all[hops.start].links.extend(links);
            self.all[hops.start].users.extend(users);
        }
        self.all[hops.start].hop = Box::new(Chain::fork(chains, streams));
        true
    }

    /// `beyond` is the number of links from the server that end where a proxy takes packets.
    fn join_links(&mut self, beyond: usize, joins_air: [bool; 2]) {
        let mut at = beyond;
        while at + 1 < self.down.len() {
            if self.join(self.down[at], self.down[at + 1]) {
                self.down.remove(at);
            } else {
                at += 1;
            }
        }
        for at in (beyond + 1..self.up.len()).rev() {
            if self.join(self.up[at], self.up[at - 1]) {
                self.up.remove(at);
            }
        }
        for (at, hop) in self.down.iter().enumerate() {
            self.all[*hop].stage = Stage::Down(at);
        }
        for (at, hop) in self.up.iter().enumerate() {
            self.all[*hop].stage = Stage::Up(at);
        }
        if joins_air[0] && self.down.len() > beyond {
            let last = self.down[self.down.len() - 1];
            if self.join(last, self.bearers.start) {
                self.down.pop();
            }
        }
        if joins_air[1] && self.up.len() > beyond && self.uplinks.len() == 1 {
            let last = self.up[self.up.len() - 1];
            if self.join(self.uplinks.start, last) {
                self.up.pop();
                self.uplinks = last..last + 1;
            }
        }
    }
}

impl<T: Listener> World<T> {
    /// Plain links become chains, in which a packet takes one event, unless somebody listens to single links or a
    /// packet can enter between them. This changes no result but the number of events.
    pub(super) fn chain_plain_links(&mut self, streams: &Streams) {
        if self.env.sink.wants(STEPWISE) || self.has_external {
            return;
        }
        // Nobody may read a bearer's backlog (as meters and queue events do) or send packets into it (Snoop).
        let is_metered = self.flows.iter().any(|flow| flow.meter.is_some());
        let chains_bearers = !is_metered && !self.has_snoop && !self.env.sink.wants(Mask::QUEUE);
        let (bearers, uplinks) = (self.hops.bearers.clone(), self.hops.uplinks.clone());
        let forks_down = chains_bearers && bearers.len() > 1 && self.hops.fork(bearers.clone(), streams);
        let forks_up = uplinks.len() > 1 && self.hops.fork(uplinks.clone(), streams);
        for (user, phone) in self.phones.iter_mut().enumerate() {
            if forks_down {
                phone.down = Port { hop: bearers.start, user };
            }
            if forks_up {
                phone.up = Port { hop: uplinks.start, user };
            }
        }
        for hosted in &mut self.hops.all {
            if (chains_bearers || hosted.stage != Stage::Bearer)
                && let Some(chain) = hosted.hop.chain()
            {
                hosted.hop = Box::new(chain);
            }
        }
        let joins_bearer = forks_down || chains_bearers && bearers.len() == 1;
        self.hops.join_links(usize::from(self.has_proxy), [joins_bearer, !self.has_snoop]);
        if let [phone] = &mut self.phones[..] {
            phone.up.hop = self.hops.uplinks.start;
        }
    }

    /// Then arms its timer and passes on packets and events.
    #[inline]
    pub(super) fn with_hop<R>(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut dyn Hop, &mut Context) -> R,
    ) -> R {
        let hosted = &mut self.hops.all[index];
        let (hop, mut ctx) = hosted.at_work(&mut self.env);
        let result = act(hop, &mut ctx);
        self.env.event_queue.set(index, hosted.hop.next_wake());
        match self.env.common.out[..] {
            [] => {}
            // Usually the only output is one arrival, which needs no copy of the list.
            [Output::Arrived { user, packet }] => {
                self.env.common.out.clear();
                self.leave(index, user, packet);
            }
            _ => self.take_outputs(index),
        }
        result
    }

    /// False if the packet is dropped or lost at once.
    #[inline]
    pub(super) fn enter(&mut self, Port { hop, user }: Port, packet: Packet) -> bool {
        self.with_hop(hop, |hop, ctx| hop.accept(ctx, user, packet))
    }

    pub(super) fn wake_hop(&mut self, index: usize, instant: Instant) {
        self.with_hop(index, |hop, ctx| hop.wake(ctx, instant));
    }

    /// At the far end of a hop.
    fn leave(&mut self, index: usize, user: usize, packet: Packet) {
        let hosted = &self.hops.all[index];
        match hosted.stage {
            Stage::Down(0) => self.reach_gateway(packet),
            Stage::Down(at) => self.enter_down(packet, at + 1),
            Stage::Bearer => self.reach_phone(&packet),
            Stage::Uplink => self.leave_uplink(hosted.users[user], packet),
            Stage::Up(at) => self.enter_up(packet, at),
        }
    }

    /// First changes of cells and lost packets, then arrivals; packets of several users can arrive in one TTI.
    #[cold]
    fn take_outputs(&mut self, index: usize) {
        let Env { common, event_queue, .. } = &mut self.env;
        let mut out = std::mem::take(&mut common.out);
        out.sort_by_key(|output| event_queue.turn(common.instant, output.user() as u32));
        for output in &out {
            match output {
                Output::CellChanged { user } => self.leave_snoop(self.hops.all[index].users[*user]),
                Output::Lost { packet, cause, .. } => self.env.lose(packet, *cause),
                Output::Arrived { .. } | Output::Listens { .. } => {}
            }
        }
        for output in out.drain(..) {
            match output {
                Output::Arrived { user, packet } => self.leave(index, user, packet),
                Output::Listens { user } => {
                    let Port { hop, user } = self.phones[user].down;
                    self.with_hop(hop, |hop, ctx| hop.on_listening(ctx, user));
                }
                Output::CellChanged { .. } | Output::Lost { .. } => {}
            }
        }
        self.env.common.out = out;
    }

    /// To the Node B if there is no link `at`.
    pub(super) fn enter_down(&mut self, packet: Packet, at: usize) {
        match self.hops.down.get(at) {
            Some(&hop) => {
                self.enter(Port { hop, user: 0 }, packet);
            }
            None => self.reach_node_b(packet),
        }
    }

    /// To the proxy if it has reached the gateway, to the server if it has no links left to pass.
    pub(super) fn enter_up(&mut self, packet: Packet, left: usize) {
        match left {
            0 => self.reach_server(&packet),
            1 if self.has_proxy => self.reach_gateway_from_phone(packet),
            _ => {
                let hop = self.hops.up[left - 1];
                self.enter(Port { hop, user: 0 }, packet);
            }
        }
    }
}
