use super::*;

const TTI: Duration = Duration::from_millis(2);

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// One packet of 100 units, in blocks of two at 0 ms; bit `n` of `failed` is block `n`.
fn air(blocks: u32, failed: u64) -> Air {
    let mut air = Air::new(TTI);
    air.cut(Some(0), 0, 100);
    send_tti(&mut air, 0, 0, blocks, failed, 0);
    air
}

/// Blocks of two units from `first`; bits as in [`air`].
fn send_tti(air: &mut Air, at: u64, first: u64, per_tti: u32, failed: u64, again: u64) {
    let units = 2 * (per_tti - again.count_ones());
    air.send_run(ms(at), &Blocks { first, units, per_block: 2, per_tti, ttis: 1, failed, again });
}

fn retransmit(air: &mut Air, at: u64, block: u64, transmission: u32, failed: bool) {
    air.send(ms(at), block, 2, transmission, failed, failed);
}

fn before(air: &Air, tx: u32, place: u32) -> Option<(Time, u64)> {
    air.transmission_before(&air.block(tx, place)).map(|block| (block.begin, block.unit))
}

#[test]
fn retransmission_is_assigned_to_the_failed_block() {
    let mut air = air(3, 0b101);
    send_tti(&mut air, 10, 6, 3, 0b010, 0b011);
    send_tti(&mut air, 20, 8, 3, 0, 0b001);
    let found: Vec<_> = [(0, 0), (1, 0), (1, 1), (2, 0)].map(|(tx, place)| before(&air, tx, place)).into();
    assert_eq!(found, [None, Some((ms(0), 0)), Some((ms(0), 4)), Some((ms(10), 4))]);
    assert_eq!((air.block(1, 1).unit, air.block(1, 2).unit, air.block(2, 0).unit), (4, 6, 4));
    let again: Vec<_> = air.next_attempts_of_failed(ms(15), 256).collect();
    assert_eq!(again, [Some(ms(20)), Some(ms(10)), Some(ms(10))], "the latest first");
    let again: Vec<_> = air.next_attempts_of_failed(ms(15), 2).collect();
    assert_eq!(again.len(), 1, "of the last two blocks one has failed");
}

#[test]
fn adjacent_ttis_are_joined() {
    let mut air = air(3, 0b001);
    send_tti(&mut air, 2, 6, 3, 0, 0);
    send_tti(&mut air, 4, 12, 3, 0b001, 0b001);
    send_tti(&mut air, 6, 16, 3, 0, 0b001);
    send_tti(&mut air, 8, 20, 3, 0, 0);
    send_tti(&mut air, 10, 26, 3, 0, 0);
    assert_eq!((air.tx.len(), air.tx[0].blocks.ttis), (1, 6));
    assert_eq!([6, 9].map(|place| before(&air, 0, place)), [Some((ms(0), 0)), Some((ms(4), 0))]);
    let group = air.group_before(ms(7)).expect("a TTI");
    let blocks: Vec<_> = air.blocks_of(&group).map(|block| (block.unit, block.is_retransmission())).collect();
    assert_eq!((group.begin, blocks), (ms(6), vec![(0, true), (16, false), (18, false)]));
    let since = |time| air.alike_since(&air.group_before(ms(time)).expect("a TTI"), 0);
    assert_eq!([4, 6, 8, 12].map(since), [ms(0), ms(4), ms(6), ms(8)], "back to retransmissions");
}

#[test]
fn blocks_given_up_are_skipped() {
    let mut air = Air::new(TTI);
    air.cut(Some(0), 0, 100);
    for block in [0, 2, 4] {
        air.send(ms(0), block, 2, 1, true, true);
    }
    retransmit(&mut air, 10, 2, 2, false);
    retransmit(&mut air, 12, 4, 2, true);
    air.give_up(4);
    assert_eq!([3, 4].map(|tx| before(&air, tx, 0)), [Some((ms(0), 2)), Some((ms(0), 4))]);
    assert_eq!(
        air.next_attempts_of_failed(ms(14), 256).last(),
        Some(None),
        "the first was never retransmitted"
    );
    assert_eq!(air.attempts.len(), 3, "nothing waits for what was given up");
}

#[test]
fn units_of_a_block_are_kept_after_forget() {
    let mut air = air(3, 0b001);
    air.forget(Some);
    send_tti(&mut air, 10, 6, 3, 0b001, 0b001);
    send_tti(&mut air, 20, 10, 3, 0, 0b001);
    assert_eq!([0, 1].map(|tx| before(&air, tx, 0)), [None, Some((ms(10), 0))]);
    for tx in [0, 1] {
        let block = air.block(tx, 0);
        assert_eq!((block.is_retransmission(), block.unit, air.parts_of(&block).count()), (true, 0, 1));
    }
}

#[test]
fn last_block_of_a_packet_is_found() {
    let mut air = Air::new(TTI);
    air.cut(Some(0), 0, 5);
    air.cut(Some(1), 5, 4_000);
    send_tti(&mut air, 0, 0, 3, 0b010, 0);
    let plain = Blocks { first: 6, units: 3_000, per_block: 2, per_tti: 3, ttis: 500, failed: 0, again: 0 };
    air.send_run(ms(2), &plain);
    let last = |time, packet| air.last_before(ms(time), ms(0), packet).map(|block| (block.begin, block.unit));
    assert_eq!([last(2, 0), last(100, 0)], [Some((ms(0), 4)); 2]);
    assert_eq!(
        [last(1, 1), last(3, 1), last(5, 1)],
        [(0, 4), (2, 10), (4, 16)].map(|(at, of)| Some((ms(at), of)))
    );
}

#[test]
fn last_bit_marks_the_last_block_as_failed() {
    assert_eq!(air(64, 1 << 63).attempts[0].block, 126);
}

#[test]
fn block_of_an_unknown_packet_is_no_retransmission_of_itself() {
    // The first six units belong to another connection of the phone, so their packet is unknown.
    let mut air = Air::new(TTI);
    air.cut(None, 0, 6);
    send_tti(&mut air, 0, 0, 3, 0b001, 0);
    air.forget(Some);
    air.cut(Some(0), 6, 100);
    send_tti(&mut air, 10, 6, 3, 0b001, 0b001);
    let block = air.block(0, 0);
    let before = air.transmission_before(&block).map(|before| (before.tx, before.place));
    assert_eq!((block.is_retransmission(), before), (true, None));
}

#[test]
fn partly_filled_block_carries_no_later_packet() {
    let mut air = Air::new(TTI);
    air.cut(Some(0), 0, 3_001);
    let plain = Blocks { first: 0, units: 3_001, per_block: 2, per_tti: 1, ttis: 1_501, failed: 0, again: 0 };
    air.send_run(ms(0), &plain);
    air.cut(Some(1), 3_001, 4_000);
    assert_eq!(
        air.last_before(ms(10_000), ms(0), 1).map(|block| (block.place, block.unit, block.units)),
        None
    );
}

/// Contents of a TTI are the sum over its blocks.
#[test]
fn stepping_back_matches_searching() {
    let (mut air, mut next, mut waiting) = (Air::new(TTI), 0, 0);
    air.cut(Some(0), 0, 10_000);
    for tti in 0..300_u64 {
        let chance = tti.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
        if chance & 0b1_1000 == 0 {
            continue;
        }
        let (failed, repeats) = (chance & 0b111, u32::min(waiting, 3));
        send_tti(&mut air, 2 * tti, next, 3, failed, (1 << repeats) - 1);
        next += 2 * u64::from(3 - repeats);
        waiting = waiting + failed.count_ones() - repeats;
    }
    let (mut last, mut ttis) = (air.group_before(ms(1_000)), 0);
    while let Some(group) = last {
        let sent = air.sent_in(&group);
        let (again, new): (Vec<_>, Vec<_>) = air.blocks_of(&group).partition(Block::is_retransmission);
        let units = |blocks: &[Block]| blocks.iter().map(|block| u64::from(block.units)).sum::<u64>();
        assert_eq!((sent.new, sent.retransmitted), (units(&new), units(&again)));
        let [found, first] = [sent.first_new.as_ref(), new.first()].map(|block| format!("{block:?}"));
        assert_eq!(found, first);
        let before = [air.group_before_that(&group), air.group_before(group.begin)];
        assert_eq!(format!("{:?}", before[0]), format!("{:?}", before[1]));
        (last, ttis) = (before[0], ttis + 1);
    }
    assert!(ttis > 200, "{ttis}");
}
