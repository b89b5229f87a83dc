//! The RLC mode determines the type of MAC.

use nodeb_base::rng::Streams;

use nodeb_air::error::ErrorModel;
use nodeb_air::mac::sched::Scheduler;
use nodeb_air::rlc::RlcSpec;
use nodeb_air::rlc::am::Setting;
use nodeb_air::tti::arq::ArqMac;
use nodeb_air::tti::rlc::{Checksum, RlcMac};
use nodeb_air::tti::{Air, TtiBearer};
use nodeb_air::{Hop, UserRadio};

#[derive(Debug)]
pub struct Layers<'a> {
    pub air: Air,
    /// The simple ARQ ignores this setting.
    pub checksum: Checksum,
    pub errors: Option<&'a ErrorModel>,
    pub rlc: &'a RlcSpec,
    pub scheduler: Box<dyn Scheduler>,
}

impl Layers<'_> {
    pub fn build(self, users: &[UserRadio], streams: &Streams) -> Box<dyn Hop> {
        let Air { pdu_bytes, buffer, delivered, tti, .. } = self.air;
        let setting = Setting { pdu_bytes, buffer, order: delivered };
        let Layers { air, checksum, errors, rlc, scheduler } = self;
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
