//! TCP: the sender at the server and the receiver at the phone.
//!
//! The sender is the packet-counted machine of ns-2, which the studies used (see
//! [`classic`](sender)); what a variant does about loss is a policy in [`recovery`].

pub mod params;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod sender;

pub use params::Tcp;
pub use receiver::Receiver;
pub use sender::Sender;
