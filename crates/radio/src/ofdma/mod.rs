//! Cells on grids of resource blocks, as far as they do not depend on the generation. [`Standard`] has the rest.

pub mod channel;
pub mod cqi_of_snr;
pub mod downlink;
pub mod drx;
pub mod layers;
pub mod numbered;
pub mod queues;
pub mod recorded;
pub mod reports;
pub mod rrc;
pub mod shared;
pub mod standard;
pub mod uplink;

pub use standard::Standard;
