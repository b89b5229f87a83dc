pub mod allocation;
pub mod band;
pub mod harq;
pub mod multiplexing;
pub mod outer_loop;
pub mod reordering;
pub mod sched;
pub mod user_set;
