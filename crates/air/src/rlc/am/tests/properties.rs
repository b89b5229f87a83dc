//! Only packets that were sent are delivered, each at most once; packets are lost only by a discard or a
//! reset; and the window is respected.

use std::num::NonZeroU32;

use nodeb_base::units::{Duration, Probability};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::params::{AcknowledgedMode, AtMaxDat, Polling, Reports, StatusFormat};
use super::super::pdu::Pdu;
use super::{Air, Delivered, Entities, entities};

fn timer() -> impl Strategy<Value = Duration> {
    (1..400u64).prop_map(Duration::from_millis)
}

fn optional_timer() -> impl Strategy<Value = Option<Duration>> {
    prop_oneof![Just(None), timer().prop_map(Some)]
}

fn optional_count() -> impl Strategy<Value = Option<NonZeroU32>> {
    prop_oneof![Just(None), (1..20u32).prop_map(NonZeroU32::new)]
}

fn polling() -> impl Strategy<Value = Polling> {
    let counts = (optional_count(), optional_count());
    let share = prop_oneof![Just(None), (0.1..1.0).prop_map(|share| Some(Probability(share)))];
    (any::<[bool; 2]>(), counts, share, timer(), optional_timer(), optional_timer()).prop_map(
        |(
            [last_pdu, last_retransmission],
            (every_pdus, every_packets),
            window_share,
            timer,
            prohibit,
            periodic,
        )| {
            Polling {
                last_pdu: last_pdu || periodic.is_none(),
                last_retransmission,
                every_pdus,
                every_packets,
                window_share,
                timer,
                prohibit,
                periodic,
            }
        },
    )
}

fn reports() -> impl Strategy<Value = Reports> {
    let format = select(vec![StatusFormat::List, StatusFormat::Bitmap]);
    (any::<bool>(), optional_timer(), optional_timer(), format, 0..150u64, 0.0..0.7).prop_map(
        |(on_missing, prohibit, periodic, format, delay, loss)| Reports {
            on_missing,
            prohibit,
            periodic,
            format,
            delay: Duration::from_millis(delay),
            loss_rate: Probability(loss),
        },
    )
}

fn parameters(discards: bool) -> impl Strategy<Value = AcknowledgedMode> {
    let max_dat = prop_oneof![Just(None), (2..6u32).prop_map(NonZeroU32::new)];
    let at_max_dat = select(vec![AtMaxDat::Discard, AtMaxDat::Reset]);
    let discard_timer = prop_oneof![Just(None), (20..800u64).prop_map(|ms| Some(Duration::from_millis(ms)))];
    let windows = (1..24u32, 0..8u32);
    (windows, max_dat, at_max_dat, discard_timer, timer(), polling(), reports()).prop_map(
        move |((window, more), max_dat, at_max_dat, discard_timer, command_timer, poll, status)| {
            AcknowledgedMode {
                tx_window: NonZeroU32::new(window).expect("at least 1"),
                rx_window: NonZeroU32::new(window + more).expect("at least 1"),
                max_dat: max_dat.filter(|_| discards),
                at_max_dat,
                discard_timer: discard_timer.filter(|_| discards),
                command_timer,
                poll,
                status,
            }
        },
    )
}

/// Arrival (TTI) and size of packets; the losses repeat until TTI [`LOSSY`].
#[derive(Clone, Debug)]
struct Load {
    packets: Vec<(usize, u32)>,
    lost: Vec<bool>,
    per_tti: usize,
    order: Delivered,
    seed: u64,
}

fn load() -> impl Strategy<Value = Load> {
    let order = select(vec![Delivered::InSequence, Delivered::OutOfSequence]);
    let packets = vec((0..60usize, 1..60u32), 1..25);
    (packets, vec(any::<bool>(), 1..80), 1..5usize, order, any::<u64>())
        .prop_map(|(packets, lost, per_tti, order, seed)| Load { packets, lost, per_tti, order, seed })
}

/// TTIs in which PDUs may be lost.
const LOSSY: usize = 300;
const PATIENCE: usize = 60_000;

/// Checks in every TTI that the transmission window is respected.
fn run(params: &AcknowledgedMode, load: &Load) -> Result<Air<Entities>, TestCaseError> {
    let mut air = Air::new(entities(params, load.order, load.seed), load.per_tti);
    let mut packets = load.packets.clone();
    packets.sort_by_key(|(at, _)| *at);
    let (mut next, mut sent) = (0, 0);
    for tti in 0..PATIENCE {
        while next < packets.len() && packets[next].0 <= tti {
            air.push(next as u64..next as u64 + 1, packets[next].1);
            next += 1;
        }
        air.tti(&mut |_: &Pdu| {
            sent += 1;
            tti < LOSSY && load.lost[sent % load.lost.len()]
        });
        prop_assert!(air.rlc.sender.window_span() <= params.tx_window.get() as usize);
        if next == packets.len() && air.is_quiet() {
            return Ok(air);
        }
    }
    Err(TestCaseError::fail(format!("not over after {PATIENCE} TTIs: {:?}", air.rlc)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_delivered_exactly_once(params in parameters(false), load in load()) {
        let air = run(&params, &load)?;
        let mut numbers: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
        if load.order == Delivered::InSequence {
            prop_assert!(numbers.is_sorted(), "{:?}", numbers);
        }
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..load.packets.len() as u64).collect::<Vec<_>>());
        prop_assert!(air.dropped.is_empty());
    }

    #[test]
    fn packets_are_either_delivered_or_dropped(params in parameters(true), load in load()) {
        let air = run(&params, &load)?;
        let delivered: Vec<u64> = air.delivered.iter().map(|(_, number)| *number).collect();
        prop_assert!(load.order != Delivered::InSequence || delivered.is_sorted(), "{:?}", delivered);
        let mut all = [delivered, air.dropped].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..load.packets.len() as u64).collect::<Vec<_>>());
    }

    /// At most MaxDAT - 1 transmissions.
    #[test]
    fn max_dat_is_respected(params in parameters(true), load in load()) {
        let air = run(&params, &load)?;
        let mut times = std::collections::HashMap::new();
        for (_, sn, _) in air.data() {
            *times.entry(sn).or_insert(0) += 1;
        }
        let most = times.values().max().copied().unwrap_or(0);
        prop_assert!(params.max_dat.is_none_or(|max_dat| most < max_dat.get()), "{}", most);
    }
}
