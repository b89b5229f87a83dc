//! The phone compares the mean received power of the Node Bs, as for event 1D (change of the best cell) of TS
//! 25.331, 14.1.2.4. Powers are averaged over fading instead of filtered over time. Not modelled: cell
//! individual offsets and the active set. The change itself follows TS 25.308, 9.

pub mod control;
pub mod mobility;
pub mod trigger;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::interference::InterferenceSpec;
use crate::cell::plan::Cell;

/// Time between two comparisons of the Node Bs. Of the values of `time_to_trigger` in TS 25.331,
/// 10.3.7.64, all except 10 ms are multiples of 20 ms.
pub const COMPARISON: Duration = Duration::from_millis(20);

/// Handling of the data that a Node B holds for a user when the user leaves its cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldData {
    /// MAC-hs is reset, and the Node B's data is lost.
    #[default]
    Lost,
    /// MAC-hs continues in the new cell without a reset. The old Node B forwards its data, and
    /// blocks not yet decoded restart with a first transmission.
    Forwarded,
}

params! {
    /// Handover between the cells of several Node Bs.
    pub struct Handover {
        /// Number of cells that serve users, 2 to 7: the first sites of the hexagonal grid, starting with the
        /// one in the middle, then its neighbours counterclockwise from east.
        pub cells: usize = 2,
        /// Margin in dB by which another Node B must at least be received better than the serving one (H1d /
        /// 2 of TS 25.331).
        pub hysteresis_db: f64 = 3.0,
        /// Time for which another Node B must be received better before the user changes to its
        /// cell.
        pub time_to_trigger: Duration = Duration::from_millis(320),
        /// Time without transmissions to a user at a change of cell.
        pub interruption: Duration = Duration::from_millis(100),
        /// Handling of the data that the old Node B holds for a user at a change of cell.
        pub data: HeldData,
    }
}

impl Checked for Handover {
    fn check(&self, check: &mut Check) {
        check.require((2..=7).contains(&self.cells), "cells", || {
            format!("{} is out of range; expected 2 to 7", self.cells)
        });
        check.range("hysteresis_db", self.hysteresis_db, 0.0..=100.0);
        for (key, value) in [("time_to_trigger", self.time_to_trigger), ("interruption", self.interruption)] {
            check.at_most(key, value, Duration::from_secs(10));
        }
    }
}

impl Handover {
    /// `cell` must have neighbouring Node Bs.
    pub fn check_with(&self, cell: &Cell, check: &mut Check) {
        self.check(check);
        let InterferenceSpec::Hexagonal(grid) = &cell.interference else {
            check.require(false, "cells", || {
                "with a fixed interference there are no neighbours; expected `cell.interference = \"hexagonal\"`"
                    .to_owned()
            });
            return;
        };
        check.require(grid.rings > 0, "cells", || {
            "a grid without rings has one site; expected `rings` of 1 or more".to_owned()
        });
    }
}
