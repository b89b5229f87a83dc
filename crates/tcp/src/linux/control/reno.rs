//! RFC 5681, with byte counting (RFC 3465).

use nodeb_base::check::Checked;
use nodeb_base::params;

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, CongestionControl, CongestionParams};
use crate::linux::Linux;

params! {
    /// Reno has no parameters.
    #[schemars(rename = "LinuxReno")]
    pub struct Reno {}
}

impl Checked for Reno {}

/// `tcp_reno_cong_avoid`, shared: a segment per segment delivered, then per window delivered.
pub fn grow(window: &mut LossWindow, ack: &AckEvent) {
    if !ack.may_grow() {
        return;
    }
    let mut segments = ack.segments;
    if window.in_slow_start() {
        segments = window.slow_start(segments);
    }
    if segments > 0 {
        window.avoid(window.segments(), segments);
    }
}

impl CongestionParams for Reno {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(RenoControl::new(mss, initial_window))
    }
}

#[derive(Debug)]
pub struct RenoControl {
    window: LossWindow,
}

impl RenoControl {
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self { window: LossWindow::new(mss, initial_window) }
    }
}

impl LossBased for RenoControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        grow(&mut self.window, ack);
    }

    /// `tcp_reno_ssthresh`, regardless of data outstanding by Limited Transmit (RFC 5681, 3.1).
    fn reduced(&mut self) -> u64 {
        self.window.cwnd / 2
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CongestionControl as _, Phase};
    use super::*;
    use nodeb_base::units::Time;

    const MSS: u64 = 1_000;

    fn acknowledge(control: &mut RenoControl, segments: u64, phase: Phase) {
        let bytes = segments * MSS;
        control.on_ack(&AckEvent { acked: bytes, delivered: bytes, segments, phase, ..AckEvent::default() });
    }

    #[test]
    fn slow_start_counts_every_delivered_segment() {
        // As in `tcp_slow_start` of Linux 6, growth per ACK is limited neither before nor after a
        // timeout.
        let mut control = RenoControl::new(MSS, 10 * MSS);
        acknowledge(&mut control, 5, Phase::Open);
        assert_eq!(control.cwnd(), 15 * MSS);
        acknowledge(&mut control, 5, Phase::Loss);
        assert_eq!(control.cwnd(), 20 * MSS);
        acknowledge(&mut control, 5, Phase::Recovery);
        assert_eq!(control.cwnd(), 20 * MSS);
    }

    /// `tcp_may_raise_cwnd` requires a cumulative ACK, `tcp_cong_avoid` counts newly delivered segments.
    #[test]
    fn segments_counted_by_sack_do_not_count_again() {
        let mut control = RenoControl::new(MSS, 10 * MSS);
        let ack = AckEvent { acked: 50 * MSS, delivered: MSS, segments: 1, ..AckEvent::default() };
        control.on_ack(&ack);
        assert_eq!(control.cwnd(), 11 * MSS);
        control.on_ack(&AckEvent { acked: 0, delivered: 3 * MSS, segments: 3, ..AckEvent::default() });
        assert_eq!(control.cwnd(), 11 * MSS);
    }

    /// `tcp_reno_ssthresh`.
    #[test]
    fn threshold_is_half_of_window() {
        let mut control = RenoControl::new(MSS, 21 * MSS);
        control.on_congestion(Time::ZERO, 30 * MSS);
        assert_eq!(control.ssthresh(), 10 * MSS);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_window() {
        let mut control = RenoControl::new(MSS, 20 * MSS);
        control.on_congestion(Time::ZERO, 20 * MSS);
        assert_eq!((control.cwnd(), control.ssthresh()), (10 * MSS, 10 * MSS));
        for _ in 0..9 {
            acknowledge(&mut control, 1, Phase::Open);
        }
        assert_eq!(control.cwnd(), 10 * MSS);
        acknowledge(&mut control, 1, Phase::Open);
        assert_eq!(control.cwnd(), 11 * MSS);
    }

    #[test]
    fn threshold_is_at_least_two_segments() {
        let mut control = RenoControl::new(MSS, 3 * MSS);
        control.on_timeout(Time::ZERO, 0, false);
        assert_eq!((control.cwnd(), control.ssthresh()), (MSS, 2 * MSS));
        control.undo(0);
        assert_eq!((control.cwnd(), control.ssthresh()), (3 * MSS, u64::MAX));
    }
}
