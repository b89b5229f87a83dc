//! Prints the formats of the blocks that the downlink of an LTE cell of 20 MHz selects at constant SNRs:
//! `lte_formats GROUPS SNR_DB...`. A block takes the `GROUPS` groups of resource blocks with the lowest
//! frequencies. A line has the SNR, the CQI, the subframe, the MCS, the number of bits and the block error
//! rate of the first transmission.

use std::error::Error;

use nodeb_air::mac::band::{Groups, MAX_GROUPS};
use nodeb_radio::lte::bandwidth::Bandwidth;
use nodeb_radio::lte::formats::Formats;
use nodeb_radio::lte::resources::{Downlink, Ports};
use nodeb_radio::ofdma::Standard;

const TTIS: [u64; 3] = [1, 0, 5];

fn main() -> Result<(), Box<dyn Error>> {
    let bandwidth = Bandwidth::Mhz20;
    let formats = Formats::down(bandwidth, Downlink { ports: Ports::One, control: 3 }, false, 0.0);
    let mut arguments = std::env::args().skip(1);
    let groups = Groups::first(arguments.next().ok_or("lte_formats GROUPS SNR_DB...")?.parse()?);
    println!("snr_db cqi subframe mcs bits bler");
    for text in arguments {
        let snr = 10f32.powf(text.parse::<f32>()? / 10.0);
        let row = [snr; MAX_GROUPS];
        let cqis = row.map(|snr| formats.cqi(snr));
        for tti in TTIS {
            let format = formats.select_by_cqis(tti, groups, 1, &cqis, 1.0, u32::MAX).ok_or("no block")?;
            let bler = formats.bler(tti, groups, format, snr);
            println!("{text} {} {tti} {} {} {bler:.5}", cqis[0], format.mcs, format.bits);
        }
    }
    Ok(())
}
