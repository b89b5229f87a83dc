//! Four flows with the same congestion control share a bottleneck equally (mean fairness index of at least
//! 0.95), for every registered congestion control that converges.

use nodeb_sim::{Control, run, scenario};
use nodeb_tcp::classic::recovery::ControlSpec;
use nodeb_tcp::linux::control::CongestionSpec;

const FLOWS: u32 = 4;
const REPLICATIONS: u64 = 5;

/// Returns the fairness index of Jain, Chiu & Hawe, DEC-TR-301 (1984): (sum x)^2 / (n sum x^2), 1 for equal shares.
fn jain(shares: &[f64]) -> f64 {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    shares.iter().sum::<f64>().powi(2) / (shares.len() as f64 * squares)
}

/// Returns the fairness index of each replication with four flows at a bottleneck of 10 Mbps, whose buffer is 2.1
/// times the bandwidth-delay product.
///
/// Each flow first downloads 1 kB alone over the idle path, so that it measures the round trip without queueing. A
/// Vegas flow that starts while packets are queued would include the queue in its base round trip, and take more than
/// its share for ever (La, Walrand & Anantharam, 1998).
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

/// Congestion controls that need not converge to equal shares. These controls increase and reduce the window
/// in proportion to the window. So losses that hit all flows at once do not change the ratio of their windows
/// (Chiu & Jain, Computer Networks and ISDN Systems 17, 1989, section 3).
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
