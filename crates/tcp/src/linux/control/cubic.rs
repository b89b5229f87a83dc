//! Linux 6, `tcp_cubic.c`: in whole segments and by a clock of 1/250 s. Unless `tcp_friendliness` is off, the
//! window grows at least as fast as that of a Reno which keeps `beta` (0.7) instead of half. The variant of
//! RFC 9438 is the module `cubic_rfc9438`.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::loss_based::{LossBased, LossWindow};
use super::slow_start::{Search, SlowStart};
use super::{AckEvent, CongestionControl, CongestionParams};
use crate::linux::Linux;
use crate::linux::jiffies;

params! {
    /// Parameters of Linux's CUBIC, whose window grows with the time since the last reduction.
    pub struct Cubic {
        /// Share of the window that remains after a reduction; rounded to a multiple of 1/1024.
        pub beta: f64 = 0.7,
        /// Factor C of the window's cubic growth, in segments per second cubed; rounded to a
        /// multiple of 10/1024.
        pub c: f64 = 0.4,
        /// Whether to release bandwidth to new flows: at a loss below the last maximum of the
        /// window, less than the window is stored as the new maximum.
        pub fast_convergence: bool = true,
        /// Whether the window grows at least as fast as that of Reno.
        pub tcp_friendliness: bool = true,
        /// Method that ends slow start before a loss.
        pub slow_start: SlowStart = SlowStart::HyStart,
    }
}

impl Checked for Cubic {
    fn check(&self, check: &mut Check) {
        check_shape(self.beta, self.c, check);
    }
}

/// Checks the parameters `beta` and `c`, which both variants of CUBIC have.
pub fn check_shape(beta: f64, c: f64, check: &mut Check) {
    check.require(beta > 0.0 && beta < 1.0, "beta", || {
        format!("a window cannot be reduced to {beta} of itself; expected between 0 and 1")
    });
    check.require(c > 0.0 && c <= 1_000.0, "c", || {
        format!("a window cannot grow by {c} t^3; expected more than 0 and at most 1000")
    });
}

/// Shares in 1/1024 (`BICTCP_BETA_SCALE`), times in 1/1024 s (`BICTCP_HZ`).
const SCALE: u64 = 1_024;
/// The growth rate is not recomputed within it for the same window (`HZ / 32`).
const RECOMPUTE_JIFFIES: u64 = jiffies::HZ / 32;
/// One second after the start of an [`Epoch`], in which round-trip times are not used.
const SETTLING_JIFFIES: u64 = jiffies::HZ;
/// Per segment of growth before the first loss and after a timeout: at least 5 % per round trip.
const MAX_BLIND_SEGMENTS: u64 = 20;
/// Per segment of growth: at most half of the window per round trip.
const MIN_SEGMENTS: u64 = 2;

/// Since the last reduction, in jiffies and segments.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    start: u64,
    /// To the plateau in 1/1024 s (`bic_K`).
    k: u64,
    /// In the middle of the plateau (`bic_origin_point`).
    origin: u64,
    /// `tcp_cwnd`.
    reno: u64,
    /// Not yet counted towards Reno's growth (`ack_cnt`).
    delivered: u64,
}

impl CongestionParams for Cubic {
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(CubicControl::new(self, mss, initial_window, tcp.pacing))
    }
}

#[derive(Debug)]
pub struct CubicControl {
    params: Cubic,
    /// Share that remains, in 1/1024.
    beta: u64,
    /// `c` in 10/1024 (Linux: `bic_scale`).
    scale: u64,
    paced: bool,
    window: LossWindow,
    search: Search,
    epoch: Option<Epoch>,
    /// `last_max_cwnd`: before the last reduction, less fast convergence; 0 without one since the start or a
    /// timeout.
    last_max: u64,
    /// Since the start or the last timeout.
    min_rtt: Option<Duration>,
    /// Delivered segments per segment of growth (`cnt`).
    each: u64,
    /// Window and jiffy of `each`.
    found_for: (u64, u64),
}

impl CubicControl {
    /// `paced` spreads segments over the round trip.
    pub fn new(params: &Cubic, mss: u64, initial_window: u64, paced: bool) -> Self {
        Self {
            beta: (params.beta * SCALE as f64).round() as u64,
            scale: ((params.c * SCALE as f64 / 10.0).round() as u64).max(1),
            paced,
            window: LossWindow::new(mss, initial_window),
            search: Search::new(params.slow_start, paced),
            params: params.clone(),
            epoch: None,
            last_max: 0,
            min_rtt: None,
            each: 0,
            found_for: (0, 0),
        }
    }

    /// `cubictcp_acked`: nothing in the first second of an [`Epoch`]; may end slow start.
    fn measure(&mut self, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else {
            return;
        };
        if self.epoch.is_some_and(|epoch| jiffies::at(ack.now) < epoch.start + SETTLING_JIFFIES) {
            return;
        }
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        if self.window.in_slow_start() {
            self.search.on_ack_in_slow_start(ack, &mut self.window, self.min_rtt);
        }
    }

    /// `bictcp_update`, after the delivery of `segments`.
    fn update(&mut self, now: Time, segments: u64) {
        let (cwnd, now) = (self.window.segments(), jiffies::at(now));
        if let Some(epoch) = &mut self.epoch {
            epoch.delivered += segments;
            if self.found_for.0 == cwnd && now <= self.found_for.1 + RECOMPUTE_JIFFIES {
                return;
            }
        }
        if self.epoch.is_none() || now != self.found_for.1 {
            self.found_for = (cwnd, now);
            let epoch = self.begin_epoch(now, cwnd, segments);
            self.each = self.cubic_pace(&epoch, now, cwnd);
        }
        if self.params.tcp_friendliness {
            self.apply_reno_friendliness(cwnd);
        }
        self.each = self.each.max(MIN_SEGMENTS);
    }

    /// A new one starts with `cwnd` segments, of which `segments` have just been delivered.
    fn begin_epoch(&mut self, now: u64, cwnd: u64, segments: u64) -> Epoch {
        let (last_max, scale) = (self.last_max, self.scale);
        *self.epoch.get_or_insert_with(|| {
            let origin = last_max.max(cwnd);
            // K = cbrt((W_max - W) / C), where Linux uses the factor `cube_factor` = 2^40 / (10
            // bic_scale) instead of 1 / C to get K in 1/1024 s.
            let k = libm::cbrt(((1u64 << 40) / (10 * scale) * (origin - cwnd)) as f64) as u64;
            Epoch { start: now, k, origin, reno: cwnd, delivered: segments }
        })
    }

    /// Delivered segments per segment of growth that reach the cubic function's value one smallest round-trip
    /// time from now.
    fn cubic_pace(&self, epoch: &Epoch, now: u64, cwnd: u64) -> u64 {
        let ahead = jiffies::in_duration(self.min_rtt.unwrap_or_default());
        let t = (now.saturating_sub(epoch.start) + ahead) * SCALE / jiffies::HZ;
        let offset = u128::from(t.abs_diff(epoch.k));
        let distance = ((u128::from(10 * self.scale) * offset.pow(3)) >> 40).min(1 << 40) as u64;
        let target =
            if t < epoch.k { epoch.origin.saturating_sub(distance) } else { epoch.origin + distance };
        let each = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 { each.min(MAX_BLIND_SEGMENTS) } else { each }
    }

    /// 3 (1 - beta) / (1 + beta) segments per round trip are as aggressive as Reno (`beta_scale`: 15/8 of a
    /// window per segment of growth).
    fn apply_reno_friendliness(&mut self, cwnd: u64) {
        let share = 8 * (SCALE + self.beta) / 3 / (SCALE - self.beta).max(1);
        let needed = (cwnd * share / 8).max(1);
        let Some(epoch) = &mut self.epoch else {
            return;
        };
        // Reno's window grows by one segment per `needed` segments delivered. Growth happens when
        // the number of segments delivered exceeds `needed`.
        let grown = epoch.delivered.saturating_sub(1) / needed;
        epoch.delivered -= grown * needed;
        epoch.reno += grown;
        if epoch.reno > cwnd {
            self.each = self.each.min(cwnd / (epoch.reno - cwnd));
        }
    }

    /// `bictcp_reset`, after a timeout.
    fn reset(&mut self) {
        self.epoch = None;
        self.last_max = 0;
        self.min_rtt = None;
        self.each = 0;
        self.search = Search::new(self.params.slow_start, self.paced);
    }
}

impl LossBased for CubicControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    /// `cubictcp_cong_avoid`.
    fn grow(&mut self, ack: &AckEvent) {
        self.measure(ack);
        if !ack.may_grow() {
            return;
        }
        let mut segments = ack.segments;
        if self.window.in_slow_start() {
            segments = self.search.growth(segments);
            segments = self.window.slow_start(segments);
        }
        if segments > 0 {
            self.update(ack.now, segments);
            self.window.avoid(self.each, segments);
        }
    }

    /// `cubictcp_recalc_ssthresh`: in bytes, whole segments.
    fn reduced(&mut self) -> u64 {
        let cwnd = self.window.segments();
        self.epoch = None;
        self.last_max = if self.params.fast_convergence && cwnd < self.last_max {
            cwnd * (SCALE + self.beta) / (2 * SCALE)
        } else {
            cwnd
        };
        cwnd * self.beta / SCALE * self.window.mss
    }

    fn after_timeout(&mut self) {
        self.reset();
    }

    /// `cubictcp_cwnd_event`, `CA_EVENT_TX_START`: time with nothing in flight does not count.
    fn after_pause(&mut self, now: Time, pause: Duration) {
        if let Some(epoch) = &mut self.epoch {
            let (now, before) = (jiffies::at(now), jiffies::at(Time(now.0.saturating_sub(pause.0))));
            epoch.start = (epoch.start + now - before).min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;

    const MSS: u64 = 1_000;
    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn control() -> CubicControl {
        let params = Cubic { slow_start: SlowStart::Standard, ..Cubic::default() };
        CubicControl::new(&params, MSS, 10 * MSS, false)
    }

    fn ack(now: Time, segments: u64, rtt: Duration) -> AckEvent {
        let bytes = segments * MSS;
        AckEvent {
            now,
            acked: bytes,
            delivered: bytes,
            segments,
            rtt: Some(rtt),
            srtt: rtt,
            ..AckEvent::default()
        }
    }

    /// One window per `rtt`; seconds and segments.
    fn grow(control: &mut CubicControl, rtt: Duration, end: f64) -> Vec<(f64, u64)> {
        let (mut now, mut seen) = (Time(1_000_000_000), Vec::new());
        while now.as_secs() < 1.0 + end {
            let segments = control.window.segments();
            for _ in 0..segments {
                control.on_ack(&ack(now, 1, rtt));
                now += Duration(rtt.0 / segments);
            }
            seen.push((now.as_secs() - 1.0, control.window.segments()));
        }
        seen
    }

    /// `bictcp_update`: W(t) = C (t - K)^3 + W_max with C = 410 / 1024 and K = cbrt(300 / C) = 9.08 s.
    #[test]
    fn window_follows_cubic_function() {
        let mut control = control();
        control.window.cwnd = 1_000 * MSS;
        control.on_congestion(Time::ZERO, 0);
        assert_eq!(control.window.segments(), 700, "717 / 1024");
        let (c, k) = (410.0 / 1_024.0, 9.082);
        for (at, window) in grow(&mut control, MS(100), 12.0).into_iter().skip(5) {
            let expected = c * (at - k) * (at - k) * (at - k) + 1_000.0;
            assert!(
                (window as f64 - expected).abs() < 0.01 * expected + 2.0,
                "{at} s: {window}, not {expected}"
            );
        }
    }

    /// `beta_scale` = 8 (1024 + 717) / 3 / (1024 - 717) = 15: 8/15 of a segment per round trip, also above
    /// the window of the last loss, where RFC 9438 requires one.
    #[test]
    fn short_rtt_is_reno_friendly_at_any_window() {
        let mut control = control();
        control.window.cwnd = 20 * MSS;
        control.on_congestion(Time::ZERO, 0);
        let rounds = grow(&mut control, MS(10), 0.5);
        let slope = |from: usize, to: usize| (rounds[to].1 - rounds[from].1) as f64 / (to - from) as f64;
        assert!((slope(2, 12) - 8.0 / 15.0).abs() < 0.11, "{rounds:?}");
        assert!((slope(20, 48) - 8.0 / 15.0).abs() < 0.08, "{rounds:?}");
    }

    /// `cubictcp_recalc_ssthresh`: 70 (1024 + 717) / 2048 = 59 after a loss at 70 that follows one at 100.
    #[test]
    fn fast_convergence_stores_smaller_window() {
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_congestion(Time::ZERO, 0);
        assert_eq!((control.window.segments(), control.last_max), (70, 100));
        control.on_congestion(Time::ZERO, 0);
        assert_eq!((control.window.segments(), control.last_max), (49, 59));
    }

    /// `bictcp_reset`: at most 20 delivered segments per segment of growth.
    #[test]
    fn timeout_resets_state() {
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_timeout(Time::ZERO, 0, false);
        assert_eq!((control.window.segments(), control.ssthresh(), control.last_max), (1, 70 * MSS, 0));
        control.on_timeout(Time::ZERO, 0, true);
        assert_eq!(control.ssthresh(), 70 * MSS);
        control.window.cwnd = 70 * MSS;
        control.on_ack(&ack(Time(1_000_000_000), 1, MS(100)));
        assert_eq!((control.each, control.epoch.map(|epoch| epoch.k)), (MAX_BLIND_SEGMENTS, Some(0)));
    }

    #[test]
    fn growth_needs_at_least_two_segments_per_segment() {
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_congestion(Time::ZERO, 0);
        control.on_ack(&ack(Time(1_000_000_000), 1, MS(100)));
        control.on_ack(&ack(Time(101_000_000_000), 1, MS(100)));
        assert_eq!(control.each, MIN_SEGMENTS);
    }

    /// `cubictcp_cwnd_event`: not beyond the present time.
    #[test]
    fn pause_shifts_epoch() {
        let mut control = control();
        control.window.cwnd = 100 * MSS;
        control.on_congestion(Time::ZERO, 0);
        control.on_ack(&ack(Time(1_000_000_000), 1, MS(100)));
        let start = control.epoch.map(|epoch| epoch.start).unwrap();
        control.on_start(Time(4_000_000_000), MS(2_000));
        assert_eq!(control.epoch.map(|epoch| epoch.start), Some(start + 2 * jiffies::HZ));
        control.on_start(Time(4_000_000_000), MS(9_000));
        assert_eq!(control.epoch.map(|epoch| epoch.start), Some(4 * jiffies::HZ));
    }
}
