//! By hand, in TTIs of 1 ms.

use nodeb_base::units::{Duration, Size};

use super::air::{Air, MS, PLAIN, Tti, transmit};
use crate::rlc::lte::Entity;
use crate::rlc::lte::am::LteAm;

/// A PDU with 10 octets of data.
const TEN: Tti =
    Tti { room: 12, lost: false, delay: 1, report_room: 100, report_lost: false, report_delay: 1 };

fn params() -> LteAm {
    LteAm {
        t_reordering: Duration(10 * MS),
        status_prohibit: None,
        poll_retransmit: Duration(50 * MS),
        ..LteAm::default()
    }
}

fn air(params: &LteAm, packets: &[u32]) -> Air {
    let mut air = Air::new(Entity::am(params, PLAIN, transmit()));
    for (number, bytes) in (0..).zip(packets) {
        air.push(number, *bytes);
    }
    air
}

/// Time in ms, number, first octet, octets, and whether the PDU polls.
fn play(air: &mut Air, ttis: &[Tti]) -> Vec<(u64, u64, u64, u64, bool)> {
    let mut sent = Vec::new();
    for tti in ttis {
        let (ms, blocks) = (air.ms(), air.blocks.len());
        air.tti(*tti);
        for (_, block) in &air.blocks[blocks..] {
            for amd in block.units.clone().map(|unit| air.am().pdu(unit).unwrap()) {
                let octets = amd.octets.end - amd.octets.start;
                sent.push((ms, amd.sn, amd.octets.start, octets, amd.poll));
            }
        }
    }
    sent
}

// Tests the feature: reordering in acknowledged mode (worked example)
/// PDU 1 is lost; PDU 2 polls and starts t-Reordering at 3 ms.
#[test]
fn answer_to_a_poll_waits_for_reordering() {
    let mut air = air(&params(), &[10, 10, 10]);
    let mut ttis = [TEN; 20];
    ttis[1].lost = true;
    let sent = play(&mut air, &ttis);
    assert_eq!(
        sent,
        [(0, 0, 0, 10, false), (1, 1, 10, 10, false), (2, 2, 20, 10, true), (14, 1, 10, 10, true)]
    );
    // The report at 13 ms names PDU 1 as missing. The report at 15 ms answers the poll of the
    // retransmission of PDU 1.
    assert_eq!(air.reports, [(13, 0), (15, 1)]);
    assert_eq!(air.delivered, [(1, 0), (15, 1), (15, 2)]);
    assert!(air.is_quiet());
}

// Tests the feature: re-segmentation (worked example)
/// 30 octets, in blocks of 14 that hold a segment with 10.
#[test]
fn a_large_pdu_is_retransmitted_in_segments() {
    let mut air = air(&params(), &[30]);
    let small = Tti { room: 14, ..TEN };
    let mut ttis = [small; 60];
    ttis[0] = Tti { room: 32, lost: true, ..TEN };
    // The second segment is lost. The other segments poll, and the polls are answered when
    // t-Reordering expires.
    ttis[51].lost = true;
    let sent = play(&mut air, &ttis);
    assert_eq!(
        sent,
        [(0, 0, 0, 30, true), (50, 0, 0, 10, true), (51, 0, 10, 10, false), (52, 0, 20, 10, true)]
    );
    let again = play(&mut air, &[small; 10]);
    // t-Reordering starts at 51 ms with the first segment and expires at 61 ms. The report takes 15
    // + 12 + 30 bits, which are 8 octets.
    assert_eq!(air.reports[0], (61, 0));
    assert_eq!(again, [(62, 0, 10, 10, true)]);
    assert_eq!(air.delivered, [(63, 0)]);
    assert!(air.is_quiet());
}

/// The report on the last PDU is lost, so the poll timer retransmits the PDU.
#[test]
fn a_duplicate_with_a_poll_is_answered() {
    let mut air = air(&params(), &[10, 10]);
    let mut ttis = [TEN; 60];
    ttis[2].report_lost = true;
    let sent = play(&mut air, &ttis);
    assert_eq!(sent, [(0, 0, 0, 10, false), (1, 1, 10, 10, true), (51, 1, 10, 10, true)]);
    assert_eq!(air.reports, [(2, 0), (52, 1)]);
    assert_eq!(air.delivered, [(1, 0), (2, 1)]);
    assert!(air.is_quiet());
}

// Tests the feature: prohibition of STATUS PDUs (worked example)
/// t-StatusProhibit of 20 ms from 1 ms.
#[test]
fn reports_keep_their_distance() {
    let mut air = air(&LteAm { status_prohibit: Some(Duration(20 * MS)), ..params() }, &[10]);
    play(&mut air, &[TEN; 4]);
    air.push(1, 10);
    play(&mut air, &[TEN; 30]);
    assert_eq!(air.reports, [(1, 0), (21, 1)]);
    assert!(air.is_quiet());
}

// Tests the feature: polling (worked example)
/// After 3 new PDUs, after 25 new octets, and when the buffer is empty.
#[test]
fn polls_follow_pdus_and_octets() {
    let polls = |poll_pdu, poll_byte| {
        let params = LteAm { poll_pdu, poll_byte, ..params() };
        let mut air = air(&params, &[80]);
        let sent = play(&mut air, &[TEN; 8]);
        sent.into_iter().filter(|pdu| pdu.4).map(|pdu| pdu.1).collect::<Vec<_>>()
    };
    assert_eq!(polls(std::num::NonZeroU32::new(3), None), [2, 5, 7]);
    assert_eq!(polls(None, Some(Size(25))), [2, 5, 7]);
    assert_eq!(polls(None, None), [7]);
}

/// PDUs 0, 1 and 4 are lost; PDU 2 starts t-Reordering, which expires at 13 ms. 4 octets name PDU 0 alone.
#[test]
fn a_report_that_does_not_fit_is_continued_by_later_ones() {
    let mut air = air(&params(), &[10; 6]);
    let narrow = Tti { report_room: 4, ..TEN };
    let mut ttis = [narrow; 14];
    for at in [0, 1, 4] {
        ttis[at].lost = true;
    }
    play(&mut air, &ttis);
    let status = air.am().status(0).unwrap();
    assert_eq!((status.acknowledged, status.nacks.len(), status.bytes()), (1, 1, 4));
    assert!(air.finish(narrow, 300));
    assert_eq!(air.delivered.len(), 6);
}

// Tests the feature: limit of retransmissions (worked example)
/// The first retransmission sets RETX_COUNT to 0, the third to the limit of 2.
#[test]
fn radio_link_fails_at_the_limit_of_retransmissions() {
    let params = LteAm { max_retransmissions: std::num::NonZeroU32::new(2), ..params() };
    let mut air = air(&params, &[10]);
    let lossy = Tti { lost: true, ..TEN };
    let mut failed_after = 0;
    while !air.rlc.has_failed() {
        play(&mut air, &[lossy]);
        failed_after += 1;
    }
    assert_eq!((failed_after, air.blocks.len()), (151, 4));
}

/// With a PDU per TTI and reports 1 ms later, at most 4 PDUs are in the window after 5000 TTIs.
#[test]
fn no_memory_grows_in_the_steady_state() {
    let mut air = air(&params(), &[]);
    for number in 0..5_000 {
        air.push(number, 10);
        air.tti(TEN);
    }
    assert!(air.am().window_in_use() <= 4);
    assert!(air.finish(TEN, 100));
    assert_eq!(air.delivered.len(), 5_000);
}
