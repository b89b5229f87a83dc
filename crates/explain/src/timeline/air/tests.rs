//! Which transmissions belong to which, where bearers tell blocks in runs.

use super::*;

const TTI: Duration = Duration::from_millis(2);

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// One packet of 100 units, and at 0 ms a run of its first blocks of two units each, of which some fail.
fn air(blocks: u32, failed: u32) -> Air {
    let mut air = Air::new(TTI);
    air.cut(0, 0, 100);
    air.send_run(ms(0), Run { unit: 0, units: 2 * blocks, per_block: 2, ttis: 1, failed });
    air
}

fn repeat(air: &mut Air, at: u64, block: u64, transmission: u32, failed: bool) {
    air.send(ms(at), block, 2, transmission, failed, failed);
}

/// When, and with which unit, what was told at a place had been sent before.
fn before(air: &Air, tx: u32) -> Option<(Time, u64)> {
    air.transmission_before(air.block(tx)).map(|block| (block.begin, block.unit))
}

#[test]
fn each_repetition_finds_the_block_of_the_run_that_failed() {
    let mut air = air(3, 0b101);
    repeat(&mut air, 10, 0, 2, false);
    repeat(&mut air, 10, 4, 2, true);
    repeat(&mut air, 20, 4, 3, false);
    let found: Vec<_> = (0..4).map(|tx| before(&air, tx)).collect();
    assert_eq!(found, [None, Some((ms(0), 0)), Some((ms(0), 4)), Some((ms(10), 4))]);
    let again: Vec<_> = air.failed_lately(ms(15), 256).collect();
    assert_eq!(again, [Some(ms(20)), Some(ms(10)), Some(ms(10))], "the last first");
    let again: Vec<_> = air.failed_lately(ms(15), 2).collect();
    assert_eq!(again.len(), 1, "of the last two blocks one has failed");
}

#[test]
fn what_was_given_up_is_passed_over() {
    let mut air = air(3, 0b111);
    repeat(&mut air, 10, 2, 2, false);
    repeat(&mut air, 12, 4, 2, false);
    assert_eq!([1, 2].map(|tx| before(&air, tx)), [Some((ms(0), 2)), Some((ms(0), 4))]);
    assert_eq!(air.failed_lately(ms(14), 256).last(), Some(None), "the first never came again");
}

#[test]
fn of_a_repetition_whose_beginning_is_forgotten_nothing_is_known() {
    let mut air = air(3, 0b001);
    air.forget(Some);
    repeat(&mut air, 10, 0, 2, true);
    repeat(&mut air, 20, 0, 3, false);
    assert_eq!([0, 1].map(|tx| before(&air, tx)), [None, Some((ms(10), 0))]);
    assert!(air.tx[0].is_repeat());
    assert_eq!(air.parts_of(air.block(0)).count(), 0);
    assert_eq!(air.parts_of(air.block(1)).count(), 1);
}

#[test]
fn a_packet_is_complete_with_a_block_that_has_not_failed() {
    for (failed, expected) in [(0b000, Some(0)), (0b001, Some(2)), (0b011, Some(4)), (0b111, None)] {
        let air = air(3, failed);
        let group = air.group_before(ms(2)).expect("a TTI");
        let found = air.first_with(&group, 0, 0).map(|block| block.unit);
        assert_eq!(found, expected, "{failed:b}");
    }
}

#[test]
fn blocks_beyond_the_bits_have_not_failed() {
    let air = air(40, 1 << 31);
    assert!(air.tx[0].has_failed(31) && !air.tx[0].has_failed(32));
    assert_eq!(air.failed[0].block, 62);
}
