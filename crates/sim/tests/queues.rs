use nodeb_net::QueueSpec;
use nodeb_net::loss::LossSpec;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::{Control, run, scenario};

/// Keys of the links that [`download`] can make the bottleneck.
const PLACES: [&str; 2] = ["wired", "radio.link"];

/// Links of 100 Mbps; `at` has 2 Mbps and `keys`.
fn download(at: &str, keys: &str, size: &str, seed: u64) -> RunResult {
    let link = |place: &str| {
        let (rate, keys) = if place == at { ("2 Mbps", keys) } else { ("100 Mbps", "") };
        format!("[{place}]\nrate = \"{rate}\"\ndelay = \"20 ms\"\n{keys}\n")
    };
    let text = format!(
        "duration = \"1000 s\"\nrecord.rtt = true\n{}{}\
         [uplink]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n\
         [tcp.classic]\ncontrol = \"newreno\"\n\
         [[users]]\ntraffic.ftp.size = \"{size}\"\n",
        link("wired"),
        link("radio.link"),
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, seed, 0, &Control::default()).expect("a finished run")
}

/// Towards the phone.
fn lost_packets(result: &RunResult) -> u64 {
    let wired = result.link("wired_down").unwrap();
    wired.lost + wired.overflowed + wired.dropped_early + result.bearers[0].counts.packets_dropped
}

fn assert_delivered(result: &RunResult, bytes: u64, what: &str) {
    let flow = &result.flows[0];
    assert!(flow.complete, "{what}");
    assert_eq!((flow.app_bytes, flow.delivered_bytes), (bytes, bytes), "{what}");
}

/// As TOML.
fn some_loss(name: &str) -> &'static str {
    match name {
        "random" => "random.p = 0.02",
        "periodic" => "periodic = { every = 50, offset = 10 }",
        "list" => "list.positions = [5, 6, 40, 300]",
        "data_list" => "data_list.positions = [5, 6, 40, 300]",
        "gilbert_elliott" => "gilbert_elliott = { p = 0.01, r = 0.4, loss_in_bad = 0.8 }",
        _ => panic!("the loss `{name}` has no place in this test"),
    }
}

#[test]
fn downloads_complete_with_every_queue_discipline() {
    for (at, name) in PLACES.iter().flat_map(|at| QueueSpec::NAMES.iter().map(move |name| (at, name))) {
        let result = download(at, &format!("queue.{name}.limit = 20"), "4 MB", 1);
        assert_delivered(&result, 4_000_000, name);
        assert!(lost_packets(&result) > 0, "{at} {name}");
    }
}

#[test]
fn downloads_complete_with_every_loss_model() {
    for (at, name) in PLACES.iter().flat_map(|at| LossSpec::NAMES.iter().map(move |name| (at, name))) {
        let result = download(at, &format!("loss.{}", some_loss(name)), "2 MB", 1);
        assert_delivered(&result, 2_000_000, name);
        assert!(lost_packets(&result) > 2, "{at} {name}");
    }
}

#[test]
fn loss_list_drops_exactly_the_listed_packets() {
    for at in PLACES {
        assert_eq!(lost_packets(&download(at, "loss.list.positions = [5, 6, 40, 300]", "2 MB", 1)), 4);
    }
    assert_eq!(lost_packets(&download("radio.link", "drop_list = [5, 6, 40, 300]", "2 MB", 1)), 4);
}

#[test]
fn loss_as_number_equals_the_random_model() {
    for at in PLACES {
        let (bare, named) =
            (download(at, "loss = 0.02", "1 MB", 3), download(at, "loss.random.p = 0.02", "1 MB", 3));
        assert_eq!((lost_packets(&bare), bare.events), (lost_packets(&named), named.events));
    }
}

#[test]
fn lost_acks_cost_little() {
    let result = download("wired", "ack_loss = 0.05", "2 MB", 1);
    assert_delivered(&result, 2_000_000, "ack_loss");
    assert_eq!(lost_packets(&result), 0);
    assert!(result.flows[0].sender.timeouts <= 1, "{}", result.flows[0].sender.timeouts);
    let without = download("wired", "", "2 MB", 1);
    assert!(result.flows[0].download_s < 1.5 * without.flows[0].download_s);
}

/// Measured after 20 s.
fn settled_rtt_s(result: &RunResult) -> f64 {
    let late: Vec<f64> =
        result.series.rtt.iter().filter(|row| row.at.as_secs() > 20.0).map(|row| row.rtt.as_secs()).collect();
    assert!(late.len() > 50);
    late.iter().sum::<f64>() / late.len() as f64
}

#[test]
fn aqm_keeps_the_queue_of_a_long_transfer_short() {
    for at in PLACES {
        let drop_tail = download(at, "queue.drop_tail.limit = 100", "20 MB", 1);
        let base_s = 0.09;
        let other = settled_rtt_s(&drop_tail) - base_s;
        for name in ["codel", "fq_codel", "pie"] {
            let result = download(at, &format!("queue = \"{name}\""), "20 MB", 1);
            assert_delivered(&result, 20_000_000, name);
            let this = settled_rtt_s(&result) - base_s;
            assert!(this < 0.5 * other, "{at} {name}: {this} s against {other} s");
            // The short queue keeps the link busy: 20 MB at 2 Mbps with 3 % of headers take at least 82 s.
            assert!(result.flows[0].download_s < 100.0, "{at} {name}: {}", result.flows[0].download_s);
        }
    }
}

#[test]
fn jitter_does_not_reorder_but_reordering_does() {
    for at in PLACES {
        let calm = download(at, "jitter.uniform.most = \"30 ms\"", "1 MB", 1);
        assert_delivered(&calm, 1_000_000, "jitter");
        assert_eq!((calm.flows[0].sender.retransmissions, lost_packets(&calm)), (0, 0));
        let late = download(at, "reordering = { share = 0.02, delay = \"60 ms\" }", "1 MB", 1);
        assert_delivered(&late, 1_000_000, "reordering");
        assert!(late.flows[0].sender.fast_retransmits > 3, "{at} {}", late.flows[0].sender.fast_retransmits);
    }
}

#[test]
fn downloads_complete_under_all_impairments_and_are_repeatable() {
    let text = "duration = \"1000 s\"\n\
        [uplink]\nloss.periodic = { every = 40, offset = 20 }\nqueue = \"codel\"\njitter.uniform.most = \"3 ms\"\n\
        [radio.link]\nloss.gilbert_elliott = { p = 0.01, r = 0.5 }\nqueue = \"red\"\n\
        jitter.normal = { mean = \"4 ms\", deviation = \"1 ms\" }\n\
        reordering = { share = 0.01, delay = \"20 ms\" }\n\
        [[users]]\ncount = 2\ntraffic.ftp.size = \"500 kB\"\n";
    let scenario = scenario::from_toml(text, "test.toml", &[]).unwrap();
    let once = run(&scenario, 1, 0, &Control::default()).unwrap();
    assert!(once.flows.iter().all(|flow| flow.complete && flow.delivered_bytes == 500_000));
    assert!(once.bearers.iter().any(|bearer| bearer.counts.packets_dropped > 0));
    let again = run(&scenario, 1, 0, &Control::default()).unwrap();
    assert_eq!((once.events, once.end_s.to_bits()), (again.events, again.end_s.to_bits()));
}
