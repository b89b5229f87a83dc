use super::*;

const TTI: Duration = Duration::from_millis(2);

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// Three blocks of two units at 0 ms, each with 80 bytes of packet 0; the first and the last fail.
fn air() -> Air {
    let mut air = Air::new(TTI);
    for (block, has_failed) in [(0, true), (2, false), (4, true)] {
        air.send(ms(0), block, (2, 1, has_failed), has_failed);
        air.carry(0, 40 * block as u32, 80);
    }
    air
}

fn retransmit(air: &mut Air, at: u64, block: u64, has_failed: bool) -> Block {
    air.send(ms(at), block, (2, 2, has_failed), has_failed);
    air.blocks[air.blocks.len() - 1]
}

#[test]
fn retransmission_is_assigned_to_the_failed_block() {
    let mut air = air();
    let again = [(10, 4, true), (10, 0, false), (20, 4, false)]
        .map(|(at, block, fails)| retransmit(&mut air, at, block, fails));
    let before = again.map(|block| air.transmission_before(&block).map(|before| before.number));
    assert_eq!(before, [Some(2), Some(0), Some(3)]);
    assert!(again.iter().all(|block| block.is_retransmission() && air.carries(block, 0)));
    assert_eq!(again.map(|block| air.parts_of(&block)[0].offset), [160, 0, 160]);
    let next: Vec<_> = air.blocks.iter().map(Block::next).collect();
    assert_eq!(next, [Some(ms(10)), None, Some(ms(10)), Some(ms(20)), None, None]);
}

#[test]
fn block_given_up_is_not_retransmitted() {
    let mut air = air();
    air.give_up(0);
    let block = retransmit(&mut air, 10, 0, false);
    assert!(block.is_retransmission() && air.transmission_before(&block).is_none());
}

#[test]
fn failed_blocks_of_packets_in_flight_are_not_forgotten() {
    let mut air = air();
    air.send(ms(2), 6, (2, 1, true), true);
    air.carry(1, 0, 80);
    air.forget(|packet| packet.checked_sub(1));
    let kept = retransmit(&mut air, 10, 6, false);
    assert_eq!(air.transmission_before(&kept).map(|before| before.begin), Some(ms(2)));
    assert!(air.carries(&kept, 0));
    let forgotten = retransmit(&mut air, 10, 4, false);
    assert!(forgotten.is_retransmission() && air.parts_of(&forgotten).is_empty());
}

#[test]
fn last_block_of_a_packet_is_found() {
    let mut air = air();
    for at in [2, 4, 6] {
        air.send(ms(at), 3 * at, (2, 1, false), false);
        air.carry(1, 0, 80);
    }
    let last = |time, packet| air.last_before(ms(time), ms(0), packet).map(|block| block.number);
    assert_eq!(
        [last(2, 0), last(100, 0), last(1, 1), last(3, 1), last(5, 1)],
        [Some(2), Some(2), None, Some(3), Some(4)]
    );
    assert_eq!(air.last_before(ms(100), ms(2), 0).map(|block| block.number), None);
}

#[test]
fn ttis_are_stepped_back_one_by_one() {
    let mut air = air();
    air.send(ms(4), 6, (2, 1, false), false);
    let last = air.group_before(ms(100)).expect("a TTI");
    let first = air.group_before_that(&last).expect("a TTI");
    assert_eq!(
        (last.begin, air.blocks_of(&last).len(), first.begin, air.blocks_of(&first).len()),
        (ms(4), 1, ms(0), 3)
    );
    assert_eq!((air.group_before(ms(4)), air.group_before_that(&first)), (Some(first), None));
    assert_eq!(air.busy(ms(0), ms(100)), Duration::from_millis(4));
}
