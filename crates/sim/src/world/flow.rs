//! Phones, and the connections of the phones whose TCP is simulated.

use std::ops::{Index, IndexMut};

use nodeb_base::event::{Place, Recovery, SendLimit, Site};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::request::Requester;
use nodeb_tcp::{Opener, Receiver, Sender, SenderCounts, Window};

use super::connection_timers::{ConnectionTimers, Timer};
use super::env::Env;
use super::owners::{Owner, Owners};
use super::user_metrics::UserMetrics;
use super::wire::Wire;
use crate::metrics::{FlowRow, ProxyRow, SnoopRow};
use crate::proxy::rnf::meter::Meter;
use crate::proxy::snoop::SnoopAgent;
use crate::proxy::split::SplitProxy;
use crate::scenario::{Connection, Direction, Scenario};
use crate::traffic::demand::Demand;

/// State of a server that takes time for its answers.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Time from the start of the server's work on a request to its answer.
    pub delay: Duration,
    /// Whether the first request is sent with the ACK that ends the handshake, and that ACK has not arrived at the
    /// server yet.
    pub awaits_ack: bool,
    /// Whether the server is working on an answer.
    pub is_busy: bool,
}

/// Phone: the bearer and the uplink that carry its packets, simulated or real.
#[derive(Debug)]
pub struct Phone {
    pub start: Time,
    pub bearer: u32,
    /// Index of the phone among the users of its bearer.
    pub position: usize,
    pub uplink: Wire,
}

impl Phone {
    /// Creates phone number `nth`, from 0, of a group. Its number among all users is `id`.
    pub fn new(
        scenario: &Scenario,
        streams: Streams,
        (group, nth): (usize, u32),
        id: u32,
        (bearer, position): (u32, usize),
        owners: &mut Owners,
    ) -> Self {
        let users = &scenario.users[group];
        let line = scenario.uplink.line(u64::from(id), scenario.radio.uplink().as_ref(), &streams);
        Self {
            start: Time(users.start.0 + u64::from(nth) * users.stagger.0),
            bearer,
            position,
            uplink: Wire::new(line, Place::new(Site::Uplink, id), owners, Owner::Uplink(id)),
        }
    }

    /// Returns the results at the time `end` of connection number `user` if its packets come from outside: no
    /// transfers, counts of 0, no stalls or loss recovery, a `received_bps` of 0, and NaN for other times and
    /// rates of transfers. [`Flow::row`] completes them for a simulated connection.
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

/// The connections in the order of their numbers (see [`Scenario::connections`]); `None` for a user whose packets come
/// from outside.
#[derive(Debug)]
pub struct Flows(pub Vec<Option<Box<Flow>>>);

impl Flows {
    /// Returns the first connection of a user, or `None` if it is not simulated.
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

/// One simulated connection: sender and receiver, proxy and Snoop agent on the path, transfers, and metrics.
#[derive(Debug)]
pub struct Flow {
    /// Number of the user whose phone is an end of the connection.
    pub user: u32,
    /// Direction of the data.
    pub direction: Direction,
    /// End that opens the connection; in an upload the phone counts as the server, as it sends the data.
    pub opener: Opener,
    pub demand: Demand,
    /// Total size of all transfers in bytes, or `None` if it is unknown beforehand.
    pub total_bytes: Option<u64>,
    /// TCP sender at the server, or at the phone in an upload. It sends the data of all transfers.
    pub sender: Box<dyn Sender>,
    /// TCP receiver at the other end. At the phone it also creates the phone's SYN and requests.
    pub receiver: Box<dyn Receiver>,
    /// Proxy at the gateway, or `None` if the scenario has no proxy.
    pub proxy: Option<Box<SplitProxy>>,
    /// Meter at the RNC, which reports the bandwidth to the proxy; `None` without radio network feedback.
    pub meter: Option<Box<Meter>>,
    /// Snoop agent at the Node B, or `None` if the scenario has no agent.
    pub snoop: Option<Box<SnoopAgent>>,
    pub timers: ConnectionTimers,
    /// Requester that repeats the phone's SYN or request until it has reached the server or, if there is
    /// one, the proxy.
    pub requester: Requester,
    /// Payload in bytes of the request that the phone sends once the connection is established; `None` if it
    /// has been sent or there is no separate request.
    pub first_request: Option<u32>,
    /// State of a server that takes time for its answers; `None` if it answers immediately.
    pub work: Option<Work>,
    /// Time at which the connection's sender, the server or the phone in an upload, opened or accepted the connection;
    /// `None` before that.
    pub accepted: Option<Time>,
    /// Time at which the sender that sends over the radio received its last ACK, or `None` if it has not
    /// received it yet.
    pub finished: Option<Time>,
    /// Time at which the receiver had received all bytes; `None` if it has not yet, or if the total is unknown.
    pub downloaded: Option<Time>,
    /// Load times, stalls and loss recovery time of the connection.
    pub metrics: UserMetrics,
    /// Window, recovery state, timer and limits of the connection's senders, as they were last emitted as
    /// events.
    pub emitted: Emitted,
}

/// Values of a connection's senders that were last emitted as events. They are stored so that only changes are emitted.
/// All values but `limits` belong to the sender that sends the data over the radio.
#[derive(Debug, Default)]
pub struct Emitted {
    pub window: Option<Window>,
    pub recovery: Option<Recovery>,
    pub timer: Option<Time>,
    /// Limits that stop the sender at the server (in an upload, at the phone) and the proxy's sender from
    /// transmitting, in this order.
    pub limits: [SendLimit; 2],
}

impl Flow {
    /// Creates connection number `id`, or returns `None` if the user's packets come from outside.
    pub fn new(
        scenario: &Scenario,
        streams: Streams,
        connection: &Connection,
        id: u32,
        owners: &mut Owners,
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
            opener: tcp.opener(),
            demand,
            total_bytes: traffic.total_bytes(),
            sender: tcp.build(id, request_bytes).0,
            receiver: air_tcp.build(id, riding).1,
            timers: ConnectionTimers::new(owners, id),
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

    /// Returns the sender that sends the data over the radio: the proxy's sender if there is a proxy, the
    /// phone's in an upload, or else the server's.
    pub fn air_sender(&self) -> &dyn Sender {
        self.proxy.as_ref().map_or(&*self.sender, |proxy| proxy.sender())
    }

    /// Returns [`Self::air_sender`] mutably.
    pub fn air_sender_mut(&mut self) -> &mut dyn Sender {
        match &mut self.proxy {
            Some(proxy) => proxy.sender_mut(),
            None => &mut *self.sender,
        }
    }

    /// Runs `act` on the connection's Snoop agent and arms the agent's timer. Returns `None` without an agent.
    pub fn snoop<R>(&mut self, env: &mut Env, act: impl FnOnce(&mut SnoopAgent, Time) -> R) -> Option<R> {
        let snoop = self.snoop.as_mut()?;
        let result = act(snoop, env.common.now);
        self.timers.keep(env, Timer::Snoop, snoop.timer());
        Some(result)
    }

    /// Runs `act` on the requester, which repeats the phone's requests, and arms the requester's timer.
    pub fn requester<R>(&mut self, env: &mut Env, act: impl FnOnce(&mut Requester) -> R) -> R {
        let result = act(&mut self.requester);
        self.timers.keep(env, Timer::Request, self.requester.timer());
        result
    }

    /// Returns the results of the connection at the end of the run, `end`. `start` is the start of its user.
    /// `blocks_per_success` is the number of blocks that the bearer sent per block received correctly.
    /// `of_phone` is the row of [`Phone::row`], from which user, direction, phone, group and start are kept.
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

    /// Returns the results of the user's proxy, or `None` if the scenario has no proxy.
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

    /// Returns the results of the user's Snoop agent, or `None` if the scenario has no agent.
    pub fn snoop_row(&self, user: usize) -> Option<SnoopRow> {
        Some(SnoopRow { user: user as u64, counts: self.snoop.as_ref()?.counts })
    }
}
