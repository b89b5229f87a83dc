use nodeb_air::mac::multiplexing::prioritization::{Bucket, Demand, claims, prioritize};
use nodeb_air::mac::multiplexing::{ByChannel, ChannelRules, LogicalChannels};
use nodeb_base::units::Time;

/// Size of the packets that wait, which the base station does not know.
const PACKET: u32 = 1_500;

/// Of one logical channel.
#[derive(Debug)]
struct Estimate {
    rules: ChannelRules,
    bucket: Bucket,
    octets: u32,
    /// The octets are no report's.
    is_assumed: bool,
}

impl Estimate {
    fn demand(&mut self, now: Time) -> Demand {
        let prioritized = self.bucket.prioritized(now, self.octets, PACKET);
        Demand { priority: self.rules.priority, waiting: self.octets, prioritized, share: 0 }
    }
}

/// Octets that wait at a UE, without those granted, as the base station estimates them.
#[derive(Debug)]
pub struct BufferEstimate {
    /// In order of decreasing priority.
    channels: Vec<Estimate>,
}

impl BufferEstimate {
    pub fn new(bearers: &LogicalChannels) -> Self {
        let estimate = |rules: ChannelRules| {
            let bucket = Bucket::new(rules.prioritized_rate);
            Estimate { rules, bucket, octets: 0, is_assumed: false }
        };
        Self { channels: bearers.iter().map(|channel| estimate(channel.rules)).collect() }
    }

    pub fn octets(&self) -> u32 {
        self.channels.iter().fold(0, |sum, channel| sum.saturating_add(channel.octets))
    }

    /// Number of logical channels with data.
    pub fn waiting(&self) -> usize {
        self.channels.iter().filter(|channel| channel.octets > 0).count()
    }

    pub fn clear(&mut self) {
        self.channels.iter_mut().for_each(|channel| channel.octets = 0);
    }

    /// Of the channel with the highest priority, for a request, or the lowest one; false if it has octets already.
    pub fn assume(&mut self, is_highest: bool, octets: u32) -> bool {
        let last = self.channels.len() - 1;
        let channel = &mut self.channels[if is_highest { 0 } else { last }];
        let is_empty = channel.octets == 0;
        if is_empty {
            (channel.octets, channel.is_assumed) = (octets, true);
        }
        is_empty
    }

    /// Of which `granted` octets will be sent in later blocks, assumed to be those of the highest priorities.
    pub fn report(&mut self, reported: &ByChannel, granted: u32) {
        for (channel, octets) in self.channels.iter_mut().zip(reported) {
            (channel.octets, channel.is_assumed) = (*octets, false);
        }
        let demand = |Estimate { rules, octets, .. }: &Estimate| Demand {
            priority: rules.priority,
            waiting: *octets,
            ..Demand::default()
        };
        let mut demands: Vec<Demand> = self.channels.iter().map(demand).collect();
        prioritize(granted, &mut demands);
        self.remove(&demands);
    }

    /// As the UE will share a block's octets. Those that are only assumed are not taken from buckets.
    pub fn grant(&mut self, octets: u32, now: Time) {
        let mut demands: Vec<Demand> = self.channels.iter_mut().map(|channel| channel.demand(now)).collect();
        prioritize(octets, &mut demands);
        self.remove(&demands);
        let reported = self.channels.iter_mut().zip(&demands).filter(|(channel, _)| !channel.is_assumed);
        for (channel, demand) in reported {
            channel.bucket.take(demand.share.min(demand.prioritized));
        }
    }

    fn remove(&mut self, demands: &[Demand]) {
        for (channel, demand) in self.channels.iter_mut().zip(demands) {
            channel.octets -= demand.share;
        }
    }

    /// Octets within prioritized rates, each with its priority.
    pub fn claims(&mut self, now: Time) -> impl Iterator<Item = (u8, u32)> {
        claims(self.channels.iter_mut().map(move |channel| channel.demand(now)))
    }

    /// Shortest of the channels with data, in TTIs.
    pub fn delay_budget(&self) -> u64 {
        let waiting = self.channels.iter().filter(|channel| channel.octets > 0);
        waiting.map(|channel| channel.rules.delay_budget).min().unwrap_or(0)
    }
}
