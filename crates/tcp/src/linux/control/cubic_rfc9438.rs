//! RFC 9438; the variant of Linux is the module `cubic`.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::cubic::check_shape;
use super::loss_based::LossWindow;
use super::slow_start::{Search, SlowStart};
use super::{AckEvent, CongestionControl, CongestionParams};
use crate::linux::Linux;

params! {
    /// Parameters of RFC 9438's CUBIC, whose window grows with the time since the last
    /// reduction.
    pub struct CubicRfc9438 {
        /// Share of the window that remains after a reduction, `beta_cubic` (RFC 9438, 4.6).
        pub beta: f64 = 0.7,
        /// Factor `C` of the window's cubic growth, in segments per second cubed (RFC 9438, 5).
        pub c: f64 = 0.4,
        /// Whether to release bandwidth to new flows: at a loss below the last maximum of the
        /// window, less than the window is stored as the new maximum (RFC 9438, 4.7).
        pub fast_convergence: bool = true,
        /// Method that ends slow start before a loss.
        pub slow_start: SlowStart = SlowStart::HyStartPlusPlus,
    }
}

impl Checked for CubicRfc9438 {
    fn check(&self, check: &mut Check) {
        check_shape(self.beta, self.c, check);
    }
}

/// Since the last reduction, in segments; `k` in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    start: Time,
    k: f64,
    /// RFC 9438, 4.2.
    w_max: f64,
    /// RFC 9438, 4.3.
    w_est: f64,
}

impl Epoch {
    /// Equations 1 and 2.
    fn new(now: Time, cwnd: f64, w_max: f64, c: f64) -> Self {
        let w_max = w_max.max(cwnd);
        Self { start: now, k: libm::cbrt((w_max - cwnd) / c), w_max, w_est: cwnd }
    }

    /// Equation 1.
    fn window_after(&self, elapsed: Duration, c: f64) -> f64 {
        let t = elapsed.as_secs() - self.k;
        c * t * t * t + self.w_max
    }
}

impl CongestionParams for CubicRfc9438 {
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(CubicRfc9438Control::new(self, mss, initial_window, tcp.pacing))
    }
}

#[derive(Debug)]
pub struct CubicRfc9438Control {
    params: CubicRfc9438,
    window: LossWindow,
    search: Search,
    min_rtt: Option<Duration>,
    epoch: Option<Epoch>,
    /// ACK or start of a transmission.
    last_event: Time,
    /// Before the last reduction, less fast convergence; 0 without one since the start or a timeout.
    w_max: f64,
    /// `cwnd_prior`.
    prior: f64,
    /// Growth below a byte.
    fraction: f64,
    /// `w_max`, `prior` and `epoch` before the last reduction, for an undo.
    before: (f64, f64, Option<Epoch>),
}

impl CubicRfc9438Control {
    /// `paced` spreads segments over the round trip.
    pub fn new(params: &CubicRfc9438, mss: u64, initial_window: u64, paced: bool) -> Self {
        Self {
            params: params.clone(),
            window: LossWindow::new(mss, initial_window),
            search: Search::new(params.slow_start, paced),
            min_rtt: None,
            epoch: None,
            last_event: Time::ZERO,
            w_max: 0.0,
            prior: 0.0,
            fraction: 0.0,
            before: (0.0, 0.0, None),
        }
    }

    fn segments(&self) -> f64 {
        self.window.cwnd as f64 / self.window.mss as f64
    }

    /// Segments left over for congestion avoidance.
    fn slow_start(&mut self, ack: &AckEvent) -> u64 {
        self.search.on_ack_in_slow_start(ack, &mut self.window, self.min_rtt);
        let growth = self.search.growth(ack.segments);
        self.window.slow_start(growth)
    }

    /// 4.2: towards the cubic function one round trip from now, but at least as fast as Reno's window.
    fn avoid_congestion(&mut self, ack: &AckEvent, segments: u64) {
        let (c, beta) = (self.params.c, self.params.beta);
        let cwnd = self.segments();
        let acked = segments as f64;
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(ack.now, cwnd, w_max, c));
        // By equation 4 Reno's window grows by alpha segments per round trip. Once Reno's window is
        // as large as the window was before the reduction, it grows by one segment per round trip.
        let alpha = if epoch.w_est < self.prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let elapsed = ack.now.since(epoch.start);
        let size = if epoch.window_after(elapsed, c) < epoch.w_est {
            epoch.w_est
        } else {
            let target = epoch.window_after(Duration(elapsed.0 + ack.srtt.0), c).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked
        };
        self.grow_to(size);
    }

    /// 5.8: the sender did not use the whole window.
    fn exclude(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.since(self.last_event);
        }
    }

    fn grow_to(&mut self, segments: f64) {
        let bytes = segments * self.window.mss as f64 - self.window.cwnd as f64 + self.fraction;
        let whole = bytes.max(0.0) as u64;
        self.fraction = (bytes - whole as f64).clamp(0.0, 1.0);
        self.window.cwnd += whole;
    }

    /// 4.6 and 4.7; in bytes.
    fn save_and_reduce(&mut self) -> u64 {
        let cwnd = self.segments();
        self.before = (self.w_max, self.prior, self.epoch.take());
        self.w_max = if self.params.fast_convergence && cwnd < self.w_max {
            cwnd * (1.0 + self.params.beta) / 2.0
        } else {
            cwnd
        };
        self.prior = cwnd;
        self.search = Search::Idle;
        self.fraction = 0.0;
        (self.window.cwnd as f64 * self.params.beta) as u64
    }
}

impl CongestionControl for CubicRfc9438Control {
    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
        if !ack.window_limited {
            self.exclude(ack.now);
        }
        self.last_event = ack.now;
        if !ack.may_grow() {
            return;
        }
        let mut segments = ack.segments;
        if self.window.in_slow_start() {
            segments = self.slow_start(ack);
        }
        if !self.window.in_slow_start() && segments > 0 {
            self.avoid_congestion(ack, segments);
        }
    }

    fn on_congestion(&mut self, _: Time, _: u64) {
        let target = self.save_and_reduce();
        self.window.reduce(target);
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            let target = self.save_and_reduce();
            self.window.reduce(target);
        }
        // By section 4.8 the epoch after a timeout starts on the plateau of the cubic function.
        self.w_max = 0.0;
        self.window.restart(in_flight);
    }

    fn on_idle(&mut self, timeouts: u64) {
        self.window.idle(timeouts);
        self.epoch = None;
    }

    fn on_unused(&mut self, used: u64) {
        self.window.unused(used);
        self.epoch = None;
    }

    fn on_start(&mut self, now: Time, _pause: Duration) {
        self.exclude(now);
        self.last_event = now;
    }

    fn undo(&mut self, window: u64) {
        self.window.undo(window);
        (self.w_max, self.prior, self.epoch) = self.before;
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    fn control() -> CubicRfc9438Control {
        let slow_start = SlowStart::Standard;
        CubicRfc9438Control::new(&CubicRfc9438 { slow_start, ..CubicRfc9438::default() }, MSS, 10 * MSS, true)
    }

    fn ack(now: Time, acked: u64, rtt: Duration) -> AckEvent {
        AckEvent {
            now,
            acked,
            delivered: acked,
            segments: acked / MSS,
            rtt: Some(rtt),
            srtt: rtt,
            ..AckEvent::default()
        }
    }

    /// One window per `rtt`; seconds and segments.
    fn grow(control: &mut CubicRfc9438Control, rtt: Duration, end: f64) -> Vec<(f64, f64)> {
        let (mut now, mut seen) = (Time::ZERO, Vec::new());
        while now.as_secs() < end {
            let segments = control.cwnd() / MSS;
            for _ in 0..segments {
                control.on_ack(&ack(now, MSS, rtt));
                now += Duration(rtt.0 / segments);
            }
            seen.push((now.as_secs(), control.segments()));
        }
        seen
    }

    #[test]
    fn k_is_time_to_previous_window() {
        // By equation 2 the window needs cbrt(30 / 0.4) s from 70 back to 100 segments at C = 0.4.
        let epoch = Epoch::new(Time::ZERO, 70.0, 100.0, 0.4);
        assert!((epoch.k - 4.217_163).abs() < 1e-5, "{}", epoch.k);
        // By equation 1, the function starts at the reduced window (W(0) = cwnd), reaches W_max at
        // the time K, and is symmetric about this point.
        let at = |s: f64| epoch.window_after(Duration((s * 1e9) as u64), 0.4);
        assert!((at(0.0) - 70.0).abs() < 1e-6 && (at(epoch.k) - 100.0).abs() < 1e-6);
        assert!((at(epoch.k + 1.0) - 100.4).abs() < 1e-6 && (at(epoch.k - 1.0) - 99.6).abs() < 1e-6);
    }

    #[test]
    fn window_follows_equation_1() {
        // With a long round-trip time and a large window the cubic function exceeds Reno's window,
        // so the window follows equation 1.
        let mut control = control();
        control.window.cwnd = 1_000 * MSS;
        control.on_congestion(Time::ZERO, 0);
        assert_eq!((control.cwnd(), control.ssthresh()), (700 * MSS, 700 * MSS));
        let rtt = Duration::from_millis(100);
        let epoch = Epoch::new(Time::ZERO, 700.0, 1_000.0, 0.4);
        for (at, window) in grow(&mut control, rtt, 12.0).into_iter().skip(5) {
            let expected = epoch.window_after(Duration((at * 1e9) as u64), 0.4);
            assert!((window - expected).abs() < 0.01 * expected + 1.0, "{at} s: {window}, not {expected}");
        }
    }

    #[test]
    fn short_rtt_is_reno_friendly() {
        // By section 4.3, with 10 ms and 20 segments, W_est grows by alpha = 9/17 segments per
        // round trip up to the window before the loss, and then by 1.
        let mut control = control();
        control.window.cwnd = 20 * MSS;
        control.on_congestion(Time::ZERO, 0);
        let rounds = grow(&mut control, Duration::from_millis(10), 0.5);
        let at_round = |n: usize| rounds[n].1;
        let slope = (at_round(8) - at_round(2)) / 6.0;
        assert!((slope - 9.0 / 17.0).abs() < 0.05, "{slope}");
        let slope = (at_round(29) - at_round(19)) / 10.0;
        assert!((slope - 1.0).abs() < 0.06, "{slope}");
    }

    #[test]
    fn fast_convergence_stores_smaller_window() {
        // The second loss occurs at a smaller window than the first one. So fast convergence
        // (section 4.7) stores less than this window.
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_congestion(Time::ZERO, 0);
        control.on_congestion(Time::ZERO, 0);
        assert!((control.w_max - 70.0 * 0.85).abs() < 1e-9, "{}", control.w_max);
        control.undo(0);
        assert!((control.w_max - 100.0).abs() < 1e-9 && control.cwnd() == 70 * MSS);
    }

    #[test]
    fn growth_starts_on_plateau_after_timeout() {
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_timeout(Time::ZERO, 0, false);
        assert_eq!((control.cwnd(), control.ssthresh()), (MSS, 70 * MSS));
        control.on_timeout(Time::ZERO, 0, true);
        assert_eq!(control.ssthresh(), 70 * MSS);
        control.window.cwnd = 70 * MSS;
        control.on_ack(&ack(Time::ZERO, MSS, Duration::from_millis(100)));
        assert!(control.epoch.is_some_and(|epoch| epoch.k == 0.0));
    }

    #[test]
    fn w_est_grows_by_alpha_per_window() {
        // At a window of 14 segments, equation 4 raises W_est by alpha / 14 per acknowledged
        // segment, with alpha = 3 * 0.3 / 1.7. Once W_est reaches 20 segments, the window before
        // the loss, alpha is 1.
        let mut control = control();
        control.window.cwnd = 20 * MSS;
        control.on_congestion(Time::ZERO, 0);
        assert_eq!(control.cwnd(), 14 * MSS);
        control.on_ack(&ack(Time(1), MSS, Duration::from_millis(10)));
        let w_est = |control: &CubicRfc9438Control| control.epoch.map(|epoch| epoch.w_est).unwrap();
        assert!((w_est(&control) - (14.0 + 9.0 / 17.0 / 14.0)).abs() < 1e-12);
        control.epoch.as_mut().unwrap().w_est = 20.0;
        let cwnd = control.segments();
        control.on_ack(&ack(Time(2), MSS, Duration::from_millis(10)));
        assert!((w_est(&control) - (20.0 + 1.0 / cwnd)).abs() < 1e-12);
    }

    #[test]
    fn window_grows_by_at_most_half_per_round_trip() {
        // By section 4.2 the window grows by at most half per round trip, even if the cubic
        // function is much larger after a long time.
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_congestion(Time::ZERO, 0);
        control.on_ack(&ack(Time::ZERO, MSS, Duration::from_millis(100)));
        let before = control.cwnd();
        control.on_ack(&ack(Time(100_000_000_000), MSS, Duration::from_millis(100)));
        assert_eq!(control.cwnd() - before, MSS / 2);
    }
}
