use nodeb_air::cell::channel::ChannelParams;
use nodeb_air::cell::channel::trace::Trace;
use nodeb_base::check::Check;

use super::bandwidth::Bandwidth;
use super::resources::{Downlink, Ports};
use crate::ofdma::standard::CQIS;

/// TS 36.211, 6.10.1.
///
/// # Errors
/// Returns a message with the possible numbers of ports, 1, 2 and 4.
pub fn ports(count: u8) -> Result<Ports, String> {
    [Ports::One, Ports::Two, Ports::Four]
        .into_iter()
        .find(|ports| ports.count() == count)
        .ok_or_else(|| format!("{count} antenna ports do not exist; expected 1, 2 or 4 (TS 36.211, 6.10.1)"))
}

// Clause: TS 36.211, 6.7: control region
// Simplified: as many symbols in every subframe; a fixed number of grants fits, which arrive without errors
/// TS 36.211, table 6.7-1.
///
/// # Errors
/// Returns a message with the possible numbers of control symbols.
pub fn check_control(bandwidth: Bandwidth, downlink: Downlink) -> Result<(), String> {
    let allowed = bandwidth.control_symbols();
    if allowed.contains(&downlink.control) {
        return Ok(());
    }
    Err(format!(
        "{} control symbols do not exist with {} resource blocks; expected {} to {} (TS 36.211, table 6.7-1)",
        downlink.control,
        bandwidth.blocks(),
        allowed.start(),
        allowed.end()
    ))
}

pub fn check_trace(trace: &Trace, check: &mut Check) {
    let facts = trace.facts();
    check.require(!facts.has_cqis || !facts.has_snrs, "cqi", || {
        "on `lte`, recorded CQIs determine the SNRs; expected `cqi` or `snrs_db` alone".to_owned()
    });
    let invalid = trace.cqi.iter().position(|cqi| *cqi >= CQIS);
    check.require(invalid.is_none(), "cqi", || {
        let at = invalid.unwrap_or_default();
        format!("entry {at} is {}; expected a CQI of LTE, 0 to 15 (TS 36.213, 7.2.3)", trace.cqi[at])
    });
    check.require(facts.combined_snrs.is_none(), facts.combined_snrs.unwrap_or(""), || {
        "SNRs after several transmissions are those of HSDPA; expected `snrs_db` alone, or a `file` that \
         `nodeb import --as snr` writes"
            .to_owned()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_one_two_or_four() {
        assert_eq!([1, 2, 4].map(ports), [Ok(Ports::One), Ok(Ports::Two), Ok(Ports::Four)]);
        assert!(ports(3).is_err());
    }

    // Tests the feature: control region (standard's table)
    #[test]
    fn narrow_channels_have_larger_control_regions() {
        let control = |bandwidth, control| check_control(bandwidth, Downlink { ports: Ports::One, control });
        assert_eq!([2, 4].map(|symbols| control(Bandwidth::Mhz1_4, symbols)), [Ok(()), Ok(())]);
        let message =
            "1 control symbols do not exist with 6 resource blocks; expected 2 to 4 (TS 36.211, table 6.7-1)";
        assert_eq!(control(Bandwidth::Mhz1_4, 1), Err(message.to_owned()));
        assert!(control(Bandwidth::Mhz3, 4).is_err());
    }
}
