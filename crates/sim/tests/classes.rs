//! Classes of bearers on LTE, by what connections get.

use nodeb_radio::RadioSpec;
use nodeb_sim::metrics::{FlowRow, RunResult};
use nodeb_sim::scenario::Direction;
use nodeb_sim::{Control, run, scenario};

const SCHEDULERS: [&str; 3] = ["proportional_fair", "round_robin", "max_ci"];

fn simulate(text: &str) -> RunResult {
    let scenario = scenario::from_toml(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(scenario.radio, RadioSpec::Lte(_)));
    run(&scenario, 1, 0, &Control::default()).expect("a finished run")
}

/// 5 MHz, 20 full buffers in the direction of `traffic`, and a caller with 400 kbit/s in that direction.
fn crowd(traffic: &str, scheduler: &str, caller: &str) -> RunResult {
    let key = if traffic == "upload" { "uplink.scheduled.scheduler" } else { "scheduler" };
    simulate(&format!(
        "duration = \"8 s\"\nwired = {{ rate = \"1 Gbps\", delay = \"10 ms\" }}\ntcp = \"linux\"\n\
         radio.lte = {{ bandwidth = \"5 MHz\", {key} = \"{scheduler}\" }}\n\
         [[users]]\nname = \"caller\"\n{traffic}.cbr = {{ size = \"1000 B\", interval = \"20 ms\" }}\n\
         ue.channel.constant.snr_db = 5.0\n{caller}\n\
         [[users]]\nname = \"crowd\"\ncount = 20\nstagger = \"50 ms\"\n{traffic}.ftp.size = \"1 GB\"\n\
         ue.channel.constant.snr_db = 15.0\n",
    ))
}

fn delivered(flows: &[FlowRow]) -> f64 {
    flows.iter().map(|flow| flow.delivered_bytes as f64).sum()
}

// Tests the feature: priorities of bearers (worked example)
/// The caller gets its rate without delay by the scheduler; the crowd gives it up.
#[test]
fn guaranteed_rates_hold_in_a_crowd() {
    for traffic in ["traffic", "upload"] {
        for scheduler in SCHEDULERS {
            let bearer = "bearer = { qci = 2, prioritized_rate = \"600 kbps\" }";
            let [plain, guaranteed] = ["", bearer].map(|caller| crowd(traffic, scheduler, caller));
            let [before, after] = [&plain, &guaranteed].map(|result| &result.flows[0]);
            assert!(before.transfers < 300, "{traffic}, {scheduler}: {} of 400", before.transfers);
            assert!(after.transfers >= 399, "{traffic}, {scheduler}: {} of 400", after.transfers);
            assert!(after.transfer_delay_mean_s < 0.06, "{traffic}, {scheduler}: {after:?}");
            let share = delivered(&guaranteed.flows[1..]) / delivered(&plain.flows[1..]);
            assert!((0.85..1.0).contains(&share), "{traffic}, {scheduler}: {share}");
        }
    }
}

// Tests the feature: priorities of bearers (closed form)
/// A bearer with data at all times gets its rate, and more by the scheduler, not everything.
#[test]
fn full_buffers_get_their_guaranteed_rate() {
    for scheduler in SCHEDULERS {
        let text = |rate: &str| {
            format!(
                "duration = \"8 s\"\nradio.lte = {{ bandwidth = \"5 MHz\", scheduler = \"{scheduler}\" }}\n\
                 [tcp.linux]\n[[users]]\ncount = 10\ntraffic.ftp.size = \"1 GB\"\nue.channel.constant.snr_db = 15.0\n\
                 [[users]]\nname = \"far\"\ntraffic.ftp.size = \"1 GB\"\nue.channel.constant.snr_db = 3.0\n{rate}\n"
            )
        };
        let of_far = |rate: &str| simulate(&text(rate)).flows[10].delivered_bytes as f64 * 8.0 / 8.0; // in 8 s
        let guaranteed = of_far("bearer.prioritized_rate = \"1500 kbps\"");
        let rate = 1.5e6;
        assert!((0.85 * rate..1.5 * rate).contains(&guaranteed), "{scheduler}: {guaranteed} bit/s");
        assert!(of_far("") < 0.7 * rate, "{scheduler}");
    }
}

/// 10 phones of 15 dB with such a bearer and as many without; bit/s of either kind together.
fn halves(traffic: &str, scheduler: &str, bearer: &str, users_per_tti: u32) -> [f64; 2] {
    let (down, up) = if traffic == "upload" { ("", "uplink.scheduled.") } else { ("", "") };
    let group = |name: &str, bearer: &str| {
        format!(
            "[[users]]\nname = \"{name}\"\ncount = 10\n{traffic}.ftp.size = \"1 GB\"\n{bearer}\n\
             ue.channel.constant.snr_db = 15.0\n"
        )
    };
    let result = simulate(&format!(
        "duration = \"8 s\"\n[radio.lte]\nbandwidth = \"5 MHz\"\n{down}{up}scheduler = \"{scheduler}\"\n\
         {up}users_per_tti = {users_per_tti}\n[tcp.linux]\n{}{}",
        group("classed", bearer),
        group("plain", "")
    ));
    [0..10, 10..20].map(|half| delivered(&result.flows[half]) * 8.0 / 8.0)
}

/// Data within a rate precede others, not more: a rate of nearly 0 changes nothing, and together phones get what the
/// cell has.
#[test]
fn prioritized_rates_are_rates() {
    for traffic in ["traffic", "upload"] {
        for scheduler in ["proportional_fair", "round_robin"] {
            for users_per_tti in [2, 8] {
                let of = |rate: &str| {
                    let bearer = format!("bearer.prioritized_rate = \"{rate}\"");
                    halves(traffic, scheduler, if rate.is_empty() { "" } else { &bearer }, users_per_tti)
                };
                let (plain, little, much) = (of(""), of("1 kbps"), of("700 kbps"));
                let case =
                    format!("{traffic}, {scheduler}, {users_per_tti}: {plain:?}, {little:?}, {much:?}");
                for [before, after] in [0, 1].map(|half| [plain[half], little[half]]) {
                    assert!((after / before - 1.0).abs() < 0.03, "{case}");
                }
                assert!((6.3e6..10.5e6).contains(&much[0]), "{case}");
                assert!((much[0] + much[1]) / (plain[0] + plain[1]) > 0.98, "{case}");
            }
        }
    }
}

/// Of guarantees beyond the capacity, those of the higher priority hold.
#[test]
fn overload_is_shared_by_priority() {
    for (traffic, scheduler) in
        ["traffic", "upload"].into_iter().flat_map(|traffic| SCHEDULERS.map(|scheduler| (traffic, scheduler)))
    {
        let key = if traffic == "upload" { "uplink.scheduled." } else { "" };
        let group = |name: &str, count: u32, bearer: &str| {
            format!(
                "[[users]]\nname = \"{name}\"\ncount = {count}\n{traffic}.ftp.size = \"1 GB\"\n{bearer}\n\
                 ue.channel.constant.snr_db = 15.0\n"
            )
        };
        let result = simulate(&format!(
            "duration = \"8 s\"\n[radio.lte]\nbandwidth = \"5 MHz\"\n{key}scheduler = \"{scheduler}\"\n[tcp.linux]\n{}{}{}",
            group("high", 3, "bearer = { qci = 1, prioritized_rate = \"2500 kbps\" }"),
            group("low", 2, "bearer = { qci = 4, prioritized_rate = \"2500 kbps\" }"),
            group("plain", 5, ""),
        ));
        let bps = |group: std::ops::Range<usize>| delivered(&result.flows[group]) * 8.0 / 8.0;
        let (high, low, plain) = (bps(0..3), bps(3..5), bps(5..10));
        assert!((6.8e6..8.0e6).contains(&high), "{traffic}, {scheduler}: {high}, {low}, {plain}");
        assert!(low > 2e6 && plain < low, "{traffic}, {scheduler}: {high}, {low}, {plain}");
    }
}

/// Calls take no turns of the other phones.
#[test]
fn round_robin_is_fair_beside_guaranteed_rates() {
    for traffic in ["traffic", "upload"] {
        let key = if traffic == "upload" { "uplink.scheduled." } else { "" };
        let result = simulate(&format!(
            "duration = \"8 s\"\n[radio.lte]\nbandwidth = \"5 MHz\"\n{key}scheduler = \"round_robin\"\n\
             {key}users_per_tti = 4\n[tcp.linux]\n\
             [[users]]\nname = \"callers\"\ncount = 5\nstagger = \"4 ms\"\n\
             {traffic}.cbr = {{ size = \"160 B\", interval = \"20 ms\" }}\nue.channel.constant.snr_db = 15.0\n\
             bearer = {{ qci = 1, prioritized_rate = \"128 kbps\" }}\n\
             [[users]]\nname = \"plain\"\ncount = 20\n{traffic}.ftp.size = \"1 GB\"\n\
             ue.channel.constant.snr_db = 15.0\n"
        ));
        let plain = || result.flows[5..].iter().map(|flow| flow.delivered_bytes as f64);
        let (least, most) = (plain().fold(f64::INFINITY, f64::min), plain().fold(0.0, f64::max));
        assert!(least > 0.8 * most, "{traffic}: {least} to {most}");
        assert!(result.flows[..5].iter().all(|flow| flow.transfers > 395), "{traffic}");
    }
}

#[test]
fn a_guaranteed_rate_costs_a_phone_alone_nothing() {
    for traffic in ["traffic", "upload"] {
        for scheduler in SCHEDULERS {
            let text = |bearer: &str| {
                format!(
                    "duration = \"4 s\"\nradio.lte = {{ bandwidth = \"5 MHz\", scheduler = \"{scheduler}\" }}\n[[users]]\n\
                     {traffic}.ftp.size = \"1 GB\"\n{bearer}\nue.channel.constant.snr_db = 15.0\n"
                )
            };
            let rate = "bearer.prioritized_rate = \"1 Mbps\"";
            let [plain, guaranteed] = ["", rate].map(|bearer| delivered(&simulate(&text(bearer)).flows));
            assert_eq!(plain.to_bits(), guaranteed.to_bits(), "{traffic}, {scheduler}");
        }
    }
}

// Tests the feature: logical channel prioritization (worked example)
/// ACKs of either direction wait behind the other direction's data, unless they have a bearer of their own. The lower
/// class starves unless it has a prioritized rate.
#[test]
fn bearers_separate_acks_from_data_of_the_other_direction() {
    let mbps = |bearers: &str| {
        let result = simulate(&format!(
            "duration = \"10 s\"\nwired = {{ rate = \"1 Gbps\", delay = \"10 ms\" }}\nradio.lte.bandwidth = \"5 MHz\"\n\
             [tcp.linux]\n[[users]]\ntraffic.ftp.size = \"1 GB\"\nupload.ftp.size = \"1 GB\"\n\
             ue.channel.constant.snr_db = 15.0\n{bearers}\n"
        ));
        assert_eq!(result.flows[1].direction, Direction::Up);
        [0, 1].map(|flow| result.flows[flow].delivered_bytes as f64 * 8.0 / 10e6)
    };
    let [_, up] = mbps("");
    let [down, separate] = mbps("upload_bearer = {}");
    assert!(down > 10.0 && separate > 1.3 * up, "{up} Mbit/s together, {separate} apart");
    let [_, starved] = mbps("bearer.qci = 8\nupload_bearer = {}");
    let [_, served] = mbps("bearer.qci = 8\nupload_bearer.prioritized_rate = \"500 kbps\"");
    assert!(starved < 0.1 && served > 0.9 * separate, "{starved}, {served} Mbit/s");
}
