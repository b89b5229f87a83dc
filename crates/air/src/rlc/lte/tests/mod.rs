//! Slow receivers follow the text of the standard.

mod air;
mod am_laws;
mod am_reference;
mod am_timelines;
mod queues;
mod reference;
mod um_laws;
mod um_reference;
