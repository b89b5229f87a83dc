//! Grieco and Mascolo, ACM CCR 34(2), 2004; filters as in Linux, `tcp_westwood.c`: a loss reduces the window
//! to the measured bandwidth-delay product.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, CongestionControl, CongestionParams, reno};
use crate::linux::Linux;

/// `TCP_WESTWOOD_RTT_MIN`.
const MIN_SAMPLE_TIME: Duration = Duration::from_millis(50);

params! {
    /// Westwood+ has no parameters.
    pub struct Westwood {}
}

impl Checked for Westwood {}

impl CongestionParams for Westwood {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(WestwoodControl::new(mss, initial_window))
    }
}

#[derive(Debug)]
pub struct WestwoodControl {
    window: LossWindow,
    min_rtt: Option<Duration>,
    /// Of the sample, with bytes delivered by then.
    since: Option<(Time, u64)>,
    /// In bytes per second, after the first filter.
    smooth: f64,
    /// In bytes per second, after the second filter.
    bandwidth: f64,
}

impl WestwoodControl {
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self {
            window: LossWindow::new(mss, initial_window),
            min_rtt: None,
            since: None,
            smooth: 0.0,
            bandwidth: 0.0,
        }
    }

    /// Once per round trip and [`MIN_SAMPLE_TIME`]; Westwood without "+" samples each ACK, which compressed
    /// ACKs distort.
    fn sample(&mut self, ack: &AckEvent) {
        let (since, delivered) = *self
            .since
            .get_or_insert((ack.now, ack.total_delivered - ack.delivered.min(ack.total_delivered)));
        let elapsed = ack.now.since(since);
        if elapsed < ack.srtt.max(MIN_SAMPLE_TIME) {
            return;
        }
        let rate = (ack.total_delivered - delivered) as f64 / elapsed.as_secs();
        if self.bandwidth == 0.0 {
            (self.smooth, self.bandwidth) = (rate, rate);
        } else {
            self.smooth = (7.0 * self.smooth + rate) / 8.0;
            self.bandwidth = (7.0 * self.bandwidth + self.smooth) / 8.0;
        }
        self.since = Some((ack.now, ack.total_delivered));
    }

    /// In bytes; 0 without a round-trip time.
    fn pipe_size(&self) -> u64 {
        self.min_rtt.map_or(0, |rtt| (self.bandwidth * rtt.as_secs()) as u64)
    }
}

impl LossBased for WestwoodControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        self.sample(ack);
        reno::grow(&mut self.window, ack);
    }

    fn reduced(&mut self) -> u64 {
        self.pipe_size().min(self.window.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;

    #[test]
    fn loss_reduces_window_to_bandwidth_delay_product() {
        // At 1 MB/s with a smallest round-trip time of 100 ms, the bandwidth-delay product is 100
        // kB. Later round-trip times are 150 ms, and the window is 150 kB.
        let mut control = WestwoodControl::new(1_000, 150_000);
        let mut now = Time::ZERO;
        for ack in 1..2_000 {
            now += Duration::from_millis(1);
            let rtt = Duration::from_millis(if ack == 1 { 100 } else { 150 });
            let (rtt, srtt) = (Some(rtt), rtt);
            let total_delivered = 1_000 * ack;
            control.on_ack(&AckEvent {
                now,
                delivered: 1_000,
                total_delivered,
                rtt,
                srtt,
                ..AckEvent::default()
            });
        }
        control.on_congestion(now, 150_000);
        assert!(control.cwnd().abs_diff(100_000) < 2_000, "{}", control.cwnd());
    }

    #[test]
    fn bandwidth_is_filtered_twice() {
        // The bandwidth samples are 1 MB/s and then 2 MB/s, each over 100 ms. Both smoothing
        // filters have a gain of an eighth.
        let mut control = WestwoodControl::new(1_000, 100_000);
        let mut sample = |ms: u64, delivered, total_delivered| {
            let now = Time::ZERO + Duration::from_millis(ms);
            let srtt = Duration::from_millis(100);
            control.on_ack(&AckEvent { now, delivered, srtt, total_delivered, ..AckEvent::default() });
            control.bandwidth
        };
        let bandwidths = [sample(0, 0, 0), sample(100, 100_000, 100_000), sample(200, 200_000, 300_000)];
        // In MB/s, the first filter gives (7 * 1 + 2) / 8 = 9/8, and the second filter (7 + 9/8) /
        // 8 = 65/64.
        assert_eq!(bandwidths.map(|rate| rate.round() as u64), [0, 1_000_000, 65_000_000 / 64]);
    }

    /// `westwood_update_window`, `TCP_WESTWOOD_RTT_MIN`.
    #[test]
    fn sample_lasts_a_round_trip_and_at_least_50_ms() {
        for (srtt, lasts) in [(10, 50_000), (80, 80_000)] {
            let bandwidth = |us: u64| {
                let mut control = WestwoodControl::new(1_000, 10_000);
                let mut ack = AckEvent { srtt: Duration::from_millis(srtt), ..AckEvent::default() };
                control.on_ack(&ack);
                (ack.now, ack.delivered, ack.total_delivered) = (Time(us * 1_000), us, us);
                control.on_ack(&ack);
                control.bandwidth.round() as u64
            };
            assert_eq!([lasts - 1, lasts + 1].map(bandwidth), [0, 1_000_000], "{srtt} ms");
        }
    }
}
