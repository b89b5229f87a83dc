//! The receiver's window, tuned as in Linux 6.18 (`tcp_grow_window`, `tcp_rcv_space_adjust` and
//! `tcp_rcvbuf_grow`). The size of the buffer follows the number of bytes that the
//! application reads in a round trip (dynamic right-sizing; Fisk and Feng, LACSI 2001). The window
//! opens towards the buffer size by two segments per segment received.
//!
//! All sizes are bytes of payload. Linux counts the memory of packets instead, of which 160 in 256
//! are payload if segments have 1448 B.

use nodeb_base::units::{Duration, Time};

use super::clock_us;

/// Largest window in bytes on a SYN, where the window is not scaled (RFC 7323, 2.2).
const MAX_UNSCALED: u64 = 65_535;
/// Smallest payload in bytes with which a segment opens the window.
const MIN_SEGMENT: u64 = 128;
/// Number of segments that the application is assumed to have read in a round trip, until it reads
/// more in one. If the first window is smaller, that window is assumed.
const FIRST_ROUND: u64 = 10;

/// Receive window of one connection, with the size of the receive buffer that limits it.
#[derive(Debug)]
pub struct ReceiveWindow {
    mss: u64,
    /// Maximum size of the receive buffer in bytes.
    max_buffer: u64,
    /// Present size of the receive buffer in bytes.
    buffer: u64,
    /// Upper bound of the advertised window in bytes (`rcv_ssthresh`).
    offered: u64,
    /// Round-trip time measured by the receiver (`rcv_rtt_est`), which is smoothed only when it
    /// grows.
    rtt: Option<Duration>,
    /// Echoed timestamp from which `rtt` was last measured; 0 before the first measurement.
    last_echo: u32,
    /// Present round, in which a whole window of data arrives: the byte after this window, and the
    /// start time of the round. The round ends when all bytes below that byte have arrived in
    /// order. The length of a round is used as round-trip time if no round-trip time is known or
    /// the known one is longer.
    round: Option<(u64, Time)>,
    /// Largest number of bytes that the application has read in a round trip, at first an
    /// assumption (`rcvq_space.space`).
    read_bytes: u64,
    /// Start time of the present round trip, and number of bytes read before that time.
    since: (Time, u64),
}

impl ReceiveWindow {
    /// Creates a receive window with a buffer of `initial` bytes that may grow to `max_buffer`
    /// bytes.
    pub fn new(mss: u64, initial: u64, max_buffer: u64) -> Self {
        let buffer = initial.min(max_buffer);
        let offered = buffer.min(MAX_UNSCALED / mss.min(MAX_UNSCALED) * mss).max(mss.min(buffer));
        let read_bytes = offered.min(FIRST_ROUND * mss);
        let (rtt, round, since) = (None, None, (Time::ZERO, 0));
        Self { mss, max_buffer, buffer, offered, rtt, last_echo: 0, round, read_bytes, since }
    }

    /// Returns the present size of the receive buffer in bytes.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Returns the round-trip time that the receiver has measured, or `None` before the first
    /// measurement.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Returns the right edge of the window to advertise, that is, the last byte that the sender
    /// may send plus 1. All bytes below `expected` have arrived, and the application has read all
    /// bytes below `read`.
    pub fn edge(&self, expected: u64, read: u64) -> u64 {
        (read + self.buffer).min(expected + self.offered)
    }

    /// Processes a segment of `payload` bytes that contains the next expected byte. `expected` is
    /// the next expected byte after the arrival of the segment, and `echo_us` is the timestamp that
    /// the segment echoes, 0 if it echoes none.
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

    /// Opens the window by up to two segments after the arrival of a segment of `payload` bytes.
    /// Returns true if the window has opened.
    pub fn open(&mut self, payload: u64) -> bool {
        let room = self.buffer.saturating_sub(self.offered);
        let opens = payload >= MIN_SEGMENT && room > 0;
        if opens {
            self.offered += room.min(2 * self.mss);
        }
        opens
    }

    /// Updates the round-trip time with `sample`. The first sample, or a sample shorter than the
    /// present value, replaces this value. A longer sample has weight 1/8 if it is `exact`, that
    /// is, measured by a timestamp; otherwise it is ignored (`tcp_rcv_rtt_update`).
    fn measure(&mut self, sample: Duration, exact: bool) {
        self.rtt = match self.rtt {
            Some(rtt) if sample >= rtt && exact => Some(Duration(rtt.0 - rtt.0 / 8 + sample.0 / 8)),
            Some(rtt) if sample >= rtt => Some(rtt),
            _ => Some(sample),
        };
    }

    /// Records that the application has read all bytes below `read`. The highest byte received is
    /// `beyond` bytes ahead of the bytes received in order. The buffer grows at the end of a round
    /// trip in which the application has read more than in any round trip before. The new size is
    /// the sum of twice the bytes read, four times the bytes read times their relative growth, and
    /// `beyond`, but at most the maximum size.
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

    /// By `tcp_grow_window` the window opens by two segments per segment received, up to the size
    /// of the buffer.
    #[test]
    fn window_opens_by_two_segments() {
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert_eq!(window.edge(0, 0), 65_000);
        let opens: Vec<bool> = (1..=4).map(|_| window.open(MSS)).collect();
        assert_eq!((opens, window.edge(4_000, 4_000)), (vec![true, true, true, false], 74_000));
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert!(!window.open(MIN_SEGMENT - 1));
    }

    /// The application reads 30 kB in the first round trip, instead of the 10 kB (ten segments)
    /// that were assumed. By `tcp_rcvbuf_grow` the buffer then has 2 * 30 kB for the bytes read,
    /// and 2 * 60 kB (30 - 10) / 10 for their growth, which is 300 kB together.
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

    /// As in `tcp_rcv_rtt_update` of Linux 6.18, a longer round-trip time counts with weight 1/8,
    /// or not at all if no timestamp has measured it.
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

    /// At 150 ms a segment arrives that echoes a timestamp of 70,000 us. So the round-trip time is
    /// 80 ms.
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
