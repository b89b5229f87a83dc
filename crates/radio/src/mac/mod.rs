//! Medium access: who sends in a TTI, and what becomes of a block that fails.

pub mod harq;
pub mod reordering;
pub mod sched;
pub mod user_set;
