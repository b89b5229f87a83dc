//! Medium access control: schedulers, hybrid ARQ and reordering.

pub mod harq;
pub mod reordering;
pub mod sched;
pub mod user_set;
