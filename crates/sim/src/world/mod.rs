//! The wiring: server, gateway, Node B and phones, and the links between them.
//!
//! ```text
//! server --wired--> gateway --core--> Node B --bearer--> phone
//!   ^      (down)   [proxy]  (down)   [snoop]              |
//!   +------wired----gateway <--core-- Node B <----uplink---+
//!           (up)             (up)
//! ```
//!
//! This module is the only one that knows all layers. It moves packets from one box to the next,
//! arms each box's timer for the time the box asks for, and emits the events. Each place has a file,
//! which handles the packets that arrive there and leave it.

mod arrivals;
mod bearer;
mod build;
mod connection_timers;
mod control;
mod env;
mod events;
mod external;
mod feedback;
mod flow;
mod gateway;
mod links;
mod live;
mod node_b;
mod owners;
mod phone;
mod recorder;
mod server;
mod snapshot;
mod summary;
mod user_metrics;
mod wire;

pub use control::{Control, Listener, NullListener};
pub use external::{Direction, ExternalPacket, Fate};
pub use live::Live;
pub use snapshot::{Carried, Snapshot};

use nodeb_base::engine::{Key, Stamp};
use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Clock, Mask, Site};
use nodeb_tcp::segment::Segment;

use crate::metrics::RunResult;
use crate::proxy::split::Outbox;
use crate::scenario::Scenario;
use arrivals::Arrivals;
use bearer::HostedBearer;
use connection_timers::Timer;
use env::Env;
use events::Listeners;
use flow::{Flows, Phone};
use owners::{Owner, Owners};
use wire::Duplex;

/// Events between two looks at the control.
const EVENTS_PER_REPORT: u64 = 1 << 14;

/// Simulates replication number `run` of a scenario under `seed`: ahead of time where that is possible, or one step
/// after the other.
///
/// # Errors
/// [`Error::Cancelled`] when `control` was told to cancel, [`Error::Scenario`] when a file that the
/// scenario names has not been read.
pub fn run(scenario: &Scenario, seed: u64, run: u64, control: &Control) -> Result<RunResult> {
    let mut listener = NullListener;
    // Phones that share TTIs act at the same times too often.
    if scenario.radio.facts().tti.is_none() || scenario.user_count() == 1 {
        check(scenario)?;
        let mut world = World::new(scenario, seed, run, &mut listener);
        world.look_ahead();
        world.simulate(control)?;
        if !world.is_uncertain() {
            return Ok(world.into_result(scenario));
        }
    }
    run_with_listener(scenario, seed, run, control, &mut listener)
}

/// As [`run`], with a listener to what happens, which may end the run.
///
/// # Errors
/// As [`run`].
pub fn run_with_listener<T: Listener>(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    listener: &mut T,
) -> Result<RunResult> {
    check(scenario)?;
    let mut world = World::new(scenario, seed, run, listener);
    world.simulate(control)?;
    Ok(world.into_result(scenario))
}

fn check(scenario: &Scenario) -> Result<()> {
    match scenario.unread_file().or_else(|| scenario.external_users()) {
        Some(problem) => Err(Error::Scenario(problem)),
        None => Ok(()),
    }
}

struct World<T> {
    env: Env,
    owners: Owners,
    listeners: Listeners<T>,
    /// The links between server and gateway, and of the core network from there on.
    links: Vec<Duplex>,
    /// What arrives in order over all bearers and uplinks whose arrivals are known ahead of time.
    to_phones: Arrivals,
    from_phones: Arrivals,
    bearers: Vec<HostedBearer>,
    phones: Vec<Phone>,
    flows: Flows,
    has_proxy: bool,
    has_snoop: bool,
    /// Whether packets wait at an RNC before they come to the Node B.
    waits_at_rnc: bool,
    unfinished: usize,
    /// Events handled.
    events: u64,
    /// Reused for what a sender, a proxy or a Snoop agent puts out.
    outbox: Vec<Segment>,
    relayed: Outbox,
    again: Vec<Segment>,
}

impl<T: Listener> World<T> {
    /// Simulates to the end, as long as the listener does not end it and the order of events is known.
    fn simulate(&mut self, control: &Control) -> Result<()> {
        while self.unfinished > 0 && self.step() {
            if self.listeners.is_over || self.is_uncertain() {
                return Ok(());
            }
            if self.events.is_multiple_of(EVENTS_PER_REPORT) {
                control.report(self.progress())?;
            }
        }
        if self.unfinished > 0 {
            self.env.common.advance((self.env.horizon, Stamp::LAST));
        }
        control.report(1.0)
    }

    /// Returns true if something depended on the order of two events that could not be known ahead of time.
    #[inline]
    fn is_uncertain(&self) -> bool {
        self.env.stamps.is_uncertain || self.env.event_queue.is_uncertain()
    }

    /// Handles the next event. Returns false if none is left before the end.
    #[inline]
    fn step(&mut self) -> bool {
        let Some((key, timer)) = self.env.event_queue.next().filter(|(key, _)| key.0 <= self.env.horizon)
        else {
            return false;
        };
        self.env.advance(key);
        self.handle(key, timer);
        self.events += 1;
        self.emit();
        true
    }

    fn handle(&mut self, key: Key, timer: usize) {
        match self.owners.of(timer) {
            Owner::Down(at) => self.wake_down(key, at as usize),
            Owner::Up(at) => self.wake_up(key, at as usize),
            Owner::ToPhones => self.wake_to_phones(),
            Owner::FromPhones => self.wake_from_phones(key),
            Owner::Uplink(flow) => self.wake_uplink(key, flow),
            Owner::Bearer(bearer) => self.wake_bearer(key, bearer),
            Owner::Connection(flow) => {
                if let Some(timer) = self.flows[flow].timers.expire(key) {
                    self.handle_timer(timer, flow);
                }
                self.flows[flow].timers.rearm(&mut self.env);
            }
        }
    }

    fn handle_timer(&mut self, timer: Timer, flow: u32) {
        match timer {
            Timer::Traffic => self.begin_transfer(flow),
            Timer::Server => {
                self.emit_timer(Site::Server, flow, Clock::Server);
                self.answer(flow);
            }
            Timer::Retransmission => {
                if self.env.sink.wants(Mask::DECISIONS) {
                    let clock = self.flows[flow].sender.ringing(self.env.now);
                    self.emit_timer(Site::Server, flow, clock);
                }
                self.flows[flow].sender.on_timer(self.env.now, &mut self.outbox);
                self.after_sender(flow);
            }
            Timer::DelayedAck => {
                self.emit_timer(Site::Phone, flow, Clock::Acknowledgement);
                let ack = self.flows[flow].receiver.on_timer(self.env.now);
                self.after_receiver(flow, ack);
            }
            Timer::Request => {
                self.emit_timer(Site::Phone, flow, Clock::Request);
                self.ask_again(flow);
            }
            Timer::Proxy => {
                self.emit_proxy_timers(flow);
                self.proxy_timer(flow);
            }
            Timer::RadioNetworkFeedback => self.radio_network_feedback(flow),
            Timer::Snoop => self.snoop_timer(flow),
        }
    }
}
