use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::ue::Ue;
use nodeb_air::{Hop, UserRadio};
use nodeb_base::context::{Output, TestBench};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table::Values;
use nodeb_base::units::{Probability, Time};
use nodeb_net::queue::drop_tail::DropTail;
use serde_json::json;

use super::DownlinkMac;
use crate::Radio;
use crate::lte::Lte;
use crate::ofdma::Standard;

/// Time, user, number, and whether it was delivered.
type Out = (Time, usize, u64, bool);

struct Bench {
    bearer: Box<dyn Hop>,
    world: TestBench,
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
        let ue = |channel: &ChannelSpec| Ue { channel: channel.clone(), ..Ue::default() };
        Self::with(params, channels.iter().map(ue).collect())
    }

    fn with(params: &Lte, ues: Vec<Ue>) -> Self {
        let user = |(id, ue)| UserRadio { id, ue, ..UserRadio::default() };
        let users: Vec<UserRadio> = (0..).zip(ues).map(user).collect();
        Self {
            bearer: params.build(&users, &Streams::new(1, 0)).down.remove(0),
            world: TestBench::with_mask(
                Mask::BLOCKS.or(Mask::TTIS).or(Mask::CHANNELS).or(Mask::PDCP),
                Time(u64::MAX),
            ),
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

    fn run_until(&mut self, end: Time) {
        while let Some(instant) = self.bearer.next_wake().filter(|instant| instant.time() < end) {
            self.bearer.wake(&mut self.world.at(instant.time()), instant);
            self.collect(instant.time());
        }
    }

    fn collect(&mut self, now: Time) {
        self.events.extend(self.world.take_events());
        for output in self.world.common.out.drain(..) {
            match output {
                Output::Arrived { user, packet } => self.out.push((now, user, packet.id.0, true)),
                Output::Lost { user, packet, .. } => self.out.push((now, user, packet.id.0, false)),
                Output::CellChanged { .. } | Output::Listens { .. } => {}
            }
        }
    }
}

fn octets(bench: &Bench) -> Vec<(u64, u32)> {
    let sent = |(at, event): &(Time, Event)| match event {
        Event::Tti { units, .. } => Some((at.0 / 1_000_000, *units)),
        _ => None,
    };
    bench.events.iter().filter_map(sent).collect()
}

#[test]
fn latency_of_a_small_packet_is_the_wait_and_a_tti() {
    for rlc in ["um", "am"] {
        let mut bench = Bench::new(&keys(json!({ "rlc": rlc })), &[at_snr(20.0)]);
        bench.accept(Time(300_000), 0, Packet::new(0, 100));
        bench.accept(Time(7_000_000), 0, Packet::new(1, 100));
        bench.run_until(Time(50_000_000));
        assert_eq!(bench.out, [(Time(2_000_000), 0, 0, true), (Time(8_000_000), 0, 1, true)], "{rlc}");
    }
}

/// A packet that the queue drops gets no number.
#[test]
fn packets_are_numbered_when_their_first_part_is_sent() {
    for rlc in ["um", "am"] {
        let params = keys(json!({ "rlc": rlc, "queue": { "drop_tail": { "limit": 3 } } }));
        let mut bench = Bench::new(&params, &[at_snr(20.0)]);
        let taken = [0, 1, 2].map(|id| bench.accept(Time(300_000), 0, Packet::new(id, 100)));
        assert_eq!(taken, [true, true, false], "{rlc}");
        bench.accept(Time(7_000_000), 0, Packet::new(3, 100));
        bench.run_until(Time(50_000_000));
        let numbered = bench.events.iter().filter_map(|(at, event)| match event {
            Event::Numbered { packet, number, .. } => Some((at.0 / 1_000_000, packet.0, *number)),
            _ => None,
        });
        assert_eq!(numbered.collect::<Vec<_>>(), [(1, 0, 0), (1, 1, 1), (7, 3, 2)], "{rlc}");
    }
}

// Tests the feature: selection of blocks (standard's table)
/// With one control symbol MCS 28 fits 20 MHz: 75,376 bits, of which at most 3 octets stay unused, except in
/// TTIs 0 and 5.
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

/// 20 MHz, one control symbol, high SNR.
fn peak_octets(category: u8, layers: u8, qam256: bool) -> u32 {
    let params = keys(json!({
        "control_symbols": 1, "antenna_ports": layers, "layers": layers, "qam256": qam256, "rlc": "um",
        "cqi": { "outer_loop": { "step_db": 1.0 } }, "queue": { "drop_tail": { "limit": 10_000 } },
    }));
    let ue = Ue { category, channel: at_snr(60.0) };
    let mut bench = Bench::with(&params, vec![ue]);
    for number in 0..3_000 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(80_000_000));
    octets(&bench).into_iter().map(|(_, octets)| octets).max().unwrap()
}

/// At most seven octets of a TTI stay unused, as RLC and MAC count their headers at their longest.
#[test]
fn peaks_of_several_layers_are_two_blocks_of_the_tables() {
    for (category, layers, qam256, bits) in [
        (6, 1, false, 75_376),
        (3, 2, false, 2 * 51_024),
        (4, 2, false, 2 * 75_376),
        (11, 2, true, 2 * 97_896),
        (5, 4, false, 2 * 149_776),
        (11, 4, true, 2 * 195_816),
        (2, 4, false, 2 * 25_456),
        (1, 4, false, 10_296),
    ] {
        let octets = peak_octets(category, layers, qam256);
        let most = bits / 8;
        assert!(
            octets <= most && octets + 8 > most,
            "category {category}, {layers} layers: {octets}, {most}"
        );
    }
}

/// Four antenna ports, queues never empty.
fn cell_of_layers(layers: u8) -> Lte {
    keys(json!({
        "bandwidth": "5 MHz", "antenna_ports": 4, "layers": layers, "queue": { "drop_tail": { "limit": 100_000 } },
    }))
}

/// Octets in 2 s, and mean number of layers.
fn carried(layers: u8, mean_snr_db: f64) -> (f64, f64) {
    let fading = channel(json!({ "fading": {
        "mean_snr_db": mean_snr_db, "speed": "3 km/h", "profile": "extended_typical_urban",
    } }));
    let mut bench = Bench::new(&cell_of_layers(layers), &[fading]);
    for number in 0..20_000 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(2_000_000_000));
    let table = &bench.bearer.tables(Time(2_000_000_000))[0];
    let nodeb_base::table::Values::F64(layers) = table.column("layers").unwrap() else { panic!() };
    (bench.out.len() as f64 * 1_500.0, layers[0])
}

/// At a low SNR almost all blocks use transmit diversity.
#[test]
fn layers_multiply_the_rate_if_the_snr_is_high() {
    let (one, mean) = carried(1, 35.0);
    assert!((mean - 1.0).abs() < 1e-9);
    let (two, mean) = carried(2, 35.0);
    assert!(two > 1.8 * one && two < 2.1 * one && mean > 1.95, "{one} {two} {mean}");
    let (four, mean) = carried(4, 35.0);
    assert!(four > 1.7 * two && four < 2.1 * two && mean > 3.8, "{two} {four} {mean}");
    let (low, mean) = carried(4, -10.0);
    assert!(low > carried(1, -10.0).0 && mean < 1.1, "{low} {mean}");
    let (middle, mean) = carried(4, 8.0);
    assert!(middle > one / 3.0 && (1.1..3.5).contains(&mean), "{middle} {mean}");
}

/// The retransmission of the failed block shares a TTI with a new one.
#[test]
fn blocks_on_different_layers_have_answers_of_their_own() {
    let fading = channel(
        json!({ "fading": { "mean_snr_db": 25.0, "speed": "30 km/h", "profile": "extended_vehicular_a" } }),
    );
    for layers in [2, 3, 4] {
        let mut bench = Bench::new(&cell_of_layers(layers), &[fading.clone(), fading.clone()]);
        for number in 0..8_000 {
            bench.accept(Time(0), number as usize % 2, Packet::new(number, 1_400));
        }
        bench.run_until(Time(8_000_000_000));
        for user in 0..2 {
            let found: Vec<u64> =
                bench.out.iter().filter(|out| out.1 == user && out.3).map(|out| out.2).collect();
            assert_eq!(found, (0..8_000).filter(|number| *number as usize % 2 == user).collect::<Vec<_>>());
        }
        let mut ttis = std::collections::BTreeMap::<_, Vec<u32>>::new();
        let mut last = std::collections::HashMap::new();
        for (at, event) in &bench.events {
            let Event::Block { user, block, transmission, failed, .. } = *event else { continue };
            ttis.entry((at.0, user)).or_default().push(transmission);
            let before = last.insert((user, block), (at.0, transmission, failed));
            if let Some((before, count, failed)) = before {
                assert!(failed && at.0 >= before + 8_000_000 && transmission == count + 1);
            } else {
                assert_eq!(transmission, 1);
            }
        }
        assert!(last.values().all(|(.., failed)| !failed));
        let count = |blocks: &[u32]| ttis.values().filter(|sent| *sent == blocks).count();
        assert!(ttis.values().all(|sent| sent.len() <= 2));
        assert!(count(&[1, 1]) > 500 && count(&[2, 1]) > 50 && count(&[2, 2]) > 5, "{layers} layers");
    }
}

#[test]
fn small_packets_need_no_second_block() {
    let mut bench = Bench::new(&cell_of_layers(4), &[at_snr(40.0)]);
    for number in 0..20 {
        bench.accept(Time(number * 10_000_000), 0, Packet::new(number, 40));
    }
    bench.run_until(Time(1_000_000_000));
    let blocks = bench.events.iter().filter(|(_, event)| matches!(event, Event::Block { .. })).count();
    assert_eq!((bench.out.len(), blocks), (20, 20));
}

/// Many blocks are given up.
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

// Tests the feature: HARQ timing of the downlink (standard's table)
#[test]
fn retransmissions_follow_eight_ttis_later() {
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

// Tests the feature: selection of blocks (property)
/// Also in TTIs with synchronization signals and PBCH.
#[test]
fn nothing_waits_while_groups_are_left() {
    for bandwidth in ["1.4 MHz", "3 MHz", "5 MHz", "20 MHz"] {
        for snr_db in [-3.0, 1.0, 4.5, 8.0, 11.5, 15.0, 18.5, 30.0] {
            let params = keys(json!({ "bandwidth": bandwidth, "rlc": "um" }));
            let mut full = Bench::new(&params, &[at_snr(snr_db)]);
            for number in 0..300 {
                full.accept(Time(0), 0, Packet::new(number, 1_500));
            }
            full.run_until(Time(21_000_000));
            for (tti, size) in octets(&full).into_iter().filter(|(tti, _)| (10..20).contains(tti)) {
                // Headers of RLC, MAC and PDCP.
                let largest = size.saturating_sub(12);
                for packet in (1..=12).map(|part| largest * part / 12).filter(|size| *size >= 20) {
                    let mut bench = Bench::new(&params, &[at_snr(snr_db)]);
                    bench.accept(Time(tti * 1_000_000 - 1), 0, Packet::new(0, packet));
                    bench.run_until(Time((tti + 4) * 1_000_000));
                    let sent: Vec<u64> = octets(&bench).into_iter().map(|(tti, _)| tti).collect();
                    assert_eq!(sent, [tti], "{bandwidth}, {snr_db} dB: {packet} of {size}");
                }
            }
        }
    }
}

/// On a channel that changes faster than it is reported.
#[test]
fn error_free_blocks_are_selected_by_the_same_reports() {
    let first_and_failed = |decoding: &str| {
        let fading = channel(
            json!({ "fading": { "mean_snr_db": 10.0, "speed": "120 km/h", "profile": "extended_typical_urban" } }),
        );
        let params = keys(json!({ "bandwidth": "3 MHz", "decoding": decoding }));
        let mut bench = Bench::new(&params, &[fading]);
        for number in 0..1_000 {
            bench.accept(Time(0), 0, Packet::new(number, 1_400));
        }
        bench.run_until(Time(3_000_000_000));
        let blocks = bench.events.iter().filter_map(|(_, event)| match event {
            Event::Block { units, failed, .. } => Some((*units, *failed)),
            _ => None,
        });
        let blocks: Vec<_> = blocks.collect();
        (blocks[0].0, blocks.iter().filter(|(_, failed)| *failed).count())
    };
    let ((units, failed), (same, none)) = (first_and_failed("independent"), first_and_failed("error_free"));
    assert_eq!((units, none), (same, 0));
    assert!(failed > 100, "{failed}");
}

/// The phone sleeps after 10 ms without new blocks.
fn drx() -> serde_json::Value {
    json!({ "on_duration": "10 ms", "inactivity": "10 ms", "long_cycle": "320 ms" })
}

// Tests the feature: discontinuous reception (closed form)
/// With bursts at all phases of the cycle the mean wait is about `(cycle - on)^2 / (2 cycle)`.
#[test]
fn bursts_wait_for_the_on_duration() {
    let params = keys(json!({ "rlc": "um", "drx": drx() }));
    let mut bench = Bench::new(&params, &[at_snr(20.0)]);
    let (mut at, mut waits) = (0, Vec::new());
    for number in 0..4_000u64 {
        // Bursts are far apart, and their phases cover the cycle evenly.
        at += 1_600 + 79 * number % 320;
        bench.accept(Time(at * 1_000_000 - 1), 0, Packet::new(number, 100));
        bench.run_until(Time((at + 1_000) * 1_000_000));
        waits.push(bench.out.pop().unwrap().0.0 / 1_000_000 - at - 1);
    }
    let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
    let expected = 310.0 * 309.0 / 2.0 / 320.0;
    assert!((mean - expected).abs() < 3.0, "{mean} ms, not {expected} ms");
    assert_eq!(waits.iter().max(), Some(&310));
    let table = &bench.bearer.tables(Time(at * 1_000_000))[1];
    let nodeb_base::table::Values::F64(share) = table.column("awake_share").unwrap() else { panic!() };
    // Each burst adds at most the inactivity timer and the TTI of the block.
    let bursts = 4_000.0 * 11.0 / at as f64;
    assert!(share[0] > 10.0 / 320.0 && share[0] < 10.0 / 320.0 + bursts, "{share:?}");
}

#[test]
fn packets_of_the_phone_keep_it_awake() {
    let params = keys(json!({ "rlc": "um", "uplink": "plain", "drx": drx() }));
    let mut bench = Bench::new(&params, &[at_snr(20.0)]);
    for number in 0..50u64 {
        let at = 1_000 + number * 477;
        bench.run_until(Time(at * 1_000_000));
        bench.bearer.on_uplink(&mut bench.world.at(Time(at * 1_000_000)), 0);
        bench.accept(Time((at + 5) * 1_000_000), 0, Packet::new(number, 100));
        bench.run_until(Time((at + 400) * 1_000_000));
        assert_eq!(bench.out.pop().unwrap().0, Time((at + 6) * 1_000_000));
    }
}

// Tests the feature: discontinuous reception (independent receiver)
/// TS 36.321, 5.7, applied independently, transmission by transmission.
#[test]
fn every_transmission_meets_a_phone_that_listens() {
    let fading = channel(
        json!({ "fading": { "mean_snr_db": 8.0, "speed": "60 km/h", "profile": "extended_vehicular_a" } }),
    );
    let params = keys(json!({ "bandwidth": "3 MHz", "rlc": "um", "drx": {
        "on_duration": "4 ms", "inactivity": "4 ms", "long_cycle": "80 ms", "short_cycle": "20 ms",
    }, "queue": { "drop_tail": { "limit": 10_000 } } }));
    let mut bench = Bench::new(&params, &[fading.clone(), fading.clone(), fading]);
    for number in 0..600u64 {
        bench.accept(Time(number * 37_000_000), number as usize % 3, Packet::new(number, 3_000));
    }
    bench.run_until(Time(60_000_000_000));
    assert_eq!(bench.out.len(), 600);
    // Last new block, and windows for retransmissions, of each phone.
    let mut last = [None::<u64>; 3];
    let mut windows = [const { Vec::<u64>::new() }; 3];
    let mut again = 0;
    for (at, event) in &bench.events {
        let Event::Block { user, transmission, failed, .. } = *event else { continue };
        let (user, tti) = (user as usize, at.0 / 1_000_000);
        let offset = user as u64 * 37 % 80;
        let since = last[user].map(|last| tti - last - 1);
        let is_active = since.is_some_and(|since| since < 4);
        let cycle = if since.is_some_and(|since| since < 4 + 40) { 20 } else { 80 };
        let is_on = (tti + 80 - offset) % cycle < 4;
        let expects = windows[user].iter().any(|begin| (*begin..begin + 8).contains(&tti));
        assert!(is_active || is_on || expects, "user {user} in TTI {tti}");
        if transmission == 1 {
            last[user] = Some(tti);
        }
        again += u64::from(transmission > 1);
        if failed {
            windows[user].push(tti + 8);
        }
    }
    assert!(again > 20, "{again}");
}

/// Also if the scheduler serves others when the phone listens.
#[test]
fn no_wait_for_a_phone_is_longer_than_its_cycle() {
    let params = keys(json!({
        "bandwidth": "1.4 MHz", "users_per_tti": 1, "rlc": "um", "drx": drx(), "queue": { "drop_tail": { "limit": 1_000 } },
    }));
    let mut bench = Bench::new(&params, &vec![at_snr(3.0); 10]);
    for number in 0..1_000u64 {
        bench.accept(Time(number * 47_000_000), number as usize % 10, Packet::new(number, 1_400));
    }
    bench.run_until(Time(60_000_000_000));
    let slept = bench.events.iter().filter_map(|(_, event)| match event {
        Event::Slept { from, until, .. } => Some((until.0 - from.0) / 1_000_000),
        _ => None,
    });
    let slept: Vec<u64> = slept.collect();
    assert!(slept.len() > 10 && slept.iter().all(|ms| (1..=310).contains(ms)), "{slept:?}");
}

// Tests the feature: selection of blocks (closed form)
/// At least 37 % (1.4 MHz), 58 % (5 MHz) or 78 % (20 MHz), by the block with the fewest bytes per resource
/// block: at a low SNR, one resource block carries little more than its CRC.
#[test]
fn the_metric_is_the_rate_of_the_block() {
    for (bandwidth, least) in [("1.4 MHz", 0.37), ("5 MHz", 0.58), ("20 MHz", 0.78)] {
        for snr_db in (-5..30).map(f64::from) {
            let params = keys(json!({ "bandwidth": bandwidth, "rlc": "um" }));
            let user =
                UserRadio { ue: Ue { channel: at_snr(snr_db), ..Ue::default() }, ..UserRadio::default() };
            let users = [user];
            let streams = Streams::new(1, 0);
            let setup = params.downlink(&users, &streams, params.shared(&users));
            let mut mac = DownlinkMac::new(setup, &users, &streams);
            mac.measure(0, 21);
            let format = mac.formats[0]
                .select_by_cqis(21, mac.band.all(), 1, &mac.users[0].report.cqis, 1.0, u32::MAX)
                .unwrap();
            let ratio = f64::from(mac.caches.by_user[0].rate) * 8.0 / f64::from(format.bits);
            assert!((least..=1.0).contains(&ratio), "{bandwidth}, {snr_db} dB: {ratio}");
        }
    }
}

// Tests the feature: set-up of connections (worked example)
/// Paging occasion, set-up and one TTI; a packet of the phone begins the set-up at once.
#[test]
fn packets_to_an_idle_phone_wait_for_its_connection() {
    let params = keys(json!({ "rlc": "um", "rrc": { "inactivity": "1 s" } }));
    let mut bench = Bench::new(&params, &[at_snr(20.0)]);
    let at = |ms: u64| Time(ms * 1_000_000 - 1);
    bench.accept(at(20), 0, Packet::new(0, 100));
    // The occasion is in TTI 1289, the preamble in 1291, and the connection 83 TTIs later.
    bench.run_until(at(2_000));
    assert_eq!(bench.out.pop().unwrap().0, Time(1_375_000_000));
    // The phone is connected until TTI 2375.
    bench.accept(at(2_300), 0, Packet::new(1, 100));
    bench.run_until(at(5_000));
    assert_eq!(bench.out.pop().unwrap().0, Time(2_301_000_000));
    bench.accept(at(5_000), 0, Packet::new(2, 100));
    bench.bearer.on_uplink(&mut bench.world.at(at(5_010)), 0);
    bench.run_until(at(6_000));
    assert_eq!(bench.out.pop().unwrap().0, Time((5_011 + 83 + 1) * 1_000_000));
    let waits = bench.events.iter().filter_map(|(_, event)| match event {
        Event::Promoted { from, until, .. } => Some((from.0 / 1_000_000, until.0 / 1_000_000)),
        _ => None,
    });
    assert_eq!(waits.collect::<Vec<_>>(), [(20, 1_374), (5_000, 5_094)]);
}

/// Until the inactivity timer, then in on-durations until the release; counted here one by one.
#[test]
fn phone_that_is_not_connected_is_not_awake() {
    let params = keys(json!({ "rlc": "um", "drx": drx(), "rrc": { "inactivity": "1 s" } }));
    let at = |ms: u64| Time(ms * 1_000_000 - 1);
    // The first TTI of each connection. A block is sent in it, and the connection is released one second
    // after the block.
    let connected = [1_374, 5_094];
    let is_on =
        |tti: u64| connected.iter().any(|since| (*since..=since + 10).contains(&tti)) || tti % 320 < 10;
    let awake = |end: u64| {
        let listens =
            |tti: &u64| connected.iter().any(|since| (*since..since + 1_001).contains(tti)) && is_on(*tti);
        (0..end).filter(listens).count() as f64 * 1e-3
    };
    for end in [1_000, 1_380, 3_000, 5_050, 5_600, 10_000] {
        let mut bench = Bench::new(&params, &[at_snr(20.0)]);
        bench.accept(at(20), 0, Packet::new(0, 100));
        if end > 5_000 {
            bench.run_until(at(5_000));
            bench.accept(at(5_000), 0, Packet::new(1, 100));
            // A packet of the phone, which need not wait for its paging occasion, brings the connection forward.
            bench.bearer.on_uplink(&mut bench.world.at(at(5_010)), 0);
        }
        bench.run_until(at(end));
        let table = &bench.bearer.tables(Time(end * 1_000_000))[1];
        let nodeb_base::table::Values::F64(found) = table.column("awake_s").unwrap() else { panic!() };
        assert!((found[0] - awake(end)).abs() < 1e-9, "by {end} ms: {found:?}, expected {}", awake(end));
    }
}

// Tests the feature: unacknowledged mode (property)
/// With 5 bits, a PDU after one with a number higher by 16 or more is discarded (TS 36.322, 5.1.2.2.2), which
/// HARQ without a limit delivers; 10 bits lose nothing here.
#[test]
fn unacknowledged_mode_loses_only_what_arrives_behind_its_window() {
    let lost = |sn_length: &str| {
        let params = keys(json!({
            "bandwidth": "1.4 MHz", "ack_error": 0.3, "queue": { "drop_tail": { "limit": 10_000 } },
            "rlc": { "um": { "sn_length": sn_length, "t_reordering": "10 s" } },
        }));
        let fading = json!({ "mean_snr_db": 5.0, "speed": "60 km/h", "profile": "extended_vehicular_a" });
        let mut bench = Bench::new(&params, &[channel(json!({ "fading": fading }))]);
        for number in 0..2_000 {
            bench.accept(Time(0), 0, Packet::new(number, 400));
        }
        bench.run_until(Time(100_000_000_000));
        let (mut carried, mut arrived, mut highest) = (Vec::new(), Vec::new(), 0);
        let mut behind = Vec::new();
        for (_, event) in &bench.events {
            match *event {
                Event::Carries { block, part, .. } => carried.push((block, part.packet.0)),
                Event::Block { block, failed: false, .. } if !arrived.contains(&block) => {
                    arrived.push(block);
                    highest = highest.max(block);
                    if highest - block >= 16 {
                        behind.push(block);
                    }
                }
                _ => {}
            }
        }
        let of_behind = carried.iter().filter(|(block, _)| behind.contains(block));
        let expected: std::collections::BTreeSet<u64> = of_behind.map(|(_, packet)| *packet).collect();
        let lost: std::collections::BTreeSet<u64> =
            bench.out.iter().filter(|out| !out.3).map(|out| out.2).collect();
        (lost, expected)
    };
    let (short, expected) = lost("5 bit");
    assert_eq!(short, expected);
    assert!(!short.is_empty());
    assert!(lost("10 bit").0.is_empty());
}

/// And its mean SNR in dB.
fn last_block(bench: &mut Bench, user: usize) -> (u64, f64) {
    let of_user = |(at, event): &(Time, Event)| match event {
        Event::Tti { user: other, .. } if *other as usize == user => Some(at.0 / 1_000_000),
        _ => None,
    };
    let last = bench.events.iter().filter_map(of_user).max().unwrap();
    let phones = bench.bearer.tables(Time(0)).remove(0);
    let Some(Values::F64(snrs)) = phones.column("snr_db") else { panic!("no SNRs") };
    (last, snrs[user])
}

/// Many blocks need several transmissions; the other user then has the whole band.
#[test]
fn no_block_follows_the_end_of_a_recording() {
    for drx in [None, Some(json!({ "on_duration": "10 ms", "long_cycle": "20 ms", "inactivity": "1 ms" }))] {
        let mut values = json!({ "rlc": "um", "cqi": { "delay": "1 ms", "cycle": "1 ms" } });
        if let Some(drx) = drx {
            values["drx"] = drx;
        }
        let snrs: Vec<f64> = (0..40).map(|tti| if tti % 3 == 0 { 2.0 } else { 12.0 }).collect();
        let recorded = || channel(json!({ "trace": { "snrs_db": snrs, "at_end": "stop" } }));
        let mut both = Bench::new(&keys(values.clone()), &[recorded(), at_snr(10.0)]);
        let mut alone = Bench::new(&keys(values), &[recorded()]);
        for number in 0..200 {
            alone.accept(Time(0), 0, Packet::new(number, 1_500));
            both.accept(Time(0), (number % 2) as usize, Packet::new(number, 1_500));
        }
        both.run_until(Time(200_000_000));
        alone.run_until(Time(1_000_000_000));
        let failed = both.world.counts.blocks_failed;
        assert!(failed > 5, "{failed} failed");
        let (last, snr_db) = last_block(&mut both, 0);
        assert!((30..40).contains(&last) && (1.0..13.0).contains(&snr_db), "TTI {last}, {snr_db} dB");
        assert!(last_block(&mut both, 1).0 > 45);
        let (last, snr_db) = last_block(&mut alone, 0);
        assert!((30..40).contains(&last) && (1.0..13.0).contains(&snr_db), "TTI {last}, {snr_db} dB");
        assert!(alone.bearer.next_wake().is_none(), "nothing is due without a channel");
        assert!(alone.accept(Time(2_000_000_000), 0, Packet::new(200, 1_500)), "packets wait");
        assert!(alone.bearer.next_wake().is_none());
    }
}

/// Octets per TTI and share of failed first transmissions.
fn saturated(cqi: &serde_json::Value, channel: &ChannelSpec, ttis: u64) -> (f64, f64) {
    let params = keys(json!({
        "bandwidth": "1.4 MHz", "rlc": "um", "cqi": cqi, "queue": { "drop_tail": { "limit": 100 } },
    }));
    let mut bench = Bench::new(&params, std::slice::from_ref(channel));
    for tti in 0..ttis {
        let at = Time(tti * 1_000_000);
        while bench.bearer.backlog(0).packets < 20 {
            bench.accept(at, 0, Packet::new(0, 1_500));
        }
        bench.run_until(Time(at.0 + 1_000_000));
        bench.events.clear();
    }
    let phones = bench.bearer.tables(Time(ttis * 1_000_000)).remove(0);
    let value = |name: &str| match phones.column(name) {
        Some(Values::F64(values)) => values[0],
        Some(Values::U64(values)) => values[0] as f64,
        _ => panic!("no {name}"),
    };
    (value("bytes_delivered") / ttis as f64, value("first_bler"))
}

/// On a constant channel reports alone fail at most at 10 %, so a loop costs at most the TTIs of
/// retransmissions: a share p / (1 + p). Blocks under way must not be corrected for one by one.
#[test]
fn an_outer_loop_costs_no_more_than_its_failures() {
    for snr_db in [0.5, 2.5, 5.0, 9.0] {
        let (alone, _) = saturated(&json!({}), &at_snr(snr_db), 8_000);
        let (with_loop, bler) = saturated(&json!({ "outer_loop": {} }), &at_snr(snr_db), 8_000);
        assert!((bler - 0.1).abs() < 0.01, "{snr_db} dB: {bler}");
        assert!(with_loop > 0.97 * alone / 1.1, "{snr_db} dB: {with_loop}, without the loop {alone}");
    }
}

/// Rayleigh fading at 120 km/h: blocks `c` dB smaller than reported fail at 1 / (1 + 10^(c / 10)): 20 % at 6
/// dB, 9 % at 10 dB, 1 % at 20 dB. As reports are rounded down, a limit of 6 dB acts like up to 10 dB.
#[test]
fn an_outer_loop_meets_its_target_within_its_limit() {
    let fading = channel(json!({ "fading": { "mean_snr_db": 18.0, "speed": "120 km/h" } }));
    let cqi = |target: f64, limit: f64| json!({ "outer_loop": { "target_bler": target, "step_db": 2.0, "limit_db": limit } });
    for (target, within) in [(0.02, 0.006), (0.05, 0.006), (0.1, 0.008)] {
        let (_, bler) = saturated(&cqi(target, 20.0), &fading, 30_000);
        assert!((bler - target).abs() < within, "{target}: {bler}");
        let (_, limited) = saturated(&cqi(target, 6.0), &fading, 10_000);
        assert!((0.09..0.2).contains(&limited), "{target}: {limited}");
    }
}

fn recorded(key: &str, values: &serde_json::Value) -> ChannelSpec {
    channel(json!({ "trace": { key: values, "at_end": "stop" } }))
}

fn octets_of_saturated(params: &Lte, channels: &[ChannelSpec], ttis: u64) -> Vec<u32> {
    let mut bench = Bench::new(params, channels);
    for user in 0..channels.len() {
        for number in 0..2_000 {
            bench.accept(Time(0), user, Packet::new(number, 1_500));
        }
    }
    bench.run_until(Time(ttis * 1_000_000));
    assert!(bench.events.iter().all(|(_, event)| !matches!(event, Event::Block { failed: true, .. })));
    let mut sums = vec![0; ttis as usize];
    for (tti, octets) in octets(&bench) {
        sums[tti as usize] += octets;
    }
    sums
}

/// From 8 to 24 Mbit/s: 1,000 and later 3,000 octets, of which at most four of each block stay unused; 0
/// after the end.
#[test]
fn recorded_rates_determine_the_octets_of_a_tti() {
    let rates: Vec<_> = (0..40).map(|tti| ["8 Mbps", "24 Mbps", "0 bps", "8 Mbps"][tti / 10]).collect();
    for (users, rlc) in [(1, "um"), (1, "am"), (2, "um"), (3, "am")] {
        let params = keys(json!({ "bandwidth": "10 MHz", "rlc": rlc,
            "queue": { "drop_tail": { "limit": 10_000 } } }));
        let sent = octets_of_saturated(&params, &vec![recorded("rates", &json!(rates)); users], 50);
        let expected = (0..50).map(|tti| [1_000, 3_000, 0, 1_000, 0][tti / 10]);
        for (tti, (octets, all)) in sent.iter().zip(expected).enumerate() {
            let unused = 4 * users as u32;
            assert!(*octets <= all && octets + unused >= all, "{users}, {rlc}, {tti}: {octets}, {all}");
        }
    }
}

#[test]
fn recorded_rates_exceed_those_of_the_tables() {
    let params = keys(json!({ "rlc": "um", "queue": { "drop_tail": { "limit": 10_000 } } }));
    let sent = octets_of_saturated(&params, &[recorded("rates", &json!(["1 Gbps", "1 Gbps", "1 Gbps"]))], 3);
    assert!(sent[1..].iter().all(|octets| (124_990..=125_000).contains(octets)), "{sent:?}");
}

/// Eight TTIs later, with reports in every TTI.
#[test]
fn recorded_cqis_are_reported() {
    let params = keys(json!({ "cqi": { "cycle": "1 ms" } }));
    let cqis: Vec<u8> = (0..16).chain((0..16).rev()).collect();
    let mut bench = Bench::new(&params, &[recorded("cqi", &json!(cqis))]);
    for tti in 0..40u64 {
        let now = Time(tti * 1_000_000 + 500_000);
        bench.run_until(now);
        let cqi = bench.bearer.cqi(&mut bench.world.at(now), 0).unwrap();
        let at = tti.saturating_sub(8) as usize;
        assert!((cqi - f32::from(cqis[at])).abs() < f32::EPSILON, "{tti}: {cqi}");
    }
}

/// The SNR in the middle of the CQI's interval.
#[test]
fn a_recorded_cqi_has_the_rate_of_its_snr() {
    let params = keys(json!({ "rlc": "um", "queue": { "drop_tail": { "limit": 10_000 } } }));
    let sent = |channel: ChannelSpec| {
        let mut bench = Bench::new(&params, &[channel]);
        for number in 0..2_000 {
            bench.accept(Time(0), 0, Packet::new(number, 1_500));
        }
        bench.run_until(Time(200_000_000));
        octets(&bench).into_iter().map(|(_, octets)| octets).sum::<u32>()
    };
    for (cqi, snr_db) in [(4, -0.2), (9, 9.2), (15, 20.5)] {
        let looped = channel(json!({ "trace": { "cqi": [cqi], "at_end": "loop" } }));
        let [recorded, constant] = [sent(looped), sent(at_snr(snr_db))].map(f64::from);
        assert!((recorded / constant - 1.0).abs() < 0.02, "{cqi}: {recorded}, {constant}");
    }
}
