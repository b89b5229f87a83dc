//! Store-and-forward link with a constant rate: a packet arrives `8 size / rate + delay` after the start of
//! its transmission.
//!
//! The end of a transmission is stored with its fraction of a nanosecond, so that long busy periods do not
//! drift. A packet that finds the link idle takes one event, its arrival. Only waiting packets need a second
//! event, at the end of the transmission before theirs.

use nodeb_base::context::Context;
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

use super::ingress::{Ingress, LinkCounts};
use super::look_ahead::{LookAhead, Overcount};
use super::outage::Outages;
use super::propagation::Propagation;

/// Transmission time of a packet of `bytes` bytes: whole nanoseconds, and a remainder in units of 1
/// / `rate_bps` nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Airtime {
    bytes: u32,
    whole: Duration,
    remainder: u64,
}

#[derive(Debug)]
pub struct Link {
    rate_bps: u64,
    delay: Duration,
    ingress: Ingress,
    has_waiting: bool,
    /// Whether packets that find the link idle pass through the queue too, because its discipline
    /// must see all packets.
    queues_all: bool,
    /// Whole nanoseconds, and a remainder in units of 1 / `rate_bps` nanoseconds.
    free_at: Time,
    remainder: u64,
    airtime: Airtime,
    propagation: Propagation,
    outages: Outages,
    bytes: u64,
    look_ahead: Option<LookAhead>,
}

impl Link {
    pub fn new(rate: Rate, delay: Duration, ingress: Ingress, propagation: Propagation) -> Self {
        Self {
            rate_bps: rate.0,
            delay,
            queues_all: ingress.sees_every_packet(),
            ingress,
            has_waiting: false,
            free_at: Time::ZERO,
            remainder: 0,
            airtime: Airtime::default(),
            propagation,
            outages: Outages::default(),
            bytes: 0,
            look_ahead: None,
        }
    }

    /// Enables look-ahead: from now on the caller passes packets to [`Self::enter`], possibly ahead of time.
    /// Returns false if the link does not support look-ahead, because its queue is not drop-tail, or because
    /// it has jitter, reordering or outages.
    ///
    /// With look-ahead the link emits no start times of transmissions, does not know how many
    /// packets wait, and emits losses out of order. So look-ahead is only for runs without
    /// listeners to these events.
    pub fn look_ahead(&mut self) -> bool {
        if self.look_ahead.is_none() && self.propagation.is_plain() && self.outages.is_empty() {
            self.look_ahead = self.ingress.limits().map(LookAhead::new);
        }
        self.looks_ahead()
    }

    #[inline]
    pub fn looks_ahead(&self) -> bool {
        self.look_ahead.is_some()
    }

    /// Accepts a packet that enters the link at `entry`, which is now or later, but not before the
    /// entry of the previous packet. Returns the time of the packet's arrival, or `None` if the
    /// packet is lost or dropped.
    ///
    /// # Panics
    /// Panics if look-ahead is not enabled.
    pub fn enter(&mut self, ctx: &mut Context, packet: &Packet, entry: Time) -> Option<Time> {
        let look_ahead = self.look_ahead.as_mut().expect("look-ahead is enabled");
        look_ahead.advance(entry);
        if !self.ingress.admit(ctx, packet) {
            look_ahead.lose(entry, Cause::LinkLoss, ctx.now);
            return None;
        }
        let waits = self.free_at > entry || look_ahead.has_waiting();
        if waits && !look_ahead.has_room(packet.size) {
            self.ingress.refuse(ctx, packet);
            look_ahead.lose(entry, Cause::Overflow, ctx.now);
            return None;
        }
        let begin = if waits { self.free_at } else { entry };
        if waits {
            look_ahead.wait(packet.size);
        }
        // A transmission that starts in the current event is never subtracted from the counters.
        if waits || entry != ctx.now {
            look_ahead.record(entry, begin, packet.size, ctx);
        }
        ctx.counts.packets_in += 1;
        self.occupy(begin, packet.size);
        Some(self.free_at + self.delay)
    }

    #[inline]
    pub fn deliver(&mut self, arrival: Time, packet: Packet) {
        self.propagation.depart(arrival, packet);
    }

    pub fn settle(&mut self, end: Time) -> Overcount {
        let Some(look_ahead) = self.look_ahead.take() else {
            return Overcount::default();
        };
        let overcount = look_ahead.settle(end);
        self.bytes -= overcount.bytes;
        self.ingress.take_back(overcount);
        overcount
    }

    #[must_use]
    pub fn with_outages(self, outages: Outages) -> Self {
        Self { outages, ..self }
    }

    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        if !self.ingress.admit(ctx, &packet) {
            return false;
        }
        let idle = self.free_at <= ctx.now && !self.has_waiting;
        if !idle || self.queues_all {
            if !self.ingress.push(ctx, &packet) {
                return false;
            }
            self.has_waiting = true;
            if idle {
                self.send_next(ctx);
            }
        } else {
            ctx.take(0, &packet);
            self.transmit(ctx, packet);
        }
        true
    }

    #[inline]
    fn send_next(&mut self, ctx: &mut Context) {
        let packet = self.ingress.pop(ctx);
        self.has_waiting = !self.ingress.is_empty();
        if let Some(packet) = packet {
            self.transmit(ctx, packet);
        }
    }

    /// This time is computed again only if the size differs from that of the previous packet.
    #[inline]
    fn airtime(&mut self, bytes: u32) -> Airtime {
        if self.airtime.bytes != bytes {
            let bits = u64::from(bytes) * 8 * NANOS_PER_S;
            let (whole, remainder) = (Duration(bits / self.rate_bps), bits % self.rate_bps);
            self.airtime = Airtime { bytes, whole, remainder };
        }
        self.airtime
    }

    #[inline]
    fn transmit(&mut self, ctx: &mut Context, packet: Packet) {
        let start = self.outages.next_start(ctx.now);
        self.occupy(start, packet.size);
        if ctx.wants(Mask::SERVICE) {
            let (place, packet, sent, arrives) =
                (ctx.place, packet.id, self.free_at, self.free_at + self.delay);
            ctx.emit(Event::Served { place, channel: 0, packet, from: start, sent, arrives });
        }
        self.propagation.depart(self.free_at + self.delay, packet);
    }

    /// `start` must not be before the end of the previous transmission.
    #[inline]
    fn occupy(&mut self, start: Time, bytes: u32) {
        if self.free_at < start {
            self.remainder = 0;
        }
        let airtime = self.airtime(bytes);
        self.remainder += airtime.remainder;
        self.free_at = start + airtime.whole;
        if self.remainder >= self.rate_bps {
            self.remainder -= self.rate_bps;
            self.free_at += Duration(1);
        }
        self.bytes += u64::from(bytes);
    }

    /// With look-ahead a packet counts only after [`Self::deliver`] has stored it.
    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        let arrival = self.propagation.next().map(|at| Instant::new(at, Phase::Arrival));
        if !self.has_waiting {
            return arrival;
        }
        let sent = Instant::new(self.free_at, Phase::Sent);
        Some(arrival.map_or(sent, |arrival| arrival.min(sent)))
    }

    /// Returns the packet that arrives, unless a transmission has ended at `instant`.
    #[inline]
    pub fn wake(&mut self, ctx: &mut Context, instant: Instant) -> Option<Packet> {
        if instant.is(Phase::Sent) {
            self.send_next(ctx);
            return None;
        }
        let arrived = self.propagation.arrive();
        if let Some(packet) = &arrived {
            ctx.pass(0, packet);
        }
        arrived
    }

    /// Without the packet that is being transmitted; 0 with look-ahead.
    pub fn waiting(&self) -> usize {
        self.ingress.waiting()
    }

    /// Without the packet that is being transmitted; 0 with look-ahead.
    pub fn waiting_bytes(&self) -> u64 {
        self.ingress.waiting_bytes()
    }

    pub fn counts(&self) -> LinkCounts {
        self.ingress.counts(self.bytes)
    }

    /// Returns the number of bytes that a transmitter that never pauses could have transmitted until `now`.
    pub fn offered_by(&self, now: Time) -> f64 {
        self.rate_bps as f64 * now.as_secs() / 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::queue::drop_tail::{DropTail, Fifo};
    use crate::{LossSetting, Path, QueueSpec};
    use nodeb_base::context::{Output, Surroundings};
    use nodeb_base::event::Cause;
    use nodeb_base::rng::Streams;
    use nodeb_base::units::Probability;
    use proptest::prelude::*;

    fn packet(size: u32, seq: u64) -> Packet {
        Packet::new(seq, size)
    }

    fn link(rate: u64, limit: u32, loss: Loss) -> Link {
        let queue = serde_json::json!({ "drop_tail": { "limit": limit } });
        let queue: QueueSpec = serde_json::from_value(queue).unwrap();
        let stream = Streams::new(1, 0).stream("test", 0, "queue");
        let (rate, delay) = (Rate(rate), Duration::from_millis(10));
        Link::new(rate, delay, Ingress::new(loss, queue.build(rate, stream)), Propagation::default())
    }

    fn drain(link: &mut Link, around: &mut Surroundings) -> Vec<(Time, u64)> {
        let mut arrived = Vec::new();
        while let Some(instant) = link.next_wake() {
            let at = instant.time();
            arrived.extend(link.wake(&mut around.at(at), instant).map(|packet| (at, packet.id.0)));
        }
        arrived
    }

    #[test]
    fn an_outage_completes_the_current_transmission_and_delays_the_rest() {
        let outage = r#"[{"start": "20 ms", "length": "1 s"}]"#;
        let outages = Outages::new(serde_json::from_str(outage).unwrap());
        let mut link = link(384_000, 100, Loss::Never).with_outages(outages);
        let mut around = Surroundings::default();
        for seq in 0..3 {
            assert!(link.accept(&mut around.at(Time::ZERO), packet(1500, seq)));
        }
        let ms = |t: f64| Time((t * 1e6) as u64);
        assert_eq!(drain(&mut link, &mut around), [(ms(41.25), 0), (ms(1_061.25), 1), (ms(1_092.5), 2)]);
    }

    #[test]
    fn packets_are_stored_and_forwarded_in_order() {
        let (mut link, mut around) = (link(384_000, 100, Loss::Never), Surroundings::default());
        for seq in 0..3 {
            assert!(link.accept(&mut around.at(Time::ZERO), packet(1500, seq)));
        }
        let ms = |t: f64| Time((t * 1e6) as u64);
        assert_eq!(drain(&mut link, &mut around), [(ms(41.25), 0), (ms(72.5), 1), (ms(103.75), 2)]);
    }

    #[test]
    fn fractions_of_a_nanosecond_do_not_accumulate_as_drift() {
        // The transmission of 40 bytes at 384 kbit/s takes 833 333 1/3 ns.
        let (mut link, mut around) = (link(384_000, 4_000, Loss::Never), Surroundings::default());
        for seq in 0..3_000 {
            link.accept(&mut around.at(Time::ZERO), packet(40, seq));
        }
        assert_eq!(drain(&mut link, &mut around)[2_999].0, Time(2_500_000_000 + 10_000_000));
    }

    #[test]
    fn a_full_queue_drops_arriving_packets() {
        let (mut link, mut around) = (link(384_000, 3, Loss::Never), Surroundings::default());
        let taken: Vec<_> =
            (0..5).map(|seq| link.accept(&mut around.at(Time::ZERO), packet(1500, seq))).collect();
        // The queue limit of 3 packets admits only two waiting packets, because as in ns-2 the
        // third packet to wait is dropped. The packet being transmitted does not count.
        assert_eq!(taken, [true, true, true, false, false]);
        let lost = Output::Lost { user: 0, packet: packet(1500, 3), cause: Cause::Overflow };
        assert_eq!(around.common.out[0], lost);
        assert_eq!(drain(&mut link, &mut around).len(), 3);
    }

    #[test]
    fn listed_and_random_losses_are_counted() {
        let mut around = Surroundings::default();
        let mut listed = link(1_000_000, 1_000, Loss::listed(vec![7, 2, 2]));
        let lost: Vec<u64> =
            (0..10).filter(|&seq| !listed.accept(&mut around.at(Time::ZERO), packet(100, seq))).collect();
        assert_eq!(lost, [2, 7]);
        let stream = Streams::new(1, 0).stream("wired", 0, "loss");
        let mut random = link(1_000_000, 20_000, Loss::random(Probability(0.03), stream));
        for seq in 0..10_000 {
            random.accept(&mut around.at(Time::ZERO), packet(100, seq));
        }
        assert!((200..400).contains(&random.counts().lost), "{}", random.counts().lost);
    }

    /// `packets`: time in ns since the previous packet, and size in bytes.
    fn play(mut link: Link, packets: &[(u64, u32)], end: Time) -> String {
        let (mut around, mut arrived, mut now) = (Surroundings::default(), Vec::new(), 0);
        let mut wake = |link: &mut Link, around: &mut Surroundings, until: Instant| {
            while let Some(instant) = link.next_wake().filter(|instant| *instant <= until) {
                let at = instant.time();
                arrived.extend(link.wake(&mut around.at(at), instant).map(|packet| (at, packet.id.0)));
            }
        };
        for (seq, &(wait, size)) in (0..).zip(packets) {
            now += wait;
            if Time(now) > end {
                break;
            }
            wake(&mut link, &mut around, Instant::new(Time(now), Phase::Timer));
            let (mut ctx, entry, packet) = (around.at(Time(now)), Time(now), packet(size, seq));
            if link.look_ahead.is_none() {
                link.accept(&mut ctx, packet);
            } else if let Some(arrival) = link.enter(&mut ctx, &packet, entry) {
                link.deliver(arrival, packet);
            }
        }
        wake(&mut link, &mut around, Instant::new(end, Phase::End));
        let overcount = link.settle(end);
        assert_eq!(
            overcount.lost + overcount.overflowed + overcount.taken,
            0,
            "all packets entered before the end"
        );
        format!("{arrived:?} {:?} {:?}", around.common.out, link.counts())
    }

    proptest! {
        #[test]
        fn look_ahead_changes_no_result(
            packets in prop::collection::vec((0u64..3, 1u32..4), 1..60),
            limit in 1u32..6,
            rate_gbps in 1u64..20,
            end in 0u64..200,
        ) {
            // The times between packets are small multiples of 8 ns, and so are transmission times
            // at 1 Gbit/s. So packets often arrive exactly when a transmission ends.
            let packets: Vec<_> = packets.into_iter().map(|(wait, size)| (8 * wait, size)).collect();
            let queue = DropTail { limit: limit.try_into().unwrap(), limit_bytes: None };
            let new = || {
                let ingress = Ingress::new(Loss::listed(vec![5, 17]), Box::new(Fifo::new(&queue)));
                Link::new(Rate(rate_gbps * 1_000_000_000), Duration(16), ingress, Propagation::default())
            };
            let mut ahead = new();
            prop_assert!(ahead.look_ahead());
            let end = Time(end);
            prop_assert_eq!(play(ahead, &packets, end), play(new(), &packets, end));
        }
    }

    #[test]
    fn a_link_continues_when_its_queue_drops_waiting_packets() {
        for (name, delay_ms) in QueueSpec::NAMES.iter().flat_map(|name| [(name, 0), (name, 30)]) {
            let queue: QueueSpec = serde_json::from_value(serde_json::json!(name)).unwrap();
            let loss = LossSetting::default();
            let path = Path {
                rate: Rate(120_000),
                delay: Duration::from_millis(delay_ms),
                queue: &queue,
                loss: &loss,
                jitter: None,
                reordering: None,
                outages: &[],
            };
            let mut link = path.link(&Streams::new(1, 0), "test", 0);
            let (mut around, mut arrived) = (Surroundings::default(), 0);
            for round in 0..20 {
                for id in 0..40 {
                    link.accept(&mut around.at(Time(round * 5_000_000_000)), packet(1500, 40 * round + id));
                }
                arrived += drain(&mut link, &mut around).len() as u64;
            }
            let drops = around.counts.packets_dropped;
            assert_eq!(arrived + drops, 800, "{name}: every packet is delivered or dropped once");
            assert_eq!((link.waiting(), link.waiting_bytes()), (0, 0), "{name}");
            assert_eq!(drops, link.counts().dropped_early + link.counts().overflowed, "{name}");
            assert!(drops > 0 || !name.contains("codel"), "{name}");
        }
    }
}
