//! Linux 6.18, `tcp_grow_window`, `tcp_rcv_space_adjust` and `tcp_rcvbuf_grow` (dynamic right-sizing; Fisk
//! and Feng, LACSI 2001), in bytes of payload, where Linux counts memory of packets, 160 in 256 of which are
//! payload at 1448 B.

use nodeb_base::units::{Duration, Time};

use super::clock_us;

/// Unscaled on a SYN (RFC 7323, 2.2).
const MAX_UNSCALED: u64 = 65_535;
/// Opens the window.
const MIN_SEGMENT: u64 = 128;
/// Segments assumed read in a round trip at first, or the first window if smaller.
const FIRST_ROUND: u64 = 10;

#[derive(Debug)]
pub struct ReceiveWindow {
    mss: u64,
    /// In bytes.
    max_buffer: u64,
    /// In bytes.
    buffer: u64,
    /// `rcv_ssthresh`.
    offered: u64,
    /// `rcv_rtt_est`, smoothed only when it grows.
    rtt: Option<Duration>,
    /// 0 before the first measurement.
    last_echo: u32,
    /// Byte after a whole window, and start. Its length is a round-trip time if none is known or the known
    /// one is longer.
    round: Option<(u64, Time)>,
    /// `rcvq_space.space`, at first assumed.
    read_bytes: u64,
    /// Of the round trip, with bytes read before.
    since: (Time, u64),
}

impl ReceiveWindow {
    /// In bytes.
    pub fn new(mss: u64, initial: u64, max_buffer: u64) -> Self {
        let buffer = initial.min(max_buffer);
        let offered = buffer.min(MAX_UNSCALED / mss.min(MAX_UNSCALED) * mss).max(mss.min(buffer));
        let read_bytes = offered.min(FIRST_ROUND * mss);
        let (rtt, round, since) = (None, None, (Time::ZERO, 0));
        Self { mss, max_buffer, buffer, offered, rtt, last_echo: 0, round, read_bytes, since }
    }

    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Last byte that may be sent plus 1; bytes below `expected` have arrived, below `read` are read.
    pub fn edge(&self, expected: u64, read: u64) -> u64 {
        (read + self.buffer).min(expected + self.offered)
    }

    /// `expected` is that after the arrival, `echo_us` 0 without a timestamp.
    pub fn on_data(&mut self, now: Time, payload: u64, expected: u64, echo_us: u32) {
        if echo_us != 0 && echo_us != self.last_echo && payload >= self.mss {
            self.last_echo = echo_us;
            let sample = Duration(u64::from(clock_us(now).wrapping_sub(echo_us)) * 1_000);
            self.measure(sample, true);
        }
        match self.round {
            Some((end, _)) if expected < end => {}
            before => {
                if let Some((_, since)) = before {
                    self.measure(now.since(since), false);
                }
                self.round = Some((expected + self.offered, now));
            }
        }
    }

    /// By up to two segments; true if it has opened.
    pub fn open(&mut self, payload: u64) -> bool {
        let room = self.buffer.saturating_sub(self.offered);
        let opens = payload >= MIN_SEGMENT && room > 0;
        if opens {
            self.offered += room.min(2 * self.mss);
        }
        opens
    }

    /// `tcp_rcv_rtt_update`: a shorter sample replaces, a longer one has weight 1/8 if `exact` (by a
    /// timestamp), else none.
    fn measure(&mut self, sample: Duration, exact: bool) {
        self.rtt = match self.rtt {
            Some(rtt) if sample >= rtt && exact => Some(Duration(rtt.0 - rtt.0 / 8 + sample.0 / 8)),
            Some(rtt) if sample >= rtt => Some(rtt),
            _ => Some(sample),
        };
    }

    /// Grows after a round trip with more read than before: twice the bytes read, four times them times their
    /// relative growth, and `beyond`.
    pub fn on_read(&mut self, now: Time, read: u64, beyond: u64) {
        let Some(rtt) = self.rtt.filter(|rtt| now.since(self.since.0) >= *rtt) else {
            return;
        };
        let read_bytes = read - self.since.1;
        // As in Linux, a round-trip time of 0 counts as not measured, so the buffer does not grow.
        if read_bytes > self.read_bytes && rtt > Duration::ZERO {
            self.grow(read_bytes, beyond);
        }
        self.since = (now, read);
    }

    #[cold]
    fn grow(&mut self, read_bytes: u64, beyond: u64) {
        let wanted = 2 * read_bytes;
        let growth = u128::from(wanted) * u128::from(read_bytes - self.read_bytes)
            / u128::from(self.read_bytes.max(1));
        let wanted = (u128::from(wanted) + 2 * growth).min(u128::from(self.max_buffer)) as u64 + beyond;
        self.buffer = self.buffer.max(wanted.min(self.max_buffer));
        self.read_bytes = read_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;
    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// `tcp_grow_window`, up to the buffer.
    #[test]
    fn window_opens_by_two_segments() {
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert_eq!(window.edge(0, 0), 65_000);
        let opens: Vec<bool> = (1..=4).map(|_| window.open(MSS)).collect();
        assert_eq!((opens, window.edge(4_000, 4_000)), (vec![true, true, true, false], 74_000));
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert!(!window.open(MIN_SEGMENT - 1));
    }

    /// `tcp_rcvbuf_grow`: 30 kB instead of 10 give 2 * 30 kB and 2 * 60 kB (30 - 10) / 10, 300 kB together.
    #[test]
    fn buffer_follows_bytes_read_per_round_trip() {
        let mut window = ReceiveWindow::new(MSS, 65_536, 1_000_000);
        window.measure(MS(100), true);
        window.on_read(Time::ZERO + MS(99), 30_000, 0);
        assert_eq!(window.buffer(), 65_536, "not yet a round trip");
        window.on_read(Time::ZERO + MS(100), 30_000, 0);
        assert_eq!(window.buffer(), 300_000);
        window.on_read(Time::ZERO + MS(200), 60_000, 0);
        assert_eq!(window.buffer(), 300_000, "no more than before");
        window.on_read(Time::ZERO + MS(300), 1_060_000, 0);
        assert_eq!(window.buffer(), 1_000_000);
    }

    /// `tcp_rcv_rtt_update`, or ignored without a timestamp.
    #[test]
    fn longer_rtt_has_weight_one_eighth() {
        let mut window = ReceiveWindow::new(MSS, 65_536, 65_536);
        let mut after = |ms, exact| {
            window.measure(MS(ms), exact);
            window.rtt().unwrap().0 / 1_000_000
        };
        assert_eq!([after(160, true), after(80, true), after(160, true)], [160, 80, 90]);
        assert_eq!([after(900, false), after(40, false)], [90, 40]);
    }

    /// 150 ms less 70,000 us.
    #[test]
    fn timestamp_echo_gives_rtt() {
        let mut window = ReceiveWindow::new(MSS, 65_536, 65_536);
        window.on_data(Time::ZERO + MS(150), MSS, MSS, 70_000);
        assert_eq!(window.rtt(), Some(MS(80)));
        window.on_data(Time::ZERO + MS(151), MSS, 2 * MSS, 70_000);
        assert_eq!(window.rtt(), Some(MS(80)), "an echo counts once");
    }

    #[test]
    fn window_closes_if_application_does_not_read() {
        let window = ReceiveWindow::new(MSS, 20_000, 20_000);
        assert_eq!([window.edge(5_000, 5_000), window.edge(20_000, 5_000)], [25_000, 25_000]);
    }
}
