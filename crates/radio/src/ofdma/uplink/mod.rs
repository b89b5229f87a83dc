//! Scheduled uplink of a cell: scheduling requests, buffer status reports, grants and synchronous HARQ.
//!
//! With the timing of LTE:
//!
//! ```text
//! phone         request . . . . . . . block, report . . . . . . . block, report
//! TTI              n                      n+8                        n+16
//! base station     . . . n+4 grant . . . . . . . n+12 grant
//! ```

mod buffer;
pub mod configured;
pub mod headroom;
mod mac;
pub mod power;
pub mod requests;
pub mod runs;
mod shares;
pub mod tally;
#[cfg(test)]
mod tests;
mod ue;
mod ue_context;

pub use mac::UplinkMac;

use nodeb_air::cell::plan::Cell;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::multiplexing::LogicalChannels;
use nodeb_air::mac::outer_loop::OuterLoop;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::numerology::Numerology;
use nodeb_base::units::Duration;

use super::recorded::Steps;
use crate::ofdma::shared::Shared;
use configured::ConfiguredRules;
use headroom::HeadroomRules;
use power::PowerControl;
use requests::RequestRules;
use runs::BlockSet;

#[derive(Debug)]
pub struct UplinkUser {
    pub bearers: LogicalChannels,
    /// Index among the cell's.
    pub formats: usize,
    /// Of the largest block.
    pub block_bits: u32,
    pub steps: Option<Steps>,
    pub requests: RequestRules,
}

#[derive(Clone, Debug)]
pub struct UplinkRules {
    pub scheduler: SchedulerSpec,
    /// That are granted a new block.
    pub users_per_tti: u32,
    pub max_transmissions: u32,
    /// Octets assumed after a request or ahead of data.
    pub first_grant: u32,
    /// TTIs from one grant ahead of data to the next; `None` without such grants.
    pub ahead: Option<u64>,
    pub configured: Option<ConfiguredRules>,
    pub outer_loop: Option<OuterLoop>,
    pub power: PowerControl,
    /// Linear factor of the SNRs of phones without a position.
    pub snr_offset: f32,
    /// `None` if the base station has the headroom without reports.
    pub headroom: Option<HeadroomRules>,
}

#[derive(Debug)]
pub struct UplinkSetup<S> {
    pub numerology: Numerology,
    pub cell: Cell,
    pub formats: Vec<S>,
    pub users: Vec<UplinkUser>,
    /// Resource blocks for data.
    pub data: BlockSet,
    pub rules: UplinkRules,
    pub harq: Rules,
    /// From the creation of a STATUS PDU to its arrival.
    pub status_delay: Duration,
    pub shared: Shared,
}
