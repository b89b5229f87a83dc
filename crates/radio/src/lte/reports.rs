use nodeb_air::mac::outer_loop::OuterLoop;
use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use crate::ofdma::reports::ReportRules;

params! {
    /// Parameters of CQI reports on LTE.
    pub struct GroupReports {
        /// Time from a measurement to the use of its report at the base station, rounded up to whole TTIs.
        pub delay: Duration = Duration::from_millis(8),
        /// Time between two measurements of a phone, in whole TTIs. The measurements of different phones are spread
        /// over this time.
        pub cycle: Duration = Duration::from_millis(10),
        /// Outer loop. Default: none, reports are used unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_loop: Option<OuterLoop>,
    }
}

/// TS 36.211, 4.1.
pub const TTI: Duration = Duration::from_millis(1);

impl Checked for GroupReports {
    fn check(&self, check: &mut Check) {
        check.at_most("delay", self.delay, Duration::from_secs(10));
        let whole = self.cycle.0 > 0 && self.cycle.0.is_multiple_of(TTI.0);
        check.require(whole && self.cycle <= Duration::from_secs(10), "cycle", || {
            format!("{} is not a number of whole TTIs; expected 1 ms, 2 ms, ... 10 s", self.cycle)
        });
        if let Some(outer_loop) = &self.outer_loop {
            check.within("outer_loop", |check| outer_loop.check(check));
        }
    }
}

impl GroupReports {
    pub fn rules(&self) -> ReportRules {
        ReportRules { delay: self.delay.0.div_ceil(TTI.0), cycle: (self.cycle.0 / TTI.0).max(1) }
    }
}
