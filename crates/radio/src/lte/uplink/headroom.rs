use nodeb_air::allowed::{INFINITY, PERIODIC_PHR, PHR_CHANGE, PROHIBIT_PHR};
use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::super::reports::TTI;
use crate::ofdma::uplink::headroom::HeadroomRules;

/// With its subheader (TS 36.321, 6.1.2, 6.1.3.6).
pub const HEADROOM_REPORT: u32 = 2;

params! {
    /// Power headroom reports of phones (TS 36.321, 5.4.6).
    ///
    /// A phone reports its headroom in its first block, every `periodic`, and when its path loss has changed. Until the
    /// first report, the base station grants at most four resource blocks at a time.
    pub struct HeadroomReports {
        /// Time between two reports without a change (periodicPHR-Timer): 10, 20, 50, 100, 200, 500 or 1000 ms. Default:
        /// 500 ms.
        pub periodic: Option<Duration> = Some(Duration::from_millis(500)),
        /// Time after a report in which a change triggers none (prohibitPHR-Timer): 0, 10, 20, 50, 100, 200, 500 or
        /// 1000 ms.
        pub prohibit: Duration = Duration::from_millis(200),
        /// Change of the path loss in dB since the last report beyond which a phone reports (dl-PathlossChange): 1, 3
        /// or 6. Default: 3.
        pub path_loss_change_db: Option<u32> = Some(3),
    }
}

impl Checked for HeadroomReports {
    fn check(&self, check: &mut Check) {
        if let Some(periodic) = self.periodic {
            PERIODIC_PHR.require_time(check, "periodic", periodic);
        }
        PROHIBIT_PHR.require_time(check, "prohibit", self.prohibit);
        PHR_CHANGE.require(check, "path_loss_change_db", self.path_loss_change_db.unwrap_or(INFINITY).into());
    }
}

impl HeadroomReports {
    pub fn rules(&self) -> HeadroomRules {
        HeadroomRules {
            periodic: self.periodic.map_or(u64::MAX, |time| time.0 / TTI.0),
            prohibit: self.prohibit.0 / TTI.0,
            change_db: self.path_loss_change_db.map_or(f64::INFINITY, f64::from),
        }
    }
}

/// Of level 0 (TS 36.133, table 9.1.8.4-1).
const LOWEST_DB: f64 = -23.0;

/// A headroom of 40 dB or more.
const HIGHEST: u8 = 63;

// Clause: TS 36.133, 9.1.8.4: levels of power headroom
/// POWER_HEADROOM_0 to POWER_HEADROOM_63, in steps of 1 dB.
pub fn level(headroom_db: f64) -> u8 {
    (headroom_db - LOWEST_DB).floor().clamp(0.0, f64::from(HIGHEST)) as u8
}

/// -23 dB for level 0, although lower headrooms have it too.
pub fn least_db(level: u8) -> f64 {
    LOWEST_DB + f64::from(level.min(HIGHEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: levels of power headroom (standard's table)
    /// POWER_HEADROOM_0 is -23 to -22 dB, POWER_HEADROOM_62 is 39 to 40 dB, POWER_HEADROOM_63 is 40 dB or
    /// more.
    #[test]
    fn levels_are_steps_of_one_db_from_minus_23_to_40() {
        let rows =
            [(-30.0, 0), (-23.0, 0), (-22.1, 0), (-22.0, 1), (-0.5, 22), (0.0, 23), (39.9, 62), (40.0, 63)];
        for (headroom_db, expected) in rows {
            assert_eq!(level(headroom_db), expected, "{headroom_db} dB");
        }
        assert_eq!(level(90.0), 63);
        assert!((1..=63).all(|of| level(least_db(of)) == of && level(least_db(of) - 0.01) == of - 1));
    }
}
