//! Uplink of an LTE cell: scheduling requests, buffer status reports, grants and synchronous HARQ.
//!
//! ```text
//! phone         request . . . . . . . block, report . . . . . . . block, report
//! subframe         n                      n+8                        n+16
//! base station     . . . n+4 grant . . . . . . . n+12 grant
//! ```

pub mod configured;
#[cfg(test)]
mod conformance;
pub mod grants;
pub mod headroom;
pub mod mac;
pub mod params;
mod power;
mod report;
mod requests;
mod runs;
mod shares;
pub mod tally;
#[cfg(test)]
mod tests;
mod ue;
mod ue_context;

use nodeb_base::registry;

use super::formats::Formats;
use super::recorded::Steps;
use super::rlc::Layer2;
use super::shared::Shared;
use nodeb_air::cell::plan::Cell;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::numerology::Numerology;
use params::Scheduled;
use runs::BlockSet;

#[derive(Debug)]
pub struct UplinkSetup {
    pub numerology: Numerology,
    pub cell: Cell,
    /// By the modulations of phones.
    pub formats: Vec<Formats>,
    /// Resource blocks for PUSCH.
    pub data: BlockSet,
    /// By user.
    pub steps: Vec<Option<Steps>>,
    pub rules: Rules,
    pub layer2: Layer2,
    pub params: Scheduled,
    pub shared: Shared,
}

nodeb_base::no_parameters! {
    /// Empty set of parameters of an uplink without requests and grants.
    Plain
}

registry! {
    /// Uplink of an LTE cell, as in a scenario.
    "uplink of LTE" UplinkSpec = Scheduled {
        /// A link of each phone, with the rate and delay of the table `uplink`.
        "plain" => Plain(Plain),
        /// Resource blocks that the base station grants on request (TS 36.321, 5.4).
        "scheduled" => Scheduled(Scheduled),
    }
}
