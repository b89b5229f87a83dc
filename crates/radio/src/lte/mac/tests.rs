use nodeb_base::context::{Output, Surroundings};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Probability, Time};
use nodeb_net::queue::drop_tail::DropTail;
use serde_json::json;

use super::super::Lte;
use crate::cell::channel::ChannelSpec;
use crate::hsdpa::ue::Ue;
use crate::{Bearer, Radio, UserRadio};

/// Packet that leaves the bearer: time, user, number, and whether it was delivered.
type Out = (Time, usize, u64, bool);

/// Bearer of some users with its surroundings.
struct Bench {
    bearer: Box<dyn Bearer>,
    world: Surroundings,
    out: Vec<Out>,
    events: Vec<(Time, Event)>,
}

fn channel(value: serde_json::Value) -> ChannelSpec {
    serde_json::from_value(value).unwrap()
}

fn at_snr(snr_db: f64) -> ChannelSpec {
    channel(json!({ "constant": { "snr_db": snr_db } }))
}

fn keys(value: serde_json::Value) -> Lte {
    serde_json::from_value(value).unwrap()
}

impl Bench {
    fn new(params: &Lte, channels: &[ChannelSpec]) -> Self {
        let user = |(id, channel): (u64, &ChannelSpec)| UserRadio {
            id,
            ue: Ue { channel: channel.clone(), ..Ue::default() },
            ..UserRadio::default()
        };
        let users: Vec<UserRadio> = (0..).zip(channels).map(user).collect();
        Self {
            bearer: params.build(&users, &Streams::new(1, 0)).remove(0),
            world: Surroundings::with_mask(Mask::BLOCKS.or(Mask::TTIS), Time(u64::MAX)),
            out: Vec::new(),
            events: Vec::new(),
        }
    }

    fn accept(&mut self, at: Time, user: usize, packet: Packet) -> bool {
        self.run_until(at);
        let taken = self.bearer.accept(&mut self.world.at(at), user, packet);
        self.collect(at);
        taken
    }

    /// Handles all events before `end`.
    fn run_until(&mut self, end: Time) {
        while let Some(key) = self.bearer.next_wake().filter(|key| key.0 < end) {
            self.bearer.wake(&mut self.world.at(key.0), key);
            self.collect(key.0);
        }
    }

    fn collect(&mut self, now: Time) {
        self.events.extend(self.world.take_events());
        for output in self.world.common.out.drain(..) {
            match output {
                Output::Arrived { user, packet } => self.out.push((now, user, packet.id.0, true)),
                Output::Lost { user, packet, .. } => self.out.push((now, user, packet.id.0, false)),
                Output::CellChanged { .. } => {}
            }
        }
    }
}

/// Number of octets in the blocks of each TTI.
fn octets(bench: &Bench) -> Vec<(u64, u32)> {
    let sent = |(at, event): &(Time, Event)| match event {
        Event::Tti { units, .. } => Some((at.0 / 1_000_000, *units)),
        _ => None,
    };
    bench.events.iter().filter_map(sent).collect()
}

/// A packet waits for the next subframe, and has arrived at its end.
#[test]
fn latency_of_a_small_packet_is_the_wait_and_a_subframe() {
    for rlc in ["um", "am"] {
        let mut bench = Bench::new(&keys(json!({ "rlc": rlc })), &[at_snr(20.0)]);
        bench.accept(Time(300_000), 0, Packet::new(0, 100));
        bench.accept(Time(7_000_000), 0, Packet::new(1, 100));
        bench.run_until(Time(50_000_000));
        assert_eq!(bench.out, [(Time(2_000_000), 0, 0, true), (Time(8_000_000), 0, 1, true)], "{rlc}");
    }
}

/// With one control symbol MCS 28 fits 20 MHz: 75,376 bits in each subframe but 0 and 5, in which synchronization
/// signals and PBCH take resource elements.
#[test]
fn the_peak_is_that_of_the_table() {
    let params =
        keys(json!({ "control_symbols": 1, "rlc": "um", "queue": { "drop_tail": { "limit": 10_000 } } }));
    let mut bench = Bench::new(&params, &[at_snr(60.0)]);
    for number in 0..400 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(41_000_000));
    for (tti, octets) in octets(&bench) {
        let most = 75_376 / 8;
        assert!(octets <= most && octets + 4 > most || tti % 5 == 0 && octets < most, "{tti}: {octets}");
    }
    assert_eq!(params.peak_rate().0, 75_376_000);
}

/// Acknowledged mode delivers every packet once and in order over a fading channel on which many blocks are given
/// up.
#[test]
fn acknowledged_mode_delivers_everything_in_order() {
    let fading = channel(
        json!({ "fading": { "mean_snr_db": 6.0, "speed": "30 km/h", "profile": "extended_vehicular_a" } }),
    );
    let mut params = keys(json!({
        "bandwidth": "5 MHz", "max_transmissions": 1, "rlc": { "am": { "max_retransmissions": null } },
    }));
    params.nack_error = Probability(0.1);
    params.queue =
        nodeb_net::QueueSpec::DropTail(DropTail { limit: 5_000.try_into().unwrap(), ..DropTail::default() });
    let mut bench = Bench::new(&params, &[fading.clone(), fading]);
    for number in 0..2_000 {
        assert!(bench.accept(Time(number * 1_000_000), number as usize % 2, Packet::new(number, 1_400)));
    }
    bench.run_until(Time(60_000_000_000));
    let failed = bench.events.iter().filter(|(_, event)| matches!(event, Event::GivenUp { .. })).count();
    assert!(failed > 50, "{failed}");
    for user in 0..2 {
        let found: Vec<u64> =
            bench.out.iter().filter(|out| out.1 == user && out.3).map(|out| out.2).collect();
        assert_eq!(found, (0..2_000).filter(|number| *number as usize % 2 == user).collect::<Vec<_>>());
    }
    assert_eq!(bench.bearer.backlog(0).packets + bench.bearer.backlog(1).packets, 0);
    assert!(bench.bearer.next_wake().is_none());
}

/// Retransmissions of a block are 8 subframes apart or more, have its size, and a process has one block at a time.
#[test]
fn retransmissions_follow_eight_subframes_later() {
    let fading = channel(
        json!({ "fading": { "mean_snr_db": 10.0, "speed": "120 km/h", "profile": "extended_typical_urban" } }),
    );
    let params =
        keys(json!({ "bandwidth": "3 MHz", "rlc": "um", "queue": { "drop_tail": { "limit": 10_000 } } }));
    let mut bench = Bench::new(&params, &[fading.clone(), fading]);
    for number in 0..1_000 {
        bench.accept(Time(0), number as usize % 2, Packet::new(number, 1_400));
    }
    bench.run_until(Time(3_000_000_000));
    let mut last = std::collections::HashMap::new();
    let mut again = 0;
    for (at, event) in &bench.events {
        let Event::Block { user, block, units, transmission, .. } = event else { continue };
        if let Some((before, size, count)) = last.insert((user, block), (*at, *units, *transmission)) {
            assert!(at.0 >= before.0 + 8_000_000 && size == *units && count + 1 == *transmission);
            again += 1;
        }
    }
    assert!(again > 100, "{again}");
}
