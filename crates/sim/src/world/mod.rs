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
//! keeps each box's alarm at the time the box asks for, and writes down what happened. Each place
//! has a file: what arrives there and what leaves it.

mod alarms;
mod build;
mod control;
mod core;
mod feedback;
mod flow;
mod gateway;
mod node_b;
mod notes;
mod phone;
mod server;
mod summary;
mod wire;

pub use control::{Control, NoTap, Place, Tap};

use alarms::{Alarms, Event};
use flow::Flow;
use wire::Duplex;

use crate::engine::{Agenda, Key};
use crate::error::{Error, Result};
use crate::metrics::RunResult;
use crate::metrics::series::Series;
use crate::packet::Packet;
use crate::proxy::split::Outbox;
use crate::radio::{Bearer, Delivery};
use crate::scenario::{Record, Scenario};
use crate::units::Time;

/// Events between two looks at the control.
const EVENTS_PER_REPORT: u64 = 1 << 14;

/// Simulates replication number `run` of a scenario under `seed`.
///
/// # Errors
/// [`Error::Cancelled`] when `control` was told to cancel, [`Error::Scenario`] when a file that the
/// scenario names has not been read.
pub fn run(scenario: &Scenario, seed: u64, run: u64, control: &Control) -> Result<RunResult> {
    run_tapped(scenario, seed, run, control, &mut NoTap)
}

/// As [`run`], with every packet shown to `tap`.
///
/// # Errors
/// As [`run`], and the tap's own.
pub fn run_tapped<T: Tap>(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    tap: &mut T,
) -> Result<RunResult> {
    if let Some(problem) = scenario.unread_file() {
        return Err(Error::Scenario(problem));
    }
    let mut world = World::new(scenario, seed, run, tap);
    let end = Time::ZERO + scenario.duration;
    let mut events = 0;
    while world.unfinished > 0
        && let Some((key, alarm)) = world.agenda.next()
        && key.0 <= end
    {
        world.now = key.0;
        world.handle(key, alarm)?;
        events += 1;
        if events % EVENTS_PER_REPORT == 0 {
            control.report(world.progress(end))?;
        }
    }
    if world.unfinished > 0 {
        world.now = end;
    }
    control.report(1.0)?;
    Ok(world.into_result(scenario, events))
}

/// A bearer with the number of its alarm and the flows of its users, by their position on it.
#[derive(Debug)]
struct Air {
    bearer: Box<dyn Bearer>,
    alarm: usize,
    flows: Vec<u32>,
}

struct World<'t, T> {
    now: Time,
    tap: &'t mut T,
    agenda: Agenda,
    alarms: Alarms,
    wired: Duplex,
    /// The links of the core network from the gateway on.
    core: Vec<Duplex>,
    bearers: Vec<Air>,
    flows: Vec<Flow>,
    unfinished: usize,
    record: Record,
    series: Series,
    /// Reused for what a sender, a proxy, a Snoop agent or a bearer puts out.
    outbox: Vec<Packet>,
    relayed: Outbox,
    again: Vec<Packet>,
    delivered: Vec<Delivery>,
}

impl<T: Tap> World<'_, T> {
    fn handle(&mut self, key: Key, alarm: usize) -> Result<()> {
        match self.alarms.event(alarm) {
            Event::WiredDown => self.wake_wired_down(key),
            Event::WiredUp => self.wake_wired_up(key),
            Event::CoreDown(at) => {
                self.wake_core_down(key, at as usize);
                Ok(())
            }
            Event::CoreUp(at) => self.wake_core_up(key, at as usize),
            Event::Uplink(flow) => self.wake_uplink(key, flow),
            Event::Bearer(bearer) => self.wake_bearer(key, bearer),
            timer => {
                self.agenda.set(alarm, None);
                self.handle_timer(timer)
            }
        }
    }

    fn handle_timer(&mut self, timer: Event) -> Result<()> {
        match timer {
            Event::Traffic(flow) => self.begin_transfer(flow),
            Event::RetransmissionTimer(flow) => {
                self.flows[flow as usize].sender.on_timer(self.now, &mut self.outbox);
                self.after_sender(flow)
            }
            Event::DelayedAck(flow) => {
                let ack = self.flows[flow as usize].receiver.on_timer(self.now);
                self.after_receiver(flow, ack)
            }
            Event::RequestTimer(flow) => {
                let again = self.flows[flow as usize].requester.on_timer(self.now);
                self.after_request(flow, again)
            }
            Event::Proxy(flow) => self.proxy_timer(flow),
            Event::RadioNetworkFeedback(flow) => self.radio_network_feedback(flow),
            Event::Snoop(flow) => {
                self.snoop_timer(flow);
                Ok(())
            }
            _ => unreachable!("links and bearers are no timers"),
        }
    }
}
