//! Packets as TCP headers: what a capture shows of a connection.
//!
//! The simulator moves a few numbers instead of headers. Each family translates its packets back
//! into the fields of RFC 9293, section 3.1, in bytes; [`TcpSpec::wire`] is where a family joins.

use super::{Opener, TcpSpec, classic, linux};
use crate::segment::{SackBlocks, Segment};

/// Where a header is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server's interface.
    Server,
    /// The phone's interface.
    Phone,
}

/// The fields of a TCP header (RFC 9293, 3.1) with the options that nodeb knows.
///
/// Sequence and acknowledgement numbers count bytes from the initial sequence number of the end
/// they belong to: its SYN is 0, its data begin at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct TcpFields {
    /// Sequence number, bytes.
    pub seq: u64,
    /// Acknowledgement number, bytes; `None` leaves the ACK flag away.
    pub ack: Option<u64>,
    /// SYN: opens the connection.
    pub syn: bool,
    /// ECE: echoes a congestion mark (RFC 3168).
    pub ece: bool,
    /// CWR: the window has been reduced (RFC 3168).
    pub cwr: bool,
    /// Window as the header has it: bytes, shifted where window scaling is in use (RFC 7323, 2).
    pub window: u16,
    /// Bytes of data after the header.
    pub payload: u32,
    /// Maximum segment size, bytes (RFC 9293, 3.7.1).
    pub mss: Option<u16>,
    /// Window scale, bits (RFC 7323, 2).
    pub window_shift: Option<u8>,
    /// SACK-permitted (RFC 2018, 2).
    pub sack_permitted: bool,
    /// SACK blocks (RFC 2018, 3): first byte and one past the last; the first `sack_count` count.
    pub sack: [(u64, u64); SackBlocks::MAX],
    /// How many of `sack` are there.
    pub sack_count: usize,
    /// Timestamp value and echo reply (RFC 7323, 3).
    pub timestamps: Option<(u32, u32)>,
}

/// The largest window scale (RFC 7323, 2.3).
pub const MAX_WINDOW_SHIFT: u8 = 14;

/// The smallest window scale under which a window of `bytes` fits the header.
pub fn window_shift(bytes: u64) -> u8 {
    (0..MAX_WINDOW_SHIFT)
        .find(|shift| scaled(bytes, *shift) == bytes.div_ceil(1 << shift))
        .unwrap_or(MAX_WINDOW_SHIFT)
}

/// A window of `bytes` as the header has it under `shift`: rounded up, so that a sender which
/// fills the window keeps within what the header says.
pub fn scaled_window(bytes: u64, shift: u8) -> u16 {
    scaled(bytes, shift) as u16
}

fn scaled(bytes: u64, shift: u8) -> u64 {
    bytes.div_ceil(1 << shift).min(u64::from(u16::MAX))
}

/// Window of the server, to which the phone sends no more than requests; bytes.
pub const SERVER_WINDOW: u16 = u16::MAX;

/// What the SYNs of a connection tell.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    /// Who opens the connection.
    pub opener: Opener,
    /// Largest segment either end takes, without headers; bytes.
    pub mss: u16,
    /// Window that the phone offers at first; bytes.
    pub window_bytes: u64,
    /// Scale of the phone's windows. The option is only in use where both ends name it (RFC 7323,
    /// 2.2), so the server names a scale of 0 where the phone needs one.
    pub shift: u8,
    /// Whether blocks beyond a gap are reported.
    pub sack_permitted: bool,
}

impl Handshake {
    /// The server's SYN: an answer, unless the server opens.
    pub fn syn_of_server(&self) -> TcpFields {
        let ack = (self.opener == Opener::Phone).then_some(1);
        self.syn(ack, SERVER_WINDOW, 0)
    }

    /// The phone's SYN: an answer where the server opens.
    pub fn syn_of_phone(&self) -> TcpFields {
        let ack = (self.opener == Opener::Server).then_some(1);
        self.syn(ack, scaled_window(self.window_bytes, 0), self.shift)
    }

    fn syn(&self, ack: Option<u64>, window: u16, shift: u8) -> TcpFields {
        TcpFields {
            ack,
            syn: true,
            window,
            mss: Some(self.mss),
            window_shift: (self.shift > 0).then_some(shift),
            sack_permitted: self.sack_permitted,
            ..TcpFields::default()
        }
    }

    /// Whether an ACK of the server's SYN is the phone's SYN as well. The same number is what the
    /// loss of the first data leads to, but then data have passed.
    pub fn is_syn_of_phone(&self, passed: &Passed, payload: u32) -> bool {
        self.opener == Opener::Server && (payload > 0 || !passed.data)
    }
}

/// What has passed one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Whether data of the server have.
    pub data: bool,
    /// Bytes of the phone's requests, and those before the last one.
    pub request_bytes: u64,
    before_last: u64,
    /// The highest number that the phone has acknowledged, as the family counts.
    pub acked: u64,
}

impl Passed {
    /// Sequence number of a packet of the phone with `payload` bytes of a request: the first, which
    /// may come again, or the next.
    pub fn request(&mut self, is_first: bool, payload: u32) -> u64 {
        let before = if is_first { 0 } else { self.request_bytes };
        self.ask(before, payload)
    }

    /// Sequence number of a packet of the phone that repeats its last request.
    pub fn request_again(&mut self, payload: u32) -> u64 {
        self.ask(self.before_last, payload)
    }

    fn ask(&mut self, before: u64, payload: u32) -> u64 {
        if payload > 0 {
            self.before_last = before;
        }
        self.request_bytes = self.request_bytes.max(before + u64::from(payload));
        1 + before
    }
}

/// What has passed either end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// The server's interface.
    pub server: Passed,
    /// The phone's interface.
    pub phone: Passed,
}

impl Ends {
    /// What has passed `end`.
    pub fn at(&mut self, end: End) -> &mut Passed {
        match end {
            End::Server => &mut self.server,
            End::Phone => &mut self.phone,
        }
    }

    /// A packet arrives at `end` with this header.
    pub fn arrive(&mut self, end: End, fields: &TcpFields) {
        match end {
            // A SYN takes a number of its own.
            End::Server if fields.payload > 0 => {
                let after = fields.seq + u64::from(fields.syn) + u64::from(fields.payload);
                self.server.request_bytes = self.server.request_bytes.max(after - 1);
            }
            End::Server => {}
            End::Phone => self.phone.data |= !fields.syn,
        }
    }
}

/// Translates the packets of one connection; is shown each at both ends, in order of time.
pub trait Wire: Send + std::fmt::Debug {
    /// The header of a packet that `end` sends.
    fn fields(&mut self, end: End, packet: &Segment) -> TcpFields;

    /// A packet arrives at `end` with the header that it was sent with.
    fn arrive(&mut self, end: End, fields: &TcpFields);
}

impl TcpSpec {
    /// What translates one connection of this family.
    pub fn wire(&self) -> Box<dyn Wire> {
        match self {
            Self::Classic(params) => Box::new(classic::wire::Wire::new(params)),
            Self::Linux(params) => Box::new(linux::wire::Wire::new(params)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_scaled_only_where_they_must() {
        assert_eq!([0, 61_320, 65_535, 65_536, 1 << 20].map(window_shift), [0, 0, 0, 1, 5]);
        assert_eq!(scaled_window(65_537, 1), 32_769);
        assert_eq!(window_shift(u64::MAX), MAX_WINDOW_SHIFT);
        assert_eq!(scaled_window(u64::MAX, MAX_WINDOW_SHIFT), u16::MAX);
    }
}
