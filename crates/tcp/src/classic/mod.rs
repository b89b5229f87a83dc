//! As in ns-2 and in studies that use it: counts segments, by default measures one round trip at a time on a
//! coarse clock, and goes back N after a timeout.

mod eifel;
mod era;
mod params;
pub(crate) mod receiver;
pub mod recovery;
mod rtt;
mod segments;
pub(crate) mod sender;
mod timing;
pub(crate) mod wire;

pub use era::{Line as EraLine, switches as era_switches};
pub use params::Classic;
pub use rtt::EstimatorSpec;
