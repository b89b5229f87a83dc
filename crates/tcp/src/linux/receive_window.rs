//! The receiver's window as Linux tunes it (`tcp_grow_window`, `tcp_rcv_space_adjust` and `tcp_rcvbuf_grow`,
//! version 6.18): the buffer follows what the application takes in a round trip (dynamic right-sizing; Fisk
//! and Feng, LACSI 2001), and the window opens towards it by two segments for each that arrives.
//!
//! Sizes are of payload. Linux counts the memory of its packets, of which payload is half or more.

use nodeb_base::units::{Duration, Time};

use super::clock_us;

/// Windows offered on a SYN are not scaled (RFC 7323, 2.2).
const LARGEST_UNSCALED: u64 = 65_535;
/// Smaller segments do not open the window.
const LEAST_SEGMENT: u64 = 128;
/// Segments that the buffer is thought to have held in the round trip before the first.
const FIRST_ROUND: u64 = 10;

/// The window of one connection.
#[derive(Debug)]
pub struct ReceiveWindow {
    mss: u64,
    /// What the buffer holds at most, and now.
    most: u64,
    buffer: u64,
    /// What is offered at most (`rcv_ssthresh`).
    offered: u64,
    /// Round trip seen from here, smoothed where it grows (`rcv_rtt_est`), and the timestamp that it was last
    /// taken from.
    rtt: Option<Duration>,
    last_echo: u32,
    /// When a whole window has come since a time: a round trip too, where timestamps tell of none.
    round: Option<(u64, Time)>,
    /// Bytes that the application took in the round trip that took most, and when it had taken how much at the
    /// beginning of this one (`rcvq_space`).
    taken: u64,
    since: (Time, u64),
}

impl ReceiveWindow {
    /// A window over a buffer of `initial` bytes that may grow to `most`.
    pub fn new(mss: u64, initial: u64, most: u64) -> Self {
        let buffer = initial.min(most);
        let offered = buffer.min(LARGEST_UNSCALED / mss.min(LARGEST_UNSCALED) * mss).max(mss.min(buffer));
        let taken = offered.min(FIRST_ROUND * mss);
        let (rtt, round, since) = (None, None, (Time::ZERO, 0));
        Self { mss, most, buffer, offered, rtt, last_echo: 0, round, taken, since }
    }

    /// What the buffer holds.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Round trip seen from here.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// One past the last byte to allow when everything below `expected` has come and the application has
    /// taken what is below `read`.
    pub fn edge(&self, expected: u64, read: u64) -> u64 {
        (read + self.buffer).min(expected + self.offered)
    }

    /// Takes a segment in order of `payload` bytes that echoes a timestamp, 0 if none, and after which
    /// `expected` is next.
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

    /// Opens the window for a segment of `payload` bytes; returns whether it does.
    pub fn open(&mut self, payload: u64) -> bool {
        let room = self.buffer.saturating_sub(self.offered);
        let opens = payload >= LEAST_SEGMENT && room > 0;
        if opens {
            self.offered += room.min(2 * self.mss);
        }
        opens
    }

    /// A shorter round trip counts at once, a longer one by an eighth if it is `exact` (`tcp_rcv_rtt_update`).
    fn measure(&mut self, sample: Duration, exact: bool) {
        self.rtt = match self.rtt {
            Some(rtt) if sample >= rtt && exact => Some(Duration(rtt.0 - rtt.0 / 8 + sample.0 / 8)),
            Some(rtt) if sample >= rtt => Some(rtt),
            _ => Some(sample),
        };
    }

    /// The application has taken all below `read`; `beyond` bytes wait behind a gap. Once per round trip the
    /// buffer is made to hold twice what was taken in it, and as much more as that has grown.
    pub fn on_read(&mut self, now: Time, read: u64, beyond: u64) {
        let Some(rtt) = self.rtt.filter(|rtt| now.since(self.since.0) >= *rtt) else {
            return;
        };
        let taken = read - self.since.1;
        // Before the first round trip was known, none could be told from the next.
        if taken > self.taken && rtt > Duration::ZERO {
            self.grow(taken, beyond);
        }
        self.since = (now, read);
    }

    #[cold]
    fn grow(&mut self, taken: u64, beyond: u64) {
        let wanted = 2 * taken;
        let growth = u128::from(wanted) * u128::from(taken - self.taken) / u128::from(self.taken.max(1));
        let wanted = (u128::from(wanted) + 2 * growth).min(u128::from(self.most)) as u64 + beyond;
        self.buffer = self.buffer.max(wanted.min(self.most));
        self.taken = taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;
    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// `tcp_grow_window`: two segments for each that arrives, as far as the buffer goes.
    #[test]
    fn the_window_opens_by_two_segments() {
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert_eq!(window.edge(0, 0), 65_000);
        let opens: Vec<bool> = (1..=4).map(|_| window.open(MSS)).collect();
        assert_eq!((opens, window.edge(4_000, 4_000)), (vec![true, true, true, false], 74_000));
        let mut window = ReceiveWindow::new(MSS, 70_000, 1_000_000);
        assert!(!window.open(LEAST_SEGMENT - 1));
    }

    /// `tcp_rcvbuf_grow`: 30 kB in a round trip after 10 kB: 2 * 30 kB, and 2 * 60 kB (30 - 10) / 10 more.
    #[test]
    fn the_buffer_follows_what_is_taken_in_a_round_trip() {
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

    /// `tcp_rcv_rtt_update` of Linux 6.18.
    #[test]
    fn a_longer_round_trip_counts_by_an_eighth() {
        let mut window = ReceiveWindow::new(MSS, 65_536, 65_536);
        let mut after = |ms, exact| {
            window.measure(MS(ms), exact);
            window.rtt().unwrap().0 / 1_000_000
        };
        assert_eq!([after(160, true), after(80, true), after(160, true)], [160, 80, 90]);
        assert_eq!([after(900, false), after(40, false)], [90, 40]);
    }

    /// The clock of timestamps counts microseconds.
    #[test]
    fn an_echo_gives_the_round_trip() {
        let mut window = ReceiveWindow::new(MSS, 65_536, 65_536);
        window.on_data(Time::ZERO + MS(150), MSS, MSS, 70_000);
        assert_eq!(window.rtt(), Some(MS(80)));
        window.on_data(Time::ZERO + MS(151), MSS, 2 * MSS, 70_000);
        assert_eq!(window.rtt(), Some(MS(80)), "an echo counts once");
    }

    #[test]
    fn the_application_that_takes_nothing_closes_the_window() {
        let window = ReceiveWindow::new(MSS, 20_000, 20_000);
        assert_eq!([window.edge(5_000, 5_000), window.edge(20_000, 5_000)], [25_000, 25_000]);
    }
}
