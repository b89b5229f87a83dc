//! Uplink of an LTE cell: scheduling requests, buffer status reports, grants and synchronous HARQ.
//!
//! A phone with data requests resource blocks, and the base station grants them:
//!
//! ```text
//! phone         request . . . . . . . block, report . . . . . . . block, report
//! subframe         n                      n+8                        n+16
//! base station     . . . n+4 grant . . . . . . . n+12 grant
//! ```
//!
//! - [`params`], [`grants`]: keys, and their checks;
//! - [`mac`]: requests, reports, grants and transmissions in TTIs;
//! - `phone`: state of a phone, at the phone itself and at the base station;
//! - [`reserved`]: configured grants;
//! - [`headroom`]: power headroom reports;
//! - `power`: power control, which limits the resource blocks of a phone;
//! - `report`: levels of buffer status reports; `runs`: neighbouring resource blocks; `shares`: even shares of them;
//! - [`tally`]: counters of each phone.

#[cfg(test)]
mod conformance;
pub mod grants;
pub mod headroom;
pub mod mac;
pub mod params;
mod phone;
mod power;
mod report;
pub mod reserved;
mod runs;
mod shares;
pub mod tally;
#[cfg(test)]
mod tests;

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
