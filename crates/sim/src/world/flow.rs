use std::ops::{Index, IndexMut};

use nodeb_base::event::{Recovery, SendLimit};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::request::Requester;
use nodeb_tcp::{Opener, Receiver, Sender, SenderCounts, Window};

use super::connection_timers::{ConnectionTimers, Timer};
use super::env::Env;
use super::hop::Port;
use super::user_metrics::UserMetrics;
use crate::metrics::{FlowRow, ProxyRow, SnoopRow};
use crate::proxy::rnf::meter::Meter;
use crate::proxy::snoop::SnoopAgent;
use crate::proxy::split::SplitProxy;
use crate::scenario::{Connection, Direction, Scenario};
use crate::traffic::demand::Demand;

/// Of a server that takes time for its answers.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub delay: Duration,
    /// The first request comes with the ACK that ends the handshake, which has not arrived yet.
    pub awaits_ack: bool,
    pub is_busy: bool,
}

/// Simulated or real.
#[derive(Debug)]
pub struct Phone {
    pub start: Time,
    /// To the bearer.
    pub down: Port,
    /// To the uplink.
    pub up: Port,
}

impl Phone {
    /// `nth` is the number in the group.
    pub fn new(scenario: &Scenario, (group, nth): (usize, u32), down: Port, up: Port) -> Self {
        let users = &scenario.users[group];
        Self { start: Time(users.start.0 + u64::from(nth) * users.stagger.0), down, up }
    }

    /// For packets from outside: counts of 0, no stalls or loss recovery, a `received_bps` of 0, and NaN
    /// otherwise. [`Flow::row`] completes it.
    pub fn row(&self, user: usize, scenario: &Scenario, connection: &Connection, end: Time) -> FlowRow {
        FlowRow {
            user: user as u64,
            direction: connection.direction,
            phone: u64::from(connection.phone),
            group: scenario.group_name(connection).into_owned(),
            start_s: self.start.as_secs(),
            endless: true,
            complete: false,
            download_s: f64::NAN,
            transfer_s: f64::NAN,
            app_bytes: 0,
            ip_bytes: 0,
            delivered_bytes: 0,
            sender: SenderCounts::default(),
            transfers: 0,
            transfer_delay_mean_s: f64::NAN,
            loads: 0,
            load_mean_s: f64::NAN,
            load_median_s: f64::NAN,
            load_p95_s: f64::NAN,
            stalls: 0,
            stalled_s: 0.0,
            recovery_s: 0.0,
            received_bps: 0.0 / end.max(self.start).since(self.start).as_secs(),
            application_bps: f64::NAN,
            retransmit_bps: f64::NAN,
            utilization: f64::NAN,
        }
    }
}

/// By number (see [`Scenario::connections`]); `None` if the packets come from outside.
#[derive(Debug)]
pub struct Flows(pub Vec<Option<Box<Flow>>>);

impl Flows {
    /// First connection of a user, if it is simulated.
    pub fn of(&mut self, user: u32) -> Option<&mut Flow> {
        self.0.get_mut(user as usize)?.as_deref_mut()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.0.iter_mut().flatten().map(|flow| &mut **flow)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.0.iter().flatten().map(|flow| &**flow)
    }
}

impl Index<u32> for Flows {
    type Output = Flow;

    #[inline]
    fn index(&self, flow: u32) -> &Flow {
        self.0[flow as usize].as_deref().expect("the user has a simulated connection")
    }
}

impl IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, flow: u32) -> &mut Flow {
        self.0[flow as usize].as_deref_mut().expect("the user has a simulated connection")
    }
}

#[derive(Debug)]
pub struct Flow {
    pub user: u32,
    /// Of the data.
    pub direction: Direction,
    /// Number among the phone's.
    pub bearer: u8,
    /// In an upload the phone counts as the server, as it sends the data.
    pub opener: Opener,
    pub demand: Demand,
    /// `None` if it is unknown beforehand.
    pub total_bytes: Option<u64>,
    /// At the server, or at the phone in an upload.
    pub sender: Box<dyn Sender>,
    /// At the phone it also creates the SYN and requests.
    pub receiver: Box<dyn Receiver>,
    /// At the gateway.
    pub proxy: Option<Box<SplitProxy>>,
    /// At the RNC; `None` without radio network feedback.
    pub meter: Option<Box<Meter>>,
    /// At the Node B.
    pub snoop: Option<Box<SnoopAgent>>,
    pub timers: ConnectionTimers,
    /// Repeats the phone's SYN or request until it has reached the server or the proxy.
    pub requester: Requester,
    /// Payload of the phone's separate request, until it is sent.
    pub first_request: Option<u32>,
    /// `None` if the server answers immediately.
    pub work: Option<Work>,
    /// At the connection's sender.
    pub accepted: Option<Time>,
    /// Last ACK at the sender over the radio.
    pub finished: Option<Time>,
    /// All bytes at the receiver, if their total is known.
    pub downloaded: Option<Time>,
    pub metrics: UserMetrics,
    pub emitted: Emitted,
}

/// As last emitted, so that only changes are; all but `limits` are those of the sender over the radio.
#[derive(Debug, Default)]
pub struct Emitted {
    pub window: Option<Window>,
    pub recovery: Option<Recovery>,
    pub timer: Option<Time>,
    /// Of the connection's own sender, and of the proxy's.
    pub limits: [SendLimit; 2],
}

impl Flow {
    /// `None` if the user's packets come from outside; `timer` is that in the event queue.
    pub fn new(
        scenario: &Scenario,
        streams: Streams,
        connection: &Connection,
        id: u32,
        timer: usize,
    ) -> Option<Self> {
        let &Connection { group, phone: user, direction } = connection;
        let group = &scenario.users[group];
        let traffic = group.traffic(direction)?;
        let demand = Demand::new(traffic.build(u64::from(user), direction, &streams)?);
        let tcp = &*scenario.tcp_of_connection(connection);
        let air_tcp = scenario.proxy.as_ref().map_or(tcp, |proxy| proxy.tcp(tcp));
        let request_bytes = if direction == Direction::Down { traffic.first_request_bytes() } else { 0 };
        // With a proxy the phone always sends its first request with its ACK of the proxy's SYN.
        let requests_separately = request_bytes > 0 && scenario.proxy.is_none() && tcp.requests_separately();
        let (riding, first_request) =
            if requests_separately { (0, Some(request_bytes)) } else { (request_bytes, None) };
        let proxy = scenario.proxy.as_ref();
        let snoop = scenario.snoop.as_ref();
        Some(Self {
            user,
            direction,
            bearer: group.bearer_of(direction),
            opener: tcp.opener(),
            demand,
            total_bytes: traffic.total_bytes(),
            sender: tcp.build(id, request_bytes).0,
            receiver: air_tcp.build(id, riding).1,
            timers: ConnectionTimers::new(timer),
            proxy: proxy.map(|proxy| Box::new(proxy.build(id, request_bytes, tcp))),
            meter: proxy
                .and_then(|proxy| proxy.feedback())
                .map(|feedback| Box::new(feedback.meter(id, scenario.core_delay(), streams))),
            snoop: snoop.map(|snoop| Box::new(SnoopAgent::new(snoop, air_tcp.numbering()))),
            requester: Requester::new(air_tcp.request_timeout()),
            first_request,
            work: traffic.server_delay().map(|delay| Work {
                delay,
                awaits_ack: !requests_separately,
                is_busy: false,
            }),
            accepted: None,
            finished: None,
            downloaded: None,
            metrics: UserMetrics::new(streams.indexed("user", u64::from(id), "loads kept")),
            emitted: Emitted::default(),
        })
    }

    /// The proxy's if there is one, the phone's in an upload, or else the server's.
    pub fn air_sender(&self) -> &dyn Sender {
        self.proxy.as_ref().map_or(&*self.sender, |proxy| proxy.sender())
    }

    pub fn air_sender_mut(&mut self) -> &mut dyn Sender {
        match &mut self.proxy {
            Some(proxy) => proxy.sender_mut(),
            None => &mut *self.sender,
        }
    }

    /// Arms the agent's timer; `None` without an agent.
    pub fn snoop<R>(&mut self, env: &mut Env, act: impl FnOnce(&mut SnoopAgent, Time) -> R) -> Option<R> {
        let snoop = self.snoop.as_mut()?;
        let result = act(snoop, env.common.now);
        self.timers.keep(env, Timer::Snoop, snoop.timer());
        Some(result)
    }

    /// Arms the requester's timer.
    pub fn requester<R>(&mut self, env: &mut Env, act: impl FnOnce(&mut Requester) -> R) -> R {
        let result = act(&mut self.requester);
        self.timers.keep(env, Timer::Request, self.requester.timer());
        result
    }

    /// `start` is that of its user, `blocks_per_success` the blocks sent per block received correctly; user,
    /// direction, phone, group and start are kept from `of_phone`.
    pub fn row(
        &self,
        start: Time,
        blocks_per_success: f64,
        channel_rate_bps: f64,
        end: Time,
        of_phone: FlowRow,
    ) -> FlowRow {
        let sender = self.air_sender();
        let lasted = |from: Option<Time>, to: Option<Time>| match (from, to) {
            (Some(from), Some(to)) => to.since(from).as_secs(),
            _ => f64::NAN,
        };
        let opened = self.proxy.as_ref().map_or(self.accepted, |proxy| proxy.opened());
        let transfer_s = lasted(opened, self.finished);
        let application_bps = match self.total_bytes {
            Some(bytes) => bytes as f64 * 8.0 / transfer_s,
            None => self.demand.completed_bytes as f64 * 8.0 / self.demand.delay_sum.as_secs(),
        };
        let received_s = lasted(Some(start), Some(self.downloaded.unwrap_or(end.max(start))));
        let retransmit_bps = sender.wire_bytes() as f64 * 8.0 / transfer_s * blocks_per_success;
        let [load_median_s, load_p95_s] = self.metrics.loads.quantiles_s([0.5, 0.95]);
        FlowRow {
            endless: self.total_bytes.is_none(),
            complete: self.finished.is_some(),
            download_s: lasted(Some(start), self.downloaded),
            transfer_s,
            app_bytes: self.demand.bytes,
            ip_bytes: sender.wire_bytes(),
            delivered_bytes: self.receiver.delivered_bytes(),
            sender: *sender.counts(),
            transfers: self.demand.completed,
            transfer_delay_mean_s: self.demand.delay_sum.as_secs() / self.demand.completed as f64,
            loads: self.metrics.loads.count,
            load_mean_s: self.metrics.loads.mean_s(),
            load_median_s,
            load_p95_s,
            stalls: self.metrics.stalls,
            stalled_s: self.metrics.stalled_s(),
            recovery_s: self.metrics.recovery_s(),
            received_bps: self.receiver.delivered_bytes() as f64 * 8.0 / received_s,
            application_bps,
            retransmit_bps,
            utilization: retransmit_bps / channel_rate_bps,
            ..of_phone
        }
    }

    pub fn proxy_row(&self, user: usize) -> Option<ProxyRow> {
        let proxy = &self.proxy.as_ref()?;
        Some(ProxyRow {
            user: user as u64,
            server: *self.sender.counts(),
            most_held_bytes: proxy.max_held(),
            messages: self.meter.as_ref().map(|meter| meter.counts).unwrap_or_default(),
            windows: proxy.windows().unwrap_or_default(),
        })
    }

    pub fn snoop_row(&self, user: usize) -> Option<SnoopRow> {
        Some(SnoopRow { user: user as u64, counts: self.snoop.as_ref()?.counts })
    }
}
