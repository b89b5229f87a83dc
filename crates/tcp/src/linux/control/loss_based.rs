//! Controls that grow until a segment is lost and then fall to a share of their window: what they have
//! in common.

use nodeb_base::units::{Duration, Time};

use super::{AckEvent, CongestionControl};

/// A control whose state is a [`LossWindow`]; it says how the window grows and what a loss leaves.
pub trait LossBased: Send + std::fmt::Debug {
    /// The window.
    fn window(&self) -> &LossWindow;
    /// The window, to be changed.
    fn window_mut(&mut self) -> &mut LossWindow;
    /// Takes an ACK and opens the window.
    fn grow(&mut self, ack: &AckEvent);
    /// Bytes that a loss leaves of the window.
    fn reduced(&mut self) -> u64;
    /// A timeout has emptied the window.
    fn after_timeout(&mut self) {}
    /// Data are sent again after nothing was in flight and nothing sent for `pause`.
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

/// Window and threshold of a control that reacts to loss, with what they were before. Both are bytes, but
/// whole segments, as Linux counts them.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// Size of a segment.
    pub mss: u64,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    initial: u64,
    /// Segments delivered since congestion avoidance last opened the window (`snd_cwnd_cnt`).
    count: u64,
    before: Option<(u64, u64)>,
}

impl LossWindow {
    /// The window at the start.
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

    /// The window in segments.
    pub fn segments(&self) -> u64 {
        self.cwnd / self.mss
    }

    /// Reduces window and threshold to `target`, at least two segments (RFC 5681, equation 4).
    pub fn reduce(&mut self, target: u64) {
        self.before = Some((self.cwnd, self.threshold_in_use()));
        self.ssthresh = (target / self.mss).max(2) * self.mss;
        self.cwnd = self.ssthresh;
        self.count = 0;
    }

    /// Restarts with one segment beyond what is in flight after a timeout (RFC 5681, 3.1).
    pub fn restart(&mut self, in_flight: u64) {
        self.cwnd = (in_flight.div_ceil(self.mss) + 1) * self.mss;
        self.count = 0;
    }

    /// The threshold, or three quarters of a window that has grown beyond it (Linux: `tcp_current_ssthresh`).
    fn threshold_in_use(&self) -> u64 {
        let segments = self.segments();
        self.ssthresh.max((segments / 2 + segments / 4) * self.mss)
    }

    /// After a pause of so many whole timeouts the window has halved with each, down to the restart window
    /// (RFC 5681, 4.1, and RFC 2861; Linux: `tcp_cwnd_restart`).
    pub fn idle(&mut self, timeouts: u64) {
        self.ssthresh = self.threshold_in_use();
        let restart = self.initial.min(self.cwnd);
        let halved = self.segments() >> timeouts.min(63);
        self.cwnd = (halved * self.mss).max(restart);
    }

    /// Of the window only `used` bytes were needed for a timeout: it falls half the way (RFC 2861; Linux:
    /// `tcp_cwnd_application_limited`).
    pub fn unused(&mut self, used: u64) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.threshold_in_use();
            self.cwnd = self.cwnd.midpoint(used) / self.mss * self.mss;
        }
    }

    /// Takes the last reduction back, which has come to `window` (Linux: `tcp_reno_undo_cwnd`).
    pub fn undo(&mut self, window: u64) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = (window.div_ceil(self.mss) * self.mss).max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    /// Whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: grows by the `segments` delivered, up to the threshold; returns those left over for
    /// congestion avoidance (Linux: `tcp_slow_start`).
    pub fn slow_start(&mut self, segments: u64) -> u64 {
        let room = self.ssthresh.saturating_sub(self.cwnd).div_ceil(self.mss);
        let grown = segments.min(room);
        self.cwnd += grown * self.mss;
        segments - grown
    }

    /// Congestion avoidance: opens the window by a segment for every `each` delivered (Linux:
    /// `tcp_cong_avoid_ai`).
    pub fn avoid(&mut self, each: u64, segments: u64) {
        let each = each.max(1);
        // Credits from a time of slower growth count once.
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

    /// `tcp_cwnd_restart` of Linux 6: the loop halves once for each timeout that the pause exceeds.
    #[test]
    fn a_pause_halves_the_window_once_a_timeout() {
        let after = |timeouts| {
            let mut window = LossWindow::new(MSS, 10 * MSS);
            (window.cwnd, window.ssthresh) = (100 * MSS, 50 * MSS);
            window.idle(timeouts);
            (window.cwnd / MSS, window.ssthresh / MSS)
        };
        assert_eq!([0, 1, 2, 3, 4, 99].map(|n| after(n).0), [100, 50, 25, 12, 10, 10]);
        assert_eq!(after(1).1, 75, "tcp_current_ssthresh: three quarters of the window");
    }

    /// `tcp_cwnd_application_limited`: half the way to what was used, at least the initial window.
    #[test]
    fn a_window_not_used_falls_half_the_way() {
        let mut window = LossWindow::new(MSS, 10 * MSS);
        window.cwnd = 100 * MSS;
        window.unused(3 * MSS);
        assert_eq!((window.cwnd, window.ssthresh), (55 * MSS, u64::MAX));
    }

    /// `tcp_cong_avoid_ai`: credits gathered at a larger divisor are applied once, and gently.
    #[test]
    fn credits_of_a_slower_time_count_once() {
        let mut window = LossWindow::new(MSS, 10 * MSS);
        window.avoid(100, 90);
        assert_eq!(window.segments(), 10);
        window.avoid(10, 1);
        assert_eq!(window.segments(), 11);
        window.avoid(10, 29);
        assert_eq!(window.segments(), 14);
    }
}
