//! packetdrill for nodeb: plays scripts of Linux's test tool against the ends of nodeb's TCP.
//!
//! A script gives the packets that arrive from the network, and the packets that must be sent, with their
//! times. It can also check the sender's state. [`report::play_text`] plays a script in virtual time, without
//! waiting for the script's times:
//!
//! ```
//! use nodeb_packetdrill::report::{Verdict, play_text};
//!
//! let script = "
//!    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!   +0 < S 0:0(0) win 32792 <mss 1000,sackOK>
//!   +0 > S. 0:0(0) ack 1 <mss 1460,sackOK>
//!  +.1 < . 1:1(0) ack 1 win 32792
//!   +0 write(4, ..., 2000) = 2000
//!   +0 > P. 1:2001(2000) ack 1
//!   +0 %{ assert tcpi_snd_cwnd == 10 }%
//! ";
//! assert!(matches!(play_text(script, None), Verdict::Passed(_)));
//! ```

mod cursor;
pub mod download;
mod expression;
pub mod kernel;
mod packets;
pub mod parser;
pub mod player;
pub mod report;
pub mod script;
mod settings;
mod writer;

pub use cursor::Unreadable;
