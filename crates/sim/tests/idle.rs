use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_base::units::Duration;
use nodeb_sim::scenario;

const USER: &str = "[[users]]\ntraffic.ftp.size = \"1 kB\"\n";

/// Lines, the key without effect, and a part of the reason.
const VOID: &[(&str, &str, &str)] = &[
    (
        "radio.dch = { bler = 0.2, errors.process.bsc.error_rate = 0.1 }",
        "radio.dch.bler",
        "model in `errors`",
    ),
    (
        "radio.hs_dsch = { bler = 0.2, errors.process.bsc.error_rate = 0.1 }",
        "radio.hs_dsch.bler",
        "model in `errors`",
    ),
    (
        "radio.dch = { rlc = \"am\", retransmission_delay = \"50 ms\" }",
        "radio.dch.retransmission_delay",
        "arq",
    ),
    (
        "radio.dch = { rlc = \"slotted\", retransmission_delay = \"50 ms\" }",
        "radio.dch.retransmission_delay",
        "arq",
    ),
    ("radio.dch.rlc.am.at_max_dat = \"reset\"", "radio.dch.rlc.am.at_max_dat", "max_dat"),
    ("radio.hs_dsch.rlc.am.command_timer = \"1 s\"", "radio.hs_dsch.rlc.am.command_timer", "discard_timer"),
    ("radio.hsdpa.rlc.am.at_max_dat = \"reset\"", "radio.hsdpa.rlc.am.at_max_dat", "max_dat"),
    (
        "uplink.rate = \"1 Mbps\"\nradio.trace = { down.times_ms = [1], up.times_ms = [2] }",
        "uplink.rate",
        "radio.trace.up",
    ),
    ("radio.hsdpa = { link_adaptation = \"shannon\", codes = 5 }", "radio.hsdpa.codes", "capacity"),
    (
        "radio.hsdpa = { link_adaptation = \"shannon\", nack_error = 0.1 }",
        "radio.hsdpa.nack_error",
        "can fail",
    ),
    (
        "radio.hsdpa = { link_adaptation = \"shannon\", decoding = \"one_number\" }",
        "radio.hsdpa.decoding",
        "can fail",
    ),
];

/// Keys of `hsdpa`, keys of `ue`, the key without effect (empty if accepted), and a part of the reason.
const VOID_UE: &[(&str, &str, &str, &str)] = &[
    (
        "cell.power_dbm = 40.0",
        "channel.constant.snr_db = 3.0",
        "radio.hsdpa.cell.power_dbm",
        "position in the cell",
    ),
    ("cell.radius = \"2 km\"", "channel = \"fading\"", "radio.hsdpa.cell.radius", "position in the cell"),
    (
        "handover.hysteresis_db = 7.5",
        "channel = \"fading\"",
        "radio.hsdpa.handover.hysteresis_db",
        "position",
    ),
    ("link_adaptation.cqi.cycle = \"4 ms\"", RATES, "radio.hsdpa.link_adaptation", "recorded rates"),
    ("", "channel.fading = { profile = \"flat\", taps = [{ delay = \"0 s\", power_db = 0 }] }", "", ""),
    (
        "",
        "channel.fading = { profile = \"pedestrian_a\", taps = [{ delay = \"0 s\", power_db = 0 }] }",
        "users.0.ue.channel.fading.profile",
        "taps",
    ),
    ("", RATES_AND_CATEGORY, "users.0.ue.category", "recorded rates"),
    (
        "link_adaptation.cqi.error_db = 1.0",
        "channel.trace = { snrs_db = [1.0], cqi = [9], at_end = \"loop\" }",
        "radio.hsdpa.link_adaptation.cqi.error_db",
        "recorded",
    ),
];
const RATES: &str = "channel.trace = { rates = [\"1 Mbps\"], at_end = \"loop\" }";
const RATES_AND_CATEGORY: &str =
    "category = 10\nue.channel.trace = { rates = [\"1 Mbps\"], at_end = \"loop\" }";

fn refusal(text: &str) -> Option<String> {
    scenario::from_toml(text, "s.toml", &[]).err().map(|error| error.to_string())
}

fn assert_refused(text: &str, key: &str, why: &str) {
    let refused = refusal(text);
    let message = refused.as_deref().unwrap_or_default();
    assert_eq!(refused.is_some(), !key.is_empty(), "{text}{message}");
    assert!(message.contains(key) && message.contains(why), "{text}{message}");
    assert!(key.is_empty() || message.contains(": this has no effect: "), "{message}");
}

#[test]
fn keys_without_effect_are_rejected() {
    for (keys, key, why) in VOID {
        assert_refused(&format!("{keys}\n{USER}"), key, why);
    }
    for (radio, ue, key, why) in VOID_UE {
        assert_refused(&format!("[radio.hsdpa]\n{radio}\n{USER}ue.{ue}\n"), key, why);
    }
}

#[test]
fn delay_budget_is_refused_unless_scheduler_looks_at_deadlines() {
    for scheduler in SchedulerSpec::defaults() {
        let looks = scheduler.build(1, Duration::from_millis(2)).view().deadline;
        let name = scheduler.key();
        let text = format!("radio.hsdpa.scheduler = \"{name}\"\n{USER}bearer.delay_budget = \"1 s\"\n");
        assert_eq!(refusal(&text).is_none(), looks, "{name}: {:?}", refusal(&text));
    }
}

#[test]
fn traffic_keys_of_real_phones_are_rejected() {
    for keys in ["traffic.ftp.size = \"1 kB\"", "tcp.linux = {}", "start = \"1 s\"", "stagger = \"1 s\""] {
        let key = keys.split([' ', '.']).next().unwrap_or_default();
        let text = format!("[[users]]\nreal = true\ncount = 2\n{keys}\n");
        assert_refused(&text, &format!("s.toml:4: users.0.{key}"), "real");
    }
    assert_eq!(refusal("[[users]]\nreal = true\ncount = 2\nue.category = 6\n[radio.hsdpa]\n"), None);
}

#[test]
fn rejection_names_line_and_key() {
    let text = format!("[radio.dch]\nerrors.process.bsc.error_rate = 0.1\nbler = 0.2\n{USER}");
    let message = refusal(&text).unwrap();
    assert!(message.starts_with("s.toml:3: radio.dch.bler: this has no effect"), "{message}");
    let own = format!("tcp.linux = {{}}\n{USER}tcp = \"classic\"\n");
    assert!(refusal(&own).unwrap().starts_with("s.toml:1: tcp: this has no effect"));
    let ci = format!("radio.hs_dsch.pdus_per_tti = 2\n{USER}ci = [1.0, 2.0]\n");
    assert!(refusal(&ci).unwrap().starts_with("s.toml:1: radio.hs_dsch.pdus_per_tti: this has"));
}

#[test]
fn keys_with_effect_or_default_value_are_accepted() {
    for keys in [
        "radio.dch = { bler = 0.01, errors.process.bsc.error_rate = 0.1 }",
        "radio.dch = { rlc = \"am\", retransmission_delay = \"99 ms\" }",
        "radio.hs_dsch = { rlc = \"am\", retransmission_delay = \"20 ms\" }",
        "radio.dch.rlc.am = { max_dat = 4, at_max_dat = \"reset\", command_timer = \"1 s\" }",
        "uplink.rate = \"1 Mbps\"\nradio.trace.down.times_ms = [1]",
        "uplink = { delay = \"9 ms\", loss = 0.1 }\nradio.trace = { down.times_ms = [1], up.times_ms = [2] }",
        "radio.hsdpa.cell.power_dbm = 40.0",
        "radio.hsdpa = { link_adaptation = \"shannon\", ack_error = 0.1 }",
    ] {
        assert_eq!(refusal(&format!("{keys}\n{USER}")), None);
    }
}

#[test]
fn default_value_without_effect_is_superfluous() {
    let text = format!("[radio.dch]\nerrors.process.bsc.error_rate = 0.1\nbler = 0.01\n{USER}");
    assert_eq!(
        scenario::superfluous(&text, "s.toml", &[]),
        [
            "s.toml:3: radio.dch.bler: this has no effect: the model in `errors` says which blocks fail; leave it out"
        ]
    );
    assert!(scenario::superfluous(&text.replace("bler", "#"), "s.toml", &[]).is_empty());
}

#[test]
fn possible_edges_of_a_range_are_only_warned_about() {
    for (keys, user, key) in [
        (
            "radio.hsdpa.cell.shadowing = { sigma_db = 0, correlation_distance = \"9 m\" }",
            "",
            "correlation_distance",
        ),
        ("radio.hsdpa.cell.shadowing.correlation_distance = \"9 m\"", "", "no user in the cell moves"),
        ("radio.fach_dch.paging_time = \"1 s\"", "", "radio.fach_dch.paging_time"),
        ("tcp.linux.ecn = true", "", "tcp.linux.ecn"),
        ("", "tcp.linux.ecn = true", "users.0.tcp.linux.ecn"),
        ("", "stagger = \"1 s\"", "users.0.stagger"),
        ("wired.delay = \"1e6 s\"", "", "duration: the run ends at 100000 s, within a single round trip of"),
    ] {
        let scenario = scenario::from_toml(&format!("{keys}\n{USER}{user}\n"), "s.toml", &[]).unwrap();
        let warnings = scenario.warnings().join("\n");
        assert!(warnings.contains(key), "{keys}{user}: {warnings}");
    }
    let marked = format!("tcp.linux.ecn = true\nwired.queue.codel.ecn = true\n{USER}");
    assert!(scenario::from_toml(&marked, "s.toml", &[]).unwrap().warnings().is_empty());
}
