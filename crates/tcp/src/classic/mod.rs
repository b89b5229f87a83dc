//! The classic family: TCP as ns-2 has it and the studies used it. It counts segments, measures one
//! round trip at a time on a tick clock, and goes back N after a timeout.

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
