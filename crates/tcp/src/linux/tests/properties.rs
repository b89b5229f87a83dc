use proptest::prelude::*;

use super::super::rate::Sampler;
use super::*;

#[derive(Clone, Debug)]
struct Trouble {
    drops: BTreeSet<usize>,
    lost_acks: BTreeSet<usize>,
    late_ms: BTreeMap<usize, u64>,
    params: Linux,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let drops = prop::collection::btree_set(0usize..120, 0..40);
    let lost_acks = prop::collection::btree_set(0usize..100, 0..20);
    let late_ms = prop::collection::btree_map(0usize..120, 1u64..800, 0..10);
    let switches = prop::array::uniform6(any::<bool>());
    (drops, lost_acks, late_ms, 3_000u64..100_000, switches).prop_map(
        |(drops, lost_acks, late_ms, buffer, [sack, timestamps, rack, pacing, frto, undo])| {
            let params = Linux {
                receive_buffer: Size(buffer),
                timestamps,
                sack,
                dsack: sack,
                rack: sack && rack,
                tail_loss_probe: sack && rack,
                pacing,
                frto,
                undo,
                ..Linux::default()
            };
            Trouble { drops, lost_acks, late_ms, params }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// [`Pair::check`] at every step; in the end all data has arrived, and no timer is armed.
    #[test]
    fn every_control_satisfies_invariants(trouble in trouble()) {
        for control in CongestionSpec::defaults() {
            let name = control.key();
            let Trouble { drops, lost_acks, late_ms, params } = trouble.clone();
            let mut lab = transfer(100_000, &Linux { control, ..params }, 20).with_fate(move |i, _, _| {
                (!drops.contains(&i)).then(|| MS(late_ms.get(&i).copied().unwrap_or(0)))
            });
            lab.lost_acks = lost_acks;
            lab.run(LONG);
            prop_assert!(lab.pairs[0].done.is_some(), "{name}");
            prop_assert_eq!(lab.pairs[0].receiver.delivered_bytes(), 100_000, "{}", name);
        }
    }

    #[test]
    fn rate_samples_do_not_affect_other_controls(trouble in trouble()) {
        let Trouble { drops, lost_acks, late_ms, params } = trouble;
        for control in CongestionSpec::defaults().into_iter().filter(|control| !control.paces_itself()) {
            let run = |sampler: Sampler| {
                let mut sent = Vec::new();
                let mut lab = transfer(100_000, &Linux { control: control.clone(), ..params.clone() }, 20)
                    .with_fate(|i, now, packet| {
                        sent.push((now, *packet));
                        (!drops.contains(&i)).then(|| MS(late_ms.get(&i).copied().unwrap_or(0)))
                    });
                lab.lost_acks = lost_acks.clone();
                lab.pairs[0].sender.sampler = sampler;
                lab.run(LONG);
                drop(lab);
                sent
            };
            prop_assert_eq!(run(Sampler::new(false)), run(Sampler::new(true)), "{}", control.key());
        }
    }

    /// Even impossible ones.
    #[test]
    fn sender_survives_any_ack(
        acks in prop::collection::vec(
            (0u64..60_000, 0u32..80_000, prop::collection::vec((0u64..60_000, 1u64..20_000), 0..=3), 0u32..2_000_000),
            1..80,
        ),
        control in 0..CongestionSpec::NAMES.len(),
    ) {
        let control = CongestionSpec::defaults().swap_remove(control);
        let (mut sender, mut out) = (Sender::new(0, &with(control)), Vec::new());
        sender.write(Time::ZERO, 50_000, &mut out);
        sender.open(Time::ZERO, &mut out);
        let mut now = Time::ZERO;
        for (seq, window, blocks, echo_us) in acks {
            now += MS(7);
            let mut ack = Segment { seq, window, echo_us, timestamp_us: 1, ..Segment::control(0, Kind::Ack) };
            for (first, length) in blocks {
                ack.sack.push(first, first + length);
            }
            sender.on_ack(now, &ack, &mut out);
            if let Some(at) = sender.timer().filter(|&at| at <= now + MS(3)) {
                sender.on_timer(at.max(now), &mut out);
            }
            prop_assert!(sender.window().cwnd >= 1.0);
            prop_assert!(sender.scoreboard.next() <= 50_000 && sender.scoreboard.una() <= sender.scoreboard.next());
        }
    }
}
