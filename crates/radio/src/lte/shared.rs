//! State of the phones that downlink and uplink share, as clones do.

use super::Lte;
use super::mac::sleep::Sleepers;
use super::rrc::connections::Connections;
use nodeb_air::UserRadio;

#[derive(Clone, Debug)]
pub struct Shared {
    /// `None` if phones are always connected.
    pub connections: Option<Connections>,
    /// `None` if phones always listen.
    pub sleepers: Option<Sleepers>,
}

impl Shared {
    pub fn new(params: &Lte, users: &[UserRadio]) -> Self {
        Self {
            connections: params.rrc.as_ref().map(|rrc| Connections::new(rrc, users)),
            sleepers: params.drx.as_ref().map(|drx| Sleepers::new(drx, users)),
        }
    }
}
