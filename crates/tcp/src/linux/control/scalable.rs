//! Kelly, ACM CCR 33(2), 2003: proportional, so that recovery takes as many round trips at any rate; small
//! windows follow Reno.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, CongestionControl, CongestionParams, reno};
use crate::linux::Linux;

params! {
    /// Parameters of Scalable TCP, whose window grows and shrinks in proportion to its size.
    pub struct Scalable {
        /// Growth of the window in bytes per byte acknowledged (section 3 of the paper: `a`).
        pub increase: f64 = 0.01,
        /// Share of the window by which a loss reduces it (section 3 of the paper: `b`).
        pub decrease: f64 = 0.125,
        /// Number of segments up to which the window follows Reno (`lwnd`).
        pub legacy_window: u32 = 16,
    }
}

impl Checked for Scalable {
    fn check(&self, check: &mut Check) {
        for (key, share) in [("increase", self.increase), ("decrease", self.decrease)] {
            check.require(share > 0.0 && share < 1.0, key, || {
                format!("{share} is no share; expected more than 0 and less than 1")
            });
        }
    }
}

impl CongestionParams for Scalable {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(ScalableControl::new(self, mss, initial_window))
    }
}

#[derive(Debug)]
pub struct ScalableControl {
    params: Scalable,
    window: LossWindow,
    /// Growth below a byte.
    fraction: f64,
}

impl ScalableControl {
    pub fn new(params: &Scalable, mss: u64, initial_window: u64) -> Self {
        let window = LossWindow::new(mss, initial_window);
        Self { params: params.clone(), window, fraction: 0.0 }
    }

    fn is_legacy(&self) -> bool {
        self.window.cwnd <= u64::from(self.params.legacy_window) * self.window.mss
    }
}

impl LossBased for ScalableControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        if self.window.in_slow_start() || self.is_legacy() {
            reno::grow(&mut self.window, ack);
        } else if ack.may_grow() {
            self.fraction += self.params.increase * ack.delivered as f64;
            self.window.cwnd += self.fraction as u64;
            self.fraction = self.fraction.fract();
        }
    }

    fn reduced(&mut self) -> u64 {
        let share = if self.is_legacy() { 0.5 } else { 1.0 - self.params.decrease };
        (share * self.window.cwnd as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;
    use nodeb_base::units::Time;

    const MSS: u64 = 1_000;

    /// Round trips until the window is as large again.
    fn rounds_to_recover(segments: u64) -> u32 {
        let mut control = ScalableControl::new(&Scalable::default(), MSS, segments * MSS);
        control.on_congestion(Time::ZERO, 0);
        let mut rounds = 0;
        while control.cwnd() < segments * MSS {
            for _ in 0..control.cwnd() / MSS {
                control.on_ack(&AckEvent { acked: MSS, delivered: MSS, segments: 1, ..AckEvent::default() });
            }
            rounds += 1;
        }
        rounds
    }

    #[test]
    fn recovery_time_is_independent_of_window() {
        // By section 3 of the paper recovery takes -log(1 - b) / log(1 + a) = 13.4 round trips,
        // while Reno needs half as many as its window has segments. The reduced window is rounded
        // down, for example from 87.5 to 87 segments.
        assert_eq!([100, 1_000, 10_000].map(rounds_to_recover), [15, 14, 14]);
        // A window of 16 segments follows Reno: it is halved to 8 segments and grows by one segment
        // per round trip.
        assert_eq!(rounds_to_recover(16), 8);
    }
}
