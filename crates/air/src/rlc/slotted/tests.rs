use nodeb_base::units::{Duration, Size};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Slotted, Window};
use crate::rlc::Delivered;
use crate::rlc::am::Setting;
use crate::rlc::testing::Air;

/// Four slots and 10 bytes of payload per PDU; a report covers two PDUs and takes 20 ms.
fn air(per_tti: usize) -> Air<Window> {
    let params = Slotted {
        places: 4.try_into().unwrap(),
        report_every: 2.try_into().unwrap(),
        header: Size(2),
        report_delay: Duration::from_millis(20),
    };
    let setting = Setting { pdu_bytes: 12, buffer: 1_000, order: Delivered::InSequence };
    Air::new(params.build(setting), per_tti)
}

/// Time in ms, slot, SDU and offset of the first piece.
fn sent(air: &Air<Window>) -> Vec<(u64, usize, u64, u32)> {
    let of_pdu = |(at, pdu): &(u64, super::Pdu)| (*at, pdu.place, pdu.pieces[0].sdu, pdu.pieces[0].offset);
    air.sent.iter().map(of_pdu).collect()
}

#[test]
fn a_pdu_in_error_is_retransmitted_in_its_slot_while_others_advance() {
    let mut air = air(2);
    air.push(0..3, 30);
    let mut count = 0;
    air.run(20, |_| {
        count += 1;
        count == 2
    });
    // Slots 0 and 1 are reported at 30 ms, with an error in slot 1; slots 2 and 3 are reported at
    // 40 ms. The window advances while the PDU in error is retransmitted.
    assert_eq!(
        sent(&air),
        [
            (0, 0, 0, 0),
            (0, 1, 0, 10),
            (10, 2, 0, 20),
            (10, 3, 1, 0),
            (30, 0, 1, 10),
            (30, 1, 0, 10),
            (40, 2, 1, 20),
            (40, 3, 2, 0),
            (60, 0, 2, 10),
            (60, 1, 2, 20),
        ]
    );
    assert_eq!(air.delivered, [(40, 0), (50, 1), (70, 2)]);
    assert!(air.is_quiet());
}

/// Reports cover two PDUs; no other PDU follows a single one.
#[test]
fn the_last_report_of_a_burst_may_be_partial() {
    let mut air = air(2);
    air.push(0..1, 5);
    let mut count = 0;
    air.run(20, |_| {
        count += 1;
        count <= 2
    });
    assert_eq!(sent(&air), [(0, 0, 0, 0), (30, 0, 0, 0), (60, 0, 0, 0)]);
    assert_eq!(air.delivered, [(70, 0)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_arrive_in_order_within_the_window(
        packets in vec((0..60usize, 1..60u32), 1..25),
        lost in vec(any::<bool>(), 1..80),
        (places, every) in (1..20u32).prop_flat_map(|places| (Just(places), 1..=places)),
        per_tti in 1..5usize,
        delay in 0..150u64,
    ) {
        let params = Slotted {
            places: places.try_into().unwrap(),
            report_every: every.try_into().unwrap(),
            header: Size(0),
            report_delay: Duration::from_millis(delay),
        };
        let setting = Setting { pdu_bytes: 10, buffer: 1_000, order: Delivered::InSequence };
        let mut air = Air::new(params.build(setting), per_tti);
        let mut sorted = packets.clone();
        sorted.sort_by_key(|(at, _)| *at);
        let (mut next, mut tries) = (0, 0);
        for tti in 0..20_000 {
            while next < sorted.len() && sorted[next].0 <= tti {
                air.push(next as u64..next as u64 + 1, sorted[next].1);
                next += 1;
            }
            air.tti(&mut |_| {
                tries += 1;
                tti < 300 && lost[tries % lost.len()]
            });
            let open = air.rlc.places.iter().filter(|place| !matches!(place, super::PlaceState::Free)).count();
            prop_assert!(open <= places as usize);
            if next == sorted.len() && air.is_quiet() {
                break;
            }
        }
        let numbers: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
        prop_assert_eq!(numbers, (0..packets.len() as u64).collect::<Vec<_>>());
    }
}
