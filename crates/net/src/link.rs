//! Store-and-forward link with a constant rate: a packet arrives `8 size / rate + delay` after the start of
//! its transmission.
//!
//! A packet that finds the link idle takes one event, its arrival. Only waiting packets need a second
//! event, at the end of the transmission before theirs.

use nodeb_base::context::Context;
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Rate, Time};

use super::chain::{Chain, PlainLink};
use super::ingress::{Ingress, LinkCounts};
use super::outage::Outages;
use super::propagation::Propagation;
use super::transmitter::Transmitter;

#[derive(Debug)]
pub struct Link {
    transmitter: Transmitter,
    delay: Duration,
    ingress: Ingress,
    has_waiting: bool,
    /// Whether packets that find the link idle pass through the queue too, because its discipline
    /// must see all packets.
    queues_all: bool,
    propagation: Propagation,
    outages: Outages,
    bytes: u64,
}

impl Link {
    pub fn new(rate: Rate, delay: Duration, ingress: Ingress, propagation: Propagation) -> Self {
        Self {
            transmitter: Transmitter::new(rate),
            delay,
            queues_all: ingress.sees_every_packet(),
            ingress,
            has_waiting: false,
            propagation,
            outages: Outages::default(),
            bytes: 0,
        }
    }

    /// Of this link, before its first packet; `None` if its queue is not drop-tail, or if it has jitter, reordering
    /// or outages.
    pub fn chain(&mut self) -> Option<Chain> {
        if !self.propagation.is_plain() || !self.outages.is_empty() {
            return None;
        }
        let (loss, limits) = self.ingress.plain()?;
        Some(Chain::of(PlainLink::new(self.transmitter.clone(), self.delay, loss, limits)))
    }

    #[must_use]
    pub fn with_outages(self, outages: Outages) -> Self {
        Self { outages, ..self }
    }

    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        if !self.ingress.admit(ctx, &packet) {
            return false;
        }
        let idle = self.transmitter.free_at() <= ctx.now && !self.has_waiting;
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

    #[inline]
    fn transmit(&mut self, ctx: &mut Context, packet: Packet) {
        let start = self.outages.next_start(ctx.now);
        let sent = self.transmitter.occupy(start, packet.size);
        let arrives = sent + self.delay;
        self.bytes += u64::from(packet.size);
        if ctx.wants(Mask::SERVICE) {
            let (place, packet) = (ctx.place, packet.id);
            ctx.emit(Event::Served { place, channel: 0, packet, from: start, sent, arrives });
        }
        self.propagation.depart(sent, self.delay, packet);
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        let arrival = self.propagation.next().map(|at| Instant::new(at, Phase::Arrival));
        if !self.has_waiting {
            return arrival;
        }
        let sent = Instant::new(self.transmitter.free_at(), Phase::Sent);
        Some(arrival.map_or(sent, |arrival| arrival.min(sent)))
    }

    #[inline]
    pub fn wake(&mut self, ctx: &mut Context, instant: Instant) {
        if instant.is(Phase::Sent) {
            self.send_next(ctx);
        } else if let Some(packet) = self.propagation.arrive() {
            ctx.deliver(0, packet);
        }
    }

    /// Without the packet that is being transmitted.
    pub fn waiting(&self) -> usize {
        self.ingress.waiting()
    }

    /// Without the packet that is being transmitted.
    pub fn waiting_bytes(&self) -> u64 {
        self.ingress.waiting_bytes()
    }

    pub fn counts(&self) -> LinkCounts {
        self.ingress.counts(self.bytes)
    }

    /// Number of bytes that a transmitter that never pauses could have transmitted until `now`.
    pub fn offered_by(&self, now: Time) -> f64 {
        self.transmitter.offered_by(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::queue::drop_tail::{DropTail, Fifo};
    use crate::{LossSetting, Path, QueueSpec};
    use nodeb_base::context::{Output, TestBench};
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

    fn drain(link: &mut Link, around: &mut TestBench) -> Vec<(Time, u64)> {
        let mut arrived = Vec::new();
        while let Some(instant) = link.next_wake() {
            let at = instant.time();
            link.wake(&mut around.at(at), instant);
            arrived.extend(around.take_arrivals().into_iter().map(|(_, packet)| (at, packet.id.0)));
        }
        arrived
    }

    #[test]
    fn an_outage_completes_the_current_transmission_and_delays_the_rest() {
        let outage = r#"[{"start": "20 ms", "length": "1 s"}]"#;
        let outages = Outages::new(serde_json::from_str(outage).unwrap());
        let mut link = link(384_000, 100, Loss::Never).with_outages(outages);
        let mut around = TestBench::default();
        for seq in 0..3 {
            assert!(link.accept(&mut around.at(Time::ZERO), packet(1500, seq)));
        }
        let ms = |t: f64| Time((t * 1e6) as u64);
        assert_eq!(drain(&mut link, &mut around), [(ms(41.25), 0), (ms(1_061.25), 1), (ms(1_092.5), 2)]);
    }

    #[test]
    fn packets_are_stored_and_forwarded_in_order() {
        let (mut link, mut around) = (link(384_000, 100, Loss::Never), TestBench::default());
        for seq in 0..3 {
            assert!(link.accept(&mut around.at(Time::ZERO), packet(1500, seq)));
        }
        let ms = |t: f64| Time((t * 1e6) as u64);
        assert_eq!(drain(&mut link, &mut around), [(ms(41.25), 0), (ms(72.5), 1), (ms(103.75), 2)]);
    }

    #[test]
    fn fractions_of_a_nanosecond_do_not_accumulate_as_drift() {
        // The transmission of 40 bytes at 384 kbit/s takes 833 333 1/3 ns.
        let (mut link, mut around) = (link(384_000, 4_000, Loss::Never), TestBench::default());
        for seq in 0..3_000 {
            link.accept(&mut around.at(Time::ZERO), packet(40, seq));
        }
        assert_eq!(drain(&mut link, &mut around)[2_999].0, Time(2_500_000_000 + 10_000_000));
    }

    #[test]
    fn a_full_queue_drops_arriving_packets() {
        let (mut link, mut around) = (link(384_000, 3, Loss::Never), TestBench::default());
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
        let mut around = TestBench::default();
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

    /// A link or a chain.
    trait Play {
        fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool;
        fn next_wake(&self) -> Option<Instant>;
        fn wake(&mut self, ctx: &mut Context, instant: Instant);
        fn counts(&mut self, ctx: &mut Context) -> LinkCounts;
    }

    impl Play for Link {
        fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
            Self::accept(self, ctx, packet)
        }

        fn next_wake(&self) -> Option<Instant> {
            Self::next_wake(self)
        }

        fn wake(&mut self, ctx: &mut Context, instant: Instant) {
            Self::wake(self, ctx, instant);
        }

        fn counts(&mut self, _: &mut Context) -> LinkCounts {
            Self::counts(self)
        }
    }

    impl Play for Chain {
        fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
            Self::accept(self, ctx, 0, packet)
        }

        fn next_wake(&self) -> Option<Instant> {
            Self::next_wake(self)
        }

        fn wake(&mut self, ctx: &mut Context, _: Instant) {
            Self::wake(self, ctx);
        }

        fn counts(&mut self, ctx: &mut Context) -> LinkCounts {
            self.apply_deferred(ctx);
            Self::counts(self)[0]
        }
    }

    /// `packets`: time in ns since the previous packet, and size in bytes.
    fn play(mut link: impl Play, packets: &[(u64, u32)], end: Time) -> String {
        let (mut around, mut outputs, mut now) = (TestBench::default(), Vec::new(), 0);
        for (seq, &(wait, size)) in (0..).zip(packets) {
            now += wait;
            if Time(now) > end {
                break;
            }
            let until = Instant::new(Time(now), Phase::Timer);
            while let Some(instant) = link.next_wake().filter(|instant| *instant <= until) {
                link.wake(&mut around.at(instant.time()), instant);
            }
            link.accept(&mut around.at(Time(now)), packet(size, seq));
            outputs.extend(around.common.out.drain(..).map(|output| (now, output)));
        }
        let until = Instant::new(end, Phase::End);
        while let Some(instant) = link.next_wake().filter(|instant| *instant <= until) {
            link.wake(&mut around.at(instant.time()), instant);
            outputs.extend(around.common.out.drain(..).map(|output| (instant.time().0, output)));
        }
        let counts = link.counts(&mut around.at(end));
        format!("{outputs:?} {counts:?}")
    }

    proptest! {
        #[test]
        fn a_chain_has_the_results_of_its_link(
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
            let chain = new().chain().unwrap();
            let end = Time(end);
            prop_assert_eq!(play(chain, &packets, end), play(new(), &packets, end));
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
            let (mut around, mut arrived) = (TestBench::default(), 0);
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
