//! Snoop's rules, by hand.

use nodeb_tcp::numbering::Numbering;

use super::*;

const MS: u64 = 1_000_000;

struct Air {
    agent: SnoopAgent,
    again: Vec<Segment>,
}

impl Air {
    fn new(params: &Snoop) -> Self {
        Self { agent: SnoopAgent::new(params, Numbering::Segments), again: Vec::new() }
    }

    fn segments(&mut self, ms: u64, seqs: std::ops::RangeInclusive<u64>) {
        for seq in seqs {
            let segment = Segment { size: 1500, seq, ..Segment::control(0, Kind::Data) };
            self.agent.on_segment(Time(ms * MS), &segment);
        }
    }

    /// Whether each ACK goes on, and the segments sent again.
    fn acks(&mut self, ms: u64, seqs: &[u64]) -> (Vec<bool>, Vec<u64>) {
        let ack = |seq| Segment { seq, ..Segment::control(0, Kind::Ack) };
        let on =
            seqs.iter().map(|&seq| self.agent.on_ack(Time(ms * MS), &ack(seq), &mut self.again)).collect();
        (on, self.again.drain(..).map(|packet| packet.seq).collect())
    }
}

#[test]
fn a_loss_on_the_air_stays_there() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=6);
    assert_eq!(air.acks(50, &[1, 2]), (vec![true, true], vec![]));
    // Segment 3 is lost: the duplicates of 4, 5 and 6 go nowhere, and 3 is sent once.
    assert_eq!(air.acks(60, &[2, 2, 2]), (vec![false; 3], vec![3]));
    assert_eq!(air.acks(90, &[6]), (vec![true], vec![]));
    assert_eq!(air.agent.counts, SnoopCounts { retransmissions: 1, suppressed: 3, ..SnoopCounts::default() });
    assert_eq!(air.agent.timer(), None, "nothing is outstanding");
}

#[test]
fn a_loss_of_the_local_retransmission_is_seen_by_the_duplicates_beyond_it() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=4);
    // 1 is lost; 2 to 4 cause a duplicate each, the first of which has it sent again.
    assert_eq!(air.acks(50, &[0]), (vec![true], vec![]), "of the SYN, the first ACK that is seen");
    assert_eq!(air.acks(60, &[0, 0, 0]), (vec![false; 3], vec![1]));
    air.segments(70, 5..=6);
    // The duplicates of 5 and 6 tell that 1 is lost once more.
    assert_eq!(air.acks(120, &[0]), (vec![false], vec![1]));
    assert_eq!(air.acks(121, &[0]), (vec![false], vec![]));
    assert_eq!(air.acks(150, &[6]).0, [true]);
}

#[test]
fn what_was_lost_before_the_node_b_is_the_senders_business() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=2);
    air.segments(1, 4..=6);
    assert_eq!(air.acks(50, &[2]), (vec![true], vec![]));
    assert_eq!(air.acks(60, &[2, 2, 2]), (vec![true; 3], vec![]));
    // The sender's retransmission is kept, but duplicates still on their way are not Snoop's.
    air.segments(100, 3..=3);
    assert_eq!(air.acks(101, &[2]), (vec![true], vec![]));
    assert_eq!(air.acks(150, &[6]), (vec![true], vec![]));
}

#[test]
fn an_ack_that_comes_late_is_of_no_use() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=3);
    assert_eq!(air.acks(50, &[3, 1]), (vec![true, false], vec![]));
}

#[test]
fn silence_is_answered_after_a_timeout_that_doubles() {
    let mut air = Air::new(&Snoop { max_retransmissions: 3, ..Snoop::default() });
    air.segments(0, 1..=1);
    assert_eq!(air.acks(40, &[1]), (vec![true], vec![]));
    // One round trip of 40 ms: the timeout is 40 + 4 x 20 ms.
    air.segments(1000, 2..=3);
    let mut due = Vec::new();
    while let Some(at) = air.agent.timer() {
        due.push(at.0 / MS);
        air.agent.on_timer(at, &mut air.again);
    }
    assert_eq!(due, [1120, 1360, 1840, 2800]);
    assert_eq!(air.again.iter().map(|packet| packet.seq).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(air.agent.counts.timeouts, 3);
}

/// One ACK with the mark of what it answers; whether it goes on, and the segments sent again.
fn answer(air: &mut Air, ms: u64, seq: u64, answers_retransmission: bool) -> (bool, Vec<u64>) {
    let ack = Segment { answers_retransmission, seq, ..Segment::control(0, Kind::Ack) };
    let on = air.agent.on_ack(Time(ms * MS), &ack, &mut air.again);
    (on, air.again.drain(..).map(|packet| packet.seq).collect())
}

/// The radio is silent for 300 ms and loses nothing, but the timer expires. The answers to the copy of 2 look like
/// losses: without Eifel each has the next segment sent again, whose copy causes the next answer.
#[test]
fn a_spurious_timeout_causes_further_copies_unless_eifel_recognizes_it() {
    for eifel in [false, true] {
        let mut air = Air::new(&Snoop { eifel, ..Snoop::default() });
        air.segments(0, 1..=1);
        assert_eq!(answer(&mut air, 40, 1, false), (true, vec![]));
        air.segments(1000, 2..=5);
        assert_eq!(air.agent.timer(), Some(Time(1120 * MS)));
        air.agent.on_timer(Time(1120 * MS), &mut air.again);
        assert_eq!(air.again.drain(..).map(|packet| packet.seq).collect::<Vec<_>>(), [2]);
        // The originals arrive after the silence, then the copy of 2.
        assert_eq!(answer(&mut air, 1300, 2, false), (true, vec![]));
        assert_eq!(answer(&mut air, 1305, 3, false), (true, vec![]));
        let copies = answer(&mut air, 1310, 3, true);
        assert_eq!(copies, (false, if eifel { vec![] } else { vec![4] }));
        assert_eq!(answer(&mut air, 1315, 4, false), (true, vec![]));
        if !eifel {
            assert_eq!(answer(&mut air, 1350, 4, true), (false, vec![5]), "and so on");
        }
        assert_eq!(answer(&mut air, 1360, 5, false), (true, vec![]));
        let counts = air.agent.counts;
        assert_eq!((counts.retransmissions, counts.timeouts), (if eifel { 0 } else { 2 }, 1));
        assert_eq!(counts.spurious, u64::from(eifel));
    }
}

/// The round trip of the original counts although it was sent again, so that the next timeout is long enough:
/// with 40 ms before and 300 ms now, 72.5 + 4 (3 x 20 + 260) / 4 ms.
#[test]
fn eifel_learns_round_trips_from_repeated_segments() {
    for (eifel, tenths) in [(false, 1_200), (true, 3_925)] {
        let mut air = Air::new(&Snoop { eifel, ..Snoop::default() });
        air.segments(0, 1..=1);
        answer(&mut air, 40, 1, false);
        air.segments(1000, 2..=3);
        air.agent.on_timer(Time(1120 * MS), &mut air.again);
        answer(&mut air, 1300, 2, false);
        assert_eq!(air.agent.timer(), Some(Time(1300 * MS + tenths * MS / 10)));
    }
    // The repetition tells the round trip as well: 100 ms from 1120 ms on.
    let mut air = Air::new(&Snoop { eifel: true, ..Snoop::default() });
    air.segments(0, 1..=1);
    answer(&mut air, 40, 1, false);
    air.segments(1000, 2..=3);
    air.agent.on_timer(Time(1120 * MS), &mut air.again);
    answer(&mut air, 1220, 2, true);
    // 47.5 + 4 (3 x 20 + 60) / 4 ms.
    assert_eq!((air.agent.timer(), air.agent.counts.spurious), (Some(Time(1220 * MS + 1_675 * MS / 10)), 0));
}

/// A retransmission of the sender's own bears the mark whichever copy is answered, and tells nothing.
#[test]
fn the_senders_repetitions_are_not_eifels() {
    let mut air = Air::new(&Snoop { eifel: true, ..Snoop::default() });
    air.segments(0, 1..=1);
    answer(&mut air, 40, 1, false);
    let repeated = Segment { size: 1500, seq: 2, retransmission: true, ..Segment::control(0, Kind::Data) };
    air.agent.on_segment(Time(1000 * MS), &repeated);
    air.agent.on_timer(Time(1120 * MS), &mut air.again);
    answer(&mut air, 1300, 2, true);
    assert_eq!(air.agent.counts, SnoopCounts { timeouts: 1, ..SnoopCounts::default() });
    air.segments(2000, 3..=3);
    assert_eq!(air.agent.timer(), Some(Time(2120 * MS)), "the round trip is still 40 ms");
}

/// After a handover the agent holds nothing, waits for nothing, and lets pass what it does not know.
#[test]
fn a_phone_that_has_left_is_forgotten() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=6);
    assert_eq!(air.acks(40, &[1, 1, 1]), (vec![true, false, false], vec![2]));
    air.agent.forget();
    assert_eq!(air.agent.timer(), None);
    assert_eq!(air.acks(60, &[1, 1, 1]), (vec![true; 3], vec![]), "duplicates are for the sender");
    assert_eq!(air.agent.counts.retransmissions, 1, "what was done stays counted");
    // The sender's own retransmission and new segments: the agent begins anew.
    air.segments(100, 2..=2);
    air.segments(101, 7..=9);
    assert_eq!(air.acks(150, &[7]), (vec![true], vec![]));
    assert_eq!(air.acks(160, &[7]), (vec![false], vec![8]));
}

#[test]
fn a_full_cache_lets_the_rest_pass_unseen() {
    let mut air = Air::new(&Snoop { cache: NonZeroU32::MIN, ..Snoop::default() });
    air.segments(0, 1..=3);
    assert_eq!(air.agent.counts.uncached, 2);
    assert_eq!(air.acks(50, &[1, 1]), (vec![true, true], vec![]), "2 is not in the cache");
}

#[test]
fn a_higher_threshold_waits_for_more_duplicates() {
    let mut air = Air::new(&Snoop { dup_threshold: NonZeroU32::new(3).unwrap(), ..Snoop::default() });
    air.segments(0, 1..=5);
    assert_eq!(air.acks(50, &[1]).0, [true]);
    assert_eq!(air.acks(60, &[1, 1]), (vec![false; 2], vec![]));
    assert_eq!(air.acks(61, &[1]), (vec![false], vec![2]));
}
