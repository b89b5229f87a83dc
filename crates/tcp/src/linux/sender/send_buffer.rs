//! The send buffer: limits how much unacknowledged and unsent data the application can hand to the sender
//! (Linux 6: `tcp_sndbuf_expand`, `sk_stream_is_writeable`).
//!
//! The size of the buffer counts memory, not payload. The buffer grows with the congestion window, but only
//! while the buffer, and not the window, limits the sender (`tcp_should_expand_sndbuf`). A blocked
//! application may write again when a third of the buffer is free. While the receiver misses a segment, the
//! buffer keeps all data from that segment on. So it stops new data if the gap stays unfilled, at the latest
//! when it holds two windows, or three with BBR.

use std::collections::VecDeque;

/// Number of bytes of memory that a packet takes besides its payload, for the `sk_buff` and the
/// packet head. `ss -m` shows this number on Linux 6.18 on x86-64.
const OVERHEAD: u64 = 832;
/// Number of bytes that `tcp_sndbuf_expand` adds to a segment for headers and shared info. The sum
/// is rounded up to a power of two.
const HEADERS: u64 = 320 + 256;
/// Number of bytes of an `sk_buff`, which are added after that rounding.
const SK_BUFF: u64 = 256;
/// Smallest window in segments for which the buffer reserves memory (`TCP_INIT_CWND`).
const MIN_SEGMENTS: u64 = 10;
/// Maximum number of segments per packet at the rates of cellular links (`tcp_min_tso_segs`).
const PACKET_SEGMENTS: u64 = 2;
/// Maximum payload of an unsent packet in bytes (`GSO_LEGACY_MAX_SIZE` less headers).
const UNSENT_BYTES: u64 = 65_536 - 320;

/// Send buffer of one connection: how many bytes the application has written, and whether it must
/// wait for room.
#[derive(Debug)]
pub struct SendBuffer {
    mss: u64,
    /// Memory in bytes that is reserved for each segment of the window (`per_mss`).
    share: u64,
    /// Present size of the buffer in bytes of memory (`sk_sndbuf`).
    size: u64,
    /// Maximum size of the buffer in bytes of memory (the largest value of `tcp_wmem`).
    max_size: u64,
    /// Last byte that the application has written into the buffer, plus 1.
    filled: u64,
    /// Whether the application is blocked until the buffer has enough room.
    blocked: bool,
    /// Largest window in bytes that the receiver has advertised.
    window: u64,
    /// Maximum payload of an unsent packet in bytes: at most half of `window`, but at least one
    /// segment (`tcp_bound_to_half_wnd`).
    unsent_packet: u64,
    /// Largest congestion window in bytes for which the buffer has been expanded.
    largest_cwnd: u64,
    /// Outstanding packets in order, each as (last byte plus 1, number of segments).
    packets: VecDeque<(u64, u64)>,
}

impl SendBuffer {
    /// Creates an empty buffer that may grow to `max_size` bytes of memory.
    pub fn new(mss: u64, max_size: u64) -> Self {
        let share = (mss + HEADERS).next_power_of_two() + SK_BUFF;
        Self {
            mss,
            share,
            size: (2 * MIN_SEGMENTS * share).min(max_size),
            max_size,
            filled: 0,
            blocked: false,
            window: 0,
            unsent_packet: mss,
            largest_cwnd: 0,
            packets: VecDeque::new(),
        }
    }

    /// Returns the last byte that the application has written into the buffer, plus 1.
    pub fn filled(&self) -> u64 {
        self.filled
    }

    /// Returns the largest window in bytes that the receiver has advertised.
    pub fn largest_window(&self) -> u64 {
        self.window
    }

    /// Expands the buffer to the memory for `windows` windows of `cwnd` bytes, but not beyond
    /// `max_size`. Has no effect if the buffer was expanded for a window of this size or more before
    /// (`tcp_sndbuf_expand`).
    pub fn expand(&mut self, cwnd: u64, windows: u64) {
        if cwnd > self.largest_cwnd {
            self.largest_cwnd = cwnd;
            let wanted = windows * (cwnd / self.mss).max(MIN_SEGMENTS) * self.share;
            self.size = self.size.max(wanted.min(self.max_size));
        }
    }

    /// Removes the packets below `una`, which are acknowledged. `window` is the window that the ACK
    /// advertises, in bytes.
    pub fn on_ack(&mut self, una: u64, window: u64) {
        while self.packets.front().is_some_and(|&(end, _)| end <= una) {
            self.packets.pop_front();
        }
        if window > self.window {
            self.window = window;
            self.unsent_packet = (UNSENT_BYTES.min(window / 2) / self.mss).max(1) * self.mss;
        }
    }

    /// Records the transmission of a new segment that ends before byte `end`. If `together` is true
    /// and the packet has room, the segment becomes part of the packet of the previous segment.
    pub fn on_sent(&mut self, end: u64, together: bool) {
        match self.packets.back_mut().filter(|(_, segments)| together && *segments < PACKET_SEGMENTS) {
            Some(packet) => *packet = (end, packet.1 + 1),
            None => self.packets.push_back((end, 1)),
        }
    }

    /// Returns true if the application is blocked until the buffer has enough room.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Moves one packet of application data into the buffer. A full buffer takes no new packet and
    /// blocks the application until there is enough room. The application provides `written` bytes
    /// in total, those that do not fit into the buffer yet included. The buffer holds the bytes from
    /// `una` on, of which those from `next` on are unsent. Returns true if data was added.
    pub fn fill(&mut self, written: u64, una: u64, next: u64) -> bool {
        let memory = self.memory(una, next);
        self.blocked &= self.size.saturating_sub(memory) < memory / 2;
        if self.blocked || self.filled == written {
            return false;
        }
        let (packet, unsent) = (self.unsent_packet, self.filled - next);
        // A partly sent packet is filled up with more data, even if the buffer is full.
        let more = if (1..packet).contains(&unsent) { packet - unsent } else { packet };
        self.blocked = more == packet && memory >= self.size;
        if self.blocked {
            return false;
        }
        self.filled = written.min(self.filled + more);
        true
    }

    /// Returns the memory in bytes that the packets in the buffer take (`sk_wmem_queued`).
    fn memory(&self, una: u64, next: u64) -> u64 {
        let unsent = self.filled.saturating_sub(next).div_ceil(self.unsent_packet);
        self.filled - una + OVERHEAD * (self.packets.len() as u64 + unsent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_448;
    const ALL: u64 = 1 << 40;

    fn buffer() -> SendBuffer {
        let mut buffer = SendBuffer::new(MSS, 4 << 20);
        buffer.on_ack(0, 64_240);
        buffer
    }

    /// `tcp_sndbuf_expand` reserves 2304 B for each segment of 1448 B, and room for twice as many
    /// segments as the window has. The size of the buffer is 46,080 B at first, and 101,376 B with
    /// a window of 22 segments, as `ss -m` shows on Linux 6.18.
    #[test]
    fn send_buffer_has_room_for_two_windows() {
        let mut buffer = buffer();
        assert_eq!(buffer.size, 46_080);
        buffer.expand(22 * MSS, 2);
        assert_eq!(buffer.size, 101_376);
        buffer.expand(15 * MSS, 2);
        assert_eq!(buffer.size, 101_376, "it does not shrink");
        buffer.expand(MSS << 20, 2);
        assert_eq!(buffer.size, 4 << 20);
    }

    /// `tcp_sendmsg_locked` starts a packet while the buffer is not full, and fills up a partly
    /// sent packet. `sk_stream_is_writeable` unblocks the application when at least half as much
    /// memory is free as is in use.
    #[test]
    fn application_continues_when_a_third_is_free() {
        let mut buffer = buffer();
        assert!(buffer.fill(ALL, 0, 0));
        assert_eq!(buffer.filled(), 22 * MSS);
        (1..=10).for_each(|n| buffer.on_sent(n * MSS, true));
        assert_eq!(buffer.packets.len(), 5);
        assert!(buffer.fill(ALL, 0, 10 * MSS) && !buffer.fill(ALL, 0, 10 * MSS));
        // By `ss -m` on Linux 6.18, 31,856 B are unsent after the first write, and 51,328 B of
        // memory are in use.
        assert_eq!((buffer.filled(), buffer.memory(0, 10 * MSS)), (32 * MSS, 51_328));
        buffer.on_ack(10 * MSS, 64_240);
        assert!(!buffer.fill(ALL, 10 * MSS, 10 * MSS), "32,688 B taken, 13,392 B free");
        assert!(buffer.fill(ALL, 12 * MSS, 12 * MSS), "29,792 B taken, 16,288 B free");
        assert_eq!(buffer.filled(), 34 * MSS);
    }
}
