//! After an intended change run `INSTA_UPDATE=always cargo test -p nodeb-sim golden`, then review the
//! difference.

use std::fmt::Write as _;

use nodeb_sim::metrics::RunResult;
use nodeb_sim::{Control, run, scenario};

/// The first 30 events of segments and changes of the window, in ms, and the counts of the flow.
fn beginning(text: &str) -> String {
    let scenario = scenario::from_toml(text, "golden.toml", &[]).unwrap();
    let RunResult { flows, series, .. } = run(&scenario, 1, 0, &Control::default()).unwrap();
    let mut out = String::new();
    let ms = |time: nodeb_base::units::Time| time.0 as f64 / 1e6;
    for row in series.segments.iter().take(30) {
        let again = if row.retransmission { " again" } else { "" };
        writeln!(out, "{:12.6} {:7} {}{again}", ms(row.at), row.event.name(), row.seq).unwrap();
    }
    out.push('\n');
    for row in series.cwnd.iter().take(30) {
        let window = row.window;
        writeln!(out, "{:12.6} cwnd {:.4} ssthresh {}", ms(row.at), window.cwnd, window.ssthresh).unwrap();
    }
    let flow = &flows[0];
    let (sent, again, time) = (flow.sender.packets, flow.sender.retransmissions, flow.transfer_s);
    writeln!(out, "\n{sent} segments sent, {again} again, {time:.9} s").unwrap();
    out
}

#[test]
fn a_download_over_dch() {
    insta::assert_snapshot!(beginning(
        r#"
        radio.dch.bler = 0.1
        users = [{ traffic.ftp.size = "50 kB" }]
        record = { segments = true, cwnd = true }
        "#
    ));
}

#[test]
fn a_download_over_hs_dsch() {
    insta::assert_snapshot!(beginning(
        r#"
        radio.hs_dsch.bler = 0.1
        wired.loss = 0.03
        users = [{ traffic.ftp.size = "50 kB" }]
        record = { segments = true, cwnd = true }
        "#
    ));
}

/// Completes each scenario of [`BAD`].
const USERS: &str = "[[users]]\ntraffic.ftp.size = \"50 kB\"\n";

/// With their overrides.
const BAD: &[(&str, &[&str])] = &[
    ("duraton = \"10 s\"", &[]),
    ("[wired]\ndelya = \"1 ms\"", &[]),
    ("runs = \"ten\"", &[]),
    ("runs = 0", &[]),
    ("runs = -3", &[]),
    ("runs = 2000000", &[]),
    ("runs = 99999999999", &[]),
    ("seed = 18446744073709551615", &[]),
    ("seed = 18446744073709551616", &[]),
    ("name = \"a\u{1}b\"", &[]),
    (
        "[radio.hsdpa]\n[[users]]\ntraffic.ftp.size = \"1 kB\"\nue.channel.constant.snr_db = \
         1000000000000000000000000000000000000000000000000000000000000.0",
        &[],
    ),
    ("seed = 1.5", &[]),
    ("precision = 2.0", &[]),
    ("wired.delay = 110", &[]),
    ("wired.delay = \"110\"", &[]),
    ("wired.delay = \"110 kB\"", &[]),
    ("wired.delay = \"-1 ms\"", &[]),
    ("wired.rate = \"0 bps\"", &[]),
    ("wired.loss = 1.0", &[]),
    ("wired.loss = 1.2", &[]),
    ("wired.loss = \"often\"", &[]),
    ("wired.loss.gilbert = { p = 0.1 }", &[]),
    ("wired.loss.gilbert_elliott = { p = 0.1, r = 0.0 }", &[]),
    ("wired.loss.periodic.every = 1", &[]),
    ("wired.ack_loss = 1.0", &[]),
    ("wired.queue = \"cdel\"", &[]),
    ("wired.queue.red = { min_threshold = 20, max_threshold = 10 }", &[]),
    ("wired.queue.codel.target = \"0 s\"", &[]),
    ("wired.jitter.uniform.most = 3", &[]),
    ("wired.jitter = \"trace\"", &[]),
    ("core.jitter.trace = { times = [\"2 s\", \"1 s\"], delays = [\"1 ms\"] }", &[]),
    ("radio.link.jitter.trace = { times = [\"0 s\"], delays = [\"1 ms\"] }", &[]),
    ("wired.reordering.share = 0.1", &[]),
    ("core.delay = 3", &[]),
    ("[[core]]\ndelay = \"1 ms\"\n[[core]]\ndelya = \"1 ms\"", &[]),
    ("[[core]]\ndelay = \"1 ms\"\n[[core]]\nrate = \"0 bps\"", &[]),
    ("[[core]]\nname = \"gn\"\n[[core]]\nname = \"gn\"", &[]),
    ("[core]\nname = \"uplink_3\"", &[]),
    ("core = []", &[]),
    ("core = 3", &[]),
    ("wired.name = \"gi\"\ncore.name = \"gi\"", &[]),
    ("proxy = \"http\"", &[]),
    ("radio = \"link\"\nproxy.rnf.q_ref = -1", &[]),
    ("radio = \"link\"\nproxy.rnf.q_ref = nan", &[]),
    ("radio = \"link\"\nproxy.rnf.interval = \"0 s\"", &[]),
    ("radio = \"link\"\nproxy.rnf.loss = 1.0", &[]),
    ("radio = \"link\"\nproxy.rnf.queue_feedback = 2", &[]),
    ("radio = \"link\"\nproxy.rnf.rtt = \"fixed\"", &[]),
    ("radio = \"dch\"\nproxy = \"rnf\"", &[]),
    ("proxy.split.tcp.classic.control = \"cubic\"", &[]),
    ("snoop.min_timeout = \"0 s\"", &[]),
    ("snoop = true", &[]),
    ("[[users]]\nname = \"b\"\ntcp = \"vegas\"\ntraffic.ftp.size = \"1 B\"", &[]),
    ("duration = \"1e300 s\"", &[]),
    ("radio = \"umts\"", &[]),
    ("radio = \"hsdsch\"", &[]),
    ("radio = 3", &[]),
    ("[radio.dch]\nbler = 1", &[]),
    ("[radio.dch]\ntti = \"0 s\"", &[]),
    ("radio.dch.rlc = \"um\"", &[]),
    ("radio.dch.rlc.am.tx_window = 0", &[]),
    ("radio.dch.rlc.am.tx_window = 4096", &[]),
    ("radio.dch.rlc.am = { tx_window = 512, rx_window = 128 }", &[]),
    ("radio.dch.rlc.am.max_dat = 1", &[]),
    ("radio.dch.rlc.am.poll.last_pdu = false", &[]),
    ("radio.dch.rlc.am.poll.timer = \"0 s\"", &[]),
    ("radio.dch.rlc.am.status.loss_rate = 1", &[]),
    ("[radio.dch]\nrlc = \"am\"\npdu_size = \"4 B\"", &[]),
    ("[radio.dch]\nrlc = \"am\"\nmax_transmissions = 3", &[]),
    ("radio.dch.rlc.slotted.report_every = 16", &[]),
    ("[radio.hs_dsch]\nrlc.slotted.header = \"32 B\"", &[]),
    ("radio.dch.errors = {}", &[]),
    ("radio.dch.errors.process = \"markov\"", &[]),
    ("radio.dch.errors.unit = \"bit\"", &[]),
    ("radio.dch.errors.process.hmm = { transition = [[0.9, 0.2], [0.1, 0.9]], error = [0.0, 0.5] }", &[]),
    ("[radio.dch.errors]\nprocess.bsc.error_rate = 0.1\nwithin_block.count_law = [0.5, 0.5]", &[]),
    ("[radio.dch]\npdu_size = \"4294967336 B\"", &[]),
    ("[radio.dch]\nscheduler = \"max_ci\"", &[]),
    ("[radio]\ndch = {}\nhs_dsch = {}", &[]),
    ("radio.hs_dsch.scheduler = \"maxci\"", &[]),
    ("radio.hs_dsch.scheduler.proportional_fair.window = \"0 s\"", &[]),
    ("radio.hs_dsch.combining.chase.efficiency = 0.2", &[]),
    ("radio.hs_dsch.delivery = \"in_order\"", &[]),
    ("radio.link = { loss = 0.1, drop_list = [3] }", &[]),
    ("radio.fach_dch.policy.threshold.high = -1", &[]),
    ("radio.fach_dch.policy.threshold = { high = 2, low = 4 }", &[]),
    ("radio.fach_dch.policy.preemptive.timeout = \"-1 s\"", &[]),
    ("radio.fach_dch.policy.non_preemptive.timeout = \"0 s\"", &[]),
    ("radio.fach_dch.policy.traffic_volume.dch_inactivity = \"-5 s\"", &[]),
    ("radio.fach_dch.policy = \"treshold\"", &[]),
    ("radio.fach_dch.dch_channels = 0", &[]),
    ("radio.lte.layers = 300", &[]),
    ("radio.lte.layers = -1", &[]),
    (
        "radio.lte = {}\n[[users]]\nname = \"b\"\ntraffic.ftp.size = \"1 B\"\n\
         ue.channel.trace = { snrs_db = [1], second_db = [3], at_end = \"loop\" }",
        &[],
    ),
    (
        "radio.lte = {}\n[[users]]\nname = \"b\"\ntraffic.ftp.size = \"1 B\"\n\
         ue.channel.trace = { snrs_db = [1], third_db = [3], at_end = \"loop\" }",
        &[],
    ),
    ("radio.fach_dch.power.dch = \"700 W/h\"", &[]),
    ("radio = \"fach_dch\"\n[[users]]\nname = \"b\"\nci = [1.0]\ntraffic.ftp.size = \"1 B\"", &[]),
    ("radio.hsdpa.handover.cells = 9", &[]),
    ("[radio.hsdpa]\nhandover = {}\ncell.interference = \"fixed\"", &[]),
    ("radio.hsdpa.handover = { hysteresis_db = -1, interruption = \"1 h\" }", &[]),
    ("radio.wcdma.rates = [2, 1]", &[]),
    ("radio.wcdma.rates = [1, 200]", &[]),
    ("radio.wcdma.selection.fixed.frames = 9", &[]),
    ("radio.wcdma.selection = \"greedy\"", &[]),
    ("radio.wcdma.profile.equal_paths.paths = 0", &[]),
    ("radio.wcdma.profile.taps.powers = [0.0]", &[]),
    ("radio.wcdma.correctable_bits = 129", &[]),
    ("radio.wcdma.other_cells.mean.load.connections = -1.0", &[]),
    ("radio.wcdma.other_cells.map.exponent = 1.0", &[]),
    ("tcp.classic.estimator.smoothed.gain = 0.0", &[]),
    ("tcp.classic.control = \"vegas\"", &[]),
    ("tcp.classic.era = \"ns-2.36\"", &[]),
    ("tcp.classic.era = \"1999-01-01\"", &[]),
    ("tcp.classic.era = 2003", &[]),
    ("tcp.classic.packet_size = \"40 B\"", &[]),
    ("tcp.classic.max_window = 0", &[]),
    ("radio = \"dch\"\n[[users]]\nname = \"b\"\nci = [1.0]\ntraffic.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\nci = [0.0]\ntraffic.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\ncount = 0\ntraffic.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\ntraffic.ftp.size = \"0 B\"", &[]),
    ("[[users]]\nname = \"b\"\ntraffic.ftp = {}", &[]),
    ("[[users]]\nname = \"b\"", &[]),
    ("[[users]]\ntraffic.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"all\"\ntraffic.ftp.size = \"1 B\"", &[]),
    (
        "[[users]]\nname = \"b\"\nstart = \"1 h\"\nstagger = \"30 h\"\ncount = 2\ntraffic.ftp.size = \"1 B\"",
        &[],
    ),
    ("duration = \"0 s\"", &[]),
    ("proxy = \"rnf\"\nradio.dch.tti = \"0 s\"", &[]),
    ("proxy = \"split\"\nradio.dch.tti = \"0 s\"", &[]),
    ("radio.hs_dsch.tti = \"0 s\"", &[]),
    ("proxy = \"rnf\"\nradio.wcdma.slot = \"0 s\"", &[]),
    ("radio.wcdma.slot = \"0 s\"", &[]),
    ("radio.wcdma.rates = []", &[]),
    ("radio.wcdma.profile.taps.powers = []", &[]),
    ("radio.wcdma.eb_n0_db = 1e9", &[]),
    ("radio.wcdma.other_cells.mean.factor = -1.0", &[]),
    ("radio.wcdma.other_cells.map.correlation = 2.0", &[]),
    ("radio.wcdma.frame_size = \"0 B\"", &[]),
    ("radio.trace.down.times_ms = [2, 1]", &[]),
    ("radio.trace.down.times_ms = []", &[]),
    ("radio.trace.down.times_ms = [-1]", &[]),
    ("radio.trace = { down.times_ms = [1], light = { down.times_ms = [2, 1], train = 3 } }", &[]),
    ("radio.trace = { down.times_ms = [1], light = { down.times_ms = [2], train = 0 } }", &[]),
    ("radio.trace = { down.times_ms = [1], light.down.times_ms = [2] }", &[]),
    (
        "radio.trace = { down.times_ms = [1], light = { down.times_ms = [2], up.times_ms = [2], train = 3 } }",
        &[],
    ),
    ("radio.trace = { down.times_ms = [1], opportunity = \"0 B\" }", &[]),
    ("radio.trace = { down.times_ms = [1], queue.drop_tail.limit = 1 }", &[]),
    ("uplink.queue.drop_tail.limit = 1\nradio.trace = { down.times_ms = [1], up.times_ms = [1] }", &[]),
    ("[[users]]\nname = \"b\"\ntraffic.cbr = { size = \"1 B\", interval = \"1 us\" }", &[]),
    ("[[users]]\nname = \"b\"\ntraffic.web = { embedded_objects = 1e9, most_embedded = 4294967295 }", &[]),
    ("[[users]]\nname = \"b\"\ntraffic.web.most_embedded = 4294967295", &[]),
    (
        "duration = \"1 s\"\n[[users]]\ntraffic.on_off.closed_loop = false\n\
         traffic.on_off.pause.constant.value = \"1 ns\"",
        &[],
    ),
    ("this is not TOML", &[]),
    ("name = \"unfinished", &[]),
    ("runs = 3\nruns = 4", &[]),
    ("", &["wired.delay"]),
    ("", &["wired.delay=110"]),
    ("", &["radio.hs_dsch.bler=many"]),
    ("", &["users.1.count=3"]),
    ("", &["wired..delay=1 ms"]),
    ("", &["runs.x=3"]),
    ("runs = 2", &["runs.x=3"]),
    ("", &["seed=2", "radio.dch.tti=0 s"]),
    ("proxy = \"split\"\n[[users]]\nname = \"b\"\nupload.ftp.size = \"1 B\"", &[]),
    ("snoop = {}\n[[users]]\nname = \"b\"\nupload.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\nupload = \"external\"", &[]),
    ("[[users]]\nname = \"b\"\nupload.replay = { times = [\"0 s\"], bytes = [\"1 B\"] }", &[]),
    ("[[users]]\nname = \"b\"\nupload.ftp = { size = \"1 B\", request = \"1 B\" }", &[]),
    ("[[users]]\nname = \"b\"\nupload.web = { request = \"1 B\" }", &[]),
    ("[[users]]\nname = \"b\"\nupload.web = { server_delay = \"1 s\" }", &[]),
    ("[[users]]\nname = \"b\"\ntraffic = \"external\"\nupload.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\nreal = true\nupload.ftp.size = \"1 B\"", &[]),
    ("[[users]]\nname = \"b\"\nupload.ftp.size = \"1 B\"\ntcp.linux.opened_by = \"server\"", &[]),
    (
        "[[users]]\nname = \"b\"\ntraffic.ftp.size = \"1 B\"\nupload.ftp.size = \"1 B\"\n[[users]]\n\
         name = \"b up\"\ntraffic.ftp.size = \"1 B\"",
        &[],
    ),
];

#[test]
fn warnings_about_doubtful_scenarios() {
    let warnings = |lines: &str| {
        let text = format!("{lines}\n{USERS}");
        scenario::from_toml(&text, "doubtful.toml", &[]).unwrap().warnings()
    };
    assert!(warnings("radio.fach_dch.signalling_rate = \"32.9 kbps\"").is_empty());
    let all_of_it = warnings("radio.fach_dch.signalling_rate = \"33 kbps\"");
    assert_eq!(
        all_of_it,
        [
            "radio.fach_dch.signalling_rate: signalling of 33 kbps takes the whole FACH of 33 kbps, so TCP starves on it; \
          a share for users is left below `fach_rate`"
        ]
    );
    assert!(warnings("radio = \"link\"\nproxy = \"rnf\"").is_empty());
    assert_eq!(
        warnings("radio.link.rate = \"2 Mbps\"\ncore.delay = \"50 ms\"\nproxy = \"rnf\""),
        [
            "proxy.rnf.q_ref: 36 waiting packets at 2 Mbps need a window of at least 56 packets, but the phones allow \
          42; expected a larger `max_window` or `receive_buffer`, or a smaller `q_ref`"
        ]
    );
    assert!(warnings("radio.wcdma.profile.taps.powers = [0.5, 0.3, 0.2]").is_empty());
    let three = warnings("radio.wcdma.profile.taps.powers = [1.5, 1.0, 0.5]");
    assert_eq!(
        three,
        [
            "radio.wcdma.profile.taps.powers: the powers of the paths sum to 3 instead of 1; each is divided by the sum"
        ]
    );
}

#[test]
fn messages_about_bad_scenarios() {
    let mut out = String::new();
    for (lines, overrides) in BAD {
        // The erroneous lines come first if possible, so that the line numbers of messages refer to them.
        let (first, last) = if lines.starts_with("[[users]]") { (USERS, "") } else { ("", USERS) };
        let text = format!("{first}{lines}\n{last}");
        let set: Vec<String> = overrides.iter().map(|change| (*change).to_owned()).collect();
        let message = match scenario::from_toml(&text, "bad.toml", &set) {
            Ok(scenario) => format!("ACCEPTED {:?}", scenario.warnings()),
            Err(error) => error.to_string(),
        };
        for line in lines.lines() {
            writeln!(out, "    {line}").unwrap();
        }
        for change in *overrides {
            writeln!(out, "    --set {change}").unwrap();
        }
        writeln!(out, "{message}\n").unwrap();
    }
    let no_users = scenario::from_toml("users = []\n", "bad.toml", &[]).unwrap_err();
    writeln!(out, "    users = []\n{no_users}").unwrap();
    insta::assert_snapshot!(out);
}
