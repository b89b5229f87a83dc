//! The slow receiver follows the text of the standard.

use nodeb_base::units::Duration;
use proptest::prelude::*;

use super::air::{Air, Load, MS, PLAIN, Tti, load, transmit};
use super::um_reference::{Element, UmReceiver};
use crate::rlc::lte::Entity;
use crate::rlc::lte::um::{LteUm, UmSnLength};

fn params() -> impl Strategy<Value = LteUm> {
    (any::<bool>(), 1..60u64).prop_map(|(short, reordering)| LteUm {
        sn_length: if short { UmSnLength::Bits5 } else { UmSnLength::Bits10 },
        t_reordering: Duration(reordering * MS),
    })
}

fn elements(air: &Air, unit: u64, load: &Load) -> Vec<Element> {
    let element = |part: nodeb_base::event::Part| {
        let size = load.packets[part.packet.0 as usize].1;
        (part.packet.0, part.offset, part.bytes, part.offset + part.bytes == size)
    };
    air.rlc.carried(unit..unit + 1).into_iter().map(element).collect()
}

/// Arrival in ms, number, parts of SDUs, and whether the PDU is lost.
type OnAir = (u64, u64, Vec<Element>, bool);

/// On the air `unit` could be confused with a missing PDU; `highest` is the number after the highest PDU
/// received.
fn is_ambiguous(unit: u64, highest: u64, modulus: u16, has_gap: bool) -> bool {
    let modulus = u64::from(modulus);
    unit >= highest + modulus || (unit >= highest + modulus / 2 && has_gap)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // Tests the feature: unacknowledged mode (independent receiver)
    /// Until the first ambiguous number, as a receiver with numbers modulo 32 or 1024. At most 14 PDUs are
    /// sent in the delay of up to 7 TTIs, fewer than the window of 16.
    #[test]
    fn packets_match_a_slow_receiver(params in params(), load in load(4..400, 600, 7)) {
        let modulus = 2 * params.sn_length.window() as u16;
        let mut air = Air::new(Entity::um(&params, PLAIN, transmit()));
        let mut reference = UmReceiver::new(modulus, params.t_reordering.0);
        let (mut on_air, mut highest, mut is_comparable) = (Vec::<OnAir>::new(), 0, true);
        let bytes: u32 = load.packets.iter().map(|packet| packet.1).sum();
        for at in 0..bytes as usize + 200 {
            let due = load.packets.iter().enumerate().filter(|(_, packet)| packet.0 == at);
            due.for_each(|(number, packet)| air.push(number as u64, packet.1));
            let (tti, ms, sent) = (load.ttis[at % load.ttis.len()], air.ms(), air.blocks.len());
            air.tti(tti);
            for (_, unit, elements, lost) in on_air.extract_if(.., |pdu| pdu.0 == ms) {
                if !lost {
                    is_comparable &= !is_ambiguous(unit, highest, modulus, reference.has_gap());
                    if unit >= highest && unit - highest < u64::from(modulus / 2) {
                        highest = unit + 1;
                    }
                    reference.receive(ms * MS, (unit % u64::from(modulus)) as u16, elements);
                }
            }
            reference.on_time(ms * MS);
            for (_, block) in &air.blocks[sent..] {
                for unit in block.units.clone() {
                    on_air.push((ms + tti.delay, unit, elements(&air, unit, &load), tti.lost));
                }
            }
            let delivered: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
            prop_assert!(!is_comparable || delivered == reference.delivered, "at {} ms", ms);
        }
        let mut all: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
        prop_assert!(all.is_sorted());
        all.extend(&air.lost);
        all.sort_unstable();
        prop_assert_eq!(all, (0..load.packets.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(air.rlc.backlog(), crate::Backlog::default());
    }
}

/// Blocks of 10 octets: the first packet takes 8 octets of one PDU and 5 of the next, where a length
/// indicator takes 2 and the second packet 1.
#[test]
fn packets_share_a_pdu_after_a_length_indicator() {
    let mut air = Air::new(Entity::um(&LteUm::default(), PLAIN, transmit()));
    air.push(0, 13);
    air.push(1, 3);
    assert_eq!(air.rlc.waiting(), 13 + 3 + 3 + 2);
    (0..3).for_each(|_| air.tti(Tti::lossless(10, 1)));
    let sizes: Vec<_> = air.blocks.iter().map(|(_, block)| (block.headers, block.payload)).collect();
    assert_eq!(sizes, [(2, 8), (4, 6), (2, 2)]);
    assert!(air.finish(Tti::lossless(10, 1), 5));
    assert_eq!(air.delivered, [(2, 0), (3, 1)]);
}

// Tests the feature: unacknowledged mode (worked example)
/// PDU 1 is lost; PDU 2 starts t-Reordering at 3 ms, which expires at 13 ms.
#[test]
fn reordering_timer_gives_up_a_lost_pdu() {
    let params = LteUm { t_reordering: Duration(10 * MS), ..LteUm::default() };
    let mut air = Air::new(Entity::um(&params, PLAIN, transmit()));
    (0..4).for_each(|number| air.push(number, 8));
    let tti = Tti::lossless(10, 1);
    air.tti(Tti { delay: 6, ..tti });
    air.tti(Tti { lost: true, ..tti });
    assert!(air.finish(tti, 30));
    assert_eq!(air.delivered, [(6, 0), (13, 2), (13, 3)]);
    assert_eq!(air.lost, [1]);
}
