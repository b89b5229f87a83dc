use nodeb_base::packet::EcnField;
use nodeb_base::rng::Streams;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push { flow: u32, size: u32, capable: bool },
    Pop,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let push = (0u32..4, 40u32..1501, any::<bool>()).prop_map(|(flow, size, capable)| Step::Push {
        flow,
        size,
        capable,
    });
    let step = prop_oneof![3 => push, 2 => Just(Step::Pop)];
    prop::collection::vec((0u64..40, step), 0..400)
}

fn with_limit(name: &str, limit: u32) -> QueueSpec {
    serde_json::from_value(serde_json::json!({ name: { "limit": limit } })).unwrap()
}

/// Packets taken by the link (`popped`), dropped on arrival (`refused`) or later (`discarded`).
#[derive(Debug, Default, PartialEq)]
struct History {
    pushed: Vec<Packet>,
    popped: Vec<Packet>,
    refused: Vec<Packet>,
    discarded: Vec<Packet>,
    counts: QueueCounts,
    longest: usize,
}

fn play(spec: &QueueSpec, seed: u64, steps: &[(u64, Step)]) -> History {
    let stream = Streams::new(seed, 0).stream("law", 0, "queue");
    let mut queue = spec.build(Rate(1_000_000), stream);
    let (mut drops, mut history, mut now) = (DropLog::default(), History::default(), Time::ZERO);
    for (seq, &(ms, step)) in steps.iter().enumerate() {
        now += nodeb_base::units::Duration::from_millis(ms);
        match step {
            Step::Push { flow, size, capable } => {
                let ecn = if capable { EcnField::Ect0 } else { EcnField::NotEct };
                let packet = Packet { ecn, flow_hash: flow, ..Packet::new(seq as u64, size) };
                history.pushed.push(packet);
                if !queue.push(now, packet, &mut drops) {
                    history.refused.push(packet);
                }
            }
            Step::Pop => history.popped.extend(queue.pop(now, &mut drops)),
        }
        history.discarded.extend(drops.take_discarded().map(|(packet, _)| packet));
        let gone = history.popped.len() + history.refused.len() + history.discarded.len();
        assert_eq!(queue.len(), history.pushed.len() - gone);
        let bytes = |packets: &[Packet]| packets.iter().map(|p| u64::from(p.size)).sum::<u64>();
        let gone = bytes(&history.popped) + bytes(&history.refused) + bytes(&history.discarded);
        assert_eq!(queue.bytes(), bytes(&history.pushed) - gone);
        history.longest = history.longest.max(queue.len());
    }
    while let Some(packet) = queue.pop(now, &mut drops) {
        history.popped.push(packet);
    }
    assert!(queue.is_empty());
    history.discarded.extend(drops.take_discarded().map(|(packet, _)| packet));
    history.counts = drops.counts;
    history
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_are_conserved_in_order_and_within_the_limit(
        steps in steps(), limit in 2u32..40, seed in 0u64..100,
    ) {
        for name in QueueSpec::NAMES {
            let history = play(&with_limit(name, limit), seed, &steps);
            let mut all: Vec<u64> = [&history.popped, &history.refused, &history.discarded]
                .into_iter().flatten().map(|packet| packet.id.0).collect();
            all.sort_unstable();
            let pushed: Vec<u64> = history.pushed.iter().map(|packet| packet.id.0).collect();
            prop_assert_eq!(&all, &pushed, "{}", name);
            let dropped = (history.refused.len() + history.discarded.len()) as u64;
            prop_assert_eq!(history.counts.dropped(), dropped, "{}", name);
            prop_assert!(history.longest <= limit as usize, "{}", name);
            for flow in 0..4 {
                let order: Vec<u64> =
                    history.popped.iter().filter(|p| p.flow_hash == flow).map(|p| p.id.0).collect();
                prop_assert!(order.is_sorted(), "{}: {:?}", name, order);
            }
            let capable = |id| history.pushed.iter().any(|p| p.id == id && p.ecn.is_capable());
            prop_assert!(history.popped.iter().all(|p| p.ecn != EcnField::Ce || capable(p.id)), "{}", name);
        }
    }

    #[test]
    fn results_are_reproducible(steps in steps(), seed in 0u64..100) {
        for spec in QueueSpec::defaults() {
            prop_assert_eq!(play(&spec, seed, &steps), play(&spec, seed, &steps));
        }
    }

    #[test]
    fn no_drops_without_congestion(sizes in prop::collection::vec(40u32..1501, 1..200)) {
        for spec in QueueSpec::defaults() {
            let push = |size| (20, Step::Push { flow: 0, size, capable: false });
            let steps: Vec<_> = sizes.iter().flat_map(|&size| [push(size), (1, Step::Pop)]).collect();
            prop_assert_eq!(play(&spec, 1, &steps).counts, QueueCounts::default(), "{}", spec.key());
        }
    }
}
