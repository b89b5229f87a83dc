//! Links of the fixed network.
//!
//! A link delivers packets after queueing, transmission and propagation. One direction has one of two forms: a
//! [`Link`] with a constant rate, or a [`TracedLink`] that transmits at recorded delivery opportunities. A
//! [`Chain`] computes the passage of plain links in a row at once.
//!
//! A packet passes these layers:
//!
//! - `ingress`: a loss model ([`loss`]), then a queue discipline ([`queue`]), which may drop or mark
//!   packets.
//! - the transmitter, which starts no transmission during an [`Outage`].
//! - `propagation`: a fixed delay, optionally with [`jitter`] and reordering.
//!
//! [`Wired`], [`Uplink`] and [`Core`] are the parameters of links in a scenario. [`Path`] holds the
//! parameters of one direction of a link and builds the link from them.
//!
//! # Examples
//!
//! A link does no I/O and has no clock: the caller passes the time in a context, and wakes the link at the
//! time that [`Link::next_wake`] returns.
//!
//! ```
//! use nodeb_base::context::TestBench;
//! use nodeb_base::packet::Packet;
//! use nodeb_base::rng::Streams;
//! use nodeb_base::units::{Duration, Rate, Time};
//! use nodeb_net::{LossSetting, Path, QueueSpec};
//!
//! // 1 Mbit/s and 20 ms, behind a drop-tail queue. 1500 bytes take 12 ms.
//! let (queue, loss) = (QueueSpec::default(), LossSetting::default());
//! let (rate, delay) = (Rate(1_000_000), Duration::from_millis(20));
//! let path =
//!     Path { rate, delay, queue: &queue, loss: &loss, jitter: None, reordering: None, outages: &[] };
//! let mut link = path.link(&Streams::new(1, 0), "example", 0);
//!
//! let mut world = TestBench::default();
//! for id in 0..2 {
//!     assert!(link.accept(&mut world.at(Time::ZERO), Packet::new(id, 1500)));
//! }
//! assert_eq!(link.waiting(), 1); // the other one is being transmitted
//!
//! let mut arrivals_ms = Vec::new();
//! while let Some(instant) = link.next_wake() {
//!     let at = instant.time();
//!     link.wake(&mut world.at(at), instant);
//!     arrivals_ms.extend(world.take_arrivals().iter().map(|_| at.0 / 1_000_000));
//! }
//! assert_eq!(arrivals_ms, [32, 44]);
//! ```

mod chain;
mod core;
mod ingress;
pub mod jitter;
mod link;
pub mod loss;
mod opportunities;
mod outage;
mod params;
mod propagation;
pub mod queue;
mod traced;
mod transmitter;

pub use chain::Chain;
pub use core::Core;
pub use ingress::LinkCounts;
pub use link::Link;
pub use loss::LossSetting;
pub use opportunities::{AtEnd, Opportunities, Recording, Trains};
pub use outage::Outage;
pub use params::{Path, Uplink, Wired};
pub use propagation::Reordering;
pub use queue::QueueSpec;
pub use traced::{OPPORTUNITIES, TracedLink};
