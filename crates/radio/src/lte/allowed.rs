//! Values that RRC can configure for timers and limits (TS 36.331, 6.3.2).

/// Value that stands for "infinity" in [`Allowed::values`].
pub const INFINITY: u32 = u32::MAX;

// Clause: TS 36.331, 6.3.2: values of timers and limits
/// List of the values that a field of RRC can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Name of the field in RRC messages.
    pub name: &'static str,
    /// Unit of the values; empty if they have no unit.
    pub unit: &'static str,
    /// Allowed values in ascending order.
    pub values: &'static [u32],
    /// Information element of TS 36.331, 6.3.2, that contains the field.
    pub element: &'static str,
}

impl Allowed {
    /// Checks that the field can have the value `value`.
    ///
    /// # Errors
    ///
    /// Returns a message that lists the possible values if `value` is not one of them.
    pub fn check(&self, value: u32) -> Result<(), String> {
        if self.values.contains(&value) {
            return Ok(());
        }
        let Self { name, element, .. } = self;
        let values: Vec<String> = self.values.iter().map(|&value| shown(value)).collect();
        Err(format!(
            "{name} {}{} does not exist; expected {} (TS 36.331, 6.3.2, {element})",
            shown(value),
            self.suffix(),
            values.join(", ")
        ))
    }

    fn suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }
}

fn shown(value: u32) -> String {
    if value == INFINITY { "infinity".to_owned() } else { value.to_string() }
}

/// Declares a constant for each list of values, and [`ALL`], which contains all lists.
macro_rules! allowed {
    ($(
        $(#[$doc:meta])*
        $constant:ident = $name:literal, $unit:literal, $element:literal, [$($value:expr),*];
    )*) => {
        $(
            $(#[$doc])*
            pub const $constant: Allowed =
                Allowed { name: $name, unit: $unit, values: &[$($value),*], element: $element };
        )*

        /// All lists of allowed values in this module.
        pub const ALL: &[Allowed] = &[$($constant),*];
    };
}

allowed! {
    /// Number of PDCCH subframes at the start of each DRX cycle in which the UE monitors PDCCH.
    ON_DURATION = "onDurationTimer", "subframes", "DRX-Config",
        [1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200];
    /// Number of PDCCH subframes for which the UE continues to monitor PDCCH after the grant of a new block.
    DRX_INACTIVITY = "drx-InactivityTimer", "subframes", "DRX-Config",
        [1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200, 300, 500, 750, 1280, 1920,
         2560];
    /// Largest number of PDCCH subframes in which the UE monitors PDCCH for a retransmission.
    DRX_RETRANSMISSION = "drx-RetransmissionTimer", "subframes", "DRX-Config", [1, 2, 4, 6, 8, 16, 24, 33];
    /// Length of the long DRX cycle in subframes.
    LONG_DRX_CYCLE = "longDRX-CycleStartOffset", "subframes", "DRX-Config",
        [10, 20, 32, 40, 64, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560];
    /// Length of the short DRX cycle in subframes.
    SHORT_DRX_CYCLE = "shortDRX-Cycle", "subframes", "DRX-Config",
        [2, 5, 8, 10, 16, 20, 32, 40, 64, 80, 128, 160, 256, 320, 512, 640];
    /// Number of short DRX cycles after which the UE changes to the long cycle.
    SHORT_CYCLE_TIMER = "drxShortCycleTimer", "cycles", "DRX-Config",
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    /// Largest number of transmissions of a block in the uplink.
    MAX_HARQ_TX = "maxHARQ-Tx", "", "MAC-MainConfig", [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28];
    /// Number of subframes without a grant after which the UE repeats a buffer status report.
    RETX_BSR = "retxBSR-Timer", "subframes", "MAC-MainConfig", [320, 640, 1280, 2560, 5120, 10_240];
    /// Period of power headroom reports in subframes.
    PERIODIC_PHR = "periodicPHR-Timer", "subframes", "MAC-MainConfig",
        [10, 20, 50, 100, 200, 500, 1000, INFINITY];
    /// Number of subframes after a power headroom report in which a change of the path loss triggers none.
    PROHIBIT_PHR = "prohibitPHR-Timer", "subframes", "MAC-MainConfig", [0, 10, 20, 50, 100, 200, 500, 1000];
    /// Change of the path loss in dB that triggers a power headroom report.
    PHR_CHANGE = "dl-PathlossChange", "dB", "MAC-MainConfig", [1, 3, 6, INFINITY];
    /// Number of subframes from one block of a configured grant of the uplink to the next (Releases 8 to 12).
    SPS_INTERVAL_UP = "semiPersistSchedIntervalUL", "subframes", "SPS-Config",
        [10, 20, 32, 40, 64, 80, 128, 160, 320, 640];
    /// Number of consecutive blocks without data after which a configured grant of the uplink ends.
    IMPLICIT_RELEASE_AFTER = "implicitReleaseAfter", "", "SPS-Config", [2, 3, 4, 8];
    /// Length in frames of the paging cycle of idle UEs.
    PAGING_CYCLE = "defaultPagingCycle", "frames", "RadioResourceConfigCommonSIB", [32, 64, 128, 256];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_ascend() {
        for allowed in ALL {
            assert!(allowed.values.is_sorted_by(|lower, upper| lower < upper), "{}", allowed.name);
            assert!(allowed.values.iter().all(|&value| allowed.check(value).is_ok()));
        }
    }

    // Tests the feature: values of timers and limits (standard's table)
    #[test]
    fn lists_have_the_lengths_of_the_fields() {
        let lengths = |lists: &[Allowed]| lists.iter().map(|list| list.values.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&[ON_DURATION, LONG_DRX_CYCLE, SHORT_DRX_CYCLE, MAX_HARQ_TX]), [16, 16, 16, 14]);
        assert_eq!(lengths(&[RETX_BSR, PERIODIC_PHR, SPS_INTERVAL_UP, PAGING_CYCLE]), [6, 8, 10, 4]);
    }

    #[test]
    fn errors_name_the_values_and_the_clause() {
        let message = "retxBSR-Timer 12 subframes does not exist; expected 320, 640, 1280";
        assert!(RETX_BSR.check(12).unwrap_err().starts_with(message));
        let message = "dl-PathlossChange 2 dB does not exist; expected 1, 3, 6, infinity (TS 36.331, 6.3.2, \
                       MAC-MainConfig)";
        assert_eq!(PHR_CHANGE.check(2), Err(message.to_owned()));
        assert!(MAX_HARQ_TX.check(INFINITY).unwrap_err().starts_with("maxHARQ-Tx infinity does"));
    }
}
