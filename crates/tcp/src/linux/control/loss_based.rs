//! Controls that grow until a segment is lost and then fall to a share of their window: what they have
//! in common.

use super::{AckEvent, CongestionControl};
use crate::units::Time;

/// A control whose state is a [`LossWindow`]; it says how the window grows and what a loss leaves.
pub trait LossBased: Send + std::fmt::Debug {
    /// The window.
    fn window(&self) -> &LossWindow;
    /// The window, to be changed.
    fn window_mut(&mut self) -> &mut LossWindow;
    /// Takes an ACK and opens the window.
    fn grow(&mut self, ack: &AckEvent);
    /// Bytes that a loss leaves of `outstanding`, which is the window after a timeout.
    fn reduced(&mut self, outstanding: u64) -> u64;
}

impl<T: LossBased> CongestionControl for T {
    fn on_ack(&mut self, ack: &AckEvent) {
        self.grow(ack);
    }

    fn on_congestion(&mut self, _: Time, in_flight: u64) {
        let target = self.reduced(in_flight);
        self.window_mut().reduce(target);
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            let target = self.reduced(self.window().cwnd);
            self.window_mut().reduce(target);
        }
        self.window_mut().restart(in_flight);
    }

    fn on_idle(&mut self) {
        self.window_mut().idle();
    }

    fn undo(&mut self) {
        self.window_mut().undo();
    }

    fn cwnd(&self) -> u64 {
        self.window().cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window().ssthresh
    }
}

/// Window and threshold of a control that reacts to loss, with what they were before.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// Size of a segment.
    pub mss: u64,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    initial: u64,
    before: Option<(u64, u64)>,
}

impl LossWindow {
    /// The window at the start.
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self { mss, cwnd: initial_window, ssthresh: u64::MAX, initial: initial_window, before: None }
    }

    /// Reduces window and threshold to `target`, at least two segments (RFC 5681, equation 4).
    pub fn reduce(&mut self, target: u64) {
        self.before = Some((self.cwnd, self.ssthresh));
        self.ssthresh = target.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }

    /// Restarts with one segment beyond what is in flight after a timeout (RFC 5681, 3.1).
    pub fn restart(&mut self, in_flight: u64) {
        self.cwnd = in_flight + self.mss;
    }

    /// Falls back to the restart window and remembers where slow start led before (RFC 5681, 4.1;
    /// the threshold as in Linux, `tcp_cwnd_restart`).
    pub fn idle(&mut self) {
        if self.cwnd > self.initial && self.ssthresh < u64::MAX {
            self.ssthresh = self.ssthresh.max(self.cwnd / 4 * 3);
        }
        self.cwnd = self.cwnd.min(self.initial);
    }

    /// Takes the last reduction back.
    pub fn undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    /// Whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: grows by what is acknowledged, at most `limit` segments (RFC 3465, 2.2), up to
    /// the threshold; returns the bytes left over for congestion avoidance.
    pub fn slow_start(&mut self, acked: u64, limit: u64) -> u64 {
        let growth = acked.min(limit.saturating_mul(self.mss)).min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        if self.in_slow_start() { 0 } else { acked - growth.min(acked) }
    }
}
