//! One connection with everything that belongs to it.

use super::alarms::Alarms;
use super::wire::Wire;
use crate::metrics::FlowRow;
use crate::network::link::{Link, Loss};
use crate::packet::Packet;
use crate::rng::Streams;
use crate::scenario::{Scenario, UserGroup};
use crate::traffic::demand::Demand;
use crate::transport::{Opener, Receiver, Sender, Window};
use crate::units::{Probability, Time};

/// One connection: its two ends, what it carries, and what has been noted about it.
#[derive(Debug)]
pub struct Flow {
    pub group: usize,
    pub start: Time,
    pub opener: Opener,
    pub demand: Demand,
    /// Bytes of all transfers, where they are known beforehand.
    pub total_bytes: Option<u64>,
    pub sender: Box<dyn Sender>,
    pub receiver: Box<dyn Receiver>,
    pub uplink: Wire,
    pub bearer: u32,
    pub position: usize,
    /// What the phone has asked for and the server has not heard of, and how often it was sent.
    pub asking: Option<Packet>,
    pub repetitions: u32,
    pub accepted: Option<Time>,
    pub finished: Option<Time>,
    pub downloaded: Option<Time>,
    /// Window and threshold last written to the series.
    pub noted: Option<Window>,
}

impl Flow {
    pub fn new(
        scenario: &Scenario,
        streams: Streams,
        group_index: usize,
        group: &UserGroup,
        nth: u32,
        id: u32,
        (bearer, position): (u32, usize),
    ) -> Self {
        let tcp = &scenario.tcp;
        let uplink = &scenario.uplink;
        let (sender, receiver) = tcp.build(id, group.traffic.first_request_bytes());
        Self {
            group: group_index,
            start: Time(group.start.0 + u64::from(nth) * group.stagger.0),
            opener: tcp.opener(),
            demand: Demand::new(group.traffic.build(u64::from(id), &streams)),
            total_bytes: group.traffic.total_bytes(),
            sender,
            receiver,
            uplink: Wire {
                link: Link::new(uplink.rate, uplink.delay, &uplink.queue, Loss::Never),
                alarm: Alarms::uplink(id),
            },
            bearer,
            position,
            asking: None,
            repetitions: 0,
            accepted: None,
            finished: None,
            downloaded: None,
            noted: None,
        }
    }

    pub fn row(&self, user: usize, group: &UserGroup, bler: Probability, channel_rate_bps: f64) -> FlowRow {
        let counts = self.sender.counts();
        let lasted = |from: Option<Time>, to: Option<Time>| match (from, to) {
            (Some(from), Some(to)) => to.since(from).as_secs(),
            _ => f64::NAN,
        };
        let transfer_s = lasted(self.accepted, self.finished);
        let application_bps = match self.total_bytes {
            Some(bytes) => bytes as f64 * 8.0 / transfer_s,
            None => self.demand.completed_bytes as f64 * 8.0 / self.demand.delay_sum.as_secs(),
        };
        let retransmit_bps = self.sender.wire_bytes() as f64 * 8.0 / transfer_s / (1.0 - bler.0);
        FlowRow {
            user: user as u64,
            group: group.name.clone(),
            start_s: self.start.as_secs(),
            complete: self.finished.is_some(),
            download_s: lasted(Some(self.start), self.downloaded),
            transfer_s,
            app_bytes: self.demand.bytes,
            ip_bytes: self.sender.wire_bytes(),
            delivered_bytes: self.receiver.delivered_bytes(),
            packets_sent: counts.packets,
            packets_retransmitted: counts.retransmissions,
            timeouts: counts.timeouts,
            fast_retransmits: counts.fast_retransmits,
            rtt_mean_s: counts.rtt_sum_ns as f64 / counts.rtt_samples as f64 / 1e9,
            rtt_samples: counts.rtt_samples,
            transfers: self.demand.completed,
            transfer_delay_mean_s: self.demand.delay_sum.as_secs() / self.demand.completed as f64,
            application_bps,
            retransmit_bps,
            utilization: retransmit_bps / channel_rate_bps,
        }
    }
}
