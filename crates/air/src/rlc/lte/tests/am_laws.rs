use nodeb_base::units::Duration;
use proptest::prelude::*;

use super::air::{Air, Load, MS, PLAIN, Tti, load, transmit};
use super::am_reference::params;
use crate::rlc::lte::am::pdus::WINDOW;
use crate::rlc::lte::am::{Amd, LteAm};
use crate::rlc::lte::{Entity, Framing, header};

/// TTIs in which blocks and reports may be lost.
const LOSSY: usize = 600;

/// TTIs within which all packets must be delivered.
const PATIENCE: usize = 20_000;

fn air(params: &LteAm) -> Air {
    Air::new(Entity::am(params, PLAIN, transmit()))
}

fn run(
    air: &mut Air,
    load: &Load,
    mut check: impl FnMut(&Air) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut next = 0;
    for at in 0..PATIENCE {
        while next < load.packets.len() && load.packets[next].0 <= at {
            air.push(next as u64, load.packets[next].1);
            next += 1;
        }
        let tti = load.ttis[at % load.ttis.len()];
        let is_lossy = at < LOSSY;
        air.tti(Tti { lost: tti.lost && is_lossy, report_lost: tti.report_lost && is_lossy, ..tti });
        check(air)?;
        if next == load.packets.len() && air.is_quiet() {
            return Ok(());
        }
    }
    Err(TestCaseError::fail(format!("not over after {PATIENCE} TTIs")))
}

/// 2 octets for each whole PDU, 4 for each segment, and the length indicators.
fn check_headers(air: &Air, whole: &mut Vec<Amd>) -> Result<(), TestCaseError> {
    let Some((ms, block)) = air.blocks.last().filter(|(ms, _)| ms + 1 == air.ms()) else {
        return Ok(());
    };
    let mut headers = 0;
    for unit in block.units.clone() {
        let amd = air.am().pdu(unit).unwrap();
        if amd.sn == whole.len() as u64 {
            whole.push(amd.clone());
        }
        let fixed = if amd.octets == whole[amd.sn as usize].octets { 2 } else { 4 };
        let indicators = air.rlc.carried(unit..unit + 1).len() - 1;
        headers += fixed + (3 * indicators as u32).div_ceil(2);
    }
    prop_assert_eq!(headers, block.headers, "at {} ms", ms);
    Ok(())
}

fn check_delivered(air: &Air, load: &Load) -> Result<(), TestCaseError> {
    let numbers: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
    prop_assert_eq!(numbers, (0..load.packets.len() as u64).collect::<Vec<_>>());
    prop_assert!(air.lost.is_empty());
    prop_assert_eq!(air.rlc.backlog(), crate::Backlog::default());
    prop_assert_eq!((air.rlc.waiting(), air.am().window_in_use()), (0, 0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // Tests the feature: RLC headers and length indicators (property)
    /// The smallest block of 5 octets holds a segment with one octet of data, the smallest report of 8 one
    /// negative acknowledgement of a part.
    #[test]
    fn packets_are_delivered_once_and_in_order(params in params(), load in load(5..400, 600, 20)) {
        let (mut air, mut whole) = (air(&params), Vec::new());
        run(&mut air, &load, |air| {
            prop_assert!(air.am().window_in_use() <= WINDOW as u64);
            check_headers(air, &mut whole)
        })?;
        check_delivered(&air, &load)?;
    }

    #[test]
    fn packets_arrive_in_blocks_of_a_few_octets(params in params(), load in load(5..12, 30, 20)) {
        let (mut air, mut whole) = (air(&params), Vec::new());
        run(&mut air, &load, |air| check_headers(air, &mut whole))?;
        check_delivered(&air, &load)?;
    }

    // Tests the feature: polling (property)
    /// At least one PDU in every t-PollRetransmit.
    #[test]
    fn sender_is_never_silent_longer_than_its_poll_timer(
        params in params(),
        load in load(5..400, 600, 20),
    ) {
        let (mut air, limit) = (air(&params), params.poll_retransmit.0 / MS + 1);
        run(&mut air, &load, |air| {
            let sent = air.blocks.last().map_or(air.ms(), |(ms, _)| *ms);
            prop_assert!(air.am().window_in_use() == 0 || air.ms() - sent <= limit);
            Ok(())
        })?;
    }

    /// At most as many as were lost plus twice what timers schedule for polls, if t-StatusProhibit lets
    /// retransmissions arrive before the next report.
    #[test]
    fn octets_retransmitted_were_lost(load in load(500..1_500, 1_500, 4), polls in 300..600u64) {
        let params = LteAm {
            status_prohibit: Some(Duration::from_millis(200)),
            poll_retransmit: Duration::from_millis(polls),
            max_retransmissions: None,
            ..LteAm::default()
        };
        let mut air = air(&params);
        let mut lost = 0;
        run(&mut air, &load, |air| {
            let at = air.ms() as usize - 1;
            let is_lost = load.ttis[at % load.ttis.len()].lost && at < LOSSY;
            if let Some((_, block)) = air.blocks.last().filter(|(ms, _)| is_lost && *ms == at as u64) {
                lost += u64::from(block.payload);
            }
            Ok(())
        })?;
        let sent: u64 = air.blocks.iter().map(|(_, block)| u64::from(block.payload)).sum();
        let bytes: u64 = load.packets.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        prop_assert!(sent - bytes <= lost + 2 * air.added_by_timers, "{} {} {}", sent, bytes, lost);
    }

    /// Blocks of at most 9000 octets; when the estimate is 0, nothing is left to send.
    #[test]
    fn buffer_status_is_enough_room(packets in prop::collection::vec(1..2_000u32, 1..50), subheader in 0..4u32) {
        let framing = Framing { subheader, sdu_header: 2, ..PLAIN };
        let mut rlc = Entity::am(&LteAm::default(), framing, transmit());
        for (number, bytes) in (0..).zip(&packets) {
            rlc.push(nodeb_base::units::Time::ZERO, nodeb_base::packet::Packet::new(number, *bytes), 0);
        }
        let mut left = rlc.waiting();
        while left > 0 {
            let room = left.min(9_000) as u32;
            let block = rlc.fill(nodeb_base::units::Time::ZERO, room);
            let before = left;
            left = rlc.waiting();
            let fixed = u64::from(subheader + header::AMD);
            // In each PDU the two octets of a length indicator may be saved, so the estimate may
            // fall by slightly more than the size of the block.
            prop_assert!(before - left <= u64::from(block.bytes()) + 3, "{} {} {:?}", before, left, block);
            prop_assert!(left == 0 || before - left + fixed + 3 >= u64::from(block.bytes()));
        }
        prop_assert_eq!(rlc.sendable(), 0);
    }
}

// Tests the feature: window of acknowledged mode (closed form)
/// 512 blocks in each round trip of 600 TTIs, with a poll in each PDU and no prohibit timer.
#[test]
fn rate_is_limited_by_window_and_round_trip() {
    let params = LteAm { poll_pdu: std::num::NonZeroU32::new(1), status_prohibit: None, ..LteAm::default() };
    let params = LteAm { poll_retransmit: Duration::from_secs(1), ..params };
    let mut air = air(&params);
    for number in 0..3_000 {
        air.push(number, 1_000);
    }
    for _ in 0..6 * 600 {
        air.tti(Tti::lossless(502, 300));
    }
    let mut rounds = [0; 6];
    air.blocks.iter().for_each(|(ms, _)| rounds[(*ms / 600) as usize] += 1);
    assert_eq!(rounds, [WINDOW; 6]);
    // Of the blocks of the last round trip, 300 have arrived. A packet takes two blocks.
    let arrived = 5 * WINDOW + 300;
    assert_eq!(2 * air.delivered.len(), arrived);
}

#[test]
fn rate_is_that_of_the_blocks_if_the_window_is_large() {
    let params = LteAm { poll_pdu: std::num::NonZeroU32::new(1), status_prohibit: None, ..LteAm::default() };
    let mut air = air(&params);
    (0..500).for_each(|number| air.push(number, 1_000));
    for _ in 0..1_000 {
        air.tti(Tti::lossless(502, 30));
    }
    assert_eq!(air.blocks.len(), 1_000);
    assert!(air.finish(Tti::lossless(502, 30), 200));
}
