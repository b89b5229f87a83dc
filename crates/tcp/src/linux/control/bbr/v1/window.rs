//! Linux 6.x: `bbr_set_cwnd` and its callees.

use super::{BbrControl, State};
use crate::linux::control::{AckEvent, Phase};

/// `TCP_INIT_CWND`: until so many segments are delivered the window grows in any case; also replaces the
/// bandwidth-delay product without a round-trip time.
const INITIAL: u64 = 10;
/// 1.2 Mbit/s in bytes per second: below it segments leave one by one (`bbr_min_tso_segs`).
const SLOW: f64 = 150_000.0;

/// 1 below 1.2 Mbit/s, otherwise 2.
pub fn min_quantum(rate: f64) -> u64 {
    if rate < SLOW { 1 } else { 2 }
}

impl BbrControl {
    fn segments(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss)
    }

    /// `bbr_tso_segs_goal`.
    fn quantum(&self) -> u64 {
        let rate = self.pace.rate.unwrap_or(0.0);
        self.path.quantum(rate, min_quantum(rate))
    }

    /// `bbr_bdp`: in segments, rounded up; 10 without a round-trip time.
    fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        let held = |rtt: f64| (gain * bandwidth * rtt / self.mss as f64).ceil() as u64;
        self.path.min_rtt.map_or(INITIAL, |(rtt, _)| held(rtt.as_secs()))
    }

    /// `bbr_quantization_budget`: even, to cause fewer delayed ACKs; two more while probing, which has an
    /// effect with small windows.
    fn budget(&self, segments: u64) -> u64 {
        let even = (segments + 3 * self.quantum()).next_multiple_of(2);
        if matches!(self.state, State::ProbeBandwidth(0, _)) { even + 2 } else { even }
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        self.budget(self.bdp(self.path.max_bandwidth(), gain))
    }

    /// `bbr_packets_in_net_at_edt`: less what is delivered until the pacer allows the next quantum, plus it
    /// if the gain is above 1.
    pub(super) fn in_network_at_departure(&self, ack: &AckEvent, in_flight: u64) -> u64 {
        let wait = ack.departure.since(ack.now).as_secs();
        let delivered = (self.bandwidth() * wait / self.mss as f64) as u64;
        let next = if self.gains.pacing > 1.0 { self.quantum() } else { 0 };
        (self.segments(in_flight) + next).saturating_sub(delivered)
    }

    /// In a reduction after a mark (`TCP_CA_CWR`) BBR behaves as in `Open` until a segment is lost.
    fn phase(&mut self, ack: &AckEvent) -> Phase {
        self.marked = ack.phase == Phase::Recovery && (self.marked || ack.marked) && ack.lost == 0;
        if self.marked { Phase::Open } else { ack.phase }
    }

    /// `bbr_set_cwnd`.
    pub(super) fn set_cwnd(&mut self, ack: &AckEvent) {
        let phase = self.phase(ack);
        if ack.delivered > 0 && !self.conserve(ack, phase) {
            self.approach_target(ack);
        }
        if matches!(self.state, State::ProbeRtt(_)) {
            self.window.cwnd = self.window.cwnd.min(self.path.min_window());
        }
    }

    fn approach_target(&mut self, ack: &AckEvent) {
        let bandwidth = self.bandwidth();
        let room = if self.filled { self.aggregation.room(bandwidth / self.mss as f64) } else { 0 };
        let target = self.budget(self.bdp(bandwidth, self.gains.window) + room) * self.mss;
        let cwnd = &mut self.window.cwnd;
        if self.filled {
            *cwnd = (*cwnd + ack.delivered).min(target);
        } else if *cwnd < target || ack.total_delivered < INITIAL * self.mss {
            *cwnd += ack.delivered;
        }
        *cwnd = (*cwnd).max(self.path.min_window());
    }

    /// `bbr_set_cwnd_to_recover_or_restore`; true while packet conservation determines the window.
    fn conserve(&mut self, ack: &AckEvent, phase: Phase) -> bool {
        let kept = |control: &Self| {
            (control.segments(ack.in_flight) + control.segments(ack.delivered)) * control.mss
        };
        if ack.lost > 0 {
            self.window.cwnd = self.window.cwnd.saturating_sub(ack.lost).max(self.mss);
        }
        if phase == Phase::Recovery && self.window.phase != Phase::Recovery {
            self.conserving = true;
            self.path.rounds.restart(ack.total_delivered);
            self.window.cwnd = kept(self);
        } else if phase == Phase::Open && self.window.phase != Phase::Open {
            self.window.restore();
            self.conserving = false;
        }
        self.window.phase = phase;
        if self.conserving {
            self.window.cwnd = self.window.cwnd.max(kept(self));
        }
        self.conserving
    }
}
