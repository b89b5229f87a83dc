use nodeb_sim::metrics::RunResult;
use nodeb_sim::{Control, Scenario, run, scenario};

fn read(text: &str) -> Scenario {
    scenario::from_toml(text, "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulate(scenario: &Scenario) -> RunResult {
    run(scenario, scenario.seed, 0, &Control::default()).expect("the run is not cancelled")
}

/// Lines of `tcp.linux`, and the radio's table without `[radio.`.
fn download(size: &str, radio: &str, tcp: &str) -> Scenario {
    read(&format!(
        "duration = \"3000 s\"\n[wired]\nrate = \"100 Mbps\"\ndelay = \"20 ms\"\n\
         [uplink]\nrate = \"2 Mbps\"\ndelay = \"10 ms\"\n[radio.{radio}\n[tcp.linux]\n{tcp}\n\
         [[users]]\ntraffic.ftp.size = \"{size}\"\n"
    ))
}

const LINK: &str = "link]\nrate = \"4 Mbps\"\ndelay = \"10 ms\"\nqueue.drop_tail.limit = 100";
const CONTROLS: &[&str] = nodeb_tcp::linux::control::CongestionSpec::NAMES;

#[test]
fn long_transfer_fills_a_link_without_losses() {
    for control in CONTROLS {
        let scenario = download("20 MB", LINK, &format!("control = \"{control}\""));
        let result = simulate(&scenario);
        let flow = &result.flows[0];
        assert!(flow.complete && flow.delivered_bytes == 20_000_000, "{control}");
        assert!(flow.utilization > 0.9, "{control}: {}", flow.utilization);
        assert_eq!(flow.sender.timeouts, 0, "{control}");
    }
}

#[test]
fn radio_bearers_carry_a_whole_download() {
    for radio in ["dch]", "hs_dsch]\nbler = 0.1"] {
        for control in CONTROLS {
            let scenario = download("2 MB", radio, &format!("control = \"{control}\""));
            let flow = simulate(&scenario).flows.remove(0);
            assert!(flow.complete && flow.delivered_bytes == 2_000_000, "{radio} {control}: {flow:?}");
            assert!(flow.utilization > 0.9, "{radio} {control}: {}", flow.utilization);
        }
    }
}

#[test]
fn bbr_keeps_the_queue_of_the_bearer_short() {
    let delay = |control: &str| {
        simulate(&download("4 MB", "dch]", &format!("control = \"{control}\""))).flows[0].sender.rtt_mean_s()
    };
    let (bbr, cubic) = (delay("bbr"), delay("cubic"));
    assert!(bbr < 0.5 && cubic > 4.0 * bbr, "{bbr} {cubic}");
}

#[test]
fn server_may_open_and_pause_between_writes() {
    for control in CONTROLS {
        let scenario = read(&format!(
            "duration = \"300 s\"\n[radio.dch]\n[tcp.linux]\nopened_by = \"server\"\ncontrol = \"{control}\"\n\
             [[users]]\n[users.traffic.replay]\ntimes = [\"0 s\", \"10 s\", \"11 s\"]\nbytes = [\"30 kB\", \"100 B\", \"50 kB\"]\n"
        ));
        let flow = simulate(&scenario).flows.remove(0);
        assert!(flow.complete && flow.delivered_bytes == 80_100, "{flow:?}");
    }
}

#[test]
fn contradictory_parameters_are_rejected() {
    for (tcp, word) in [
        ("sack = false", "dsack"),
        ("send_buffer = \"1 kB\"", "send_buffer"),
        ("control.cubic.slow_start = \"fast\"", "hystart"),
        ("receive_buffer = \"1 kB\"", "receive_buffer"),
        ("min_rto = \"10 s\"\nmax_rto = \"1 s\"", "min_rto"),
        ("packet_size = \"60 B\"", "packet_size"),
        ("control.cubic.beta = 1.5", "beta"),
    ] {
        let text = format!("[tcp.linux]\n{tcp}\n[[users]]\ntraffic.ftp.size = \"1 kB\"\n");
        let error = scenario::from_toml(&text, "test", &[]).expect_err(tcp).to_string();
        assert!(error.contains(word), "{tcp}: {error}");
    }
}
