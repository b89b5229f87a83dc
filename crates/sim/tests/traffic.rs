use nodeb_sim::metrics::RunResult;
use nodeb_sim::metrics::series::TransferRow;
use nodeb_sim::{Control, run, scenario};

fn simulate(traffic: &str, duration: &str) -> RunResult {
    let text = format!(
        "duration = \"{duration}\"\nradio = \"dch\"\nrecord.transfers = true\n[[users]]\ntraffic.{traffic}\n"
    );
    let scenario = scenario::from_toml(&text, "test.toml", &[]).expect("a valid scenario");
    run(&scenario, 1, 0, &Control::default()).expect("a finished run")
}

fn begins(transfers: &[TransferRow]) -> Vec<f64> {
    transfers.iter().map(|row| row.begun.as_secs()).collect()
}

fn delay(row: &TransferRow) -> f64 {
    row.end.as_secs() - row.begun.as_secs()
}

#[test]
fn replay_begins_transfers_at_its_times_and_ends() {
    let result = simulate(
        "replay = { times = [\"0 s\", \"1 s\", \"1 s\", \"4 s\"], bytes = [\"9 kB\", \"1 B\", \"5 kB\", \"2 kB\"] }",
        "100 s",
    );
    assert_eq!(begins(&result.series.transfers), [0.0, 1.0, 1.0, 4.0]);
    let flow = &result.flows[0];
    assert!(flow.complete && flow.transfers == 4);
    assert_eq!((flow.app_bytes, flow.delivered_bytes), (16_001, 16_001));
}

#[test]
fn cbr_begins_transfers_at_its_interval_regardless_of_deliveries() {
    let result = simulate("cbr = { size = \"500 B\", interval = \"50 ms\" }", "60 s");
    let begun = begins(&result.series.transfers);
    assert!(begun.iter().enumerate().all(|(i, t)| (t - 0.05 * i as f64).abs() < 1e-9));
    assert!(begun.len() > 1_150, "all but the last few transfers are complete: {}", begun.len());
}

/// The pauses are exponential, from the ACK of the previous burst.
#[test]
fn closed_loop_pauses_have_the_configured_mean() {
    let result = simulate("on_off.pause.exponential.mean = \"2 s\"", "20000 s");
    let rows = &result.series.transfers;
    let pauses: Vec<f64> = rows.windows(2).map(|w| w[1].begun.as_secs() - w[0].end.as_secs()).collect();
    let n = pauses.len() as f64;
    let mean = pauses.iter().sum::<f64>() / n;
    assert!(pauses.iter().all(|pause| *pause >= 0.0));
    assert!((mean - 2.0).abs() < 4.0 * 2.0 / n.sqrt(), "{mean} from {n}");
}

/// Waits have a hyperexponential distribution.
#[test]
fn silences_replace_pauses_with_their_probability() {
    let result = simulate(
        "on_off = { silence_probability = 0.33, pause.exponential.mean = \"300 ms\", \
         silence.exponential.mean = \"5 s\", burst.constant.value = \"1 kB\" }",
        "40000 s",
    );
    let rows = &result.series.transfers;
    let waits: Vec<f64> = rows.windows(2).map(|w| w[1].begun.as_secs() - w[0].end.as_secs()).collect();
    let n = waits.len() as f64;
    let mean = waits.iter().sum::<f64>() / n;
    let expected = 0.67 * 0.3 + 0.33 * 5.0;
    let variance = 2.0 * (0.67 * 0.3f64.powi(2) + 0.33 * 5.0f64.powi(2)) - expected * expected;
    assert!((mean - expected).abs() < 4.0 * (variance / n).sqrt(), "{mean} from {n}");
    // Most waits above 2 s are silences, so their share tests the probability of a silence.
    let long = waits.iter().filter(|wait| **wait > 2.0).count() as f64 / n;
    let p = 0.67 * (-2.0f64 / 0.3).exp() + 0.33 * (-2.0f64 / 5.0).exp();
    assert!((long - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt(), "{long}, expected {p}");
}

/// Even if the network is slow.
#[test]
fn open_loop_load_is_burst_over_interval() {
    let result = simulate(
        "on_off = { closed_loop = false, silence_probability = 0.33, pause.exponential.mean = \"300 ms\", \
         silence.exponential.mean = \"5 s\", burst.exponential.mean = \"30 kB\" }",
        "20000 s",
    );
    let offered = result.flows[0].app_bytes as f64 * 8.0 / 20_000.0;
    let interval = 0.67 * 0.3 + 0.33 * 5.0;
    let bursts = 20_000.0 / interval;
    // The variance of the measured ratio is the sum of the relative variances of sizes (1) and intervals,
    // divided by the number of bursts.
    let of_intervals = 2.0 * (0.67 * 0.3f64.powi(2) + 0.33 * 5.0f64.powi(2)) / (interval * interval) - 1.0;
    let half_width = 4.0 * ((1.0 + of_intervals) / bursts).sqrt();
    let ratio = offered / (30_000.0 * 8.0 / interval);
    assert!((ratio - 1.0).abs() < half_width, "{ratio}, expected 1 +- {half_width}");
}

#[test]
fn open_loop_bursts_overlap_when_the_network_is_slow() {
    let result = simulate(
        "on_off = { closed_loop = false, pause = { constant = { value = \"1 s\" } }, \
         burst = { constant = { value = \"60 kB\" } } }",
        "200 s",
    );
    let rows = &result.series.transfers;
    assert!(begins(rows).iter().enumerate().all(|(i, t)| (t - (i as f64 + 1.0)).abs() < 1e-9));
    // The offered load of 480 kbit/s exceeds the channel's rate of 384 kbit/s, so the delay grows.
    assert!(delay(&rows[rows.len() - 1]) > 10.0 * delay(&rows[0]));
}

/// At least two trips over the uplink: the request and the last ACK.
#[test]
fn web_transfers_take_a_request() {
    let result = simulate("web.reading.constant.value = \"1 s\"", "5000 s");
    let rows = &result.series.transfers;
    assert!(rows.len() > 500);
    assert!(rows.iter().all(|row| delay(row) > 0.24));
}

#[test]
fn same_seed_draws_the_same_traffic() {
    let totals = || simulate("web = {}", "2000 s").flows[0].app_bytes;
    assert_eq!(totals(), totals());
}
