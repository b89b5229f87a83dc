use nodeb_base::units::{Duration, Time};

use super::{AckEvent, CongestionControl};

/// Defines how the window grows, and how much a loss reduces it.
pub trait LossBased: std::fmt::Debug {
    fn window(&self) -> &LossWindow;
    fn window_mut(&mut self) -> &mut LossWindow;
    fn grow(&mut self, ack: &AckEvent);
    /// In bytes; also stores what later growth depends on.
    fn reduced(&mut self) -> u64;
    /// After the window has been reduced.
    fn after_timeout(&mut self) {}
    /// See [`CongestionControl::on_start`].
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

/// In bytes, with the values before the last reduction; reductions leave whole segments, as in Linux.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    pub mss: u64,
    pub cwnd: u64,
    /// `u64::MAX` until a reduction or the end of slow start sets it.
    pub ssthresh: u64,
    initial: u64,
    /// `snd_cwnd_cnt`.
    count: u64,
    before: Option<(u64, u64)>,
}

impl LossWindow {
    /// In bytes.
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

    /// Rounded down.
    pub fn segments(&self) -> u64 {
        self.cwnd / self.mss
    }

    /// Whole segments, at least two (RFC 5681, equation 4).
    pub fn reduce(&mut self, target: u64) {
        self.before = Some((self.cwnd, self.threshold_in_use()));
        self.ssthresh = (target / self.mss).max(2) * self.mss;
        self.cwnd = self.ssthresh;
        self.count = 0;
    }

    /// One segment more than in flight (RFC 5681, 3.1).
    pub fn restart(&mut self, in_flight: u64) {
        self.cwnd = (in_flight.div_ceil(self.mss) + 1) * self.mss;
        self.count = 0;
    }

    /// `tcp_current_ssthresh`: at least three quarters of the window.
    fn threshold_in_use(&self) -> u64 {
        let segments = self.segments();
        self.ssthresh.max((segments / 2 + segments / 4) * self.mss)
    }

    /// Half for each timeout, down to the restart window (RFC 5681, 4.1, and RFC 2861; Linux:
    /// `tcp_cwnd_restart`).
    pub fn idle(&mut self, timeouts: u64) {
        self.ssthresh = self.threshold_in_use();
        let restart = self.initial.min(self.cwnd);
        let halved = self.segments() >> timeouts.min(63);
        self.cwnd = (halved * self.mss).max(restart);
    }

    /// To the mean of the window and the larger of `used`, the most outstanding in a retransmission timeout,
    /// and the initial window (RFC 2861; Linux: `tcp_cwnd_application_limited`).
    pub fn unused(&mut self, used: u64) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.threshold_in_use();
            self.cwnd = self.cwnd.midpoint(used) / self.mss * self.mss;
        }
    }

    /// `tcp_reno_undo_cwnd`: at least `window`.
    pub fn undo(&mut self, window: u64) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = (window.div_ceil(self.mss) * self.mss).max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// `tcp_slow_start`: up to the threshold; segments left over.
    pub fn slow_start(&mut self, segments: u64) -> u64 {
        let room = self.ssthresh.saturating_sub(self.cwnd).div_ceil(self.mss);
        let grown = segments.min(room);
        self.cwnd += grown * self.mss;
        segments - grown
    }

    /// `tcp_cong_avoid_ai`.
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

    /// `tcp_cwnd_restart`.
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

    /// `tcp_cwnd_application_limited`.
    #[test]
    fn unused_window_falls_halfway() {
        let mut window = LossWindow::new(MSS, 10 * MSS);
        window.cwnd = 100 * MSS;
        window.unused(3 * MSS);
        assert_eq!((window.cwnd, window.ssthresh), (55 * MSS, u64::MAX));
    }

    /// `tcp_cong_avoid_ai`: 90 segments delivered at 100 per segment of growth, then 10, open it by one, not
    /// nine.
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
