//! A store-and-forward link: `delivered = start of sending + 8 size / rate + delay`.
//!
//! The end of a transmission is kept as a fraction of a nanosecond, so that a long busy period
//! does not drift. A packet that finds the link idle costs one event, its arrival; only packets
//! that wait need another when the link falls free.

use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

use super::foresight::{Foresight, Unhappened};
use super::ingress::{Ingress, LinkCounts};
use super::outage::Outages;
use super::propagation::Propagation;

/// How long a packet takes: whole nanoseconds, and what is left over in units of 1 / rate.
#[derive(Clone, Copy, Debug, Default)]
struct Airtime {
    bytes: u32,
    whole: Duration,
    remainder: u64,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    rate_bps: u64,
    delay: Duration,
    ingress: Ingress,
    /// Whether packets wait in it.
    waits: bool,
    /// Whether packets that find the link idle pass through the queue too.
    watched: bool,
    /// End of the transmission under way, and what is left over of its last nanosecond in units
    /// of 1 / rate.
    free_at: Time,
    remainder: u64,
    /// When waiting packets go on, drawn when the transmission under way began.
    resume: Key,
    airtime: Airtime,
    propagation: Propagation,
    outages: Outages,
    /// Bytes sent.
    bytes: u64,
    /// Where arrivals are known ahead of time.
    foresight: Option<Foresight>,
}

impl Link {
    /// An idle link.
    pub fn new(rate: Rate, delay: Duration, ingress: Ingress, propagation: Propagation) -> Self {
        Self {
            rate_bps: rate.0,
            delay,
            watched: ingress.sees_every_packet(),
            ingress,
            waits: false,
            free_at: Time::ZERO,
            remainder: 0,
            resume: Key::default(),
            airtime: Airtime::default(),
            propagation,
            outages: Outages::default(),
            bytes: 0,
            foresight: None,
        }
    }

    /// Lets packets [`Self::enter`] ahead of time from now on. Returns false where that is not possible: the queue
    /// drops or sends otherwise than first in, first out; packets arrive late or overtake; transmission pauses.
    ///
    /// What waits is not told then, nor when packets begin to be sent, nor losses in order of time: it is for runs
    /// in which no one asks.
    pub fn foresee(&mut self) -> bool {
        if self.foresight.is_none() && self.propagation.is_plain() && self.outages.is_empty() {
            self.foresight = self.ingress.limits().map(Foresight::new);
        }
        self.is_foreseen()
    }

    /// Returns true if packets [`Self::enter`] ahead of time.
    #[inline]
    pub fn is_foreseen(&self) -> bool {
        self.foresight.is_some()
    }

    /// Takes a packet that enters under `entry`, which is now or later, but not before the one ahead of it. Returns
    /// the key of its arrival; `None` if it is lost.
    ///
    /// # Panics
    /// Unless [`Self::foresee`] has returned true.
    pub fn enter(&mut self, ctx: &mut Context, packet: &Packet, entry: Key) -> Option<Key> {
        let foresight = self.foresight.as_mut().expect("a link with foresight");
        let now = ctx.handled();
        foresight.advance(entry, now, &mut ctx.stamps);
        if !self.ingress.admit(ctx, packet) {
            foresight.lose(entry, Cause::LinkLoss, now);
            return None;
        }
        let is_idle = self.free_at <= entry.0 && !foresight.has_waiting();
        let begin = if is_idle { entry } else { self.resume };
        if !is_idle && !foresight.has_room(packet.size) {
            self.ingress.refuse(ctx, packet);
            foresight.lose(entry, Cause::Overflow, now);
            return None;
        }
        foresight.pass(entry, begin, packet.size, now);
        ctx.counts.packets_in += 1;
        self.occupy(begin.0, packet.size);
        let arrival = ctx.stamps.key_decided(begin.0, self.free_at + self.delay);
        self.resume = ctx.stamps.key_decided(begin.0, self.free_at);
        Some(arrival)
    }

    /// Delivers a packet under a key that [`Self::enter`] has returned. Returns true if it is the next to arrive.
    #[inline]
    pub fn deliver(&mut self, arrival: Key, packet: Packet) -> bool {
        self.propagation.depart_under(arrival, packet)
    }

    /// Ends foresight: takes back what has been counted and has not happened under `end` or before, and returns it.
    pub fn settle(&mut self, end: Key) -> Unhappened {
        let Some(foresight) = self.foresight.take() else {
            return Unhappened::default();
        };
        let unhappened = foresight.settle(end);
        self.bytes -= unhappened.bytes;
        self.ingress.take_back(unhappened);
        unhappened
    }

    /// The link that begins no transmission during `outages`.
    #[must_use]
    pub fn with_outages(self, outages: Outages) -> Self {
        Self { outages, ..self }
    }

    /// Hands a packet to the link; `false` means that it is lost.
    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        if !self.ingress.admit(ctx, &packet) {
            return false;
        }
        // A packet that arrives just when the link falls free still queues behind those waiting.
        let idle = self.free_at <= ctx.now && !self.waits;
        if !idle || self.watched {
            if !self.ingress.push(ctx, &packet) {
                return false;
            }
            self.waits = true;
            if idle {
                self.send_next(ctx);
            }
        } else {
            ctx.take(&packet);
            self.transmit(ctx, packet);
        }
        true
    }

    #[inline]
    fn send_next(&mut self, ctx: &mut Context) {
        let packet = self.ingress.pop(ctx);
        self.waits = !self.ingress.is_empty();
        if let Some(packet) = packet {
            self.transmit(ctx, packet);
        }
    }

    /// How long a packet of `bytes` takes; divided anew only where the size is another than before.
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
        self.propagation.depart(self.free_at + self.delay, packet, &mut ctx.stamps);
        self.resume = ctx.key(self.free_at);
    }

    /// Sends `bytes` from `start` on.
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

    /// When [`Self::wake`] must be called next.
    pub fn next_wake(&self) -> Option<Key> {
        let arrival = self.propagation.next();
        if self.waits { Some(arrival.map_or(self.resume, |key| key.min(self.resume))) } else { arrival }
    }

    /// Does what is due under `key`; the packet that has come through, if one has.
    pub fn wake(&mut self, ctx: &mut Context, key: Key) -> Option<Packet> {
        let arrived = self.propagation.arrive(key);
        if let Some(packet) = &arrived {
            ctx.pass(packet);
        }
        if self.foresight.is_some() {
            return arrived;
        }
        // Without a delay the link falls free just when the packet arrives: one event for both.
        let resumes = key == self.resume || (key.0 == self.resume.0 && key.1.is_just_before(self.resume.1));
        if resumes {
            self.send_next(ctx);
        }
        arrived
    }

    /// Packets waiting, the one in service not counted.
    pub fn waiting(&self) -> usize {
        self.ingress.waiting()
    }

    /// Bytes waiting, the packet in service not counted.
    pub fn waiting_bytes(&self) -> u64 {
        self.ingress.waiting_bytes()
    }

    /// What the link has done.
    pub fn counts(&self) -> LinkCounts {
        self.ingress.counts(self.bytes)
    }

    /// Bytes that could have gone up to `now` at its rate, outages or not.
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
        while let Some(key) = link.next_wake() {
            arrived.extend(link.wake(&mut around.at(key.0), key).map(|packet| (key.0, packet.id.0)));
        }
        arrived
    }

    #[test]
    fn an_outage_completes_what_is_sent_and_lets_the_rest_wait() {
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
    fn a_busy_period_does_not_drift() {
        // 40 B at 384 kb/s last 833 333 ns and a third.
        let (mut link, mut around) = (link(384_000, 4_000, Loss::Never), Surroundings::default());
        for seq in 0..3_000 {
            link.accept(&mut around.at(Time::ZERO), packet(40, seq));
        }
        assert_eq!(drain(&mut link, &mut around)[2_999].0, Time(2_500_000_000 + 10_000_000));
    }

    #[test]
    fn a_full_queue_drops_the_newcomer() {
        let (mut link, mut around) = (link(384_000, 3, Loss::Never), Surroundings::default());
        let taken: Vec<_> =
            (0..5).map(|seq| link.accept(&mut around.at(Time::ZERO), packet(1500, seq))).collect();
        // One in service, two waiting would fill the limit of 3: the third to wait is dropped.
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

    /// Plays packets that come at these times through a link until `end`: arrivals, losses, and what was counted.
    fn play(mut link: Link, packets: &[(u64, u32)], end: Time) -> String {
        let (mut around, mut arrived, mut now) = (Surroundings::default(), Vec::new(), 0);
        let mut wake = |link: &mut Link, around: &mut Surroundings, until: Time| {
            while let Some(key) = link.next_wake().filter(|key| key.0 <= until) {
                around.common.advance(key);
                let mut ctx = around.at(key.0);
                arrived.extend(link.wake(&mut ctx, key).map(|packet| (key.0, packet.id.0)));
            }
        };
        for (seq, &(wait, size)) in (0..).zip(packets) {
            now += wait;
            if Time(now) > end {
                break;
            }
            wake(&mut link, &mut around, Time(now));
            let mut ctx = around.at(Time(now));
            ctx.common.advance((Time(now), nodeb_base::engine::Stamp::LAST));
            let (entry, packet) = (ctx.handled(), packet(size, seq));
            if link.foresight.is_none() {
                link.accept(&mut ctx, packet);
            } else if let Some(arrival) = link.enter(&mut ctx, &packet, entry) {
                link.deliver(arrival, packet);
            }
        }
        wake(&mut link, &mut around, end);
        let unhappened = link.settle((end, nodeb_base::engine::Stamp::LAST));
        assert_eq!(unhappened.lost + unhappened.overflowed + unhappened.taken, 0, "all packets came in time");
        format!("{arrived:?} {:?} {:?}", around.common.out, link.counts())
    }

    proptest! {
        /// Arrivals that are known when packets enter are those of the link that takes one step after the other.
        #[test]
        fn foresight_changes_nothing(
            packets in prop::collection::vec((0u64..3, 1u32..4), 1..60),
            limit in 1u32..6,
            rate_gbps in 1u64..20,
            end in 0u64..200,
        ) {
            // Times are a few multiples of 8 ns, so that arrivals and ends of transmissions often coincide.
            let packets: Vec<_> = packets.into_iter().map(|(wait, size)| (8 * wait, size)).collect();
            let queue = DropTail { limit: limit.try_into().unwrap(), limit_bytes: None };
            let new = || {
                let ingress = Ingress::new(Loss::listed(vec![5, 17]), Box::new(Fifo::new(&queue)));
                Link::new(Rate(rate_gbps * 1_000_000_000), Duration(16), ingress, Propagation::default())
            };
            let mut ahead = new();
            prop_assert!(ahead.foresee());
            let end = Time(end);
            prop_assert_eq!(play(ahead, &packets, end), play(new(), &packets, end));
        }
    }

    /// Every discipline keeps a link going whatever it drops, also where the queue falls empty on
    /// the way to the next packet, with a delay or without.
    #[test]
    fn a_link_goes_on_when_its_queue_drops_what_waited() {
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
            assert_eq!(arrived + drops, 800, "{name}: every packet comes back once");
            assert_eq!((link.waiting(), link.waiting_bytes()), (0, 0), "{name}");
            assert_eq!(drops, link.counts().dropped_early + link.counts().overflowed, "{name}");
            assert!(drops > 0 || !name.contains("codel"), "{name}");
        }
    }
}
