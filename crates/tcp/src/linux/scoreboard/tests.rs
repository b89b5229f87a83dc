use super::*;
use proptest::prelude::*;

const MSS: u64 = 100;

fn board(sent: u64) -> Scoreboard {
    let mut board = Scoreboard::new(MSS);
    board.write(20 * MSS - 50);
    for number in 0..sent {
        board.send_next(Time(number), Snapshot::default());
    }
    board
}

fn sack(board: &mut Scoreboard, blocks: &[(u64, u64)]) -> Vec<u64> {
    let mut out = Vec::new();
    let bytes = blocks.iter().map(|&(first, end)| (first * MSS, end * MSS));
    board.sack(bytes, |delivered| out.push(delivered.range().0 / MSS));
    out
}

#[test]
fn a_segment_is_lost_when_three_beyond_it_have_arrived() {
    let mut board = board(10);
    assert_eq!(sack(&mut board, &[(1, 3)]), [1, 2]);
    assert_eq!(board.mark_by_count(), 0);
    assert_eq!(sack(&mut board, &[(1, 4)]), [3]);
    assert_eq!((board.mark_by_count(), board.next_lost()), (MSS, Some(0)));
    // SetPipe: 10 outstanding, 3 delivered, 1 lost.
    assert_eq!(board.pipe(), 6 * MSS);
    board.send_again(Time(20), 0, Snapshot::default());
    assert_eq!((board.pipe(), board.next_lost()), (7 * MSS, None));
    // A retransmission is never lost by count.
    sack(&mut board, &[(5, 8), (1, 4)]);
    assert_eq!((board.mark_by_count(), board.next_lost()), (MSS, Some(4)));
}

#[test]
fn the_last_segment_may_be_short() {
    let mut board = board(20);
    assert!(board.is_exhausted() && board.pipe() == 20 * MSS - 50);
    let mut bytes = 0;
    board.sack([(19 * MSS, 20 * MSS - 50)].into_iter(), |segment| bytes += segment.bytes());
    assert_eq!((bytes, board.pipe()), (50, 19 * MSS));
    let mut delivered = 0;
    board.acknowledge(20 * MSS - 50, |_| delivered += 1);
    assert_eq!((delivered, board.una(), board.head()), (19, 20 * MSS - 50, None));
}

#[test]
fn what_was_given_up_by_mistake_is_in_flight_again() {
    let mut board = board(5);
    for number in 0..5 {
        board.mark_lost(number);
    }
    assert_eq!(board.pipe(), 0);
    board.send_again(Time(10), 0, Snapshot::default());
    board.unmark_lost();
    assert_eq!((board.pipe(), board.next_lost()), (5 * MSS, None));
    let mut seen = Vec::new();
    board.mark_in_order(|number, _| {
        seen.push(number);
        Some(false)
    });
    assert_eq!(seen, [1, 2, 3, 4, 0]);
}

proptest! {
    /// Blocks that the last ACK had already are not looked at again; what they deliver is the same.
    #[test]
    fn known_blocks_are_a_shortcut(
        acks in prop::collection::vec((0u64..6, prop::collection::vec((0u64..20, 1u64..8), 0..=3)), 1..30),
    ) {
        let (mut board, mut forgetful) = (board(8), board(8));
        let mut una = 0;
        for (at, (acked, blocks)) in (0..).zip(acks) {
            una += acked / 5;
            for board in [&mut board, &mut forgetful] {
                board.acknowledge(una * MSS, |_| {});
                // Blocks may reach beyond what has been sent so far.
                if acked % 2 == 0 && board.end() < 20 {
                    board.send_next(Time(at), Snapshot::default());
                }
            }
            let blocks: Vec<_> = blocks.iter().map(|&(first, length)| (first, (first + length).min(20))).collect();
            forgetful.known = <_>::default();
            prop_assert_eq!(sack(&mut board, &blocks), sack(&mut forgetful, &blocks));
            prop_assert_eq!(board.pipe(), forgetful.pipe());
        }
    }

    /// Whatever is reported, the counters agree with the states.
    #[test]
    fn the_counters_agree_with_the_states(
        events in prop::collection::vec((0u8..8, 0u64..20, 1u64..8), 1..100),
    ) {
        let mut board = board(0);
        for (at, (event, number, length)) in events.into_iter().enumerate() {
            let now = Time(at as u64);
            match event {
                0 | 1 if !board.is_exhausted() => board.send_next(now, Snapshot::default()),
                2 => drop(board.acknowledge(((number * MSS) / 3).min(board.next()), |_| {})),
                3 => drop(sack(&mut board, &[(number, number + length), (number / 2, number / 2 + 1)])),
                4 => drop(board.mark_lost(number)),
                5 => board.send_again(now, number, Snapshot::default()),
                6 if length == 1 => board.unmark_lost(),
                _ => if let Some(lost) = board.next_lost() {
                    board.send_again(now, lost, Snapshot::default());
                },
            }
            let sum = |state: State| -> u64 {
                (board.first..board.end())
                    .filter(|&n| board.get(n).unwrap().state == state)
                    .map(|n| board.range(n).1 - board.range(n).0)
                    .sum()
            };
            prop_assert_eq!(board.pipe(), sum(State::InFlight));
            prop_assert_eq!(board.lost_bytes, sum(State::Lost));
            let sacked = (board.first..board.end()).filter(|&n| board.get(n).unwrap().state == State::Sacked);
            prop_assert_eq!(board.sacked_segments() as usize, sacked.count());
        }
    }
}
