//! Linux 6: `tcp_sndbuf_expand`, `sk_stream_is_writeable`, in memory, not payload. It grows with the window
//! while it limits the sender (`tcp_should_expand_sndbuf`); a blocked application writes again when a third
//! is free. An unfilled gap stops new data at the latest at two windows, or three with BBR.

use std::collections::VecDeque;

/// `sk_buff` and packet head, as `ss -m` shows on Linux 6.18 on x86-64.
const OVERHEAD: u64 = 832;
/// `tcp_sndbuf_expand`: headers and shared info of a segment; the sum is rounded up to a power of two.
const HEADERS: u64 = 320 + 256;
/// Added after that rounding.
const SK_BUFF: u64 = 256;
/// `TCP_INIT_CWND`.
const MIN_SEGMENTS: u64 = 10;
/// At the rates of cellular links (`tcp_min_tso_segs`).
const PACKET_SEGMENTS: u64 = 2;
/// `GSO_LEGACY_MAX_SIZE` less headers.
const UNSENT_BYTES: u64 = 65_536 - 320;

#[derive(Debug)]
pub struct SendBuffer {
    mss: u64,
    /// `per_mss`.
    share: u64,
    /// `sk_sndbuf`, in memory.
    size: u64,
    /// In memory (the largest value of `tcp_wmem`).
    max_size: u64,
    /// Last byte written plus 1.
    filled: u64,
    /// Until the buffer has enough room.
    blocked: bool,
    /// Largest one advertised.
    window: u64,
    /// `tcp_bound_to_half_wnd`: payload of at most half of `window`, at least one segment.
    unsent_packet: u64,
    /// For which the buffer has been expanded.
    largest_cwnd: u64,
    /// (last byte plus 1, segments), in order.
    packets: VecDeque<(u64, u64)>,
}

impl SendBuffer {
    /// In memory.
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

    pub fn filled(&self) -> u64 {
        self.filled
    }

    pub fn largest_window(&self) -> u64 {
        self.window
    }

    /// `tcp_sndbuf_expand`, once for a size.
    pub fn expand(&mut self, cwnd: u64, windows: u64) {
        if cwnd > self.largest_cwnd {
            self.largest_cwnd = cwnd;
            let wanted = windows * (cwnd / self.mss).max(MIN_SEGMENTS) * self.share;
            self.size = self.size.max(wanted.min(self.max_size));
        }
    }

    /// `una` and `window` of the ACK.
    pub fn on_ack(&mut self, una: u64, window: u64) {
        while self.packets.front().is_some_and(|&(end, _)| end <= una) {
            self.packets.pop_front();
        }
        if window > self.window {
            self.window = window;
            self.unsent_packet = (UNSENT_BYTES.min(window / 2) / self.mss).max(1) * self.mss;
        }
    }

    /// `together` joins the previous packet if it has room.
    pub fn on_sent(&mut self, end: u64, together: bool) {
        match self.packets.back_mut().filter(|(_, segments)| together && *segments < PACKET_SEGMENTS) {
            Some(packet) => *packet = (end, packet.1 + 1),
            None => self.packets.push_back((end, 1)),
        }
    }

    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// One packet: a full buffer blocks the application. `written` is all that it has, the buffer holds `una`
    /// to `next` and unsent data; true if data was added.
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

    /// `sk_wmem_queued`.
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

    /// `tcp_sndbuf_expand`: 2304 B per segment of 1448 B for two windows: 46,080 B at first, 101,376 B at 22
    /// segments, as `ss -m` shows on Linux 6.18.
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

    /// `tcp_sendmsg_locked` fills up a partly sent packet; `sk_stream_is_writeable`: half as much memory is
    /// free as in use.
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
