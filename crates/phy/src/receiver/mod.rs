//! Receiver: a rake whose fingers are at known delays, with maximum-ratio combining.

pub mod estimate;
pub mod rake;

pub use estimate::Estimation;
pub use rake::Rake;
