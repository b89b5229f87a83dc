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

use params::Scheduled;

no_parameters! {
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
