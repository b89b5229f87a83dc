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
    board.repair(Time(20), 0, Snapshot::default());
    assert_eq!((board.pipe(), board.next_lost()), (7 * MSS, None));
    // A retransmission is never marked lost by count.
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
    board.repair(Time(10), 0, Snapshot::default());
    board.unmark_lost();
    // `tcp_packets_in_flight`: the retransmission of a segment that was not lost is in flight in addition to
    // it.
    assert_eq!((board.pipe(), board.next_lost()), (6 * MSS, None));
    assert_eq!(seen(&mut board), [1, 2, 3, 4, 0]);
    // A delivery beyond a gap removes only one of the two from the pipe, unless a D-SACK reports both.
    sack(&mut board, &[(1, 2)]);
    board.acknowledge(0, |_| {});
    assert_eq!(board.pipe(), 5 * MSS);
    board.acknowledge(MSS, |_| {});
    assert_eq!((board.pipe(), board.has_repairs()), (3 * MSS, false));
}

/// Returns the segments that RACK visits, in its order.
fn seen(board: &mut Scoreboard) -> Vec<u64> {
    let mut seen = Vec::new();
    board.mark_in_order(|segment| {
        seen.push(segment.range().0 / MSS);
        Some(false)
    });
    seen
}

/// `tcp_rack_detect_loss` removes the segments that it marks from its list, and an undo does not put them
/// back; a timeout marks segments without the list.
#[test]
fn rack_does_not_look_twice_at_a_transmission_that_it_gave_up() {
    let mut board = board(4);
    board.mark_in_order(|segment| Some(segment.range().0 < 2 * MSS));
    board.unmark_lost();
    assert_eq!(seen(&mut board), [2, 3]);
    board.mark_where(|number, _| number == 2);
    assert_eq!(seen(&mut board), [3]);
    board.unmark_lost();
    assert_eq!(seen(&mut board), [2, 3]);
}

/// `tcp_xmit_retransmit_queue` stops when as much is being retransmitted as is lost.
#[test]
fn repairs_of_what_was_not_lost_hold_others_back() {
    let mut board = board(6);
    board.mark_lost(0);
    board.repair(Time(10), 0, Snapshot::default());
    board.unmark_lost();
    board.mark_lost(3);
    assert_eq!(board.next_lost(), None);
    board.mark_lost(4);
    assert_eq!(board.next_lost(), Some(3));
}

/// `tcp_sacktag_one`: a D-SACK of a retransmitted segment that had been reported delivered ends its
/// retransmission.
#[test]
fn a_dsack_ends_a_repair() {
    let mut board = board(6);
    board.mark_lost(1);
    board.repair(Time(10), 1, Snapshot::default());
    board.unmark_lost();
    sack(&mut board, &[(1, 3)]);
    assert_eq!((board.pipe(), board.repairs()), (5 * MSS, 1));
    let found = board.sack_duplicate((MSS, 2 * MSS), 0, 0, |_| {});
    assert_eq!(found, Duplicates { repeated: 1, needless: Some(MSS) });
    assert_eq!((board.pipe(), board.repairs()), (4 * MSS, 0));
    assert_eq!(board.sack_duplicate((MSS, 2 * MSS), 2 * MSS, 0, |_| {}).repeated, 0, "below the marker");
}

proptest! {
    /// Skipping blocks that the last ACK already had does not change which segments are delivered.
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
                if acked % 2 == 0 && board.end() < 20 {
                    board.send_next(Time(at), Snapshot::default());
                }
            }
            let sent = |&(first, length): &(u64, u64)| (first, (first + length).min(board.end()));
            let blocks: Vec<_> = blocks.iter().map(sent).filter(|(first, end)| first < end).collect();
            forgetful.known = <_>::default();
            prop_assert_eq!(sack(&mut board, &blocks), sack(&mut forgetful, &blocks));
            prop_assert_eq!(board.pipe(), forgetful.pipe());
        }
    }

    /// The counters agree with the states of the segments for any reports.
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
                5 => board.probe(now, number, Snapshot::default()),
                6 if length == 1 => board.unmark_lost(),
                6 if length == 2 => board.forget_sacks(),
                6 => drop(board.sack_duplicate((number * MSS, (number + length) * MSS), 0, 0, |_| {})),
                _ => if let Some(lost) = board.next_lost() {
                    board.repair(now, lost, Snapshot::default());
                },
            }
            let sum = |tag: fn(&SentSegment) -> bool| -> u64 {
                let tagged = (board.first..board.end()).filter_map(|n| board.get(n)).filter(|segment| tag(segment));
                tagged.map(SentSegment::bytes).sum()
            };
            let (lost, repaired) = (sum(|segment| segment.lost), sum(|segment| segment.repaired));
            prop_assert_eq!(board.pipe(), sum(|segment| !segment.sacked && !segment.lost) + repaired);
            prop_assert_eq!((board.lost_bytes, board.repaired_bytes), (lost, repaired));
            let sacked = (board.first..board.end()).filter(|&n| board.get(n).unwrap().sacked);
            prop_assert_eq!(board.sacked_segments() as usize, sacked.count());
            prop_assert!(board.fack() >= board.una() && board.fack() <= board.next());
        }
    }
}
