//! A mean fairness index of at least 0.95 for four flows.

use nodeb_radio::RadioSpec;
use nodeb_sim::{Control, run, scenario};
use nodeb_tcp::classic::recovery::ControlSpec;
use nodeb_tcp::linux::control::CongestionSpec;

const FLOWS: u32 = 4;
const REPLICATIONS: u64 = 5;

/// Jain, Chiu & Hawe, DEC-TR-301 (1984): (sum x)^2 / (n sum x^2).
fn jain(shares: &[f64]) -> f64 {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    shares.iter().sum::<f64>().powi(2) / (shares.len() as f64 * squares)
}

/// Four flows at 10 Mbps with a buffer of 2.1 times the bandwidth-delay product. Each first downloads 1 kB
/// alone, to measure the round trip without queueing: a Vegas flow that starts with queued packets would take
/// more than its share for ever (La, Walrand & Anantharam, 1998).
fn indices(tcp: &str) -> Vec<f64> {
    let text = format!(
        r#"
        duration = "100 s"
        wired = {{ rate = "10 Mbps", delay = "20 ms", queue.drop_tail.limit = 70 }}
        radio.link.rate = "100 Mbps"
        uplink = {{ rate = "10 Mbps", delay = "0 s", jitter.uniform.most = "2 ms" }}
        {tcp}
        [[users]]
        count = {FLOWS}
        stagger = "1 s"
        traffic.replay = {{ times = ["0 s", "10 s"], bytes = ["1 kB", "1 GB"] }}
        "#
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let index = |number| {
        let result = run(&scenario, 1, number, &Control::default()).unwrap();
        let shares: Vec<_> = result.flows.iter().map(|flow| flow.delivered_bytes as f64).collect();
        let used = shares.iter().sum::<f64>() * 8.0 / 90.0 / 10e6;
        assert!(used > 0.8, "{tcp}: only {used:.2} of the bottleneck are used");
        jain(&shares)
    };
    (0..REPLICATIONS).map(index).collect()
}

/// They change the window in proportion to it, so losses that hit all flows at once do not change the ratio
/// of their windows (Chiu & Jain, Computer Networks and ISDN Systems 17, 1989, section 3).
const WITHOUT_CONVERGENCE: &[&str] = &["scalable"];

fn assert_fair(control: &str, tcp: &str) {
    let indices = indices(tcp);
    let mean = indices.iter().sum::<f64>() / indices.len() as f64;
    let converges = !WITHOUT_CONVERGENCE.contains(&control);
    assert!(mean >= 0.95 || !converges, "{tcp}: {indices:?}");
}

#[test]
fn flows_of_every_classic_control_share_equally() {
    for control in ControlSpec::NAMES {
        let tcp = format!(
            "tcp.classic = {{ control = \"{control}\", max_window = 1000, initial_ssthresh = 1000 }}"
        );
        assert_fair(control, &tcp);
    }
}

#[test]
fn flows_of_every_linux_control_share_equally() {
    for control in CongestionSpec::NAMES {
        assert_fair(control, &format!("tcp.linux.control = \"{control}\""));
    }
}

/// Student's t of the slopes of bytes over the number of the user, each at another delay and start, as
/// opportunities of requests depend on the number: users start at the same time, and tie at every boundary of a TTI and
/// in the shared queue of the wired link.
fn trend_by_number(radio: &str, transfer: &str) -> f64 {
    let slope = |number: u64| {
        let text = format!(
            r#"
            duration = "30 s"
            wired = {{ rate = "400 kbps", delay = "{} us", queue.drop_tail.limit = 25 }}
            radio.{radio} = {{}}
            [[users]]
            count = 8
            start = "{} us"
            {transfer}.ftp.size = "1 GB"
            "#,
            20_000 + 370 * number,
            1_370 * number
        );
        let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let result = run(&scenario, 1, number, &Control::default()).unwrap();
        let bytes = result.flows.iter().map(|flow| flow.delivered_bytes as f64);
        bytes.zip(0..).map(|(bytes, user)| bytes * (f64::from(user) - 3.5)).sum::<f64>()
    };
    let slopes: Vec<f64> = (0..24).map(slope).collect();
    let n = slopes.len() as f64;
    let mean = slopes.iter().sum::<f64>() / n;
    let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / (n - 1.0);
    mean / (variance / n).sqrt()
}

#[test]
fn shares_of_equal_users_have_no_trend_by_number_on_any_radio() {
    for radio in RadioSpec::NAMES.iter().filter(|radio| **radio != "trace") {
        for transfer in ["traffic", "upload"] {
            let t = trend_by_number(radio, transfer);
            println!("{radio}, {transfer}: t = {t:.2}");
            // |t| of 23 degrees of freedom exceeds 4 in 0.06 % of such tests.
            assert!(t.abs() < 4.0, "{radio}, {transfer}: t = {t}");
        }
    }
}
