//! The fuzz targets `flight` and `devices`, so that every test run covers them; see `fuzz/README.md`.

#[path = "support/checks.rs"]
mod checks;

use std::sync::LazyLock;

use nodeb_base::units::Time;
use nodeb_emu::Exchange;
use nodeb_emu::exchange::End;
use nodeb_emu::recording::Recorder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// One for each kind of cell, with TCP segments in both directions.
static LOGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| (0..3).map(log).collect());

fn log(kind: u8) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let scenario = checks::cell(kind);
    let mut exchange = Exchange::new(&scenario, 1, &checks::phones(), checks::MTU, 1 << 20).unwrap();
    exchange.record(Recorder::create(&path, &[kind], 60).unwrap());
    for number in 0..40_u32 {
        let up = number % 3 == 0;
        let length = 40 + number as usize * 7;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet.extend(if up { [10, 64, 0, 2, 10, 64, 0, 1] } else { [10, 64, 0, 1, 10, 64, 0, 2] });
        packet.extend(if up { [9, 9, 0, 80] } else { [0, 80, 9, 9] });
        packet.extend((number * 100).to_be_bytes());
        packet.extend([0, 0, 0, 0, 0x50, if number < 2 { 2 } else { 16 }, 1, 0, 0, 0, 0, 0]);
        packet.resize(length, 0);
        let slot = exchange.slot().unwrap();
        exchange.bytes_mut(slot)[..length].copy_from_slice(&packet);
        let from = if up { End::Phone(0) } else { End::Server };
        exchange.accept(Time(u64::from(number) * 30_000_000), from, slot, length).unwrap();
        while let Some(arrival) = exchange.take() {
            exchange.handed_over(&arrival, 5);
        }
    }
    exchange.finish(&scenario).unwrap();
    std::fs::read(path).unwrap()
}

fn faulty() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<Index>(), any::<Index>(), 0..4_u8, any::<u8>());
    (0..3_usize, vec(change, 0..6)).prop_map(|(kind, changes)| {
        let mut bytes = LOGS[kind].clone();
        for (one, other, what, value) in changes {
            let (from, to) = (one.index(bytes.len()), other.index(bytes.len()));
            match what {
                0 | 1 => bytes[from] = value,
                2 => bytes.truncate(from.max(16)),
                _ => {
                    let piece = bytes[from.min(to)..from.max(to)].to_vec();
                    bytes.splice(to..to, piece);
                }
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn faulty_log_is_replayed_or_refused(bytes in faulty()) {
        checks::check_log(&bytes);
    }

    #[test]
    fn arbitrary_bytes_are_replayed_or_refused(bytes in vec(any::<u8>(), 0..400), is_log in any::<bool>()) {
        let begin: &[u8] = if is_log { &[nodeb_emu::recording::MAGIC.as_slice(), &[1, 0, 0, 0, 1]].concat() } else { &[] };
        checks::check_log(&[begin, &bytes].concat());
    }

    #[test]
    fn devices_may_deliver_arbitrary_bytes(bytes in vec(any::<u8>(), 0..4_000)) {
        checks::check_devices(&bytes);
    }
}

#[test]
fn valid_logs_are_replayed_exactly() {
    for (kind, bytes) in (0..).zip(LOGS.iter()) {
        let mut reader = nodeb_emu::recording::Reader::new(bytes.as_slice()).unwrap();
        let (found, _) = nodeb_emu::replay::replay(&mut reader, &checks::cell(kind), 1, &[0, 1]).unwrap();
        assert_eq!((found.differs, found.complete), (None, true));
        assert!(found.same > 20);
    }
}
