pub mod band;
pub mod deal;
pub mod harq;
pub mod outer_loop;
pub mod reordering;
pub mod sched;
pub mod user_set;
