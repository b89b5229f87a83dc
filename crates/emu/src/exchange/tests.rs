use std::collections::HashMap;

use nodeb_base::table::{Table, Values};
use nodeb_base::units::Duration;
use nodeb_sim::scenario;
use proptest::prelude::*;

use super::*;
use crate::recording::Reader;
use crate::replay::replay;
use crate::report::CAUSES;

const MTU: usize = 1_500;

fn read(text: &str) -> Scenario {
    scenario::from_toml(text, "exchange.toml", &[]).unwrap()
}

/// Users 0 and 2 are real phones, user 1 is simulated.
fn cell(radio: &str) -> Scenario {
    read(&format!(
        "duration = '60 s'\n{radio}\n[wired]\ndelay = '10 ms'\nloss = 0.02\n[[users]]\nname = 'one'\n\
         traffic = 'external'\n[[users]]\nname = 'simulated'\ntraffic = {{ ftp = {{ size = '50 kB' }} }}\n\
         [[users]]\nname = 'two'\ntraffic = 'external'\n"
    ))
}

fn phones() -> Vec<Phone> {
    let phone = |user, last| Phone { user, addresses: vec![IpAddr::from([10, 64, 0, last])] };
    vec![phone(0, 2), phone(2, 3)]
}

/// UDP, with `payload` instead of header and data; the checksum is 0, as [`Exchange`] never verifies it.
fn packet(to: [u8; 4], ecn: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, ecn, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 64, 0, 1];
    packet.extend(to);
    packet.extend(payload);
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet
}

fn accept(exchange: &mut Exchange, now: Time, from: End, packet: &[u8]) {
    let slot = exchange.slot().unwrap();
    exchange.bytes_mut(slot)[..packet.len()].copy_from_slice(packet);
    exchange.accept(now, from, slot, packet.len()).unwrap();
}

fn take_all(exchange: &mut Exchange, mut with: impl FnMut(&Arrival, &[u8])) {
    while let Some(arrival) = exchange.take() {
        with(&arrival, exchange.packet(&arrival));
        exchange.handed_over(&arrival, 0);
    }
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// In order of time, and none is both delivered and lost.
#[test]
fn packets_are_delivered_unchanged_and_once() {
    for radio in [
        "[radio.hs_dsch]\nbler = 0.2\nmax_transmissions = 1\nbuffer = 20",
        "radio = 'hsdpa'",
        "radio = 'link'",
    ] {
        let scenario = cell(radio);
        let mut exchange = Exchange::new(&scenario, 3, &phones(), MTU, 64 << 20).unwrap();
        let mut sent: HashMap<u64, (End, Vec<u8>)> = HashMap::new();
        let (mut before, mut came) = (Time::ZERO, 0_u64);
        let mut check = |exchange: &mut Exchange, sent: &mut HashMap<u64, (End, Vec<u8>)>| {
            take_all(exchange, |arrival, bytes| {
                let (to, original) = sent.remove(&arrival.number).expect("each packet arrives once");
                assert!((to, original.as_slice()) == (arrival.to, bytes), "{radio}: {arrival:?}");
                assert!(arrival.at >= before, "{radio}: in order of time");
                before = arrival.at;
                came += 1;
            });
        };
        for number in 0..3_000_u64 {
            let random = mixed(number);
            let payload: Vec<u8> = (0..random % 1_400).map(|at| mixed(random ^ at) as u8).collect();
            let now = Time(number * 7_000_000 + random % 5_000_000);
            let phone = (random >> 20) as usize % 2;
            let up = random.is_multiple_of(3);
            let (from, to) =
                if up { (End::Phone(phone), End::Server) } else { (End::Server, End::Phone(phone)) };
            let address = if up { [10, 64, 0, 1] } else { [10, 64, 0, 2 + phone as u8] };
            let bytes = packet(address, 0, &payload);
            sent.insert(number, (to, bytes.clone()));
            accept(&mut exchange, now, from, &bytes);
            check(&mut exchange, &mut sent);
        }
        exchange.advance(Time(Duration::from_secs(3_600).0)).unwrap();
        check(&mut exchange, &mut sent);
        let counts = exchange.phones().iter().flat_map(|it| [&it.down, &it.up]);
        let (mut offered, mut lost) = (0, 0);
        for direction in counts {
            assert_eq!(
                direction.offered.packets,
                direction.arrived.packets + direction.all_lost(),
                "{radio}"
            );
            offered += direction.offered.packets;
            lost += direction.all_lost();
        }
        assert_eq!((offered, lost, exchange.waiting()), (3_000, sent.len() as u64, 0), "{radio}");
        assert_eq!(came + lost, 3_000, "{radio}");
        assert!(lost > 0, "{radio}");
    }
}

#[test]
fn packets_without_a_route_are_refused() {
    let mut exchange = Exchange::new(&cell("radio = 'link'"), 1, &phones(), MTU, 1 << 20).unwrap();
    for (from, to) in [
        (End::Phone(0), [224, 0, 0, 22]),
        (End::Phone(0), [255, 255, 255, 255]),
        (End::Phone(0), [169, 254, 1, 1]),
        (End::Server, [10, 64, 0, 9]),
    ] {
        accept(&mut exchange, Time::ZERO, from, &packet(to, 0, &[1, 2, 3]));
    }
    accept(&mut exchange, Time::ZERO, End::Server, &[0x45, 0, 0, 9]);
    assert_eq!((exchange.refused().stray, exchange.refused().malformed), (4, 1));
    assert_eq!(exchange.waiting(), 0);
}

/// Packets without a free slot are refused; all slots are freed.
#[test]
fn memory_is_bounded_under_a_flood() {
    let slow = "[radio.link]\nrate = '64 kbps'\nqueue.drop_tail.limit = 100000";
    let mut exchange = Exchange::new(&cell(slow), 1, &phones(), MTU, 600 * MTU).unwrap();
    let mut refused = 0;
    for number in 0..5_000_u64 {
        if exchange.slot().map(|slot| exchange.give_back(slot)).is_none() {
            refused += 1;
            continue;
        }
        accept(&mut exchange, Time(number), End::Server, &packet([10, 64, 0, 2], 0, &[7; 1_000]));
        take_all(&mut exchange, |_, _| {});
    }
    assert!(refused > 4_000 && exchange.waiting() == 600, "{refused} {}", exchange.waiting());
    exchange.advance(Time(Duration::from_secs(3_600).0)).unwrap();
    take_all(&mut exchange, |_, bytes| assert_eq!(bytes, packet([10, 64, 0, 2], 0, &[7; 1_000])));
    assert_eq!(exchange.waiting(), 0);
}

#[test]
fn ce_mark_is_set_in_the_real_header() {
    let codel = "[radio.link]\nrate = '1 Mbps'\n[radio.link.queue.codel]\necn = true";
    let mut exchange = Exchange::new(&cell(codel), 1, &phones(), MTU, 64 << 20).unwrap();
    let (mut marked, mut plain) = (0, 0);
    for number in 0..400_u64 {
        accept(&mut exchange, Time(number * 5_000_000), End::Server, &packet([10, 64, 0, 2], 2, &[7; 1_000]));
        take_all(&mut exchange, |_, bytes| match bytes[1] & 3 {
            3 => marked += 1,
            _ => plain += 1,
        });
    }
    assert!(marked > 3 && plain > 10, "{marked} {plain}");
}

proptest! {
    /// Without a panic or a leaked slot.
    #[test]
    fn arbitrary_packets_are_refused_or_carried(
        packets in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..200)), 0..50),
    ) {
        let mut exchange = Exchange::new(&cell("radio = 'dch'"), 1, &phones(), MTU, 64 << 10).unwrap();
        for (at, (server, mut bytes)) in (0..).zip(packets) {
            if let [first, _, high, low, ..] = bytes.as_mut_slice() {
                *first = 0x45; // IPv4 version and header length, so that more of the header is read
                (*high, *low) = (0, 0);
            }
            let length = bytes.len() as u8;
            if bytes.len() > 3 && length.is_multiple_of(2) {
                bytes[3] = length;
            }
            let from = if server { End::Server } else { End::Phone(0) };
            let Some(slot) = exchange.slot() else { break };
            exchange.bytes_mut(slot)[..bytes.len()].copy_from_slice(&bytes);
            exchange.accept(Time(at * 1_000), from, slot, bytes.len()).unwrap();
            take_all(&mut exchange, |_, _| {});
        }
        exchange.advance(Time(Duration::from_secs(600).0)).unwrap();
        take_all(&mut exchange, |_, _| {});
        prop_assert_eq!(exchange.waiting(), 0);
    }
}

/// `delivered` is the number of bytes that the simulated user received in order.
fn assert_adds_up(tables: &[Table], phones: &[PhoneReport], delivered: u64) {
    let numbers = |table: usize, name: &str| match tables[table].column(name) {
        Some(Values::U64(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let sum = |table, name| numbers(table, name).iter().sum::<u64>();
    let ways = || phones.iter().flat_map(|phone| [&phone.down, &phone.up]);
    assert_eq!(sum(0, "offered_packets"), ways().map(|it| it.offered.packets).sum::<u64>());
    assert_eq!(sum(0, "offered_bytes"), ways().map(|it| it.offered.bytes).sum::<u64>());
    assert_eq!(sum(0, "arrived_packets"), ways().map(|it| it.arrived.packets).sum::<u64>());
    assert_eq!(sum(0, "arrived_bytes"), ways().map(|it| it.arrived.bytes).sum::<u64>());
    for (cause, (_, name)) in CAUSES.iter().enumerate() {
        assert_eq!(sum(0, name), ways().map(|it| it.lost[cause]).sum::<u64>(), "{name}");
    }
    assert_eq!(sum(2, "packets"), sum(0, "arrived_packets"));
    assert_eq!(sum(1, "deliveries"), sum(0, "arrived_packets"));
    // The radio also carries headers and retransmitted bytes, so it carries more than was delivered in order.
    let carried = sum(1, "simulated_down_bytes");
    assert!(carried > delivered && carried < 3 * delivered + 1_000, "{carried} {delivered}");
    let (Some(Values::F64(begins)), Some(Values::F64(ends))) =
        (tables[1].column("begin_s"), tables[1].column("end_s"))
    else {
        panic!("{tables:?}")
    };
    assert!(begins.len() <= 240 && tables[0].rows() == 2 * 2 * begins.len());
    assert!(begins.iter().skip(1).zip(ends).all(|(begin, end)| (begin - end).abs() < 1e-9));
}

/// To the nanosecond, even if some events were processed late.
#[test]
fn replay_repeats_a_recording_exactly() {
    let folder = tempfile::tempdir().unwrap();
    for (radio, other) in [
        (
            "[radio.link]\nrate = '1 Mbps'\nloss = 0.01\n[radio.link.queue.codel]\necn = true",
            "radio = 'link'",
        ),
        ("[radio.dch]\nbler = 0.3\nmax_transmissions = 2", "[radio.dch]\nbler = 0.1"),
        ("radio = 'hsdpa'", "[radio.hsdpa]\nscheduler = 'max_ci'"),
    ] {
        let (scenario, path) = (cell(radio), folder.path().join("recording.log"));
        let mut exchange = Exchange::new(&scenario, 3, &phones(), MTU, 64 << 20).unwrap();
        exchange.record(Recorder::create(&path, b"{}", 40).unwrap());
        let mut now = 0;
        for number in 0..2_000_u64 {
            let random = mixed(number);
            now += random % 16_000_000;
            let phone = (random >> 20) as usize % 2;
            let (from, to) =
                if random.is_multiple_of(3) { (End::Phone(phone), 1) } else { (End::Server, 2 + phone) };
            accept(&mut exchange, Time(now), from, &packet([10, 64, 0, to as u8], 2, &[7; 700]));
            if random.is_multiple_of(5) {
                take_all(&mut exchange, |_, _| {});
            }
        }
        exchange.advance(Time(now + 1_000_000)).unwrap();
        take_all(&mut exchange, |_, _| {});
        let waiting = exchange.waiting() as u64;
        let (phones, _, mut series, result) = exchange.finish(&scenario).unwrap();
        let replayed = |scenario: &Scenario| {
            let mut reader = Reader::open(&path).unwrap();
            replay(&mut reader, scenario, 3, &[0, 2]).unwrap().0
        };
        let mut again = replayed(&scenario);
        let end = again.lasted;
        let tables = series.tables(end, &phones, &again.late);
        let tables_again = again.series.tables(end, &again.phones, &again.late);
        // The tables are compared as text, since NaN is not equal to itself.
        assert_eq!(format!("{tables:?}"), format!("{tables_again:?}"), "{radio}");
        assert_adds_up(&tables, &phones, result.flows[1].delivered_bytes);
        assert_eq!((again.differs.as_deref(), again.complete), (None, true), "{radio}");
        assert_eq!(again.same + waiting, 2_000, "{radio}");
        assert!(replayed(&cell(other)).differs.is_some(), "{other}");
    }
}
