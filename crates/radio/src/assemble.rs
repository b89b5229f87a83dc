//! Assembly of a TTI-driven bearer from its parts, with the MAC that fits its RLC mode.

use nodeb_base::rng::Streams;

use super::error::ErrorModel;
use super::mac::sched::Scheduler;
use super::rlc::RlcSpec;
use super::rlc::am::Setting;
use super::tti::arq::ArqMac;
use super::tti::rlc::{Checksum, RlcMac};
use super::tti::{Air, TtiBearer};
use super::{Bearer, UserRadio};

/// Parts from which [`Parts::build`] assembles a TTI-driven bearer.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Transmission parameters.
    pub air: Air,
    /// Data that one checksum covers: each PDU, or a block of PDUs.
    pub checksum: Checksum,
    /// Model of block errors; `None` if every block arrives intact.
    pub errors: Option<&'a ErrorModel>,
    /// RLC mode with its parameters.
    pub rlc: &'a RlcSpec,
    /// Scheduler that selects the user of each TTI.
    pub scheduler: Box<dyn Scheduler>,
}

impl Parts<'_> {
    /// Builds the bearer that serves `users`.
    pub fn build(self, users: &[UserRadio], streams: &Streams) -> Box<dyn Bearer> {
        let Air { pdu_bytes, buffer, delivered, tti, .. } = self.air;
        let setting = Setting { pdu_bytes, buffer, order: delivered };
        let Parts { air, checksum, errors, rlc, scheduler } = self;
        match rlc {
            RlcSpec::Arq(_) => {
                Box::new(TtiBearer::new(tti, ArqMac::new(air, errors, users, scheduler, streams)))
            }
            RlcSpec::Am(am) => {
                let of_user = |user: &UserRadio| am.build(setting, user.id, streams);
                let mac = RlcMac::new(air, checksum, errors, users, scheduler, streams, of_user);
                Box::new(TtiBearer::new(tti, mac))
            }
            RlcSpec::Slotted(slotted) => {
                let of_user = |_: &UserRadio| slotted.build(setting);
                let mac = RlcMac::new(air, checksum, errors, users, scheduler, streams, of_user);
                Box::new(TtiBearer::new(tti, mac))
            }
        }
    }
}
