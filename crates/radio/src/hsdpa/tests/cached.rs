use nodeb_base::units::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use nodeb_air::mac::sched::{Candidate, Scheduler, View};

fn scenario() -> impl Strategy<Value = Value> {
    let scheduler = prop_oneof![
        Just("proportional_fair"),
        Just("max_ci"),
        Just("normalized"),
        Just("tcp_aware"),
        Just("round_robin"),
    ];
    let adaptation = prop_oneof![
        Just(json!({})),
        Just(json!({ "outer_loop": {} })),
        Just(json!({ "delay": "0 ms", "outer_loop": { "step_db": 1.0 } })),
        Just(json!({ "delay": "16 ms" })),
        Just(json!({ "cycle": "6 ms" })),
    ];
    let rlc = prop_oneof![
        Just(json!("um")),
        Just(json!("am")),
        Just(json!({ "um": { "discard_timer": "50 ms" } }))
    ];
    let iub =
        prop_oneof![Just(json!(null)), Just(json!({})), Just(json!({ "delay": "1 ms", "room": "1 kB" }))];
    let harq = (1..=8u32, prop_oneof![Just(2u32), Just(8), Just(32)], 6..30u32, 0.0..0.5f64, 0.0..0.5f64);
    (scheduler, adaptation, rlc, iub, harq, 1..=15u32, any::<bool>()).prop_map(
        |(scheduler, cqi, rlc, iub, harq, codes, segmentation)| {
            let (processes, window, late, ack, nack) = harq;
            json!({
                "scheduler": scheduler, "link_adaptation": { "cqi": cqi }, "rlc": rlc, "iub": iub,
                "processes": processes, "reordering_window": window, "codes": codes,
                "retransmission_delay": format!("{late} ms"), "max_transmissions": 4,
                "ack_error": ack, "nack_error": nack, "segmentation": segmentation,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// High speeds and wrong ACKs and NACKs make a block fail repeatedly, so that a later block may be due
    /// before it.
    #[test]
    fn cached_state_equals_newly_computed_state(
        text in scenario(),
        kmh in prop_oneof![Just(0u32), Just(3), Just(50), Just(120), Just(350)],
        users in 1..8u64,
        mut draw in any::<u64>(),
    ) {
        let user = |id: u64| {
            let profile = ["pedestrian_a", "vehicular_a"][id as usize % 2];
            let place = json!({ "speed": format!("{kmh} km/h"), "profile": profile });
            let category = [10, 6, 1, 8][id as usize % 4];
            ue(json!({ "category": category, "channel": { "cell": place } }))
        };
        let ues: Vec<_> = (0..users).map(user).collect();
        let mut bench = Bench::new(&hsdpa(text), &ues, draw);
        let mut now = Time::ZERO;
        for _ in 0..120 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bench.push(now, (draw >> 33) as usize % ues.len(), 40 + (draw >> 40) as u32 % 1_460);
            now += Duration(draw >> 20 & 0x7f_ffff);
            bench.run(now);
        }
        bench.run(now + Duration::from_secs(1));
    }
}

/// Without a selection rule ([`Rule`](nodeb_air::mac::sched::Rule)) the MAC must pass all candidates.
#[derive(Debug)]
struct SeesAll(Box<dyn Scheduler>);

impl Scheduler for SeesAll {
    fn view(&self) -> View {
        self.0.view()
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.0.pick(tti, candidates)
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.0.served(tti, user, units);
    }
}

/// In the first 1500 TTIs all users always have packets; in the other 1000 single packets arrive.
fn served(params: &Hsdpa, users: &[Ue], sees_all: bool) -> Vec<(Time, usize)> {
    let mut bench = Bench::new(params, users, 0);
    if sees_all {
        bench.bearer.mac.replace_scheduler(|scheduler| Box::new(SeesAll(scheduler)));
    }
    bench.saturate(1_500, 3, 1_000);
    let mut draw = 1u64;
    for tti in 1_500..2_500 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bench.push(Time(tti * TTI.0), (draw >> 33) as usize % users.len(), 40 + (draw >> 40) as u32 % 1_460);
        bench.run(Time((tti + 1) * TTI.0));
    }
    bench.ttis()
}

#[test]
fn skipped_users_would_not_have_been_selected() {
    for scheduler in ["proportional_fair", "max_ci", "round_robin"] {
        for (kmh, category) in [(0, 6), (3, 10), (3, 1), (12, 6), (120, 6)] {
            for link_adaptation in [json!("cqi"), json!({ "cqi": { "outer_loop": {} } }), json!("shannon")] {
                let place = json!({ "speed": format!("{kmh} km/h") });
                let users = vec![ue(json!({ "category": category, "channel": { "cell": place } })); 20];
                let params = hsdpa(json!({
                    "scheduler": scheduler, "link_adaptation": link_adaptation, "codes": 1 + category,
                    "ack_error": 0.1, "nack_error": 0.1, "segmentation": category != 1,
                }));
                let [some, all] = [false, true].map(|sees_all| served(&params, &users, sees_all));
                assert!(some == all && all.len() > 1_000, "{scheduler}, {kmh} km/h, category {category}");
            }
        }
    }
}
