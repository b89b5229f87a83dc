use nodeb_tcp::numbering::Numbering;

use super::*;

const MS: u64 = 1_000_000;

struct Air {
    agent: SnoopAgent,
    retransmitted: Vec<Segment>,
}

impl Air {
    fn new(params: &Snoop) -> Self {
        Self { agent: SnoopAgent::new(params, Numbering::Segments), retransmitted: Vec::new() }
    }

    fn segments(&mut self, ms: u64, seqs: std::ops::RangeInclusive<u64>) {
        for seq in seqs {
            let segment = Segment { size: 1500, seq, ..Segment::control(0, Kind::Data) };
            self.agent.on_segment(Time(ms * MS), &segment);
        }
    }

    /// For each ACK true if forwarded, and the segments retransmitted.
    fn acks(&mut self, ms: u64, seqs: &[u64]) -> (Vec<bool>, Vec<u64>) {
        let ack = |seq| Segment { seq, ..Segment::control(0, Kind::Ack) };
        let on = seqs
            .iter()
            .map(|&seq| self.agent.on_ack(Time(ms * MS), &ack(seq), &mut self.retransmitted))
            .collect();
        (on, self.retransmitted.drain(..).map(|packet| packet.seq).collect())
    }
}

#[test]
fn loss_on_the_air_is_hidden_from_the_sender() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=6);
    assert_eq!(air.acks(50, &[1, 2]), (vec![true, true], vec![]));
    // Segment 3 is lost. The duplicate ACKs that segments 4, 5 and 6 cause are suppressed, and segment 3 is
    // retransmitted once.
    assert_eq!(air.acks(60, &[2, 2, 2]), (vec![false; 3], vec![3]));
    assert_eq!(air.acks(90, &[6]), (vec![true], vec![]));
    assert_eq!(air.agent.counts, SnoopCounts { retransmissions: 1, suppressed: 3, ..SnoopCounts::default() });
    assert_eq!(air.agent.timer(), None, "nothing is outstanding");
}

#[test]
fn further_duplicates_reveal_a_lost_local_retransmission() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=4);
    // Segment 1 is lost. Segments 2 to 4 cause one duplicate ACK each, and the first one triggers the retransmission.
    assert_eq!(air.acks(50, &[0]), (vec![true], vec![]), "of the SYN, the first ACK that is seen");
    assert_eq!(air.acks(60, &[0, 0, 0]), (vec![false; 3], vec![1]));
    air.segments(70, 5..=6);
    // Segments 5 and 6 cause more duplicate ACKs than expected, which shows that the retransmission of
    // segment 1 is lost too.
    assert_eq!(air.acks(120, &[0]), (vec![false], vec![1]));
    assert_eq!(air.acks(121, &[0]), (vec![false], vec![]));
    assert_eq!(air.acks(150, &[6]).0, [true]);
}

#[test]
fn loss_before_the_node_b_is_left_to_the_sender() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=2);
    air.segments(1, 4..=6);
    assert_eq!(air.acks(50, &[2]), (vec![true], vec![]));
    assert_eq!(air.acks(60, &[2, 2, 2]), (vec![true; 3], vec![]));
    // The sender's own retransmission is cached, but the agent forwards the duplicate ACKs that are in flight.
    air.segments(100, 3..=3);
    assert_eq!(air.acks(101, &[2]), (vec![true], vec![]));
    assert_eq!(air.acks(150, &[6]), (vec![true], vec![]));
}

#[test]
fn outdated_ack_is_suppressed() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=3);
    assert_eq!(air.acks(50, &[3, 1]), (vec![true, false], vec![]));
}

#[test]
fn timeout_doubles_without_acks() {
    let mut air = Air::new(&Snoop { max_retransmissions: 3, ..Snoop::default() });
    air.segments(0, 1..=1);
    assert_eq!(air.acks(40, &[1]), (vec![true], vec![]));
    // After one measured round trip of 40 ms the timeout is 40 + 4 x 20 ms (RFC 6298, 2.2).
    air.segments(1000, 2..=3);
    let mut due = Vec::new();
    while let Some(at) = air.agent.timer() {
        due.push(at.0 / MS);
        air.agent.on_timer(at, &mut air.retransmitted);
    }
    assert_eq!(due, [1120, 1360, 1840, 2800]);
    assert_eq!(air.retransmitted.iter().map(|packet| packet.seq).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(air.agent.counts.timeouts, 3);
}

/// True if forwarded, and the segments retransmitted.
fn answer(air: &mut Air, ms: u64, seq: u64, answers_retransmission: bool) -> (bool, Vec<u64>) {
    let ack = Segment { answers_retransmission, seq, ..Segment::control(0, Kind::Ack) };
    let on = air.agent.on_ack(Time(ms * MS), &ack, &mut air.retransmitted);
    (on, air.retransmitted.drain(..).map(|packet| packet.seq).collect())
}

/// The radio is silent for 300 ms and loses nothing. The copy of 2 causes a duplicate ACK, which without
/// Eifel triggers the next segment, and so on.
#[test]
fn spurious_timeout_causes_further_copies_without_eifel() {
    for eifel in [false, true] {
        let mut air = Air::new(&Snoop { eifel, ..Snoop::default() });
        air.segments(0, 1..=1);
        assert_eq!(answer(&mut air, 40, 1, false), (true, vec![]));
        air.segments(1000, 2..=5);
        assert_eq!(air.agent.timer(), Some(Time(1120 * MS)));
        air.agent.on_timer(Time(1120 * MS), &mut air.retransmitted);
        assert_eq!(air.retransmitted.drain(..).map(|packet| packet.seq).collect::<Vec<_>>(), [2]);
        // After the silence the originals arrive first, and then the copy of segment 2.
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

/// After round trips of 40 ms and 300 ms the timeout is 72.5 + 4 (3 x 20 + 260) / 4 = 392.5 ms.
#[test]
fn eifel_measures_round_trips_of_retransmitted_segments() {
    for (eifel, tenths) in [(false, 1_200), (true, 3_925)] {
        let mut air = Air::new(&Snoop { eifel, ..Snoop::default() });
        air.segments(0, 1..=1);
        answer(&mut air, 40, 1, false);
        air.segments(1000, 2..=3);
        air.agent.on_timer(Time(1120 * MS), &mut air.retransmitted);
        answer(&mut air, 1300, 2, false);
        assert_eq!(air.agent.timer(), Some(Time(1300 * MS + tenths * MS / 10)));
    }
    // The ACK of the retransmission also gives a round-trip time: 100 ms, from its transmission at 1120 ms to
    // its ACK at 1220 ms.
    let mut air = Air::new(&Snoop { eifel: true, ..Snoop::default() });
    air.segments(0, 1..=1);
    answer(&mut air, 40, 1, false);
    air.segments(1000, 2..=3);
    air.agent.on_timer(Time(1120 * MS), &mut air.retransmitted);
    answer(&mut air, 1220, 2, true);
    // After this second round-trip time the timeout is 47.5 + 4 (3 x 20 + 60) / 4 = 167.5 ms.
    assert_eq!((air.agent.timer(), air.agent.counts.spurious), (Some(Time(1220 * MS + 1_675 * MS / 10)), 0));
}

/// Their ACKs always bear the mark, whichever copy they answer.
#[test]
fn eifel_ignores_the_senders_retransmissions() {
    let mut air = Air::new(&Snoop { eifel: true, ..Snoop::default() });
    air.segments(0, 1..=1);
    answer(&mut air, 40, 1, false);
    let repeated = Segment { size: 1500, seq: 2, retransmission: true, ..Segment::control(0, Kind::Data) };
    air.agent.on_segment(Time(1000 * MS), &repeated);
    air.agent.on_timer(Time(1120 * MS), &mut air.retransmitted);
    answer(&mut air, 1300, 2, true);
    assert_eq!(air.agent.counts, SnoopCounts { timeouts: 1, ..SnoopCounts::default() });
    air.segments(2000, 3..=3);
    assert_eq!(air.agent.timer(), Some(Time(2120 * MS)), "the round trip is still 40 ms");
}

/// After a handover.
#[test]
fn reset_clears_cache_and_measurements() {
    let mut air = Air::new(&Snoop::default());
    air.segments(0, 1..=6);
    assert_eq!(air.acks(40, &[1, 1, 1]), (vec![true, false, false], vec![2]));
    air.agent.reset();
    assert_eq!(air.agent.timer(), None);
    assert_eq!(air.acks(60, &[1, 1, 1]), (vec![true; 3], vec![]), "duplicate ACKs are left to the sender");
    assert_eq!(air.agent.counts.retransmissions, 1, "counts are kept");
    // The agent starts anew with the sender's own retransmission and with new segments.
    air.segments(100, 2..=2);
    air.segments(101, 7..=9);
    assert_eq!(air.acks(150, &[7]), (vec![true], vec![]));
    assert_eq!(air.acks(160, &[7]), (vec![false], vec![8]));
}

#[test]
fn segments_beyond_a_full_cache_are_not_cached() {
    let mut air = Air::new(&Snoop { cache: NonZeroU32::MIN, ..Snoop::default() });
    air.segments(0, 1..=3);
    assert_eq!(air.agent.counts.uncached, 2);
    assert_eq!(air.acks(50, &[1, 1]), (vec![true, true], vec![]), "2 is not in the cache");
}

#[test]
fn retransmission_waits_for_the_duplicate_threshold() {
    let mut air = Air::new(&Snoop { dup_threshold: NonZeroU32::new(3).unwrap(), ..Snoop::default() });
    air.segments(0, 1..=5);
    assert_eq!(air.acks(50, &[1]).0, [true]);
    assert_eq!(air.acks(60, &[1, 1]), (vec![false; 2], vec![]));
    assert_eq!(air.acks(61, &[1]), (vec![false], vec![2]));
}
