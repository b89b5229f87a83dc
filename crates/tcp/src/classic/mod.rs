//! The classic family: TCP as ns-2 has it and the studies used it. It counts segments, measures one
//! round trip at a time on a tick clock, and goes back N after a timeout.

pub mod eifel;
pub mod params;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod segments;
pub mod sender;
pub mod timing;
pub mod wire;

pub use params::Classic;
