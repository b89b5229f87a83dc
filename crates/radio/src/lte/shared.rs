//! State of the phones of a cell that downlink and uplink share.

use super::mac::sleep::Sleepers;
use super::rrc::connections::Connections;

/// State of the phones of a cell. Clones of this value share the same state.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// RRC connections; `None` if phones are always connected.
    pub connections: Option<Connections>,
    /// Discontinuous reception; `None` if phones always listen.
    pub sleepers: Option<Sleepers>,
}
