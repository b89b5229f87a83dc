//! Common parts of congestion controls that open the window until a loss and then reduce it.

use nodeb_base::units::{Duration, Time};

use super::{AckEvent, CongestionControl};

/// Congestion control whose state includes a [`LossWindow`]. An implementation defines how the
/// window grows, and how much a loss reduces it.
pub trait LossBased: Send + std::fmt::Debug {
    /// Returns the window and the slow-start threshold of the congestion control.
    fn window(&self) -> &LossWindow;
    /// Returns the window and the slow-start threshold of the congestion control mutably.
    fn window_mut(&mut self) -> &mut LossWindow;
    /// Processes an ACK, and opens the window as far as the rules of the congestion control allow.
    fn grow(&mut self, ack: &AckEvent);
    /// Returns the window in bytes to which a loss reduces the present window. Also stores the
    /// values that later growth depends on.
    fn reduced(&mut self) -> u64;
    /// Handles a retransmission timeout after the window has been reduced. By default nothing more
    /// happens.
    fn after_timeout(&mut self) {}
    /// Handles the start of a transmission when nothing was in flight (see
    /// [`CongestionControl::on_start`]).
    fn after_pause(&mut self, _now: Time, _pause: Duration) {}
}

impl<T: LossBased> CongestionControl for T {
    fn on_ack(&mut self, ack: &AckEvent) {
        self.grow(ack);
    }

    fn on_congestion(&mut self, _: Time, _: u64) {
        let target = self.reduced();
        self.window_mut().reduce(target);
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            let target = self.reduced();
            self.window_mut().reduce(target);
        }
        self.window_mut().restart(in_flight);
        self.after_timeout();
    }

    fn on_idle(&mut self, timeouts: u64) {
        self.window_mut().idle(timeouts);
    }

    fn on_unused(&mut self, used: u64) {
        self.window_mut().unused(used);
    }

    fn on_start(&mut self, now: Time, pause: Duration) {
        self.after_pause(now, pause);
    }

    fn undo(&mut self, window: u64) {
        self.window_mut().undo(window);
    }

    fn cwnd(&self) -> u64 {
        self.window().cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window().ssthresh
    }
}

/// Congestion window and slow-start threshold of a loss-based control, with the values of both
/// before the last reduction. All are in bytes, but reductions leave whole segments, as in Linux.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// Payload of a full-sized segment in bytes.
    pub mss: u64,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` as long as neither a reduction nor the end of slow
    /// start has set one.
    pub ssthresh: u64,
    initial: u64,
    /// Number of segments delivered since congestion avoidance last opened the window
    /// (`snd_cwnd_cnt`).
    count: u64,
    before: Option<(u64, u64)>,
}

impl LossWindow {
    /// Creates the window at the start of a connection. `mss` and `initial_window` are in bytes;
    /// there is no slow-start threshold yet.
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self {
            mss,
            cwnd: initial_window,
            ssthresh: u64::MAX,
            initial: initial_window,
            count: 0,
            before: None,
        }
    }

    /// Returns the congestion window in whole segments, rounded down.
    pub fn segments(&self) -> u64 {
        self.cwnd / self.mss
    }

    /// Reduces window and slow-start threshold to `target` bytes, rounded down to whole segments,
    /// but at least two segments (RFC 5681, equation 4).
    pub fn reduce(&mut self, target: u64) {
        self.before = Some((self.cwnd, self.threshold_in_use()));
        self.ssthresh = (target / self.mss).max(2) * self.mss;
        self.cwnd = self.ssthresh;
        self.count = 0;
    }

    /// Sets the window after a timeout to one segment more than the data in flight (RFC 5681, 3.1).
    pub fn restart(&mut self, in_flight: u64) {
        self.cwnd = (in_flight.div_ceil(self.mss) + 1) * self.mss;
        self.count = 0;
    }

    /// Returns the slow-start threshold or, if larger, three quarters of the window (Linux:
    /// `tcp_current_ssthresh`).
    fn threshold_in_use(&self) -> u64 {
        let segments = self.segments();
        self.ssthresh.max((segments / 2 + segments / 4) * self.mss)
    }

    /// Halves the window once for each of the `timeouts` retransmission timeouts in a pause. The
    /// lower limit is the restart window, the smaller of the initial and the present window (RFC
    /// 5681, 4.1, and RFC 2861; Linux: `tcp_cwnd_restart`).
    pub fn idle(&mut self, timeouts: u64) {
        self.ssthresh = self.threshold_in_use();
        let restart = self.initial.min(self.cwnd);
        let halved = self.segments() >> timeouts.min(63);
        self.cwnd = (halved * self.mss).max(restart);
    }

    /// Reduces the window to the mean of its size and the larger of `used` and the initial window.
    /// `used` is the largest number of bytes that were outstanding in the time of a retransmission
    /// timeout (RFC 2861; Linux: `tcp_cwnd_application_limited`).
    pub fn unused(&mut self, used: u64) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.threshold_in_use();
            self.cwnd = self.cwnd.midpoint(used) / self.mss * self.mss;
        }
    }

    /// Undoes the last reduction. The window becomes the window before the reduction or, if larger,
    /// the present window of `window` bytes (Linux: `tcp_reno_undo_cwnd`).
    pub fn undo(&mut self, window: u64) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = (window.div_ceil(self.mss) * self.mss).max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    /// Returns true if the window is below the slow-start threshold, that is, in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Opens the window in slow start by `segments` segments, the number that was delivered, but
    /// not beyond the slow-start threshold. Returns the number of segments that are left over for
    /// congestion avoidance (Linux: `tcp_slow_start`).
    pub fn slow_start(&mut self, segments: u64) -> u64 {
        let room = self.ssthresh.saturating_sub(self.cwnd).div_ceil(self.mss);
        let grown = segments.min(room);
        self.cwnd += grown * self.mss;
        segments - grown
    }

    /// Opens the window in congestion avoidance by one segment for every `each` segments delivered.
    /// `segments` segments have just been delivered (Linux: `tcp_cong_avoid_ai`).
    pub fn avoid(&mut self, each: u64, segments: u64) {
        let each = each.max(1);
        // Segments that were counted while `each` was larger open the window by one segment at
        // most.
        if self.count >= each {
            self.count = 0;
            self.cwnd += self.mss;
        }
        self.count += segments;
        self.cwnd += self.count / each * self.mss;
        self.count %= each;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    /// `tcp_cwnd_restart` of Linux 6 halves the window once per retransmission timeout in the
    /// pause.
    #[test]
    fn pause_halves_window_once_per_timeout() {
        let after = |timeouts| {
            let mut window = LossWindow::new(MSS, 10 * MSS);
            (window.cwnd, window.ssthresh) = (100 * MSS, 50 * MSS);
            window.idle(timeouts);
            (window.cwnd / MSS, window.ssthresh / MSS)
        };
        assert_eq!([0, 1, 2, 3, 4, 99].map(|n| after(n).0), [100, 50, 25, 12, 10, 10]);
        assert_eq!(after(1).1, 75, "tcp_current_ssthresh: three quarters of the window");
    }

    /// By `tcp_cwnd_application_limited` the window falls half of the way to the part in use, or to
    /// the initial window if less is in use.
    #[test]
    fn unused_window_falls_halfway() {
        let mut window = LossWindow::new(MSS, 10 * MSS);
        window.cwnd = 100 * MSS;
        window.unused(3 * MSS);
        assert_eq!((window.cwnd, window.ssthresh), (55 * MSS, u64::MAX));
    }

    /// 90 segments are delivered while 100 are needed per segment of growth. If then only 10 are
    /// needed, `tcp_cong_avoid_ai` opens the window by one segment, and not by nine.
    #[test]
    fn credit_of_slower_growth_counts_once() {
        let mut window = LossWindow::new(MSS, 10 * MSS);
        window.avoid(100, 90);
        assert_eq!(window.segments(), 10);
        window.avoid(10, 1);
        assert_eq!(window.segments(), 11);
        window.avoid(10, 29);
        assert_eq!(window.segments(), 14);
    }
}
