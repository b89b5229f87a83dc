//! Without keys of the network, the cell is the limit.

use nodeb_sim::{Control, run, scenario};

/// I_TBS 25 on 100 resource blocks (TS 36.213, table 7.1.7.2.1-1): with three control symbols the largest
/// within the code rate of 0.93.
const BLOCK_BITS: f64 = 63_776.0;

/// 1448 of 1500 bytes are data; headers, smaller blocks in subframes 0 and 5 and the begin of the connection
/// take at most 4 %.
#[test]
fn a_download_over_lte_has_the_rate_of_the_cell() {
    let text = "duration = '20 s'\n[radio.lte]\n[[users]]\ntraffic.ftp.size = '1 GB'\n\
                ue.channel.constant.snr_db = 30.0\n";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, 1, 0, &Control::default()).unwrap();
    let rate = 8.0 * result.flows[0].delivered_bytes as f64 / 20.0;
    let share = rate / (BLOCK_BITS * 1e3 * 1448.0 / 1500.0);
    assert!((0.96..=1.0).contains(&share), "{rate} bit/s, {share} of the cell's");
}

/// 1448 of 1500 bytes in each packet, less headers and the begin of the connection.
#[test]
fn a_recorded_rate_over_lte_is_delivered() {
    let text = "duration = '20 s'\n[radio.lte]\n[[users]]\ntraffic.ftp.size = '1 GB'\n\
                ue.channel.trace = { rates = ['20 Mbps'], at_end = 'loop' }\n";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, 1, 0, &Control::default()).unwrap();
    let share = 8.0 * result.flows[0].delivered_bytes as f64 / 20.0 / (20e6 * 1448.0 / 1500.0);
    assert!((0.97..=1.0).contains(&share), "{share} of the recorded rate");
    assert_eq!(result.bearers[0].counts.blocks_failed, 0);
}
