//! Checks that bandwidth, antenna ports, layers, modulation and UE category can be combined.

use super::bandwidth::Bandwidth;
use super::category::Category;
use super::cqi::CqiTable;
use super::resources::{Downlink, Ports};

/// Returns `count` antenna ports as [`Ports`] (TS 36.211, 6.10.1).
///
/// # Errors
///
/// Returns a message that lists the possible numbers of ports, 1, 2 and 4, if `count` is another
/// number.
pub fn ports(count: u8) -> Result<Ports, String> {
    [Ports::One, Ports::Two, Ports::Four]
        .into_iter()
        .find(|ports| ports.count() == count)
        .ok_or_else(|| format!("{count} antenna ports do not exist; expected 1, 2 or 4 (TS 36.211, 6.10.1)"))
}

// Clause: TS 36.211, 6.7: control region
// Simplified: as many symbols in every subframe; a fixed number of grants fits, which arrive without errors
/// Checks that a channel of bandwidth `bandwidth` can have the control region of `downlink` (TS
/// 36.211, table 6.7-1).
///
/// # Errors
///
/// Returns a message that states the possible numbers of control symbols if the control region has
/// another number.
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

/// Checks that a UE of a category can receive `layers` layers from the antenna ports of a cell (TS
/// 36.306, table 4.1-1; TS 36.211, 6.3.3.2).
///
/// # Errors
///
/// Returns a message that states the possible numbers of layers if the UE cannot.
pub fn check_layers(layers: u8, ports: Ports, category: &Category) -> Result<(), String> {
    let most = ports.count().min(category.layers);
    if (1..=most).contains(&layers) {
        return Ok(());
    }
    Err(format!(
        "{layers} layers do not exist with {} antenna ports and UE category {}; expected 1 to {most} \
         (TS 36.211, 6.3.3.2; TS 36.306, table 4.1-1)",
        ports.count(),
        category.number
    ))
}

/// Checks that a UE of a category can use a CQI table (TS 36.306, table 4.1-1).
///
/// # Errors
///
/// Returns a message that names the categories with 256QAM if the table has 256QAM and the category
/// has not.
pub fn check_cqi_table(table: CqiTable, category: &Category) -> Result<(), String> {
    if table == CqiTable::Qam64 || category.down_256qam {
        return Ok(());
    }
    Err(format!(
        "UE category {} has no 256QAM; expected category 11 or 12 (TS 36.306, table 4.1-1)",
        category.number
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(number: u8) -> &'static Category {
        Category::of(number).unwrap()
    }

    #[test]
    fn ports_are_one_two_or_four() {
        assert_eq!([1, 2, 4].map(ports), [Ok(Ports::One), Ok(Ports::Two), Ok(Ports::Four)]);
        assert!(ports(3).is_err());
    }

    // Holds: control region (standard's table)
    #[test]
    fn narrow_channels_have_larger_control_regions() {
        let control = |bandwidth, control| check_control(bandwidth, Downlink { ports: Ports::One, control });
        assert_eq!([2, 4].map(|symbols| control(Bandwidth::Mhz1_4, symbols)), [Ok(()), Ok(())]);
        let message =
            "1 control symbols do not exist with 6 resource blocks; expected 2 to 4 (TS 36.211, table 6.7-1)";
        assert_eq!(control(Bandwidth::Mhz1_4, 1), Err(message.to_owned()));
        assert!(control(Bandwidth::Mhz3, 4).is_err());
    }

    #[test]
    fn layers_end_at_ports_and_category() {
        assert_eq!(check_layers(2, Ports::Two, category(4)), Ok(()));
        assert_eq!(check_layers(4, Ports::Four, category(5)), Ok(()));
        assert!(check_layers(2, Ports::Four, category(1)).unwrap_err().contains("expected 1 to 1"));
        assert!(check_layers(4, Ports::Two, category(8)).unwrap_err().contains("expected 1 to 2"));
        assert!(check_layers(0, Ports::Two, category(8)).is_err());
    }

    #[test]
    fn only_categories_11_and_12_have_256qam() {
        let can = |number| check_cqi_table(CqiTable::Qam256, category(number)).is_ok();
        let able: Vec<u8> = (1..=12).filter(|&number| can(number)).collect();
        assert_eq!(able, [11, 12]);
        assert_eq!(check_cqi_table(CqiTable::Qam64, category(1)), Ok(()));
    }
}
