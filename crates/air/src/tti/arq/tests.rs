use nodeb_base::context::{Counts, Output, TestBench};
use nodeb_base::units::{Duration, Probability};
use proptest::prelude::*;

use super::*;
use crate::Hop;
use crate::mac::harq::CombiningSpec;
use crate::mac::sched::SchedulerSpec;
use crate::rlc::Delivered;
use crate::tti::TtiBearer;

fn air(bler: f64, max_transmissions: Option<u32>, delivered: Delivered) -> Air {
    Air {
        channels: 3,
        tti: Duration::from_millis(10),
        pdu_bytes: 40,
        pdus_per_block: 2,
        bler: Probability(bler),
        retransmission_delay: Duration::from_millis(35),
        max_transmissions,
        delivered,
        buffer: 40,
        combining: CombiningSpec::default(),
    }
}

fn bearer(air: &Air) -> TtiBearer<ArqMac> {
    let users = [UserRadio::default()];
    let scheduler = SchedulerSpec::default().build(users.len(), air.tti);
    TtiBearer::new(air.tti, ArqMac::new(air.clone(), None, &users, scheduler, &Streams::new(1, 0)))
}

/// Packets with their times, and counters.
fn play(
    mut bearer: TtiBearer<ArqMac>,
    offers: &[(Time, u32)],
    end: Time,
    mask: Mask,
) -> (Vec<(Time, Output)>, Counts) {
    let mut around = TestBench::with_mask(mask, end);
    let mut out = Vec::new();
    let mut run = |bearer: &mut TtiBearer<ArqMac>, around: &mut TestBench, until: Time| {
        while let Some(instant) = bearer.next_wake().filter(|instant| instant.time() <= until) {
            bearer.wake(&mut around.at(instant.time()), instant);
            out.extend(around.common.out.drain(..).map(|output| (instant.time(), output)));
        }
    };
    for (id, &(at, size)) in (0..).zip(offers.iter().filter(|(at, _)| *at < end)) {
        run(&mut bearer, &mut around, at);
        bearer.accept(&mut around.at(at), 0, Packet::new(id, size));
    }
    run(&mut bearer, &mut around, end);
    bearer.apply_deferred(&mut around.at(end));
    (out, around.counts)
}

proptest! {
    /// For any arrivals and any end; with a listener to TTIs or blocks, nothing is simulated ahead.
    #[test]
    fn simulating_ahead_changes_no_result(
        gaps in prop::collection::vec((0u64..300, 1u32..4_000), 1..60),
        bler in prop_oneof![Just(0.0), Just(0.1), Just(0.5)],
        most in prop::option::of(1u32..4),
        out_of_sequence in any::<bool>(),
        end_ms in 1u64..6_000,
    ) {
        let delivered = if out_of_sequence { Delivered::OutOfSequence } else { Delivered::InSequence };
        let air = air(bler, most, delivered);
        let mut at = 0;
        // No arrival coincides with a start of a TTI, as arrivals are 77 ns after a whole
        // millisecond.
        let offers: Vec<_> = gaps.into_iter().map(|(gap, size)| { at += gap; (Time(at * 1_000_000 + 77), size) }).collect();
        let end = Time(end_ms * 1_000_000 + 13);
        let ahead = play(bearer(&air), &offers, end, Mask::NONE);
        for mask in [Mask::TTIS, Mask::BLOCKS] {
            prop_assert_eq!(&ahead, &play(bearer(&air), &offers, end, mask));
        }
    }
}
