//! State of the phones that downlink and uplink share, as clones do.

use super::drx::states::DrxStates;
use super::rrc::Connections;

#[derive(Clone, Debug)]
pub struct Shared {
    /// `None` if phones are always connected.
    pub connections: Option<Connections>,
    /// `None` if phones always listen.
    pub drx: Option<DrxStates>,
}
