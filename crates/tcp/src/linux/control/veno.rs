//! Fu and Liew, IEEE JSAC 21(2), 2003; as in Linux, `tcp_veno.c`: the queue length, as estimated by Vegas,
//! tells losses on the radio from congestion.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, CongestionControl, CongestionParams, Phase, reno};
use crate::linux::Linux;

params! {
    /// Parameters of Veno, which attributes a loss with a short queue to the radio link.
    pub struct Veno {
        /// Number of segments in the queue below which a loss is not attributed to congestion.
        pub beta: u32 = 3,
    }
}

impl Checked for Veno {}

impl CongestionParams for Veno {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(VenoControl::new(self, mss, initial_window))
    }
}

#[derive(Debug)]
pub struct VenoControl {
    params: Veno,
    window: LossWindow,
    base_rtt: Option<Duration>,
    /// Smallest of the round.
    round_rtt: Option<Duration>,
    /// Acknowledged bytes that end the round.
    round_end: u64,
    /// Segments in the queue at the end of the last round; 0 before.
    waiting: f64,
}

impl VenoControl {
    pub fn new(params: &Veno, mss: u64, initial_window: u64) -> Self {
        Self {
            params: params.clone(),
            window: LossWindow::new(mss, initial_window),
            base_rtt: None,
            round_rtt: None,
            round_end: 0,
            waiting: 0.0,
        }
    }

    fn is_congested(&self) -> bool {
        self.waiting >= f64::from(self.params.beta)
    }

    fn measure(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |min| min.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if ack.una < self.round_end {
            return;
        }
        if let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt.take()) {
            let segments = self.window.cwnd as f64 / self.window.mss as f64;
            self.waiting = segments * (rtt.0 - base.0) as f64 / rtt.0.max(1) as f64;
        }
        self.round_end = ack.next;
    }
}

impl LossBased for VenoControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        self.measure(ack);
        let avoiding = ack.phase == Phase::Open && !self.window.in_slow_start();
        if avoiding && self.is_congested() {
            // Because of the long queue, the window grows at half of Reno's rate (section III-A of
            // the paper).
            if ack.may_grow() {
                self.window.avoid(2 * self.window.segments(), ack.segments);
            }
        } else {
            reno::grow(&mut self.window, ack);
        }
    }

    /// `tcp_veno_cwnd_event`, `CA_EVENT_TX_START`: they may have changed in the pause.
    fn after_pause(&mut self, _now: Time, _pause: Duration) {
        (self.base_rtt, self.round_rtt) = (None, None);
    }

    /// Half if the queue is long, otherwise 4/5 (section III-B).
    fn reduced(&mut self) -> u64 {
        let cwnd = self.window.cwnd;
        if self.is_congested() { cwnd / 2 } else { cwnd / 5 * 4 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;

    /// From 20 segments, with a minimum of 100 ms.
    fn after_loss(rtt_ms: u64) -> u64 {
        let mut control = VenoControl::new(&Veno::default(), 1_000, 20_000);
        control.base_rtt = Some(Duration::from_millis(100));
        control.measure(&AckEvent { rtt: Some(Duration::from_millis(rtt_ms)), ..AckEvent::default() });
        control.on_congestion(Time::ZERO, 20_000);
        control.cwnd()
    }

    #[test]
    fn loss_with_short_queue_costs_a_fifth() {
        // With 20 segments and a smallest round-trip time of 100 ms, 20 (1 - 100 / 110) = 1.8
        // segments are in the queue at 110 ms, and 20 (1 - 100 / 125) = 4 segments at 125 ms.
        assert_eq!([110, 125].map(after_loss), [16_000, 10_000]);
    }

    #[test]
    fn long_queue_halves_growth() {
        // Four segments in the queue count as congestion, so each acknowledged window of 20
        // segments adds half a segment. After 40 acknowledged segments the window has grown by one.
        let mut control = VenoControl::new(&Veno::default(), 1_000, 20_000);
        control.window.ssthresh = 10_000;
        (control.base_rtt, control.waiting) = (Some(Duration::from_millis(100)), 4.0);
        control.round_end = u64::MAX;
        for _ in 0..39 {
            control.on_ack(&AckEvent { acked: 1_000, segments: 1, ..AckEvent::default() });
        }
        assert_eq!(control.cwnd(), 20_000);
        control.on_ack(&AckEvent { acked: 1_000, segments: 1, ..AckEvent::default() });
        assert_eq!(control.cwnd(), 21_000);
    }

    #[test]
    fn long_queue_does_not_slow_slow_start_or_recovery() {
        let after = |ssthresh, phase| {
            let mut control = VenoControl::new(&Veno::default(), 1_000, 20_000);
            (control.window.ssthresh, control.waiting, control.round_end) = (ssthresh, 4.0, u64::MAX);
            for _ in 0..20 {
                control.on_ack(&AckEvent { acked: 1_000, segments: 1, phase, ..AckEvent::default() });
            }
            control.cwnd()
        };
        assert_eq!(after(u64::MAX, Phase::Open), 40_000);
        assert_eq!(after(10_000, Phase::Loss), 21_000);
        assert_eq!(after(10_000, Phase::Open), 20_000);
    }
}
