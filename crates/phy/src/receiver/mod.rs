pub mod estimate;
pub mod rake;

pub use estimate::Estimation;
pub use rake::Rake;
