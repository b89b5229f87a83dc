//! A congestion control plug-in: additive increase and multiplicative decrease with configurable numbers (Chiu and
//! Jain, Computer Networks and ISDN Systems 17(1), 1989). Reno has an increase of 1 and a decrease to 0.5.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_tcp::linux::Linux;
use nodeb_tcp::linux::control::loss_based::{LossBased, LossWindow};
use nodeb_tcp::linux::control::{AckEvent, CongestionControl, CongestionParams};

params! {
    /// Parameters of the congestion control `aimd`.
    pub struct Aimd {
        /// Number of segments by which the window grows in a round trip.
        pub increase: u32 = 1,
        /// Factor by which a loss reduces the window, greater than 0 and less than 1.
        pub decrease: f64 = 0.5,
    }
}

impl Checked for Aimd {
    fn check(&self, check: &mut Check) {
        check.require((1..=100).contains(&self.increase), "increase", || {
            format!("{} segments per round trip; expected 1 to 100", self.increase)
        });
        check.require(self.decrease > 0.0 && self.decrease < 1.0, "decrease", || {
            format!("a loss would leave a share of {}; expected one between 0 and 1", self.decrease)
        });
    }
}

impl CongestionParams for Aimd {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(AimdControl { params: self.clone(), window: LossWindow::new(mss, initial_window) })
    }
}

/// State of the congestion control of one connection, with the parameters that it needs.
#[derive(Debug)]
struct AimdControl {
    params: Aimd,
    window: LossWindow,
}

impl LossBased for AimdControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        if ack.may_grow() {
            let left = self.window.slow_start(ack.segments);
            self.window.avoid(self.window.segments() / u64::from(self.params.increase), left);
        }
    }

    fn reduced(&mut self) -> u64 {
        (self.window.cwnd as f64 * self.params.decrease) as u64
    }
}
