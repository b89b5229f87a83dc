use nodeb_base::context::{BlockCounts, Context, Counts, Output};
use nodeb_base::engine::Instant;
use nodeb_base::event::{Place, Site};
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::Time;
use nodeb_net::Link;
use nodeb_radio::lte::shared::Shared;
use nodeb_radio::{Backlog, BandwidthMeter, Bearer};

use super::World;
use super::control::Listener;
use super::env::Env;
use super::flow::Phone;
use super::owners::{Owner, Owners};

/// `users` has numbers in the scenario by positions on the bearer.
#[derive(Debug)]
pub struct HostedBearer {
    bearer: Box<dyn Bearer>,
    place: Place,
    timer: usize,
    pub counts: Counts,
    pub of_users: Vec<BlockCounts>,
    pub users: Vec<u32>,
    /// A link whose arrivals are computed ahead of time.
    pub looks_ahead: bool,
}

impl HostedBearer {
    /// Without users.
    pub fn new(bearer: Box<dyn Bearer>, index: u32, owners: &mut Owners) -> Self {
        Self::at(Place::new(Site::Bearer, index), bearer, owners.add(Owner::Bearer(index)))
    }

    /// Without users; `index` follows those of the downlink.
    pub fn uplink(bearer: Box<dyn Bearer>, index: u32, owners: &mut Owners) -> Self {
        Self::at(Place::new(Site::Uplink, index), bearer, owners.add(Owner::SharedUplink))
    }

    /// State of the phones that the uplink uses, too.
    pub fn shared(&self) -> Shared {
        self.bearer.shared()
    }

    fn at(place: Place, bearer: Box<dyn Bearer>, timer: usize) -> Self {
        Self {
            bearer,
            place,
            timer,
            counts: Counts::default(),
            of_users: Vec::new(),
            users: Vec::new(),
            looks_ahead: false,
        }
    }

    #[inline]
    fn at_work<'a>(&'a mut self, env: &'a mut Env) -> (&'a mut dyn Bearer, Context<'a>) {
        let Self { bearer, place, counts, of_users, .. } = self;
        (&mut **bearer, Context { common: &mut env.common, place: *place, counts, of_users })
    }

    /// Has no effect if the bearer is not a link that supports this.
    pub fn look_ahead(&mut self) {
        self.looks_ahead = self.bearer.as_link().is_some_and(Link::look_ahead);
    }

    /// False if the packet is lost; `entry` is now or later.
    #[inline]
    pub fn enter(&mut self, env: &mut Env, packet: Packet, entry: Time) -> bool {
        let (bearer, mut ctx) = self.at_work(env);
        let link = bearer.as_link().expect("only links look ahead");
        let arrival = link.enter(&mut ctx, &packet, entry);
        if let Some(arrival) = arrival {
            link.deliver(arrival, packet);
            let next = link.next_wake();
            env.event_queue.set(self.timer, next);
        }
        env.drop_lost();
        arrival.is_some()
    }

    #[inline]
    pub fn backlog(&self, position: usize) -> Backlog {
        self.bearer.backlog(position)
    }

    pub fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        self.bearer.bandwidth_meter()
    }

    /// With the users' numbers in the scenario.
    pub fn tables(&mut self, now: Time) -> Vec<Table> {
        let mut tables = self.bearer.tables(now);
        for table in &mut tables {
            table.name_users(|position| u64::from(self.users[position]));
        }
        tables
    }
}

impl<T: Listener> World<T> {
    /// Then arms its timer and passes on packets and events.
    #[inline]
    pub(super) fn with_bearer<R>(
        &mut self,
        index: u32,
        act: impl FnOnce(&mut dyn Bearer, &mut Context) -> R,
    ) -> R {
        let air = &mut self.bearers[index as usize];
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        let result = act(bearer, &mut ctx);
        self.env.event_queue.set(air.timer, air.bearer.next_wake());
        match self.env.common.out[..] {
            [] => {}
            // Usually the only output is one arrival, which needs no copy of the list.
            [Output::Arrived { packet, .. }] => {
                self.env.common.out.clear();
                self.reach_phone(&packet);
            }
            _ => self.take_outputs(index),
        }
        result
    }

    // Not inlined, so that the handling of other timers does not save the registers that this call needs.
    #[inline(never)]
    pub(super) fn wake_shared_uplink(&mut self, instant: Instant) {
        self.with_uplink(|bearer, ctx| bearer.wake(ctx, instant));
    }

    /// Has no effect if each phone has a link of its own.
    pub(super) fn with_uplink(&mut self, act: impl FnOnce(&mut dyn Bearer, &mut Context)) {
        let Some(air) = &mut self.uplink else { return };
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        act(bearer, &mut ctx);
        self.env.event_queue.set(air.timer, air.bearer.next_wake());
        let mut out = self.outputs_by_turn();
        for output in out.drain(..) {
            match output {
                Output::Arrived { user, packet } => {
                    if self.env.in_flight.segment(&packet).is_none() {
                        self.env.external.up_bytes += u64::from(packet.size);
                    }
                    self.leave_uplink(user as u32, packet);
                }
                Output::Lost { packet, cause, .. } => self.env.lose(&packet, cause),
                Output::Listens { user } => {
                    let Phone { bearer, position, .. } = self.phones[user];
                    self.with_bearer(bearer, |bearer, ctx| bearer.on_listening(ctx, position));
                }
                Output::CellChanged { .. } => {}
            }
        }
        self.env.common.out = out;
    }

    /// Packets of several users can arrive in one TTI.
    fn outputs_by_turn(&mut self) -> Vec<Output> {
        let Env { common, event_queue, .. } = &mut self.env;
        let mut out = std::mem::take(&mut common.out);
        out.sort_by_key(|output| event_queue.turn(common.instant, output.user() as u32));
        out
    }

    /// First changes of cells and lost packets, then arrivals at phones.
    fn take_outputs(&mut self, bearer: u32) {
        let mut out = self.outputs_by_turn();
        for output in &out {
            match output {
                Output::CellChanged { user } => self.leave_snoop(bearer, *user),
                Output::Lost { packet, cause, .. } => self.env.lose(packet, *cause),
                Output::Arrived { .. } | Output::Listens { .. } => {}
            }
        }
        for output in out.drain(..) {
            if let Output::Arrived { packet, .. } = output {
                self.reach_phone(&packet);
            }
        }
        self.env.common.out = out;
    }
}
