//! A scenario of LTE that leaves out its network is limited by the cell, not by the network.

use nodeb_sim::{Control, run, scenario};

/// Size of the block of I_TBS 25 on 100 resource blocks (TS 36.213, table 7.1.7.2.1-1), in bits. With three control
/// symbols it is the largest one within the largest code rate of 0.93.
const BLOCK_BITS: f64 = 63_776.0;

/// A download of 20 s at a high SNR is sent one such block in each subframe. A packet of 1500 bytes has 1448 bytes of
/// data. Headers of PDCP, RLC and MAC, smaller blocks in subframes 0 and 5 and the begin of the connection take at most
/// 4 %.
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

/// A recorded rate of 20 Mbit/s delivers 1448 of 1500 bytes in each packet, less headers of PDCP, RLC and MAC and the
/// begin of the connection.
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
