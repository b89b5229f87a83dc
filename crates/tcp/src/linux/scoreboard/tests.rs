use super::*;
use proptest::prelude::*;

const MSS: u64 = 100;

fn scoreboard(sent: u64) -> Scoreboard {
    let mut scoreboard = Scoreboard::new(MSS);
    scoreboard.write(20 * MSS - 50);
    for number in 0..sent {
        scoreboard.send_next(Time(number), Snapshot::default());
    }
    scoreboard
}

fn sack(scoreboard: &mut Scoreboard, blocks: &[(u64, u64)]) -> Vec<u64> {
    let mut out = Vec::new();
    let bytes = blocks.iter().map(|&(first, end)| (first * MSS, end * MSS));
    scoreboard.sack(bytes, |delivered| out.push(delivered.range().0 / MSS));
    out
}

#[test]
fn segment_is_lost_after_three_sacks_beyond_it() {
    let mut scoreboard = scoreboard(10);
    assert_eq!(sack(&mut scoreboard, &[(1, 3)]), [1, 2]);
    assert_eq!(scoreboard.mark_by_count(), 0);
    assert_eq!(sack(&mut scoreboard, &[(1, 4)]), [3]);
    assert_eq!((scoreboard.mark_by_count(), scoreboard.next_lost()), (MSS, Some(0)));
    // By `SetPipe` of RFC 6675, the 10 outstanding segments less 3 delivered and 1 lost are in
    // flight.
    assert_eq!(scoreboard.pipe(), 6 * MSS);
    scoreboard.repair(Time(20), 0, Snapshot::default());
    assert_eq!((scoreboard.pipe(), scoreboard.next_lost()), (7 * MSS, None));
    // Segment 0 is still missing, but marking by count never marks a retransmission. So only
    // segment 4 is marked.
    sack(&mut scoreboard, &[(5, 8), (1, 4)]);
    assert_eq!((scoreboard.mark_by_count(), scoreboard.next_lost()), (MSS, Some(4)));
}

#[test]
fn last_segment_may_be_short() {
    let mut scoreboard = scoreboard(20);
    assert!(scoreboard.is_exhausted() && scoreboard.pipe() == 20 * MSS);
    let mut bytes = 0;
    scoreboard.sack([(19 * MSS, 20 * MSS - 50)].into_iter(), |segment| bytes += segment.bytes());
    assert_eq!((bytes, scoreboard.pipe()), (50, 19 * MSS));
    let mut delivered = 0;
    scoreboard.acknowledge(20 * MSS - 50, |_| delivered += 1);
    assert_eq!((delivered, scoreboard.una(), scoreboard.head()), (19, 20 * MSS - 50, None));
}

#[test]
fn unmarked_segments_are_in_flight_again() {
    let mut scoreboard = scoreboard(5);
    for number in 0..5 {
        scoreboard.mark_lost(number);
    }
    assert_eq!(scoreboard.pipe(), 0);
    scoreboard.repair(Time(10), 0, Snapshot::default());
    scoreboard.unmark_lost();
    // By `tcp_packets_in_flight` the retransmission of segment 0, which was not lost after all, is
    // in flight in addition to that segment.
    assert_eq!((scoreboard.pipe(), scoreboard.next_lost()), (6 * MSS, None));
    assert_eq!(seen(&mut scoreboard), [1, 2, 3, 4, 0]);
    // A SACK of segment 1 removes this segment from the pipe. The cumulative ACK of segment 0
    // removes segment 0 and its retransmission.
    sack(&mut scoreboard, &[(1, 2)]);
    scoreboard.acknowledge(0, |_| {});
    assert_eq!(scoreboard.pipe(), 5 * MSS);
    scoreboard.acknowledge(MSS, |_| {});
    assert_eq!((scoreboard.pipe(), scoreboard.has_repairs()), (3 * MSS, false));
}

/// In the order of RACK's visits.
fn seen(scoreboard: &mut Scoreboard) -> Vec<u64> {
    let mut seen = Vec::new();
    scoreboard.mark_in_order(|segment| {
        seen.push(segment.range().0 / MSS);
        Some(false)
    });
    seen
}

/// `tcp_rack_detect_loss` removes what it marks from its list, also for an undo; a timeout does not.
#[test]
fn rack_visits_marked_transmission_only_once() {
    let mut scoreboard = scoreboard(4);
    scoreboard.mark_in_order(|segment| Some(segment.range().0 < 2 * MSS));
    scoreboard.unmark_lost();
    assert_eq!(seen(&mut scoreboard), [2, 3]);
    scoreboard.mark_where(|number, _| number == 2);
    assert_eq!(seen(&mut scoreboard), [3]);
    scoreboard.unmark_lost();
    assert_eq!(seen(&mut scoreboard), [2, 3]);
}

/// `tcp_xmit_retransmit_queue`.
#[test]
fn retransmissions_are_limited_by_lost_segments() {
    let mut scoreboard = scoreboard(6);
    scoreboard.mark_lost(0);
    scoreboard.repair(Time(10), 0, Snapshot::default());
    scoreboard.unmark_lost();
    scoreboard.mark_lost(3);
    assert_eq!(scoreboard.next_lost(), None);
    scoreboard.mark_lost(4);
    assert_eq!(scoreboard.next_lost(), Some(3));
}

/// `tcp_sacktag_one`.
#[test]
fn dsack_ends_retransmission_in_flight() {
    let mut scoreboard = scoreboard(6);
    scoreboard.mark_lost(1);
    scoreboard.repair(Time(10), 1, Snapshot::default());
    scoreboard.unmark_lost();
    sack(&mut scoreboard, &[(1, 3)]);
    assert_eq!((scoreboard.pipe(), scoreboard.repairs()), (5 * MSS, 1));
    let found = scoreboard.sack_duplicate((MSS, 2 * MSS), 0, 0, |_| {});
    assert_eq!(found, Duplicates { repeated: 1, needless: Some(MSS) });
    assert_eq!((scoreboard.pipe(), scoreboard.repairs()), (4 * MSS, 0));
    assert_eq!(scoreboard.sack_duplicate((MSS, 2 * MSS), 2 * MSS, 0, |_| {}).repeated, 0, "below the marker");
}

proptest! {
    /// Blocks that the last ACK already had.
    #[test]
    fn skipping_known_blocks_changes_nothing(
        acks in prop::collection::vec((0u64..6, prop::collection::vec((0u64..20, 1u64..8), 0..=3)), 1..30),
    ) {
        let (mut scoreboard, mut forgetful) = (scoreboard(8), scoreboard(8));
        let mut una = 0;
        for (at, (acked, blocks)) in (0..).zip(acks) {
            una += acked / 5;
            for scoreboard in [&mut scoreboard, &mut forgetful] {
                scoreboard.acknowledge(una * MSS, |_| {});
                if acked % 2 == 0 && scoreboard.end() < 20 {
                    scoreboard.send_next(Time(at), Snapshot::default());
                }
            }
            let sent = |&(first, length): &(u64, u64)| (first, (first + length).min(scoreboard.end()));
            let blocks: Vec<_> = blocks.iter().map(sent).filter(|(first, end)| first < end).collect();
            forgetful.previous_blocks = <_>::default();
            prop_assert_eq!(sack(&mut scoreboard, &blocks), sack(&mut forgetful, &blocks));
            prop_assert_eq!(scoreboard.pipe(), forgetful.pipe());
        }
    }

    #[test]
    fn counters_agree_with_segment_states(
        events in prop::collection::vec((0u8..8, 0u64..20, 1u64..8), 1..100),
    ) {
        let mut scoreboard = scoreboard(0);
        for (at, (event, number, length)) in events.into_iter().enumerate() {
            let now = Time(at as u64);
            match event {
                0 | 1 if !scoreboard.is_exhausted() => scoreboard.send_next(now, Snapshot::default()),
                2 => drop(scoreboard.acknowledge(((number * MSS) / 3).min(scoreboard.next()), |_| {})),
                3 => drop(sack(&mut scoreboard, &[(number, number + length), (number / 2, number / 2 + 1)])),
                4 => drop(scoreboard.mark_lost(number)),
                5 => scoreboard.probe(now, number, Snapshot::default()),
                6 if length == 1 => scoreboard.unmark_lost(),
                6 if length == 2 => scoreboard.forget_sacks(),
                6 => drop(scoreboard.sack_duplicate((number * MSS, (number + length) * MSS), 0, 0, |_| {})),
                _ => if let Some(lost) = scoreboard.next_lost() {
                    scoreboard.repair(now, lost, Snapshot::default());
                },
            }
            let count = |tag: fn(&SentSegment) -> bool| -> u32 {
                let segments = (scoreboard.first..scoreboard.end()).filter_map(|n| scoreboard.get(n));
                segments.filter(|segment| tag(segment)).count() as u32
            };
            let (lost, repaired) = (count(|segment| segment.lost), count(|segment| segment.repaired));
            let in_flight = count(|segment| !segment.sacked && !segment.lost) + repaired;
            prop_assert_eq!(scoreboard.pipe(), u64::from(in_flight) * MSS);
            prop_assert_eq!((scoreboard.lost_segments, scoreboard.repairs()), (lost, repaired));
            let sacked = (scoreboard.first..scoreboard.end()).filter(|&n| scoreboard.get(n).unwrap().sacked);
            prop_assert_eq!(scoreboard.sacked_segments() as usize, sacked.count());
            prop_assert!(scoreboard.fack() >= scoreboard.una() && scoreboard.fack() <= scoreboard.next());
        }
    }
}
