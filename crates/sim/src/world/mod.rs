//! ```text
//! server --wired--> gateway --core--> Node B --bearer--> phone
//!   ^      (down)   [proxy]  (down)   [snoop]
//!   +------wired----gateway <--core-- Node B <----uplink---+
//!           (up)             (up)
//! ```

mod build;
mod connection_timers;
mod control;
mod env;
mod events;
mod external;
mod feedback;
mod flow;
mod gateway;
mod hop;
mod live;
mod node_b;
mod phone;
mod receiver;
mod recorder;
mod sender;
mod server;
mod snapshot;
mod summary;
mod user_metrics;

pub use control::{Control, Listener, NullListener};
pub use external::{ExternalPacket, Fate};
pub use live::Live;
pub use snapshot::{Carried, Snapshot};

pub use crate::scenario::Direction;

use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Mask, Site, TimerKind};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_base::{Error, Result};
use nodeb_tcp::segment::Segment;

use crate::metrics::RunResult;
use crate::proxy::split::Outbox;
use crate::scenario::Scenario;
use connection_timers::Timer;
use env::Env;
use events::Listeners;
use flow::{Flow, Flows, Phone};
use hop::Hops;

/// These also check for cancellation.
const EVENTS_PER_REPORT: u64 = 1 << 14;

/// Simulates replication number `run` of a scenario under `seed` and returns its results.
/// To be fast, a chain of plain links computes the arrival at its far end at once, if this changes no result but the
/// number of events.
///
/// # Errors
///
/// [`Error::Cancelled`] if [`Control::cancel`] was called, [`Error::Scenario`] if a file that the scenario names has
/// not been read or a user's packets come from outside.
///
/// # Examples
///
/// ```
/// use nodeb_sim::{Control, run, scenario};
///
/// let text = r#"
///     radio.dch.bler = 0.1
///     users = [{ traffic.ftp.size = "50 kB" }]
/// "#;
/// let scenario = scenario::from_toml(text, "example.toml", &[])?;
/// let result = run(&scenario, 1, 0, &Control::default())?;
/// assert!(result.flows[0].complete);
/// assert_eq!(result.flows[0].delivered_bytes, 50_000);
/// # Ok::<(), nodeb_sim::Error>(())
/// ```
pub fn run(scenario: &Scenario, seed: u64, run: u64, control: &Control) -> Result<RunResult> {
    check(scenario)?;
    let mut world = World::new(scenario, seed, run, NullListener);
    world.chain_plain_links(&Streams::new(seed, run));
    world.simulate(control)?;
    Ok(world.into_result(scenario))
}

/// Simulates a replication like [`run`] and passes its events to `listener`, which may end the run.
///
/// # Errors
///
/// [`Error::Cancelled`] if [`Control::cancel`] was called, [`Error::Scenario`] if a file that the scenario names has
/// not been read or a user's packets come from outside.
///
/// # Examples
///
/// Count the packets that are lost:
///
/// ```
/// use std::ops::ControlFlow;
///
/// use nodeb_base::event::{Event, Mask};
/// use nodeb_base::units::Time;
/// use nodeb_sim::world::{Listener, run_with_listener};
/// use nodeb_sim::{Control, scenario};
/// use nodeb_tcp::segment::Segment;
///
/// struct Losses(u64);
///
/// impl Listener for Losses {
///     fn mask(&self) -> Mask {
///         Mask::PACKETS
///     }
///
///     fn on_event(&mut self, _: Time, event: &Event, _: Option<&Segment>) -> ControlFlow<()> {
///         self.0 += u64::from(matches!(event, Event::Lost { .. }));
///         ControlFlow::Continue(())
///     }
/// }
///
/// let text = r#"
///     wired.loss = 0.01
///     radio.dch = {}
///     users = [{ traffic.ftp.size = "1 MB" }]
/// "#;
/// let scenario = scenario::from_toml(text, "example.toml", &[])?;
/// let mut losses = Losses(0);
/// let result = run_with_listener(&scenario, 1, 0, &Control::default(), &mut losses)?;
/// assert!(losses.0 > 0);
/// assert_eq!(losses.0, result.links.iter().map(|link| link.counts.lost).sum::<u64>());
/// # Ok::<(), nodeb_sim::Error>(())
/// ```
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

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct World<T> {
    env: Env,
    hops: Hops,
    listeners: Listeners<T>,
    phones: Vec<Phone>,
    flows: Flows,
    has_proxy: bool,
    has_snoop: bool,
    /// Packets of some users come from outside.
    has_external: bool,
    /// Phones can sleep (DRX) or lose their RRC connection, so that downlink bearers must be informed of what
    /// they send.
    phones_sleep: bool,
    /// In a buffer before the Node B.
    waits_at_rnc: bool,
    /// Simulated connections whose sender lacks its last ACK.
    unfinished: usize,
    events: u64,
    outbox: Vec<Segment>,
    relayed: Outbox,
    /// Of a Snoop agent. These three buffers are reused to avoid allocations.
    retransmitted: Vec<Segment>,
}

impl<T: Listener> World<T> {
    /// Until all transfers are complete, and all events of that time have been handled, or the duration is over, or
    /// the listener ends the run.
    fn simulate(&mut self, control: &Control) -> Result<()> {
        let mut end = self.env.horizon;
        while self.step(end) {
            if self.listeners.is_over {
                return Ok(());
            }
            if self.unfinished == 0 {
                end = self.env.now;
            }
            if self.events.is_multiple_of(EVENTS_PER_REPORT) {
                control.report(self.progress())?;
            }
        }
        self.env.common.advance(Instant::new(end, Phase::End));
        control.report(1.0)
    }

    /// False if there is no event up to `end`.
    #[inline]
    fn step(&mut self, end: Time) -> bool {
        let Some((instant, timer)) = self.env.event_queue.next().filter(|(next, _)| next.time() <= end)
        else {
            return false;
        };
        self.env.advance(instant);
        self.handle(instant, timer);
        self.events += 1;
        self.emit();
        true
    }

    fn handle(&mut self, instant: Instant, timer: usize) {
        let Some(flow) = timer.checked_sub(self.hops.all.len()) else {
            return self.wake_hop(timer, instant);
        };
        let flow = flow as u32;
        if let Some(timer) = self.flows[flow].timers.expire(instant.time()) {
            self.handle_timer(timer, flow);
        }
        self.flows[flow].timers.rearm(&mut self.env);
    }

    /// The first connection of each user has the user's number (see [`Scenario::connections`]), so only
    /// others are looked up.
    #[inline]
    fn user_of(&self, flow: u32) -> u32 {
        if (flow as usize) < self.phones.len() { flow } else { self.flows[flow].user }
    }

    #[inline]
    fn phone_of(&self, flow: u32) -> &Phone {
        &self.phones[self.user_of(flow) as usize]
    }

    /// The first connections of phones use the first bearer.
    #[inline]
    fn set_bearer(&self, flow: u32, packet: &mut Packet) {
        if flow as usize >= self.phones.len() {
            packet.bearer = self.flows[flow].bearer;
        }
    }

    fn handle_timer(&mut self, timer: Timer, flow: u32) {
        match timer {
            Timer::Traffic => self.begin_transfer(flow),
            Timer::Server => {
                self.emit_timer(Site::Server, flow, TimerKind::Server);
                self.answer(flow);
            }
            Timer::Retransmission => {
                if self.env.sink.wants(Mask::DECISIONS) {
                    let Flow { sender, direction, .. } = &self.flows[flow];
                    let (site, timer) = (direction.sender(), sender.expired_timer(self.env.now));
                    self.emit_timer(site, flow, timer);
                }
                self.flows[flow].sender.on_timer(self.env.now, &mut self.outbox);
                self.after_sender(flow);
            }
            Timer::DelayedAck => {
                self.emit_timer(self.flows[flow].direction.receiver(), flow, TimerKind::Acknowledgement);
                let ack = self.flows[flow].receiver.on_timer(self.env.now);
                self.after_receiver(flow, ack);
            }
            Timer::Request => {
                self.emit_timer(Site::Phone, flow, TimerKind::Request);
                self.repeat_request(flow);
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
