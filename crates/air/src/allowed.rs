//! TS 36.331, 6.3.2.

use nodeb_base::check::Check;
use nodeb_base::units::Duration;

pub const INFINITY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Or subframes.
    Milliseconds,
    /// 10 ms.
    Frames,
    /// 1000 octets.
    Kilobytes,
    Decibels,
    /// Tenths of 1.
    Tenths,
    Number,
}

// Clause: TS 36.331, 6.3.2: values of timers and limits
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub name: &'static str,
    pub unit: Unit,
    pub values: &'static [u32],
    /// Information element of TS 36.331, 6.3.2.
    pub element: &'static str,
}

impl Allowed {
    /// `value` is in the field's unit.
    pub fn require(&self, check: &mut Check, key: &str, value: f64) {
        let below = self.values.iter().rev().find(|other| f64::from(**other) <= value);
        if below.is_some_and(|below| f64::from(*below) >= value) {
            return;
        }
        let above = self.values.iter().find(|other| f64::from(**other) > value);
        let nearest: Vec<String> =
            [below, above].into_iter().flatten().map(|near| self.shown(*near)).collect();
        let Self { name, element, .. } = self;
        check.require(false, key, || {
            let (value, nearest) = (self.shown_as(value), nearest.join(" or "));
            format!("{value} is no value of {name}; expected {nearest} (TS 36.331, 6.3.2, {element})")
        });
    }

    pub fn require_time(&self, check: &mut Check, key: &str, time: Duration) {
        let unit = Duration::from_millis(if self.unit == Unit::Frames { 10 } else { 1 });
        self.require(check, key, time.0 as f64 / unit.0 as f64);
    }

    pub fn shown(&self, value: u32) -> String {
        if value == INFINITY { "infinity".to_owned() } else { self.shown_as(f64::from(value)) }
    }

    pub fn shown_as(&self, value: f64) -> String {
        match self.unit {
            Unit::Milliseconds => format!("{value} ms"),
            Unit::Frames => format!("{} ms", value * 10.0),
            Unit::Kilobytes => format!("{value} kB"),
            Unit::Decibels => format!("{value} dB"),
            Unit::Tenths => format!("{}", value / 10.0),
            Unit::Number => format!("{value}"),
        }
    }
}

macro_rules! allowed {
    ($(
        $(#[$doc:meta])*
        $constant:ident = $name:literal, $unit:ident, $element:literal, [$($value:expr),*];
    )*) => {
        $(
            $(#[$doc])*
            pub const $constant: Allowed =
                Allowed { name: $name, unit: Unit::$unit, values: &[$($value),*], element: $element };
        )*

        /// All lists of allowed values in this module.
        pub const ALL: &[Allowed] = &[$($constant),*];
    };
}

allowed! {
    /// Number of PDCCH subframes at the start of each DRX cycle in which the UE monitors PDCCH.
    ON_DURATION = "onDurationTimer", Milliseconds, "DRX-Config",
        [1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200];
    /// Number of PDCCH subframes for which the UE continues to monitor PDCCH after the grant of a new block.
    DRX_INACTIVITY = "drx-InactivityTimer", Milliseconds, "DRX-Config",
        [0, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200, 300, 500, 750, 1280, 1920, 2560];
    /// Largest number of PDCCH subframes in which the UE monitors PDCCH for a retransmission.
    DRX_RETRANSMISSION = "drx-RetransmissionTimer", Milliseconds, "DRX-Config",
        [0, 1, 2, 4, 6, 8, 16, 24, 33];
    /// Length of the long DRX cycle in subframes.
    LONG_DRX_CYCLE = "longDRX-CycleStartOffset", Milliseconds, "DRX-Config",
        [10, 20, 32, 40, 60, 64, 70, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560];
    /// Length of the short DRX cycle in subframes.
    SHORT_DRX_CYCLE = "shortDRX-Cycle", Milliseconds, "DRX-Config",
        [2, 4, 5, 8, 10, 16, 20, 32, 40, 64, 80, 128, 160, 256, 320, 512, 640];
    /// Number of short DRX cycles after which the UE changes to the long cycle.
    SHORT_CYCLE_TIMER = "drxShortCycleTimer", Number, "DRX-Config",
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    /// Largest number of transmissions of a block in the uplink.
    MAX_HARQ_TX = "maxHARQ-Tx", Number, "MAC-MainConfig",
        [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28];
    /// Number of subframes without a grant after which the UE repeats a buffer status report.
    RETX_BSR = "retxBSR-Timer", Milliseconds, "MAC-MainConfig",
        [320, 640, 1280, 2560, 5120, 10_240];
    /// Period of power headroom reports in subframes.
    PERIODIC_PHR = "periodicPHR-Timer", Milliseconds, "MAC-MainConfig",
        [10, 20, 50, 100, 200, 500, 1000, INFINITY];
    /// Number of subframes after a power headroom report in which a change of the path loss triggers none.
    PROHIBIT_PHR = "prohibitPHR-Timer", Milliseconds, "MAC-MainConfig",
        [0, 10, 20, 50, 100, 200, 500, 1000];
    /// Change of the path loss in dB that triggers a power headroom report.
    PHR_CHANGE = "dl-PathlossChange", Decibels, "MAC-MainConfig",
        [1, 3, 6, INFINITY];
    /// Number of subframes from one block of a configured grant of the uplink to the next (Releases 8 to 12).
    SPS_INTERVAL_UP = "semiPersistSchedIntervalUL", Milliseconds, "SPS-Config",
        [10, 20, 32, 40, 64, 80, 128, 160, 320, 640];
    /// Number of consecutive blocks without data after which a configured grant of the uplink ends.
    IMPLICIT_RELEASE_AFTER = "implicitReleaseAfter", Number, "SPS-Config",
        [2, 3, 4, 8];
    /// Length in frames of the paging cycle of idle UEs.
    PAGING_CYCLE = "defaultPagingCycle", Frames, "RadioResourceConfigCommonSIB",
        [32, 64, 128, 256];
    /// Share of the path loss that power control compensates.
    ALPHA = "alpha", Tenths, "UplinkPowerControl",
        [0, 4, 5, 6, 7, 8, 9, 10];
    /// Time for which the receiver of RLC waits for a missing PDU.
    T_REORDERING = "t-Reordering", Milliseconds, "RLC-Config",
        [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 110, 120,
         130, 140, 150, 160, 170, 180, 190, 200, 1600];
    /// Smallest time between two STATUS PDUs.
    T_STATUS_PROHIBIT = "t-StatusProhibit", Milliseconds, "RLC-Config",
        [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110,
         115, 120, 125, 130, 135, 140, 145, 150, 155, 160, 165, 170, 175, 180, 185, 190, 195, 200,
         205, 210, 215, 220, 225, 230, 235, 240, 245, 250, 300, 350, 400, 450, 500, 800, 1000, 1200,
         1600, 2000, 2400];
    /// Time after which the sender of RLC repeats an unanswered poll.
    T_POLL_RETRANSMIT = "t-PollRetransmit", Milliseconds, "RLC-Config",
        [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110,
         115, 120, 125, 130, 135, 140, 145, 150, 155, 160, 165, 170, 175, 180, 185, 190, 195, 200,
         205, 210, 215, 220, 225, 230, 235, 240, 245, 250, 300, 350, 400, 450, 500, 800, 1000, 2000,
         4000];
    /// Number of new PDUs after which the sender of RLC polls.
    POLL_PDU = "pollPDU", Number, "RLC-Config",
        [4, 8, 16, 32, 64, 128, 256, INFINITY];
    /// Number of new octets after which the sender of RLC polls.
    POLL_BYTE = "pollByte", Kilobytes, "RLC-Config",
        [25, 50, 75, 100, 125, 250, 375, 500, 750, 1000, 1250, 1500, 2000, 3000, INFINITY];
    /// Number of retransmissions of a PDU at which the radio link fails.
    MAX_RETX_THRESHOLD = "maxRetxThreshold", Number, "RLC-Config",
        [1, 2, 3, 4, 6, 8, 16, 32];
    /// Age at which PDCP discards a packet.
    DISCARD_TIMER = "discardTimer", Milliseconds, "PDCP-Config",
        [50, 100, 150, 300, 500, 750, 1500, INFINITY];
}
