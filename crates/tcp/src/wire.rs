//! RFC 9293, section 3.1; [`TcpSpec::wire`] gives the translator of a family.

use super::{Opener, TcpSpec, classic, linux};
use crate::segment::{SackBlocks, Segment};

/// At which packets are captured; in an upload the ends exchange their roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Sends the data.
    Server,
    /// Receives the data.
    Phone,
}

/// RFC 9293, 3.1; numbers are relative to the initial sequence numbers, so that a SYN has 0 and data begin at
/// 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct TcpFields {
    /// First payload byte, or the next one; in a SYN its own.
    pub seq: u64,
    /// In bytes, with the ACK flag.
    pub ack: Option<u64>,
    pub syn: bool,
    /// RFC 3168; in a SYN it negotiates ECN.
    pub ece: bool,
    /// RFC 3168; in a SYN it negotiates ECN.
    pub cwr: bool,
    /// Right-shifted by the window scale (RFC 7323, 2).
    pub window: u16,
    /// Follows from the size of the packet, not in the header.
    pub payload: u32,
    /// RFC 9293, 3.7.1.
    pub mss: Option<u16>,
    /// RFC 7323, 2.
    pub window_shift: Option<u8>,
    /// RFC 2018, 2.
    pub sack_permitted: bool,
    /// RFC 2018, 3: (first byte, last byte + 1), of which `sack_count` are valid.
    pub sack: [(u64, u64); SackBlocks::MAX],
    pub sack_count: usize,
    /// Value and echo (RFC 7323, 3).
    pub timestamps: Option<(u32, u32)>,
}

/// RFC 7323, 2.3.
pub const MAX_WINDOW_SHIFT: u8 = 14;

/// Fits into 16 bits, at most [`MAX_WINDOW_SHIFT`].
pub fn window_shift(bytes: u64) -> u8 {
    (0..MAX_WINDOW_SHIFT)
        .find(|shift| scaled(bytes, *shift) == bytes.div_ceil(1 << shift))
        .unwrap_or(MAX_WINDOW_SHIFT)
}

/// Rounded up, so that a sender that fills the simulated window does not exceed it in the header; at most
/// 65,535.
pub fn scaled_window(bytes: u64, shift: u8) -> u16 {
    scaled(bytes, shift) as u16
}

fn scaled(bytes: u64, shift: u8) -> u64 {
    bytes.div_ceil(1 << shift).min(u64::from(u16::MAX))
}

/// Never limits the phone, which sends only requests.
pub const SERVER_WINDOW: u16 = u16::MAX;

/// Of both ends.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    pub opener: Opener,
    /// Announced by both ends.
    pub mss: u16,
    /// Largest; the phone's SYN shows at most 65,535, as its window is not scaled.
    pub window_bytes: u64,
    /// 0: neither SYN has the option; else the server sends a scale of 0, since both must send it (RFC 7323,
    /// 2.2).
    pub shift: u8,
    pub sack_permitted: bool,
}

impl Handshake {
    /// A SYN-ACK if the phone opens.
    pub fn syn_of_server(&self) -> TcpFields {
        let ack = (self.opener == Opener::Phone).then_some(1);
        self.syn(ack, SERVER_WINDOW, 0)
    }

    /// A SYN-ACK if the server opens.
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

    /// The server opens, and the ACK acknowledges only its SYN: a duplicate ACK after the loss of the first
    /// data segment has the same number, but data have passed and it carries no request.
    pub fn is_syn_of_phone(&self, passed: &Passed, payload: u32) -> bool {
        self.opener == Opener::Server && (payload > 0 || !passed.data)
    }
}

/// At one end so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Of the server.
    pub data: bool,
    /// Retransmitted bytes count once.
    pub request_bytes: u64,
    before_last: u64,
    /// By the phone, in segments or bytes.
    pub acked: u64,
}

impl Passed {
    /// Its sequence number; `is_first` also for a copy of the first request.
    pub fn request(&mut self, is_first: bool, payload: u32) -> u64 {
        let before = if is_first { 0 } else { self.request_bytes };
        self.ask(before, payload)
    }

    /// Its sequence number.
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

#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    pub server: Passed,
    pub phone: Passed,
}

impl Ends {
    pub fn at(&mut self, end: End) -> &mut Passed {
        match end {
            End::Server => &mut self.server,
            End::Phone => &mut self.phone,
        }
    }

    pub fn arrive(&mut self, end: End, fields: &TcpFields) {
        match end {
            // The number of request bytes excludes a SYN, which occupies one sequence number.
            End::Server if fields.payload > 0 => {
                let after = fields.seq + u64::from(fields.syn) + u64::from(fields.payload);
                self.server.request_bytes = self.server.request_bytes.max(after - 1);
            }
            End::Server => {}
            End::Phone => self.phone.data |= !fields.syn,
        }
    }
}

/// Packets are reported at the end that sends them and, unless lost, at the other, in order of time.
pub trait Wire: std::fmt::Debug {
    fn fields(&mut self, end: End, packet: &Segment) -> TcpFields;

    /// With the header as sent.
    fn arrive(&mut self, end: End, fields: &TcpFields);
}

impl TcpSpec {
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
    fn windows_are_scaled_only_if_needed() {
        assert_eq!([0, 61_320, 65_535, 65_536, 1 << 20].map(window_shift), [0, 0, 0, 1, 5]);
        assert_eq!(scaled_window(65_537, 1), 32_769);
        assert_eq!(window_shift(u64::MAX), MAX_WINDOW_SHIFT);
        assert_eq!(scaled_window(u64::MAX, MAX_WINDOW_SHIFT), u16::MAX);
    }
}
