//! TCP headers of simulated packets, as a capture records them.
//!
//! Instead of headers, the simulator transports only the few numbers of a [`Segment`] per packet.
//! Each TCP family translates its packets into the header fields of RFC 9293, section 3.1, which
//! count bytes. [`TcpSpec::wire`] returns the translator of a family.

use super::{Opener, TcpSpec, classic, linux};
use crate::segment::{SackBlocks, Segment};

/// End of a connection at which packets are captured. In an upload the ends exchange their roles,
/// since the phone sends the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server, or in an upload the phone: the end that sends the data.
    Server,
    /// The phone, or in an upload the server: the end that receives the data.
    Phone,
}

/// Fields of a TCP header (RFC 9293, 3.1) with the options that nodeb supports.
///
/// The sequence numbers that an end sends, and the acknowledgement numbers that it receives, are relative to
/// its own initial sequence number: its SYN has number 0, and its first data byte number 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct TcpFields {
    /// Sequence number of the first payload byte, or of the next one to be sent if there is no
    /// payload; in a SYN, that of the SYN itself.
    pub seq: u64,
    /// Acknowledgement number in bytes; `None` if the ACK flag is not set.
    pub ack: Option<u64>,
    /// SYN flag, which opens the connection.
    pub syn: bool,
    /// ECE flag, which echoes a congestion mark (RFC 3168). In a SYN it negotiates the use of ECN.
    pub ece: bool,
    /// CWR flag, by which the sender reports that it has reduced its window (RFC 3168). In a SYN it
    /// negotiates the use of ECN.
    pub cwr: bool,
    /// Window field in bytes, right-shifted by the window scale if window scaling is in use (RFC
    /// 7323, 2).
    pub window: u16,
    /// Number of payload bytes. The header has no such field, but the number follows from the size
    /// of the packet.
    pub payload: u32,
    /// Value of the option maximum segment size in bytes (RFC 9293, 3.7.1); `None` without the
    /// option.
    pub mss: Option<u16>,
    /// Shift count in the window scale option (RFC 7323, 2); `None` without the option.
    pub window_shift: Option<u8>,
    /// Whether the header has the option SACK-permitted (RFC 2018, 2).
    pub sack_permitted: bool,
    /// SACK blocks (RFC 2018, 3), each as (first byte, last byte + 1). Only the first `sack_count`
    /// blocks are valid.
    pub sack: [(u64, u64); SackBlocks::MAX],
    /// Number of valid blocks in `sack`, from 0 to 3.
    pub sack_count: usize,
    /// Timestamp value and echo reply (RFC 7323, 3); `None` without the timestamps option.
    pub timestamps: Option<(u32, u32)>,
}

/// Largest window scale that TCP allows (RFC 7323, 2.3).
pub const MAX_WINDOW_SHIFT: u8 = 14;

/// Returns the smallest window scale with which a window of `bytes` bytes fits into the 16 bits of
/// the window field, at most [`MAX_WINDOW_SHIFT`].
pub fn window_shift(bytes: u64) -> u8 {
    (0..MAX_WINDOW_SHIFT)
        .find(|shift| scaled(bytes, *shift) == bytes.div_ceil(1 << shift))
        .unwrap_or(MAX_WINDOW_SHIFT)
}

/// Returns the window field for `bytes` bytes with window scale `shift`, at most 65,535. The field
/// is rounded up, so that a sender that fills the simulated window does not exceed the window in
/// the header.
pub fn scaled_window(bytes: u64, shift: u8) -> u16 {
    scaled(bytes, shift) as u16
}

fn scaled(bytes: u64, shift: u8) -> u64 {
    bytes.div_ceil(1 << shift).min(u64::from(u16::MAX))
}

/// Advertised window of the server in bytes. It never limits the phone, which sends only requests.
pub const SERVER_WINDOW: u16 = u16::MAX;

/// Contents of the SYNs of both ends of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    /// End that sends the first SYN.
    pub opener: Opener,
    /// Maximum segment size in bytes (payload without headers) that both ends announce.
    pub mss: u16,
    /// Largest window that the phone advertises, in bytes. The phone's SYN shows this window, but at
    /// most 65,535, since the window field of a SYN is not scaled.
    pub window_bytes: u64,
    /// Window scale of the phone. If it is 0, neither SYN carries the option. Otherwise the server
    /// sends the option with a scale of 0, since scaling is in use only if both ends send the
    /// option (RFC 7323, 2.2).
    pub shift: u8,
    /// Whether both SYNs carry the SACK-permitted option.
    pub sack_permitted: bool,
}

impl Handshake {
    /// Returns the header of the server's SYN, which is a SYN-ACK if the phone opens the
    /// connection.
    pub fn syn_of_server(&self) -> TcpFields {
        let ack = (self.opener == Opener::Phone).then_some(1);
        self.syn(ack, SERVER_WINDOW, 0)
    }

    /// Returns the header of the phone's SYN, which is a SYN-ACK if the server opens the
    /// connection.
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

    /// Returns true if an ACK that acknowledges only the server's SYN is the phone's SYN-ACK, which
    /// requires that the server opens the connection. `passed` summarizes the packets at this end so
    /// far, and `payload` is the number of request bytes in the ACK. A duplicate ACK after the loss
    /// of the first data segment has the same number. It is no SYN-ACK, since this end has
    /// sent or received data before and the ACK carries no request.
    pub fn is_syn_of_phone(&self, passed: &Passed, payload: u32) -> bool {
        self.opener == Opener::Server && (payload > 0 || !passed.data)
    }
}

/// Summary of the packets that one end of a connection has sent and received so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Whether this end has sent or received a data segment of the server.
    pub data: bool,
    /// Number of bytes of the phone's requests that this end has sent or received. Bytes of a
    /// retransmitted request count once.
    pub request_bytes: u64,
    before_last: u64,
    /// Highest number that an ACK of the phone has acknowledged, in segments or bytes depending on
    /// the TCP family.
    pub acked: u64,
}

impl Passed {
    /// Records a packet of the phone with `payload` bytes of a request, 0 for none, and returns its
    /// sequence number. `is_first` is true for the first request or a copy of it, and false for a
    /// packet that follows all requests so far.
    pub fn request(&mut self, is_first: bool, payload: u32) -> u64 {
        let before = if is_first { 0 } else { self.request_bytes };
        self.ask(before, payload)
    }

    /// Records a retransmission of the phone's last request, and returns its sequence number.
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

/// Summaries of the packets that the two ends of a connection have sent and received so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// Summary of the packets that the server has sent and received.
    pub server: Passed,
    /// Summary of the packets that the phone has sent and received.
    pub phone: Passed,
}

impl Ends {
    /// Returns the summary of the packets that `end` has sent and received, mutably.
    pub fn at(&mut self, end: End) -> &mut Passed {
        match end {
            End::Server => &mut self.server,
            End::Phone => &mut self.phone,
        }
    }

    /// Records that a packet with the header `fields` arrives at `end`.
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

/// Translator of the packets of one connection into TCP headers. The caller must report each packet
/// at the end that sends it and, unless the packet is lost, at the end that receives it, in order
/// of time.
pub trait Wire: Send + std::fmt::Debug {
    /// Records that `end` sends a packet, and returns the header of the packet.
    fn fields(&mut self, end: End, packet: &Segment) -> TcpFields;

    /// Records that a packet arrives at `end`. `fields` is the header with which the packet was
    /// sent.
    fn arrive(&mut self, end: End, fields: &TcpFields);
}

impl TcpSpec {
    /// Creates the header translator for a new connection of this TCP family.
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
