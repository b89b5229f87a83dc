//! Handover between served cells: when a user's serving HS-DSCH cell changes, and what that costs.
//!
//! The phone compares the Node Bs by the power received in the mean, as by event 1D of TS 25.331, 14.1.2.4:
//! the best cell changes. A comparison stands for the measurement's filter, so there is no other; the
//! cell's own offset is left out, as is the active set. The change itself is that of TS 25.308, 9.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::interference::InterferenceSpec;
use crate::cell::plan::{Cell, Journey};
use crate::numerology::Numerology;

/// Time between two comparisons: the least step of `time_to_trigger` in TS 25.331, 10.3.7.64, but for
/// 10 ms.
pub const COMPARISON: Duration = Duration::from_millis(20);

/// What becomes of a user's data in the Node B that it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldData {
    /// MAC-hs is reset: what the Node B held is lost to it.
    #[default]
    Lost,
    /// MAC-hs goes on in the new cell without a reset: what the Node B held is sent there, and a block
    /// that has not been decoded begins with a first transmission.
    Forwarded,
}

params! {
    /// Handover between the cells of several Node Bs.
    pub struct Handover {
        /// Cells that serve users: those of the first sites of the hexagonal grid, the one in the middle
        /// first, then the next to it from the east to the north; 2 to 7.
        pub cells: usize = 2,
        /// By how many dB another Node B must be received better than the serving one; H1d / 2 of
        /// TS 25.331.
        pub hysteresis_db: f64 = 3.0,
        /// How long that must last.
        pub time_to_trigger: Duration = Duration::from_millis(320),
        /// How long nothing is sent to a user whose cell changes.
        pub interruption: Duration = Duration::from_millis(100),
        /// What becomes of a user's data in the Node B that it leaves.
        pub data: HeldData,
    }
}

impl Checked for Handover {
    fn check(&self, check: &mut Check) {
        check.require((2..=7).contains(&self.cells), "cells", || {
            format!("there is no handover between {} cells; expected 2 to 7", self.cells)
        });
        check.range("hysteresis_db", self.hysteresis_db, 0.0..=100.0);
        for (key, value) in [("time_to_trigger", self.time_to_trigger), ("interruption", self.interruption)] {
            check.at_most(key, value, Duration::from_secs(10));
        }
    }
}

impl Handover {
    /// Reports impossible values, and a cell without such neighbours.
    pub fn check_with(&self, cell: &Cell, check: &mut Check) {
        self.check(check);
        let InterferenceSpec::Hexagonal(grid) = &cell.interference else {
            check.require(false, "cells", || {
                "a fixed interference has no neighbours; expected `cell.interference = \"hexagonal\"`"
                    .to_owned()
            });
            return;
        };
        check.require(grid.rings > 0, "cells", || {
            "a grid without rings has one site; expected `rings` of 1 or more".to_owned()
        });
    }

    /// TTIs of an interruption.
    pub fn interruption_ttis(&self, numerology: Numerology) -> u64 {
        numerology.ttis(self.interruption)
    }
}

/// Event 1D of one user.
#[derive(Debug)]
pub struct Trigger {
    /// Linear hysteresis.
    ratio: f32,
    ttis: u64,
    /// Since which TTI each site has been better than the serving one by the hysteresis.
    since: Vec<Option<u64>>,
}

impl Trigger {
    /// A user who has not measured yet.
    pub fn new(params: &Handover, numerology: Numerology) -> Self {
        Self {
            ratio: libm::pow(10.0, params.hysteresis_db / 10.0) as f32,
            ttis: numerology.ttis(params.time_to_trigger),
            since: vec![None; params.cells],
        }
    }

    /// Compares the sites in TTI number `tti`; the one to change to, if it is time.
    pub fn compare(&mut self, tti: u64, journey: &mut Journey) -> Option<usize> {
        let serving = journey.serving();
        let least = journey.strength(serving, tti) * self.ratio;
        let mut best: Option<(f32, usize)> = None;
        for (site, since) in self.since.iter_mut().enumerate() {
            let strength = journey.strength(site, tti);
            if site == serving || strength < least {
                *since = None;
                continue;
            }
            let lasts = tti - *since.get_or_insert(tti) >= self.ttis;
            if lasts && best.is_none_or(|(most, _)| strength > most) {
                best = Some((strength, site));
            }
        }
        let (_, site) = best?;
        self.forget();
        Some(site)
    }

    /// What has been measured is of no use any more.
    pub fn forget(&mut self) {
        self.since.fill(None);
    }
}
