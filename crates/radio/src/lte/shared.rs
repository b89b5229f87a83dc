//! State of the phones that downlink and uplink share, as clones do.

use super::mac::sleep::Sleepers;
use super::rrc::connections::Connections;

#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// `None` if phones are always connected.
    pub connections: Option<Connections>,
    /// `None` if phones always listen.
    pub sleepers: Option<Sleepers>,
}
