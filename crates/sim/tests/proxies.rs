//! Proxies, Snoop and TCP per group in whole runs.

use nodeb_sim::metrics::RunResult;
use nodeb_sim::{Control, run, scenario};

/// One download of 2 MB over a wired link with a round trip of 200 ms and a short radio link.
fn download(keys: &str, radio_loss: f64, wired_loss: f64) -> RunResult {
    let text = format!(
        "duration = \"2000 s\"\nrecord.rtt = true\n{keys}\n\
         [wired]\nrate = \"10 Mbps\"\ndelay = \"100 ms\"\nloss = {wired_loss}\n\
         [radio.link]\nrate = \"2 Mbps\"\ndelay = \"10 ms\"\nloss = {radio_loss}\n\
         [uplink]\nrate = \"1 Mbps\"\ndelay = \"10 ms\"\n\
         [[users]]\ntraffic.ftp = {{ size = \"2 MB\", request = \"300 B\" }}\n"
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 3, 0, &Control::default()).expect("a finished run");
    let flow = &result.flows[0];
    assert!(flow.complete && flow.delivered_bytes == 2_000_000, "{keys}: {flow:?}");
    result
}

fn shortest_rtt_ms(result: &RunResult) -> u64 {
    result.series.rtt.iter().map(|row| row.rtt.0 / 1_000_000).min().unwrap()
}

/// Windows of about 42 packets, so that the queue at the Node B stays short: local retransmissions wait in it.
const FAMILIES: [&str; 3] = ["", "tcp.classic.control = \"sack\"", "tcp.linux.receive_buffer = \"60 kB\""];

#[test]
fn a_split_connection_repairs_each_loss_over_the_shorter_way() {
    for family in FAMILIES {
        let whole = download(family, 0.02, 0.0);
        let split = download(&format!("{family}\nproxy = \"split\""), 0.02, 0.0);
        let whole_rtt_ms = shortest_rtt_ms(&whole);
        let (whole, split_flow) = (&whole.flows[0], &split.flows[0]);
        assert!(split_flow.download_s < 0.6 * whole.download_s, "{family}");
        // The phone's side has no more than the radio's round trip; the server's side has no loss.
        assert!(shortest_rtt_ms(&split) < 50 && whole_rtt_ms > 200, "{family}: {whole_rtt_ms}");
        assert_eq!(split.proxies[0].server.retransmissions, 0);
        assert!(split.proxies[0].most_held_bytes > 0);
    }
}

#[test]
fn losses_on_the_wired_link_are_the_servers() {
    for family in FAMILIES {
        let result = download(&format!("{family}\nproxy.split = {{}}"), 0.0, 0.02);
        assert!(result.proxies[0].server.retransmissions > 10, "{family}");
        assert_eq!(result.flows[0].packets_retransmitted, 0, "{family}");
    }
}

#[test]
fn the_proxys_own_tcp_is_used_towards_the_phone_only() {
    let keys = "proxy.split.tcp.linux.packet_size = \"500 B\"";
    let result = download(keys, 0.0, 0.0);
    let (to_phone, to_proxy) = (result.flows[0].packets_sent, result.proxies[0].server.packets);
    assert_eq!(to_proxy, 1 + 2_000_000u64.div_ceil(1460));
    // What arrives is sent on at once, so that some segments are not full.
    let full = 1 + 2_000_000u64.div_ceil(448);
    assert!((full..=full + to_proxy).contains(&to_phone), "{to_phone}");
}

#[test]
fn snoop_keeps_losses_on_the_air_from_the_sender() {
    for family in FAMILIES {
        let without = download(family, 0.02, 0.0);
        let with = download(&format!("{family}\nsnoop.cache = 1000"), 0.02, 0.0);
        let (snoop, flow) = (with.snoops[0].counts, &with.flows[0]);
        assert!(snoop.retransmissions > 15 && snoop.suppressed > 15, "{family}: {snoop:?}");
        let reductions = |result: &RunResult| result.flows[0].fast_retransmits + result.flows[0].timeouts;
        assert!(4 * reductions(&with) < reductions(&without), "{family}: {flow:?}");
        assert!(flow.download_s < 0.7 * without.flows[0].download_s, "{family}");
    }
}

#[test]
fn snoop_leaves_losses_before_the_node_b_to_the_sender() {
    for family in FAMILIES {
        let with = download(&format!("{family}\nsnoop.cache = 1000"), 0.0, 0.02);
        let without = download(family, 0.0, 0.02);
        let ratio = with.flows[0].download_s / without.flows[0].download_s;
        assert!((0.9..1.1).contains(&ratio), "{family}: {ratio}");
        assert!(with.flows[0].fast_retransmits > 0);
    }
}

#[test]
fn a_core_network_adds_its_delay_to_the_round_trip() {
    let rtt = |keys: &str| download(keys, 0.0, 0.0).series.rtt.iter().map(|row| row.rtt.0).min().unwrap();
    let core = |ms: u32| format!("core = {{ rate = \"1000 Mbps\", delay = \"{ms} ms\" }}");
    let (near, far) = (rtt(&core(0)), rtt(&core(25)));
    assert!((49_999_999..=50_000_001).contains(&(far - near)), "{near} {far}");
    assert!(near > rtt("") && near < rtt("") + 1_000_000, "a packet takes 12 us");
    // A proxy at the gateway has the wired link behind it.
    assert!(rtt(&format!("{}\nproxy = \"split\"", core(25))) < 110_000_000);
}

#[test]
fn each_group_has_its_own_tcp() {
    let text = "[radio.link]\nrate = \"1 Mbps\"\n\
        [[users]]\nname = \"old\"\ntraffic.ftp.size = \"100 kB\"\n\
        [[users]]\nname = \"new\"\ntcp = \"linux\"\ntraffic.ftp.size = \"100 kB\"\n";
    let scenario = scenario::from_toml(text, "test.toml", &[]).unwrap();
    let flows = run(&scenario, 1, 0, &Control::default()).unwrap().flows;
    assert_eq!(flows[0].packets_sent, 1 + 100_000u64.div_ceil(1460));
    assert_eq!(flows[1].packets_sent, 1 + 100_000u64.div_ceil(1448));
}
