use nodeb_base::table::Values;
use nodeb_radio::RadioSpec;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::metrics::series::Series;
use nodeb_sim::scenario::Direction;
use nodeb_sim::{Control, Scenario, run, scenario};

fn read(text: &str) -> Scenario {
    scenario::from_toml(text, "test.toml", &[]).expect("a valid scenario")
}

fn simulate(text: &str) -> RunResult {
    run(&read(text), 1, 0, &Control::default()).expect("a finished run")
}

fn series(result: &RunResult) -> String {
    let Series { cwnd, segments, rtt, transfers, .. } = &result.series;
    format!("{:?}", (cwnd, segments, rtt, transfers))
}

/// All links are equal: the same rates, delays and queues in the same order, and so every segment.
#[test]
fn upload_equals_download_on_mirrored_path() {
    let links = |link: &str| format!("[wired]\n{link}\n[uplink]\n{link}\n[radio.link]\n{link}\n");
    let path = links("rate = \"2 Mbps\"\ndelay = \"20 ms\"\nqueue.drop_tail.limit = 12");
    let record = "[record]\ncwnd = true\nsegments = true\nrtt = true\ntransfers = true\n";
    for tcp in ["classic", "linux"] {
        let of = |users: &str| simulate(&format!("{path}{record}[tcp.{tcp}]\n{users}"));
        let down = of("opened_by = \"server\"\n[[users]]\ntraffic.ftp.size = \"500 kB\"");
        let up = of("[[users]]\nupload.ftp.size = \"500 kB\"");
        assert!(down.flows[0].complete && down.flows[0].sender.retransmissions > 0, "{tcp}");
        assert_eq!(series(&down), series(&up), "{tcp}");
        assert_eq!(down.flows[0].download_s.to_bits(), up.flows[0].download_s.to_bits());
        assert_eq!(down.flows[0].transfer_s.to_bits(), up.flows[0].transfer_s.to_bits());
    }
}

/// 5,000 segments of 1,500 B at 2 Mbit/s after the SYN and the server's answer.
#[test]
fn saturated_upload_takes_the_time_of_its_bits() {
    let result = simulate(
        "wired = { rate = \"1 Gbps\", delay = \"5 ms\" }\nradio.link = { rate = \"1 Gbps\", delay = \"10 ms\" }\n\
         uplink = { rate = \"2 Mbps\", delay = \"10 ms\", queue.drop_tail.limit = 1000 }\n\
         [tcp.classic]\npacket_size = \"1500 B\"\ninitial_window = 30\nmax_window = 30\ndelayed_syn_ack = false\n\
         [[users]]\nupload.ftp.size = \"7.3 MB\"\n",
    );
    let (up, fixed) = (2e6, 1e9);
    let delays = 3.0 * 0.015; // SYN, SYN-ACK, and the last segment
    let handshake = 40.0 * 8.0 * (1.0 / up + 1.0 / fixed) + 40.0 * 8.0 * 2.0 / fixed;
    let expected = delays + handshake + 5_000.0 * 1_500.0 * 8.0 / up + 1_500.0 * 8.0 / fixed;
    let flow = &result.flows[0];
    assert!(flow.complete && flow.delivered_bytes == 7_300_000);
    assert!((flow.download_s - expected).abs() < 1e-6, "{} instead of {expected}", flow.download_s);
}

/// One grant per subframe.
#[test]
fn unreachable_phone_takes_no_grants_of_others() {
    let result = simulate(
        "duration = \"5 s\"\nradio.lte.bandwidth = \"1.4 MHz\"\n\
         radio.lte.uplink.scheduled = { control_blocks = 4, users_per_tti = 1 }\n\
         [[users]]\nupload.ftp.size = \"20 kB\"\nstart = \"100 ms\"\nue.channel.constant.snr_db = 15.0\n\
         [[users]]\nname = \"far\"\nupload.ftp.size = \"20 kB\"\nue.channel.constant.snr_db = -30.0\n",
    );
    assert_eq!(result.flows[0].delivered_bytes, 20_000);
}

const MIXED: &str = "[[users]]\nname = \"a\"\ncount = 2\ntraffic.ftp.size = \"20 kB\"\nupload.ftp.size = \"10 kB\"\n\
                     [[users]]\nname = \"b\"\nupload.ftp.size = \"30 kB\"\n\
                     [[users]]\nname = \"c\"\nstart = \"1 s\"\ntraffic.ftp.size = \"40 kB\"\nupload.web = {}\n";

#[test]
fn second_uploads_follow_all_users() {
    let scenario = read(&format!("radio.dch = {{}}\n{MIXED}"));
    let seen: Vec<_> = scenario
        .connections()
        .iter()
        .map(|of| (scenario.group_name(of).into_owned(), of.phone, of.direction))
        .collect();
    let (down, up) = (Direction::Down, Direction::Up);
    let expected = [
        ("a", 0, down),
        ("a", 1, down),
        ("b", 2, up),
        ("c", 3, down),
        ("a up", 0, up),
        ("a up", 1, up),
        ("c up", 3, up),
    ];
    assert_eq!(seen, expected.map(|(name, phone, direction)| (name.to_owned(), phone, direction)));
}

#[test]
fn files_arrive_in_both_directions_on_every_radio() {
    for radio in RadioSpec::NAMES {
        let params = if *radio == "trace" { "down = { times_ms = [10, 20] }" } else { "" };
        let result = simulate(&format!("duration = \"300 s\"\n[radio.{radio}]\n{params}\n{MIXED}"));
        let flows: Vec<_> =
            result.flows.iter().map(|flow| (flow.user, &*flow.group, flow.app_bytes)).collect();
        let files =
            [(0, "a", 20_000), (1, "a", 20_000), (2, "b", 30_000), (3, "c", 40_000), (4, "a up", 10_000)];
        assert_eq!(flows[..5], files, "{radio}");
        assert_eq!((flows[6].0, flows[6].1), (6, "c up"));
        assert!(result.flows[..6].iter().all(|flow| flow.complete), "{radio}: {:?}", result.flows);
        let pages = &result.flows[6];
        assert!(pages.endless && pages.loads > 0 && pages.start_s > 0.99, "{radio}: {pages:?}");
    }
}

/// Its utilization is NaN; the uplink delivers at least `ip_bytes`.
#[test]
fn upload_over_lte_is_carried_by_granted_blocks() {
    let result =
        simulate("radio.lte.uplink.scheduled = {}\ntcp.linux = {}\n[[users]]\nupload.ftp.size = \"1 MB\"\n");
    let flow = &result.flows[0];
    assert!(flow.complete && flow.utilization.is_nan());
    let uplinks = result.of_radio.iter().find(|table| table.name == "uplinks").expect("a table of uplinks");
    let Values::U64(bytes) = uplinks.column("bytes_delivered").expect("a column") else {
        panic!("bytes are whole numbers");
    };
    assert!(bytes[0] >= flow.ip_bytes, "{bytes:?} {}", flow.ip_bytes);
}

/// Marked or dropped in front of RLC.
#[test]
fn queues_of_both_directions_of_lte_are_counted() {
    let of = |ecn: bool| {
        let queue = format!("queue.codel = {{ ecn = {ecn} }}\n");
        let keys = format!(
            "[tcp.linux]\necn = {ecn}\n[radio.lte]\nbandwidth = \"3 MHz\"\n{queue}[radio.lte.uplink.scheduled]\n{queue}\
             [[users]]\ntraffic.ftp.size = \"5 MB\"\nupload.ftp.size = \"3 MB\"\n"
        );
        let result = simulate(&keys);
        assert!(result.flows.iter().all(|flow| flow.complete), "{:?}", result.flows);
        let table = result.of_radio.iter().find(|table| table.name == "queues").expect("a table of queues");
        let counts = |name: &str| match table.column(name) {
            Some(Values::U64(counts)) => [counts[0], counts[1]],
            other => panic!("{name}: {other:?}"),
        };
        let Some(Values::Text(directions)) = table.column("direction") else { panic!("no directions") };
        assert_eq!(directions.iter().collect::<Vec<_>>(), ["down", "up"]);
        let lost = result.flows.iter().map(|flow| flow.sender.retransmissions).collect::<Vec<_>>();
        (["marked", "dropped_early", "overflowed"].map(counts), lost)
    };
    // Data is marked and not dropped. ACKs, which are not ECN-capable, share the queues and may be dropped.
    let ([marked, _, overflowed], lost) = of(true);
    assert!(marked.iter().all(|count| *count > 1), "{marked:?}");
    assert_eq!((overflowed, &lost[..]), ([0; 2], &[0; 2][..]));
    let ([marked, early, _], lost) = of(false);
    assert_eq!(marked, [0; 2]);
    assert!(early.iter().chain(&lost).all(|count| *count > 1), "{early:?} {lost:?}");
}
