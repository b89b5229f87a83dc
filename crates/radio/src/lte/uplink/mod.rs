#[cfg(test)]
mod conformance;
pub mod grants;
pub mod headroom;
pub mod params;
pub mod report;

use nodeb_base::registry;

use params::Scheduled;

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
