//! The receiver: a rake with fingers at known delays and maximum-ratio combining.

pub mod estimate;
pub mod rake;

pub use estimate::Estimation;
pub use rake::Rake;
