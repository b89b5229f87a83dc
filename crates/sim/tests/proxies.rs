use nodeb_sim::metrics::RunResult;
use nodeb_sim::{Control, run, scenario};

/// 2 MB over a wired round trip of 200 ms and a short radio link.
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

/// At most about 42 packets, so that local retransmissions do not wait long at the Node B.
const FAMILIES: [&str; 3] = ["", "tcp.classic.control = \"sack\"", "tcp.linux.receive_buffer = \"60 kB\""];

#[test]
fn split_connection_recovers_losses_over_the_shorter_path() {
    for family in FAMILIES {
        let whole = download(family, 0.02, 0.0);
        let split = download(&format!("{family}\nproxy = \"split\""), 0.02, 0.0);
        let whole_rtt_ms = shortest_rtt_ms(&whole);
        let (whole, split_flow) = (&whole.flows[0], &split.flows[0]);
        assert!(split_flow.download_s < 0.6 * whole.download_s, "{family}");
        // The proxy's connection to the phone has only the round trip of the radio, and the connection from the server
        // to the proxy has no loss.
        assert!(shortest_rtt_ms(&split) < 50 && whole_rtt_ms > 200, "{family}: {whole_rtt_ms}");
        assert_eq!(split.proxies[0].server.retransmissions, 0);
        assert!(split.proxies[0].most_held_bytes > 0);
    }
}

#[test]
fn server_recovers_losses_on_the_wired_link() {
    for family in FAMILIES {
        let result = download(&format!("{family}\nproxy.split = {{}}"), 0.0, 0.02);
        assert!(result.proxies[0].server.retransmissions > 10, "{family}");
        assert_eq!(result.flows[0].sender.retransmissions, 0, "{family}");
    }
}

#[test]
fn tcp_of_the_proxy_is_used_towards_the_phone_only() {
    let keys = "proxy.split.tcp.linux.packet_size = \"500 B\"";
    let result = download(keys, 0.0, 0.0);
    let (to_phone, to_proxy) = (result.flows[0].sender.packets, result.proxies[0].server.packets);
    assert_eq!(to_proxy, 1 + 2_000_000u64.div_ceil(1460));
    // The proxy forwards data as soon as they arrive, so each packet from the server may cause one segment
    // that is not full.
    let full = 1 + 2_000_000u64.div_ceil(448);
    assert!((full..=full + to_proxy).contains(&to_phone), "{to_phone}");
}

#[test]
fn snoop_hides_losses_on_the_air_from_the_sender() {
    for family in FAMILIES {
        let without = download(family, 0.02, 0.0);
        let with = download(&format!("{family}\nsnoop.cache = 1000"), 0.02, 0.0);
        let (snoop, flow) = (with.snoops[0].counts, &with.flows[0]);
        assert!(snoop.retransmissions > 15 && snoop.suppressed > 15, "{family}: {snoop:?}");
        let reductions =
            |result: &RunResult| result.flows[0].sender.fast_retransmits + result.flows[0].sender.timeouts;
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
        assert!(with.flows[0].sender.fast_retransmits > 0);
    }
}

#[test]
fn core_network_adds_its_delay_to_the_round_trip() {
    let rtt = |keys: &str| download(keys, 0.0, 0.0).series.rtt.iter().map(|row| row.rtt.0).min().unwrap();
    let core = |ms: u32| format!("core = {{ rate = \"1000 Mbps\", delay = \"{ms} ms\" }}");
    let (near, far) = (rtt(&core(0)), rtt(&core(25)));
    assert!((49_999_999..=50_000_001).contains(&(far - near)), "{near} {far}");
    assert!(near > rtt("") && near < rtt("") + 1_000_000, "a packet takes 12 us");
    // The minimum round trip of the proxy's connection is below 110 ms, as it does not include the wired
    // link.
    assert!(rtt(&format!("{}\nproxy = \"split\"", core(25))) < 110_000_000);
}

#[test]
fn each_group_has_its_own_tcp() {
    let text = "[radio.link]\nrate = \"1 Mbps\"\n\
        [[users]]\nname = \"old\"\ntraffic.ftp.size = \"100 kB\"\n\
        [[users]]\nname = \"new\"\ntcp = \"linux\"\ntraffic.ftp.size = \"100 kB\"\n";
    let scenario = scenario::from_toml(text, "test.toml", &[]).unwrap();
    let flows = run(&scenario, 1, 0, &Control::default()).unwrap().flows;
    assert_eq!(flows[0].sender.packets, 1 + 100_000u64.div_ceil(1460));
    assert_eq!(flows[1].sender.packets, 1 + 100_000u64.div_ceil(1448));
}

/// A core network of two links; the proxy always holds more data than the radio can carry.
fn steered(rate_kbps: u32, feedback: &str) -> RunResult {
    let text = format!(
        "duration = \"60 s\"\nrecord = {{ queue = true, cwnd = true }}\ntcp = \"linux\"\n\
         [wired]\nrate = \"1000 Mbps\"\ndelay = \"5 ms\"\n\
         [[core]]\nname = \"gn\"\nrate = \"622 Mbps\"\ndelay = \"10 ms\"\n\
         [[core]]\nname = \"iu\"\nrate = \"622 Mbps\"\ndelay = \"15 ms\"\n\
         [proxy.rnf]\n{feedback}\n\
         [proxy.rnf.tcp.classic]\nmax_window = 1000\ndelayed_ack = \"0 s\"\n\
         [radio.link]\nrate = \"{rate_kbps} kbps\"\ndelay = \"20 ms\"\n\
         [uplink]\nrate = \"640 kbps\"\ndelay = \"10 ms\"\n\
         [[users]]\ntraffic.ftp = {{ size = \"{} kB\" }}\n",
        10 * rate_kbps
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 3, 0, &Control::default()).expect("a finished run")
}

/// In seconds: all delays, the transmission of 12 kbit over the radio and both core links, and of 320 bit
/// back.
fn round_trip(rate_kbps: u32) -> f64 {
    let (down, up) = (12e3 / (f64::from(rate_kbps) * 1e3) + 24e3 / 622e6, 320.0 / 640e3 + 640.0 / 622e6);
    0.025 + 0.020 + down + 0.010 + 0.025 + up
}

/// In the second half of the run.
fn mean_queue(result: &RunResult) -> f64 {
    let rows: Vec<_> = result.series.queue.iter().filter(|row| row.at.as_secs() > 30.0).collect();
    let area = |pair: &[&nodeb_sim::metrics::series::QueueRow]| {
        pair[0].packets as f64 * pair[1].at.since(pair[0].at).as_secs()
    };
    rows.windows(2).map(area).sum::<f64>() / rows[rows.len() - 1].at.since(rows[0].at).as_secs()
}

/// Within 5 % of `q_ref + b (estimate - round trip)` (`fiorenzi`, section III.A).
#[test]
fn queue_at_the_rnc_settles_at_the_value_of_the_control_law() {
    for rate_kbps in [500, 2_000, 7_200] {
        let packets_per_s = f64::from(rate_kbps) * 1e3 / 12e3;
        for error_ms in [-30.0, 0.0, 40.0] {
            let estimate_us = ((round_trip(rate_kbps) + error_ms / 1e3) * 1e6).round();
            let result = steered(rate_kbps, &format!("rtt.fixed.value = \"{estimate_us} us\""));
            let (found, expected) = (mean_queue(&result), 36.0 + packets_per_s * error_ms / 1e3);
            assert!((found / expected - 1.0).abs() < 0.05, "{rate_kbps} {error_ms}: {found} for {expected}");
        }
        for feedback in ["q_ref = 20", "interval = \"500 ms\"\nloss = 0.3\nq_ref = 20"] {
            let found = mean_queue(&steered(rate_kbps, feedback));
            assert!((found / 20.0 - 1.0).abs() < 0.05, "{rate_kbps} {feedback}: {found}");
        }
        let wrong = "rtt.fixed.value = \"200 ms\"\nqueue_feedback = 0.2\ninterval = \"250 ms\"";
        let found = mean_queue(&steered(rate_kbps, wrong));
        assert!((found / 36.0 - 1.0).abs() < 0.05, "{rate_kbps} with feedback: {found}");
    }
}

#[test]
fn proxy_row_counts_messages_and_windows() {
    let result = steered(2_000, "interval = \"100 ms\"\nloss = 0.25");
    let row = &result.proxies[0];
    assert_eq!(row.messages.sent, 600, "one at the end of each interval");
    assert!((100..200).contains(&row.messages.lost), "{row:?}");
    // Messages that arrive before the first measured round trip, or are in flight at the end, set no window.
    let unused = row.messages.sent - row.messages.lost - row.windows.count;
    assert!(unused < 6, "{row:?}");
    let last = result.series.cwnd.last().unwrap().window.cwnd;
    assert!(
        (last - row.windows.last).abs() < 1e-9
            && (row.windows.sum / row.windows.count as f64 - last).abs() < 1.0
    );
}

#[test]
fn each_link_of_the_core_has_its_own_rows() {
    let result = steered(2_000, "");
    let names: Vec<_> = result.links.iter().map(|row| row.link.as_str()).collect();
    assert_eq!(names, ["wired_down", "wired_up", "gn_down", "gn_up", "iu_down", "iu_up", "uplink_0"]);
    let packets = |name| result.link(name).unwrap().packets;
    let in_flight = packets("gn_down") - packets("iu_down");
    assert!(packets("gn_down") > 9_000 && in_flight < 60, "{in_flight}");
    assert!(packets("iu_up") - packets("gn_up") < 60);
}

/// With negligible transmission times.
#[test]
fn delay_of_a_chain_is_the_sum_of_its_links() {
    let link = |ms: u32| format!("{{ rate = \"1000 Gbps\", delay = \"{ms} ms\" }}");
    let [one, chain] = [link(30), format!("[{}, {}, {}]", link(4), link(15), link(11))]
        .map(|core| download(&format!("core = {core}"), 0.01, 0.0));
    let (one, chain) = (&one.flows[0], &chain.flows[0]);
    assert_eq!(one.sender.packets, chain.sender.packets);
    assert!(
        (one.download_s / chain.download_s - 1.0).abs() < 1e-3,
        "{} {}",
        one.download_s,
        chain.download_s
    );
}

/// 4 MB over the radio `link`.
fn lossless(radio: &str, keys: &str) -> RunResult {
    let text = format!(
        "duration = \"2000 s\"\nwired.delay = \"20 ms\"\n{keys}\nuplink.rate = \"1 Mbps\"\n\
         radio.link = {{ {radio} }}\n[[users]]\ntraffic.ftp.size = \"4 MB\"\n"
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 3, 0, &Control::default()).expect("a finished run");
    assert!(result.flows[0].complete, "{keys}");
    result
}

/// The delay sometimes grows faster than the timers adapt.
const SPIKES: &str = "rate = \"1 Mbps\", jitter.normal = { mean = \"0 s\", deviation = \"300 ms\" }";
/// 0.5 % of the packets are overtaken by about a dozen others.
const OVERTAKING: &str = "rate = \"5 Mbps\", reordering = { share = 0.005, delay = \"30 ms\" }";

/// 0.5 % of the packets are overtaken, and the queue is so long that data are still outstanding when a
/// retransmission arrives.
const DEEP: &str = "rate = \"1 Mbps\", reordering = { share = 0.005, delay = \"70 ms\" }";

/// Without losses all retransmissions are unnecessary; Eifel prevents go-back-N and a reduced window, but not
/// the first one.
#[test]
fn eifel_prevents_consequences_of_spurious_retransmissions() {
    for (radio, control) in
        [(SPIKES, "newreno"), (SPIKES, "sack"), (OVERTAKING, "newreno"), (OVERTAKING, "reno")]
    {
        let keys = |eifel: bool| {
            format!(
                "tcp.classic = {{ control = \"{control}\", min_rto = \"200 ms\", clock = \"10 ms\", eifel = {eifel} }}"
            )
        };
        let [without, with] = [false, true].map(|eifel| lossless(radio, &keys(eifel)).flows[0].clone());
        assert!(
            without.sender.timeouts + without.sender.fast_retransmits >= 3,
            "{radio} {control}: {without:?}"
        );
        assert!(with.download_s < without.download_s, "{radio} {control}: {with:?} {without:?}");
        if radio == SPIKES {
            let again = [&with, &without].map(|flow| flow.sender.retransmissions);
            assert!(again[0] < again[1], "{control}: {again:?}");
        }
    }
}

#[test]
fn snoop_with_eifel_sends_fewer_spurious_retransmissions() {
    // Without delayed ACKs the phone answers every copy of a segment with its own ACK.
    let linux = "tcp.linux = { receive_buffer = \"60 kB\", delayed_ack = \"0 s\" }";
    for family in [linux, "tcp.classic.delayed_ack = \"0 s\""] {
        let keys = |eifel: bool| format!("{family}\nsnoop = {{ cache = 1000, eifel = {eifel} }}");
        let [without, with] = [false, true].map(|eifel| lossless(DEEP, &keys(eifel)).snoops[0].counts);
        let [copies, fewer] = [without, with].map(|counts| counts.retransmissions + counts.timeouts);
        assert!(copies > 20 && without.spurious == 0, "{family} {without:?}");
        assert!(2 * fewer < copies, "{family} {with:?} {without:?}");
        assert!(with.spurious > 0 && with.spurious <= fewer, "{family} {with:?}");
        // With losses most local retransmissions are necessary. If a segment arrives twice, the phone's second ACK is
        // a duplicate ACK, which still triggers an unnecessary one.
        let needed = download(&keys(true), 0.02, 0.0).snoops[0].counts;
        assert!(needed.retransmissions > 15 && 2 * needed.spurious < needed.retransmissions, "{needed:?}");
    }
}
